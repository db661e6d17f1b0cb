// Compares the policy in force with the caps that were in force, over the last whole recorded cycles: the replay of `simulate`, cut to what a page
// can show. People are named by e-mail; the page hides them where it must.

import type { PolicyRevision } from '../../core/model/policy.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'
import type { BlockedPerson, CapReach, PersonChange, SimulatedCycle, Simulation, SimulationRow } from '../../core/use/replay/document.ts'
import { simulate } from '../../core/use/replay/simulation.ts'
import type { Ledger } from '../../ports.ts'
import { type RecordedUse, type ReplayOptions, recordedUseOf, replayStart } from './gather.ts'

/** How much of each list is kept; `simulate --output json` has all of it. Choice. */
const MOST = { groups: 100, people: 200, caps: 200 } as const

/** How many days of single people are held at once, at 20 bytes each; larger companies replay fewer days. Choice. */
const MOST_ROWS = 3_000_000
/** Enough for the last whole cycle and the present one. */
const LEAST_DAYS = 62

interface ComparedCycle extends SimulatedCycle {
  readonly groupsOmitted: number
}

/** A shortened list, and how many items were left out. */
interface Cut<T> {
  readonly items: readonly T[]
  readonly omitted: number
}

export interface ComparedPolicies extends Omit<Simulation, 'cycles' | 'blocked' | 'gains' | 'losses' | 'caps'> {
  readonly cycles: readonly ComparedCycle[]
  readonly blocked: Cut<BlockedPerson>
  readonly gains: Cut<PersonChange>
  readonly losses: Cut<PersonChange>
  /** Caps that no person reached. */
  readonly unreached: Cut<CapReach>
  readonly capsReached: number
}

/** `wholeAt`: when the first whole cycle will be recorded. `failed`: the message is for a person. */
export type Compared =
  | { readonly kind: 'made'; readonly simulation: ComparedPolicies; readonly wholeAt?: Instant }
  | { readonly kind: 'no-policy' | 'no-days' | 'no-cycle'; readonly wholeAt?: Instant }
  | { readonly kind: 'failed'; readonly message: string }

export interface CompareOptions extends Pick<ReplayOptions, 'pricePerCredit' | 'creditsPerSeat'> {
  readonly workspace: string
  readonly now: Instant
}

/** What a comparison starts from. */
export interface CompareStart {
  readonly policy?: PolicyRevision
  readonly use: RecordedUse
  /** Set where there are too many people for all recorded days. */
  readonly onlyDays?: number
}

/** Reads the records, which takes seconds for a large company. */
export async function compareStart(ledger: Ledger, { workspace, now }: CompareOptions): Promise<CompareStart> {
  const policy = ledger.fact('policy')
  const people = ledger.fact('usage')?.roster.people.length ?? 0
  const days = Math.max(LEAST_DAYS, Math.floor(MOST_ROWS / Math.max(1, people)))
  const isAll = days >= KEPT_DAYS
  const fromAt = isAll ? 0 : (Math.floor(now / DAY_MS) - days) * DAY_MS
  const use = await recordedUseOf(workspace, ledger, { fromAt, untilAt: now + DAY_MS })
  return { use, policy, onlyDays: !isAll ? days : undefined }
}

/** How long the ledger keeps days. */
const KEPT_DAYS = 400

/** Replays and compares. */
export function compare({ policy, use, onlyDays }: CompareStart, { workspace: _, ...options }: CompareOptions): Compared {
  if (!policy) return { kind: 'no-policy' }
  const start = replayStart(use, { policy, ...options })
  if (start.kind !== 'inputs') return start
  const note = `There are too many people for all recorded days here, so only the last ${onlyDays} are replayed; \`capkeeper simulate\` replays all.`
  const notes = onlyDays === undefined ? start.inputs.notes : [...start.inputs.notes, note]
  const simulation = cutToShow(simulate({ ...start.inputs, notes }))
  return { kind: 'made', simulation, ...(start.wholeAt !== undefined && { wholeAt: start.wholeAt }) }
}

function cutToShow({ cycles, blocked, gains, losses, caps, ...rest }: Simulation): ComparedPolicies {
  const unreached = caps.filter(({ isReached }) => !isReached)
  const blockedByPolicy = blocked.filter(({ policy }) => policy)
  return {
    ...rest,
    cycles: cycles.map((cycle) => {
      const { items, omitted } = cut(cycle.groups.toSorted(byWeight), MOST.groups)
      return { ...cycle, groups: items, groupsOmitted: omitted }
    }),
    blocked: cut(blockedByPolicy, MOST.people),
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

/** The groups that lose the most working days first, then those where the most credits move. */
const byWeight = (a: SimulationRow, b: SimulationRow): number =>
  b.policy.blockedDays.middle - a.policy.blockedDays.middle || Math.abs(b.kept) - Math.abs(a.kept) || (a.name < b.name ? -1 : 1)
