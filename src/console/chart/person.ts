// A person's add-on use against the cap in force on each day, with the days on which the cap changed.
import { DAY_MS } from '../../core/model/units.ts'
import type { PersonDocument } from '../../daemon/http/documents/types.ts'
import { capText, compact, dayMonth } from '../text.ts'
import type { Chart, LegendEntry } from './chart.ts'
import type { Layer, Point } from './plot.ts'

/**
 * Undefined until a day was read. Add-on use starts again with each billing cycle. Where the days of the present cycle do not sum to its figure, the
 * use that is missing is added to the days that are known in part, and to those after them.
 */
export function personChart({ addOn: present, use }: Pick<PersonDocument, 'addOn' | 'use'>): Chart | undefined {
  const [firstDay, lastDay] = [use.days[0], use.days.at(-1)]
  if (!firstDay || !lastDay) return undefined
  const startsAt = use.days.findLastIndex(({ starts }) => starts === true)
  // What the service tells of a day is all of it, so that what is missing was used on a later one.
  const isWhole = ({ grade }: (typeof use.days)[number]): boolean => grade === 'measured' || grade === 'reconstructed'
  const missingFrom = use.days.findIndex((day, index) => index >= startsAt && !isWhole(day))
  const missing = Math.max(0, (present ?? 0) - (lastDay.addOn ?? 0))
  const isKnown = (index: number): boolean => {
    const { addOn, grade, burned = 0 } = use.days[index] ?? {}
    const isDayKnown = grade === undefined ? burned > 0 : grade !== 'missing'
    return index === use.days.length - 1 ? addOn !== undefined || present !== undefined : addOn !== undefined && isDayKnown
  }
  return chartOf(
    use.days.map(({ day, addOn = 0, cap, changed = false }, index) => ({
      at: Date.parse(day),
      used: isKnown(index) ? Math.round((addOn + (index >= missingFrom ? missing : 0)) * 10) / 10 : undefined,
      cap: typeof cap === 'number' ? cap : undefined,
      change: changed ? `cap changed to ${capText(cap)}` : undefined,
    })),
  )
}

interface Day {
  /** Midnight, UTC. */
  readonly at: number
  /** Since the cycle's start. */
  readonly used: number | undefined
  readonly cap: number | undefined
  readonly change: string | undefined
}

function chartOf(days: readonly Day[]): Chart {
  const startAt = days[0]?.at ?? 0
  const endAt = (days.at(-1)?.at ?? startAt) + DAY_MS
  const used = days.flatMap(({ at, used: value }) => (value === undefined ? [] : [{ at: at + DAY_MS, value }]))
  const caps = days.flatMap(({ at, cap }) => (cap === undefined ? [] : [{ at, value: cap }]))
  const lastCap = days.at(-1)?.cap
  const capEnd: readonly Point[] = lastCap === undefined ? [] : [{ at: endAt, value: lastCap }]
  const changes = days.flatMap(({ at, cap = 0, change }) => (change === undefined ? [] : [{ at, value: cap, text: change }]))
  const layers: readonly (Layer | false)[] = [
    used.length > 1 && { kind: 'area', tone: 'main', points: used },
    used.length === 1 && { kind: 'dots', tone: 'main', points: used.map((point) => ({ ...point, text: `${compact(point.value)} used` })) },
    caps.length > 0 && { kind: 'line', tone: 'limit', stepped: true, points: [...caps, ...capEnd] },
    { kind: 'dots', tone: 'bad', points: changes },
  ]
  return {
    id: 'person-use',
    title: 'Add-on use against the cap',
    summary: summaryOf(used.at(-1)?.value, lastCap, changes.length),
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
      rows: days.map(({ at, used: value, cap, change = '' }) => [dayMonth(at), value, cap ?? 'none', change]),
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
