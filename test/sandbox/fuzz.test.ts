// Any request to any operation gets an answer in JSON with a documented status, never a 500, a crash or a stack trace. Bodies
// are valid ones with one or two faults, so that they pass the first checks.
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { letter } from '../support/fuzz.ts'
import { startSandbox } from '../support/sandbox.ts'

const fixture = await startSandbox({ people: 6, days: 4 })
afterAll(() => fixture.close())

const DOCUMENT = await (await fetch(`${fixture.url}/openapi.json`)).text()
const MAX_BODY_BYTES = 2 ** 20
type Operation = Parameters<typeof fixture.sandbox.exchange>[0]
type Described = {
  readonly post: { readonly requestBody: { readonly content: Readonly<Record<string, { readonly examples: Examples }>> } }
}
type Examples = { readonly sandbox: { readonly value: object } }
/** The example of each operation. */
const EXAMPLES = new Map(
  Object.entries<Described>(JSON.parse(DOCUMENT).paths).map(([path, { post }]) => [
    path.replace('/api/v1/', '') as Operation,
    post.requestBody.content['application/json']?.examples.sandbox.value ?? {},
  ]),
)
/** Every name of a field that any request has, and some that mean something to JavaScript. */
const NAMES = [
  ...new Set(DOCUMENT.match(/(?<=")[a-z]+(?:_[a-z]+)+(?=":)/g)),
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'field', 'name', 'filter', 'value', ''],
]
const WORDS = DOCUMENT.match(/(?<=")(?:QUERY_\w+|CHAT_\w+|num_\w+|date[^"]{0,8}|distinct_\w+|cascade_\w+)(?=")/g) ?? []

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', 0, -1, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 5e-324, [], {}, [null], [[]], [{}]),
  fc.constantFrom<unknown>(...WORDS),
  fc.string({ unit: letter, maxLength: 40 }),
  fc.constantFrom(
    '\u0000',
    '\ud800',
    "'; DROP TABLE people; --",
    '%',
    '*',
    'a'.repeat(5000),
    '9'.repeat(400),
    '2026-11-20T00:00:00Z',
    '-0',
    'NaN',
    '1e999',
  ),
)
const value: fc.Arbitrary<unknown> = fc.oneof(
  { maxDepth: 4 },
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom(...NAMES), leaf, { maxKeys: 4 }),
)

/** Puts `put` in place of, or beside, something inside a JSON value; `at` chooses where. */
function spoil(whole: unknown, at: number, name: string, put: unknown): unknown {
  if (typeof whole !== 'object' || whole === null) return put
  const entries: [string, unknown][] = Object.entries(whole)
  const index = at % (entries.length + 1)
  const step = Math.floor(at / (entries.length + 1))
  const chosen = entries[index]
  if (Array.isArray(whole)) {
    const list: unknown[] = [...whole]
    list[Math.min(index, list.length)] = chosen && step > 0 ? spoil(chosen[1], step, name, put) : put
    return list
  }
  const changed: readonly [string, unknown] = chosen ? [chosen[0], step > 0 ? spoil(chosen[1], step, name, put) : put] : [name, put]
  return Object.fromEntries([...entries, changed])
}

const body = (operation: Operation) =>
  fc.array(fc.tuple(fc.nat(5000), fc.constantFrom(...NAMES), value), { maxLength: 3 }).map((changes) => ({
    ...Object(changes.reduce((whole: unknown, [at, name, put]) => spoil(whole, at, name, put), EXAMPLES.get(operation))),
    service_key: 'sandbox-admin',
  }))

const STACK = /\bat .*\.(ts|js|mjs)\b|node:|SQLITE|sqlite/

describe.each([...EXAMPLES.keys()])('%s', (operation) => {
  test('answers every faulty request as documented', () => {
    const seen = new Set<number>()
    fc.assert(
      fc.property(body(operation), (spoilt) => {
        const result = fixture.sandbox.exchange(operation, JSON.stringify(spoilt))
        if (result.kind !== 'answer') throw new Error(result.kind)
        const { status, body: text } = result.answer
        seen.add(status)
        expect([200, 400, 404]).toContain(status)
        const told = JSON.parse(text)
        if (status !== 200) expect(Object.keys(told)).toEqual(['error'])
        if (status !== 200) expect(told.error.length).toBeLessThan(3000)
        expect(text.slice(0, 3000)).not.toMatch(STACK)
      }),
      { numRuns: 150 },
    )
    expect(seen).toContain(200)
    if (operation !== 'GetTeamCreditBalance') expect(seen).toContain(400)
  })

  const good = JSON.stringify({ service_key: 'sandbox-admin', ...EXAMPLES.get(operation) })
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const inside = (more: string): string => `{${more},${good.slice(1)}`

  test.each<readonly [string, string | Uint8Array, readonly number[]]>([
    ['broken JSON', good.slice(0, -1), [400]],
    ['two values', `${good}${good}`, [400]],
    ['a byte order mark', `\ufeff${good}`, [200, 400]],
    ['another text encoding', new Uint8Array(Buffer.from(good, 'utf16le')), [400]],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d), [400]],
    ['deep nesting in an unknown field', inside(`"x":${deep}`), [200]],
    ['deep nesting in query_requests', good.replace(/}$/, `,"query_requests":${deep}}`), [200, 400]],
    ['deep nesting in a scope', good.replace(/}$/, `,"user_email":${deep}}`), [200, 400]],
    ['a number beyond all numbers', good.replace(/}$/, ',"set_add_on_credit_cap":1e999}'), [200, 400]],
    ['a number of 100,000 digits', good.replace(/}$/, `,"set_add_on_credit_cap":${'9'.repeat(100_000)}}`), [200, 400]],
    ['a key in __proto__', `{"__proto__":${good}}`, [401]],
    ['a scope in __proto__ alone', '{"service_key":"sandbox-admin","__proto__":{"team_level":true}}', [200, 400]],
    ['the same name a thousand times', `{${'"team_level":false,'.repeat(1000)}${good.slice(1)}`, [200, 400]],
    ['20,000 queries', good.replace(/}$/, `,"query_requests":[${Array(20_000).fill('{}').join()}]}`), [200, 400]],
    ['50,000 e-mails', inside(`"emails":[${Array(50_000).fill('"a@b"').join()}]`), [200, 400]],
    ['a body of just the largest size', inside(`"x":"${'y'.repeat(MAX_BODY_BYTES - good.length - 8)}"`), [200]],
  ])('takes %s over HTTP', async (_name, text, statuses) => {
    const answer = await fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: text })
    const told = await answer.text()
    expect(statuses, told.slice(0, 300)).toContain(answer.status)
    expect(() => JSON.parse(told)).not.toThrow()
    expect(told.slice(0, 3000)).not.toMatch(STACK)
  })

  test('refuses 10 MB, and keeps running', async () => {
    const large = inside(`"x":"${'y'.repeat(10_000_000)}"`)
    const answer = await fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: large }).catch(() => undefined)
    // The connection may be closed before the client has sent the whole body.
    if (answer) expect(answer.status).toBe(413)
    expect((await fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: good })).status).toBe(200)
  })
})
