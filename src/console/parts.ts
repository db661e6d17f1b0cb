// What all pages share: the addresses of pages, figures and instants in words, and the pieces of markup (badges, tiles, boxes, links to policy
// lines, lines to paste, pagers, tables). Each says in words what it says in colour.

import { type Html, html, type Value } from '../core/escape/formats.ts'
import { excerptLines } from '../core/escape/terminal.ts'
import type { Band, GrantState, Mode, ScopeState } from '../core/model/events.ts'
import type { Query } from '../daemon/http/documents/documents.ts'
import type { PersonListDocument, PlaceEntry, ProblemEntry } from '../daemon/http/documents/types.ts'

/** Absent and empty parameters are left out. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

const part = encodeURIComponent

/** The pages of a workspace, in the order of the navigation. */
export const SECTIONS = ['groups', 'people', 'changes', 'holds', 'policies', 'simulate', 'health'] as const
/** Those that also exist for readers who see only some people. */
export const PART_SECTIONS = ['groups', 'people'] as const
export type Section = (typeof SECTIONS)[number]

export const OVERVIEW = '/'
export const workspaceUrl = (workspace: string): string => `/workspaces/${part(workspace)}`
export const sectionUrl = (workspace: string, section: Section): string => `${workspaceUrl(workspace)}/${section}`
export const groupUrl = (workspace: string, id: string): string => `${sectionUrl(workspace, 'groups')}/${part(id)}`
const personUrl = (workspace: string, person: string): string => `${sectionUrl(workspace, 'people')}/${part(person)}`
export const holdUrl = (workspace: string, id: string): string => `${sectionUrl(workspace, 'holds')}/${part(id)}`

/** `at`: an instant at which it wrote, which is needed to find a plan of long ago. */
export const planUrl = (workspace: string, id: string, at?: string): string =>
  withQuery(`${workspaceUrl(workspace)}/plans/${part(id)}`, { at })

/** Where a scope is explained: `team`, `group:ID` or a person. */
export function scopeUrl(workspace: string, scope: string): string {
  if (scope === 'team') return workspaceUrl(workspace)
  return scope.startsWith('group:') ? groupUrl(workspace, scope.slice('group:'.length)) : personUrl(workspace, scope)
}

export type Filter =
  | { readonly kind: 'search'; readonly name: string; readonly label: string }
  | {
      readonly kind: 'choice'
      readonly name: string
      readonly label: string
      readonly options: readonly (readonly [value: string, text: string])[]
    }

/** One field for each filter. The order of the list is kept; the page starts at 1. */
export function filterForm(path: string, filters: readonly Filter[], query: Query): Html {
  const names = new Set(filters.map(({ name }) => name))
  const kept = Object.entries(query).filter(([name]) => !names.has(name) && name !== 'page' && name !== 'after')
  const isFiltered = filters.some(({ name }) => (query[name] ?? '') !== '')
  return html`<form class="filters" method="get" action="${path}" role="search">${filters.map((filter) => field(filter, query[filter.name] ?? ''))}
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button type="submit" id="ask">Show</button>${
    isFiltered && html`<a class="button" href="${path}">Show all</a>`
  }</form>`
}

function field(filter: Filter, value: string): Html {
  const { name, label } = filter
  if (filter.kind === 'search')
    return html`<label class="grow">${label}<input type="search" id="ask-${name}" name="${name}" value="${value}" autocomplete="off"></label>`
  return html`<label>${label}<select id="ask-${name}" name="${name}"><option value="">all</option>${filter.options.map(
    ([option, text]) => html`<option value="${option}"${option === value && html` selected`}>${text}</option>`,
  )}</select></label>`
}

/** Heads of columns as links that sort by them; a second click reverses the order. `usually`: the default order of the value of `sort`. */
export const sorter =
  (path: string, query: Query) =>
  (text: string, by: string, usually: 'asc' | 'desc' = 'desc', isDefault = false): Html => {
    const isSorted = query['sort'] === by || ((query['sort'] ?? '') === '' && isDefault)
    const order = query['order'] === 'asc' || query['order'] === 'desc' ? query['order'] : usually
    const { page: _, ...rest } = query
    const href = withQuery(path, { ...rest, sort: by, order: isSorted ? (order === 'asc' ? 'desc' : 'asc') : undefined })
    return html`<a id="by-${by}" href="${href}">${text}${isSorted && html` <span aria-hidden="true">${order === 'asc' ? '▲' : '▼'}</span><span class="hidden">, sorted ${order === 'asc' ? 'upwards' : 'downwards'}</span>`}</a>`
  }

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

export const number = (amount: number): string => NUMBER.format(amount)

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** In full below 10,000, without fractions from 100 on; then with three digits: `12.5`, `9,950`, `12.3K`, `1.25M`. */
export function compact(amount: number): string {
  const size = Math.abs(amount)
  if (size < 100) return number(amount)
  return size < 9_999.5 ? number(Math.round(amount)) : COMPACT.format(amount)
}

/** A compact figure with all its digits in the title; nothing where there is none. */
export const figure = (amount: number | undefined): Html | undefined => {
  if (amount === undefined) return undefined
  const text = compact(amount)
  const full = number(amount)
  return text === full ? html`${full}` : html`<data value="${amount}" title="${full}">${text}</data>`
}

/** `0.183` as `18 %`; a positive share is never written as 0 %. */
export const percent = (share: number): string => {
  const whole = Math.round(share * 100)
  return whole === 0 && share > 0 ? 'under 1 %' : `${number(whole)} %`
}

