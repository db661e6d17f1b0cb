// What people would have used on past days if no cap had stopped them. Recorded use at a cap is cut off. Demand on such a day is estimated from
// the four latest equal weekdays on which the person was not at a cap: the mean is the estimate, the highest the upper end of the band, and the
// recorded use the lower end. Without such a day nothing is guessed, and the person is counted.

import type { Cycle, GroupMembers, Roster } from '../../model/observed.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { type Credits, DAY_MS, type Instant, midnight } from '../../model/units.ts'
import type { RecordedDays, UseOfDay } from '../history.ts'

export type ReplayPeople = ReturnType<typeof replayPeople>

const NO_GROUPS: readonly ScopeKey[] = []

/**
 * Everybody in a replay, by place: people with recorded days first, then the rest of the roster. `present`: the approved people of today. Groups are
 * today's too, because the ledger does not keep past members.
 */
export function replayPeople(recorded: RecordedDays, present: Roster['people'], groups: readonly Pick<GroupMembers, 'id' | 'emails'>[]) {
  const here = new Set(present.map(({ email }) => email))
  const emails = [...new Set([...recorded.people, ...here])]
  const members = groups.flatMap(({ id, emails: those }) => those.map((email) => ({ email, key: scopeKey(groupScope(id)) })))
  const groupsOf = Map.groupBy(members, ({ email }) => email)
  return {
    emails,
    /** Keys of the groups that each person is in today. */
    groupsOf: emails.map((email) => groupsOf.get(email)?.map(({ key }) => key) ?? NO_GROUPS),
    /** Approved on today's roster. */
    isPresent: emails.map((email) => here.has(email)),
  }
}

/** The first and the last recorded day; undefined when there is none. */
export function recordedSpan({ days }: RecordedDays): { readonly firstAt: Instant; readonly lastAt: Instant } | undefined {
  const [first, last] = [days[0], days.at(-1)]
  return first && last && { firstAt: first.dayAt, lastAt: last.dayAt }
}

/** Saturday or Sunday; the epoch began on a Thursday. */
export const isWeekend = (dayAt: Instant): boolean => [2, 3].includes((dayAt / DAY_MS) % 7)

/** One day, as input for a source of caps. */
export interface ReplayDay {
  /** Noon, UTC: the caps of then count for the day. Choice. */
  readonly at: Instant
  readonly cycle: Cycle
  /** Add-on credits that each person used in this cycle before this day, in the same replay; by place. */
  readonly used: Float64Array
}

/** Caps by the place of a person. Valid until the next day is asked for, which may return the same object. */
export interface CapsOfDay {
  /** `Infinity` for no cap. */
  readonly caps: Float64Array
  /** The place in `CapSource.scopes` of the scope that sets the cap; -1 for no cap, or for one dealt by a pool. */
  readonly from: Int32Array
}

export interface CapSource {
  /** May grow while days are asked for. */
  readonly scopes: readonly ScopeKey[]
  /** Called once for each day of a replay, in the order of time. */
  capsOn(day: ReplayDay): CapsOfDay
}

/** One person's demand on one day beyond what was recorded; credits. */
export interface CutOff {
  readonly person: number
  readonly middle: number
  readonly high: number
  /** The probability that it was a working day: 1 with any use, else the share of those weekdays with use. */
  readonly share: number
}

interface DayDemand {
  readonly dayAt: Instant
  /** Add-on credits used, by place. */
  readonly addOn: Float64Array
  /** In the order of places. */
  readonly cutOff: readonly CutOff[]
  /** The caps that were in force. */
  readonly caps: Float64Array
}

export type CycleDemand = ReturnType<typeof demandOf>

interface DemandInputs {
  readonly recorded: RecordedDays
  /** Everybody who is replayed; the people of `recorded` first. */
  readonly people: readonly string[]
  /** In the order of time, starting with the first that has a recorded day. */
  readonly cycles: readonly Cycle[]
  readonly inForce: CapSource
  /** Absent: all use counts as add-on use, an upper bound. */
  readonly creditsPerSeat?: Credits
}

/** Smaller amounts are rounding errors; credits. */
export const DUST = 0.005

/** How many equal weekdays count. Choice. */
const WEEKS = 4

/** The demand of each cycle, one at a time, so that only one is in memory. */
export function* demandByCycle(inputs: DemandInputs): Generator<CycleDemand> {
  const span = recordedSpan(inputs.recorded)
  if (!span) return
  const memory = memoryOf(inputs.people.length)
  const reader = dayReader(inputs.recorded, inputs.people.length)
  for (const cycle of inputs.cycles) {
    const firstAt = Math.max(span.firstAt, firstDayOf(cycle))
    // A cycle may end with days without any use, for example because everybody was at their cap.
    const endAt = firstDayOf({ startAt: cycle.endAt })
    if (firstAt < endAt) yield demandOf(inputs, cycle, { firstAt, endAt }, memory, reader)
  }
}

/** The first UTC day of a cycle: the day that holds its start, whole, as the service writes days. */
export const firstDayOf = ({ startAt }: Pick<Cycle, 'startAt'>): Instant => midnight(startAt)

/**
 * Whether the cap stops the person: at most 1 % of it, or 1 credit, is left, so the next request is refused. When use exceeded the cap by more
 * than a tenth, the cap did not stop anybody. Choice.
 */
