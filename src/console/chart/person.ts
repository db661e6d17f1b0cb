// A person's add-on use against the cap in force on each day, with the days on which the cap was changed.
import { DAY_MS } from '../../core/model/units.ts'
import { compact, dayMonth } from '../text.ts'
import type { Chart, LegendEntry } from './chart.ts'
import type { Layer, Point } from './plot.ts'

export interface PersonData {
  readonly startAt: number
  readonly endAt: number
  /** By UTC midnights, in order; `used` since the cycle's start. A figure that is not known is absent. */
  readonly days: readonly { readonly at: number; readonly used?: number; readonly cap?: number }[]
  readonly changes: readonly { readonly at: number; readonly cap?: number; readonly text: string }[]
}

export function personChart({ startAt, endAt, days, changes }: PersonData): Chart {
  const used = days.flatMap(({ at, used: value }) => (value === undefined ? [] : [{ at: Math.min(endAt, at + DAY_MS), value }]))
  const caps = days.flatMap(({ at, cap }) => (cap === undefined ? [] : [{ at: Math.max(startAt, at), value: cap }]))
  const lastDay = days.at(-1)
  const capEnd: readonly Point[] = lastDay?.cap === undefined ? [] : [{ at: Math.min(endAt, lastDay.at + DAY_MS), value: lastDay.cap }]
  const layers: readonly (Layer | false)[] = [
    used.length > 1 && { kind: 'area', tone: 'main', points: used },
    used.length === 1 && { kind: 'dots', tone: 'main', points: used.map((point) => ({ ...point, text: `${compact(point.value)} used` })) },
    caps.length > 0 && { kind: 'line', tone: 'limit', stepped: true, points: [...caps, ...capEnd] },
    { kind: 'dots', tone: 'bad', points: changes.map(({ at, cap = 0, text }) => ({ at, value: cap, text })) },
  ]
  return {
    id: 'person-use',
    title: 'Add-on use against the cap',
    summary: summaryOf(used.at(-1)?.value, lastDay?.cap, changes.length),
    legend: legendOf(used.length > 0, caps.length > 0, changes.length > 0),
    plot: {
      fromAt: startAt,
      untilAt: endAt,
      layers: layers.filter((layer) => layer !== false),
      slots: days.map((day) => ({
        fromAt: day.at,
        untilAt: day.at + DAY_MS,
        text: `${dayMonth(day.at)}: ${day.used === undefined ? 'use not known' : `${compact(day.used)} used`}`,
      })),
    },
    table: {
      heads: ['Day', 'Add-on use', 'Cap', 'Changed'],
      rows: days.map(({ at, used: value, cap }) => [
        dayMonth(at),
        value,
        cap ?? 'none',
        changes
          .filter((change) => change.at >= at && change.at < at + DAY_MS)
          .map(({ text }) => text)
          .join('; '),
      ]),
    },
  }
}

function summaryOf(used: number | undefined, cap: number | undefined, changes: number): string {
  const use = used === undefined ? 'Use is not known' : `${compact(used)} credits used`
  const against = cap === undefined ? 'without a cap' : `under a cap of ${compact(cap)}`
  return `${use}, ${against}; ${changes === 0 ? 'the cap was not changed' : `the cap was changed ${changes === 1 ? 'once' : `${changes} times`}`} in this time.`
}

const legendOf = (hasUse: boolean, hasCap: boolean, hasChanges: boolean): readonly LegendEntry[] => [
  ...(hasUse ? [{ tone: 'main', text: 'add-on use in this cycle' } as const] : []),
  ...(hasCap ? [{ tone: 'limit', text: 'cap in force', as: 'line' } as const] : []),
  ...(hasChanges ? [{ tone: 'bad', text: 'cap changed' } as const] : []),
]
