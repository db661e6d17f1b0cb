// Billing cycles before and after one that is known: the service names only the present one. Cycles of 28 to 31 days are months that begin
// on the same day; others are taken to be as long as the one that is known. Choice. It reads no clock.

import type { Cycle } from '../../core/model/observed.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'

const isMonth = ({ startAt, endAt }: Cycle): boolean => {
  const days = (endAt - startAt) / DAY_MS
  return days > 27.5 && days < 31.5
}

/** The cycle so many after the known one; before it when `steps` is negative. */
export function cycleBeside(known: Cycle, steps: number): Cycle {
  if (steps === 0) return known
  if (!isMonth(known)) {
    const length = known.endAt - known.startAt
    return { startAt: known.startAt + steps * length, endAt: known.endAt + steps * length }
  }
  return { startAt: monthsAfter(known.startAt, steps), endAt: steps === -1 ? known.startAt : monthsAfter(known.startAt, steps + 1) }
}

/** The same day of another month, or its last day; 31 January and a month is the end of February. */
function monthsAfter(at: Instant, months: number): Instant {
  const start = new Date(at)
  const day = start.getUTCDate()
  start.setUTCDate(1)
  start.setUTCMonth(start.getUTCMonth() + months)
  const last = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate()
  start.setUTCDate(Math.min(day, last))
  return start.getTime()
}

/** Cycles that end after `fromAt` and begin before `untilAt`, in the order of time. */
export function cyclesBetween(known: Cycle, fromAt: Instant, untilAt: Instant): readonly Cycle[] {
  const found: Cycle[] = []
  for (let step = -1; step > -MOST_STEPS; step -= 1) {
    const cycle = cycleBeside(known, step)
    if (cycle.endAt <= fromAt) break
    if (cycle.startAt < untilAt) found.unshift(cycle)
  }
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const cycle = cycleBeside(known, step)
    if (cycle.startAt >= untilAt) break
    if (cycle.endAt > fromAt) found.push(cycle)
  }
  return found
}

/** More than any ledger keeps, also of cycles of a day. */
const MOST_STEPS = 1_000
