// Foreign changes found and reverted, by day.
import { DAY_MS } from '../../core/model/units.ts'
import type { DriftSeries } from '../../daemon/http/documents/types.ts'
import { dayMonth, number, plural } from '../text.ts'
import type { Chart } from './chart.ts'

export function driftChart(series: Pick<DriftSeries, 'days'>): Chart {
  const days = series.days.map(({ day, found = 0, reverted = 0 }) => ({ at: Date.parse(day), found, reverted }))
  const first = days[0]?.at ?? 0
  const last = days.at(-1)?.at ?? first
  const found = days.reduce((sum, day) => sum + day.found, 0)
  const reverted = days.reduce((sum, day) => sum + day.reverted, 0)
  return {
    id: 'drift',
    isEmpty: found + reverted === 0,
    title: 'Drift found and reverted',
    summary: `${plural(found, 'change')} by others found, ${number(reverted)} reverted in ${plural(days.length, 'day')}.`,
    legend: [
      { tone: 's1', text: 'changed by others' },
      { tone: 's2', text: 'reverted' },
    ],
    plot: {
      fromAt: first,
      untilAt: last + DAY_MS,
      height: 120,
      isCount: true,
      layers: [
        {
          kind: 'bars',
          bars: days.flatMap((day) => [
            { fromAt: day.at, untilAt: day.at + DAY_MS / 2, low: 0, high: day.found, tone: 's1' as const },
            { fromAt: day.at + DAY_MS / 2, untilAt: day.at + DAY_MS, low: 0, high: day.reverted, tone: 's2' as const },
          ]),
        },
      ],
      slots: days.map((day) => ({
        fromAt: day.at,
        untilAt: day.at + DAY_MS,
        text: `${dayMonth(day.at)}: ${day.found} found, ${day.reverted} reverted`,
      })),
    },
    table: { heads: ['Day', 'Changed by others', 'Reverted'], rows: days.map((day) => [dayMonth(day.at), day.found, day.reverted]) },
  }
}
