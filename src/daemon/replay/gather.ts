// The inputs of a replay, from recorded use: which billing cycles were recorded as a whole, and which are shown. What the records
// cannot tell becomes a note, or the reason why there is nothing to replay yet.
import { approvedIn } from '../../core/interpret/effective.ts'
import { type Cycle, isSameCycle } from '../../core/model/observed.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { credits, DAY_MS, type Instant } from '../../core/model/units.ts'
import {
  type CommonDays,
  type CycleKnown,
  countGrades,
  cycleKnown,
  DAY_GRADES,
  ENOUGH_KNOWN,
  isEnough,
  mergedDays,
  type PastDays,
  type RecordedDays,
  teamDays,
} from '../../core/use/history.ts'
import { firstDayOf, isWeekend, recordedSpan } from '../../core/use/replay/demand.ts'
import type { SimulationInputs } from '../../core/use/replay/document.ts'
import type { DayRange, Ledger } from '../../ports.ts'
import { commonDays } from '../collect/history.ts'

// Billing cycles before and after a known one, because the service names only the present one. Cycles that end a month after they begin are months that
// begin on the same day; others are taken to have the known cycle's length. Choice.

/** Less than a day off may be the clock of a time zone. */
const isMonth = (cycle: Cycle): boolean =>
  isSameCycle({ startAt: monthsAfter(cycle.startAt, 1, billingDay(cycle)) }, { startAt: cycle.endAt })

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
 * The last whole cycles, and those before them, which only tell what people used to use. `no-days`: no use was recorded yet; `no-cycle`: the service
 * names no billing cycle; `too-little`: no cycle is known well enough, with how much of the best one is.
 */
export function replayStart(use: RecordedUse, options: ReplayOptions) {
  const { cycles: asked, creditsPerSeat, now, ...policies } = options
  const { past: _, usage, ...records } = use
  const span = recordedSpan(records.recorded)
  const current = usage?.roster.cycle ?? usage?.balance?.cycle
  if (!span) return { kind: 'no-days' } as const
  if (!usage || !current) return { kind: 'no-cycle' } as const
  const previous = usage.previousCycle?.cycle
  const knownOf = knownCycles(use)
  const between = cyclesBetween(current, span.firstAt, span.lastAt + DAY_MS, previous)
  const ended = between.filter(({ endAt }) => endAt <= now).map((cycle) => ({ ...cycle, known: knownOf(cycle) }))
  const last = ended.findLastIndex(({ known }) => isEnough(known))
  if (last < 0) {
    const [before] = cyclesBefore(current, previous)
    const short = shortText([...ended, ...(before ? [{ ...before, known: knownOf(before) }] : [])])
    const fromAt = readSince(use) ?? span.firstAt
    const first = cyclesBetween(current, now, Number.POSITIVE_INFINITY, previous).find((cycle) => firstDayOf(cycle) >= fromAt)
    return {
      kind: 'too-little',
      message: `${short}${first ? `; the first that can be read as a whole ends on ${dayText(first.endAt)}` : ''}`,
    } as const
  }
  // A cycle that is not known well enough ends the row; those before it only tell what people used to use.
  const whole = last - ended.findLastIndex(({ known }, index) => index < last && !isEnough(known))
  const cycles = ended.slice(0, last + 1)
  const shown = Math.min(asked ?? CYCLES, whole)
  const inputs: SimulationInputs = {
    ...records,
    ...policies,
    cycles,
    shown,
    roster: usage.roster,
    groups: usage.groups,
    creditsPerSeat: usage.balance?.creditsPerSeat ?? (creditsPerSeat === undefined ? undefined : credits(creditsPerSeat)),
    notes: [
      ...shortage(span.firstAt, cycles, whole, asked),
      ...gradesNote(use, cycles.slice(-shown)),
      ...assumedBorders(cycles.slice(-shown), current, previous),
    ],
  }
  return { kind: 'inputs', inputs } as const
}

/** A past cycle, and how much of it is known. */
interface KnownCycle extends Cycle {
  readonly known: CycleKnown
}

/** How much is missing. */
function shortText(cycles: readonly KnownCycle[]): string {
  const share = (part: number): string => `${Math.floor(part * 100)} %`
  const { startAt, endAt, known } = cycles.reduce((most, one) => (one.known.people >= most.known.people ? one : most))
  const ofUse = known.use === undefined ? '' : ` and ${share(known.use)} of the use`
  return (
    `no past cycle is known for ${share(ENOUGH_KNOWN)} of the people and of the use: the best, ${dayText(startAt)} to ${dayText(endAt)}, ` +
    `is known for ${share(known.people)} of the people${ofUse}`
  )
}

/** From when on as many cycles as were asked for will be known, if those to come are. */
function shortage(firstAt: Instant, cycles: readonly Cycle[], whole: number, asked = whole): readonly string[] {
  const last = cycles.at(-1)
  if (whole >= asked || !last) return []
  const have = `${whole} ${whole === 1 ? 'cycle is' : 'cycles are'} recorded as a whole`
  return [
    `Days are recorded from ${dayText(firstAt)} on, and ${have}; ${asked} will be from ${dayText(cycleBeside(last, asked - whole).endAt)} on.`,
  ]
}

const approvedOf = ({ usage }: Pick<RecordedUse, 'usage'>): readonly string[] => approvedIn(usage?.roster).map(({ email }) => email)

/** Where the days of the shown cycles come from. */
export function gradesNote(
  use: Pick<RecordedUse, 'usage'> & { readonly past: Pick<PastDays, 'people' | 'common'> },
  cycles: readonly Cycle[],
): readonly string[] {
  const [first, last] = [cycles[0], cycles.at(-1)]
  if (!first || !last) return []
  const days = { fromAt: firstDayOf(first), untilAt: firstDayOf({ startAt: last.endAt }) }
  const counts = approvedOf(use).map((email) => countGrades(days, use.past.people.get(email) ?? { email, known: [] }, use.past.common))
  const sums = DAY_GRADES.map((grade) => ({ grade, days: counts.reduce((sum, one) => sum + one[grade], 0) })).filter((one) => one.days > 0)
  const all = sums.reduce((sum, one) => sum + one.days, 0)
  const text = sums.map((one) => `${one.grade} ${Number(((100 * one.days) / all).toFixed(1))} %`).join(', ')
  return all === 0 ? [] : [`Days of people: ${text}.`]
}

/** The first day of everybody's readings. Nobody works on a weekend: readings that began after one may as well have begun before it. Choice. */
function readSince({ past }: RecordedUse): Instant | undefined {
  let fromAt = past.common.recorded?.fromAt
  while (fromAt !== undefined && isWeekend(fromAt - DAY_MS)) fromAt -= DAY_MS
  return fromAt
}

/** How much of a cycle is known. */
function knownCycles(use: RecordedUse): (cycle: Cycle) => CycleKnown {
  const { past, recorded } = use
  const emails = approvedOf(use)
  const { recorded: read } = past.common
  const fromAt = readSince(use) ?? 0
  const common = { ...past.common, ...(read && { recorded: { fromAt, untilAt: read.untilAt + DAY_MS } }) }
  return (cycle) =>
    cycleKnown({ fromAt: firstDayOf(cycle), untilAt: firstDayOf({ startAt: cycle.endAt }) }, recorded, emails, { ...past, common })
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
    owned: ledger.owned(),
    history: await ledger.history(),
    journal: ledger.fact('journal') ?? [],
  }
}

/** Each person's days from their best source. */
export async function daysOf(ledger: Pick<Ledger, 'useByDay'>, days: DayRange, common: CommonDays): Promise<RecordedDays> {
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