const isStopped = (cap: number, used: number): boolean => used >= cap - Math.max(1, cap / 100) && used <= cap + Math.max(10, cap / 10)

function demandOf(
  { people, inForce, creditsPerSeat = 0 as Credits }: DemandInputs,
  cycle: Cycle,
  { firstAt, endAt }: { readonly firstAt: Instant; readonly endAt: Instant },
  memory: ReturnType<typeof memoryOf>,
  read: ReturnType<typeof dayReader>,
) {
  const spent = new Float64Array(people.length)
  const addOnSpent = new Float64Array(people.length)
  // By place: 1 for people who were at their cap, 2 where no earlier day tells what they would have used.
  const atCap = new Uint8Array(people.length)
  // By place: add-on credits used; days with use, and days at the cap in part.
  const sums = { addOn: new Float64Array(people.length), workingDays: new Float64Array(people.length) }
  const days: DayDemand[] = []
  for (let dayAt = firstAt; dayAt < endAt; dayAt += DAY_MS) {
    const { caps } = inForce.capsOn({ at: dayAt + DAY_MS / 2, cycle, used: addOnSpent })
    const today = read(dayAt)
    const addOn = new Float64Array(people.length)
    const cutOff: CutOff[] = []
    for (let person = 0; person < people.length; person += 1) {
      const used = today.used[person] ?? 0
      const before = spent[person] ?? 0
      const cap = caps[person] ?? Number.POSITIVE_INFINITY
      const told = today.addOn[person] ?? Number.NaN
      const paid = Number.isNaN(told) ? Math.max(0, before + used - creditsPerSeat) - Math.max(0, before - creditsPerSeat) : told
      spent[person] = before + used
      addOn[person] = paid
      addOnSpent[person] = (addOnSpent[person] ?? 0) + paid
      sums.addOn[person] = (sums.addOn[person] ?? 0) + paid
      if (used > 0) sums.workingDays[person] = (sums.workingDays[person] ?? 0) + 1
      const isAtCap = cap !== Number.POSITIVE_INFINITY && before + used > 0 && before + used >= creditsPerSeat - 1
      if (!isAtCap || !isStopped(cap, addOnSpent[person] ?? 0)) {
        memory.add(person, dayAt, used)
        continue
      }
      const guess = memory.guess(person, dayAt, used)
      atCap[person] = guess === 'unknown' ? 2 : Math.max(1, atCap[person] ?? 0)
      if (typeof guess !== 'object') continue
      cutOff.push(guess)
      if (used <= 0) sums.workingDays[person] = (sums.workingDays[person] ?? 0) + guess.share
    }
    days.push({ dayAt, addOn, cutOff, caps })
  }
  return { cycle, days, atCap, ...sums }
}

/** Reads the use of one day after the other; the result is valid until the next call. */
function dayReader({ days }: RecordedDays, people: number) {
  const used = new Float64Array(people)
  const addOn = new Float64Array(people)
  let next = 0
  return (dayAt: Instant) => {
    used.fill(0)
    addOn.fill(Number.NaN)
    while (next < days.length && (days[next]?.dayAt ?? 0) < dayAt) next += 1
    const day = days[next]
    if (day?.dayAt === dayAt) fill(day, used, addOn)
    return { used, addOn }
  }
}

function fill({ people, cents, addOnCents }: UseOfDay, used: Float64Array, addOn: Float64Array): void {
  for (let row = 0; row < people.length; row += 1) {
    const person = people[row] ?? 0
    used[person] = (cents[row] ?? 0) / 100
    addOn[person] = (addOnCents?.[row] ?? Number.NaN) / 100
  }
}

const weekdayOf = (dayAt: Instant): number => (dayAt / DAY_MS) % 7

/** The latest days of each person by weekday, from the day of their first use. People who follow each other are side by side, as they are read. */
function memoryOf(people: number) {
  const seen = new Float64Array(people * 7 * WEEKS)
  const counts = new Uint32Array(people * 7)
  const hasBegun = new Uint8Array(people)
  return {
    /** Adds a day on which the person was not stopped. */
    add(person: number, dayAt: Instant, used: number): void {
      if (used > 0) hasBegun[person] = 1
      if (hasBegun[person] !== 1) return
      const slot = weekdayOf(dayAt) * people + person
      const count = counts[slot] ?? 0
      seen[(count % WEEKS) * counts.length + slot] = used
      counts[slot] = count + 1
    },
    /** What they would have used beyond `used` on this day; `unknown` without a day to tell from, undefined where nothing is missing. */
    guess(person: number, dayAt: Instant, used: number): CutOff | 'unknown' | undefined {
      const slot = weekdayOf(dayAt) * people + person
      const known = Math.min(WEEKS, counts[slot] ?? 0)
      if (known === 0) return 'unknown'
      let [sum, high, working] = [0, 0, 0]
      for (let week = 0; week < known; week += 1) {
        const one = seen[week * counts.length + slot] ?? 0
        sum += one
        high = Math.max(high, one)
        if (one > 0) working += 1
      }
      if (high - used <= DUST) return undefined
      return {
        person,
        middle: Math.max(0, sum / known - used),
        high: high - used,
        share: used > 0 ? 1 : working / known,
      }
    },
  }
}
