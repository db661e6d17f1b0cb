// The inputs of a replay, from recorded use: which billing cycles were recorded as a whole, which are shown, and when there will be enough. What
// the records cannot tell becomes a note, or the reason why there is nothing to replay yet.
import { type Cycle, isSameCycle } from '../../core/model/observed.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Credits, credits, DAY_MS, type Instant } from '../../core/model/units.ts'
import {
  type CommonDays,
  type CycleKnown,
  countGrades,
  cycleKnown,
  DAY_GRADES,
  isEnough,
  mergedDays,
  type PastDays,
  type RecordedDays,
  teamDays,
} from '../../core/use/history.ts'
import { firstDayOf, isWeekend, type ReplayCycle, recordedSpan } from '../../core/use/replay/demand.ts'
import type { SimulationInputs } from '../../core/use/replay/document.ts'
import type { DayRange, Ledger } from '../../ports.ts'
import { commonDays } from '../collect/history.ts'

// Billing cycles before and after a known one, because the service names only the present one. Cycles of 28 to 31 days are months that begin on
// the same day; others are taken to have the known cycle's length. Choice.

const isMonth = ({ startAt, endAt }: Cycle): boolean => {
  const days = (endAt - startAt) / DAY_MS
  return days > 27.5 && days < 31.5
}

/** The cycle so many after the known one; before it when `steps` is negative. */
export const cycleBeside = (known: Cycle, steps: number): Cycle => ({ startAt: startOf(known, steps), endAt: startOf(known, steps + 1) })

function startOf(known: Cycle, steps: number): Instant {
  const { startAt, endAt } = known
  if (steps === 0 || steps === 1) return steps === 0 ? startAt : endAt
  return isMonth(known) ? monthsAfter(startAt, steps, billingDay(known)) : startAt + steps * (endAt - startAt)
}

/** The day of the month on which cycles begin. A cycle that begins on the last day of a short month may be meant to begin on a later day. */
function billingDay({ startAt, endAt }: Cycle): number {
  const [start, end] = [new Date(startAt), new Date(endAt).getUTCDate()]
  return start.getUTCDate() === lastDay(start) ? Math.max(start.getUTCDate(), end) : start.getUTCDate()
}

const lastDay = (at: Date): number => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()

/** That day of another month, or its last day. */
function monthsAfter(at: Instant, months: number, day: number): Instant {
  const start = new Date(at)
  start.setUTCDate(1)
  start.setUTCMonth(start.getUTCMonth() + months)
  start.setUTCDate(Math.min(day, lastDay(start)))
  return start.getTime()
}

/** A note about cycles whose borders no reading told. `told`: the one before the present, where one did. */
export function assumedBorders(cycles: readonly Cycle[], current: Cycle, told: Cycle | undefined): readonly string[] {
  const last = cycles.findLast(({ startAt }) => startAt < current.startAt && startAt !== told?.startAt)
  if (!last) return []
  const how = isMonth(current) ? 'on the same day of each month' : 'each as long as the present one'
  return [`Borders of cycles up to ${dayText(last.endAt)} are assumed: ${how}.`]
}

/**
 * Where past cycles begin, the latest first: as the last reading of the cycle before told, else moved back. A cycle ends where the next one begins: the
 * service may have moved the start of the present cycle into the one that was told.
 */
function* startsBefore(current: Cycle, told: Cycle | undefined): Generator<Instant> {
  let base = current
  if (told && told.startAt < current.startAt && !isSameCycle(told, current)) {
    let startAt = current.startAt
    // Nobody looked in between.
    for (let step = -1; startOf(current, step) >= told.endAt + DAY_MS; step -= 1) {
      startAt = startOf(current, step)
      yield startAt
    }
    if (startAt >= told.endAt + DAY_MS) yield told.endAt
    yield told.startAt
    base = isMonth(current) && isMonth(told) ? told : { startAt: told.startAt, endAt: told.startAt + current.endAt - current.startAt }
  }
  for (let step = -1; ; step -= 1) yield startOf(base, step)
}

