// The fields of Analytics by the interface's tables, and totals; rows that can be counted by hand are in test/scenes/service-analytics.txt.
import { describe, expect, test } from 'vitest'
import { ask, errorOf, INTERFACE, itemsOf, sandboxOf } from './analytics-asking.ts'

const FUNCTIONS = ['UNSPECIFIED', 'COUNT', 'SUM', 'MAX', 'MIN', 'AVG']

const TAKEN: Readonly<Record<string, readonly string[]>> = {
  L: ['UNSPECIFIED', 'COUNT'],
  N: ['SUM', 'MAX', 'MIN', 'AVG'],
  T: ['SUM', 'COUNT'],
  U: ['UNSPECIFIED'],
}

describe('the field table', () => {
  const sandbox = sandboxOf({ addOnRows: 'served' }, { company: { people: 9, groups: 2, days: 3 } })
  const fields = Object.entries(INTERFACE).flatMap(([source, list]) =>
    list.split(' ').map((entry) => {
      const [name = '', kind = ''] = entry.split(':')
      return { source: `QUERY_DATA_SOURCE_${source}`, name: name.replace('_UTC', ' UTC'), taken: TAKEN[kind] ?? [], kind }
    }),
  )

  test.each(Object.keys(INTERFACE))('%s has the fields of the interface, and no others', (source) => {
    const told = errorOf(sandbox, { data_source: `QUERY_DATA_SOURCE_${source}`, selections: [{ field: 'none' }] })
    const names = fields.flatMap((one) => (one.source === `QUERY_DATA_SOURCE_${source}` ? [one.name] : []))
    expect(told).toBe(
      `invalid field none: cannot select it in QUERY_DATA_SOURCE_${source}; valid are ${names.join(', ')} (query_requests[0].selections[0].field)`,
    )
  })

  test.each(fields)('$source: $name takes exactly its functions', ({ source, name, taken, kind }) => {
    const field = name.replace('UTC-x', 'UTC-8')
    for (const short of FUNCTIONS) {
      // Without any function the rows themselves are shown, figures too (docs/sandbox.md, Behaviour).
      const raw = short === 'UNSPECIFIED' && 'NT'.includes(kind)
      const query = { data_source: source, selections: [{ field, aggregation_function: `QUERY_AGGREGATION_${short}` }] }
      const { status, body } = ask(sandbox, { query_requests: [query] })
      expect([short, status]).toEqual([short, taken.includes(short) || raw ? 200 : 400])
      const alias = `${short}_${field}`.toLowerCase()
      if (status === 200) expect(Object.keys(body.queryResults[0].responseItems[0].item)).toEqual([alias])
    }
  })
})

describe('percent code written', () => {
  const sandbox = sandboxOf()
  const PCW = { data_source: 'QUERY_DATA_SOURCE_PCW_DATA' }
  const span = { start_timestamp: '2026-11-12T00:00:00Z', end_timestamp: '2026-11-18T23:59:59.999Z' }
  const figures = [
    'percent_code_written',
    'assistant_bytes',
    'user_bytes',
    'total_bytes',
    'assistant_bytes_by_autocomplete',
    'assistant_bytes_by_command',
  ]
  const selections = figures.map((field) => ({ field, name: field }))

  test('is the accepted share by the other sources, within the time range', () => {
    const [told = {}] = itemsOf(sandbox, { ...PCW, selections }, span)
    const filters = [
      { name: 'date', filter: 'QUERY_FILTER_GE', value: '2026-11-12' },
      { name: 'date', filter: 'QUERY_FILTER_LE', value: '2026-11-18' },
    ]
    const total = (data_source: string, field: string, more: readonly object[] = []): string =>
      itemsOf(sandbox, {
        data_source,
        selections: [{ field, aggregation_function: 'QUERY_AGGREGATION_SUM', name: 'n' }],
        filters: [...filters, ...more],
      })[0]?.['n'] ?? ''
    expect(told['assistant_bytes_by_autocomplete']).toBe(total('QUERY_DATA_SOURCE_USER_DATA', 'num_bytes_accepted'))
    const accepted = { name: 'accepted', filter: 'QUERY_FILTER_EQUAL', value: 'true' }
    expect(told['assistant_bytes_by_command']).toBe(total('QUERY_DATA_SOURCE_COMMAND_DATA', 'bytes_added', [accepted]))
    const [assistant, user, all] = [told['assistant_bytes'], told['user_bytes'], told['total_bytes']].map(Number)
    expect(assistant).toBe(Number(told['assistant_bytes_by_autocomplete']) + Number(told['assistant_bytes_by_command']))
    expect(all).toBe((assistant ?? 0) + (user ?? 0))
    expect(told['percent_code_written']).toBe(String((assistant ?? 0) / (all ?? 1)))
    expect(Number(told['percent_code_written'])).toBeGreaterThan(0.2)
    expect(Number(told['percent_code_written'])).toBeLessThan(0.9)
  })
})

test('--plan and --int64 have no effect: every value is a text', () => {
  const query = { data_source: 'QUERY_DATA_SOURCE_COMMAND_DATA', selections: [{ field: 'lines_added' }, { field: 'accepted' }] }
  const items = itemsOf(sandboxOf(), query)
  for (const switches of [{ plan: 'quota' }, { plan: 'team' }, { int64: 'string' }] as const)
    expect(itemsOf(sandboxOf(switches), query)).toEqual(items)
  expect(items.every((item) => Object.values(item).every((value) => typeof value === 'string'))).toBe(true)
})

test('an answer that would be too large is refused with a hint, and not built', () => {
  const selections = Array.from({ length: 100 }, (_, index) => ({ field: 'ide', name: `${index}`.padEnd(200, '-') }))
  const query = { data_source: 'QUERY_DATA_SOURCE_USER_DATA', selections }
  const told = ask(sandboxOf(), { query_requests: Array.from({ length: 40 }, () => query) })
  expect([told.status, told.body.error]).toEqual([400, expect.stringMatching(/more than 1500000 values: .*filter/)])
})

test('rows of people who left the roster do not count', () => {
  const sandbox = sandboxOf()
  const rows = (): readonly Readonly<Record<string, string>>[] =>
    itemsOf(sandbox, { data_source: 'QUERY_DATA_SOURCE_USER_DATA', selections: [{ field: 'api_key', name: 'key' }] })
  const leaving = sandbox.store.person('ada.lovelace@example.com')
  const before = rows()
  sandbox.store.removePerson('ada.lovelace@example.com')
  const after = rows()
  expect(after).toEqual(before.filter((item) => item['key'] !== leaving?.apiKey))
  expect(after.length).toBeLessThan(before.length)
})
