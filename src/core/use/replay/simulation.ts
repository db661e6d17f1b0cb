// A simulation as one document of plain data: what each cycle, group and person would have had under a policy, compared with what was in force or
// with another policy. Sums and comparisons only. What is not known is absent, and a note says so.

import { isApproved } from '../../interpret/effective.ts'
import type { Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import { compareText, groupScope, scopeKey } from '../../model/scope.ts'
import { formatInstant, type Instant, wholeCents } from '../../model/units.ts'
import { type CycleDemand, demandByCycle, type ReplayPeople, recordedSpan, replayPeople } from './demand.ts'
import {
  type Beside,
  isBesideKnown,
  isCounted,
  type Outcomes,
  type ReplayedCycle,
  type SimulatedCycle,
  type SimulationInputs,
  simulatedCycle,
  tenth,
} from './document.ts'
import { capsInForce, capsOfPolicy, type PolicyCaps } from './in-force.ts'
import { type BandEnd, type CapUse, noCapUse, type Outcome, recordedCycle, replayCycle } from './replay.ts'

export type Simulation = ReturnType<typeof simulate>

/** Replays the cycles and builds the document. */
export function simulate(inputs: SimulationInputs) {
  const { workspace, policy, against, recorded, creditsPerSeat, pricePerCredit } = inputs
  const people = replayPeople(recorded, presentPeople(inputs.roster), inputs.groups)
  const capUse = noCapUse()
  const beside: Beside = against
    ? { kind: 'policy', digest: against.digest, revision: against.revision }
    : { kind: 'inForce', knownFromAt: knownFrom(inputs) }
  const sides = { policy: sourcesOf(inputs, people, policy), beside: against && sourcesOf(inputs, people, against), about: beside }
  const tally = tallyOf(people)
  const cycles: SimulatedCycle[] = []
  const first = Math.max(0, inputs.cycles.length - inputs.shown)
  const from = inputs.cycles[first]?.startAt ?? 0
  for (const demand of demandsOf(inputs, people)) {
    inputs.onCycle?.()
    if (demand.cycle.startAt < from) continue
    const replayed = replayedCycle(demand, sides, capUse)
    tally.add(replayed)
    cycles.push(simulatedCycle(inputs, people, replayed, sides.policy.middle.pools()))
  }
  const span = recordedSpan(recorded) ?? { firstAt: 0, lastAt: 0 }
  return {
    workspace,
    policy: { digest: policy.digest, revision: policy.revision },
    beside,
    addOn: recorded.addOn,
    creditsPerSeat,
    pricePerCredit,
    recorded: span,
    cycles,
    ...tally.lists(),
    caps: capsReached(sides.policy.middle, capUse, tally.held),
    notes: [...inputs.notes, ...simulationNotes(inputs, people, { beside, cycles }, tally.counts(), sides.policy.middle)],
  }
}

/** The approved people of a roster. */
export const presentPeople = (roster: Roster | undefined): Roster['people'] =>
  (roster?.people ?? []).filter((person) => roster && isApproved(person, roster))

/** The demand of each cycle, the earliest first. */
export const demandsOf = (
  inputs: Pick<SimulationInputs, 'recorded' | 'cycles' | 'owned' | 'history' | 'journal' | 'creditsPerSeat'>,
  people: ReplayPeople,
): Generator<CycleDemand> =>
  demandByCycle({
    recorded: inputs.recorded,
    people: people.emails,
    cycles: inputs.cycles,
    inForce: capsInForce(people, inputs.owned, inputs.history, inputs.journal),
    creditsPerSeat: inputs.creditsPerSeat,
  })

type Sources = ReturnType<typeof sourcesOf>

/** One source for each end of the band, because a source that deals by use remembers its deals. */
function sourcesOf({ roster, groups }: SimulationInputs, people: ReplayPeople, { set }: PolicyRevision) {
  const middle = capsOfPolicy({ set, people, groups, roster })
  return { low: middle.another(), middle, high: middle.another() }
}

function replayedCycle(
  demand: CycleDemand,
  sides: { readonly policy: Sources; readonly beside: Sources | undefined; readonly about: Beside },
  capUse: CapUse,
): ReplayedCycle {
  const under = (sources: Sources, use?: CapUse) =>
    banded(demand, (band) => replayCycle(demand, sources[band], band, band === 'middle' ? use : undefined))
  return {
    demand,
    policy: under(sides.policy, capUse),
    beside: sides.beside ? under(sides.beside) : banded(demand, (band) => recordedCycle(demand, band)),
    isBesideKnown: isBesideKnown({ beside: sides.about }, demand.cycle.startAt),
  }
}

/** Where nothing was cut off, the ends of the band are the same. */
function banded(demand: CycleDemand, replay: (band: BandEnd) => Outcome): Outcomes {
  const middle = replay('middle')
  if (demand.days.every(({ cutOff }) => cutOff.length === 0)) return { low: middle, middle, high: middle }
  return { low: replay('low'), middle, high: replay('high') }
}

// The notes of a simulation: what recorded use cannot tell, and what makes the figures less reliable than they look. Each note names a number and,
// where there is one, the way out.

/** The most important first. */
function simulationNotes(
  inputs: SimulationInputs,
  people: ReplayPeople,
  { beside, cycles }: { readonly beside: Beside; readonly cycles: readonly SimulatedCycle[] },
  tally: ReturnType<Tally['counts']>,
  { rejected, openRules }: Pick<PolicyCaps, 'rejected' | 'openRules'>,
): readonly string[] {
  const { creditsPerSeat, recorded } = inputs
  return [
    ...unknownMembers(inputs),
    ...[...rejected.values()].map(({ message }) => message),
    ...[...openRules.values()].map((message) => `${message}; here no rule gives them a cap.`),
    ...(recorded.addOn === 'estimated' ? [creditsPerSeat === undefined ? UPPER_BOUND : estimatedWith(creditsPerSeat)] : []),
    ...atCapNotes(tally),
    ...(beside.kind === 'inForce' && people.emails.length > 0 ? withoutCap(beside.knownFromAt, cycles) : []),
    ...poolNotes(inputs),
    'Groups and roles are those of today, and a person whose address changed counts twice. Recorded use does not tell what people would have done had they known of another cap.',
  ]
}

const UPPER_BOUND =
  'What a seat includes is not known, so all use counts as add-on use: an upper bound. Write creditsPerSeat into the config where the balance does not tell it.'

const estimatedWith = (creditsPerSeat: number): string =>
  `Add-on use is estimated: what a person used in a cycle beyond the credits of a seat, assumed to be today's ${creditsPerSeat}.`

function unknownMembers({ policy, groups }: SimulationInputs): readonly string[] {
  const known = new Set(groups.map(({ id }) => id))
  const unknown = policy.set.groups.filter(({ scope }) => !known.has(scope.id))
  if (unknown.length === 0) return []
  const names = unknown.slice(0, 5).map(({ scope, name }) => `${scopeKey(groupScope(scope.id))} (${name})`)
  const rest = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  return [
    `The ledger does not know the members of ${names.join(', ')}${rest}, so their caps reach nobody here; a daemon lists them once its policies declare them.`,
  ]
}

function atCapNotes({ atCap, unknown }: ReturnType<Tally['counts']>): readonly string[] {
  if (atCap === 0) return []
  const were = atCap === 1 ? '1 person was' : `${atCap} people were`
  return [
    `${were} at a cap: what they would have used is the mean of up to four earlier equal weekdays; ranges go from nothing more to the highest of them.`,
    ...(unknown > 0 ? [`For ${unknown} of them no earlier day tells what they would have used; nothing is added for those days.`] : []),
  ]
}

const OTHERS =
  'In force counts what the ledger knows: caps that capkeeper wrote or declared, and what it saw other clients write there. A cap that was set ' +
  'where no policy declares one is not in the ledger and counts as none.'

/** Of when the first record of a cap is; undefined without any. */
function knownFrom({ owned, history }: SimulationInputs): Instant | undefined {
  const all = [...owned.map(({ verifiedAt }) => verifiedAt), ...history.map(({ at }) => at)]
  return all.length === 0 ? undefined : all.reduce((first, at) => Math.min(first, at))
}

function withoutCap(from: Instant | undefined, cycles: readonly SimulatedCycle[]): readonly string[] {
  const count = cycles.filter(({ startAt }) => from === undefined || startAt < from).reduce((sum, { total }) => sum + total.people, 0)
  const cut = `in ${count} person-cycle${count === 1 ? '' : 's'} a cap may have cut demand`
  const none = 'The ledger knows of no cap that was in force: people count as without one, and nobody as blocked'
  if (from === undefined) return [`${none}; ${cut}.`]
  const first = `The first cap on record is of ${formatInstant(from).slice(0, 10)}, and what was in force before is not known`
  return [OTHERS, ...(count > 0 ? [`${first}; ${cut}.`] : [])]
}

function poolNotes({ policy, against }: SimulationInputs): readonly string[] {
  if (policy.set.pools.length === 0 && (against?.set.pools.length ?? 0) === 0) return []
  return [
    'Pools are dealt once a day from the use of the days before, with a first deal on the first day shown; a daemon deals up to every 4 h, and so blocks fewer.',
  ]
}

// What a simulation says of single people and single caps over all cycles: who is blocked, who gains and loses, how far each cap was used.

/** How far the caps of a policy were used, reached ones first. */
function capsReached({ scopes }: PolicyCaps, { highest, cap, isReached }: CapUse, held: Held) {
  return scopes
    .flatMap((scope, place) => {
      const most = highest[place]
      const [personCycles, blocked] = [held.personCycles[place] ?? 0, held.blocked[place] ?? 0]
      const used = { cap: cap[place] ?? 0, highest: wholeCents(most ?? 0), isReached: isReached[place] === true }
      return most === undefined ? [] : [{ scope, ...used, personCycles, blocked }]
    })
    .sort((a, b) => Number(b.isReached) - Number(a.isReached) || compareText(a.scope, b.scope))
}

/** By place of the scope: people who had its cap at a cycle's end, and how many of them were blocked, summed over the cycles. */
interface Held {
  readonly personCycles: number[]
  readonly blocked: number[]
}

function addHeld({ personCycles, blocked }: Held, people: ReplayPeople, replayed: ReplayedCycle): void {
  const { from, blockedDays } = replayed.policy.middle
  for (const [person, place] of from?.entries() ?? []) {
    if (place < 0 || !isCounted(people, replayed.demand, person)) continue
    personCycles[place] = (personCycles[place] ?? 0) + 1
    blocked[place] = (blocked[place] ?? 0) + Number((blockedDays[person] ?? 0) > 0)
  }
}

type Tally = ReturnType<typeof tallyOf>

/** Add one replayed cycle after the other. */
function tallyOf(people: ReplayPeople) {
  let blocked: readonly BlockedPerson[] = []
  const sums = { policy: sumsOf(people), beside: sumsOf(people) }
  const atCap = new Uint8Array(people.emails.length)
  const held: Held = { personCycles: [], blocked: [] }
  return {
    held,
    add(replayed: ReplayedCycle): void {
      addHeld(held, people, replayed)
      if (replayed.isBesideKnown) for (const side of ['policy', 'beside'] as const) addOutcome(sums[side], replayed[side].middle)
      for (const [person, most] of replayed.demand.atCap.entries()) atCap[person] = Math.max(atCap[person] ?? 0, most)
      blocked = [...blocked, ...blockedIn(replayed, people)]
    },
    lists: () => ({
      /** The longest blocked under the policy first. */
      blocked: blocked.toSorted(
        (a, b) => b.cycleStartAt - a.cycleStartAt || (b.policy?.days ?? 0) - (a.policy?.days ?? 0) || compareText(a.email, b.email),
      ),
      ...changesOf(people, sums),
    }),
    /** People who were at their cap in force in a shown cycle, and those among them for whom no earlier day tells what they would have used. */
    counts: () => ({
      atCap: atCap.reduce((sum, one) => sum + Number(one > 0), 0),
      unknown: atCap.reduce((sum, one) => sum + Number(one === 2), 0),
    }),
  }
}

type Sums = Pick<Outcome, 'addOn' | 'blockedDays'>

const sumsOf = ({ emails: { length } }: ReplayPeople): Sums => ({ addOn: new Float64Array(length), blockedDays: new Float64Array(length) })

function addOutcome({ addOn, blockedDays }: Sums, outcome: Sums): void {
  for (let person = 0; person < addOn.length; person += 1) {
    addOn[person] = (addOn[person] ?? 0) + (outcome.addOn[person] ?? 0)
    blockedDays[person] = (blockedDays[person] ?? 0) + (outcome.blockedDays[person] ?? 0)
  }
}

export type BlockedPerson = ReturnType<typeof blockedIn>[number]

/** Whom a cap stopped in one cycle, and how, on each side. */
function blockedIn({ demand, isBesideKnown: isKnown, ...replayed }: ReplayedCycle, { emails }: ReplayPeople) {
  const blockedOf = ({ firstBlocked, blockedDays, capThen }: Outcome, person: number) => {
    const day = demand.days[firstBlocked[person] ?? -1]
    /** `fromAt`: the first day; midnight, UTC. */
    return day && { fromAt: day.dayAt, days: tenth(blockedDays[person] ?? 0), cap: capThen[person] ?? 0 }
  }
  return emails.flatMap((email, person) => {
    const policy = blockedOf(replayed.policy.middle, person)
    const beside = isKnown ? blockedOf(replayed.beside.middle, person) : undefined
    if (!policy && !beside) return []
    return [{ email, cycleStartAt: demand.cycle.startAt, workingDays: tenth(demand.workingDays[person] ?? 0), policy, beside }]
  })
}

export type PersonChange = ReturnType<typeof changesOf>['gains'][number]

/** People for whom the two sides differ over all cycles, the most first. Gains: blocked on fewer days, or allowed more use; losses: blocked on more. */
function changesOf({ emails }: ReplayPeople, { policy, beside }: { readonly policy: Sums; readonly beside: Sums }) {
  const all = emails.map((email, person) => ({
    email,
    credits: { policy: wholeCents(policy.addOn[person] ?? 0), beside: wholeCents(beside.addOn[person] ?? 0) },
    blockedDays: { policy: tenth(policy.blockedDays[person] ?? 0), beside: tenth(beside.blockedDays[person] ?? 0) },
  }))
  type Change = (typeof all)[number]
  const days = ({ blockedDays: { policy: now, beside: then } }: Change): number => now - then
  const more = ({ credits: { policy: now, beside: then } }: Change): number => now - then
  return {
    gains: all
      .filter((one) => days(one) < 0 || (days(one) === 0 && more(one) > 0))
      .sort((a, b) => days(a) - days(b) || more(b) - more(a) || compareText(a.email, b.email)),
    losses: all.filter((one) => days(one) > 0).sort((a, b) => days(b) - days(a) || more(a) - more(b) || compareText(a.email, b.email)),
  }
}
