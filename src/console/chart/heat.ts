// Where people are near their cap: a table of groups by band, each cell as strong as its share of the row. The figures stand in it.
import { type Html, html } from '../../core/escape/html.ts'
import { BANDS, type Band } from '../../core/model/events.ts'
import { BAND_TEXT, number } from '../text.ts'

export interface HeatRow {
  readonly name: string
  /** Where the name leads. */
  readonly href?: string
  /** Where one cell's people are listed. */
  readonly bandHref?: (band: Band) => string
  readonly bands: Readonly<Record<Band, number>>
}

/** Steps of strength that the style sheet knows, beside none. */
const STEPS = 5

export function heatMap(rows: readonly HeatRow[], head: string): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="People by ${head.toLowerCase()} and share of their cap used"><table class="heat">
<thead><tr><th scope="col">${head}</th>${BANDS.map((band) => html`<th scope="col" class="number">${BAND_TEXT[band]}</th>`)}</tr></thead>
<tbody>${rows.map((row) => heatRow(row))}</tbody></table></div>`
}

function heatRow({ name, href, bandHref, bands }: HeatRow): Html {
  const total = BANDS.reduce((sum, band) => sum + bands[band], 0)
  return html`<tr><th scope="row">${href === undefined ? name : html`<a href="${href}">${name}</a>`}</th>${BANDS.map((band) => {
    const count = bands[band]
    const strength = count === 0 ? 0 : Math.max(1, Math.ceil((count / total) * STEPS))
    const text = number(count)
    return html`<td class="number heat-${band} h${strength}">${count > 0 && bandHref ? html`<a href="${bandHref(band)}">${text}</a>` : text}</td>`
  })}</tr>
`
}
