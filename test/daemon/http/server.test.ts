import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ListenError } from '../../../src/daemon/http/server.ts'
import { serve } from '../../support/serve.ts'
import { fullView } from '../../support/views.ts'

const start = (overrides: Parameters<typeof serve>[0] = {}) => serve({ views: () => [fullView()], ...overrides })

describe('the pages', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', 'capkeeper_team_cap_credits{workspace="acme",side="observed"} 800'],
    ['/livez', 'text/plain; charset=utf-8', 'ok\n'],
    ['/readyz', 'text/plain; charset=utf-8', 'ok\n'],
    ['/status', 'application/json; charset=utf-8', '"kind": "Status"'],
    ['/', 'text/html; charset=utf-8', '<a href="/workspaces/acme">acme</a>'],
    ['/?utm=x&utm=y', 'text/html; charset=utf-8', '<a href="/workspaces/acme">acme</a>'],
    ['/metrics?name=x', 'text/plain; version=0.0.4; charset=utf-8', 'capkeeper_build_info'],
  ]
  test.each(rows)('%s answers GET with its content, and HEAD without', async (path, type, content) => {
    const { url } = await start()
    const answer = await fetch(url + path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(await answer.text()).toContain(content)
    const head = await fetch(url + path, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
  })

  test('/readyz says what is missing until every workspace was attempted once', async () => {
    let readiness: { readonly ready: boolean; readonly reasons: readonly string[] } = {
      ready: false,
      reasons: ['acme: no cycle was attempted yet'],
    }
    const { url } = await start({ ready: () => readiness })
    const before = await fetch(`${url}/readyz`)
    expect(before.status).toBe(503)
    expect(await before.text()).toBe('not ready\n- acme: no cycle was attempted yet\n')
    readiness = { ready: true, reasons: [] }
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  test('carry headers that keep them from being framed, sniffed, cached or scripted', async () => {
    const { url } = await start()
    const { headers } = await fetch(url)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('refuse a browser with a page, and a program with bare words', async () => {
    const { url } = await start()
    const path = `${url}/workspaces/acme/holds/0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d`
    const seen = await fetch(path, { headers: { accept: 'text/html' } })
    expect([seen.status, seen.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await seen.text()).toContain('To the overview')
    const bare = await fetch(path)
    expect([bare.status, bare.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8'])
  })
})

describe('refusals', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s on a page is 405 with what is allowed', async (method) => {
    const { url } = await start()
    const body = method === 'POST' ? { body: 'x'.repeat(5000), headers: { 'content-type': 'application/odd' } } : {}
    const answer = await fetch(`${url}/status`, { method, ...body })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
  })

  test('a page that cannot be made is a bare 500 without a stack trace, and the daemon is told', async () => {
    const errors: Error[] = []
    const views = () => {
      throw new Error('secret detail')
    }
    const { url } = await start({ views, onError: (error) => errors.push(error) })
    for (const path of ['/', '/status', '/metrics']) {
      const answer = await fetch(url + path)
      expect(answer.status).toBe(500)
      expect(await answer.text()).toBe('this page could not be made; the log says why\n')
    }
    expect(errors.map((error) => error.message)).toEqual(['secret detail', 'secret detail', 'secret detail'])
    expect((await fetch(`${url}/livez`)).status).toBe(200)
  })
})

describe('listening', () => {
  test('on a port that is taken fails with the address and the way out', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const attempt = start({ port })
    await expect(attempt).rejects.toBeInstanceOf(ListenError)
    await expect(attempt).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the address is already in use`)
    other.close()
  })

  test('on every address shows a URL that a person can open', async () => {
    const { url } = await start({ host: '0.0.0.0' })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
  })

  test('ends at once also while a client holds a connection open', async () => {
    const server = await start()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const cut = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n')
    await server.close()
    await cut
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
  })
})
