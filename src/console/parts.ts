// The pieces of markup that all pages share: badges, tiles, boxes, links to policy lines, lines to paste. Each says in words what it says in
// colour.
import { excerptLines, type Html, html, type Value } from '../core/escape/text.ts'
import type { Band, GrantState, Mode, ScopeState } from '../core/model/events.ts'
import type { PlaceEntry, ProblemEntry } from '../daemon/http/documents/table.ts'
import { BAND_TEXT, type Cap, capText, compact, instant, number, plural, relative, url, words } from './words.ts'

/** A compact figure with all its digits in the title; nothing where there is none. */
export const figure = (amount: number | undefined): Html | undefined => {
  if (amount === undefined) return undefined
  const text = compact(amount)
  const full = number(amount)
  return text === full ? html`${full}` : html`<data value="${amount}" title="${full}">${text}</data>`
}

/** `4 h ago`, with the instant in the title; the page's script converts it to the viewer's time zone. */
export const when = (at: string | undefined, now: string): Html | false =>
  at !== undefined && html`<time datetime="${at}" title="${instant(at)}" data-relative>${relative(at, now)}</time>`

/** The instant, in UTC; the page's script converts it to the viewer's time zone. */
export const moment = (at: string): Html => html`<time datetime="${at}" title="${instant(at)}" data-instant>${instant(at)}</time>`

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
export const capCell = (cap: Cap): Value =>
  typeof cap === 'number'
    ? html`<data value="${cap}" title="${number(cap)}">${compact(cap)}</data>`
    : html`<span class="soft">${capText(cap)}</span>`

export const tile = (name: string, value: Value, note?: Value, weight?: Weight | false): Html =>
  html`<dl class="tile ${weight && `t-${weight}`}"><dt>${name}</dt><dd class="value">${value}</dd>${
    note !== undefined && note !== false && html`<dd class="note">${note}</dd>`
  }</dl>`

/** The most important figures of a page. */
export const tiles = (all: readonly (Html | false | undefined)[]): Html => html`<div class="tiles">${all}</div>`

export const facts = (rows: readonly (readonly [name: string, value: Value])[]): Html | false => {
  const known = rows.filter(([, value]) => value !== undefined && value !== false && value !== '')
  return (
    known.length > 0 && html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
  )
}

const boxOf =
  (weight: Weight) =>
  (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
    html`<div class="box ${weight}">${html(parts, ...values)}</div>`

/** A box around markup, by how much what it says needs a person. */
export const box = { good: boxOf('good'), info: boxOf('info'), warn: boxOf('warn'), bad: boxOf('bad') }

/** Shown where there is nothing yet: why, and what to do. */
export const empty = (text: Value): Html => html`<p class="soft" data-found>${text}</p>`

export const section = (title: string, content: Value, extra?: Value): Html =>
  html`<section><div class="title"><h2>${title}</h2>${extra !== undefined && html`<div class="end">${extra}</div>`}</div>${content}</section>`

/** `scope`: `team`, `group:ID` or a person. */
export const scopeLink = (workspace: string, scope: string): Html => html`<a href="${url.scope(workspace, scope)}">${scope}</a>`

/** The beginning of a hold's id, as a link to its page. */
export const holdLink = (workspace: string, id: string, word = 'hold '): Html =>
  html`<a href="${url.hold(workspace, id)}">${word}<code>${id.slice(0, 12)}</code></a>`

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
