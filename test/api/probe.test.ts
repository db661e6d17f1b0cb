// The questions of a probe and its conclusions; above all, its one request to the writing operation cannot write.
import { describe, expect, test } from 'vitest'
import { probesOf, reach } from '../../src/api/probe.ts'
import { hastyClock, type Script, scripted } from './world.ts'

type Give = ReturnType<Script>

const answer = (status: number, body: unknown) => ({
  ...{ status, headers: { date: new Date(Date.UTC(2026, 10, 20, 12)).toUTCString() } },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const OPTIONS = {
  env: { A: 'key-one-long', B: 'key-two-long' },
  random: { next: () => 0.5 },
  rate: { start: 1_000, max: 1_000, concurrency: 1 },
}

function probe(give: Give) {
  const clock = hastyClock()
  const transport = scripted(clock, () => give)
  const [key] = probesOf({ ...OPTIONS, clock, transport, sources: { default: { env: 'A' } } })
  if (!key || 'problem' in key) throw new Error('no probe')
  return { key, sent: transport.sent }
}

const REFUSED = answer(400, { error: 'one of set_add_on_credit_cap and clear_add_on_credit_cap is required' })
const DENIED = answer(403, { error: 'insufficient permissions' })

describe('asking whether a key may write', () => {
  test.each<readonly [string, Give, string]>([
    ['is answered yes by a refusal of the request', REFUSED, 'held'],
    ['is answered yes by a refusal in a success', answer(200, { error: 'no scope: one is required' }), 'held'],
    ['is answered yes by a scope that is not found', answer(404, { error: 'user not found' }), 'held'],
    ['is answered no by a refusal of the key', DENIED, 'lacking'],
    ['is answered no by an unknown key', answer(401, { code: 'unauthenticated', message: 'invalid key' }), 'lacking'],
    ['stays open when the service fails', answer(500, { error: 'internal' }), 'unclear'],
    ['stays open when the address knows no such operation', answer(404, 'page not found'), 'unclear'],
    ['stays open when the method is not allowed', answer(405, { error: 'method not allowed' }), 'unclear'],
    ['stays open when no answer comes', { kind: 'timeout', message: 'no answer within 30 s' }, 'unclear'],
  ])('%s', async (_row, give, kind) => {
    const { key, sent } = probe(give)
    expect((await key.mayWrite()).kind).toBe(kind)
    // No cap, and a person who cannot exist.
    expect(sent).toEqual([
      { operation: 'UsageConfig', body: { service_key: 'key-one-long', user_email: 'nobody@capkeeper.invalid' }, at: 0 },
    ])
  })

  test('reports when the service accepts the request that it must refuse', async () => {
    expect(await probe(answer(200, {})).key.mayWrite()).toEqual({ kind: 'held', accepted: true })
  })
})

test.each<readonly [string, Give, object]>([
  ['by rows', answer(200, { queryResults: [{ responseItems: [{ item: { n: '1' } }] }] }), { kind: 'held' }],
  ['by no list', answer(200, {}), { kind: 'held' }],
  ['by an empty result', answer(200, { queryResults: [{}] }), { kind: 'held' }],
  ['by what is no list', answer(200, { queryResults: 7 }), { kind: 'unclear', message: 'Analytics: queryResults is not an array' }],
  [
    'by rows that are no list',
    answer(200, { queryResults: [{ responseItems: 7 }] }),
    { kind: 'unclear', message: 'Analytics: responseItems is not an array' },
  ],
  [
    'for another question',
    answer(200, { queryResults: [{}, {}] }),
    { kind: 'unclear', message: 'Analytics: the answer has 2 results for 1 queries' },
  ],
  ['by a refusal of the key', DENIED, { kind: 'lacking' }],
])('asking whether a key may read analytics, answered %s', async (_row, give, expected) => {
  const { key, sent } = probe(give)
  expect(await key.mayRead('analyticsRead', Date.UTC(2026, 10, 20, 12))).toMatchObject(expected)
  expect(JSON.parse(JSON.stringify(sent[0]?.body))).toEqual({
    service_key: 'key-one-long',
    query_requests: [
      {
        data_source: 'QUERY_DATA_SOURCE_USER_DATA',
        selections: [{ field: 'num_acceptances', aggregation_function: 'QUERY_AGGREGATION_SUM' }],
        filters: [{ name: 'date', filter: 'QUERY_FILTER_GE', value: '2026-11-20' }],
      },
    ],
  })
})

test('probes are one for each different key, and unusable keys have a reason', () => {
  const sources = { default: { env: 'A' }, teamsRead: { env: 'B' }, billingRead: { env: 'A' }, billingWrite: { env: 'C' } }
  const probes = probesOf({ ...OPTIONS, clock: hastyClock(), transport: scripted(hastyClock(), () => REFUSED), sources })
  expect(probes.map(({ names }) => names)).toEqual([['default', 'billingRead'], ['teamsRead'], ['billingWrite']])
  expect(probes.map((one) => 'problem' in one && one.problem)).toEqual([
    false,
    false,
    'the environment variable C, which should hold the key, is not set',
  ])
})

test.each<readonly [string, Give, object]>([
  [
    'that is refused for want of a key reached a service that judges keys first',
    answer(401, { error: 'missing service key' }),
    { kind: 'answered', keyFirst: true },
  ],
  ['that is refused for want of a scope: keys come later', answer(400, { error: 'no scope given' }), { kind: 'answered', keyFirst: false }],
  ['that is answered by no object', answer(200, null), { kind: 'failed', message: 'something else answers there (200, not an object)' }],
  ['that is answered is odd', answer(200, {}), { kind: 'answered', keyFirst: false, odd: 'it answered a request that carried no key' }],
  ['that meets a page reached something else', answer(200, '<html></html>'), { kind: 'failed' }],
  ['that is redirected did not arrive', answer(302, ''), { kind: 'failed' }],
  ['that meets a failing service did not arrive', answer(503, 'down'), { kind: 'failed' }],
  ['that nobody answers did not arrive', { kind: 'network', message: 'nothing listens' }, { kind: 'failed', message: 'nothing listens' }],
])('the first request: %s', async (_row, give, expected) => {
  const clock = hastyClock()
  const transport = scripted(clock, () => give)
  expect(await reach(transport, clock, (text) => text)).toMatchObject(expected)
  expect(transport.sent).toEqual([{ operation: 'GetUsageConfig', body: {}, at: 0 }])
})
