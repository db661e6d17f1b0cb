// Reads the queries of a request and checks fields, functions, aliases, groups and filters by the rules of docs/service.md, Analytics; writes
// the cells of the answer. Every refusal names what is wrong and what would be valid. It begins with the text that live deployments use, where
// that is documented (docs/service.md, Errors). Knows no SQL.
import { WIRE } from '../../api/wire.generated.ts'
import type { Wire } from '../../api/wire.ts'
import { DAY_MS, HOUR_MS } from '../../core/model/units.ts'
import { type Fields, isObject, listField, Refusal, textField } from '../refusal.ts'
import type { Switches } from '../switches.ts'
import { parseTimestamp } from '../time.ts'
import {
  type AggregationFunction,
  type AnalyticsSource,
  FILTERS,
  type FieldType,
  FUNCTIONS,
  findField,
  type NamedField,
  PAIR,
  sourcesServed,
} from './fields.ts'

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/
const DATE = /^\d{4}-\d{2}-\d{2}$/
const CELL = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?: \+0000 UTC)?$/

/**
 * How values of filters are read, in the unit of the field's type, and what would be valid; any text is valid for other types. A bare date
 * means the midnight at which it begins, for hours and time stamps too (choice).
 */
const READERS: Readonly<Partial<Record<FieldType, readonly [read: (text: string) => number | undefined, write: string]>>> = {
  number: [(text) => (NUMBER.test(text) ? Number(text) : undefined), 'a number, such as 42'],
  boolean: [(text) => (text === 'true' ? 1 : text === 'false' ? 0 : undefined), 'true or false'],
  date: [(text) => divided(readDate(text), DAY_MS), 'a date, such as 2026-11-20'],
  hour: [(text) => divided(readInstant(text), HOUR_MS), 'a date or an hour, such as 2026-11-20 or 2026-11-20 17:00:00 +0000 UTC'],
  timestamp: [(text) => divided(readInstant(text), 1000), 'a date or a time, such as 2026-11-20 or 2026-11-20T17:00:00Z'],
}

const divided = (at: number | undefined, unitMs: number): number | undefined => (at === undefined ? undefined : at / unitMs)

const readDate = (text: string): number | undefined => (DATE.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined)

/** A date, a cell of an answer, or RFC 3339. */
function readInstant(text: string): number | undefined {
  const cell = CELL.exec(text)
  return readDate(text) ?? parseTimestamp(cell ? `${cell[1]}T${cell[2]}Z` : text)
}

/** The hash of a person's API key. */
export type ApiKeyOf = (person: number) => string

type CellWriter = (value: string | number | bigint, apiKeyOf: ApiKeyOf) => string

const writeDay: CellWriter = (day) => new Date(Number(day) * DAY_MS).toISOString().slice(0, 10)
const writeTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
const writeHour: CellWriter = (hour) => writeTime(Number(hour) * HOUR_MS)
const writePerson: CellWriter = (person, apiKeyOf) => apiKeyOf(Number(person))
const pairOf =
  (write: CellWriter): CellWriter =>
  (pair, apiKeyOf) =>
    `${apiKeyOf(Math.floor(Number(pair) / PAIR))} ${write(Number(pair) % PAIR, apiKeyOf)}`

const WRITERS: Readonly<Record<FieldType, CellWriter>> = {
  text: String,
  number: String,
  boolean: (value) => (Number(value) === 1 ? 'true' : 'false'),
  person: writePerson,
  'distinct users': writePerson,
  date: writeDay,
  hour: writeHour,
  timestamp: (second) => writeTime(Number(second) * 1000),
  'distinct developer days': pairOf(writeDay),
  'distinct developer hours': pairOf(writeHour),
}

/** The text of a cell; `<nil>` for a value that is not defined, such as the average of no rows. Choice. */
export const writeCell = (type: FieldType, value: string | number | bigint | null, apiKeyOf: ApiKeyOf): string =>
  value === null ? '<nil>' : WRITERS[type](value, apiKeyOf)

const UNSPECIFIED = 'QUERY_AGGREGATION_UNSPECIFIED'

export type Selection = ReturnType<typeof selectionOf>
type Group = ReturnType<typeof groupOf>
export type Filter = ReturnType<typeof filterOf>
/** A valid query. It reads rows as they are when no selection has a function and there are no groups. */
export type Query = ReturnType<typeof queryOf>

