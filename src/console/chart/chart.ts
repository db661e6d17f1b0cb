// A chart on a page: a drawing, a sentence that sums it up, a legend, and all figures as a table. The table serves screen readers, and the page's script
// shows its rows under the pointer.
import { type Html, html, type Value } from '../../core/escape/html.ts'
import { number } from '../text.ts'
import { type Plot, plot, type Tone } from './plot.ts'

export interface LegendEntry {
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
  readonly legend: readonly LegendEntry[]
  readonly plot: Plot
  readonly table: ChartTable
  /** It has no figures: only the sentence is shown. */
  readonly isEmpty?: boolean
}

/** One row for each slot of the plot. */
interface ChartTable {
  readonly heads: readonly string[]
  /** The first cell names the row; unknown figures are absent. */
  readonly rows: readonly (readonly [name: string, ...figures: readonly (number | string | undefined)[]])[]
}

export const chartFigure = (
  { id, title, summary, legend, plot: drawing, table, isEmpty = false }: Chart,
  level: 2 | 3 = 2,
): Html => html`<figure class="chart" id="${id}">
<figcaption>${level === 2 ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`}<p class="soft">${summary}</p></figcaption>
${!isEmpty && drawn(legend, drawing, `${title}. ${summary}`, table)}</figure>`

const drawn = (legend: Chart['legend'], drawing: Plot, words: string, table: ChartTable): Html => html`${legendList(legend)}
<div class="drawing">${plot(drawing, words)}</div>
<details><summary>Figures of this chart</summary>${chartTable(table)}</details>
`

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

const chartTable = ({
  heads,
  rows,
}: ChartTable): Html => html`<div class="scroll" tabindex="0" role="group" aria-label="Figures"><table class="compact">
<thead><tr>${heads.map((head, index) => html`<th scope="col"${index > 0 && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody>${rows.map(
  ([
    name,
    ...figures
  ]) => html`<tr><th scope="row">${name}</th>${figures.map((value): Value => html`<td class="number">${cell(value)}</td>`)}</tr>
`,
)}</tbody></table></div>`
