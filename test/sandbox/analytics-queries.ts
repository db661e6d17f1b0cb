// Random Analytics queries: valid ones over every source, field, function, filter and group. The generators read the field table, so that they cover a new field at once.
import fc from 'fast-check'
import type { Wire } from '../../src/api/wire.ts'
import { type AnalyticsField, type AnalyticsSource, FILTERS, sourcesServed } from '../../src/sandbox/analytics/fields.ts'

const UNSPECIFIED = 'QUERY_AGGREGATION_UNSPECIFIED'
export const OPERATIONS = Object.keys(FILTERS) as readonly Wire<'Filter'>['filter'][]
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

export function validQuery(known: Known): fc.Arbitrary<Wire<'Query'>> {
  return chosen(SOURCES).chain((source) =>
    source.totals
      ? totalsQuery(source, known)
      : fc.oneof(rowsQuery(source, known), aggregateQuery(source, known), groupQuery(source, known)),
  )
}

const totalsQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<Wire<'Query'>> =>
  fc
    .tuple(
      selections(source, () => [UNSPECIFIED]),
      filters(source, known),
    )
    .map(([list, narrowed]) => query(source, list, narrowed, []))

/** Nothing aggregated: every field, numbers too. */
const rowsQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<Wire<'Query'>> =>
  fc
    .tuple(
      selections(source, () => [UNSPECIFIED]),
      filters(source, known),
    )
    .map(([list, narrowed]) => query(source, list, narrowed, []))

const aggregateQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<Wire<'Query'>> =>
  fc.tuple(selections(source, applicable), filters(source, known)).map(([list, narrowed]) => query(source, list, narrowed, []))

/** Functions over groups, or the grouped fields themselves. */
const groupQuery = (source: AnalyticsSource, known: Known): fc.Arbitrary<Wire<'Query'>> =>
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
): fc.Arbitrary<readonly Wire<'Selection'>[]> {
  const one = chosen(source.fields.filter((field) => field.functions.length > 0)).chain((field) =>
    fc.tuple(spelt(field), chosen(functions(field)), aliases, fc.boolean()).map(([name, fn, alias, said]) => ({
      field: name,
      ...(fn === UNSPECIFIED && !said ? {} : { aggregation_function: fn as Wire<'Selection'>['aggregation_function'] & string }),
      ...(alias === undefined ? {} : { name: alias }),
    })),
  )
  return fc.array(one, { minLength: 1, maxLength: 5 })
}

const groups = (source: AnalyticsSource): fc.Arbitrary<readonly Wire<'Aggregation'>[]> =>
  fc.uniqueArray(
    chosen(source.fields.filter((field) => field.groupable)).chain((field) =>
      fc.tuple(spelt(field), named).map(([name, alias]) => ({ field: name, name: alias })),
    ),
    { minLength: 1, maxLength: 3, selector: (one) => one.name },
  )

const filters = (source: AnalyticsSource, known: Known): fc.Arbitrary<readonly Wire<'Filter'>[]> =>
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
  list: readonly Wire<'Selection'>[],
  narrowed: readonly Wire<'Filter'>[],
  by: readonly Wire<'Aggregation'>[],
): Wire<'Query'> {
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
