// How fast a workspace uses credits: the use of the team and of groups as readings of the roster add it, and its burn ratios, its use at the
// cycle's end and when its add-on credits run out. Pure. A figure that is not known is absent, never 0.
import { type Balance, type Cycle, type GroupMembers, isSameCycle, type Roster } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type Credits, credits, DAY_MS, type Instant, wholeCents } from '../model/units.ts'
import {
  burnedByDays,
  burnedByReadings,
  type DayHistory,
  type Forecast,
  forecastFrom,
  type Projection,
  projectionOf,
  type UseCurve,
  type UseReading,
  useCurve,
} from './forecast.ts'

/** Sums in credits since the first reading ever, as the ledger keeps them. */
export interface BurnedFacts {
  readonly team: Credits
  /** By group id. */
  readonly groups: Readonly<Record<string, Credits>>
  /** Start of the cycle of the last reading; absent while the service names no cycle. */
  readonly cycleStartAt?: Instant
}

export interface Burned extends BurnedFacts {
  /** The highest figure of each person in this cycle, by e-mail; people without use may be missing. Absent before the first roster. */
  readonly highest?: ReadonlyMap<string, Credits>
}

/** The changes by one reading. */
export interface BurnStep {
  readonly burned: Burned
  readonly readAt: Instant
  /** Each person's use since the reading before; people without use are missing. */
  readonly increases: ReadonlyMap<string, Credits>
  /** All figures start again. */
  readonly isNewCycle: boolean
  /** People whose highest figure has changed. */
  readonly raised: readonly string[]
  /** The use of the whole roster in this cycle; absent when no person has a figure. */
  readonly used?: Credits
}

export const NOTHING_BURNED: Burned = { team: credits(0), groups: {} }

/**
 * Takes one reading. Within a cycle, new use is each person's increase over their highest figure; after a reset it is the new figure. Where
 * the service names no cycle, a figure that fell counts as a reset. The first roster adds nothing. `takeCycle` makes sure that the figures belong
 * to the cycle that the roster names.
 */
export function foldUsage(burned: Burned, roster: Roster, groups: readonly GroupMembers[]): BurnStep {
  const cycleStartAt = roster.cycle?.startAt
  const used = totalOf(roster)
  const isNewCycle = cycleStartAt !== undefined && burned.cycleStartAt !== undefined && isLaterCycle(cycleStartAt, burned.cycleStartAt)
  const before: ReadonlyMap<string, Credits> = isNewCycle ? new Map() : (burned.highest ?? new Map())
  const highest = new Map(before)
  const increases = new Map<string, Credits>()
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
  const startAt = isNewCycle ? cycleStartAt : (burned.cycleStartAt ?? cycleStartAt)
  return {
    burned: {
      team: wholeCents(burned.team + sum(increases.values())),
      groups: { ...burned.groups, ...Object.fromEntries(groups.map((group) => [group.id, burnedBy(group, burned, increases)])) },
      cycleStartAt: startAt,
      highest,
    },
    readAt: roster.readAt,
    increases,
    isNewCycle,
    raised,
    used,
  }
}

const isLaterCycle = (startAt: Instant, before: Instant): boolean => startAt > before && !isSameCycle({ startAt }, { startAt: before })

/** Undefined when no person has a figure. */
function totalOf({ people }: Roster): Credits | undefined {
  let total: number | undefined
  for (const { used } of people) if (used !== undefined) total = (total ?? 0) + used
  return total === undefined ? undefined : wholeCents(total)
}

const burnedBy = ({ id, emails }: GroupMembers, burned: Burned, increases: ReadonlyMap<string, Credits>): Credits =>
  wholeCents(burnedOf(burned.groups, id) + (increases.size === 0 ? 0 : sum(emails.values().map((email) => increases.get(email) ?? 0))))

/** The use of a group; 0 for one that was never listed. */
export const burnedOf = (groups: Burned['groups'], id: string): Credits =>
  (Object.hasOwn(groups, id) ? groups[id] : undefined) ?? credits(0)

const sum = (values: IteratorObject<number>): number => values.reduce((total, value) => total + value, 0)

/** One person's use in this cycle. */
export interface PersonUse {
  readonly used: Credits
  /** Their add-on use, where it is known better than by subtracting the seat. */
  readonly addOn?: Credits
  /** The cap in force; absent: not known, and treated as none. */
  readonly cap?: Cap
}