const { AnalyticsRequest, Selection } = WIRE.components.schemas
/** The most query requests in a request, and the most selections, group-bys or filters in one of them. Choice. */
const MAX_PARTS = AnalyticsRequest.properties.query_requests.maxItems
/** The longest alias, in characters. Choice. */
const MAX_ALIAS = Selection.properties.name.maxLength

/** The switches that decide which queries are valid and how answers are spelt. */
type Judging = Pick<Switches, 'names' | 'addOnRows' | 'plan'>

/** The queries of a request in their order; refuses with 400. */
export function queriesOf(fields: Fields, switches: Judging): readonly Query[] {
  const requests = objectsIn(fields, 'query_requests', '')
  if (requests.length === 0) throw new Refusal(400, 'query_requests is required')
  return requests.map((request, index) => queryOf(request, `query_requests[${index}]`, switches))
}

function queryOf(request: Fields, place: string, switches: Judging) {
  const source = sourceOf(request, place, switches)
  const selections = objectsIn(request, 'selections', place).map((one, index) =>
    selectionOf(one, source, `${place}.selections[${index}]`, switches),
  )
  const groups = objectsIn(request, 'aggregations', place).map((one, index) => groupOf(one, source, `${place}.aggregations[${index}]`))
  const filters = objectsIn(request, 'filters', place).map((one, index) => filterOf(one, source, `${place}.filters[${index}]`))
  if (selections.length + groups.length === 0) {
    throw new Refusal(400, `at least one field or aggregation is required: ${place}.selections is empty`)
  }
  requireUniform(selections, place)
  for (const selection of selections) requireValid(selection, selections, groups, place)
  requireUnique([...selections, ...groups], place)
  return { source, selections, groups, filters }
}

/** An unknown data source is read as the unspecified one (docs/service.md). */
function sourceOf(request: Fields, place: string, switches: Judging): AnalyticsSource {
  const sources = sourcesServed(switches)
  const name = textField(request, 'data_source')
  const source = sources.find((one) => one.name === name)
  if (source) return source
  const valid = sources.map((one) => one.name).join(', ')
  throw new Refusal(400, `invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED; ${place}.data_source must be one of ${valid}`)
}

function selectionOf(one: Fields, source: AnalyticsSource, place: string, { names }: Pick<Switches, 'names'>) {
  const named = fieldOf(textField(one, 'field'), source, `${place}.field`, 'select')
  const given = textField(one, 'aggregation_function') ?? UNSPECIFIED
  const fn = AGGREGATIONS.find((known) => known === given)
  if (!fn) {
    const valid = named.field.functions.join(', ')
    throw new Refusal(400, `invalid aggregation function ${shown(given)} for field ${named.name}: valid are ${valid} (${place})`)
  }
  const spelling = names === 'live' ? (named.field.liveName ?? named.name) : named.name
  const alias = textField(one, 'name') ?? `${fn.replace('QUERY_AGGREGATION_', '')}_${spelling}`.toLowerCase()
  return { ...named, fn, alias: requireShort(alias, place) }
}

/** Rule 2. Also choice: sources of totals have no groups, and fields that can only be filtered on make none. */
function groupOf(one: Fields, source: AnalyticsSource, place: string) {
  if (source.totals) throw new Refusal(400, `invalid aggregation: ${source.name} takes no group-by; leave aggregations out (${place})`)
  const named = fieldOf(textField(one, 'field'), source, `${place}.field`, 'group by')
  const alias = textField(one, 'name')
  if (alias === undefined) throw new Refusal(400, `${place}.name is required: the alias of ${named.name}`)
  return { ...named, alias: requireShort(alias, place) }
}

/** The value is in the unit of the field's type. */
function filterOf(one: Fields, source: AnalyticsSource, place: string) {
  const named = fieldOf(textField(one, 'name'), source, `${place}.name`, 'filter on')
  const given = textField(one, 'filter')
  const operation = OPERATIONS.find((known) => known === given)
  if (!operation) {
    throw new Refusal(400, `invalid filter ${shown(given ?? 'nothing')} on ${named.name}: valid are ${OPERATIONS.join(', ')} (${place})`)
  }
  const text = Object.hasOwn(one, 'value') ? one['value'] : undefined
  if (typeof text !== 'string') throw new Refusal(400, `${place}.value must be a string: what ${named.name} is compared with`)
  const [read, write] = READERS[named.field.type] ?? []
  const value = read ? read(text) : text
  if (value !== undefined) return { ...named, operation, value }
  throw new Refusal(400, `invalid filter value ${shown(text)} for ${named.field.type} field ${named.name}: write ${write} (${place})`)
}

