// Any answer, in status, headers and body, through the whole client: the result is a valid value or an ApiError, never another
// error; no NaN; only whole caps from 0 up; no endless wait; and never the key, however the service repeats it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TEAM, userScope } from '../../src/core/model/scope.ts'
import { letter, runs } from '../support/fuzz.ts'
import { failureOf } from './answers.ts'
import { KEY, type TestClient, testClient } from './world.ts'

const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 20, 12)
/** The longest wait that a service may ask for. */
const HOUR_MS = 3_600_000

/** Ways in which a service may repeat a key. */
const ECHOES = [
  KEY,
  JSON.stringify(KEY),
  encodeURIComponent(KEY),
  `bad key ${KEY}.`,
  `<title>${KEY}</title>`,
  KEY.slice(0, 20),
  KEY.slice(-14),
]
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', '0', '42', '42.0', '-1', '1e3', '1e999', 'NaN', '0x10', 'Infinity', {}, [], [null], [[]]),
  fc.constantFrom<unknown>(0, -0, 1, 42, -1, 0.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 5e-324, NOON),
  fc.constantFrom(
    '2026-11-20T00:00:00Z',
    '2026-11-20',
    '2026-11-20 17:00:00 +0000 UTC',
    '0000-00-00',
    '+275760-09-13T00:00:00Z',
    'UNKNOWN',
  ),
  fc.constantFrom(
    'USER_TEAM_STATUS_APPROVED',
    'USER_TEAM_STATUS_PENDING',
    'a@example.com',
    ' A@EXAMPLE.com ',
    '@',
    '__proto__',
    'constructor',
    'not_found',
    '\ud800',
  ),
  fc.constantFrom(...ECHOES),
  fc.string({ unit: letter, maxLength: 12 }),
)
const NAMES = [
  ...['addOnCreditCap', 'add_on_credit_cap', 'userTableStats', 'billingCycleStart', 'billingCycleEnd', 'email', 'name', 'teamStatus'],
  ...[
    'promptCreditsUsed',
    'disableService',
    'promptCreditsPerSeat',
    'numSeats',
    'addOnCreditsAvailable',
    'addOnCreditsUsed',
    'queryResults',
  ],
  ...[
    'responseItems',
    'item',
    'cascadeRuns',
    'cascadeLines',
    'cascadeToolUsage',
    'day',
    'model',
    'mode',
    'messagesSent',
    'promptsUsed',
    'count',
  ],
  ...['error', 'code', 'message', 'status', 'details', '__proto__', 'constructor', 'toString', ''],
]
const fields = (value: fc.Arbitrary<unknown>) => fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 6 })
const rows = fc.array(fields(odd), { maxLength: 4 })
const wrapped = fc
  .constantFrom('cascadeRuns', 'cascadeLines', 'cascadeToolUsage')
  .chain((name) => rows.map((all) => ({ [name]: { [name]: all } })))
const json = fc.oneof(
  { weight: 6, arbitrary: fields(fc.oneof(odd, rows, fields(odd), fc.array(wrapped, { maxLength: 3 }))) },
  {
    weight: 2,
    arbitrary: rows.map((userTableStats) => ({
      userTableStats,
      billingCycleStart: '2026-11-01T00:00:00Z',
      billingCycleEnd: '2026-12-01T00:00:00Z',
    })),
  },
  { weight: 2, arbitrary: fc.array(wrapped, { maxLength: 3 }).map((queryResults) => ({ queryResults })) },
  { weight: 1, arbitrary: odd },
)
const body = fc.oneof(
  { weight: 8, arbitrary: json.map((value) => JSON.stringify(value) ?? '') },
  { weight: 1, arbitrary: fc.tuple(json, fc.nat(40)).map(([value, cut]) => (JSON.stringify(value) ?? '').slice(0, cut)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '\ufeff{}', '<!doctype html><title>502</title>', '{"a":1}{"a":2}', '[['.repeat(2000), ...ECHOES),
  },
)
const wait = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '1.5',
    '1e9',
    '9'.repeat(400),
    'soon',
    '120, 60',
    '5 minutes',
    '\u0000',
    'Fri, 20 Nov 2026 12:00:05 GMT',
  ),
  fc.constantFrom('Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', '275760-09-14', '2026', '0x10', 'Infinity', 'NaN', KEY),
  fc.string({ maxLength: 8 }),
)
const headers = fc.dictionary(
  fc.constantFrom('retry-after', 'date', 'location', 'content-type'),
  fc.oneof(wait, fc.constantFrom(...ECHOES)),
)
const answer = fc.record({
  status: fc.oneof(
    { weight: 5, arbitrary: fc.constant(200) },
    fc.constantFrom(100, 204, 301, 307, 400, 401, 402, 403, 404, 408, 429, 500, 501, 503, 599, 0),
  ),
  headers,
  body,
})

