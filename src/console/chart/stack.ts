// Credits burned by day, stacked by group or by model: the six that burned most have their own colour, all others share one.
import { DAY_MS } from '../../core/model/units.ts'
import type { BurnSeries } from '../../daemon/http/documents/types.ts'
import { compact, dayMonth } from '../text.ts'
import type { Chart } from './chart.ts'
import type { Bar, Tone } from './plot.ts'

/** Credits by group or by model. A map, because names come from outside: one such as `constructor` would be found in any object. */
type Parts = ReadonlyMap<string, number>

interface StackData {
  readonly id: string
  readonly title: string
  /** What a part is: `group`, `model`. */
  readonly noun: string
  /** Days by their UTC midnights, in order. */
  readonly days: readonly { readonly at: number; readonly parts: Parts }[]
  /** Names of the parts by key; default: the key. */
  readonly names?: ReadonlyMap<string, string>
}

/** Undefined until a day was read. */
export function burnOfSeries({ by, days, lines }: BurnSeries): Chart | undefined {
  if (days.length === 0 || lines.length === 0) return undefined
  const keyOf = ({ id, name }: BurnSeries['lines'][number]): string => id ?? name
  return stackChart({
    id: `burn-${by}`,
    title: by === 'team' ? 'Credits burned by day' : `Credits burned by day and ${by}`,
    noun: by,
    days: days.map((day, index) => ({
      at: Date.parse(day),
      parts: new Map(lines.map((line) => [keyOf(line), line.values[index] ?? 0])),
    })),
    names: new Map(lines.map((line) => [keyOf(line), line.name])),
  })
}

const TONES: readonly Tone[] = ['s0', 's1', 's2', 's3', 's4', 's5']
const REST = 'others'

export function stackChart({ id, title, noun, days, names }: StackData): Chart {
  const keys = biggest(days)
  const shown = keys.slice(0, TONES.length)
  const isCut = keys.length > shown.length
  const columns = [
    ...shown.map((key, index) => ({
      name: names?.get(key) ?? key,
      tone: TONES[index] ?? 'rest',
      creditsIn: (parts: Parts) => parts.get(key) ?? 0,
    })),
    ...(isCut ? [{ name: REST, tone: 'rest' as const, creditsIn: (parts: Parts) => restOf(parts, shown) }] : []),
  ]
  const folded = days.map(({ at, parts }) => ({ at, values: columns.map(({ creditsIn }) => creditsIn(parts)) }))
  const total = folded.reduce((sum, { values }) => sum + sumOf(values), 0)
  const first = days[0]?.at ?? 0
  const last = days.at(-1)?.at ?? first
  return {
    id,
    title,
    summary: summaryOf(total, days.length, columns[0]?.name, noun, columns.length === 1),
    legend: columns.map(({ tone, name }) => ({ tone, text: name })),
    plot: {
      fromAt: first,
      untilAt: last + DAY_MS,
      layers: [
        {
          kind: 'bars',
          bars: folded.flatMap(({ at, values }) =>
            barsOf(
              at,
              columns.map(({ tone }, index) => ({ tone, value: values[index] ?? 0 })),
            ),
          ),
        },
      ],
      slots: folded.map(({ at, values }) => ({
        fromAt: at,
        untilAt: at + DAY_MS,
        text: `${dayMonth(at)}: ${compact(sumOf(values))} credits`,
      })),
    },
    table: {
      heads: ['Day', ...columns.map(({ name }) => name)],
      rows: folded.map(({ at, values }) => [dayMonth(at), ...values.map((value) => Math.round(value * 10) / 10)]),
    },
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** All keys, the one that burned most over all days first. */
function biggest(days: StackData['days']): readonly string[] {
  const sums = new Map<string, number>()
  for (const { parts } of days) for (const [key, value] of parts) sums.set(key, (sums.get(key) ?? 0) + value)
  return [...sums].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([key]) => key)
}

const restOf = (parts: Parts, shown: readonly string[]): number =>
  sumOf([...parts].map(([key, value]) => (shown.includes(key) ? 0 : value)))

function barsOf(at: number, parts: readonly { readonly tone: Tone; readonly value: number }[]): readonly Bar[] {
  let low = 0
  const bars: Bar[] = []
  for (const { tone, value } of parts) {
    if (value <= 0) continue
    bars.push({ fromAt: at, untilAt: at + DAY_MS, low, high: low + value, tone })
    low += value
  }
  return bars
}

function summaryOf(total: number, days: number, most: string | undefined, noun: string, isAlone: boolean): string {
  if (total === 0 || most === undefined) return 'No credits were used on these days.'
  const burned = `${compact(Math.round(total))} credits in ${days} ${days === 1 ? 'day' : 'days'}`
  return isAlone ? `${burned}.` : `${burned}; the ${noun} that used most is ${most}.`
}
