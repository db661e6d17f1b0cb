// Random Analytics queries: valid ones over every source, field, function, filter and group, and invalid ones of each kind with the
// expected refusal. The generators read the field table, so that they cover a new field at once.
import fc from 'fast-check'
import type { FilterOperation, WireAggregation, WireFilter, WireQueryRequest, WireSelection } from '../../src/api/wire.ts'
import { type AnalyticsField, type AnalyticsSource, FILTERS, FUNCTIONS, sourcesServed } from '../../src/sandbox/analytics/fields.ts'

const UNSPECIFIED = 'QUERY_AGGREGATION_UNSPECIFIED'
export const OPERATIONS = Object.keys(FILTERS) as readonly FilterOperation[]
const OFFSETS = ['UTC-8', 'UTC+1', 'UTC-11', 'UTC+14', 'UTC+5:30', 'UTC-0']
/** Through aliases and values, text of a client could reach the database. */
const NASTY = ["x'; DROP TABLE people; --", '"', '`at`', '__proto__', 'constructor', 'ä\u0000ö', '?', ':a', '%']

const chosen = <T>(list: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...list)
const spelt = (field: AnalyticsField): fc.Arbitrary<string> =>
  field.name === 'date UTC-x' ? chosen(OFFSETS).map((offset) => `date ${offset}`) : fc.constant(field.name)
/** Without backslashes: JSON.parse of Node 24 confuses a key that ends in one with a key that has a quote in its place. */
const named = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replaceAll('\\', '/')),
  chosen(NASTY),
)
const aliases = fc.option(named, { nil: undefined })

/** Values for filters that occur in rows, by field name. */
export type Known = Readonly<Record<string, readonly string[]>>

/** All sources; the sandboxes of these tests serve the fifth too. */
export const SERVED = { names: 'spec', addOnRows: 'served', plan: 'enterprise' } as const
const SOURCES = sourcesServed(SERVED)
const rowSources: readonly AnalyticsSource[] = SOURCES.filter((source) => !source.totals)

export function validQuery(known: Known): fc.Arbitrary<WireQueryRequest> {
  return chosen(SOURCES).chain((source) =>
    source.totals
      ? totalsQuery(source, known)
      : fc.oneof(rowsQuery(source, known), aggregateQuery(source, known), groupQuery(source, known)),
  )
}

const totalsQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<WireQueryRequest> =>
  fc
    .tuple(
      selections(source, () => [UNSPECIFIED]),
      filters(source, known),
    )
    .map(([list, narrowed]) => query(source, list, narrowed, []))

/** Nothing aggregated: every field, numbers too. */
const rowsQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<WireQueryRequest> =>
  fc
    .tuple(
      selections(source, () => [UNSPECIFIED]),
      filters(source, known),
    )
    .map(([list, narrowed]) => query(source, list, narrowed, []))

const aggregateQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<WireQueryRequest> =>
  fc.tuple(selections(source, applicable), filters(source, known)).map(([list, narrowed]) => query(source, list, narrowed, []))

/** Functions over groups, or the grouped fields themselves. */
const groupQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<WireQueryRequest> =>
  fc.tuple(selections(source, applicable), filters(source, known), groups(source), fc.boolean()).map(([list, narrowed, by, plainly]) => {
    const plain = by.filter((one) =>
      /^(api_key|date|hour|timestamp|language|ide|version|model|metadata|\w+_(id|type|source))/.test(one.field),
    )
    return plainly && plain.length > 0
      ? query(
          source,
          plain.map(({ field }) => ({ field })),
          narrowed,
          by,
        )
      : query(source, list, narrowed, by)
  })

const applicable = (field: AnalyticsField): readonly string[] => field.functions.filter((fn) => fn !== UNSPECIFIED)

function selections(
  source: AnalyticsSource,
  functions: (field: AnalyticsField) => readonly string[],
): fc.Arbitrary<readonly WireSelection[]> {
  const one = chosen(source.fields.filter((field) => field.functions.length > 0)).chain((field) =>
    fc.tuple(spelt(field), chosen(functions(field)), aliases, fc.boolean()).map(([name, fn, alias, said]) => ({
      field: name,
      ...(fn === UNSPECIFIED && !said ? {} : { aggregation_function: fn as WireSelection['aggregation_function'] & string }),
      ...(alias === undefined ? {} : { name: alias }),
    })),
  )
  return fc.array(one, { minLength: 1, maxLength: 5 })
}

const groups = (source: AnalyticsSource): fc.Arbitrary<readonly WireAggregation[]> =>
  fc.uniqueArray(
    chosen(source.fields.filter((field) => field.groupable)).chain((field) =>
      fc.tuple(spelt(field), named).map(([name, alias]) => ({ field: name, name: alias })),
    ),
    { minLength: 1, maxLength: 3, selector: (one) => one.name },
  )