/** Every number in a value, however deep. */
function numbersIn(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

function expectNoKey(text: string): void {
  for (let at = 0; at + 12 <= KEY.length; at += 1) expect(text).not.toContain(KEY.slice(at, at + 12))
}

const shown = (error: Error): string => JSON.stringify([error.message, error.stack, String(error), { ...error }, error.cause ?? null])

type Ask = (client: TestClient['client']) => Promise<unknown>
const ASKS: Readonly<Record<string, Ask>> = {
  'a cap': (client) => client.readCap(userScope('a@example.com')),
  'the roster': (client) => client.readRoster(),
  'a group': (client) => client.readGroup({ id: 'g', name: 'G' }),
  'the balance': (client) => client.readBalance(),
  runs: (client) => client.readRuns({ fromAt: NOON - 10 * DAY_MS }),
}

describe('any answer of the service', () => {
  test.each(Object.entries(ASKS))('to %s is a valid value or an ApiError', async (_what, ask) => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
        const { client, sent, clock } = testClient((_sent, count) => answers[Math.min(count, answers.length) - 1] ?? {})
        const value = await ask(client).catch((error: unknown) => error)
        if (value instanceof Error) {
          const { message, retryAfterMs = 0 } = failureOf(value)
          expectNoKey(shown(value))
          expect(message.length).toBeLessThan(800)
          expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
          expect(retryAfterMs >= 0 && retryAfterMs <= HOUR_MS).toBe(true)
        } else for (const number of numbersIn(value)) expect(number).toBeGreaterThan(Number.NEGATIVE_INFINITY)
        expect(numbersIn([client.clockSkewMs()]).every(Number.isFinite)).toBe(true)
        expect(numbersIn(value).every(Number.isFinite)).toBe(true)
        expect(sent.length).toBeLessThan(120)
        expect(clock.monotonic()).toBeLessThan(120 * HOUR_MS)
      }),
      runs(150),
    )
  })

  test('makes a reading a whole cap from 0 up, none, or unknown with its reason and without the key', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(answer, async (one) => {
        const { client } = testClient(() => one)
        const { observed, failure } = await client.readCap(TEAM)
        seen.add(typeof observed === 'number' ? 'cap' : observed)
        if (typeof observed === 'number') expect(Number.isSafeInteger(observed) && observed >= 0 && !Object.is(observed, -0)).toBe(true)
        else expect(['none', 'unknown']).toContain(observed)
        expect(failure === undefined).toBe(observed !== 'unknown')
        expectNoKey(failure?.message ?? '')
        // Only an object in a success says that nothing is set.
        if (observed !== 'unknown') expect([one.status >= 200 && one.status < 300, one.body.trim()[0]]).toEqual([true, '{'])
      }),
      runs(600),
    )
    expect(seen).toEqual(new Set(['cap', 'none', 'unknown']))
  })

  test('makes a write accepted, refused or ambiguous, and it is sent once unless it was refused for the rate', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (one) => {
        const { client, sent, events } = testClient((_sent, count) => (count === 1 ? one : {}))
        const outcome = await client.writeCap(TEAM, 'none')
        if (outcome.kind !== 'accepted') expectNoKey(outcome.failure.message)
        if (events[0]?.outcome !== 'rate_limited') expect(sent).toHaveLength(1)
        if (one.status >= 500 || one.status < 200) expect(outcome.kind).toBe('ambiguous')
      }),
      runs(200),
    )
  })
})