const OPERATIONS = Object.keys(FILTERS) as readonly Wire<'Filter'>['filter'][]
const AGGREGATIONS = Object.keys(FUNCTIONS) as readonly AggregationFunction[]

type Purpose = 'select' | 'group by' | 'filter on'

/** The field with this name, if it can be used for the purpose; the refusal lists the fields that can. */
function fieldOf(name: string | undefined, source: AnalyticsSource, place: string, purpose: Purpose): NamedField {
  const serves = {
    select: (one: NamedField['field']): boolean => one.functions.length > 0,
    'group by': (one: NamedField['field']): boolean => one.groupable,
    'filter on': (one: NamedField['field']): boolean => one.filterable,
  }[purpose]
  const valid = (): string =>
    source.fields
      .filter(serves)
      .map((one) => one.name)
      .join(', ')
  if (name === undefined) throw new Refusal(400, `${place} is required: a field of ${source.name}, one of ${valid()}`)
  const named = findField(source, name)
  if (named && serves(named.field)) return named
  if (named?.field.plain)
    throw new Refusal(400, `cannot ${purpose} ${named.name}: ${purpose} ${named.field.plain.join(' and ')} instead (${place})`)
  const bounds = source.totals && purpose === 'filter on' ? '; bounds of time are start_timestamp and end_timestamp of the request' : ''
  throw new Refusal(400, `invalid field ${shown(name)}: cannot ${purpose} it in ${source.name}; valid are ${valid()}${bounds} (${place})`)
}

/** Rule 1. */
function requireUniform(selections: readonly Selection[], place: string): void {
  const without = selections.find((one) => one.fn === UNSPECIFIED)
  const having = selections.find((one) => one.fn !== UNSPECIFIED)
  if (!without || !having) return
  const message = `either all selections carry an aggregation function or none does: ${having.name} has ${having.fn}, ${without.name} has none`
  throw new Refusal(400, `${message} (${place})`)
}

/**
 * Rule 5. UNSPECIFIED is also valid on numbers and booleans when nothing is aggregated: the answer has the rows as they are
 * (docs/sandbox.md, Behaviour). With groups, a selection without a function must be a grouped field, because there is one item per group
 * (choice).
 */
function requireValid(
  { field, name, fn, offsetMs }: Selection,
  selections: readonly Selection[],
  groups: readonly Group[],
  place: string,
): void {
  const nothingAggregated = groups.length === 0 && selections.every((one) => one.fn === UNSPECIFIED)
  const rawFigure = fn === UNSPECIFIED && nothingAggregated
  if (!field.functions.includes(fn) && !rawFigure) {
    const valid = field.functions.join(', ')
    throw new Refusal(400, `invalid aggregation function for ${field.type} field ${name}: ${fn}; valid are ${valid} (${place})`)
  }
  const grouped = groups.some((one) => one.field === field && one.offsetMs === offsetMs)
  if (fn === UNSPECIFIED && groups.length > 0 && !grouped) {
    throw new Refusal(
      400,
      `field ${name} has no aggregation function and is not grouped by: use QUERY_AGGREGATION_COUNT or group by it (${place})`,
    )
  }
}

/** Rule 3; default aliases count too. */
function requireUnique(columns: readonly { readonly alias: string }[], place: string): void {
  const seen = new Set<string>()
  for (const { alias } of columns) {
    if (seen.has(alias))
      throw new Refusal(400, `duplicate field alias: ${alias}; give each selection and aggregation its own name (${place})`)
    seen.add(alias)
  }
}

function requireShort(alias: string, place: string): string {
  if (alias.length <= MAX_ALIAS) return alias
  throw new Refusal(400, `${place}.name has ${alias.length} characters: at most ${MAX_ALIAS}`)
}

/** The objects of a list; a missing list is empty. */
function objectsIn(fields: Fields, name: string, place: string): readonly Fields[] {
  const list = listField(fields, name) ?? []
  const full = place === '' ? name : `${place}.${name}`
  if (list.length > MAX_PARTS) throw new Refusal(400, `${full} has ${list.length} elements: at most ${MAX_PARTS}`)
  return list.map((one, index) => {
    if (!isObject(one)) throw new Refusal(400, `${full}[${index}] must be an object`)
    return one
  })
}

const shown = (text: string): string => text.slice(0, 200)
