// The pieces of pages: badges, tiles, boxes, links to policy lines, lines to paste, pagers, tables. Each says in words what it says in colour.
import { excerptLines } from '../core/escape/excerpt.ts'
import { type Html, html, type Value } from '../core/escape/html.ts'
import type { Band, GrantState, Mode, ScopeState } from '../core/model/events.ts'
import type { PlaceEntry, ProblemEntry } from '../daemon/http/documents/types.ts'
import { holdUrl, scopeUrl, withQuery } from './links.ts'
import { BAND_TEXT, capText, compact, number, plural, words } from './text.ts'

/** How much it needs a person. */
export type Weight = 'good' | 'info' | 'warn' | 'bad'

const SIGNS: Readonly<Record<Weight, string>> = { good: '✓', info: 'i', warn: '!', bad: '✕' }

export const SEVERITY_WEIGHT = { error: 'bad', warn: 'warn', info: 'info' } as const

export const badge = (text: string, weight?: Weight): Html =>
  html`<span class="badge ${weight}">${weight && html`<span aria-hidden="true">${SIGNS[weight]}</span>`}${text}</span>`

/** The mode, where it is not `enforce` and the verdict does not say it. */
export const modeBadge = (mode: Mode, verdict: string): Html | false => mode !== 'enforce' && mode !== verdict && badge(mode, 'warn')

const STATE_WEIGHT: Readonly<Partial<Record<ScopeState | GrantState, Weight>>> = {
  in_sync: 'good',
  active: 'good',
  drifted: 'warn',
  held: 'warn',
  unknown: 'warn',
  expiring: 'warn',
  rejected: 'bad',
  contested: 'bad',
}

/** The state of a scope or of a grant. */
export const stateBadge = (state: ScopeState | GrantState): Html => badge(words(state), STATE_WEIGHT[state])

const BAND_WEIGHT: Readonly<Partial<Record<Band, Weight>>> = { at_cap: 'bad', '95_to_100': 'warn', '85_to_95': 'warn' }

export const bandBadge = (band: Band): Html => badge(BAND_TEXT[band], BAND_WEIGHT[band])

/** A cap in a cell; an abbreviated one has all its digits in the title. */
export const capCell = (cap: number | 'none' | 'unknown' | undefined): Value =>
  typeof cap === 'number'
    ? html`<data value="${cap}" title="${number(cap)}">${compact(cap)}</data>`
    : html`<span class="soft">${capText(cap)}</span>`

export interface Tile {
  readonly name: string
  readonly value: Value
  readonly note?: Value
  readonly weight?: Weight
}

/** The most important figures of a page. */
export const tiles = (all: readonly (Tile | false | undefined)[]): Html =>
  html`<div class="tiles">${all.map(
    (tile) =>
      tile &&
      html`<dl class="tile ${tile.weight && `t-${tile.weight}`}"><dt>${tile.name}</dt><dd class="value">${tile.value}</dd>${
        tile.note !== undefined && tile.note !== false && html`<dd class="note">${tile.note}</dd>`
      }</dl>`,
  )}</div>`

export const facts = (rows: readonly (readonly [name: string, value: Value])[]): Html | false => {
  const known = rows.filter(([, value]) => value !== undefined && value !== false && value !== '')
  return (
    known.length > 0 && html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
  )
}

export const box = (weight: Weight, content: Value): Html => html`<div class="box ${weight}">${content}</div>`

/** Shown where there is nothing yet: why, and what to do. */
export const empty = (text: Value): Html => html`<p class="soft" data-found>${text}</p>`

export const section = (title: string, content: Value, extra?: Value): Html =>
  html`<section><div class="title"><h2>${title}</h2>${extra !== undefined && html`<div class="end">${extra}</div>`}</div>${content}</section>`

/** `scope`: `team`, `group:ID` or a person. */
export const scopeLink = (workspace: string, scope: string): Html => html`<a href="${scopeUrl(workspace, scope)}">${scope}</a>`

/** The beginning of a hold's id, as a link to its page. */
export const holdLink = (workspace: string, id: string, word = 'hold '): Html =>
  html`<a href="${holdUrl(workspace, id)}">${word}<code>${id.slice(0, 12)}</code></a>`

