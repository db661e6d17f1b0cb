// What the client says of an answer that is no success: its kind, its words, and what it keeps to itself.
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/core/model/observed.ts'
import { userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { NOON, rejection } from './answers.ts'
import { hastyClock, testClient } from './world.ts'

const ADA = userScope('ada@example.com')

/** A client that gets this answer to each request, at noon. */
const answered = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const seen: { readonly aspect: string; readonly value: unknown }[] = []
  const answer = { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
  return { ...testClient(() => answer, { onSeen: (one) => seen.push(one) }, hastyClock(NOON - 20)), seen }
}

const failureOfRead = async (status: number, body: unknown, headers?: Record<string, string>) =>
  (await answered(status, body, headers).client.readCap(ADA)).failure

async function failureOfWrite(status: number, body: unknown) {
  const outcome = await answered(status, body).client.writeCap(ADA, credits(5))
  return outcome.kind === 'accepted' ? undefined : outcome.failure
}

const HTML = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'

describe('an answer is classified', () => {
  it.each([
    ['as a success: 200 with an object', 200, {}, 'ok'],
    ['as a success: 204 with nothing', 204, '', 'ok'],
    ['as malformed: 202 with a page, which something in between has sent', 202, HTML, 'malformed'],
    ['as malformed: 200 with a page about a key', 200, '<!doctype html><title>Unauthorized</title>', 'malformed'],
    ['as a success: 200 with an empty error', 200, { error: '' }, 'ok'],
    ['as a success: 200 with a null error', 200, { error: null }, 'ok'],
    ['as a success: 200 with zero bytes, which decoding judges', 200, '', 'ok'],
    ['by the error in a 200: key', 200, { error: 'invalid service key' }, 'auth'],
    ['by the error in a 200: rate', 200, { error: 'rate limit exceeded' }, 'rate_limited'],
    ['by the error in a 200: group', 200, { error: 'invalid group name: X' }, 'not_found'],
    ['by the error in a 200: request', 200, { error: 'exactly one scope must be given' }, 'invalid'],
    ['by the error in a 200: service', 200, { error: 'internal error' }, 'server'],
    ['by the error in a 200: unknown words are the service failing', 200, { error: 'computer says no' }, 'server'],
    ['by the error in a 200: an object', 200, { error: { code: 'not_found', message: 'x' } }, 'not_found'],
    ['by the error in a 200: a code that every object has', 200, { error: { code: '__proto__', message: 'x' } }, 'server'],
    ['as a success: a code in a 200 that every object has', 200, { code: 'constructor', message: 'x' }, 'ok'],
    ['by the code in a 200 that is no answer', 200, { code: 'permission_denied', message: 'x' }, 'auth'],
    ['by status: 429 whatever it says', 429, { error: 'permission denied' }, 'rate_limited'],
    ['by status: 401 whatever it says', 401, { error: 'not found' }, 'auth'],
    ['by status: 500 whatever it says', 500, { error: 'group not found' }, 'server'],
    ['by status: 502 with a page', 502, HTML, 'server'],
    ['by status: 503 with nothing', 503, '', 'server'],
    ['by status: 401 with a page', 401, HTML, 'auth'],
    ['by status: 403 with a page', 403, HTML, 'auth'],
    ['as no answer: 400 with a page', 400, HTML, 'malformed'],
    ['as no answer: 404 with a page', 404, '<html><title>404 Not Found</title></html>', 'malformed'],
    ['as no answer: 405 with a page about a key', 405, '<html><title>Unknown group or API key</title></html>', 'malformed'],
    ['by status: 408', 408, '', 'timeout'],
    ['by status: 499', 499, '', 'timeout'],
    ['by status: 407 is the proxy', 407, 'Proxy Authentication Required', 'network'],
    ['by status: 400 with nothing', 400, '', 'invalid'],
    ['by status: 400 with an error', 400, { error: 'exactly one of the scope fields must be set' }, 'invalid'],
    ['by status: 400 with plain text', 400, 'duplicate field alias', 'invalid'],
    ['by status: 409', 409, { error: 'conflict' }, 'invalid'],
    ['as no answer: 404 with nothing', 404, '', 'malformed'],
    ['as no answer: 404 with the words of a proxy', 404, 'default backend - 404', 'malformed'],
    ['as no answer: 404 about a page', 404, '404 page not found', 'malformed'],
    ['as no answer: 404 with the reason phrase', 404, { message: 'Not Found' }, 'malformed'],
    ['by stem: 404 about a user', 404, { error: 'user not found' }, 'not_found'],
    ['by stem: 404 about a user with an address', 404, { error: 'user ada.lovelace@example.com was not found' }, 'not_found'],
    ['by stem: 404 about an e-mail', 404, { error: 'invalid user e-mail' }, 'not_found'],
    ['by code: 404 not_found', 404, { code: 'not_found', message: 'x' }, 'not_found'],
    ['by status: 403 with nothing', 403, '', 'auth'],
    ['by status: 403 with an unknown text', 403, 'no', 'auth'],
    ['by code: 400 unauthenticated', 400, { code: 'unauthenticated', message: 'x' }, 'auth'],
    ['by code: 400 not_found', 400, { code: 'not_found', message: 'x' }, 'not_found'],
    ['by code: 403 not_found', 403, { code: 'not_found', message: 'permission' }, 'not_found'],
    ['by code: 403 permission_denied', 403, { code: 'permission_denied', message: 'group not found' }, 'auth'],
    ['by code: 400 resource_exhausted', 400, { code: 'resource_exhausted', message: 'x' }, 'rate_limited'],
    ['by code: 409 aborted', 409, { code: 'aborted', message: 'x' }, 'server'],
    ['by code: 408 deadline_exceeded', 408, { code: 'deadline_exceeded', message: 'x' }, 'timeout'],
    ['by code: 400 canceled', 400, { code: 'canceled', message: 'x' }, 'timeout'],
    ['by code: a numbered one', 400, { code: 5, message: 'x' }, 'not_found'],
    ['by stem: 400 about the field of Analytics that is called so', 400, { error: 'a filter on api_key is required' }, 'invalid'],
    ['by stem: 400 about the key', 400, { error: 'invalid service_key' }, 'auth'],
    ['by stem: 403 about a group', 403, { error: 'invalid group name: X' }, 'not_found'],
    ['by stem: 400 about a user', 400, { error: 'user not found in team' }, 'not_found'],
    ['by stem: a key that is not found is about the key', 404, { error: 'service key not found' }, 'auth'],
    ['by stem: 400 without selections', 400, { error: 'at least one field or aggregation is needed' }, 'invalid'],
    ['by stem: 403 for the rate', 403, 'Rate limit exceeded', 'rate_limited'],
    ['as malformed: a redirect', 302, '', 'malformed'],
  ])('%s', async (_name, status, body, expected) => {
    const { client, sent } = answered(status, body)
    const outcome = await client.writeCap(ADA, credits(5))
    const kind = outcome.kind === 'accepted' ? 'ok' : outcome.failure.kind
    const hadNoEffect = ['rate_limited', 'auth', 'invalid', 'not_found'].includes(kind) || status === 407
    expect([kind, outcome.kind]).toEqual([expected, kind === 'ok' ? 'accepted' : hadNoEffect ? 'refused' : 'ambiguous'])
    expect(sent).toHaveLength(kind === 'rate_limited' ? 101 : 1)
  })
})

describe('a request that names no person or group', () => {
  it.each([
    ['by a code', { code: 'not_found', message: 'x' }],
    ['by a stem', { error: 'group not found' }],
  ])('is not answered with a 404: the service is not there, %s', async (_name, said) => {
    expect(await rejection(answered(404, said).client.readRoster())).toMatchObject({ kind: 'malformed' })
  })
})

describe('metrics call a failure', () => {
  it.each([
    ['by its status: 400 with a page', 400, HTML, 'invalid'],
    ['by its status: 404 with a page', 404, HTML, 'not_found'],
    ['by its status: 404 with nothing', 404, '', 'not_found'],
    ['by what the service says: 400 about a user', 400, { error: 'user not found' }, 'not_found'],
    ['malformed: a redirect', 302, '', 'malformed'],
  ])('%s', async (_name, status, body, expected) => {
    const { client, events } = answered(status, body)
    await client.readCap(ADA)
    expect(events[0]?.outcome).toBe(expected)
  })
})

describe('the plan without the feature', () => {
  it.each([
    ['403 that names the plan', 403, { error: 'this feature requires an Enterprise plan' }],
    ['400 that names the tier', 400, { code: 'failed_precondition', message: 'enterprise tier needed' }],
    ['200 with an error that names the plan', 200, { error: 'not available on your plan' }],
    ['501 unimplemented', 501, { code: 'unimplemented', message: 'no' }],
    ['402', 402, ''],
  ])('is recognised: %s', async (_name, status, body) => {
    const { client, events } = answered(status, body)
    expect(await client.readBalance()).toBe('unavailable')
    expect(events.map(({ outcome }) => outcome)).toEqual(['invalid'])
  })

  it.each([
    ['a read whose plan is named', failureOfRead, 403, { error: 'an enterprise plan is needed' }, 'auth'],
    [
      'a read that is there for no team',
      failureOfRead,
      400,
      { code: 'invalid_argument', message: 'not available for this team' },
      'invalid',
    ],
    [
      'a write that is there for no team',
      failureOfWrite,
      403,
      { code: 'permission_denied', message: 'caps are not enabled on your plan' },
      'auth',
    ],
    ['an error in a 200', failureOfWrite, 200, { error: 'permission denied: not included in this plan' }, 'auth'],
    ['402', failureOfRead, 402, '', 'invalid'],
  ] as const)('is recognised for caps, which keep their kind: %s', async (_name, failureOf, status, body, kind) => {
    const message = expect.stringContaining('the plan lacks this')
    expect(await failureOf(status, body)).toMatchObject({ lacksFeature: true, kind, message })
  })

  const ofRoster = (status: number, body: unknown) => rejection(answered(status, body).client.readRoster())
  const ofBalance = (status: number, body: unknown) => rejection(answered(status, body).client.readBalance())
  it.each([
    ['another operation', ofRoster, 403, { error: 'enterprise plan needed' }],
    ['a missing permission for caps', failureOfRead, 403, { code: 'permission_denied', message: 'insufficient permissions' }],
    ['an unknown group', failureOfRead, 404, { error: 'group not available on this team' }],
    ['a refused value', failureOfWrite, 400, { error: 'a cap of 0 is not enabled for this team' }],
    ['a refused key for caps', failureOfRead, 401, { error: 'not available for this team' }],
    ['a planned outage', failureOfRead, 503, { error: 'caps are not available for this team right now' }],
    ['a refused key', ofBalance, 401, { error: 'plan' }],
    ['a missing permission', ofBalance, 403, { error: 'insufficient permissions' }],
    ['an outage', ofBalance, 503, { error: 'billing plan service down' }],
  ] as const)('is not confused with %s', async (_name, failureOf, status, body) => {
    const failure = await failureOf(status, body)
    expect(failure).toHaveProperty('message')
    expect(Object(failure).lacksFeature).toBeUndefined()
  })
})

describe('Retry-After', () => {
  const date = 'Fri, 20 Nov 2026 12:00:30 GMT'
  it.each([
    ['in seconds', { 'retry-after': '7' }, 7_000],
    ['as a date, from our clock', { 'retry-after': date }, 30_000],
    ['as a date, from the clock of the service when it tells it', { 'retry-after': date, date: 'Fri, 20 Nov 2026 12:00:20 GMT' }, 10_000],
    ['as a date that is past', { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
    ['longer than an hour', { 'retry-after': '999999' }, 3_600_000],
    ['that makes no sense', { 'retry-after': 'later' }, undefined],
    ['that is absent', {}, undefined],
  ])('%s', async (_name, headers, expected) => {
    const error = await rejection(answered(400, '', headers).client.readRoster())
    expect(error).toMatchObject({ kind: 'invalid' })
    expect(Object(error).retryAfterMs).toBe(expected)
  })
})

describe('a message', () => {
  it.each<readonly [string, number, unknown, RegExp]>([
    [
      'names the operation and the permission for a refused key',
      403,
      '',
      /^GetUsageConfig: the key was refused \(403\): needs Billing Read$/,
    ],
    [
      'quotes the service',
      400,
      { error: 'cap too large' },
      /^GetUsageConfig: the request was refused \(400\); the service said: cap too large$/,
    ],
    ['quotes the title of a page', 502, HTML, /\(502\); the service said: 502 Bad Gateway$/],
    ['asks about the base URL when a 404 says nothing', 404, '404 page not found', /is the base URL right\?$/],
    ['does not ask about the base URL when the group is named', 404, { error: 'invalid group name: X' }, /invalid group name: X$/],
    ['is one line', 400, { error: 'a\nb\u0000\u001b[31mc' }, /said: a b \[31mc$/],
    ['is bounded for any length of the service’s message', 400, { error: 'x y '.repeat(100_000) }, /^.{150,400}…$/],
    ['leaves out a UUID', 400, 'no such key 123e4567-e89b-12d3-a456-426614174000 here', /said: no such key \[removed\] here$/],
    ['leaves out a long token', 400, 'bad c2VydmljZS1rZXktMTIzNDU2Nzg5MA== given', /said: bad \[removed\] given$/],
    ['leaves out a named key', 400, 'request {"service_key": "hunter2"} refused', /said: request {"service_key": "\[removed\]"} refused$/],
    [
      'keeps an enum name',
      400,
      'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED',
      /said: invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED$/,
    ],
    ['keeps an e-mail', 400, 'user ada.lovelace@example.com not found', /said: user ada.lovelace@example.com not found$/],
    ['keeps a short id', 400, 'invalid group id grp_platform_2026', /said: invalid group id grp_platform_2026$/],
  ])('%s', async (_name, status, body, expected) => {
    expect((await failureOfRead(status, body))?.message).toMatch(expected)
  })

  it('has the target of a redirect, without its query', async () => {
    const failure = await failureOfRead(301, '', { location: 'https://elsewhere.example/login?key=abc#x' })
    expect(failure?.message).toContain('redirected (301) to https://elsewhere.example/login; redirects are not followed')
  })
})

it('an ApiError has only the fields on its list', () => {
  const error = new ApiError({ operation: 'UsageConfig', kind: 'server', message: 'm', status: 500 })
  expect(Object.keys(error).sort()).toEqual(['kind', 'name', 'operation', 'status'])
  expect('cause' in error).toBe(false)
  expect(inspect(error)).not.toContain('undefined')
})

describe('the shape of an error is recognised', () => {
  it.each([
    ['as an object with an error', 400, { error: 'no' }, 'error'],
    ['as an object with code and message', 403, { code: 'permission_denied', message: 'no' }, 'coded'],
    ['as plain text', 400, 'no such thing', 'text'],
    ['as an error in a success', 200, { error: 'no' }, 'ok'],
    ['not in a page, which something in between has sent', 404, HTML, undefined],
    ['not in a refusal for the rate', 429, { error: 'slow down' }, undefined],
    ['not when the service fails', 502, 'bad gateway', undefined],
    ['not in a redirect', 302, '', undefined],
    ['not in a body without words', 400, '', undefined],
  ] as const)('%s', async (_row, status, body, value) => {
    const { client, seen } = answered(status, body)
    await client.writeCap(ADA, credits(5))
    expect(seen[0]).toEqual(value && expect.objectContaining({ aspect: 'errors', value }))
  })
})
