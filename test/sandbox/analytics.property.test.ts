// Laws of Analytics: the answer to a valid query equals a naive evaluation over the rows, and an invalid query is refused with a message
// that names the fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, bag, errorOf, HOUR, knownOf, NOW, sandboxOf } from './analytics-asking.ts'
import { evaluate } from './analytics-naive.ts'
import { validQuery } from './analytics-queries.ts'

describe('every valid query', () => {
  const lag = 50 * HOUR
  const fresh = sandboxOf({ addOnRows: 'served' })
  const late = sandboxOf({ addOnRows: 'served', analyticsDelay: lag })
  const known = knownOf(fresh.store)
  const bounds = fc.record({ from: fc.integer({ min: -14, max: 1 }), length: fc.integer({ min: 0, max: 400 }), given: fc.boolean() })
  const request = fc.record({
    lagging: fc.boolean(),
    queries: fc.array(validQuery(known), { minLength: 1, maxLength: 3 }),
    group: fc.option(fc.constantFrom('Platform', 'Data'), { nil: undefined }),
    bounds,
  })

  test('is answered, result by result, as a naive evaluation of the rows', () => {
    fc.assert(
      fc.property(request, ({ lagging, queries, group, bounds: { from, length, given } }) => {
        const [sandbox, untilAt] = lagging ? [late, NOW - lag] : [fresh, NOW]
        const { store } = sandbox
        const fromAt = NOW + from * 24 * HOUR
        const endAt = fromAt + length * HOUR
        const stamps = given ? { start_timestamp: new Date(fromAt).toISOString(), end_timestamp: new Date(endAt).toISOString() } : {}
        const body = { ...stamps, ...(group === undefined ? {} : { group_name: group }), query_requests: queries }
        const told = ask(sandbox, body)
        expect(told.status, JSON.stringify(told.body)).toBe(200)
        expect(told.body.queryResults).toHaveLength(queries.length)
        const id = store.groups().find((one) => one.name === group)?.id
        const people = id === undefined ? new Set(store.people().map((person) => person.id)) : store.members(id)
        for (const [slot, query] of queries.entries()) {
          const totals = query.data_source === 'QUERY_DATA_SOURCE_PCW_DATA' && given
          const reach = totals ? { fromAt, untilAt: Math.min(endAt, untilAt), people } : { fromAt: 0, untilAt, people }
          const items = told.body.queryResults[slot].responseItems.map((one: { item: object }) => one.item)
          expect(bag(items)).toEqual(bag(evaluate(store, query, reach)))
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('every invalid query', () => {
  const sandbox = sandboxOf({ addOnRows: 'served' }, { company: { people: 9, groups: 2, days: 1 } })

  const COUNT = 'QUERY_AGGREGATION_COUNT'
  const figure = { field: 'num_acceptances' }
  const byIde = { aggregations: [{ field: 'ide', name: 'by' }] }
  const filter = (more: object) => ({ filters: [{ name: 'ide', filter: 'QUERY_FILTER_EQUAL', value: 'x', ...more }] })
  const selected = (...selections: readonly object[]) => ({ selections })
  const TABLE =
    'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED; query_requests[0].data_source must be one of QUERY_DATA_SOURCE_USER_DATA,'
  const ALIAS = 'duplicate field alias: unspecified_date; give each selection and aggregation its own name'

  test.each<readonly [string, object, string]>([
    ['an unknown source', { data_source: 'QUERY_DATA_SOURCE_TEA' }, TABLE],
    ['no source', { data_source: undefined }, TABLE],
    ['nothing selected', selected(), 'at least one field or aggregation is required: query_requests[0].selections is empty'],
    [
      'an unknown field',
      selected({ field: '__proto__' }),
      'invalid field __proto__: cannot select it in QUERY_DATA_SOURCE_USER_DATA; valid are api_key,',
    ],
    ['an offset that no place has', selected({ field: 'date UTC+15' }), 'invalid field date UTC+15: cannot select it'],
    ['an unknown field to group by', { aggregations: [{ field: 'person', name: 'by' }] }, 'invalid field person: cannot group by it in'],
    ['an unknown field to filter on', filter({ name: 'at' }), 'invalid field at: cannot filter on it in'],
    [
      'a function that the field does not take',
      selected({ ...figure, aggregation_function: COUNT }),
      `invalid aggregation function for number field num_acceptances: ${COUNT}; valid are QUERY_AGGREGATION_SUM,`,
    ],
    [
      'an unknown function',
      selected({ field: 'ide', aggregation_function: 'MEDIAN' }),
      'invalid aggregation function MEDIAN for field ide: valid are',
    ],
    [
      'a figure without function beside a group',
      { ...selected(figure), ...byIde },
      'invalid aggregation function for number field num_acceptances: QUERY_AGGREGATION_UNSPECIFIED;',
    ],
    [
      'a field that is neither grouped by nor aggregated',
      { ...selected({ field: 'api_key' }), ...byIde },
      'field api_key has no aggregation function and is not grouped by: use',
    ],
    [
      'functions on some selections only',
      selected({ field: 'ide' }, { ...figure, aggregation_function: 'QUERY_AGGREGATION_SUM' }),
      'either all selections carry an aggregation function or none does: num_acceptances has',
    ],
    ['the same alias twice', selected({ field: 'ide', name: 'unspecified_date' }, { field: 'date' }), ALIAS],
    [
      'the alias of a selection for a group',
      {
        ...selected({ field: 'ide', name: 'unspecified_date', aggregation_function: COUNT }),
        aggregations: [{ field: 'ide', name: 'unspecified_date' }],
      },
      ALIAS,
    ],
    [
      'a group without a name',
      { aggregations: [{ field: 'ide' }] },
      'query_requests[0].aggregations[0].name is required: the alias of ide',
    ],
    [
      'an unknown filter operation',
      filter({ filter: 'QUERY_FILTER_LIKE' }),
      'invalid filter QUERY_FILTER_LIKE on ide: valid are QUERY_FILTER_EQUAL,',
    ],
    ['an operation that is no text', filter({ filter: 7 }), 'filter must be a string'],
    ['a value that is no text', filter({ value: 7 }), 'query_requests[0].filters[0].value must be a string: what ide is compared with'],
    [
      'a value of another type',
      filter({ name: 'num_acceptances', value: '1 OR 1=1' }),
      'invalid filter value 1 OR 1=1 for number field num_acceptances: write a number,',
    ],
    [
      'a day that no month has',
      filter({ name: 'date', value: '2026-02-30' }),
      'invalid filter value 2026-02-30 for date field date: write a date,',
    ],
    ['a list that is none', { filters: 'x' }, 'filters must be an array'],
    ['an element that is no object', { aggregations: [7] }, 'query_requests[0].aggregations[0] must be an object'],
    ['too many parts', { filters: Array.from({ length: 101 }, () => ({})) }, 'query_requests[0].filters has 101 elements: at most 100'],
    [
      'an alias that is too long',
      selected({ field: 'ide', name: 'x'.repeat(201) }),
      'query_requests[0].selections[0].name has 201 characters: at most 200',
    ],
  ])('is refused with 400 and names the fault: %s', (_name, fault, begins) => {
    expect(
      errorOf(sandbox, { data_source: 'QUERY_DATA_SOURCE_USER_DATA', ...selected({ field: 'ide' }), ...fault }).slice(0, begins.length),
    ).toBe(begins)
  })

  test('makes the whole request fail, and is named', () => {
    const good = { data_source: 'QUERY_DATA_SOURCE_USER_DATA', selections: [{ field: 'ide' }] }
    const told = ask(sandbox, { query_requests: [good, { ...good, selections: [{ field: 'teapot' }] }] })
    expect(told).toEqual({ status: 400, body: { error: expect.stringContaining('query_requests[1].selections[0].field') } })
  })

  test.each([
    ['no query', {}, /query_requests is required/],
    ['an empty list', { query_requests: [] }, /query_requests is required/],
    ['not a list', { query_requests: {} }, /query_requests must be an array/],
    ['a query that is not an object', { query_requests: [7] }, /query_requests\[0\] must be an object/],
    ['a bad time stamp', { query_requests: [], start_timestamp: '2026-11-20' }, /invalid timestamp format: start_timestamp/],
  ])('of the request itself: %s', (_name, body, error) => {
    const told = ask(sandbox, body)
    expect([told.status, told.body.error]).toEqual([400, expect.stringMatching(error)])
  })

  test('of an unknown group is not found, with the documented text', () => {
    const told = ask(sandbox, {
      group_name: 'Tea',
      query_requests: [{ data_source: 'QUERY_DATA_SOURCE_USER_DATA', selections: [{ field: 'ide' }] }],
    })
    expect(told).toEqual({ status: 404, body: { error: 'invalid group name: Tea' } })
  })
})
