// How fast a workspace uses credits: the use of the team and of groups as readings of the roster add it, and its burn ratios, its use at the
// cycle's end and when its add-on credits run out. Pure. A figure that is not known is absent, never 0.
import { type Balance, balanceOf, type Cycle, type GroupMembers, isSameCycle, type Roster } from '../model/observed.ts'
import type { BurnedFacts } from '../model/past.ts'
import type { Cap } from '../model/policy.ts'
import { type Credits, credits, DAY_MS, type Instant, sumOfKnown, wholeCents } from '../model/units.ts'
import { burnedByDays, burnedByReadings, type DayHistory, type Stretch, type UseCurve, type UseReading, useCurve } from './curve.ts'

export interface Burned extends BurnedFacts {
  /** The highest figure of each person in this cycle, by e-mail; people without use may be missing. Absent before the first roster. */
  readonly highest?: ReadonlyMap<string, Credits>
}

/** The changes by one reading. */
export type BurnStep = ReturnType<typeof foldUsage>

export const NOTHING_BURNED: Burned = { team: credits(0), groups: {} }

/**
 * Takes one reading. Within a cycle, new use is each person's increase over their highest figure; after a reset it is the new figure. Where
 * the service names no cycle, a figure that fell counts as a reset. The first roster adds nothing. `takeCycle` makes sure that the figures belong
 * to the cycle that the roster names.
 */
export function foldUsage(burned: Burned, roster: Roster, groups: readonly GroupMembers[]) {
  const cycleStartAt = roster.cycle?.startAt
  // The use of the whole roster in this cycle; undefined when no person has a figure.
  const used = usedInCycle(roster)
  // All figures start again.
  const isNewCycle = cycleStartAt !== undefined && burned.cycleStartAt !== undefined && isLaterCycle(cycleStartAt, burned.cycleStartAt)
  const before: ReadonlyMap<string, Credits> = isNewCycle ? new Map() : (burned.highest ?? new Map())
  const highest = new Map(before)
  // Each person's use since the reading before; people without use are missing.
  const increases = new Map<string, Credits>()
  // People whose highest figure has changed.
  const raised: string[] = []
  for (const { email, used } of roster.people) {
    if (used === undefined) continue
    const last = before.get(email) ?? 0
    const wasReset = cycleStartAt === undefined && used < last
    if (used <= last && !wasReset) continue
    highest.set(email, used)
    raised.push(email)
    const increase = wholeCents(wasReset ? used : used - last)
    if (burned.highest && increase > 0) increases.set(email, increase)
  }
  const after: Burned = {
    team: wholeCents(burned.team + total(increases.values())),
    groups: { ...burned.groups, ...Object.fromEntries(groups.map((group) => [group.id, burnedBy(group, burned, increases)])) },
    cycleStartAt: isNewCycle ? cycleStartAt : (burned.cycleStartAt ?? cycleStartAt),
    highest,
  }
  return { burned: after, readAt: roster.readAt, increases, isNewCycle, raised, used }
}

const isLaterCycle = (startAt: Instant, before: Instant): boolean => startAt > before && !isSameCycle({ startAt }, { startAt: before })

/** Credits used by everybody in this cycle; undefined when no person has a figure. */
export const usedInCycle = ({ people }: Roster): Credits | undefined => sumOfKnown(people.values().map(({ used }) => used))

const burnedBy = ({ id, emails }: GroupMembers, burned: Burned, increases: ReadonlyMap<string, Credits>): Credits =>
  wholeCents(burnedOf(burned.groups, id) + (increases.size === 0 ? 0 : total(emails.values().map((email) => increases.get(email) ?? 0))))

/** The use of a group; 0 for one that was never listed. */
export const burnedOf = (groups: Burned['groups'], id: string): Credits =>
  (Object.hasOwn(groups, id) ? groups[id] : undefined) ?? credits(0)

/** One person's use in this cycle. */
export interface PersonUse {
  readonly used: Credits
  /** Their add-on use, where it is known better than by subtracting the seat. */
  readonly addOn?: Credits
  /** The cap in force; absent: not known, and treated as none. */
  readonly cap?: Cap
}

/** Whether there were add-on credits, and none is left. */
export const isUsedUp = ({ addOnAvailable, addOnUsed }: Balance): boolean => addOnAvailable > 0 && addOnUsed >= addOnAvailable