/** "1 scope", "2,000 scopes". */
export const plural = (amount: number, noun: string, many = `${noun}s`): string => `${number(amount)} ${amount === 1 ? noun : many}`

/** Scopes whose cap is known to differ from policy, those that a guard holds included. */
export const scopesOff = ({ drifted, held, contested }: Readonly<Record<'drifted' | 'held' | 'contested', number>>): number =>
  drifted + held + contested

export function capText(cap: number | 'none' | 'unknown' | undefined): string {
  if (cap === undefined) return 'not declared'
  return typeof cap === 'number' ? number(cap) : cap
}

/** `2026-11-20 12:00 UTC`. */
export const instant = (rfc3339: string): string => `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 16)} UTC`

/** `20 Nov 2026`, in UTC. */
export const day = (rfc3339: string): string => DAY.format(Date.parse(rfc3339))

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

const DAY_MONTH = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `20 Nov`, in UTC. */
export const dayMonth = (at: number): string => DAY_MONTH.format(at)

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** The distance between two instants in its largest one or two units: `4 h 5 min`, `12 s`. */
export function span(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
  const first = UNITS.findIndex(([size]) => seconds >= size)
  if (first < 0) return '0 s'
  const parts: string[] = []
  let rest = seconds
  for (const [size, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    rest -= count * size
  }
  return parts.join(' ')
}

/** `4 h ago` or `in 3 d`, in its largest unit. */
function relative(at: string, now: string): string {
  const [nearest] = span(at < now ? at : now, at < now ? now : at).split(/(?<=[a-z]) /)
  return at <= now ? `${nearest} ago` : `in ${nearest}`
}

/** `4 h ago`, with the instant in the title; the page's script converts it to the viewer's time zone. */
export const when = (at: string | undefined, now: string): Html | false =>
  at !== undefined && html`<time datetime="${at}" title="${instant(at)}" data-relative>${relative(at, now)}</time>`

/** The instant, in UTC; the page's script converts it to the viewer's time zone. */
export const moment = (at: string): Html => html`<time datetime="${at}" title="${instant(at)}" data-instant>${instant(at)}</time>`

/** `in_sync` as `in sync`. */
export const words = (name: string): string => name.replaceAll('_', ' ')

export const BAND_TEXT = {
  uncapped: 'no cap',
  under_50: 'under 50 %',
  '50_to_85': '50 to 85 %',
  '85_to_95': '85 to 95 %',
  '95_to_100': '95 to 100 %',
  at_cap: 'at the cap',
} as const

/** A hold's message without the ways to release it, which the page of the hold has. */
export const withoutWays = (message: string, workspace: string): string => {
  const [counted = message] = message.split('; approve hold ', 1)
  return counted.startsWith(`${workspace}: `) ? counted.slice(workspace.length + 2) : counted
}

/** `5 min`, `1 h 30 min`. */
export const duration = (seconds: number): string => span(new Date(0).toISOString(), new Date(seconds * 1000).toISOString())

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

export const box = (weight: Weight, content: Value): Html => html`<div class="box ${weight}">${content}</div>`

/** Shown where there is nothing yet: why, and what to do. */
export const empty = (text: Value): Html => html`<p class="soft" data-found>${text}</p>`

export const section = (title: string, content: Value, extra?: Value): Html =>
  html`<section><div class="title"><h2>${title}</h2>${extra !== undefined && html`<div class="end">${extra}</div>`}</div>${content}</section>`

/** Below a list that leaves some out. */
export const omitted = (count: number): Html | false =>
  count > 0 && html`<p class="soft">${number(count)} more ${count === 1 ? 'is' : 'are'} not listed.</p>`

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

/** The present page of a list, and links to the ones before and after. */
export function pager(
  { total, page, limit }: Pick<PersonListDocument, 'total' | 'page' | 'limit'>,
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
  readonly kind?: 'number' | 'name' | 'text' | 'fixed' | 'measure'
  readonly isName: boolean
}

const columnOf =
  (kind?: Column<unknown>['kind'], isName = false) =>
  <Row>(head: Value, cell: (row: Row) => Value): Column<Row> => ({ head, cell, kind, isName })

/** Columns of tables. */
export const column = {
  /** Screen readers read it as the name of its row. */
  row: columnOf(undefined, true),
  fixedRow: columnOf('fixed', true),
  /** It does not wrap. */
  fixed: columnOf('fixed'),
  /** A bar. */
  measure: columnOf('measure'),
  number: columnOf('number'),
  name: columnOf('name'),
  text: columnOf('text'),
  plain: columnOf(),
}

/** A table that scrolls sideways where it is too wide. `compact`: no wider than its contents; `amounts`: with bars. */
export function table<Row>(label: string, rows: readonly Row[], columns: readonly Column<Row>[], look?: 'compact' | 'amounts'): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table${look !== undefined && html` class="${look}"`}><thead><tr>${columns.map(
    ({ head, kind }) => html`<th scope="col"${kind === 'number' && html` class="number"`}>${head}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (row) => html`<tr>${columns.map(({ cell, kind, isName }) =>
      isName
        ? html`<th scope="row" class="${kind ?? 'name'}">${cell(row)}</th>`
        : html`<td${kind !== undefined && html` class="${kind}"`}>${cell(row)}</td>`,
    )}</tr>
`,
  )}</tbody></table></div>`
}

/** A section that is one table; nothing without rows. */
export const listing = <Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html | false =>
  rows.length > 0 && section(title, table(title, rows, columns))
