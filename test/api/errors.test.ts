import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { classify, errorSighting, MAX_QUOTE, MAX_RETRY_AFTER_MS, outcomeOfFailure, tidy } from '../../src/api/errors.ts'
import { ApiError, type Operation } from '../../src/core/model/observed.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const plain = { nowMs: NOW, redact: (text: string) => text, names: true }

function judge(
  status: number,
  body: unknown,
  operation: Operation = 'GetUsageConfig',
  headers: Record<string, string> = {},
): Parameters<typeof outcomeOfFailure>[0] | 'ok' {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const verdict = classify({ status, headers, body: text }, operation, plain)
  return verdict.kind === 'ok' ? 'ok' : verdict.error
}

const kindOf = (status: number, body: unknown, operation?: Operation): string => {
  const judged = judge(status, body, operation)
  return judged === 'ok' ? 'ok' : judged.kind
}

const HTML = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'

describe('an answer is classified', () => {
  it.each([
    ['as a success: 200 with an object', 200, {}, 'ok'],
    ['as a success: 204 with nothing', 204, '', 'ok'],
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
  ])('%s', (_name, status, body, expected) => {
    expect(kindOf(status, body)).toBe(expected)
  })
})

describe('a request that names no person or group', () => {
  it.each([
    ['by a code', { code: 'not_found', message: 'x' }],
    ['by a stem', { error: 'group not found' }],
  ])('is not answered with a 404: the service is not there, %s', (_name, said) => {
    const answer = { status: 404, headers: {}, body: JSON.stringify(said) }
    expect(classify(answer, 'UserPageAnalytics', { ...plain, names: false })).toMatchObject({ error: { kind: 'malformed' } })
  })
})

describe('metrics call a failure', () => {
  it.each([
    ['by its status: 400 with a page', 400, HTML, 'invalid'],
    ['by its status: 404 with a page', 404, HTML, 'not_found'],
    ['by its status: 404 with nothing', 404, '', 'not_found'],
    ['by what the service says: 400 about a user', 400, { error: 'user not found' }, 'not_found'],
    ['malformed: a redirect', 302, '', 'malformed'],
  ])('%s', (_name, status, body, expected) => {
    const judged = judge(status, body)
    expect(judged !== 'ok' && outcomeOfFailure(judged)).toBe(expected)
  })
})

describe('the plan without the feature', () => {
  it.each([
    ['403 that names the plan', 403, { error: 'this feature requires an Enterprise plan' }],
    ['400 that names the tier', 400, { code: 'failed_precondition', message: 'enterprise tier needed' }],
    ['200 with an error that names the plan', 200, { error: 'not available on your plan' }],
    ['501 unimplemented', 501, { code: 'unimplemented', message: 'no' }],
    ['402', 402, ''],
  ])('is recognised: %s', (_name, status, body) => {
    expect(judge(status, body, 'GetTeamCreditBalance')).toMatchObject({ lacksFeature: true, kind: 'invalid' })
  })

  it.each([
    ['a read whose plan is named', 403, { error: 'an enterprise plan is needed' }, 'GetUsageConfig', 'auth'],
    [
      'a read that is there for no team',
      400,
      { code: 'invalid_argument', message: 'not available for this team' },
      'GetUsageConfig',
      'invalid',
    ],
    [
      'a write that is there for no team',
      403,
      { code: 'permission_denied', message: 'caps are not enabled on your plan' },
      'UsageConfig',
      'auth',
    ],
    ['an error in a 200', 200, { error: 'permission denied: not included in this plan' }, 'UsageConfig', 'auth'],
    ['402', 402, '', 'GetUsageConfig', 'invalid'],
  ] as const)('is recognised for caps, which keep their kind: %s', (_name, status, body, operation, kind) => {
    expect(judge(status, body, operation)).toMatchObject({
      lacksFeature: true,
      kind,
      message: expect.stringContaining('the plan lacks this'),
    })
  })

  it.each([
    ['another operation', 403, { error: 'enterprise plan needed' }, 'UserPageAnalytics'],
    ['a missing permission for caps', 403, { code: 'permission_denied', message: 'insufficient permissions' }, 'GetUsageConfig'],
    ['an unknown group', 404, { error: 'group not available on this team' }, 'GetUsageConfig'],
    ['a refused value', 400, { error: 'a cap of 0 is not enabled for this team' }, 'UsageConfig'],
    ['a refused key for caps', 401, { error: 'not available for this team' }, 'GetUsageConfig'],
    ['a planned outage', 503, { error: 'caps are not available for this team right now' }, 'GetUsageConfig'],
    ['a refused key', 401, { error: 'plan' }, 'GetTeamCreditBalance'],
    ['a missing permission', 403, { error: 'insufficient permissions' }, 'GetTeamCreditBalance'],
    ['an outage', 503, { error: 'billing plan service down' }, 'GetTeamCreditBalance'],
  ] as const)('is not confused with %s', (_name, status, body, operation) => {
    expect(judge(status, body, operation)).not.toHaveProperty('lacksFeature')
  })
})

