// The past use of people by day: which days are known, from where, and which must still be read. It decides the grade of every figure, and what a
// service's answer is worth. It never adds figures of two sources, and never scales one.
import type { FigureDoubt, KnownDays, PersonHistory } from '../model/past.ts'
import { type Credits, credits, DAY_MS, type Instant, isAhead, wholeCents } from '../model/units.ts'

/** Whole UTC days; `untilAt` is exclusive. */
export interface Days {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** Days of one request (docs/service.md, What the client tolerates). */
export const RANGE_DAYS = 30

/** The first day that may still change: use of a day arrives until `lagMs` after its end. */
const openFrom = (readAt: Instant, lagMs: number): Instant => Math.floor((readAt - lagMs) / DAY_MS) * DAY_MS

/** The part of the days that will not change any more; empty where `fromAt` is not before `untilAt`. */
const settled = ({ fromAt, untilAt, readAt }: KnownDays, lagMs: number): Days => ({
  fromAt,
  untilAt: Math.min(untilAt, openFrom(readAt, lagMs)),
})

const isEmpty = ({ fromAt, untilAt }: Days): boolean => fromAt >= untilAt

/** `days` without `hole`. */
const without = (days: Days, hole: Days): readonly Days[] =>
  [
    { fromAt: days.fromAt, untilAt: Math.min(days.untilAt, hole.fromAt) },
    { fromAt: Math.max(days.fromAt, hole.untilAt), untilAt: days.untilAt },
  ].filter((part) => !isEmpty(part))

/** The days of `wanted` that none of `known` has, in the order of time. */
export const missingDays = (wanted: Days, known: readonly Days[]): readonly Days[] =>
  known.reduce<readonly Days[]>(
    (left, hole) => (isEmpty(hole) ? left : left.flatMap((days) => without(days, hole))),
    isEmpty(wanted) ? [] : [wanted],
  )

/** Without what a clock that was ahead has read: days that were not over then look as if nobody had used anything. */
export const soundDays = (known: readonly KnownDays[], now: Instant): readonly KnownDays[] =>
  known.filter(({ readAt }) => !isAhead(readAt, now))

/** Adjoining days are read again together; a gap is not bridged. Newest first, at most 30 days each. */
const inRanges = (days: readonly Days[]): readonly Days[] =>
  days.toReversed().flatMap(({ fromAt, untilAt }) => {
    const ranges: Days[] = []
    for (let end = untilAt; end > fromAt; end -= RANGE_DAYS * DAY_MS)
      ranges.push({ fromAt: Math.max(fromAt, end - RANGE_DAYS * DAY_MS), untilAt: end })
    return ranges
  })

/**
 * The ranges of `wanted` that must be read for one person, newest first. Days that are known and cannot change any more are left out, and so are
 * those of `measured`, which another answer tells for everybody.
 */
export const rangesToRead = (wanted: Days, known: readonly KnownDays[], measured: readonly Days[], lagMs: number): readonly Days[] =>
  inRanges(missingDays(wanted, [...known.map((one) => settled(one, lagMs)), ...measured]))

/** `known` with the days of one more answer, in the order of time. Neighbours are joined where that loses nothing. */
export function withDays(known: readonly KnownDays[], read: KnownDays, lagMs: number): readonly KnownDays[] {
  const rest = soundDays(known, read.readAt).flatMap((one) => without(one, read).map((part) => ({ ...one, ...part })))
  const joined: KnownDays[] = []
  for (const next of [...rest, read].sort((a, b) => a.fromAt - b.fromAt)) {
    const last = joined.at(-1)
    const isJoint =
      last?.untilAt === next.fromAt &&
      last.isSilent === next.isSilent &&
      openFrom(last.readAt, lagMs) >= last.untilAt &&
      openFrom(next.readAt, lagMs) >= next.fromAt
    if (last && isJoint) joined[joined.length - 1] = { ...next, fromAt: last.fromAt }
    else joined.push(next)
  }
  return joined
}

/**
 * The origin of a figure of one person and day, the best first. `measured`: the source that names the part paid from add-on credits.
 * `reconstructed`: the past runs of this person. `partial`: only readings of the listing, or two figures that contradict each other.
 */
export const DAY_GRADES = ['measured', 'reconstructed', 'partial', 'missing'] as const
export type DayGrade = (typeof DAY_GRADES)[number]

/** Days of which the service's answers about this person tell. */
export const toldDays = (person: PersonHistory | undefined): readonly KnownDays[] =>
  person?.known.filter(({ isSilent }) => person.isFound === true || isSilent !== true) ?? []

/** What is known beside the answers about single people. */
export interface CommonDays {
  /** Days of which one source tells everybody's add-on use, except of `unassignable` people. */
  readonly measured?: Days
  readonly unassignable: ReadonlySet<string>
  /** Days in which the listing of people was read again and again. */
  readonly recorded?: Days
}

const covers = (days: Days | undefined, dayAt: Instant): boolean => days !== undefined && dayAt >= days.fromAt && dayAt < days.untilAt

/** The grade of one person's day. Every figure of past use has the grade that this function says. */
function gradeOf(dayAt: Instant, { email, known, doubt, isFound }: PersonHistory, common: CommonDays): DayGrade {
  if (covers(common.measured, dayAt) && !common.unassignable.has(email)) return 'measured'
  const told = known.find((days) => covers(days, dayAt))
  if (told && (isFound || !told.isSilent)) return doubt ? 'partial' : 'reconstructed'
  return covers(common.recorded, dayAt) ? 'partial' : 'missing'
}

/** How many days of a person have each grade. */
export function countGrades(wanted: Days, person: PersonHistory, common: CommonDays): Readonly<Record<DayGrade, number>> {
  const counts = { measured: 0, reconstructed: 0, partial: 0, missing: 0 }
  for (const { fromAt, untilAt, grade } of gradesOf(wanted, person, common)) counts[grade] += (untilAt - fromAt) / DAY_MS
  return counts
}

/** Adjoining days of one grade, in the order of time. Only where a source begins or ends can the grade change. */
export function gradesOf(wanted: Days, person: PersonHistory, common: CommonDays): readonly (Days & { readonly grade: DayGrade })[] {
  const sources = [wanted, ...person.known, common.measured, common.recorded].filter((days) => days !== undefined)
  const bounds = sources.flatMap(({ fromAt, untilAt }) => [fromAt, untilAt]).map((at) => Math.ceil(at / DAY_MS) * DAY_MS)
  const cuts = [...new Set(bounds)].filter((at) => at >= wanted.fromAt && at <= wanted.untilAt).sort((a, b) => a - b)
  const parts: (Days & { readonly grade: DayGrade })[] = []
  for (const [index, fromAt] of cuts.slice(0, -1).entries()) {
    const [untilAt = fromAt, grade, last] = [cuts[index + 1], gradeOf(fromAt, person, common), parts.at(-1)]
    if (last?.grade === grade) parts[parts.length - 1] = { ...last, untilAt }
    else parts.push({ fromAt, untilAt, grade })
  }
  return parts
}

/** Smaller figures are not compared. */
export const FEWEST_COMPARED = 20
/** How far apart two figures for the same may be. */
const FARTHEST_APART = 0.1

/**
 * Whether two figures of one cycle contradict each other; undefined where there is nothing to compare. `settled`: what is told of days whose
 * use has all arrived and is of this cycle; of the others either figure may know more.
 */
export function doubtOf(cycleStartAt: Instant, told: Credits, settled: Credits, listed: Credits | undefined): FigureDoubt | undefined {
  if (listed === undefined || Math.max(told, listed) < FEWEST_COMPARED) return undefined
  const nearest = Math.min(Math.max(settled, listed), told)
  return Math.abs(nearest - listed) > FARTHEST_APART * Math.max(nearest, listed) ? { cycleStartAt, told, listed } : undefined
}

/** The use of one UTC day. */
export interface UsedDay {
  readonly dayAt: Instant
  readonly used: Credits
}

/** One person's use on whole days, as the service tells it; a day without a row had none. */
export interface ToldDays extends Days {
  readonly rows: readonly UsedDay[]
}

/** What is known of a person from now on, and the use that goes with it. */
export interface HistoryChange {
  readonly history: PersonHistory
  readonly told?: ToldDays
}

/** Use by day from rows of one person. Rows outside the range belong to another answer, and are dropped. */
export function usedByDay(rows: readonly { readonly dayAt: Instant; readonly used?: Credits }[], days: Days): readonly UsedDay[] {
  const sums = new Map<Instant, number>()
  for (const { dayAt, used = 0 } of rows) if (covers(days, dayAt)) sums.set(dayAt, (sums.get(dayAt) ?? 0) + used)
  return [...sums].sort(([a], [b]) => a - b).map(([dayAt, used]) => ({ dayAt, used: wholeCents(used) }))
}

/** Whether people together have more than the workspace itself: then an answer about one person tells of others too. */
export const isAboveTotal = (people: number, total: Credits): boolean => people > total + Math.max(1, total / 100)

/** The sum of some days. */
export const sumOfDays = (days: readonly UsedDay[]): Credits => credits(wholeCents(days.reduce((sum, { used }) => sum + used, 0)))

/** One range and everybody for whom it must be read. */
export interface RangeOfPeople extends Days {
  readonly emails: readonly string[]
}

/** What must be read, newest days first. People come in their order. */
export function planHistory(
  people: readonly PersonHistory[],
  wanted: Days,
  { common, lagMs }: { readonly common: CommonDays; readonly lagMs: number },
): readonly RangeOfPeople[] {
  const ranges = new Map<string, Days & { readonly emails: string[] }>()
  for (const { email, known } of people) {
    const measured = common.measured && !common.unassignable.has(email) ? [common.measured] : []
    for (const { fromAt, untilAt } of rangesToRead(wanted, known, measured, lagMs)) {
      const key = `${fromAt} ${untilAt}`
      const range = ranges.get(key)
      if (range) range.emails.push(email)
      else ranges.set(key, { fromAt, untilAt, emails: [email] })
    }
  }
  return [...ranges.values()].sort((a, b) => b.untilAt - a.untilAt || b.fromAt - a.fromAt)
}

/** At most so many requests for single people, and for who was active in a range: that is asked only where it can save more than it costs. */
export const requestsOf = (plan: readonly RangeOfPeople[]) => ({
  people: plan.reduce((sum, { emails }) => sum + emails.length, 0),
  listings: plan.filter(({ emails }) => emails.length > 1).length,
})

/** The least share of the people and of the workspace's use that must be known for a cycle to count. */
export const ENOUGH_KNOWN = 0.95

// The same days as columns of numbers, from both sources, and how much of a cycle they tell: a year of 5,000 people takes a few megabytes. A gap is
// never filled.

/** The use of one UTC day; each person with use has one place in each column. */
export interface UseOfDay {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** Places in `RecordedDays.people`. */
  readonly people: Int32Array
  /** All use, in hundredths of a credit. */
  readonly cents: Float64Array
  /** The part that add-on credits paid, where the service measures it; NaN for a person for whom it does not. */
  readonly addOnCents?: Float64Array
}

export interface RecordedDays {
  /** `measured`: of everybody on every day. */
  readonly addOn: 'measured' | 'estimated'
  /** E-mails. */
  readonly people: readonly string[]
  /** In the order of time; a day without any use may be missing. */
  readonly days: readonly UseOfDay[]
}

/** Where the days of people come from. */
export interface PastDays {
  /** What is known of single people, by e-mail. */
  readonly people: ReadonlyMap<string, PersonHistory>
  readonly common: CommonDays
  /** Use of the whole workspace on the days that were read; absent where its runs carry no credits. */
  readonly team?: Days & { readonly days: readonly UsedDay[] }
}

export type CycleKnown = ReturnType<typeof cycleKnown>

export const isEnough = ({ people, use = 1 }: Pick<CycleKnown, 'people'> & Partial<CycleKnown>): boolean =>
  people >= ENOUGH_KNOWN && use >= ENOUGH_KNOWN

/** Shares from 0 to 1; that of the use is undefined where the use of the whole workspace is not known. `emails`: everybody who counts. */
export function cycleKnown(cycle: Days, recorded: RecordedDays, emails: readonly string[], past: PastDays) {
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
  return [
    ...toldDays(people.get(email)),
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
