// Analytics by the interface's tables and by rows that are small enough to count by hand: cells, aliases, dates, filters, totals, switches.
import { describe, expect, test } from 'vitest'
import { ask, type Body, errorOf, INTERFACE, itemsOf, sandboxOf } from './analytics-asking.ts'

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

const ADA = 0
const GRACE = 1

describe('an answer', () => {
  const sandbox = sandboxOf({}, { working: false, company: { people: 9, groups: 3, days: 0 } })
  const { store } = sandbox
  const ada = store.people()[ADA]?.apiKey ?? ''
  const add = (person: number, at: string, language: string, acceptances: number) =>
    store.addUse({
      ...{ source: 'autocomplete', person, at: Date.parse(at), language, ide: 'editor', version: '1.2.0' },
      ...{ acceptances, linesAccepted: acceptances * 2, bytesAccepted: acceptances * 10 },
    })
  add(ADA, '2026-11-10T03:20:00Z', 'GO', 4)
  add(ADA, '2026-11-10T17:59:59.999Z', 'GO', 5)
  add(ADA, '2026-11-11T00:00:00Z', 'RUST', 6)
  add(GRACE, '2026-11-11T09:00:00Z', 'GO', 8)
  const user = (more: Body): Body => ({ data_source: 'QUERY_DATA_SOURCE_USER_DATA', ...more })
  const fn = (field: string, name: string) => ({ field, aggregation_function: `QUERY_AGGREGATION_${name}` })
  const sum = fn('num_acceptances', 'SUM')
  const where = (name: string, filter: string, value: string) => ({ name, filter: `QUERY_FILTER_${filter}`, value })

  test('Endpoints 1: raw rows include numbers, come oldest first, and have the cells of live answers', () => {
    const selections = ['api_key', 'date', 'hour', 'language', 'num_acceptances'].map((field) => ({ field, name: field }))
    const items = itemsOf(sandbox, user({ selections, filters: [where('api_key', 'EQUAL', ada)] }))
    expect(items).toEqual([
      { api_key: ada, date: '2026-11-10', hour: '2026-11-10 03:00:00 +0000 UTC', language: 'GO', num_acceptances: '4' },
      { api_key: ada, date: '2026-11-10', hour: '2026-11-10 17:00:00 +0000 UTC', language: 'GO', num_acceptances: '5' },
      { api_key: ada, date: '2026-11-11', hour: '2026-11-11 00:00:00 +0000 UTC', language: 'RUST', num_acceptances: '6' },
    ])
  })

  test.each([
    ['date', { '2026-11-10': '9', '2026-11-11': '14' }],
    ['date UTC-8', { '2026-11-09': '4', '2026-11-10': '11', '2026-11-11': '8' }],
    ['date UTC+9', { '2026-11-10': '4', '2026-11-11': '19' }],
    ['date UTC+6:30', { '2026-11-10': '4', '2026-11-11': '19' }],
    ['date UTC-3.5', { '2026-11-09': '4', '2026-11-10': '11', '2026-11-11': '8' }],
  ])('Fields of the user data source: %s is the date there', (field, days) => {
    const items = itemsOf(sandbox, user({ selections: [{ ...sum, name: 'n' }], aggregations: [{ field, name: 'day' }] }))
    expect(Object.fromEntries(items.map(({ day, n }) => [day, n]))).toEqual(days)
  })

  test('counts distinct users, days and hours, and lists what it counts when nothing is aggregated', () => {
    const fields = ['distinct_users', 'distinct_developer_days', 'distinct_developer_hours']
    const counted = itemsOf(sandbox, user({ selections: fields.map((field) => ({ ...fn(field, 'COUNT'), name: field })) }))
    expect(counted).toEqual([{ distinct_users: '2', distinct_developer_days: '3', distinct_developer_hours: '4' }])
    for (const field of fields) expect(itemsOf(sandbox, user({ selections: [{ field }] }))).toHaveLength(Number(counted[0]?.[field]))
    expect(itemsOf(sandbox, user({ selections: [{ field: 'distinct_developer_days' }] }))[0]).toEqual({
      unspecified_distinct_developer_days: `${ada} 2026-11-10`,
    })
  })

  test.each([
    ['a bare date is the midnight it begins with', [where('hour', 'GE', '2026-11-11')], '14'],
    ['a bare date ends at its midnight', [where('hour', 'LE', '2026-11-11')], '15'],
    ['an hour as answers show it', [where('hour', 'EQUAL', '2026-11-10 17:00:00 +0000 UTC')], '5'],
    ['a time within an hour is none of the hours', [where('hour', 'EQUAL', '2026-11-10T17:30:00Z')], '0'],
    ['a time within an hour lies after that hour', [where('hour', 'LESS_THAN', '2026-11-10T17:30:00Z')], '9'],
    ['a shifted date', [where('date UTC-8', 'LESS_THAN', '2026-11-10')], '4'],
    ['several at once', [where('language', 'EQUAL', 'GO'), where('num_acceptances', 'GREATER_THAN', '4')], '13'],
  ])('Filter: %s', (_name, filters, total) => {
    expect(itemsOf(sandbox, user({ selections: [sum], filters }))).toEqual([{ sum_num_acceptances: total }])
  })

  test('choice: of no rows the sum and the count are 0, and an undefined value is <nil>', () => {
    const selections = ['SUM', 'AVG', 'MAX', 'MIN'].map((name) => ({ ...fn('num_acceptances', name), name }))
    const filters = [where('language', 'EQUAL', 'COBOL')]
    expect(itemsOf(sandbox, user({ selections, filters }))).toEqual([{ SUM: '0', AVG: '<nil>', MAX: '<nil>', MIN: '<nil>' }])
    expect(itemsOf(sandbox, user({ selections, filters, aggregations: [{ field: 'ide', name: 'ide' }] }))).toEqual([])
  })

  test('choice: group-bys alone list the groups', () => {
    const items = itemsOf(sandbox, user({ selections: [], aggregations: [{ field: 'language', name: 'l' }] }))
    expect(items).toEqual([{ l: 'GO' }, { l: 'RUST' }])
  })

  test('any text is a valid alias and is shown unchanged', () => {
    const { body } = ask(sandbox, { query_requests: [user({ selections: [{ ...sum, name: '__proto__' }] })] })
    expect(JSON.stringify(body)).toBe('{"queryResults":[{"responseItems":[{"item":{"__proto__":"23"}}]}]}')
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

  test('of no bytes is undefined', () => {
    const filters = [{ name: 'language', filter: 'QUERY_FILTER_EQUAL', value: 'COBOL' }]
    const [told] = itemsOf(sandbox, { ...PCW, selections, filters }, span)
    expect(told).toEqual({ ...Object.fromEntries(figures.map((name) => [name, '0'])), percent_code_written: '<nil>' })
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
  expect([told.status, told.body.error]).toEqual([400, expect.stringMatching(/larger than 80000000 characters: .*filter/)])
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
