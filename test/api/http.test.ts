import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { realClock } from '../support/real-clock.ts'
import { KEY, listen, proxyTo, serve, testClient, transportTo } from './world.ts'

/** The bound of all answers but listings. */
const MAX_BYTES = 64 * 1024

/** Answers in another thread: half at once, the rest a little later. */
const QUICK_BEGINNER = `
  const { createServer } = require('node:http')
  const { parentPort } = require('node:worker_threads')
  const server = createServer((request, response) => {
    request.on('end', () => {
      response.writeHead(200).write('{"addOnCreditCap":' + ' '.repeat(10_000))
      setTimeout(() => response.end('1}'), 40)
    }).resume()
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

const BODY = { team_level: true, service_key: KEY }
const SOON = { timeoutMs: 60_000 }

describe('a request over HTTP', () => {
  it.each(['', '/', '/api/v1', '/api/v1/', '/_route/api_server', '/_route/api_server/api/v1/'])(
    'reaches the operation below a base URL ending in %j',
    async (end) => {
      const server = await serve((_request, response) => response.end('{}'))
      await transportTo(`${server.url}${end}`).send('GetUsageConfig', BODY, SOON)
      const prefix = end.includes('_route') ? '/_route/api_server' : ''
      expect(server.requests[0]?.request).toMatchObject({ method: 'POST', url: `${prefix}/api/v1/GetUsageConfig`, httpVersion: '1.1' })
    },
  )

  it.each([307, 418, 503])('is sent once as JSON with a user agent, and returns the answer unchanged: %i', async (status) => {
    const headers = { 'Retry-After': '3', 'X-Two': ['a', 'b'], location: '/elsewhere' }
    const server = await serve((_request, response) => response.writeHead(status, headers).end('short and stout'))
    const answer = await transportTo(server.url).send('UsageConfig', BODY, SOON)
    const told = { 'retry-after': '3', location: '/elsewhere', date: expect.any(String) }
    expect(answer).toMatchObject({ status, body: 'short and stout', headers: told })
    expect(server.requests.map(({ request, body }) => [request.headers['user-agent'], JSON.parse(body)])).toEqual([
      ['capkeeper/1.2.3', BODY],
    ])
    expect(server.requests[0]?.request.headers).toMatchObject({ 'content-type': 'application/json' })
  })

  it('understands a compressed answer', async () => {
    const server = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"addOnCreditCap":1}')),
    )
    expect(await transportTo(server.url).send('GetUsageConfig', BODY, SOON)).toMatchObject({ body: '{"addOnCreditCap":1}' })
  })

  it('gets the whole answer of a service that answers at once while this process is busy', async () => {
    const worker = new Worker(QUICK_BEGINNER, { eval: true })
    onTestFinished(async () => void (await worker.terminate()))
    const port = await new Promise((resolve) => worker.once('message', resolve))
    const transport = transportTo(`http://127.0.0.1:${port}`)
    await transport.send('GetUsageConfig', BODY, SOON)
    // The answer arrives before the event loop handles anything else of the request.
    let isBusy = true
    onTestFinished(() => {
      isBusy = false
    })
    const stay = async (): Promise<void> => {
      for (const clock = realClock(); isBusy; await clock.sleep(1)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 15)
    }
    void stay()
    for (let turn = 0; turn < 12; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(await transport.send('GetUsageConfig', BODY, SOON)).toMatchObject({ status: 200 })
    }
  })

  it('reuses a kept connection, and opens no more than the bound at once', async () => {
    const server = await serve((_request, response) => response.end('{}'))
    let connections = 0
    server.server.on('connection', () => {
      connections += 1
    })
    const transport = transportTo(server.url)
    for (let turn = 0; turn < 10; turn += 1) await transport.send('GetUsageConfig', BODY, SOON)
    expect(connections).toBe(1)
    await Promise.all(Array.from({ length: 40 }, () => transport.send('GetUsageConfig', BODY, SOON)))
    expect(connections).toBeLessThanOrEqual(4)
  })
})

