// A chart on a page: a drawing, a sentence that sums it up, a legend, and all figures as a table. The table serves screen readers, and the page's script
// shows its rows under the pointer.
import { type Html, html, type Value } from '../../core/escape/text.ts'
import { DAY_MS, greatest } from '../../core/model/units.ts'
import { compact, dayMonth, number } from '../words.ts'

/** Steps between figures, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10]
const WANTED_TICKS = 5

/** The top of a plot, a round figure at or above the highest one, and those from 0 up to it, in about five steps. `isCount`: in whole steps. */
function valueScale(highest: number, isCount = false) {
  if (!(highest > 0)) return { max: 1, ticks: [0, 1] }
  const rough = highest / WANTED_TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(isCount ? 1 : 0, (STEPS.find((candidate) => candidate * power >= rough) ?? 10) * power)
  const count = Math.ceil(highest / step - 1e-9)
  return { max: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) }
}

const MOST_LABELS = 7

/** The labels of a time axis: midnights in UTC, in equal steps of whole days, seven at most. */
function dayTicks(fromAt: number, untilAt: number): readonly number[] {
  const first = Math.ceil(fromAt / DAY_MS) * DAY_MS
  const days = Math.max(0, Math.floor((untilAt - first) / DAY_MS)) + 1
  const step = Math.max(1, Math.ceil(days / MOST_LABELS)) * DAY_MS
  return Array.from({ length: Math.ceil((days * DAY_MS) / step) }, (_, index) => first + index * step).filter((at) => at <= untilAt)
}

/** How far a value is from `from` to `to`, between 0 and 1. */
const shareOf = (value: number, from: number, to: number): number =>
  to > from ? Math.min(1, Math.max(0, (value - from) / (to - from))) : 0

/** A coordinate with two decimals, which is finer than any screen. */
export const short = (value: number): string => String(Math.round(value * 100) / 100)

/** Colours by meaning; the style sheet has each for both themes. */
export type Tone = 'main' | 'even' | 'limit' | 'balance' | 'good' | 'bad' | 's0' | 's1' | 's2' | 's3' | 's4' | 's5' | 's6' | 'rest'

export interface Point {
  readonly at: number
  readonly value: number
}

/** Layers are drawn in order, the first at the bottom. */
type Layer =
  | {
      readonly kind: 'line' | 'area'
      readonly tone: Tone
      readonly points: readonly Point[]
      readonly dashed?: boolean
      readonly stepped?: boolean
    }
  | { readonly kind: 'band'; readonly tone: Tone; readonly low: readonly Point[]; readonly high: readonly Point[] }
  /** Each bar fills its span of time, less a gap. */
  | { readonly kind: 'bars'; readonly bars: readonly Bar[] }
  /** A line from top to bottom, with a word. */
  | { readonly kind: 'instant'; readonly at: number; readonly tone: Tone; readonly text: string }
  | { readonly kind: 'dots'; readonly tone: Tone; readonly points: readonly (Point & { readonly text: string })[] }

/** A line at one height. */
export const level = (tone: Tone, value: number, fromAt: number, untilAt: number) =>
  ({ kind: 'line', tone, points: [fromAt, untilAt].map((at) => ({ at, value })) }) as const

export interface Bar {
  readonly fromAt: number
  readonly untilAt: number
  readonly low: number
  readonly high: number
  readonly tone: Tone
}

/** A part of the time axis that can be pointed to, and a row of the chart's table. */
interface Slot {
  readonly fromAt: number
  readonly untilAt: number
  /** Beside the day, where it is pointed to. */
  readonly says: string | undefined
  /** Of the table, in the order of its heads; unknown ones are absent. */
  readonly figures: readonly (number | string | undefined)[]
}

const WIDTH = 1000
const TOP = 18
const BOTTOM = 24
const HEIGHT = 190
/** The part of a bar's span that is free on each side. */
const BAR_GAP = 0.1

interface Frame {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
  readonly height: number
}

function highestOf(layer: Layer): number {
  if (layer.kind === 'instant') return 0
  if (layer.kind === 'bars') return greatest(layer.bars.map(({ high }) => high))
  return greatest((layer.kind === 'band' ? layer.high : layer.points).map(({ value }) => value))
}

