// Billing cycles before and after a known one, because the service names only the present one. Cycles of 28 to 31 days are months that begin on
// the same day; others are taken to have the known cycle's length. Choice.

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

/** Cycles that end after `fromAt` and begin before `untilAt`, in the order of time. */
export function cyclesBetween(known: Cycle, fromAt: Instant, untilAt: Instant): readonly Cycle[] {
  const found: Cycle[] = []
  let step = 0
  while (step > 1 - MOST_STEPS && cycleBeside(known, step - 1).endAt > fromAt) step -= 1
  for (; step < MOST_STEPS; step += 1) {
    const cycle = cycleBeside(known, step)
    if (cycle.startAt >= untilAt) break
    if (cycle.endAt > fromAt) found.push(cycle)
  }
  return found
}

/** More cycles than any ledger keeps, even of a day each. */
const MOST_STEPS = 1_000

export const dayText = (at: Instant): string => new Date(at).toISOString().slice(0, 10)