const filters = (source: AnalyticsSource, known: Known): fc.Arbitrary<readonly WireFilter[]> =>
  fc.array(
    chosen(source.fields.filter((field) => field.filterable)).chain((field) =>
      fc.tuple(spelt(field), chosen(OPERATIONS), valueFor(field, known)).map(([name, filter, value]) => ({ name, filter, value })),
    ),
    { maxLength: 3 },
  )

const days = fc.integer({ min: 0, max: 14 }).map((day) => new Date(Date.UTC(2026, 10, 8 + day)).toISOString().slice(0, 10))
const hours = fc
  .tuple(days, fc.integer({ min: 0, max: 23 }))
  .map(([day, hour]) => `${day} ${String(hour).padStart(2, '0')}:00:00 +0000 UTC`)

function valueFor(field: AnalyticsField, known: Known): fc.Arbitrary<string> {
  switch (field.type) {
    case 'boolean':
      return chosen(['true', 'false'])
    case 'number':
      return fc.oneof(fc.integer({ min: -2, max: 60 }).map(String), chosen(['0.5', '12.75', '999999999999']))
    case 'date':
      return days
    case 'hour':
      return fc.oneof(
        days,
        hours,
        days.map((day) => `${day}T13:30:00.250+02:00`),
      )
    case 'timestamp':
      return fc.oneof(days, hours, chosen(['2026-11-10T10:00:00Z', ...(known['timestamp'] ?? [])]))
    default:
      return fc.oneof(chosen(['', ...(known[field.name] ?? [])]), fc.string({ maxLength: 6 }), chosen(NASTY))
  }
}

/** Drops selections with a duplicate alias, which no valid query has. */
function query(
  source: AnalyticsSource,
  list: readonly WireSelection[],
  narrowed: readonly WireFilter[],
  by: readonly WireAggregation[],
): WireQueryRequest {
  const taken = new Set(by.map((one) => one.name))
  const kept = list.filter((one) => {
    const alias = one.name ?? `${(one.aggregation_function ?? UNSPECIFIED).replace('QUERY_AGGREGATION_', '')}_${one.field}`.toLowerCase()
    return !taken.has(alias) && taken.add(alias)
  })
  return {
    data_source: source.name,
    selections: kept.length > 0 ? kept : [{ ...(list[0] ?? { field: '' }), name: 'an alias that is never drawn' }],
    ...(narrowed.length > 0 ? { filters: narrowed } : {}),
    ...(by.length > 0 ? { aggregations: by } : {}),
  }
}

/** A request with one fault, and the expected refusal. */
export interface Fault {
  readonly name: string
  readonly query: Readonly<Record<string, unknown>>
  readonly says: readonly string[]
  /** The beginning of the refusal, where that is documented. */
  readonly stem?: string
}

type Spoil = (valid: WireQueryRequest, source: AnalyticsSource) => fc.Arbitrary<Omit<Fault, 'name'>>

const always = (fault: Omit<Fault, 'name'>): fc.Arbitrary<Omit<Fault, 'name'>> => fc.constant(fault)
const fieldNames = [
  'num_teapots',
  'Date',
  'date UTC-x',
  'date UTC+15',
  'date UTC-99',
  'dates',
  'service_key',
  '__proto__',
  'at',
  'person',
  '1',
]
const firstOf = (source: AnalyticsSource, fits: (field: AnalyticsField) => boolean): AnalyticsField => {
  const field = source.fields.find(fits)
  if (!field) throw new Error(`${source.name} has no such field`)
  return field
}
const COUNT = 'QUERY_AGGREGATION_COUNT'
const SUM = 'QUERY_AGGREGATION_SUM'