type Exhaustion = Pick<BurnFigures, 'exhaustedAt' | 'lasts'>

/** The instant of the balance when they have already run out; empty when it is not known whether they last. */
function exhaustionOf(balance: Balance, used: number, people: BurnInputs['people'], forecast: Forecast | undefined): Exhaustion {
  const { addOnAvailable, addOnUsed, creditsPerSeat, readAt } = balance
  if (isUsedUp(balance)) return { exhaustedAt: readAt }
  if (addOnAvailable <= 0) return { lasts: true }
  if (!people || !forecast || used <= 0) return {}
  const addOnAt = (factor: number): number => people.reduce((sum, one) => sum + addOnOf(one, factor, creditsPerSeat), 0)
  const [now, left] = [addOnAt(1), addOnAvailable - addOnUsed]
  let [expected, before] = [used, 0]
  for (const day of forecast.days) {
    expected += day.credits
    const grown = addOnAt(expected / used) - now
    if (grown >= left) return { exhaustedAt: day.fromAt + ((left - before) / (grown - before)) * (day.untilAt - day.fromAt) }
    before = grown
  }
  return { lasts: true }
}

/** Expected add-on use. Only its growth counts: a person already above their cap does not grow. */
function addOnOf({ used, addOn, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const paid = addOn ?? Math.max(0, used - creditsPerSeat)
  // Where the service charged less than exceeds the seat, it is expected to go on doing so.
  const included = Math.max(creditsPerSeat, used - paid)
  const expected = Math.max(paid, used * factor - included)
  return cap === undefined || cap === 'none' ? expected : Math.min(expected, cap)
}

/** The windows of `capkeeper_burn_ratio` (docs/metrics.md), in milliseconds. */
const BURN_WINDOWS_MS = { '6h': DAY_MS / 4, '24h': DAY_MS, '3d': 3 * DAY_MS, '7d': 7 * DAY_MS } as const
export type BurnWindow = keyof typeof BURN_WINDOWS_MS
export const BURN_WINDOWS = ['6h', '24h', '3d', '7d'] as const satisfies readonly BurnWindow[]

/** How long the service takes to show use (docs/service.md, Limits). */
const FRESHNESS_MS = DAY_MS / 8
/** Older readings do not count (docs/metrics.md). */
const LONGEST_AGE_MS = DAY_MS

interface BurnInputs {
  readonly now: Instant
  readonly cycle: Cycle
  /** Readings of the last 8 days, also in the cycle before, in any order. */
  readonly readings: readonly UseReading[]
  readonly history?: DayHistory
  readonly balance?: Balance
  /** The use of all people in this cycle. */
  readonly people?: readonly PersonUse[]
  /** Default 3 h. */
  readonly freshnessMs?: number
}

/** A figure that is not known is absent. */
export interface BurnFigures {
  /** 1 = even pace to the cycle's end. */
  readonly ratios: Readonly<Partial<Record<BurnWindow, number>>>
  /** Credits used at the cycle's end. */
  readonly projected?: Projection
  /** When the add-on credits run out, if they do within the cycle. */
  readonly exhaustedAt?: Instant
  /** They do not run out within the cycle. */
  readonly lasts?: true
}

/**
 * The figures at `now`; none in the first 6 h of a cycle, or when the latest reading is older than 24 h. Choice.
 *
 *   burn ratio    = burned in the window ÷ (credits of the cycle × window ÷ length of the cycle), by the calendar: weekends count. The
 *                   window ends with the latest fresh reading, at most 3 h ago, and may begin in the cycle before, with readings at most
 *                   4 h apart (a third of the window, when that is more). Where readings do not reach back far enough, days serve.
 *   projection    = used + Σ over the rest of the cycle of the weighted mean of the same weekday, × e^(±1.28 × spread).
 *   exhaustion    = where Σ over people of max(0, used × growth − credits per seat), each up to their cap, has grown by the add-on
 *                   credits that are left; growth is the projected use of the team ÷ its use now.
 *
 * Ratios and exhaustion need the balance, projection and exhaustion 28 complete days since the first use.
 */
export function burnOf(inputs: BurnInputs): BurnFigures {
  const { now, cycle, people, freshnessMs = FRESHNESS_MS } = inputs
  const curve = useCurve({ now, readings: inputs.readings, cycle, freshnessMs })
  if (!curve || isOld(curve.readAt, now)) return { ratios: {} }
  const history = inputs.history && historyUntil(now, inputs.history)
  const balance = balanceOf(cycle, inputs.balance)
  const forecast = history && forecastFrom({ history, fromAt: curve.freshAt, untilAt: cycle.endAt, freshnessMs })
  return {
    ratios: balance && now < cycle.endAt ? ratiosOf(curve, history, evenPaceOf(balance, cycle)) : {},
    projected: forecast && projectionOf(curve.used, forecast),
    ...(balance && exhaustionOf(balance, curve.used, people, forecast)),
  }
}

const isOld = (readAt: Instant, now: Instant): boolean => now - readAt > LONGEST_AGE_MS

/** The history, with a reading stamped in the future taken for one of now. */
const historyUntil = (now: Instant, history: DayHistory): DayHistory | undefined =>
  isOld(history.readAt, now) ? undefined : { ...history, readAt: Math.min(now, history.readAt) }

/** The credits of a cycle: those of all seats, and the add-on credits available at its start. Choice. */
export const creditsOfCycle = ({ creditsPerSeat, seats, addOnAvailable }: Balance): number => creditsPerSeat * seats + addOnAvailable

/** Credits per millisecond that use up the cycle's credits exactly at its end. */
const evenPaceOf = (balance: Balance, { startAt, endAt }: Cycle): number => creditsOfCycle(balance) / (endAt - startAt)

/** Empty when there are no credits to pace. */
function ratiosOf(curve: UseCurve, history: DayHistory | undefined, evenPace: number): BurnFigures['ratios'] {
  const ratios: Partial<Record<BurnWindow, number>> = {}
  if (evenPace <= 0) return ratios
  for (const window of BURN_WINDOWS) {
    const windowMs = BURN_WINDOWS_MS[window]
    const burned = burnedByReadings(curve, windowMs) ?? (history && burnedByDays(history, windowMs))
    if (burned !== undefined) ratios[window] = burned / (evenPace * windowMs)
  }
  return ratios
}

// What a team will still use until its cycle ends. Each coming day is expected to be like the same weekday of the last eight weeks, where each week back
// counts half. That is linear in the past days, so more use never lowers the forecast. The spread is the error that it had in past weeks. Days before the
// first use do not count: a team may not have existed yet, and the result must not depend on how far back days were read. It says nothing with less
// than four weeks.

/** Percentiles of the credits used at the cycle's end. */
export type Projection = ReturnType<typeof projectionOf>

/** Rounded for display. */
export const projectedCents = ({ p10, p50, p90 }: Projection): Projection => ({
  p10: wholeCents(p10),
  p50: wholeCents(p50),
  p90: wholeCents(p90),
})

/** Expected use to the cycle's end, day by day. */
export type Forecast = NonNullable<ReturnType<typeof forecastFrom>>

interface ForecastInputs {
  readonly history: DayHistory
  /** Use before this instant is known. */
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly freshnessMs: number
}

/** How many complete days a forecast needs since the first use, and how many it uses at most. Choice. */
const FORECAST_DAYS = { fewest: 28, most: 56 }
/** The first day that must be read for it: today and yesterday may not be complete. */
export const forecastReadsFrom = (now: Instant): Instant => (dayOf(now) - FORECAST_DAYS.most - 1) * DAY_MS
/** The weight of a week relative to the one after it. More is a little better while use is steady, and far worse while a team is taking up the tool. */
const EACH_WEEK_BACK = 0.5
/** How many days must precede a past week that the forecast is tested on. */
const LEARNING_DAYS = 14
/** Counts as one more week with this error, because a few weeks that happened to be alike prove little. */
const USUAL_SPREAD = 0.1
/** With a larger spread the percentiles would be absurd. */
const WIDEST_SPREAD = 1
/** In a normal distribution, 80 % lie within so many standard errors. */
const Z_80 = 1.2816

/** Undefined with less than 28 complete days since the first use in the last 56. `spread`: the standard error of the sum, as a share of it: 0 to 1. */
export function forecastFrom({ history, fromAt, untilAt, freshnessMs }: ForecastInputs) {
  const uses = completeDays(history, freshnessMs)
  const recent = sinceFirstUse(uses.slice(-FORECAST_DAYS.most))
  if (recent.length < FORECAST_DAYS.fewest) return undefined
  const expected = nextWeek(recent)
  const nextDay = dayOf(history.fromAt) + uses.length
  const days: Stretch[] = []
  for (let day = dayOf(fromAt); day * DAY_MS < untilAt; day += 1) {
    const stretch = { fromAt: Math.max(fromAt, day * DAY_MS), untilAt: Math.min(untilAt, (day + 1) * DAY_MS) }
    // Use may be known from a day that is already complete.
    const credits = expected[(((day - nextDay) % 7) + 7) % 7] ?? 0
    days.push({ ...stretch, credits: (credits * (stretch.untilAt - stretch.fromAt)) / DAY_MS })
  }
  return { days, spread: spreadOf(recent) }
}

const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The use of each complete day in order; a day is complete when it was read after its use could be seen. */
function completeDays({ fromAt, readAt, days }: DayHistory, freshnessMs: number): readonly number[] {
  const first = dayOf(fromAt)
  const uses = Array.from({ length: Math.max(0, dayOf(readAt - freshnessMs) - first) }, () => 0)
  for (const { dayAt, credits: used } of days) {
    const index = dayOf(dayAt) - first
    const before = uses[index]
    if (before !== undefined && Number.isFinite(used)) uses[index] = before + used
  }
  return uses
}

function sinceFirstUse(uses: readonly number[]): readonly number[] {
  const first = uses.findIndex((use) => use > 0)
  return first < 0 ? [] : uses.slice(first)
}

/** The expected use of the seven days that follow `uses`: Σ weight × use ÷ Σ weight over the same weekday, weight = ½ ^ weeks back. */
function nextWeek(uses: readonly number[]): readonly number[] {
  return Array.from({ length: 7 }, (_, ahead) => {
    let [sum, weights, weight] = [0, 0, 1]
    for (let index = uses.length - 7 + ahead; index >= 0; index -= 7) {
      sum += weight * (uses[index] ?? 0)
      weights += weight
      weight *= EACH_WEEK_BACK
    }
    return sum / weights
  })
}

/**
 * The root mean square of (actual ÷ forecast − 1) over the past whole weeks, each forecast from the days before it. A week's error stands for
 * the error of the rest of the cycle, whatever its length: longer stretches even out chance, but levels drift. Choice.
 */
function spreadOf(uses: readonly number[]): number {
  const squares = [USUAL_SPREAD ** 2]
  for (let end = uses.length; end - 7 >= LEARNING_DAYS; end -= 7) {
    const forecast = total(nextWeek(uses.slice(0, end - 7)))
    if (forecast > 0) squares.push((total(uses.slice(end - 7, end)) / forecast - 1) ** 2)
  }
  return Math.min(WIDEST_SPREAD, Math.sqrt(total(squares) / squares.length))
}

const total = (values: Iterable<number>): number => Iterator.from(values).reduce((sum, value) => sum + value, 0)

/** used + rest × e^(z × spread), with z of the 10th, 50th and 90th percentile; `rest` is the sum of the forecast. Choice. */
export function projectionOf(used: number, { days, spread }: Forecast) {
  const rest = total(days.map((day) => day.credits))
  const at = (z: number): Credits => credits(used + rest * Math.exp(z * spread))
  return { p10: at(-Z_80), p50: at(0), p90: at(Z_80) }
}

// Doubts figures that look as if they had another unit.

/** A figure, and its name for people; undefined where it is missing. */
interface Figure {
  readonly name: string
  readonly credits: Credits | undefined
}

/** Smaller figures are not compared: one of the two may only be a little late. Choice. */
const FEWEST_CREDITS = 10
/** A factor in this range is taken for 100. Choice. */
const FACTORS = { low: 70, high: 140 }

/** Pairs of the same thing that differ by a factor of 70 to 140, both 10 credits or more, worded for one log line. `of`: such as `add-on credits`. Choice. */
export function unitDoubt(pairs: readonly { readonly of: string; readonly first: Figure; readonly second: Figure }[]) {
  return pairs.flatMap(({ of, first, second }) => {
    const [a, b] = [first.credits, second.credits]
    if (a === undefined || b === undefined || Math.min(a, b) < FEWEST_CREDITS) return []
    const factor = Math.max(a, b) / Math.min(a, b)
    if (factor < FACTORS.low || factor > FACTORS.high) return []
    const message = `${of}: ${first.name} says ${Math.round(a)}, ${second.name} says ${Math.round(b)} credits, a factor of ${Math.round(factor)}; one of them is probably in cents`
    return [{ of, factor, message }]
  })
}
