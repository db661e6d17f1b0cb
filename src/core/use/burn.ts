// The usage summary of a workspace: how fast it uses credits, its use at the cycle's end, and when its add-on credits run out. Pure. A figure
// that is not known is absent, never 0. All figures are credits of the whole team.
//
//   burn ratio    = burned in the window ÷ (credits of the cycle × window ÷ length of the cycle), by the calendar: weekends count.
//                   Credits of the cycle = seats × credits per seat + add-on credits. The window ends with the latest fresh reading, at
//                   most 3 h ago, and may begin in the cycle before. Where readings do not reach back far enough, 3d and 7d are taken
//                   from the days. (use-curve.ts)
//   projection    = used + Σ over the rest of the cycle of the weighted mean of the same weekday, × e^(±1.28 × spread). (forecast.ts)
//   exhaustion    = where Σ over people of max(0, used × growth − credits per seat), each up to their cap, has grown by the add-on
//                   credits that are left; growth is the projected use of the team ÷ its use now. (exhaustion.ts)
//
// Least data: a reading that is at most 24 h old and taken 6 h or more after the cycle's start; readings up to 4 h apart (a third of the
// window, when that is more) where a window begins; the balance for ratios and exhaustion; for projection and exhaustion 28 complete days
// since the first use.

import type { Balance, Cycle } from '../model/observed.ts'
import { DAY_MS, type Instant } from '../model/units.ts'
import { exhaustionOf, type PersonUse } from './exhaustion.ts'
import { forecastFrom, type Projection, projectionOf } from './forecast.ts'
import { isSameCycle } from './turn.ts'
import { burnedByDays, burnedByReadings, type DayHistory, type UseCurve, type UseReading, useCurve } from './use-curve.ts'

/** The windows of `capkeeper_burn_ratio` (docs/metrics.md), in milliseconds. */
const BURN_WINDOWS_MS = { '6h': DAY_MS / 4, '24h': DAY_MS, '3d': 3 * DAY_MS, '7d': 7 * DAY_MS } as const
export type BurnWindow = keyof typeof BURN_WINDOWS_MS
export const BURN_WINDOWS = ['6h', '24h', '3d', '7d'] as const satisfies readonly BurnWindow[]

/** How long the service takes to show use (docs/service.md, Limits). */
export const FRESHNESS_MS = DAY_MS / 8
/** Older readings do not count (docs/metrics.md). */
const LONGEST_AGE_MS = DAY_MS

export interface BurnInputs {
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

/** The figures at `now`; none in the first 6 h of a cycle, or when the latest reading is older than 24 h. Choice. */
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
    ...(forecast && { projected: projectionOf(curve.used, forecast) }),
    ...(exhaustedAt !== undefined && { exhaustedAt }),
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
