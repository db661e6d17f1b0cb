// A pool over the cycle: its credits, what its members used of them, and how much is dealt to them as caps.
import { DAY_MS } from '../../core/model/units.ts'
import type { PoolSeries } from '../../daemon/http/documents/types.ts'
import { compact, dayMonth } from '../text.ts'
import type { Chart } from './chart.ts'
import type { Layer } from './plot.ts'

/** One chart for each pool; none without a cycle. */
export const poolCharts = ({ cycle, pools, at }: PoolSeries): readonly Chart[] =>
  cycle ? pools.map((pool) => poolChart(pool, { startAt: Date.parse(cycle.start), endAt: Date.parse(cycle.end), now: Date.parse(at) })) : []

interface Span {
  readonly startAt: number
  readonly endAt: number
  readonly now: number
}

function poolChart({ name, credits, exhaustion, days }: PoolSeries['pools'][number], { startAt, endAt, now }: Span): Chart {
  const points = days.flatMap(({ day, used, dealt }) => {
    const at = Math.max(startAt, Math.min(now, Date.parse(day) + DAY_MS, endAt))
    return used === undefined ? [] : [{ at, used, dealt }]
  })
  const exhaustedAt = exhaustion === undefined ? undefined : Date.parse(exhaustion)
  const last = points.at(-1)
  const layers: readonly (Layer | false)[] = [
    {
      kind: 'line',
      tone: 'limit',
      points: [
        { at: startAt, value: credits },
        { at: endAt, value: credits },
      ],
    },
    { kind: 'area', tone: 'main', points: points.map(({ at, used }) => ({ at, value: used })) },
    {
      kind: 'line',
      tone: 'balance',
      stepped: true,
      points: points.flatMap(({ at, dealt }) => (dealt === undefined ? [] : [{ at, value: dealt }])),
    },
    exhaustedAt !== undefined && exhaustedAt < endAt && { kind: 'instant', at: exhaustedAt, tone: 'bad', text: 'pool used up' },
  ]
  return {
    id: `pool-${name}`,
    title: `Pool ${name}`,
    summary: last
      ? `${compact(last.used)} of ${compact(credits)} credits used${last.dealt === undefined ? '' : `, ${compact(last.dealt)} dealt as caps`}.`
      : `${compact(credits)} credits; nothing dealt yet.`,
    legend: [
      { tone: 'main', text: 'used by its people' },
      { tone: 'balance', text: 'dealt as caps', as: 'line' },
      { tone: 'limit', text: 'credits of the pool', as: 'line' },
    ],
    plot: {
      fromAt: startAt,
      untilAt: endAt,
      layers: layers.filter((layer) => layer !== false),
      slots: points.map(({ at, used }, index) => ({
        fromAt: at,
        untilAt: points[index + 1]?.at ?? Math.min(endAt, at + DAY_MS),
        text: `${dayMonth(at)}: ${compact(used)} used`,
      })),
    },
    table: { heads: ['Day', 'Used', 'Dealt'], rows: points.map(({ at, used, dealt }) => [dayMonth(at), used, dealt ?? '']) },
  }
}