describe('a request without an answer', () => {
  const cases: readonly [string, Parameters<typeof listen>[0], number, object][] = [
    ['no answer in time', () => undefined, 50, { kind: 'timeout', message: 'no answer within 0.05 s' }],
    ['an endless answer', (_request, response) => response.write('{"a"'), 100, { kind: 'timeout', message: 'no answer within 0.1 s' }],
    ['an early cut', (request) => request.socket.destroy(), SOON.timeoutMs, { kind: 'network', message: expect.stringContaining('cut') }],
    [
      'an answer shorter than announced',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"addOn', () => request.socket.destroy())
      },
      SOON.timeoutMs,
      { kind: 'network' },
    ],
    [
      'a chunked answer that is cut off',
      (request, response) => {
        response.write('{"addOn', () => request.socket.destroy())
      },
      SOON.timeoutMs,
      { kind: 'network' },
    ],
    ['no HTTP at all', (request) => request.socket.end('SSH-2.0-x\r\n\r\n'), SOON.timeoutMs, { kind: 'network' }],
  ]

  it.each(cases)('is a failure without any of the body: %s', async (_name, handler, timeoutMs, expected) => {
    const server = await serve(handler)
    const failure = await transportTo(server.url).send('GetUsageConfig', BODY, { timeoutMs })
    expect(failure).toMatchObject(expected)
    expect(Object.keys(failure).sort()).toEqual(['kind', 'message'])
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(KEY)
  })

  it('is a failure when nothing listens', async () => {
    const server = await listen(() => undefined)
    await server.close()
    expect(await transportTo(server.url).send('GetUsageConfig', BODY, SOON)).toEqual({
      kind: 'network',
      message: 'nothing listens at the address (ECONNREFUSED)',
    })
  })

  it('is a failure when the answer is larger than the bound, announced or not', async () => {
    const server = await serve((request, response) => {
      if (request.url?.endsWith('GetUsageConfig')) response.writeHead(200, { 'content-length': String(MAX_BYTES + 1) })
      response.write('x'.repeat(MAX_BYTES + 1))
    })
    for (const operation of ['GetUsageConfig', 'GetTeamCreditBalance'] as const) {
      expect(await transportTo(server.url).send(operation, BODY, SOON)).toEqual({
        kind: 'malformed',
        message: 'the answer is larger than 64 KiB and was dropped',
      })
    }
  })

  it('is a failure when a small answer decompresses to more than the bound', async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_BYTES + 1))
    const server = await serve((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    expect(await transportTo(server.url).send('GetTeamCreditBalance', BODY, SOON)).toMatchObject({ kind: 'malformed' })
  })

  it('has the status and the beginning of the body when the service fails with a long one', async () => {
    const server = await serve((_request, response) => response.writeHead(503).end('x'.repeat(5_000_000)))
    const answer = await transportTo(server.url).send('GetUsageConfig', BODY, SOON)
    expect(answer).toMatchObject({ status: 503, body: 'x'.repeat(MAX_BYTES) })
  })

  it('rejects with the reason of its signal when that aborts, before, during, or while the client is opened', async () => {
    const server = await serve(() => stop.abort(new Error('stopping')))
    const stop = new AbortController()
    const transport = transportTo(server.url)
    await expect(transport.send('GetUsageConfig', BODY, { ...SOON, signal: stop.signal })).rejects.toThrow('stopping')
    await expect(transport.send('GetUsageConfig', BODY, { ...SOON, signal: stop.signal })).rejects.toThrow('stopping')
    const cut = new AbortController()
    const opening = transportTo(server.url).send('GetUsageConfig', BODY, { ...SOON, signal: cut.signal })
    cut.abort(new Error('cut'))
    await expect(opening).rejects.toThrow('cut')
    expect(server.requests).toHaveLength(1)
  })
})

