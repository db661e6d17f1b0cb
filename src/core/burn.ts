// How fast a workspace burns credits, what it will have used at the cycle's end, and when its add-on credits run out. Pure: facts in,
// figures out. What is not known is absent, never 0; the formulas stand in use-curve.ts, forecast.ts and exhaustion.ts.
import { exhaustionOf, type PersonUse } from './exhaustion.ts'
import { type DayHistory, forecastFrom, type Projection, projectionOf } from './forecast.ts'
import type { Balance, Cycle } from './observed.ts'
import type { Instant } from './units.ts'
import { burnedByDays, burnedByReadings, type UseCurve, type UseReading, useCurve } from './use-curve.ts'

const HOUR_MS = 3_600_000

/** The windows of `capkeeper_burn_ratio`, product.md section 7. */
export const BURN_WINDOWS = { '6h': 6 * HOUR_MS, '24h': 24 * HOUR_MS, '3d': 72 * HOUR_MS, '7d': 168 * HOUR_MS } as const
export type BurnWindow = keyof typeof BURN_WINDOWS

/** How long the service takes to show use (service-notes.md, section 1, Freshness). */
export const FRESHNESS_MS = 3 * HOUR_MS
/** After a cycle's start nothing is said for this long: the figures may still be those of the cycle before. Choice. */
export const SETTLE_MS = 6 * HOUR_MS
/** Readings older than this say nothing any more (product.md, section 7). */
export const LONGEST_AGE_MS = 24 * HOUR_MS

export interface BurnInputs {
  readonly now: Instant
  readonly cycle: Cycle
  /** Credits used by the whole roster, in any order; the last 8 days are enough, across a cycle's start as well. */
  readonly readings: readonly UseReading[]
  /** Credits used on each day by the whole team. */
  readonly history?: DayHistory
  readonly balance?: Balance
  /** Who used how much in this cycle, as in the latest reading. */
  readonly people?: readonly PersonUse[]
  /** Default 3 h. */
  readonly freshnessMs?: number
}

/** Anything that is not known is absent. */
export interface BurnFigures {
  /** 1 = even pace to the cycle's end. */
  readonly ratios: Readonly<Partial<Record<BurnWindow, number>>>
  /** Credits used at the cycle's end. */
  readonly projected?: Projection
  /** When the add-on credits run out within this cycle. */
  readonly exhaustedAt?: Instant
}

/** The figures at `now`; all absent in the first 6 h of a cycle, and when the latest reading is older than 24 h. Choice. */
export function burnOf(inputs: BurnInputs): BurnFigures {
  const { now, cycle, readings, history, balance, people, freshnessMs = FRESHNESS_MS } = inputs
  const curve = useCurve({ readings: readings.filter((one) => one.at <= now), cycle, freshnessMs })
  if (now < cycle.startAt + SETTLE_MS || !curve || now - curve.readAt > LONGEST_AGE_MS) return { ratios: {} }
  const ofCycle = balance && isOf(cycle, balance) ? balance : undefined
  const forecast = history && forecastFrom({ history, fromAt: curve.freshAt, untilAt: cycle.endAt, freshnessMs })
  const exhaustedAt = ofCycle && exhaustionOf({ balance: ofCycle, cycle, used: curve.used, people, forecast })
  return {
    ratios: ofCycle ? ratiosOf(inputs, curve, ofCycle) : {},
    ...(forecast && { projected: projectionOf(curve.used, forecast) }),
    ...(exhaustedAt !== undefined && { exhaustedAt }),
  }
}

/** The credits that a cycle has: those of all seats, and the add-on credits (as they stood at its start). Choice. */
export const creditsOfCycle = ({ creditsPerSeat, seats, addOnAvailable }: Balance): number => creditsPerSeat * seats + addOnAvailable

const isOf = (cycle: Cycle, { cycle: own, readAt }: Balance): boolean => (own ? own.startAt === cycle.startAt : readAt >= cycle.startAt)

function ratiosOf({ now, cycle, history }: BurnInputs, curve: UseCurve, balance: Balance): BurnFigures['ratios'] {
  const evenPerMs = creditsOfCycle(balance) / (cycle.endAt - cycle.startAt)
  const ratios: Partial<Record<BurnWindow, number>> = {}
  if (!(evenPerMs > 0) || now >= cycle.endAt) return ratios
  for (const window of Object.keys(BURN_WINDOWS) as BurnWindow[]) {
    const windowMs = BURN_WINDOWS[window]
    const known = history && now - history.readAt <= LONGEST_AGE_MS ? history : undefined
    const burned = burnedByReadings(curve, windowMs) ?? (known && burnedByDays(known, windowMs))
    if (burned !== undefined) ratios[window] = burned / (evenPerMs * windowMs)
  }
  return ratios
}
