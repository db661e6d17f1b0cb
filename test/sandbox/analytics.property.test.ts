// Laws of Analytics: the answer to a valid query equals a naive evaluation over the rows, and an invalid query is refused with a message
// that names the fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, bag, errorOf, HOUR, knownOf, NOW, sandboxOf } from './analytics-asking.ts'
import { evaluate } from './analytics-naive.ts'
import { faultyQuery, validQuery } from './analytics-queries.ts'

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

  test('is refused with 400 and names the fault', () => {
    const met = new Set<string>()
    fc.assert(
      fc.property(faultyQuery(knownOf(sandbox.store)), (fault) => {
        met.add(fault.name)
        const error = errorOf(sandbox, fault.query)
        if (fault.stem !== undefined) expect(error.startsWith(fault.stem), `${fault.name}: ${error}`).toBe(true)
        for (const word of fault.says) expect(error, fault.name).toContain(word)
      }),
      { numRuns: 150 },
    )
    expect(met.size).toBeGreaterThan(15)
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
