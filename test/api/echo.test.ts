// A service that echoes the key as data: the key is removed, and the rest of the answer counts.
import { expect, test } from 'vitest'
import { KEY, keyRing, serve, testClient, transportTo } from './world.ts'

const APPROVED = { teamStatus: 'USER_TEAM_STATUS_APPROVED', activeDays: 3 }
const PEOPLE = {
  userTableStats: [
    { ...APPROVED, email: 'a@x.y', name: `Ada ${KEY}`, role: KEY, apiKey: KEY },
    { ...APPROVED, email: `${KEY}@x.y`, name: 'Echo' },
    { ...APPROVED, email: 'b@x.y', name: 'Bob' },
  ],
}
const RUNS = {
  queryResults: [
    {
      cascadeRuns: {
        cascadeRuns: [{ day: '2026-11-02', model: `M ${KEY}`, mode: KEY, cascadeId: '1', messagesSent: '1', promptsUsed: '40' }],
      },
    },
  ],
}
const use = { date: '2026-11-02', prompts_used: '100', flex_credits_used: '40' }
const ITEMS = {
  queryResults: [{ responseItems: [{ item: { ...use, api_key: KEY, model: 'M' } }, { item: { ...use, api_key: 'k', model: KEY } }] }],
}

const answerTo = (path: string): unknown => (path.endsWith('/Analytics') ? ITEMS : path.endsWith('/CascadeAnalytics') ? RUNS : PEOPLE)

/** Rows that are kept while they arrive. */
async function overHttp(): Promise<ReturnType<typeof testClient>> {
  const server = await serve((request, response) => response.end(JSON.stringify(answerTo(request.url ?? ''))))
  return testClient(() => ({}), { transport: transportTo(server.url) })
}

const asOne = (): ReturnType<typeof testClient> => testClient(({ operation }) => ({ body: JSON.stringify(answerTo(`/${operation}`)) }))

test.each([
  ['row by row', overHttp],
  ['as one body', asOne],
])('a key that a service puts into its data, read %s, is never kept', async (_name, make) => {
  const { client } = await make()
  const roster = await client.readRoster()
  expect(roster.people.map(({ email, name, role }) => [email, name, role])).toEqual([
    ['a@x.y', '[key]', '[key]'],
    ['b@x.y', 'Bob', undefined],
  ])
  const runs = await client.readRuns({ fromAt: Date.UTC(2026, 10, 1) })
  const { rows, ...rest } = Object(await client.readAddOnUse({ fromAt: Date.UTC(2026, 10, 1), untilAt: Date.UTC(2026, 10, 3) }))
  expect(rows).toMatchObject([{ email: 'a@x.y' }, { email: '' }])
  const all = JSON.stringify([roster, runs, rows, rest])
  expect(all).toContain('[key]')
  expect(all).not.toContain(KEY)
})

test('a key so short that a word may contain it by chance changes nothing', async () => {
  const { client } = testClient(() => ({ body: JSON.stringify({ userTableStats: [{ ...APPROVED, email: 'ada@x.y', name: 'Ada' }] }) }), {
    keys: keyRing('ada'),
  })
  expect((await client.readRoster()).people).toMatchObject([{ email: 'ada@x.y' }])
})
