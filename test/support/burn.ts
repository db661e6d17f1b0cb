// Simple teams for tests of burn: readings and days of even use in a cycle of 30 days, and the balance with the same even pace.

import type { Balance } from '../../src/core/model/observed.ts'
import { credits, type Instant } from '../../src/core/model/units.ts'
import type { DayHistory, UseReading } from '../../src/core/use/curve.ts'
import { CYCLE, DAY, HOUR } from './declare.ts'

/** An instant of the cycle, in days and hours from its start. */
export const at = (days: number, hours = 0): Instant => CYCLE.startAt + days * DAY + hours * HOUR

export const reading = (takenAt: Instant, used: number): UseReading => ({ at: takenAt, used: credits(used) })

/** One reading every `stepMs` after `from` up to `until`, with the use of `usedAt`. */
export function readingsOf(from: Instant, until: Instant, usedAt: (at: Instant) => number, stepMs = HOUR): readonly UseReading[] {
  return Array.from({ length: Math.floor((until - from) / stepMs) }, (_, index) => {
    const takenAt = from + (index + 1) * stepMs
    return reading(takenAt, usedAt(takenAt))
  })
}

/** 10 credits an hour since the cycle's start. */
export const steadily = (takenAt: Instant): number => ((takenAt - CYCLE.startAt) / HOUR) * 10

/** Days up to the last complete one before `readAt`, to which the last of `uses` belongs. */
export function historyOf(readAt: Instant, uses: readonly number[]): DayHistory {
  const end = Math.floor((readAt - 3 * HOUR) / DAY) * DAY
  const fromAt = end - uses.length * DAY
  return { fromAt, readAt, days: uses.map((use, index) => ({ dayAt: fromAt + index * DAY, credits: credits(use) })) }
}

export const alike = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)

/** 7200 credits in all: exactly 10 an hour for 30 days. */
export const BALANCE: Balance = {
  creditsPerSeat: credits(100),
  seats: 60,
  addOnAvailable: credits(1200),
  addOnUsed: credits(0),
  cycle: CYCLE,
  readAt: at(10),
}
