// Credits over the cycle: the credits used, the even pace, the projection with its 80 % range, and all credits of the cycle.
import { DAY_MS } from '../../core/model/units.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { compact, dayMonth } from '../words.ts'
import { type Chart, level, type Point } from './chart.ts'

export interface CycleData {
  readonly startAt: number
  readonly endAt: number
  readonly now: number
  /** Credits used since the cycle's start, by instant, rising; without a value where that is not known. */
  readonly used: readonly (Pick<Point, 'at'> & Partial<Point>)[]
  /** All credits of the cycle, those of the seats and add-on credits; absent while the balance is unknown. */
  readonly budget?: number
  /** Expected at the cycle's end. */
  readonly projected?: Readonly<Record<Percentile, number>>
  readonly exhaustedAt?: number
}

type Percentile = 'p10' | 'p50' | 'p90'

/** Undefined without a cycle, and until use was read. */
export function cycleOfSeries({ cycle, credits, exhaustion, projected, days, at }: Document<'CreditsSeries'>): Chart | undefined {
  if (!cycle || days.every(({ used }) => used === undefined)) return undefined
  const startAt = Date.parse(cycle.start)
  const endAt = Date.parse(cycle.end)
  const now = Math.min(Date.parse(at), endAt)
  const used = days.map(({ day, used: value }) => ({ at: Math.max(startAt, Math.min(now, Date.parse(day) + DAY_MS)), value }))
  return cycleChart({
    startAt,
    endAt,
    now,
    used: [{ at: startAt, value: 0 }, ...used],
    budget: credits,
    projected,
    exhaustedAt: exhaustion === undefined ? undefined : Date.parse(exhaustion),
  })
}

export function cycleChart(data: CycleData): Chart {
  const { startAt, endAt, now, budget, projected, exhaustedAt } = data
  const used = data.used.flatMap(({ at, value }) => (value === undefined ? [] : [{ at, value }]))
  const last = used.at(-1) ?? { at: startAt, value: 0 }
  const goal = budget ?? projected?.p50
  const ahead = (percentile: Percentile): readonly Point[] => aheadOf(data, last, percentile)
  const [, end] = ahead('p50')
  return {
    id: 'cycle',
    title: 'Credits over the cycle',
    summary: summaryOf(data, last.value),
    legend: [
      { tone: 'main', text: 'used' },
      projected !== undefined && { tone: 'main', text: 'expected, with the likely range (80 %)', as: 'dashed' },
      goal !== undefined && { tone: 'even', text: 'even pace', as: 'dashed' },
      budget !== undefined && { tone: 'limit', text: 'all credits of the cycle', as: 'line' },
    ],
    fromAt: startAt,
    untilAt: endAt,
    layers: [
      projected !== undefined && { kind: 'band', tone: 'main', low: ahead('p10'), high: ahead('p90') },
      budget !== undefined && level('limit', budget, startAt, endAt),
      goal !== undefined && {
        kind: 'line',
        tone: 'even',
        points: [
          { at: startAt, value: 0 },
          { at: endAt, value: goal },
        ],
        dashed: true,
      },
      { kind: 'area', tone: 'main', points: used },
      projected !== undefined && { kind: 'line', tone: 'main', points: ahead('p50'), dashed: true },
      now < endAt && { kind: 'instant', at: now, tone: 'even', text: 'now' },
      exhaustedAt !== undefined && exhaustedAt < endAt && { kind: 'instant', at: exhaustedAt, tone: 'bad', text: 'add-on credits run out' },
    ],
    heads: ['Used', 'Even pace', 'Expected'],
    slots: daysOf(data).map(({ fromAt, untilAt }) => {
      const known = usedAt(untilAt, data)
      const even = goal === undefined ? undefined : Math.round(goal * evenShare(untilAt, data))
      const says = known === undefined ? undefined : `${compact(known)} used`
      // The projection is of the end alone, and says nothing of the days until then.
      const expected = end && untilAt === endAt && untilAt > last.at ? Math.round(end.value) : undefined
      return { fromAt, untilAt, says, figures: [known, even, expected] }
    }),
  }
}

/** From now to the projection of the end, which is never below what is used already. */
const aheadOf = ({ projected, endAt }: CycleData, last: Point, percentile: Percentile): readonly Point[] =>
  projected ? [last, { at: endAt, value: Math.max(last.value, projected[percentile]) }] : []

function summaryOf({ budget, projected, exhaustedAt, endAt }: CycleData, used: number): string {
  const parts = [
    budget === undefined ? `${compact(used)} credits used` : `${compact(used)} of ${compact(budget)} credits used`,
    ...(projected ? [`${compact(Math.round(projected.p50))} expected by ${dayMonth(endAt)}`] : []),
    ...(exhaustedAt !== undefined && exhaustedAt < endAt ? [`the add-on credits run out on ${dayMonth(exhaustedAt)}`] : []),
  ]
  return `${parts.join('; ')}.`
}

/** Days of 24 h from the cycle's start; the last may be shorter. */
function daysOf({ startAt, endAt }: CycleData) {
  const count = Math.min(MOST_DAYS, Math.max(1, Math.ceil((endAt - startAt) / DAY_MS)))
  return Array.from({ length: count }, (_, index) => ({
    fromAt: startAt + index * DAY_MS,
    untilAt: Math.min(endAt, startAt + (index + 1) * DAY_MS),
  }))
}

/** Longer than any cycle. */
const MOST_DAYS = 400

const evenShare = (at: number, { startAt, endAt }: CycleData): number => (at - startAt) / Math.max(1, endAt - startAt)

/** Credits used at the end of a day; undefined for future days, and where it is not known. */
const usedAt = (until: number, { used }: CycleData): number | undefined => {
  const past = used.filter(({ at }) => at <= until)
  const isOver = (used.at(-1)?.at ?? 0) >= until - DAY_MS
  return isOver ? past.at(-1)?.value : undefined
}