/** The colour of a band, for a legend. */
export const bandKey = (band: Band): Html =>
  html`<svg class="key" width="12" height="10" aria-hidden="true"><rect class="band-${band}" width="12" height="10" rx="2"></rect></svg>`

/** A line of a policy file, as a link where its address is known. */
export const sourceLink = (place: PlaceEntry | undefined): Html | false => {
  if (place === undefined) return false
  const text = html`<code>${place.file}:${place.line}</code>`
  return place.url !== undefined && /^https?:\/\//.test(place.url) ? html`<a href="${place.url}" rel="noreferrer">${text}</a>` : text
}

/** A line to paste; the page's script shows the button that copies it. */
export const paste = (text: string, name: string): Html =>
  html`<div class="paste"><pre tabindex="0" role="group" aria-label="${name}">${text}</pre><button type="button" data-copy hidden>Copy</button></div>`

/** With the same carets as on the terminal. */
function problemBox({ severity, code, message, at, sourceLine, sourceColumn = 1, length = 1, hint }: ProblemEntry): Html {
  const excerpt = sourceLine !== undefined && at !== undefined && excerptLines({ sourceLine, sourceColumn, column: at.column, length })
  return html`<div class="box ${severity === 'error' ? 'bad' : 'warn'}">
<p><strong>${severity}</strong> ${at && html`<code>${at.file}:${at.line}:${at.column}</code> `}${message} <code class="small">${code}</code></p>
${
  excerpt &&
  html`<pre tabindex="0" role="group" aria-label="The line">${excerpt[0]}
<mark>${excerpt[1]}</mark></pre>`
}${hint !== undefined && html`<p>hint: ${hint}</p>`}</div>`
}

export const problemList = (problems: readonly ProblemEntry[], omitted: number): Value => [
  problems.map(problemBox),
  omitted > 0 && html`<p class="soft">${plural(omitted, 'more problem')}; <code>capkeeper validate</code> lists all.</p>`,
]

interface Paged {
  readonly total: number
  readonly page: number
  readonly limit: number
}

/** The present page of a list, and links to the ones before and after. */
export function pager(
  { total, page, limit }: Paged,
  noun: readonly [one: string, many: string],
  path: string,
  query: Readonly<Record<string, string>>,
): Html {
  const last = Math.max(1, Math.ceil(total / limit))
  const link = (to: number, text: string): Html => html`<a class="button" href="${withQuery(path, { ...query, page: to })}">${text}</a>`
  const from = Math.min(total, (page - 1) * limit + 1)
  const until = Math.min(total, page * limit)
  return html`<nav class="pages" aria-label="Pages of the list">${page > 1 && link(page - 1, 'Previous')}
<span class="soft" data-found>${last > 1 ? `${number(from)} to ${number(until)} of ` : ''}${plural(total, ...noun)}</span>${page < last && link(page + 1, 'Next')}</nav>`
}

export interface Column<Row> {
  readonly head: Value
  readonly cell: (row: Row) => Value
  /** `fixed`: does not wrap; `measure`: a bar. */
  readonly kind?: 'number' | 'name' | 'text' | 'fixed' | 'measure'
  /** Screen readers read it as the name of its row. */
  readonly isName?: boolean
}

/** A table that scrolls sideways where it is too wide. `compact`: no wider than its contents; `amounts`: with bars. */
export function table<Row>(label: string, columns: readonly Column<Row>[], rows: readonly Row[], look?: 'compact' | 'amounts'): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table${look !== undefined && html` class="${look}"`}><thead><tr>${columns.map(
    ({ head, kind }) => html`<th scope="col"${kind === 'number' && html` class="number"`}>${head}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${columns.map(({ cell, kind, isName }) =>
      isName === true
        ? html`<th scope="row" class="${kind ?? 'name'}">${cell(row)}</th>`
        : html`<td${kind !== undefined && html` class="${kind}"`}>${cell(row)}</td>`,
    )}</tr>
`,
  )}</tbody></table></div>`
}
