// Billing cycles before and after one that is known: the service names only the present one. Cycles of 28 to 31 days are months that begin
// on the same day; others are taken to be as long as the one that is known. Choice. It reads no clock.

import type { Cycle } from '../../core/model/observed.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'

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

/** The day of the month on which cycles begin: one that begins on the last day of a short month may be meant to begin on a later one. */
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