function plot(chart: Chart): Html {
  const { title, summary, layers: all, slots, isCount, height = HEIGHT } = chart
  const { fromAt = slots[0]?.fromAt ?? 0, untilAt = slots.at(-1)?.untilAt ?? DAY_MS } = chart
  const layers = all.filter((layer) => layer !== false)
  const { max, ticks } = valueScale(greatest(layers.map(highestOf)), isCount)
  const frame: Frame = {
    x: (at) => shareOf(at, fromAt, untilAt) * WIDTH,
    y: (value) => (1 - shareOf(value, 0, max)) * height,
    height,
  }
  const instants = layers.filter((layer) => layer.kind === 'instant')
  return html`<svg class="plot" role="img" aria-label="${title}. ${summary}" width="100%" height="${TOP + height + BOTTOM}" focusable="false">
${ticks.map((tick) => grid(tick, frame))}
<svg x="0" y="${TOP}" width="100%" height="${height}" viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none">${layers.map((layer) => shape(layer, frame))}</svg>
${instants.map((one, index) => instantLine(one, index, frame))}
${layers.map((layer) => overlay(layer, frame))}
${dayTicks(fromAt, untilAt).map((at, index) => dayLabel(at, index, frame))}
<g class="slots">${slots.map((slot) => slotArea(slot, frame))}</g>
</svg>`
}

const percent = (x: number): string => `${short(x / (WIDTH / 100))}%`

/** Words near an edge extend inwards. */
const anchor = (x: number): string => (x < WIDTH * 0.05 ? 'start' : x > WIDTH * 0.95 ? 'end' : 'middle')

function grid(tick: number, { y }: Frame): Html {
  const at = TOP + y(tick)
  return html`<line class="${tick === 0 ? 'axis' : 'grid'}" x1="0" x2="100%" y1="${short(at)}" y2="${short(at)}"></line>
${tick > 0 && html`<text class="tick" x="0" dx="-7" y="${short(at + 4)}" text-anchor="end">${compact(tick)}</text>`}`
}

/** The style sheet hides every second one where there is little room. */
const dayLabel = (at: number, index: number, { x, height }: Frame): Html =>
  html`<text class="tick${index % 2 === 1 && ' odd'}" x="${percent(x(at))}" y="${TOP + height + 17}" text-anchor="${anchor(x(at))}">${dayMonth(at)}</text>`

function shape(layer: Layer, frame: Frame): Html | false {
  switch (layer.kind) {
    case 'line':
      return html`<path class="line t-${layer.tone}${layer.dashed === true && ' dashed'}" d="${pathOf(layer.points, frame, layer.stepped)}"></path>`
    case 'area':
      return html`<path class="area t-${layer.tone}" d="${areaOf(layer.points, undefined, frame)}"></path><path class="line t-${layer.tone}" d="${pathOf(layer.points, frame, layer.stepped)}"></path>`
    case 'band':
      return html`<path class="band t-${layer.tone}" d="${areaOf(layer.high, layer.low, frame)}"></path>`
    case 'bars':
      return html`${layer.bars.map((bar) => barShape(bar, frame))}`
    default:
      return false
  }
}

function barShape({ fromAt, untilAt, low, high, tone }: Bar, { x, y }: Frame): Html {
  const left = x(fromAt)
  const width = x(untilAt) - left
  return html`<rect class="bar t-${tone}" x="${short(left + width * BAR_GAP)}" width="${short(width * (1 - 2 * BAR_GAP))}" y="${short(y(high))}" height="${short(Math.max(0, y(low) - y(high)))}"></rect>`
}

function pathOf(points: readonly Point[], { x, y }: Frame, stepped = false): string {
  return points
    .map(({ at, value }, index) => {
      if (index === 0) return `M${short(x(at))} ${short(y(value))}`
      return stepped ? `H${short(x(at))}V${short(y(value))}` : `L${short(x(at))} ${short(y(value))}`
    })
    .join('')
}

/** Between two lines, or down to the axis. */
function areaOf(high: readonly Point[], low: readonly Point[] | undefined, frame: Frame): string {
  const last = high.at(-1)
  const first = high[0]
  if (!first || !last) return ''
  const floor = low ?? [
    { at: first.at, value: 0 },
    { at: last.at, value: 0 },
  ]
  return `${pathOf(high, frame)}${pathOf(floor.toReversed(), frame).replace(/^M/, 'L')}Z`
}

