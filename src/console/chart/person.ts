// Charts of one person, one pool and one comparison: add-on use against the cap in force on each day, with the days on which the cap changed;
// the credits of a pool over the cycle; two policies side by side.

import { type Html, html } from '../../core/escape/text.ts'
import { DAY_MS } from '../../core/model/units.ts'
import { type AddOnSource, SOURCE_TEXT } from '../../core/use/add-on.ts'
import type { DayGrade } from '../../core/use/history.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { barTable, type Column, column } from '../tables.ts'
import { capText, compact, dayMonth, number } from '../words.ts'
import { BAR_HEAD, meter } from './bars.ts'
import { type Chart, captionOf, legendList, level, type Point } from './chart.ts'
import type { CycleData } from './cycle.ts'

/** One chart for each pool; none without a cycle. */
export const poolCharts = ({ cycle, pools, at }: Document<'PoolSeries'>): readonly Chart[] =>
  cycle ? pools.map((pool) => poolChart(pool, { startAt: Date.parse(cycle.start), endAt: Date.parse(cycle.end), now: Date.parse(at) })) : []

type Span = Pick<CycleData, 'startAt' | 'endAt' | 'now'>

function poolChart({ name, credits, exhaustion, days }: Document<'PoolSeries'>['pools'][number], { startAt, endAt, now }: Span): Chart {
  const points = days.flatMap(({ day, used, dealt }) => {
    const at = Math.max(startAt, Math.min(now, Date.parse(day) + DAY_MS, endAt))
    return used === undefined ? [] : [{ at, used, dealt }]
  })
  const exhaustedAt = exhaustion === undefined ? undefined : Date.parse(exhaustion)
  const isShort = exhaustedAt !== undefined && exhaustedAt < endAt
  const last = points.at(-1)
  return {
    id: `pool-${name}`,
    title: `Pool ${name}`,
    summary: last
      ? `${compact(last.used)} of ${compact(credits)} credits used${last.dealt === undefined ? '' : `, ${compact(last.dealt)} dealt as caps`}${isShort ? `; used up on ${dayMonth(exhaustedAt)}` : ''}.`
      : `${compact(credits)} credits; nothing dealt yet.`,
    legend: [
      { tone: 'main', text: 'used by its people' },
      { tone: 'balance', text: 'dealt as caps', as: 'line' },
      { tone: 'limit', text: 'credits of the pool', as: 'line' },
    ],
    fromAt: startAt,
    untilAt: endAt,
    layers: [
      level('limit', credits, startAt, endAt),
      { kind: 'area', tone: 'main', points: points.map(({ at, used }) => ({ at, value: used })) },
      {
        kind: 'line',
        tone: 'balance',
        stepped: true,
        points: points.flatMap(({ at, dealt }) => (dealt === undefined ? [] : [{ at, value: dealt }])),
      },
      isShort && { kind: 'instant', at: exhaustedAt, tone: 'bad', text: 'pool used up' },
    ],
    heads: ['Used', 'Dealt'],
    slots: points.map(({ at, used, dealt }, index) => ({
      fromAt: at,
      untilAt: points[index + 1]?.at ?? Math.min(endAt, at + DAY_MS),
      says: `${compact(used)} used`,
      figures: [used, dealt ?? ''],
    })),
  }
}

interface CompareRow {
  readonly name: string
  /** Under the caps that were in force, or under the other policy; absent where that is not known. */
  readonly beside?: number
  readonly policy: number
}

interface Comparison {
  /** Of the heading; default: 3. */
  readonly level?: 2 | 3
  readonly title: string
  /** `Cycle`, `Group`. */
  readonly head: string
  readonly names: { readonly beside: string; readonly policy: string }
  readonly rows: readonly CompareRow[]
}

export function compareChart({ level = 3, title, head, names, rows }: Comparison): Html {
  const most = rows.reduce((highest, { beside = 0, policy }) => Math.max(highest, beside, policy), 0)
  if (most === 0) return html`<figure class="chart">${captionOf({ title, summary: sentence(names, rows) }, level)}</figure>`
  const legend = legendList([
    { tone: 'rest', text: names.beside },
    { tone: 'main', text: names.policy },
  ])
  const columns: readonly Column<CompareRow>[] = [
    column.row(head, ({ name }) => name),
    column.amount(names.beside, ({ beside }) => beside),
    column.amount(names.policy, ({ policy }) => policy),
    column.number('Change', ({ beside, policy }) => beside !== undefined && difference(policy - beside)),
    column.measure(BAR_HEAD, ({ beside, policy }) => [beside !== undefined && meter(beside / most, 'rest'), meter(policy / most, 'main')]),
  ]
  return html`<figure class="chart">${captionOf({ title, summary: sentence(names, rows) }, level)}${legend}${barTable(title, rows, columns)}</figure>`
}

