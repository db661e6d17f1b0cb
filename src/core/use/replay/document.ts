// The data of a simulation: its inputs, one replayed cycle with its counts, and the rows of the document, which every rendering reads.

import { TEAM_KEY } from '../../interpret/effective.ts'
import type { HistoryEntry } from '../../model/change.ts'
import type { JournalEntry } from '../../model/events.ts'
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import { compareText, groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { type Credits, type Instant, wholeCents } from '../../model/units.ts'
import type { RecordedDays } from '../history.ts'
import type { CycleDemand, ReplayPeople } from './demand.ts'
import type { PoolPlaces } from './in-force.ts'
import { BANDS, type BandEnd, type Outcome } from './replay.ts'

/** A figure, and what it would be if cut-off demand were nothing, or the highest. */
export type Banded = Readonly<Record<BandEnd, number>>

/** What the policy is compared with. `knownFromAt`: the first record of a cap. See `isBesideKnown`. */
export type Beside =
  | { readonly kind: 'inForce'; readonly knownFromAt?: Instant }
  | { readonly kind: 'policy'; readonly digest: string; readonly revision: string }

/** Whether the other side tells who was blocked in the cycle that starts then. */
export const isBesideKnown = ({ beside }: { readonly beside: Beside }, startAt: Instant): boolean =>
  beside.kind === 'policy' || (beside.knownFromAt !== undefined && beside.knownFromAt <= startAt)

export interface SimulationInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  /** Absent: compare with what was in force. */
  readonly against?: PolicyRevision
  readonly recorded: RecordedDays
  /** Over, and in the order of time, from that of the first recorded day on; those before the shown ones tell what people usually used. */
  readonly cycles: readonly Cycle[]
  /** How many of the last cycles are shown. */
  readonly shown: number
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly owned: readonly OwnedCap[]
  /** Among others, what other clients were seen to write. */
  readonly journal?: readonly JournalEntry[]
  readonly history: readonly HistoryEntry[]
  readonly creditsPerSeat?: Credits
  readonly pricePerCredit?: number
  /** What could not be gathered. */
  readonly notes: readonly string[]
  /** Called after each cycle. */
  readonly onCycle?: () => void
}

/** One side of one cycle at each end of the band. */
export type Outcomes = Readonly<Record<BandEnd, Outcome>>

/** One cycle, replayed. */
export interface ReplayedCycle {
  readonly demand: CycleDemand
  readonly policy: Outcomes
  readonly beside: Outcomes
  readonly isBesideKnown: boolean
}

export type SimulatedCycle = ReturnType<typeof simulatedCycle>

/** The rows of one cycle. */
export function simulatedCycle(inputs: SimulationInputs, people: ReplayPeople, replayed: ReplayedCycle, pools: readonly PoolPlaces[]) {
  const { startAt, endAt } = replayed.demand.cycle
  const all = people.emails.flatMap((_, person) => (isCounted(people, replayed.demand, person) ? [person] : []))
  const row = (key: string, name: string, members: readonly number[]) => rowOf({ key, name }, members, replayed, inputs.pricePerCredit)
  const membersOf = new Map<ScopeKey, number[]>(groupRows(inputs).map(({ key }) => [key, []]))
  for (const person of all) for (const key of people.groupsOf[person] ?? []) membersOf.get(key)?.push(person)
  const groups = groupRows(inputs).map(({ key, name }) => row(key, name, membersOf.get(key) ?? []))
  const rest = all.filter((person) => people.groupsOf[person]?.length === 0)
  return {
    ...{ startAt, endAt },
    total: row(TEAM_KEY, 'everybody', all),
    groups: [...groups, ...(groups.length > 0 && rest.length > 0 ? [row('-', 'in no group', rest)] : [])],
    /** The pools of the policy, with their credits for a cycle. */
    pools: pools.map(({ name, credits, members }) => {
      const counted = members.filter((person) => isCounted(people, replayed.demand, person))
      return { ...row(`pool:${name}`, `pool ${name}`, counted), credits }
    }),
  }
}

/** Approved today, or with use in the cycle. */
export const isCounted = ({ isPresent }: ReplayPeople, { workingDays: days }: Pick<CycleDemand, 'workingDays'>, person: number): boolean =>
  isPresent[person] === true || (days[person] ?? 0) > 0

/** Groups whose members are known, by name. */
function groupRows({ groups, policy }: SimulationInputs): readonly { readonly key: ScopeKey; readonly name: string }[] {
  const names = new Map(policy.set.groups.map(({ scope, name }) => [scope.id, name]))
  return groups
    .map(({ id, name }) => ({ key: scopeKey(groupScope(id)), name: names.get(id) ?? name }))
    .sort((a, b) => compareText(a.name, b.name))
}

/** `key`: `team`, `group:ID`, `pool:NAME`, or `-` for people in no group. */
type About = Readonly<Record<'key' | 'name', string>>

export type SimulationRow = ReturnType<typeof rowOf>

function rowOf(about: About, members: readonly number[], replayed: ReplayedCycle, price: number | undefined) {
  const policy = figuresOf(members, replayed.policy)
  const beside = figuresOf(members, replayed.beside)
  // Before the first record of a cap nothing tells whom it blocked; use is as it was recorded.
  const besideKnown: Pick<SideFigures, 'credits'> & Partial<SideFigures> = replayed.isBesideKnown ? beside : { credits: beside.credits }
  const kept = wholeCents(beside.credits.middle - policy.credits.middle)
  return {
    ...about,
    /** Approved today, or with use in the cycle. */
    people: members.length,
    workingDays: tenth(sumOver(members, replayed.demand.workingDays)),
    policy,
    beside: besideKnown,
    /** Add-on credits that the policy would have saved; negative: spent in addition. */
    kept,
    /** In the currency of the configured price. */
    keptMoney: price === undefined ? undefined : wholeCents(kept * price),
  }
}

/** The sums under one side. */
type SideFigures = ReturnType<typeof figuresOf>

function figuresOf(members: readonly number[], outcomes: Outcomes) {
  const of = (figure: (outcome: Outcome) => number): Banded => {
    const middle = figure(outcomes.middle)
    if (outcomes.low === outcomes.middle) return { low: middle, middle, high: middle }
    // Where pools deal by use, more demand can give a lower figure.
    const all = BANDS.map((band) => figure(outcomes[band]))
    return { low: Math.min(...all), middle, high: Math.max(...all) }
  }
  return {
    /** Add-on credits. */
    credits: of(({ addOn }) => wholeCents(sumOver(members, addOn))),
    blockedPeople: of(({ blockedDays }) => members.reduce((sum, person) => sum + Number((blockedDays[person] ?? 0) > 0), 0)),
    /** Working days on which a person was blocked, summed over people. */
    blockedDays: of(({ blockedDays }) => tenth(sumOver(members, blockedDays))),
  }
}

const sumOver = (members: readonly number[], values: Float64Array): number =>
  members.reduce((sum, person) => sum + (values[person] ?? 0), 0)

/** Rounded to a tenth. */
export const tenth = (value: number): number => Math.round(value * 10) / 10
