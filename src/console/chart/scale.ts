// The scales of a chart and the labels on them: round numbers, and midnights in UTC. It draws nothing.
import { DAY_MS } from '../../core/model/units.ts'

/** The top of a plot, and the round figures up to it. */
interface ValueScale {
  readonly max: number
  readonly ticks: readonly number[]
}

/** Steps between figures, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10]
const WANTED_TICKS = 5

/** From 0 to a round figure at or above the highest one, in about five steps. `isCount`: in whole steps. */
export function valueScale(highest: number, isCount = false): ValueScale {
  if (!(highest > 0)) return { max: 1, ticks: [0, 1] }
  const rough = highest / WANTED_TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(isCount ? 1 : 0, (STEPS.find((candidate) => candidate * power >= rough) ?? 10) * power)
  const count = Math.ceil(highest / step - 1e-9)
  return { max: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) }
}

const MOST_LABELS = 7

/** The labels of a time axis: midnights in UTC, in equal steps of whole days, seven at most. */
export function dayTicks(fromAt: number, untilAt: number): readonly number[] {
  const first = Math.ceil(fromAt / DAY_MS) * DAY_MS
  const days = Math.max(0, Math.floor((untilAt - first) / DAY_MS)) + 1
  const step = Math.max(1, Math.ceil(days / MOST_LABELS)) * DAY_MS
  return Array.from({ length: Math.ceil((days * DAY_MS) / step) }, (_, index) => first + index * step).filter((at) => at <= untilAt)
}

/** How far a value is from `from` to `to`, between 0 and 1. */
export const shareOf = (value: number, from: number, to: number): number =>
  to > from ? Math.min(1, Math.max(0, (value - from) / (to - from))) : 0

/** A coordinate with two decimals, which is finer than any screen. */
export const short = (value: number): string => String(Math.round(value * 100) / 100)
