// A simulation as one document of plain data: what each cycle, group and person would have had under a policy, beside what was in force or
// another policy. Sums and comparisons only; text, JSON, Markdown and HTML are all made of this. What is not known is absent, and a note says so.

import { isApproved, TEAM_KEY } from '../../interpret/effective.ts'
import type { HistoryEntry } from '../../model/change.ts'
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { type Credits, type Instant, wholeCents } from '../../model/units.ts'
import { type CycleDemand, demandByCycle, type ReplayCycle } from './demand.ts'
import { capsInForce } from './in-force.ts'
import { simulationNotes } from './notes.ts'
import { capsOfPolicy, type PolicyCaps } from './policy-caps.ts'
import { type RecordedDays, type ReplayPeople, recordedSpan, replayPeople } from './recorded.ts'
import { BANDS, type BandEnd, type CapUse, noCapUse, type Outcome, recordedCycle, replayCycle, workingDays } from './replay.ts'

/** A figure with what it would be were cut-off demand nothing, or at its highest. */
export interface Banded {
  readonly low: number
  readonly middle: number
  readonly high: number
}

/** What one side comes to. Credits are add-on credits. */
export interface SideFigures {
  readonly credits: Banded
  readonly blockedPeople: Banded
  /** Working days on which somebody was blocked, summed over people. */
  readonly blockedDays: Banded
}

export interface SimulationRow {
  /** `team`, `group:ID`, or `-` for people in no group. */
  readonly key: string
  readonly name: string
  /** Approved today, or with use in the cycle. */
  readonly people: number
  readonly workingDays: number
  readonly policy: SideFigures
  readonly beside: SideFigures
  /** Add-on credits that the policy would not have spent; negative: spent more. */
  readonly kept: number
  /** In the currency of the configured price. */
  readonly keptMoney?: number
}

export interface SimulatedCycle extends Cycle {
  readonly isWhole: boolean
  readonly total: SimulationRow
  readonly groups: readonly SimulationRow[]
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

/** How far a declared cap was used. */
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

/** A person to whom the policy makes a difference, over all cycles. */
export interface PersonChange {
  readonly email: string
  readonly credits: { readonly policy: number; readonly beside: number }
  readonly blockedDays: { readonly policy: number; readonly beside: number }
}

export interface Simulation {
  readonly workspace: string
  readonly policy: { readonly digest: string; readonly revision: string }
  readonly beside: { readonly kind: 'inForce' } | { readonly kind: 'policy'; readonly digest: string; readonly revision: string }
  readonly addOn: RecordedDays['addOn']
  readonly creditsPerSeat?: number
  readonly pricePerCredit?: number
  readonly recorded: { readonly firstAt: Instant; readonly lastAt: Instant }
  readonly cycles: readonly SimulatedCycle[]
  /** The longest blocked under the policy first. */
  readonly blocked: readonly BlockedPerson[]
  readonly caps: readonly CapReach[]
  /** Blocked on fewer days, or let use more; the most first. */
  readonly gains: readonly PersonChange[]
  /** Blocked on more days. */
  readonly losses: readonly PersonChange[]
  readonly notes: readonly string[]
}

export interface SimulationInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  /** Absent: what was in force. */
  readonly against?: PolicyRevision
  readonly recorded: RecordedDays
  /** All since the first recorded day, in the order of time; those before the shown ones tell what people used to do. */
  readonly cycles: readonly ReplayCycle[]
  /** How many of the last are shown. */
  readonly shown: number
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly owned: readonly OwnedCap[]
  readonly history: readonly HistoryEntry[]
  readonly creditsPerSeat?: Credits
  readonly pricePerCredit?: number
  /** What the gatherer could not have. */
  readonly notes: readonly string[]
  /** Called after each cycle. */
  readonly onCycle?: () => void
}

/** One side of one cycle at each end of the band. */
export type Outcomes = Readonly<Record<BandEnd, Outcome>>

