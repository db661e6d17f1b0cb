// Charts of bars: use by day in stacks, drift by day, a share as a bar in a table.
import { type Html, html } from '../../core/escape/text.ts'
import { DAY_MS } from '../../core/model/units.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { compact, number, plural } from '../words.ts'
import { type Bar, type Chart, short, type Tone } from './chart.ts'

/** Credits by group or by model, `undefined` where they are not known. A map, because names come from outside: one such as `constructor` would be found
 * in any object. */
type Parts = ReadonlyMap<string, number | undefined>

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

/** Undefined until a day was read; days before that have no figure, which is not 0. */
export function burnOfSeries({ by, days, lines }: Document<'BurnSeries'>): Chart | undefined {
  const first = days.findIndex((_, index) => lines.some(({ values }) => typeof values[index] === 'number'))
  if (first === -1) return undefined
  const keyOf = ({ id, name }: Document<'BurnSeries'>['lines'][number]): string => id ?? name
  return stackChart({
    id: `burn-${by}`,
    title: `Credits burned by day and ${by}`,
    noun: by,
    days: days.slice(first).map((day, index) => ({
      at: Date.parse(day),
      parts: new Map(lines.map((line) => [keyOf(line), line.values[first + index] ?? undefined])),
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
      creditsIn: (parts: Parts) => (parts.has(key) ? parts.get(key) : 0),
    })),
    ...(isCut ? [{ name: REST, tone: 'rest' as const, creditsIn: (parts: Parts) => restOf(parts, shown) }] : []),
  ]
  const folded = days.map(({ at, parts }) => ({ at, values: columns.map(({ creditsIn }) => creditsIn(parts)) }))
  const total = folded.reduce((sum, { values }) => sum + sumOf(values), 0)
  return {
    id,
    title,
    summary: summaryOf(total, days.length, columns[0]?.name, noun, columns.length === 1),
    legend: columns.map(({ tone, name }) => ({ tone, text: name })),
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
    heads: columns.map(({ name }) => name),
    slots: folded.map(({ at, values }) => ({
      fromAt: at,
      untilAt: at + DAY_MS,
      says: values.every((value) => value === undefined) ? undefined : `${compact(sumOf(values))} credits`,
      figures: values.map((value) => value && Math.round(value * 10) / 10),
    })),
  }
}

const sumOf = (values: readonly (number | undefined)[]): number => values.reduce<number>((sum, value = 0) => sum + value, 0)

/** All keys, the one that burned most over all days first. */
function biggest(days: StackData['days']): readonly string[] {
  const sums = new Map<string, number>()
  for (const { parts } of days) for (const [key, value = 0] of parts) sums.set(key, (sums.get(key) ?? 0) + value)
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
  const burned = `${compact(Math.round(total))} credits of agent runs in ${days} ${days === 1 ? 'day' : 'days'}`
  return isAlone ? `${burned}.` : `${burned}; the ${noun} that used most is ${most}.`
}

export function driftChart(series: Pick<Document<'DriftSeries'>, 'days'>): Chart {
  const days = series.days.map(({ day, found, reverted }) => ({ at: Date.parse(day), found, reverted }))
  const [found, reverted] = [sumOf(days.map((day) => day.found)), sumOf(days.map((day) => day.reverted))]
  const counted = days.filter((day) => day.found !== undefined).length
  return {
    id: 'drift',
    isEmpty: found + reverted === 0,
    title: 'Drift found and reverted',
    summary: `${plural(found, 'change')} by others found, ${number(reverted)} reverted in ${plural(counted, 'day')}.`,
    legend: [
      { tone: 's1', text: 'changed by others' },
      { tone: 's2', text: 'reverted' },
    ],
    height: 120,
    isCount: true,
    layers: [
      {
        kind: 'bars',
        bars: days.flatMap((day) => [
          { fromAt: day.at, untilAt: day.at + DAY_MS / 2, low: 0, high: day.found ?? 0, tone: 's1' as const },
          { fromAt: day.at + DAY_MS / 2, untilAt: day.at + DAY_MS, low: 0, high: day.reverted ?? 0, tone: 's2' as const },
        ]),
      },
    ],
    heads: ['Changed by others', 'Reverted'],
    slots: days.map(({ at, ...day }) => ({
      fromAt: at,
      untilAt: at + DAY_MS,
      says: day.found === undefined ? undefined : `${day.found} found, ${day.reverted ?? 0} reverted`,
      figures: [day.found, day.reverted],
    })),
  }
}

/** The head of a column of bars, for screen readers. */
export const BAR_HEAD = html`<span class="hidden">As a bar</span>`

/** A bar filled to a share. Hidden from screen readers, so the figure must be beside it. */
export const meter = (share: number, tone: Tone): Html =>
  html`<svg class="meter" width="100%" height="8" aria-hidden="true"><rect class="trough" width="100%" height="8" rx="4"></rect>${share > 0 && html`<rect class="bar t-${tone}" width="${short(Math.min(1, share) * 100)}%" height="8" rx="4"></rect>`}</svg>`
