// Lists of pages: tables with their columns, what is said below them, forms that filter them, heads that sort them, and pagers.

import { type Html, html, type Value } from '../core/escape/text.ts'
import type { Query } from '../daemon/http/documents/documents.ts'
import type { Document, PlaceEntry } from '../daemon/http/documents/table.ts'
import { capCell, empty, figure, scopeLink, section, sourceLink, when } from './parts.ts'
import { type Cap, number, plural, withQuery } from './words.ts'

export interface Filter {
  readonly name: string
  readonly label: string
  /** Values, or each with its words; absent: a text to search for. */
  readonly options?: readonly (string | readonly [value: string, text: string])[]
}

/** One field for each filter. The order of the list is kept; the page starts at 1. */
export function filterForm(path: string, query: Query, filters: readonly Filter[]): Html {
  const names = new Set(filters.map(({ name }) => name))
  const kept = Object.entries(query).filter(([name]) => !names.has(name) && name !== 'page' && name !== 'after')
  const isFiltered = filters.some(({ name }) => (query[name] ?? '') !== '')
  return html`<form class="filters" method="get" action="${path}" role="search">${filters.map((filter) => field(filter, query[filter.name] ?? ''))}
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button type="submit" id="ask">Show</button>${
    isFiltered && html`<a class="button" href="${path}">Show all</a>`
  }</form>`
}

function field({ name, label, options }: Filter, value: string): Html {
  if (!options)
    return html`<label class="grow">${label}<input type="search" id="ask-${name}" name="${name}" value="${value}" autocomplete="off"></label>`
  return html`<label>${label}<select id="ask-${name}" name="${name}"><option value="">all</option>${options
    .map((option) => (typeof option === 'string' ? [option, option] : option))
    .map(([option, text]) => html`<option value="${option}"${option === value && html` selected`}>${text}</option>`)}</select></label>`
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

/** Below a list whose rest is elsewhere: "3 more scopes." */
export const moreOf = (count: number, noun: string, many?: string): Html | false =>
  count > 0 && html`<p class="soft">${plural(count, `more ${noun}`, many && `more ${many}`)}.</p>`

/** The present page of a list, and links to the ones before and after. A list may have become shorter than the page that is asked for. */
export function pager(
  { total, page, limit }: Pick<Document<'PersonList'>, 'total' | 'page' | 'limit'>,
  noun: readonly [one: string, many: string],
  path: string,
  query: Readonly<Record<string, string>>,
): Html {
  const last = Math.max(1, Math.ceil(total / limit))
  const link = (to: number, text: string): Html => html`<a class="button" href="${withQuery(path, { ...query, page: to })}">${text}</a>`
  const span = `${number((page - 1) * limit + 1)} to ${number(Math.min(total, page * limit))} of `
  return html`<nav class="pages" aria-label="Pages of the list">${page > 1 && link(Math.min(page - 1, last), 'Previous')}
<span class="soft" data-found>${page > last ? 'past the end of ' : last > 1 ? span : ''}${plural(total, ...noun)}</span>${page < last && link(page + 1, 'Next')}</nav>`
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

/** Columns of tables: by the look of their cells, then by what is in them. */
const looks = {
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

export const column = {
  ...looks,
  /** A scope, as a link to its page; it names the row. */
  scope: <Row>(head: Value, workspace: string, scope: (row: Row) => string) =>
    looks.row<Row>(head, (row) => scopeLink(workspace, scope(row))),
  cap: <Row>(head: Value, cap: (row: Row) => Cap) => looks.number<Row>(head, (row) => capCell(cap(row))),
  /** Credits or days, in short. */
  amount: <Row>(head: Value, amount: (row: Row) => number | undefined) => looks.number<Row>(head, (row) => figure(amount(row))),
  /** A number in full. */
  count: <Row>(head: Value, count: (row: Row) => number | undefined) =>
    looks.number<Row>(head, (row) => {
      const one = count(row)
      return one !== undefined && number(one)
    }),
  when: <Row>(head: Value, now: string, at: (row: Row) => string | undefined) => looks.fixed<Row>(head, (row) => when(at(row), now)),
  /** What a grant gives: a cap, or credits beside one. */
  grant: looks.number<{ readonly cap?: number; readonly add?: number }>('Cap', ({ cap, add }) =>
    cap !== undefined ? figure(cap) : add !== undefined && `+${number(add)}`,
  ),
  fromTo: [
    looks.number<{ readonly from: Cap }>('From', ({ from }) => capCell(from)),
    looks.number<{ readonly to: Cap }>('To', ({ to }) => capCell(to)),
  ],
  /** The line of a policy file. */
  declaredAt: looks.fixed<{ readonly source?: PlaceEntry }>('Declared at', ({ source }) => sourceLink(source)),
}

/** A table that scrolls sideways where it is too wide. */
const tableWith =
  (look?: 'compact' | 'amounts') =>
  <Row>(label: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html =>
    html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table${look !== undefined && html` class="${look}"`}><thead><tr>${columns.map(
      ({ head, kind }) => html`<th scope="col"${kind === 'number' && html` class="number"`}>${head}</th>`,
    )}</tr></thead><tbody>${rows.map(
      (row) => html`<tr>${columns.map(({ cell, kind, isName }) =>
        isName
          ? html`<th scope="row" class="${kind ?? 'name'}">${cell(row)}</th>`
          : html`<td${kind !== undefined && html` class="${kind}"`}>${cell(row)}</td>`,
      )}</tr>
`,
    )}</tbody></table></div>`

export const table = tableWith()
/** No wider than its contents. */
export const compactTable = tableWith('compact')
/** With bars. */
export const barTable = tableWith('amounts')

/** A section that is one table; nothing without rows. */
export const listing = <Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html | false =>
  rows.length > 0 && listSection(title, rows, { columns })

interface ListOf<Row> {
  readonly columns: readonly Column<Row>[]
  /** Why there are no rows; absent: then there is no section. */
  readonly none?: string | Html
  /** Of the table; default: the title. */
  readonly label?: string
  /** Below the table. */
  readonly more?: Value
  /** Beside the title. */
  readonly extra?: Value
}

/** A section that is one table, with what is said beside it. */
export function listSection<Row>(title: string, rows: readonly Row[], list: ListOf<Row>): Html | false {
  const { columns, none, label = title, more, extra } = list
  if (rows.length === 0) return none !== undefined && section(title, typeof none === 'string' ? empty(none) : none, extra)
  return section(title, [table(label, rows, columns), more], extra)
}