/** One cycle, replayed. */
export interface ReplayedCycle {
  readonly demand: CycleDemand
  readonly workingDays: Float64Array
  readonly policy: Outcomes
  readonly beside: Outcomes
}

/** Replays the cycles and makes the document. */
export function simulate(inputs: SimulationInputs): Simulation {
  const { workspace, policy, against, recorded, creditsPerSeat, pricePerCredit } = inputs
  const people = replayPeople(recorded, presentPeople(inputs.roster), inputs.groups)
  const capUse = noCapUse()
  const sides = { policy: sourcesOf(inputs, people, policy), beside: against && sourcesOf(inputs, people, against) }
  const tally = tallyOf(people)
  const cycles: SimulatedCycle[] = []
  const first = Math.max(0, inputs.cycles.length - inputs.shown)
  const from = inputs.cycles[first]?.startAt ?? 0
  for (const demand of demandsOf(inputs, people)) {
    inputs.onCycle?.()
    if (demand.cycle.startAt < from) continue
    const replayed = replayedCycle(demand, sides, capUse)
    tally.add(replayed)
    cycles.push(simulatedCycle(inputs, people, replayed))
  }
  const span = recordedSpan(recorded) ?? { firstAt: 0, lastAt: 0 }
  return {
    workspace,
    policy: { digest: policy.digest, revision: policy.revision },
    beside: against ? { kind: 'policy', digest: against.digest, revision: against.revision } : { kind: 'inForce' },
    addOn: recorded.addOn,
    ...(creditsPerSeat !== undefined && { creditsPerSeat }),
    ...(pricePerCredit !== undefined && { pricePerCredit }),
    recorded: span,
    cycles,
    ...tally.lists(),
    caps: capsReached(sides.policy.middle, capUse, tally.held()),
    notes: [
      ...inputs.notes,
      ...simulationNotes(inputs, people, { tally: tally.counts(), rejected: [...sides.policy.middle.rejected.values()] }),
    ],
  }
}

/** The approved people of a roster. */
export const presentPeople = (roster: Roster | undefined): Roster['people'] =>
  (roster?.people ?? []).filter((person) => roster && isApproved(person, roster))

/** The demand of each cycle, the earliest first. */
export const demandsOf = (
  inputs: Pick<SimulationInputs, 'recorded' | 'cycles' | 'owned' | 'history' | 'creditsPerSeat'>,
  people: ReplayPeople,
): Generator<CycleDemand> =>
  demandByCycle({
    recorded: inputs.recorded,
    people: people.emails,
    cycles: inputs.cycles,
    inForce: capsInForce(people, inputs.owned, inputs.history),
    ...(inputs.creditsPerSeat !== undefined && { creditsPerSeat: inputs.creditsPerSeat }),
  })

type Sources = Readonly<Record<BandEnd, PolicyCaps>>

/** A source for each end of the band: one that deals by use remembers what it dealt. */
function sourcesOf({ roster, groups }: SimulationInputs, people: ReplayPeople, { set }: PolicyRevision): Sources {
  const one = (): PolicyCaps => capsOfPolicy({ set, people, groups, ...(roster && { roster }) })
  return { low: one(), middle: one(), high: one() }
}

function replayedCycle(
  demand: CycleDemand,
  sides: { readonly policy: Sources; readonly beside: Sources | undefined },
  capUse: CapUse,
): ReplayedCycle {
  const under = (sources: Sources, use?: CapUse) =>
    banded(demand, (band) => replayCycle(demand, sources[band], band, band === 'middle' ? use : undefined))
  return {
    demand,
    workingDays: workingDays(demand),
    policy: under(sides.policy, capUse),
    beside: sides.beside ? under(sides.beside) : banded(demand, (band) => recordedCycle(demand, band)),
  }
}

/** Where nothing was cut off, the ends of the band are the same. */
function banded(demand: CycleDemand, replay: (band: BandEnd) => Outcome): Outcomes {
  const middle = replay('middle')
  if (demand.days.every(({ cutOff }) => cutOff.length === 0)) return { low: middle, middle, high: middle }
  return { low: replay('low'), middle, high: replay('high') }
}