describe('a proxy', () => {
  it('carries requests, and its tunnel is kept open', async () => {
    const server = await serve((_request, response) => response.end('{"addOnCreditCap":1}'))
    const proxy = await proxyTo(server.url)
    const transport = transportTo('http://service.example:81', { proxyEnv: { http_proxy: proxy.url.replace('//', '//me:pass@') } })
    for (let turn = 0; turn < 3; turn += 1) expect(await transport.send('GetUsageConfig', BODY, SOON)).toMatchObject({ status: 200 })
    expect(proxy.asked).toEqual([`service.example:81 Basic ${Buffer.from('me:pass').toString('base64')}`])
    expect(server.requests).toHaveLength(3)
  })

  it('is used for https with HTTPS_PROXY, and its refusal is reported without its password', async () => {
    const proxy = await proxyTo()
    const transport = transportTo('https://service.example', { proxyEnv: { HTTPS_PROXY: proxy.url.replace('//', '//me:hunter2@') } })
    const failure = await transport.send('GetUsageConfig', BODY, SOON)
    expect(proxy.asked).toEqual([expect.stringMatching(/^service.example:443 Basic /)])
    expect(failure).toEqual({ kind: 'network', message: 'the proxy refused to connect (403)' })
  })

  it('is not used when NO_PROXY names the host', async () => {
    const transport = transportTo('https://service.invalid', { proxyEnv: { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '.invalid' } })
    expect(await transport.send('GetUsageConfig', BODY, SOON)).toMatchObject({
      kind: 'network',
      message: expect.not.stringContaining('ECONNREFUSED'),
    })
  })

  it('that is silent is waited for as long as any connection, and left then', async () => {
    const silent = await serve(() => undefined)
    let left = 0
    silent.server.on('connect', (_request, socket) => {
      socket.on('close', () => (left += 1)).on('end', () => socket.destroy())
      socket.resume()
    })
    const transport = transportTo('https://service.example', { proxyEnv: { HTTPS_PROXY: silent.url } })
    const message = 'the proxy of HTTPS_PROXY: no connection within 10 s'
    expect(await transport.send('GetUsageConfig', BODY, SOON)).toEqual({ kind: 'timeout', message })
    await expect.poll(() => left).toBe(1)
  })

  it('whose name nobody knows is named by its variable, without its password', async () => {
    const transport = transportTo('https://service.example', { proxyEnv: { HTTPS_PROXY: 'http://me:hunter2@nowhere.invalid:1' } })
    expect(await transport.send('GetUsageConfig', BODY, SOON)).toMatchObject({
      kind: 'network',
      message: expect.stringMatching(/^the proxy of HTTPS_PROXY: the host name (?!.*hunter2)/),
    })
  })

  it.each([
    ['base URL', { baseUrl: 'host' }, 'BASE_URL_INVALID'],
    ['proxy', { baseUrl: 'https://host', proxyEnv: { HTTPS_PROXY: 'socks5://x' } }, 'PROXY_INVALID'],
  ])('or address that cannot be used is refused at once: %s', (_name, { baseUrl, ...rest }, code) => {
    expect(() => transportTo(baseUrl, rest)).toThrow(
      expect.objectContaining({ name: 'InputError', problems: [expect.objectContaining({ code })] }),
    )
  })
})

it('a client over HTTP reads and writes through failures of every kind', async () => {
  let cap: number | undefined
  const replies: ((request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void)[] = [
    (_request, response) => response.writeHead(502).end('<html><title>Bad Gateway</title></html>'),
    (request) => request.socket.destroy(),
    (_request, response) => response.end('{"addOnCred'),
  ]
  const server = await serve((request, response, body) => {
    const { set_add_on_credit_cap: wanted } = JSON.parse(body)
    if (request.url?.endsWith('/UsageConfig')) {
      cap = wanted
      // The write took effect, but its answer is lost.
      return request.socket.destroy()
    }
    const reply = replies.shift()
    return reply ? reply(request, response) : response.end(JSON.stringify(cap === undefined ? {} : { addOnCreditCap: cap }))
  })
  const { client, events } = testClient(() => ({}), { transport: transportTo(server.url) })
  expect(await client.readCap(TEAM)).toMatchObject({ observed: 'none' })
  expect(await client.writeCap(TEAM, credits(5))).toMatchObject({ kind: 'ambiguous', failure: { kind: 'network' } })
  expect(await client.readCap(TEAM)).toMatchObject({ observed: 5 })
  expect(events.map((event) => event.outcome)).toEqual(['server', 'network', 'malformed', 'ok', 'network', 'ok'])
  expect(server.requests.filter(({ request }) => request.url?.endsWith('/UsageConfig'))).toHaveLength(1)
})
