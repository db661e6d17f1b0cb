// A table of groups by share of the cap used, where the colour of a cell is as strong as its share of the row.
import { type Html, html } from '../../core/escape/html.ts'
import { number } from '../text.ts'

interface HeatColumn {
  readonly head: string
  /** The colour of its cells. */
  readonly tone: 'cool' | 'warm' | 'hot' | 'none'
}

interface HeatRow {
  readonly name: string
  readonly href?: string
  /** People, one figure for each column. */
  readonly counts: readonly number[]
  /** The list of the people of a cell. */
  readonly cellHref?: (column: number) => string
}

/** Strengths that the style sheet has, beside none. */
const STEPS = 5

export function heatMap(head: string, columns: readonly HeatColumn[], rows: readonly HeatRow[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="People by ${head.toLowerCase()} and share of their cap used"><table class="heat">
<thead><tr><th scope="col">${head}</th>${columns.map((column) => html`<th scope="col" class="number">${column.head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => heatRow(row, columns))}</tbody></table></div>`
}

function heatRow({ name, href, counts, cellHref }: HeatRow, columns: readonly HeatColumn[]): Html {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return html`<tr><th scope="row">${href === undefined ? name : html`<a href="${href}">${name}</a>`}</th>${columns.map(
    ({ tone }, index) => {
      const count = counts[index] ?? 0
      const strength = count === 0 ? 0 : Math.max(1, Math.ceil((count / total) * STEPS))
      const text = count === 0 ? html`<span class="soft">0</span>` : number(count)
      return html`<td class="number heat-${tone} h${strength}">${count > 0 && cellHref ? html`<a href="${cellHref(index)}">${text}</a>` : text}</td>`
    },
  )}</tr>
`
}
