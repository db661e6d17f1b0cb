// The law of Analytics: the answer to a valid query equals a naive evaluation over the rows. What is refused is in test/scenes/service-refused-queries.txt.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask, bag, errorOf, HOUR, knownOf, NOW, sandboxOf } from './analytics-asking.ts'
import { evaluate } from './analytics-naive.ts'
import { validQuery } from './analytics-queries.ts'

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

test('every valid query is answered, result by result, as a naive evaluation of the rows', () => {
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

test.each<readonly [string, object, string]>([
  ['too many parts', { filters: Array.from({ length: 101 }, () => ({})) }, 'query_requests[0].filters has 101 elements: at most 100'],
  [
    'an alias that is too long',
    { selections: [{ field: 'ide', name: 'x'.repeat(201) }] },
    'query_requests[0].selections[0].name has 201 characters: at most 200',
  ],
])('a query is refused with %s', (_name, fault, begins) => {
  const sandbox = sandboxOf({}, { company: { people: 9, groups: 2, days: 1 } })
  expect(errorOf(sandbox, { data_source: 'QUERY_DATA_SOURCE_USER_DATA', selections: [{ field: 'ide' }], ...fault })).toContain(begins)
})