/** Words of several instants are on lines of their own, so that they do not overlap. */
function instantLine({ at, tone, text }: Extract<Layer, { kind: 'instant' }>, index: number, { x, height }: Frame): Html {
  const left = x(at)
  const side = left > WIDTH * 0.6 ? 'end' : 'start'
  return html`<line class="instant t-${tone}" x1="${percent(left)}" x2="${percent(left)}" y1="2" y2="${TOP + height}"></line>
<text class="word" x="${percent(left)}" dx="${side === 'end' ? -5 : 5}" y="${10 + index * 13}" text-anchor="${side}">${text}</text>`
}

function overlay(layer: Layer, { x, y }: Frame): Html | false {
  if (layer.kind !== 'dots') return false
  return html`${layer.points.map(
    ({ at, value, text }) =>
      html`<circle class="dot t-${layer.tone}" cx="${percent(x(at))}" cy="${short(TOP + y(value))}" r="4"><title>${text}</title></circle>`,
  )}`
}

/** Catches the pointer; without scripts the browser shows its title. */
const slotArea = ({ fromAt, untilAt, says }: Slot, { x, height }: Frame): Html => {
  const left = x(fromAt)
  const text = says === undefined ? dayMonth(fromAt) : `${dayMonth(fromAt)}: ${says}`
  return html`<rect x="${percent(left)}" width="${percent(x(untilAt) - left)}" y="0" height="${TOP + height + BOTTOM}"><title>${text}</title></rect>`
}

interface LegendEntry {
  readonly tone: Tone
  readonly text: string
  /** Default: a filled square. */
  readonly as?: 'line' | 'dashed'
}

export interface Chart {
  readonly id: string
  readonly title: string
  /** What the drawing shows, in one sentence. */
  readonly summary: string
  readonly legend: readonly (LegendEntry | false)[]
  readonly layers: readonly (Layer | false)[]
  /** Of the time axis; default: those of the slots. */
  readonly fromAt?: number
  readonly untilAt?: number
  /** Its figures are whole numbers. */
  readonly isCount?: boolean
  /** Of the drawing alone, in pixels. */
  readonly height?: number
  /** Of the table, beside the day. */
  readonly heads: readonly string[]
  readonly slots: readonly Slot[]
  /** It has no figures: only the sentence is shown. */
  readonly isEmpty?: boolean
}

export const chartFigure = (chart: Chart, level: 2 | 3 = 2): Html => html`<figure class="chart" id="${chart.id}">
${captionOf(chart, level)}
${
  chart.isEmpty !== true &&
  html`${legendList(chart.legend.filter((entry) => entry !== false))}
<div class="drawing">${plot(chart)}</div>
<details><summary>Figures of this chart</summary>${chartTable(chart.heads, chart.slots)}</details>
`
}</figure>`

export const captionOf = ({ title, summary }: Pick<Chart, 'title' | 'summary'>, level: 2 | 3): Html =>
  html`<figcaption>${level === 2 ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`}<p class="soft">${summary}</p></figcaption>`

export const legendList = (entries: readonly LegendEntry[]): Html | false =>
  entries.length > 1 &&
  html`<ul class="legend">${entries.map(
    ({ tone, text, as }) =>
      html`<li><svg class="key" width="16" height="10" aria-hidden="true">${
        as === undefined
          ? html`<rect class="bar t-${tone}" width="12" height="10" rx="2"></rect>`
          : html`<line class="line t-${tone}${as === 'dashed' && ' dashed'}" x1="0" x2="16" y1="5" y2="5"></line>`
      }</svg>${text}</li>`,
  )}</ul>`

const cell = (value: number | string | undefined): string => (value === undefined ? '–' : typeof value === 'number' ? number(value) : value)

const chartTable = (heads: readonly string[], slots: readonly Slot[]): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="Figures"><table class="compact">
<thead><tr><th scope="col">Day</th>${heads.map((head) => html`<th scope="col" class="number">${head}</th>`)}</tr></thead>
<tbody>${slots.map(
    ({ fromAt, figures }) =>
      html`<tr><th scope="row">${dayMonth(fromAt)}</th>${figures.map((value): Value => html`<td class="number">${cell(value)}</td>`)}</tr>
`,
  )}</tbody></table></div>`