interface ExhaustionInputs {
  readonly balance: Balance
  readonly used: number
  readonly people?: readonly PersonUse[] | undefined
  readonly forecast?: Forecast | undefined
}

/** Whether there were add-on credits, and none is left. */
export const isUsedUp = ({ addOnAvailable, addOnUsed }: Balance): boolean => addOnAvailable > 0 && addOnUsed >= addOnAvailable

/** The instant of the balance when they have already run out; undefined when they last to the cycle's end, or that is not known. */
function exhaustionOf({ balance, used, people, forecast }: ExhaustionInputs): Instant | undefined {
  const { addOnAvailable, addOnUsed, creditsPerSeat, readAt } = balance
  if (isUsedUp(balance)) return readAt
  if (addOnAvailable <= 0) return undefined
  if (!people || !forecast || used <= 0) return undefined
  const addOnAt = (factor: number): number => people.reduce((sum, one) => sum + addOnOf(one, factor, creditsPerSeat), 0)
  const [now, left] = [addOnAt(1), addOnAvailable - addOnUsed]
  let [expected, before] = [used, 0]
  for (const day of forecast.days) {
    expected += day.credits
    const grown = addOnAt(expected / used) - now
    if (grown >= left) return day.fromAt + ((left - before) / (grown - before)) * (day.untilAt - day.fromAt)
    before = grown
  }
  return undefined
}

/** Expected add-on use. Only its growth counts: a person already above their cap does not grow. */
function addOnOf({ used, addOn, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const paid = addOn ?? Math.max(0, used - creditsPerSeat)
  // Where the service charged less than exceeds the seat, it is expected to go on doing so.
  const included = Math.max(creditsPerSeat, used - paid)
  const expected = Math.max(paid, used * factor - included)
  return cap === undefined || cap === 'none' ? expected : Math.min(expected, cap)
}

/** Every day from `fromAt` to `throughAt` was read; both are UTC midnights. */
export interface RunsAsked {
  readonly fromAt: Instant
  readonly throughAt: Instant
  readonly readAt: Instant
  /** When the earlier days were last read again, because the service may amend them. */
  readonly wideAt: Instant
}

/** The days for which add-on use was read, and how far back it goes. */
export interface AddOnAsked extends RunsAsked {
  /** The service has ever returned a row: without any, nothing follows from missing rows. */
  readonly hasRows: boolean
  /** The number of the earliest days read that had no rows. */
  readonly emptyDays: number
  /** Days before `fromAt` need not be read. */
  readonly isWhole: boolean
}

/** The windows of `capkeeper_burn_ratio` (docs/metrics.md), in milliseconds. */
const BURN_WINDOWS_MS = { '6h': DAY_MS / 4, '24h': DAY_MS, '3d': 3 * DAY_MS, '7d': 7 * DAY_MS } as const
export type BurnWindow = keyof typeof BURN_WINDOWS_MS
export const BURN_WINDOWS = ['6h', '24h', '3d', '7d'] as const satisfies readonly BurnWindow[]

/** How long the service takes to show use (docs/service.md, Limits). */
export const FRESHNESS_MS = DAY_MS / 8
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
  const balance = inputs.balance && isOfCycle(inputs.balance, cycle) ? inputs.balance : undefined
  const forecast = history && forecastFrom({ history, fromAt: curve.freshAt, untilAt: cycle.endAt, freshnessMs })
  const exhaustedAt = balance && exhaustionOf({ balance, used: curve.used, people, forecast })
  return {
    ratios: balance && now < cycle.endAt ? ratiosOf(curve, history, evenPaceOf(balance, cycle)) : {},
    projected: forecast && projectionOf(curve.used, forecast),
    exhaustedAt,
  }
}

const isOld = (readAt: Instant, now: Instant): boolean => now - readAt > LONGEST_AGE_MS

/** The history, with a reading stamped in the future taken for one of now. */
const historyUntil = (now: Instant, history: DayHistory): DayHistory | undefined =>
  isOld(history.readAt, now) ? undefined : { ...history, readAt: Math.min(now, history.readAt) }

const isOfCycle = ({ cycle: own, readAt }: Balance, cycle: Cycle): boolean => (own ? isSameCycle(own, cycle) : readAt >= cycle.startAt)

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
