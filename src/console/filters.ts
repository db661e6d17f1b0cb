// Search, filters and the order of a list, as forms and links that work without scripts: the whole question is in the address. Each control has an id,
// by which the page's script finds it again in the next page.
import { type Html, html } from '../core/escape/html.ts'
import type { Query } from '../daemon/http/documents/documents.ts'
import { withQuery } from './links.ts'

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

interface Sorting {
  /** The value of `sort`. */
  readonly by: string
  /** Its default order. */
  readonly usually: 'asc' | 'desc'
  /** The list is sorted by it by default. */
  readonly isDefault?: boolean
}

/** The head of a column, as a link that sorts by it; a second click reverses the order. */
export function sortHead(text: string, { by, usually, isDefault = false }: Sorting, path: string, query: Query): Html {
  const isSorted = query['sort'] === by || ((query['sort'] ?? '') === '' && isDefault)
  const order = query['order'] === 'asc' || query['order'] === 'desc' ? query['order'] : usually
  const { page: _, ...rest } = query
  const href = withQuery(path, { ...rest, sort: by, order: isSorted ? (order === 'asc' ? 'desc' : 'asc') : undefined })
  return html`<a id="by-${by}" href="${href}">${text}${isSorted && html` <span aria-hidden="true">${order === 'asc' ? '▲' : '▼'}</span><span class="hidden">, sorted ${order === 'asc' ? 'upwards' : 'downwards'}</span>`}</a>`
}
