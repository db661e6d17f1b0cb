// The policy in force beside the caps that were in force, over the last whole cycles that were recorded: the replay of `simulate`, cut to what a
// page can show. It reads records alone; people are named as they are, and hidden by whoever shows it.

import type { PolicyRevision } from '../../core/model/policy.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'
import type { BlockedPerson, CapReach, PersonChange, SimulatedCycle, Simulation } from '../../core/use/replay/document.ts'
import { simulate } from '../../core/use/replay/simulation.ts'
import type { Ledger } from '../../ports.ts'
import { type RecordedUse, replayStart } from './gather.ts'
import { recordedUseOf } from './recorded-use.ts'

/** What is shown of each list; `simulate --output json` has all. Choice. */
const MOST = { groups: 100, people: 200, caps: 200 } as const

/** So many days of single people are held at once, at 20 bytes each; larger companies look back less far. Choice. */
const MOST_ROWS = 3_000_000
/** The last whole cycle and the present one are always within it. */
const LEAST_DAYS = 62

export interface ComparedCycle extends SimulatedCycle {
  readonly groupsOmitted: number
}

/** A list that was cut, and how many more there are. */
export interface Cut<T> {
  readonly items: readonly T[]
  readonly omitted: number
}

export interface ComparedPolicies extends Omit<Simulation, 'cycles' | 'blocked' | 'gains' | 'losses' | 'caps'> {
  readonly cycles: readonly ComparedCycle[]
  readonly blocked: Cut<BlockedPerson>
  readonly gains: Cut<PersonChange>
  readonly losses: Cut<PersonChange>
  /** Caps that nobody reached. */
  readonly unreached: Cut<CapReach>
  readonly capsReached: number
}

/** `wholeAt`: when the first cycle will be recorded as a whole. `failed`: the message is for a person. */
export type Compared =
  | { readonly kind: 'made'; readonly simulation: ComparedPolicies; readonly wholeAt?: Instant }
  | { readonly kind: 'no-policy' | 'no-days' | 'no-cycle'; readonly wholeAt?: Instant }
  | { readonly kind: 'failed'; readonly message: string }

export interface CompareOptions {
  readonly workspace: string
  readonly pricePerCredit?: number
  readonly now: Instant
}

/** What a comparison starts from. */
export interface CompareStart {
  readonly policy?: PolicyRevision
  readonly use: RecordedUse
  /** Where there are too many people for all of them. */
  readonly onlyDays?: number
}

/** Reads what is recorded: seconds of work where the company is large. */
export async function compareStart(ledger: Ledger, { workspace, now }: CompareOptions): Promise<CompareStart> {
  const policy = ledger.fact('policy')
  const people = ledger.fact('usage')?.roster.people.length ?? 0
  const days = Math.max(LEAST_DAYS, Math.floor(MOST_ROWS / Math.max(1, people)))
  const isAll = days >= KEPT_DAYS
  const fromAt = isAll ? 0 : (Math.floor(now / DAY_MS) - days) * DAY_MS
  const use = await recordedUseOf(workspace, ledger, { fromAt, untilAt: now + DAY_MS })
  return { use, ...(policy && { policy }), ...(!isAll && { onlyDays: days }) }
}

/** Days are kept for so long. */
const KEPT_DAYS = 400

/** Replays and compares. */
export function compare({ policy, use, onlyDays }: CompareStart, { now, pricePerCredit }: CompareOptions): Compared {
  if (!policy) return { kind: 'no-policy' }
  const start = replayStart(use, { policy, now, ...(pricePerCredit !== undefined && { pricePerCredit }) })
  if (start.kind !== 'inputs') return start
  const note = `There are too many people for all recorded days here, so only the last ${onlyDays} are replayed; \`capkeeper simulate\` replays all.`
  const notes = onlyDays === undefined ? start.inputs.notes : [...start.inputs.notes, note]
  const simulation = cutToShow(simulate({ ...start.inputs, notes }))
  return { kind: 'made', simulation, ...(start.wholeAt !== undefined && { wholeAt: start.wholeAt }) }
}

function cutToShow({ cycles, blocked, gains, losses, caps, ...rest }: Simulation): ComparedPolicies {
  const unreached = caps.filter(({ isReached }) => !isReached)
  return {
    ...rest,
    cycles: cycles.map((cycle) => {
      const { items, omitted } = cut(weighty(cycle.groups), MOST.groups)
      return { ...cycle, groups: items, groupsOmitted: omitted }
    }),
    blocked: cut(
      blocked.filter(({ policy }) => policy),
      MOST.people,
    ),
    gains: cut(gains, MOST.people),
    losses: cut(losses, MOST.people),
    unreached: cut(unreached, MOST.caps),
    capsReached: caps.length - unreached.length,
  }
}

const cut = <T>(list: readonly T[], most: number): Cut<T> => ({
  items: list.slice(0, most),
  omitted: Math.max(0, list.length - most),
})

/** Where the most people lose days, then where the most credits move, first. */
const weighty = (groups: SimulatedCycle['groups']): SimulatedCycle['groups'] =>
  groups.toSorted(
    (a, b) =>
      b.policy.blockedDays.middle - a.policy.blockedDays.middle || Math.abs(b.kept) - Math.abs(a.kept) || (a.name < b.name ? -1 : 1),
  )