function simulatedCycle(inputs: SimulationInputs, people: ReplayPeople, replayed: ReplayedCycle): SimulatedCycle {
  const { cycle } = replayed.demand
  const all = people.emails.flatMap((_, person) => (isCounted(people, replayed, person) ? [person] : []))
  const row = (key: string, name: string, members: readonly number[]) => rowOf({ key, name }, members, replayed, inputs.pricePerCredit)
  const groups = groupRows(inputs).map(({ key, name }) =>
    row(
      key,
      name,
      all.filter((person) => people.groupsOf[person]?.includes(key)),
    ),
  )
  const rest = all.filter((person) => people.groupsOf[person]?.length === 0)
  return {
    startAt: cycle.startAt,
    endAt: cycle.endAt,
    isWhole: cycle.isWhole,
    total: row(TEAM_KEY, 'everybody', all),
    groups: [...groups, ...(groups.length > 0 && rest.length > 0 ? [row('-', 'in no group', rest)] : [])],
  }
}

/** Approved today, or with use in the cycle. */
export const isCounted = (
  { isPresent }: ReplayPeople,
  { workingDays: days }: Pick<ReplayedCycle, 'workingDays'>,
  person: number,
): boolean => isPresent[person] === true || (days[person] ?? 0) > 0

/** Groups whose members are known, by name. */
function groupRows({ groups, policy }: SimulationInputs): readonly { readonly key: ScopeKey; readonly name: string }[] {
  const names = new Map(policy.set.groups.map(({ scope, name }) => [scope.id, name]))
  return groups
    .map(({ id, name }) => ({ key: scopeKey(groupScope(id)), name: names.get(id) ?? name }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
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
    workingDays: tenth(sumOver(members, replayed.workingDays)),
    policy,
    beside,
    kept,
    ...(price !== undefined && { keptMoney: wholeCents(kept * price) }),
  }
}

function figuresOf(members: readonly number[], outcomes: Outcomes): SideFigures {
  const of = (figure: (outcome: Outcome) => number): Banded => {
    const middle = figure(outcomes.middle)
    if (outcomes.low === outcomes.middle) return { low: middle, middle, high: middle }
    // A deal by use may turn an end of the band round.
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

const tenth = (value: number): number => Math.round(value * 10) / 10

function capsReached({ scopes }: PolicyCaps, { highest, cap, isReached }: CapUse, held: Held): readonly CapReach[] {
  return scopes
    .flatMap((scope, place): readonly CapReach[] => {
      const most = highest[place]
      if (most === undefined) return []
      const [personCycles, blocked] = [held.personCycles[place] ?? 0, held.blocked[place] ?? 0]
      return [{ scope, cap: cap[place] ?? 0, highest: wholeCents(most), isReached: isReached[place] === true, personCycles, blocked }]
    })
    .sort((a, b) => Number(b.isReached) - Number(a.isReached) || (a.scope < b.scope ? -1 : 1))
}

/** By place of the scope. */
interface Held {
  readonly personCycles: number[]
  readonly blocked: number[]
}

function addHeld({ personCycles, blocked }: Held, people: ReplayPeople, replayed: ReplayedCycle): void {
  const { from, blockedDays } = replayed.policy.middle
  for (const [person, place] of from?.entries() ?? []) {
    if (place < 0 || !isCounted(people, replayed, person)) continue
    personCycles[place] = (personCycles[place] ?? 0) + 1
    blocked[place] = (blocked[place] ?? 0) + Number((blockedDays[person] ?? 0) > 0)
  }
}

interface Tally {
  add(replayed: ReplayedCycle): void
  lists(): Pick<Simulation, 'blocked' | 'gains' | 'losses'>
  counts(): Counts
  held(): Held
}

/** What the notes speak of. */
export interface Counts {
  /** People who were at their cap in force in some shown cycle, and of these, those of whom no day before tells anything. */
  readonly atCap: number
  readonly unknown: number
}

function tallyOf(people: ReplayPeople): Tally {
  const blocked: BlockedPerson[] = []
  const sums = { policy: sumsOf(people), beside: sumsOf(people) }
  const atCap = new Uint8Array(people.emails.length)
  const held: Held = { personCycles: [], blocked: [] }
  return {
    held: () => held,
    add(replayed) {
      addHeld(held, people, replayed)
      for (const side of ['policy', 'beside'] as const) addOutcome(sums[side], replayed[side].middle)
      for (const [person, email] of people.emails.entries()) {
        atCap[person] = Math.max(atCap[person] ?? 0, replayed.demand.atCap[person] ?? 0)
        const both = { policy: blockedOf(replayed, 'policy', person), beside: blockedOf(replayed, 'beside', person) }
        if (!both.policy && !both.beside) continue
        blocked.push({
          email,
          cycleStartAt: replayed.demand.cycle.startAt,
          workingDays: tenth(replayed.workingDays[person] ?? 0),
          ...(both.policy && { policy: both.policy }),
          ...(both.beside && { beside: both.beside }),
        })
      }
    },
    lists: () => ({
      blocked: blocked.sort(
        (a, b) => b.cycleStartAt - a.cycleStartAt || (b.policy?.days ?? 0) - (a.policy?.days ?? 0) || (a.email < b.email ? -1 : 1),
      ),
      ...changesOf(people, sums),
    }),
    counts: () => ({
      atCap: atCap.reduce((sum, one) => sum + Number(one > 0), 0),
      unknown: atCap.reduce((sum, one) => sum + Number(one === 2), 0),
    }),
  }
}

interface Sums {
  readonly credits: Float64Array
  readonly blockedDays: Float64Array
}

const sumsOf = ({ emails }: ReplayPeople): Sums => ({
  credits: new Float64Array(emails.length),
  blockedDays: new Float64Array(emails.length),
})

function addOutcome({ credits, blockedDays }: Sums, outcome: Outcome): void {
  for (let person = 0; person < credits.length; person += 1) {
    credits[person] = (credits[person] ?? 0) + (outcome.addOn[person] ?? 0)
    blockedDays[person] = (blockedDays[person] ?? 0) + (outcome.blockedDays[person] ?? 0)
  }
}

function blockedOf({ demand, ...replayed }: ReplayedCycle, side: 'policy' | 'beside', person: number): Blocked | undefined {
  const { firstBlocked, blockedDays, capThen } = replayed[side].middle
  const day = demand.days[firstBlocked[person] ?? -1]
  return day && { fromAt: day.dayAt, days: tenth(blockedDays[person] ?? 0), cap: capThen[person] ?? 0 }
}

function changesOf(
  { emails }: ReplayPeople,
  { policy, beside }: { readonly policy: Sums; readonly beside: Sums },
): Pick<Simulation, 'gains' | 'losses'> {
  const all = emails.map(
    (email, person): PersonChange => ({
      email,
      credits: { policy: wholeCents(policy.credits[person] ?? 0), beside: wholeCents(beside.credits[person] ?? 0) },
      blockedDays: { policy: tenth(policy.blockedDays[person] ?? 0), beside: tenth(beside.blockedDays[person] ?? 0) },
    }),
  )
  const days = ({ blockedDays: { policy: now, beside: then } }: PersonChange): number => now - then
  const more = ({ credits: { policy: now, beside: then } }: PersonChange): number => now - then
  return {
    gains: all
      .filter((one) => days(one) < 0 || (days(one) === 0 && more(one) > 0))
      .sort((a, b) => days(a) - days(b) || more(b) - more(a) || (a.email < b.email ? -1 : 1)),
    losses: all.filter((one) => days(one) > 0).sort((a, b) => days(b) - days(a) || more(a) - more(b) || (a.email < b.email ? -1 : 1)),
  }
}
