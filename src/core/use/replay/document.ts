// The data of a simulation: its inputs, one replayed cycle with its counts, the document, which every rendering reads, and how much of a cycle
// is known.

import { TEAM_KEY } from '../../interpret/effective.ts'
import type { HistoryEntry } from '../../model/change.ts'
import type { JournalEntry } from '../../model/events.ts'
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import { compareText, groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { type Credits, type Instant, wholeCents } from '../../model/units.ts'
import { type CommonDays, type Days, ENOUGH_KNOWN, missingDays, type PersonHistory, type UsedDay } from '../history.ts'
import type { CycleDemand, ReplayCycle } from './demand.ts'
import type { PoolPlaces } from './in-force.ts'
import type { RecordedDays, ReplayPeople, UseOfDay } from './recorded.ts'
import { BANDS, type BandEnd, type Outcome } from './replay.ts'

/** A figure, and what it would be if cut-off demand were nothing, or the highest. */
export interface Banded {
  readonly low: number
  readonly middle: number
  readonly high: number
}

/** The sums under one side. Credits are add-on credits. */
interface SideFigures {
  readonly credits: Banded
  readonly blockedPeople: Banded
  /** Working days on which a person was blocked, summed over people. */
  readonly blockedDays: Banded
}

/** Before the first record of a cap nothing tells whom it blocked; use is as it was recorded. */
type BesideFigures = Pick<SideFigures, 'credits'> & Partial<SideFigures>

export interface SimulationRow {
  /** `team`, `group:ID`, or `-` for people in no group. */
  readonly key: string
  readonly name: string
  /** Approved today, or with use in the cycle. */
  readonly people: number
  readonly workingDays: number
  readonly policy: SideFigures
  readonly beside: BesideFigures
  /** Add-on credits that the policy would have saved; negative: spent in addition. */
  readonly kept: number
  /** In the currency of the configured price. */
  readonly keptMoney?: number
}

/** A pool of the policy; `key` is `pool:NAME`. */
interface PoolRow extends SimulationRow {
  /** The pool's credits for a cycle. */
  readonly credits: number
}

export interface SimulatedCycle extends Cycle {
  readonly isWhole: boolean
  readonly total: SimulationRow
  readonly groups: readonly SimulationRow[]
  readonly pools: readonly PoolRow[]
}

/** How a cap stopped one person in one cycle. */
export interface Blocked {
  /** The first day; midnight, UTC. */
  readonly fromAt: Instant
  readonly days: number
  readonly cap: number
}

export interface BlockedPerson {
  readonly email: string
  readonly cycleStartAt: Instant
  readonly workingDays: number
  readonly policy?: Blocked
  readonly beside?: Blocked
}

/** How far a cap was used. */
export interface CapReach {
  readonly scope: string
  readonly cap: number
  /** The highest add-on use of one person in one cycle. */
  readonly highest: number
  readonly isReached: boolean
  /** People who had this cap at a cycle's end, summed over the cycles. */
  readonly personCycles: number
  /** How many of them were blocked. */
  readonly blocked: number
}

/** A person for whom the two sides differ, over all cycles. */
export interface PersonChange {
  readonly email: string
  readonly credits: { readonly policy: number; readonly beside: number }
  readonly blockedDays: { readonly policy: number; readonly beside: number }
}

export interface Simulation {
  readonly workspace: string
  readonly policy: { readonly digest: string; readonly revision: string }
  /** `knownFromAt`: the first record of a cap. See `isBesideKnown`. */
  readonly beside:
    | { readonly kind: 'inForce'; readonly knownFromAt?: Instant }
    | { readonly kind: 'policy'; readonly digest: string; readonly revision: string }
  readonly addOn: RecordedDays['addOn']
  readonly creditsPerSeat?: number
  readonly pricePerCredit?: number
  readonly recorded: { readonly firstAt: Instant; readonly lastAt: Instant }
  readonly cycles: readonly SimulatedCycle[]
  /** The longest blocked under the policy first. */
  readonly blocked: readonly BlockedPerson[]
  readonly caps: readonly CapReach[]
  /** Blocked on fewer days, or allowed more use; the most first. */
  readonly gains: readonly PersonChange[]
  /** Blocked on more days. */
  readonly losses: readonly PersonChange[]
  readonly notes: readonly string[]
}

/** Whether the other side tells who was blocked in the cycle that starts then. */
export const isBesideKnown = ({ beside }: Pick<Simulation, 'beside'>, startAt: Instant): boolean =>
  beside.kind === 'policy' || (beside.knownFromAt !== undefined && beside.knownFromAt <= startAt)

export interface SimulationInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  /** Absent: compare with what was in force. */
  readonly against?: PolicyRevision
  readonly recorded: RecordedDays
  /** All since the first recorded day, in the order of time; those before the shown ones tell what people usually used. */
  readonly cycles: readonly ReplayCycle[]
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

/** Counts for the notes. */
export interface Counts {
  /** People who were at their cap in force in a shown cycle, and those among them for whom no earlier day tells what they would have used. */
  readonly atCap: number
  readonly unknown: number
}

/** The rows of one cycle. */
export function simulatedCycle(
  inputs: SimulationInputs,
  people: ReplayPeople,
  replayed: ReplayedCycle,
  pools: readonly PoolPlaces[],
): SimulatedCycle {
  const { cycle } = replayed.demand
  const all = people.emails.flatMap((_, person) => (isCounted(people, replayed.demand, person) ? [person] : []))
  const row = (key: string, name: string, members: readonly number[]) => rowOf({ key, name }, members, replayed, inputs.pricePerCredit)
  const membersOf = new Map<ScopeKey, number[]>(groupRows(inputs).map(({ key }) => [key, []]))
  for (const person of all) for (const key of people.groupsOf[person] ?? []) membersOf.get(key)?.push(person)
  const groups = groupRows(inputs).map(({ key, name }) => row(key, name, membersOf.get(key) ?? []))
  const rest = all.filter((person) => people.groupsOf[person]?.length === 0)
  return {
    startAt: cycle.startAt,
    endAt: cycle.endAt,
    isWhole: cycle.isWhole,
    total: row(TEAM_KEY, 'everybody', all),
    groups: [...groups, ...(groups.length > 0 && rest.length > 0 ? [row('-', 'in no group', rest)] : [])],
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

function rowOf(
  about: Pick<SimulationRow, 'key' | 'name'>,
  members: readonly number[],
  replayed: ReplayedCycle,
  price: number | undefined,
): SimulationRow {
  const policy = figuresOf(members, replayed.policy)
  const beside = figuresOf(members, replayed.beside)
  const kept = wholeCents(beside.credits.middle - policy.credits.middle)
  return {
    ...about,
    people: members.length,
    workingDays: tenth(sumOver(members, replayed.demand.workingDays)),
    policy,
    beside: replayed.isBesideKnown ? beside : { credits: beside.credits },
    kept,
    keptMoney: price === undefined ? undefined : wholeCents(kept * price),
  }
}

function figuresOf(members: readonly number[], outcomes: Outcomes): SideFigures {
  const of = (figure: (outcome: Outcome) => number): Banded => {
    const middle = figure(outcomes.middle)
    if (outcomes.low === outcomes.middle) return { low: middle, middle, high: middle }
    // Where pools deal by use, more demand can give a lower figure.
    const all = BANDS.map((band) => figure(outcomes[band]))
    return { low: Math.min(...all), middle, high: Math.max(...all) }
  }
  return {
    credits: of(({ addOn }) => wholeCents(sumOver(members, addOn))),
    blockedPeople: of(({ blockedDays }) => members.reduce((sum, person) => sum + Number((blockedDays[person] ?? 0) > 0), 0)),
    blockedDays: of(({ blockedDays }) => tenth(sumOver(members, blockedDays))),
  }
}

const sumOver = (members: readonly number[], values: Float64Array): number =>
  members.reduce((sum, person) => sum + (values[person] ?? 0), 0)

/** Rounded to a tenth. */
export const tenth = (value: number): number => Math.round(value * 10) / 10

/** Where the days of people come from. */
export interface PastDays {
  /** What is known of single people, by e-mail. */
  readonly people: ReadonlyMap<string, PersonHistory>
  readonly common: CommonDays
  /** Use of the whole workspace on the days that were read; absent where its runs carry no credits. */
  readonly team?: Days & { readonly days: readonly UsedDay[] }
}

/** Shares from 0 to 1. */
export interface CycleKnown {
  readonly people: number
  /** Absent where the use of the whole workspace is not known. */
  readonly use?: number
}

export const isEnough = ({ people, use = 1 }: CycleKnown): boolean => people >= ENOUGH_KNOWN && use >= ENOUGH_KNOWN

/** `emails`: everybody who counts. */
export function cycleKnown(cycle: Days, recorded: RecordedDays, emails: readonly string[], past: PastDays): CycleKnown {
  const known = emails.filter((email) => missingDays(cycle, daysOf(email, past)).length === 0).length
  const { team } = past
  const isTold = team !== undefined && team.fromAt <= cycle.fromAt && team.untilAt >= cycle.untilAt
  const total = isTold ? within(team.days, cycle).reduce((sum, { used }) => sum + used, 0) : 0
  return {
    people: emails.length === 0 ? 1 : known / emails.length,
    use: total > 0 ? usedIn(recorded, cycle) / total : undefined,
  }
}

function daysOf(email: string, { people, common }: PastDays): readonly Days[] {
  const { known = [], isFound } = people.get(email) ?? {}
  return [
    ...known.filter(({ isSilent }) => isFound === true || isSilent !== true),
    ...(common.measured && !common.unassignable.has(email) ? [common.measured] : []),
    ...(common.recorded ? [common.recorded] : []),
  ]
}

const within = <T extends { readonly dayAt: Instant }>(days: readonly T[], { fromAt, untilAt }: Days): readonly T[] =>
  days.filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)

const usedIn = ({ days }: RecordedDays, cycle: Days): number =>
  within(days, cycle).reduce((sum, { cents }) => sum + cents.reduce((all, one) => all + one, 0), 0) / 100

/**
 * One figure for each person and day: the measured one where it is told, else the other one. Add-on use that is not measured is NaN, and is worked
 * out from the running total.
 */
export function mergedDays(estimated: RecordedDays, measured: RecordedDays, { measured: told, unassignable }: CommonDays): RecordedDays {
  if (!told) return estimated
  const people = [...new Set([...estimated.people, ...measured.people])]
  const places = new Map(people.map((email, place) => [email, place]))
  const placed = ({ people: emails }: RecordedDays): Int32Array => Int32Array.from(emails, (email) => places.get(email) ?? 0)
  const [ofEstimated, ofMeasured] = [placed(estimated), placed(measured)]
  const isOut = estimated.people.map((email) => unassignable.has(email))
  const byDay = new Map(measured.days.map((day) => [day.dayAt, day]))
  const dayAts = [...new Set([...estimated.days, ...measured.days].map(({ dayAt }) => dayAt))].sort((a, b) => a - b)
  const others = new Map(estimated.days.map((day) => [day.dayAt, day]))
  const days = dayAts.map((dayAt): UseOfDay => {
    const isTold = dayAt >= told.fromAt && dayAt < told.untilAt
    const [better, other] = [isTold ? byDay.get(dayAt) : undefined, others.get(dayAt)]
    const rows = [...(other?.people ?? [])].flatMap((place, row) => (!isTold || isOut[place] ? [row] : []))
    return {
      dayAt,
      people: Int32Array.from([
        ...(better?.people ?? []).values().map((place) => ofMeasured[place] ?? 0),
        ...rows.map((row) => ofEstimated[other?.people[row] ?? 0] ?? 0),
      ]),
      cents: Float64Array.from([...(better?.cents ?? []), ...rows.map((row) => other?.cents[row] ?? 0)]),
      addOnCents: Float64Array.from([...(better?.addOnCents ?? []), ...rows.map(() => Number.NaN)]),
    }
  })
  const isAll = days.every(({ addOnCents = [] }) => !addOnCents.some(Number.isNaN))
  return { addOn: isAll ? 'measured' : 'estimated', people, days }
}

/** All use of the workspace by day; undefined where runs carry no credits. */
export const teamDays = (rows: readonly { readonly dayAt: Instant; readonly used?: Credits }[]): readonly UsedDay[] | undefined =>
  rows.some(({ used }) => used !== undefined) ? rows.flatMap(({ dayAt, used }) => (used === undefined ? [] : [{ dayAt, used }])) : undefined
