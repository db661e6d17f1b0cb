// The HTTP server: paths, methods, bodies of every kind. No input gives a 500, a stack trace or a crash.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

const OPERATIONS = ['Analytics', 'UserPageAnalytics', 'CascadeAnalytics', 'GetUsageConfig', 'UsageConfig', 'GetTeamCreditBalance'] as const
let fixture: SandboxFixture

beforeAll(async () => {
  fixture = await startSandbox()
})
afterAll(() => fixture.close())

const send = async (path: string, init: RequestInit) => {
  const answer = await fetch(`${fixture.url}${path}`, init)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

describe('the server', () => {
  test.each([
    ['an unknown operation', '/api/v1/Teapot', 'POST', 404],
    ['another version', '/api/v2/GetUsageConfig', 'POST', 404],
    ['an unknown page', '/docs', 'GET', 404],
    ['a body for a page', '/', 'POST', 405],
    ['a change of a page', '/openapi.json', 'DELETE', 405],
    ['GET on an operation', '/api/v1/GetUsageConfig', 'GET', 405],
    ['PUT on an operation', '/api/v1/UsageConfig?x=1', 'PUT', 405],
  ])('refuses %s', async (_name, path, method, status) => {
    const told = await send(path, { method, ...(method === 'GET' ? {} : { body: '{}' }) })
    expect(told.status).toBe(status)
    expect(JSON.parse(told.text)).toEqual({ error: expect.any(String) })
    if (status === 405) expect(told.headers.get('allow')).toBe(path.startsWith('/api/') ? 'POST' : 'GET, HEAD')
  })

  test.each(['/_route/api_server', '/a', '/tenants/acme%20inc/v2', '/api/v2'])(
    'answers behind the path prefix %s as without it',
    async (prefix) => {
      const body = '{"service_key":"sandbox-admin","team_level":true}'
      expect(await send(`${prefix}/api/v1/GetUsageConfig?x=1`, { method: 'POST', body })).toMatchObject({ status: 200, text: '{}' })
      expect((await send(`${prefix}/api/v1/GetUsageConfig`, { method: 'POST', body: '{}' })).status).toBe(401)
      expect((await send(`${prefix}/api/v1/GetUsageConfig`, { method: 'GET' })).status).toBe(405)
      for (const rest of ['/api/v1/Teapot', '/GetUsageConfig', '/api/v1', '/api/v1/GetUsageConfig/more'])
        expect((await send(`${prefix}${rest}`, { method: 'POST', body })).status, rest).toBe(404)
    },
  )

  test('with errors in a 200 keeps the status of refusals by HTTP itself: paths, methods, bodies and host names', async () => {
    const lenient = await startSandbox({ errors: 'ok' })
    const status = async (path: string, init: RequestInit = { method: 'POST', body: '{}' }) => {
      const answer = await fetch(`${lenient.url}${path}`, init)
      expect(JSON.parse(await answer.text())).toEqual({ error: expect.any(String) })
      return answer.status
    }
    for (const path of ['/api/v1/Teapot', '/api/v2/GetUsageConfig', '/_route/x/api/v1/Teapot', '/docs', '/api/v1/%zz'])
      expect(await status(path), path).toBe(404)
    expect(await status('/api/v1/GetUsageConfig', { method: 'GET' })).toBe(405)
    expect(await status('/api/v1/GetUsageConfig', { method: 'POST', body: ' '.repeat(2 ** 20 + 1) })).toBe(413)
    expect(await status('/api/v1/GetUsageConfig')).toBe(200)
    expect(await status('/api/v1/GetUsageConfig', { method: 'POST', body: 'no JSON' })).toBe(200)
    const unknown = JSON.stringify({ service_key: 'sandbox-admin', group_id: 'none' })
    expect(await status('/api/v1/GetUsageConfig', { method: 'POST', body: unknown })).toBe(200)
    await lenient.close()
  })

  test.each([
    ['nothing', 400, ''],
    ['broken JSON', 400, '{"service_key": "sandbox-admin", '],
    ['a text', 400, '"sandbox-admin"'],
    ['null', 400, 'null'],
    ['a list', 400, '[{"service_key":"sandbox-admin"}]'],
    ['binary', 400, '\u0000\u0001\ud800'],
    ['deep nesting', 400, `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['a deep object without a key', 401, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a key in __proto__', 401, '{"__proto__":{"service_key":"sandbox-admin"},"team_level":true}'],
    ['a scope in __proto__', 400, '{"service_key":"sandbox-admin","__proto__":{"team_level":true}}'],
  ])('answers %s as a body with %i', async (_name, status, body) => {
    for (const operation of ['GetUsageConfig', 'Analytics']) {
      const told = await send(`/api/v1/${operation}`, { method: 'POST', body })
      expect(told.status).toBe(status)
      expect(told.text).not.toMatch(/\bat .*\.(ts|js)\b/)
    }
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
  ])('reads a JSON body whatever its type says: %s', async (type) => {
    const body = '{"service_key":"sandbox-admin","team_level":true}'
    expect((await send('/api/v1/GetUsageConfig', { method: 'POST', body, headers: { 'content-type': type } })).status).toBe(200)
  })

  test('carries the time of its clock as Date', async () => {
    const told = await send('/api/v1/GetTeamCreditBalance', { method: 'POST', body: '{"service_key":"sandbox-admin"}' })
    expect(told.headers.get('date')).toBe('Fri, 20 Nov 2026 12:00:00 GMT')
  })

  test('survives input that is not HTTP', async () => {
    const { hostname, port } = new URL(fixture.url)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.end('\u0016\u0003\u0001 nonsense\r\n\r\n'))
      socket.on('error', () => undefined).on('close', () => resolve())
      socket.resume()
    })
    expect((await send('/api/v1/GetTeamCreditBalance', { method: 'POST', body: '{"service_key":"sandbox-admin"}' })).status).toBe(200)
  })

  test.each([
    ...['localhost', 'localhost:9464', 'LocalHost:1', 'capkeeper.localhost:9464', '127.0.0.1:9464', '10.1.2.3'].map(
      (host) => [host, 401] as const,
    ),
    ...['[::1]:9464', '[::1]'].map((host) => [host, 401] as const),
    ...['rebound.example', 'rebound.example:9464', 'localhost.example', '127.0.0.1.example'].map((host) => [host, 421] as const),
    ...['', 'a b', 'localhost:x', 'evil@localhost'].map((host) => [host, 421] as const),
  ])('answers the host name %j with %i: a page of another site could use any that is not of this machine', async (host, status) => {
    const { hostname, port } = new URL(fixture.url)
    const said = await new Promise<string>((resolve) => {
      let text = ''
      const head = `POST /api/v1/GetUsageConfig HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`
      const socket = connect(Number(port), hostname, () => socket.write(head))
      socket.on('data', (data) => {
        text += data.toString()
      })
      socket.on('close', () => resolve(text))
    })
    expect(said.split(' ')[1]).toBe(String(status))
  })

  test('reports calls with their bodies, without the key', async () => {
    fixture.calls.clear()
    await send('/api/v1/GetUsageConfig', { method: 'POST', body: '{"service_key":"sandbox-admin","team_level":true}' })
    await fixture.transport.send('GetTeamCreditBalance', { service_key: 'sandbox-admin' }, { timeoutMs: 100 })
    expect([fixture.calls.count(), fixture.calls.count('GetUsageConfig'), fixture.calls.count('UsageConfig')]).toEqual([2, 1, 0])
    expect(fixture.calls.log[0]).toMatchObject({ operation: 'GetUsageConfig', body: { team_level: true }, status: 200, faults: [] })
    expect(JSON.stringify(fixture.calls.log)).not.toContain('sandbox-admin')
  })
})

test.each(OPERATIONS)('in process and over HTTP %s gives the same answer, headers included', async (operation) => {
  const request = { service_key: 'sandbox-admin', team_level: true, query_requests: [{ cascade_runs: {} }] }
  const told = await send(`/api/v1/${operation}`, { method: 'POST', body: JSON.stringify(request) })
  const inside = await fixture.transport.send(operation, request, { timeoutMs: 1000 })
  expect(inside).toMatchObject({ status: told.status, body: told.text })
  expect(Object.fromEntries(told.headers)).toMatchObject('headers' in inside ? inside.headers : {})
})

test('any bytes as a body never give a 500, a crash or a stack', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...OPERATIONS), fc.uint8Array({ maxLength: 2000 }), async (operation, body) => {
      const told = await send(`/api/v1/${operation}`, { method: 'POST', body: new Uint8Array(body) })
      expect([400, 401]).toContain(told.status)
      expect(JSON.parse(told.text)).toEqual({ error: expect.any(String) })
    }),
    { numRuns: 150 },
  )
})