/** The cycles before the present one, the latest first. `told`: the cycle before it, as it was read last. */
export function* cyclesBefore(current: Cycle, told?: Cycle): Generator<Cycle> {
  let endAt = current.startAt
  for (const startAt of startsBefore(current, told)) {
    yield { startAt, endAt }
    endAt = startAt
  }
}

/** Cycles that end after `fromAt` and begin before `untilAt`, in the order of time. */
export function cyclesBetween(current: Cycle, fromAt: Instant, untilAt: Instant, told?: Cycle): readonly Cycle[] {
  const found: Cycle[] = []
  for (const cycle of cyclesBefore(current, told).take(MOST_STEPS)) {
    if (cycle.endAt <= fromAt) break
    if (cycle.startAt < untilAt) found.unshift(cycle)
  }
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const cycle = cycleBeside(current, step)
    if (cycle.startAt >= untilAt) break
    if (cycle.endAt > fromAt) found.push(cycle)
  }
  return found
}

/** More cycles than any ledger keeps, even of a day each. */
const MOST_STEPS = 1_000

const dayText = (at: Instant): string => new Date(at).toISOString().slice(0, 10)

/** How many cycles are shown by default. Choice. */
const CYCLES = 3

/** The records of one workspace. */
export type RecordedUse = Awaited<ReturnType<typeof recordedUseOf>>

export interface ReplayOptions extends Pick<SimulationInputs, 'policy' | 'against' | 'pricePerCredit'> {
  /** How many of the last whole cycles. */
  readonly cycles?: number
  /** Of a seat and cycle, where the balance does not tell. */
  readonly creditsPerSeat?: number
  readonly now: Instant
}

/**
 * Whole cycles where there are any, else the recorded part of the latest; a note says when there will be as many as requested. `no-days`: no use was
 * recorded yet; `no-cycle`: the service names no billing cycle.
 */
export function replayStart(use: RecordedUse, options: ReplayOptions) {
  const { cycles: asked, creditsPerSeat, now, ...policies } = options
  const { past: _, usage, highest: __, ...records } = use
  const span = recordedSpan(records.recorded)
  const known = cyclesKnown(use)
  const firstAt = span?.firstAt ?? now
  if (!known) return { kind: span ? 'no-cycle' : 'no-days' } as const
  const wholeAt = wholeFrom(firstAt, known, 1)
  if (!span) return { kind: 'no-days', wholeAt } as const
  const { cycles, shown, whole, best, most } = chosenCycles(use, span, known, asked ?? CYCLES, now)
  const inputs: SimulationInputs = {
    ...records,
    ...policies,
    cycles,
    shown,
    roster: usage?.roster,
    groups: usage?.groups ?? [],
    creditsPerSeat: usage?.balance?.creditsPerSeat ?? (creditsPerSeat === undefined ? undefined : credits(creditsPerSeat)),
    notes: [
      ...shortage(firstAt, known, whole, asked),
      ...gradesNote(use, cycles.slice(-shown)),
      ...twiceNote(use, most),
      ...assumedBorders(cycles.slice(-shown), known.current, known.previous),
    ],
  }
  // Where no cycle is whole yet: when the first one will be, and the past cycle of which most is known.
  return { kind: 'inputs' as const, inputs, wholeAt: whole === 0 ? wholeAt : undefined, best: whole === 0 ? best : undefined }
}

/** A past cycle, and how much of it is known. */
export interface KnownCycle extends Cycle {
  readonly known: CycleKnown
}

type Known = NonNullable<ReturnType<typeof cyclesKnown>>

/** The billing cycle of the last reading, and the one before as it was read last. */
function cyclesKnown({ usage }: RecordedUse) {
  const current = usage?.roster.cycle ?? usage?.balance?.cycle
  if (!usage || !current) return undefined
  return { current, previous: usage.previousCycle?.cycle }
}

/**
 * The cycles of a replay; how many of them, from the last on, are shown; how many are whole; the best known one; and the greatest part of the
 * workspace's use that people have in a shown cycle.
 */