const SPOILS: Readonly<Record<string, Spoil>> = {
  'an unknown source': (valid) =>
    always({
      query: { ...valid, data_source: 'QUERY_DATA_SOURCE_TEA' },
      says: ['USER_DATA'],
      stem: 'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED',
    }),
  'no source': ({ data_source, ...valid }) => always({ query: valid, says: ['data_source'], stem: 'invalid query table:' }),
  'nothing selected': (valid) =>
    always({ query: { ...valid, selections: [], aggregations: [] }, says: ['selections'], stem: 'at least one field or aggregation' }),
  'an unknown field': (valid) =>
    chosen(fieldNames).map((field) => ({ query: { ...valid, selections: [{ field }] }, says: [field, valid.data_source] })),
  'an unknown field to group by': (valid) =>
    chosen(fieldNames).map((field) => ({ query: { ...valid, aggregations: [{ field, name: 'by' }] }, says: [field, valid.data_source] })),
  'an unknown field to filter on': (valid) =>
    chosen(fieldNames).map((name) => ({
      query: { ...valid, filters: [{ name, filter: 'QUERY_FILTER_EQUAL', value: 'x' }] },
      says: [name, valid.data_source],
    })),
  'a function that the field does not take': (valid, source) =>
    chosen(source.fields)
      .chain((field) =>
        fc.tuple(spelt(field), fc.constant(field), chosen(FUNCTIONS.filter((fn) => fn !== UNSPECIFIED && !field.functions.includes(fn)))),
      )
      .map(([name, field, fn]) => ({
        query: { data_source: valid.data_source, selections: [{ field: name, aggregation_function: fn }] },
        says: [field.type, name, fn, ...field.functions],
      })),
  'an unknown function': (valid, source) =>
    always({
      query: { ...valid, selections: [{ field: source.fields[0]?.name, aggregation_function: 'QUERY_AGGREGATION_MEDIAN' }] },
      says: ['QUERY_AGGREGATION_MEDIAN', source.fields[0]?.name ?? ''],
    }),
  'a figure without function beside a group': (valid, source) => {
    const figure = firstOf(source, (one) => one.type === 'number')
    const selections = [{ field: figure.name }]
    return always({ query: { ...valid, selections, aggregations: [{ field: 'ide', name: 'by' }] }, says: [figure.name, UNSPECIFIED, SUM] })
  },
  'a field that is neither grouped by nor aggregated': (valid) =>
    always({
      query: { ...valid, selections: [{ field: 'api_key' }], aggregations: [{ field: 'ide', name: 'by' }] },
      says: ['api_key', COUNT],
    }),
  'functions on some selections only': (valid, source) => {
    const figure = firstOf(source, (one) => one.type === 'number').name
    const mixed = [{ field: figure, aggregation_function: SUM }, { field: 'ide' }]
    return chosen([mixed, mixed.toReversed()]).map((selections) => ({
      query: { ...valid, aggregations: [], selections },
      says: ['either all', 'or none', figure, SUM, 'ide'],
    }))
  },
  'the same alias twice': (valid) =>
    fc
      .constantFrom<readonly [string, string, string]>(
        ['unspecified_ide', 'ide', 'ide'],
        ['unspecified_date', 'ide', 'date'],
        ['x', 'ide', 'date'],
      )
      .map(([alias, one, other]) => ({
        query: {
          ...valid,
          aggregations: [],
          selections: [{ field: one, name: alias }, alias === 'x' ? { field: other, name: alias } : { field: other }],
        },
        says: [alias],
        stem: 'duplicate field alias',
      })),
  'the alias of a selection for a group': (valid) =>
    always({
      query: {
        ...valid,
        selections: [{ field: 'ide', name: 'x', aggregation_function: COUNT }],
        aggregations: [{ field: 'ide', name: 'x' }],
      },
      says: ['x'],
      stem: 'duplicate field alias',
    }),
  'a group without a name': (valid) =>
    always({ query: { ...valid, aggregations: [{ field: 'ide' }] }, says: ['aggregations[0].name', 'ide'] }),
  'an unknown filter operation': (valid) =>
    chosen(['QUERY_FILTER_LIKE', 'EQUAL', '=', 7, undefined]).map((filter) => ({
      query: { ...valid, filters: [{ name: 'ide', filter, value: 'x' }] },
      says: filter === 7 ? ['filter'] : ['ide', 'QUERY_FILTER_EQUAL'],
    })),
  'a value that is no text': (valid) =>
    chosen([7, true, null, undefined, ['x'], {}]).map((value) => ({
      query: { ...valid, filters: [{ name: 'ide', filter: 'QUERY_FILTER_EQUAL', value }] },
      says: ['value', 'ide', 'string'],
    })),
  'a value of another type': (valid, source) =>
    chosen(source.fields.filter((one) => one.filterable && !['text', 'person'].includes(one.type)))
      .chain((field) =>
        fc.tuple(spelt(field), fc.constant(field), chosen(['', 'x', '1e3', '0x10', '2026-02-30', '2026-13-01', 'TRUE', 'NaN', '1 OR 1=1'])),
      )
      .map(([name, field, value]) => ({
        query: { ...valid, filters: [{ name, filter: 'QUERY_FILTER_GE', value }] },
        says: [field.type, name, value, 'write'],
      })),
  'a list that is none': (valid) =>
    chosen(['selections', 'filters', 'aggregations']).chain((list) =>
      chosen(['x', 7, {}]).map((value) => ({ query: { ...valid, [list]: value }, says: [list, 'array'] })),
    ),
  'an element that is no object': (valid) =>
    chosen(['selections', 'filters', 'aggregations']).chain((list) =>
      chosen(['x', 7, null, []]).map((value) => ({ query: { ...valid, [list]: [value] }, says: [`${list}[0]`, 'object'] })),
    ),
  'too many parts': (valid) =>
    always({ query: { ...valid, filters: Array.from({ length: 101 }, () => ({})) }, says: ['filters', '101', '100'] }),
  'an alias that is too long': (valid) =>
    always({ query: { ...valid, aggregations: [], selections: [{ field: 'ide', name: 'x'.repeat(201) }] }, says: ['201', '200'] }),
}

/** Faults of sources with rows. */
export const faultyQuery = (known: Known): fc.Arbitrary<Fault> =>
  fc
    .tuple(chosen(rowSources), chosen(Object.entries(SPOILS)))
    .chain(([source, [name, spoil]]) =>
      aggregateQuery(source, known).chain((valid) => spoil(valid, source).map((fault) => ({ name, ...fault }))),
    )
