// Questions to /api/v1 over real HTTP: those that make no sense are refused in words, and none is that the OpenAPI document allows.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { ADDRESSES, offences } from '../../support/api-schema.ts'
import { hastyClock } from '../../support/clock.ts'
import { libraryOf, NO_RECORDS } from '../../support/documents.ts'
import { ADA, historyOf, raise } from '../../support/ledger.ts'
import { serve } from '../../support/serve.ts'
import { fullView, HOLD } from '../../support/views.ts'

describe('an invalid request', () => {
  test('is no request that the OpenAPI document allows', async () => {
    const { url } = await serve({ views: () => [fullView()] })
    const anyValue = ({ schema }: (typeof ADDRESSES)[number]['query'][number]): fc.Arbitrary<string> => {
      if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
      if (schema.type === 'integer') return fc.integer({ min: Number(schema['minimum']), max: Number(schema['maximum']) }).map(String)
      if (schema['anyOf']) return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((at) => at.toISOString())
      const pattern = schema['pattern']
      return typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern)) : fc.string({ unit: 'grapheme', maxLength: 40 })
    }
    const questions = ADDRESSES.filter(({ query }) => query.length > 0).map(({ path, query: parameters }) =>
      fc
        .record(Object.fromEntries(parameters.map((one) => [one.name, anyValue(one)])), { requiredKeys: [] })
        .map(
          (query) =>
            `${path.replace(':workspace', 'acme').replace(/:\w+/, HOLD.id)}?${new URLSearchParams(Object.entries(query).map(([name, value = '']): [string, string] => [name, value]))}`,
        ),
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(...questions), async (path) => {
        expect([200, 404]).toContain((await fetch(url + path)).status)
      }),
      { numRuns: 60 },
    )
  })

  test('asks for more than a figure may be, or with a text that is too long', async () => {
    const { url } = await serve({ views: () => [fullView()] })
    const path = `${url}/api/v1/workspaces/acme/people`
    const asked = async (question: string) => [question.length > 40 ? 'long' : question, (await fetch(`${path}?${question}`)).status]
    const { query = [] } = ADDRESSES.find((one) => one.path.endsWith('/people')) ?? {}
    const most = query.flatMap(({ name, schema }) => (schema.type === 'integer' ? [[name, Number(schema['maximum'])] as const] : []))
    const bounds = most.flatMap(([name, figure]) => [`${name}=${figure}`, `${name}=${figure + 1}`])
    expect(await Promise.all(bounds.map(asked))).toEqual(bounds.map((question, index) => [question, index % 2 === 0 ? 200 : 400]))
    expect(bounds.length).toBeGreaterThanOrEqual(4)
    expect([await asked(`search=${'a'.repeat(320)}`), await asked(`search=${'a'.repeat(321)}`)]).toEqual([
      ['long', 200],
      ['long', 400],
    ])
  })

  test('a write is 405', async () => {
    const { url } = await serve({ views: () => [fullView()] })
    const answer = await fetch(`${url}/api/v1/workspaces/acme`, { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(offences('Error', await answer.json())).toEqual([])
  })
})

test('what a team declares and an envelope refuses is among what a person should look at', async () => {
  const { policy, ...view } = fullView()
  const views = () => [{ ...view, ...(policy && { policy: { ...policy, valid: true } }) }]
  const { url } = await serve({ views })
  const { attention } = JSON.parse(await (await fetch(`${url}/api/v1/workspaces`)).text())
  expect(attention).toContainEqual(expect.objectContaining({ subject: 'policy', tone: 'warn', path: '/workspaces/acme/policies' }))
})

test('the writes of one plan are searched a part at a time, with a rest after each, and not before the day that is asked', async () => {
  const beganAt = Date.parse('2026-11-10T00:00:00Z')
  const writes = Array.from({ length: 2_000 }, (_, index) =>
    historyOf(raise(ADA, index, index + 1), beganAt + index * 1_000, { planId: index % 400 === 0 ? 'wanted' : 'other' }),
  ).reverse()
  const [clock, begun] = [hastyClock(), hastyClock().monotonic()]
  const asked: (number | undefined)[] = []
  const history: typeof NO_RECORDS.history = async ({ limit, sinceAt = 0, untilAt = 0 } = {}) => {
    asked.push(limit)
    return writes.filter(({ at }) => at >= sinceAt && at <= untilAt).slice(0, limit)
  }
  const library = libraryOf({ views: () => [fullView()], clock, records: { ...NO_RECORDS, history } })
  const { items } = await library.for(EVERYBODY).changes('acme', { plan: 'wanted' })
  expect(items.map(({ to }) => to)).toEqual([1_601, 1_201, 801, 401, 1])
  expect([Math.max(...asked.map(Number)), clock.monotonic() - begun]).toEqual([500, asked.length - 1])
  asked.length = 0
  expect((await library.for(EVERYBODY).changes('acme', { plan: 'wanted', since: '2026-11-11' })).items).toEqual([])
  expect(asked).toHaveLength(1)
})