describe('Retry-After', () => {
  const date = 'Fri, 20 Nov 2026 12:00:30 GMT'
  it.each([
    ['in seconds', { 'retry-after': '7' }, 7_000],
    ['as a date, from our clock', { 'retry-after': date }, 30_000],
    ['as a date, from the clock of the service when it tells it', { 'retry-after': date, date: 'Fri, 20 Nov 2026 12:00:20 GMT' }, 10_000],
    ['as a date that is past', { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
    ['longer than an hour', { 'retry-after': '999999' }, MAX_RETRY_AFTER_MS],
    ['that makes no sense', { 'retry-after': 'later' }, undefined],
    ['that is absent', {}, undefined],
  ])('%s', (_name, headers, expected) => {
    const judged = judge(429, '', 'GetUsageConfig', headers)
    expect(judged === 'ok' ? judged : judged.retryAfterMs).toBe(expected)
  })
})

describe('a message', () => {
  it.each([
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
  ])('%s', (_name, status, body, expected) => {
    const judged = judge(status, body)
    expect(judged === 'ok' ? '' : judged.message).toMatch(expected)
  })

  it('has the target of a redirect, without its query', () => {
    const judged = judge(301, '', 'UsageConfig', { location: 'https://elsewhere.example/login?key=abc#x' })
    expect(judged).toMatchObject({ kind: 'malformed', status: 301 })
    expect(judged === 'ok' ? '' : judged.message).toContain(
      'redirected (301) to https://elsewhere.example/login; redirects are not followed',
    )
  })

  it('is bounded for any length of the service’s message', () => {
    const judged = judge(400, { error: 'x y '.repeat(100_000) })
    expect(judged === 'ok' ? 0 : judged.message.length).toBeLessThan(MAX_QUOTE + 100)
  })
})

describe('a text that looks like a key', () => {
  it.each([
    ['a UUID', 'no such key 123e4567-e89b-12d3-a456-426614174000 here', 'no such key [removed] here'],
    ['a long token', 'bad c2VydmljZS1rZXktMTIzNDU2Nzg5MA== given', 'bad [removed] given'],
    ['a named key', 'request {"service_key": "hunter2"} refused', 'request {"service_key": "[removed]"} refused'],
  ])('is removed: %s', (_name, text, expected) => {
    expect(tidy(text, (same) => same)).toBe(expected)
  })

  it.each([
    ['an enum name', 'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED'],
    ['an e-mail', 'user ada.lovelace@example.com not found'],
    ['a short id', 'invalid group id grp_platform_2026'],
  ])('is not confused with %s', (_name, text) => {
    expect(tidy(text, (same) => same)).toBe(text)
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
  ] as const)('%s', (_row, status, body, value) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(errorSighting({ status, headers: {}, body: text }, 'UsageConfig')?.value).toBe(value)
  })
})