function chosenCycles(
  use: RecordedUse,
  span: { readonly firstAt: Instant; readonly lastAt: Instant },
  known: Known,
  wanted: number,
  now: Instant,
) {
  const knownOf = knownCycles(use)
  const between = cyclesBetween(known.current, span.firstAt, span.lastAt + DAY_MS, known.previous)
  const found = between.map((cycle) => ({ ...cycle, known: knownOf(cycle) }))
  const all = found.map(({ known: share, ...real }): ReplayCycle => {
    const isWhole = real.endAt <= now && isEnough(share)
    const isCurrent = real.startAt === known.current.startAt
    return {
      ...real,
      isWhole,
      usedBefore: use.recorded.addOn === 'estimated' && isCurrent && !isWhole ? usedBefore(use, real) : undefined,
    }
  })
  const last = all.findLastIndex(({ isWhole }) => isWhole)
  // A cycle that is not known well enough ends the row; those before it only tell what people used to use.
  const whole = last - all.findLastIndex(({ isWhole }, index) => index < last && !isWhole)
  const cycles = last >= 0 ? all.slice(0, last + 1) : all
  const [before] = cyclesBefore(known.current, known.previous)
  const ended = [...found.filter(({ endAt }) => endAt <= now), ...(before ? [{ ...before, known: knownOf(before) }] : [])]
  const best: KnownCycle = ended.reduce((most, one) => (one.known.people >= most.known.people ? one : most))
  const shown = Math.min(wanted, last >= 0 ? whole : all.length)
  const shares = found.slice(0, cycles.length).slice(-shown)
  const most = Math.max(0, ...shares.map((one) => one.known.use ?? 0))
  return { cycles, shown, whole: last >= 0 ? whole : 0, best, most }
}

const approvedOf = ({ usage }: RecordedUse): readonly string[] =>
  (usage?.roster.people ?? []).flatMap(({ email, status }) => (status === 'approved' ? [email] : []))

/** Where the days of the shown cycles come from. */
function gradesNote(use: RecordedUse, cycles: readonly Cycle[]): readonly string[] {
  const [first, last] = [cycles[0], cycles.at(-1)]
  if (!first || !last) return []
  const days = { fromAt: firstDayOf(first), untilAt: firstDayOf({ startAt: last.endAt }) }
  const counts = approvedOf(use).map((email) => countGrades(days, use.past.people.get(email) ?? { email, known: [] }, use.past.common))
  const sums = DAY_GRADES.map((grade) => ({ grade, days: counts.reduce((sum, one) => sum + one[grade], 0) })).filter((one) => one.days > 0)
  const all = sums.reduce((sum, one) => sum + one.days, 0)
  const text = sums.map((one) => `${one.grade} ${Number(((100 * one.days) / all).toFixed(1))} %`).join(', ')
  return all === 0 ? [] : [`Days of people: ${text}.`]
}

/** People have more than the workspace where the service tells somebody's past under two addresses. */
function twiceNote(use: RecordedUse, most: number): readonly string[] {
  const listed = new Set((use.usage?.roster.people ?? []).map(({ email }) => email))
  const others = use.recorded.people.filter((email) => !listed.has(email)).length
  if (most <= MOST_OF_TOTAL || others === 0) return []
  const are = others === 1 ? '1 person with use is' : `${others} people with use are`
  return [
    `People together have ${Math.round(100 * most)} % of the workspace's use in a cycle, and ${are} not on the roster: who was renamed counts twice.`,
  ]
}

/** Of the workspace's use, in what people have of it. Choice. */
const MOST_OF_TOTAL = 1.01

/** How much of a cycle is known. */
function knownCycles(use: RecordedUse): (cycle: Cycle) => CycleKnown {
  const { past, recorded } = use
  const emails = approvedOf(use)
  const { recorded: read } = past.common
  // Nobody works on a weekend: readings that began after one may as well have begun before it. Choice.
  let fromAt = read?.fromAt ?? 0
  while (isWeekend(fromAt - DAY_MS)) fromAt -= DAY_MS
  const common = { ...past.common, ...(read && { recorded: { fromAt, untilAt: read.untilAt + DAY_MS } }) }
  return (cycle) =>
    cycleKnown({ fromAt: firstDayOf(cycle), untilAt: firstDayOf({ startAt: cycle.endAt }) }, recorded, emails, { ...past, common })
}

