// Changes by others found, and repairs made, day by day side by side.
import { DAY_MS } from '../../core/model/units.ts'
import { dayMonth, plural } from '../text.ts'
import type { Chart } from './chart.ts'

export interface DriftData {
  /** By UTC midnights, in order. */
  readonly days: readonly { readonly at: number; readonly found: number; readonly repaired: number }[]
}

export function driftChart({ days }: DriftData): Chart {
  const first = days[0]?.at ?? 0
  const last = days.at(-1)?.at ?? first
  const found = days.reduce((sum, day) => sum + day.found, 0)
  const repaired = days.reduce((sum, day) => sum + day.repaired, 0)
  return {
    id: 'drift',
    isEmpty: found + repaired === 0,
    title: 'Drift found and repaired',
    summary: `${plural(found, 'change')} by others found, ${plural(repaired, 'repair')} made in ${plural(days.length, 'day')}.`,
    legend: [
      { tone: 's1', text: 'changed by others' },
      { tone: 's2', text: 'repaired' },
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
            { fromAt: day.at + DAY_MS / 2, untilAt: day.at + DAY_MS, low: 0, high: day.repaired, tone: 's2' as const },
          ]),
        },
      ],
      slots: days.map((day) => ({
        fromAt: day.at,
        untilAt: day.at + DAY_MS,
        text: `${dayMonth(day.at)}: ${day.found} found, ${day.repaired} repaired`,
      })),
    },
    table: { heads: ['Day', 'Changed by others', 'Repaired'], rows: days.map((day) => [dayMonth(day.at), day.found, day.repaired]) },
  }
}
