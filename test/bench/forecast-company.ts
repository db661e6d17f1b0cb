// The companies of the forecast's bench: people of the sandbox at work, and what months are really like laid over them: growth, drift,
// holidays, spells of hard work, weeks that begin on Sunday, a new tool taken up. The sandbox alone is too regular: nobody there ever
// works more or less.

import type { Cycle } from '../../src/core/model/observed.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../../src/core/model/units.ts'
import { between, type Draw, habitsOf, pick, stream } from '../../src/sandbox/company/company.ts'
import { dayOf } from '../../src/sandbox/company/work.ts'
import { cycleAt } from '../../src/sandbox/time.ts'

export const KINDS = ['sandbox', 'trend', 'drift', 'holidays', 'spikes', 'sundays', 'adoption', 'all'] as const
export type Kind = (typeof KINDS)[number]

export interface Company {
  readonly kind: Kind
  readonly people: number
  readonly cycle: Cycle
  /** UTC midnight of the first hour. */
  readonly fromAt: Instant
  /** Credits in each hour, to the cycle's end. */
  readonly hours: readonly number[]
}

/** Days of use before the cycle. */
export const DAYS_BEFORE = 120

/** The same seed and kind give the same company. */
export function companyOf(seed: number, kind: Kind): Company {
  const draw = stream(seed, 'bench/forecast')
  const people = pick(draw, [4, 10, 25, 60])
  const cycle = cycleAt(Date.UTC(2025, between(draw, 0, 23), 1))
  const firstDay = cycle.startAt / DAY_MS - DAYS_BEFORE
  const days = cycle.endAt / DAY_MS - firstDay
  const factors = factorsOf(kind, days, draw)
  const hours = Array.from({ length: days * 24 }, () => 0)
  for (let person = 0; person < people; person += 1) {
    const worker = { person, habits: habitsOf(seed, person) }
    for (let index = 0; index < days; index += 1) {
      const day = firstDay + index + (kind === 'sundays' ? 1 : 0)
      for (const row of dayOf(seed, worker, day)) {
        if (row.source !== 'agent') continue
        const hour = index * 24 + Math.floor((row.at % DAY_MS) / HOUR_MS)
        hours[hour] = (hours[hour] ?? 0) + (row.cents / 100) * (factors[index] ?? 1)
      }
    }
  }
  return { kind, people, cycle, fromAt: firstDay * DAY_MS, hours }
}

/** What each day's use is multiplied by. */
function factorsOf(kind: Kind, days: number, draw: Draw): readonly number[] {
  const has = (one: Kind): boolean => kind === one || kind === 'all'
  const factors = Array.from({ length: days }, () => 1)
  const multiply = (from: number, count: number, by: number): void => {
    for (let index = from; index < Math.min(days, from + count); index += 1) factors[index] = (factors[index] ?? 1) * by
  }
  const growthPerWeek = has('trend') ? -0.04 + 0.1 * draw() : 0
  let level = 0
  for (let index = 0; index < days; index += 7) {
    level += growthPerWeek + (has('drift') ? 0.08 * normal(draw) : 0)
    multiply(index, 7, Math.exp(level))
  }
  // A team takes up the tool, at once or over two weeks, shortly before the cycle.
  if (kind === 'adoption') {
    const from = DAYS_BEFORE - between(draw, 5, 45)
    const [rampDays, by] = [between(draw, 1, 14), 1.5 + 1.5 * draw()]
    for (let index = from; index < days; index += 1) multiply(index, 1, 1 + (by - 1) * Math.min(1, (index - from) / rampDays))
  }
  // About one working day in forty is a holiday; now and then half of the company is away for a week.
  if (has('holidays')) for (let index = 0; index < days; index += 1) if (draw() < 0.025) multiply(index, 1, 0.1)
  if (has('holidays')) for (let spells = between(draw, 0, 3); spells > 0; spells -= 1) multiply(between(draw, 0, days), 7, 0.5)
  if (has('spikes'))
    for (let spells = between(draw, 2, 8); spells > 0; spells -= 1)
      multiply(between(draw, 0, days), between(draw, 1, 6), 1.3 + 1.4 * draw())
  return factors
}

/** Standard normal, near enough: the sum of twelve. */
const normal = (draw: Draw): number => Array.from({ length: 12 }, draw).reduce((sum, one) => sum + one, -6)