/** Whether days were recorded from the cycle's first day on. Missing weekend days at its start count as recorded. Choice. */
function beginsBy(firstAt: Instant, cycle: Cycle): boolean {
  for (let at = firstDayOf(cycle); at < firstAt; at += DAY_MS) if (!isWeekend(at)) return false
  return true
}

/** When `count` whole cycles will be recorded, with days from `firstAt` on. */
function wholeFrom(firstAt: Instant, { current, previous }: Known, count: number): Instant | undefined {
  return cyclesBetween(current, firstAt, Number.POSITIVE_INFINITY, previous).filter((cycle) => beginsBy(firstAt, cycle))[count - 1]?.endAt
}

function shortage(firstAt: Instant, known: Known, whole: number, asked: number | undefined): readonly string[] {
  if (whole >= (asked ?? 1)) return []
  const enoughAt = wholeFrom(firstAt, known, asked ?? 1)
  const have = whole === 0 ? 'no cycle is recorded as a whole' : `${whole} ${whole === 1 ? 'cycle is' : 'cycles are'} recorded as a whole`
  const from = enoughAt === undefined ? '' : `; ${asked === undefined ? 'one' : asked} will be from ${dayText(enoughAt)} on`
  return [`Days are recorded from ${dayText(firstAt)} on, and ${have}${from}.`]
}

/** For the cycle of the last reading: each person's figure minus the sum of their days, where days began in the middle of the cycle. */
function usedBefore({ highest, recorded }: RecordedUse, cycle: Cycle): ReadonlyMap<string, Credits> {
  const days = new Float64Array(recorded.people.length)
  for (const { dayAt, people, cents } of recorded.days) {
    if (dayAt < firstDayOf(cycle) || dayAt >= cycle.endAt) continue
    for (let row = 0; row < people.length; row += 1) days[people[row] ?? 0] = (days[people[row] ?? 0] ?? 0) + (cents[row] ?? 0)
  }
  return new Map(
    recorded.people.flatMap((email, place) => {
      const before = (highest.get(email) ?? 0) - (days[place] ?? 0) / 100
      return before > 0 ? [[email, credits(before)] as const] : []
    }),
  )
}

/** All days of any ledger. */
const EVER: DayRange = { fromAt: 0, untilAt: 8.64e15 }

/** `days`: default all. */
export async function recordedUseOf(workspace: string, ledger: Ledger, days: DayRange = EVER) {
  const usage = ledger.fact('usage')
  const common = await commonDays(ledger, usage?.roster.readAt ?? Number.POSITIVE_INFINITY)
  const team = await teamOf(ledger)
  const recorded = await daysOf(ledger, days, common)
  const past: PastDays = { people: new Map((await ledger.histories()).map((one) => [one.email, one])), common, team }
  return {
    ...{ workspace, recorded, past, usage },
    /** Everybody's use in the cycle of the last reading, by e-mail. */
    highest: await ledger.highestUse(),
    owned: ledger.owned(),
    history: await ledger.history(),
    journal: ledger.fact('journal') ?? [],
  }
}

/** Each person's days from their best source. */
async function daysOf(ledger: Ledger, days: DayRange, common: CommonDays): Promise<RecordedDays> {
  const estimated = await ledger.useByDay(days, 'estimated')
  return common.measured ? mergedDays(estimated, await ledger.useByDay(days, 'measured'), common) : estimated
}

async function teamOf(ledger: Ledger): Promise<PastDays['team']> {
  const asked = ledger.fact('runsAsked')?.[scopeKey(TEAM)]
  if (!asked) return undefined
  const range = { fromAt: asked.fromAt, untilAt: asked.throughAt + DAY_MS }
  const days = teamDays(await ledger.runs(TEAM, range))
  return days && { ...range, days }
}