const difference = (amount: number): string => (amount > 0 ? `+${number(amount)}` : number(amount))

function sentence({ beside, policy }: Comparison['names'], rows: readonly CompareRow[]): string {
  const sum = (side: 'beside' | 'policy'): string =>
    rows.some((row) => row[side] !== undefined) ? number(rows.reduce((total, row) => total + (row[side] ?? 0), 0)) : 'not known'
  return `${policy}: ${sum('policy')}; ${beside}: ${sum('beside')}.`
}

/** Undefined until a day was read. Add-on use starts again with each billing cycle; the last day has the figure of the present. */
export function personChart({ addOn: present, use: { days, addOnSource } }: Pick<Document<'Person'>, 'addOn' | 'use'>): Chart | undefined {
  const last = days.at(-1)
  if (!last) return undefined
  return chartOf(
    days.map(({ day, addOn, cap, changed = false, grade }) => ({
      at: Date.parse(day),
      grade,
      used: day === last.day ? (present ?? addOn) : grade === 'missing' ? undefined : addOn,
      cap: cap === 'unknown' ? undefined : cap,
      change: changed ? `cap changed to ${capText(cap)}` : undefined,
    })),
    addOnSource,
  )
}

interface Day {
  /** Midnight, UTC. */
  readonly at: number
  readonly grade: DayGrade | undefined
  /** Since the cycle's start. */
  readonly used: number | undefined
  /** Undefined where it is not known. */
  readonly cap: number | 'none' | undefined
  readonly change: string | undefined
}

function chartOf(days: readonly Day[], source: AddOnSource | undefined): Chart {
  const startAt = days[0]?.at ?? 0
  const endAt = (days.at(-1)?.at ?? startAt) + DAY_MS
  const used = days.flatMap(({ at, used: value }) => (value === undefined ? [] : [{ at: at + DAY_MS, value }]))
  const caps = days.flatMap(({ at, cap }) => (typeof cap === 'number' ? [{ at, value: cap }] : []))
  const lastCap = days.at(-1)?.cap
  const capEnd: readonly Point[] = typeof lastCap === 'number' ? [{ at: endAt, value: lastCap }] : []
  const changes = days.flatMap(({ at, cap, change }) =>
    change === undefined ? [] : [{ at, value: typeof cap === 'number' ? cap : 0, text: change }],
  )
  const areCapsKnown = days.every(({ cap }) => cap !== undefined)
  return {
    id: 'person-use',
    title: 'Add-on use against the cap',
    summary: summaryOf(used.at(-1)?.value, lastCap, areCapsKnown ? changes.length : undefined),
    legend: [
      used.length > 0 && { tone: 'main', text: `add-on use in this cycle${source ? `, ${SOURCE_TEXT[source]}` : ''}` },
      caps.length > 0 && { tone: 'limit', text: 'cap in force', as: 'line' },
      changes.length > 0 && { tone: 'bad', text: 'cap changed' },
    ],
    layers: [
      used.length > 1 && { kind: 'area', tone: 'main', points: used },
      used.length === 1 && {
        kind: 'dots',
        tone: 'main',
        points: used.map((point) => ({ ...point, text: `${compact(point.value)} used` })),
      },
      caps.length > 0 && { kind: 'line', tone: 'limit', stepped: true, points: [...caps, ...capEnd] },
      { kind: 'dots', tone: 'bad', points: changes },
    ],
    heads: ['Add-on use', 'Grade', 'Cap', 'Changed'],
    slots: days.map(({ at, used: value, grade, cap, change = '' }) => ({
      fromAt: at,
      untilAt: at + DAY_MS,
      says: `${value === undefined ? 'use not known' : `${compact(value)} used`}${grade ? `, ${grade}` : ''}`,
      figures: [value, grade, cap ?? 'not known', change],
    })),
  }
}

/** `changes`: undefined where the cap is not known of every day. */
function summaryOf(used: number | undefined, cap: Day['cap'], changes: number | undefined): string {
  const use = used === undefined ? 'Use is not known' : `${compact(used)} credits used`
  const against = cap === undefined ? '' : cap === 'none' ? ', without a cap' : `, under a cap of ${compact(cap)}`
  const changed = changes === 1 ? 'changed once' : `changed ${changes} times`
  return `${use}${against}${changes === undefined ? '' : `; the cap was ${changes === 0 ? 'not changed' : changed} in this time`}.`
}
