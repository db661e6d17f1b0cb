// What the client makes of single answers, as a whole and row by row: answers.txt has the answers and what is made of each. `CAPKEEPER_TESTS=test/api/answers.test.ts
// npx vitest run -u` writes what was made of them into it, for review as a change of text.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { tableAt } from '../support/tables.ts'
import { failureOf, NOON } from './answers.ts'
import { hastyClock, rowByRow, scripted, type TestClient, testClient } from './world.ts'

const ADA = userScope('ada@example.com')
const GROUP = { id: 'grp_1', name: 'Platform' }
const NOVEMBER = { fromAt: Date.UTC(2026, 10, 1), untilAt: Date.UTC(2026, 10, 20) }
const CYCLE = { billingCycleStart: '2026-11-01T00:00:00.000001Z', billingCycleEnd: '2026-12-01' }
const APPROVED = { email: 'ada@example.com', name: 'Ada', teamStatus: 'USER_TEAM_STATUS_APPROVED' }
const RUN = { day: '2026-11-02', model: 'M', mode: 'X', messagesSent: '1', promptsUsed: '250' }

type Client = TestClient['client']
interface Kind {
  readonly ask: (client: Client) => Promise<unknown>
  /** The whole body; absent: as it stands there. */
  readonly body?: (value: unknown) => unknown
}

const people = (client: Client) => client.readRoster()
const ofPeople = (...users: readonly unknown[]) => ({ userTableStats: users })
const KINDS: Readonly<Record<string, Kind>> = {
  cap: { ask: (client) => client.readCap(ADA).then(({ observed, failure }) => failure ?? observed) },
  write: { ask: (client) => client.writeCap(ADA, credits(5)) },
  roster: { ask: people },
  rows: { ask: people, body: (users) => ofPeople(...(users as readonly unknown[])) },
  person: { ask: people, body: (fields) => ofPeople({ ...APPROVED, ...Object(fields) }) },
  beside: {
    ask: people,
    body: (fields) => ofPeople({ ...APPROVED, promptCreditsUsed: 100 }, { ...APPROVED, email: 'a@x.y', ...Object(fields) }, null, 'x'),
  },
  cycle: { ask: people, body: (ends) => ({ ...ofPeople(APPROVED), ...CYCLE, ...Object(ends) }) },
  group: { ask: (client) => client.readGroup(GROUP), body: (users) => ofPeople(...(users as readonly unknown[])) },
  days: {
    ask: (client) => client.readActiveDays({ fromAt: 0, untilAt: NOON }).then((days) => Object.fromEntries(days)),
    body: (users) => ofPeople(...(users as readonly object[]).map((one, index) => ({ email: `P${index}@x.y`, ...one }))),
  },
  listing: {
    ask: (client) =>
      Promise.all(
        [people(client), client.readGroup(GROUP), client.readActiveDays({ fromAt: 0, untilAt: NOON })].map((one) => one.catch(facts)),
      ),
  },
  balance: { ask: (client) => client.readBalance() },
  runs: { ask: (client) => client.readRuns(NOVEMBER), body: (runs) => ({ queryResults: [{ cascadeRuns: { cascadeRuns: runs } }] }) },
  'run beside': {
    ask: (client) => client.readRuns(NOVEMBER),
    body: (fields) => ({ queryResults: [{ cascadeRuns: { cascadeRuns: [RUN, { ...RUN, ...Object(fields) }] } }] }),
  },
  agent: { ask: (client) => client.readRuns(NOVEMBER), body: (results) => ({ queryResults: results }) },
}

const { entries, holds } = tableAt(join(import.meta.dirname, 'answers.txt'))

const rows = entries.map((entry) => {
  const [heading = '', ...lines] = entry.split('\n')
  const given = lines.flatMap((line) => (line.startsWith('>') ? [line.slice(2)] : []))
  const [, status = '200', headers = '{}'] = /^HTTP (\d+) ?(.*)$/.exec(given[0] ?? '') ?? []
  const text = given.slice(given[0]?.startsWith('HTTP ') ? 1 : 0).join('\n')
  return { heading, given, kind: KINDS[heading.replace(/:.*/, '')], status: Number(status), headers: JSON.parse(headers || '{}'), text }
})
type Entry = (typeof rows)[number]

const facts = (error: unknown): object => {
  const { name: _, message, ...rest } = failureOf(error)
  return { ...rest, message }
}

/** What is made of an answer, and beside it what else can be seen of the client. */
async function madeOf({ heading, kind, status, headers, text }: Entry, isCut: boolean): Promise<readonly string[]> {
  if (!kind) throw new Error(`unknown kind: ${heading}`)
  const body = kind.body ? JSON.stringify(kind.body(JSON.parse(text))) : text
  const clock = hastyClock(NOON)
  const script = () => ({ status, headers, body })
  const seen: string[] = []
  const transport = scripted(clock, script)
  const onSeen = ({ aspect, value, evidence }: { aspect: string; value: unknown; evidence: string }) =>
    void seen.push(`= seen of ${aspect}: ${String(value)}, as ${evidence}`)
  const { client, events } = testClient(script, { transport: isCut ? rowByRow(transport) : transport, onSeen }, clock)
  const made = await kind.ask(client).catch(facts)
  const counted = new Set(events.map(({ outcome }) => outcome))
  const times = transport.sent.length === 1 || heading.startsWith('listing:') ? '' : `, asked ${transport.sent.length} times`
  return [`= ${JSON.stringify(made)}`, ...(counted.has('ok') ? [] : [`= counted ${[...counted].join()}${times}`]), ...new Set(seen)]
}

test('of every answer is made what is written, as a whole and row by row', async () => {
  const played: string[] = []
  for (const entry of rows) {
    const made = await madeOf(entry, false)
    if (entry.status === 200) expect(await madeOf(entry, true), entry.heading).toEqual(made)
    played.push([`# ${entry.heading}`, ...entry.given.map((line) => `> ${line}`.trimEnd()), ...made].join('\n'))
  }
  expect(new Set(rows.map(({ heading, given }) => [heading.replace(/:.*/, ''), ...given].join('\n'))).size).toBe(rows.length)
  await holds(played)
})

test('a listing that is cut into rows keeps figures and texts of a row, the key of a person for the whole team only, and replaces the last listing of the same people, and no other', async () => {
  const nested = { email: ['a'], name: null, role: { a: 1 }, apiKey: 'key', activeDays: [3] }
  const plans: unknown[] = []
  const kept: unknown[] = []
  const { client } = testClient(() => ({}), {
    transport: {
      async send(_operation, _body, { rows }) {
        plans.push(rows?.staysAs)
        kept.push(rows?.take(nested))
        expect([rows?.at, rows?.take('no row')]).toEqual([[['userTableStats', '*']], undefined])
        return { status: 200, headers: {}, body: '{}' }
      },
    },
  })
  for (const name of ['Platform', 'Platform', 'Sales']) await client.readGroup({ ...GROUP, name })
  await client.readRoster()
  await client.readActiveDays({ fromAt: 0, untilAt: 1 })
  expect(plans).toEqual(['people of Platform', 'people of Platform', 'people of Sales', 'people of ', undefined])
  const inGroup = { email: {}, name: null, role: {} }
  expect(kept).toEqual([inGroup, inGroup, inGroup, { ...inGroup, apiKey: 'key' }, { email: {}, activeDays: {} }])
})
