// Slow, many and misbehaving clients, over raw sockets. The limits are short, so that the tests are.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { connectionsWithin, descriptorLimit, SERVER_LIMITS } from '../../../src/daemon/http/server.ts'
import { fakeClock } from '../../support/clock.ts'
import { libraryOf } from '../../support/documents.ts'
import { realClock } from '../../support/real-clock.ts'
import { closing, serve } from '../../support/serve.ts'
import { pieces } from '../../support/views.ts'

const start = (limits: Partial<typeof SERVER_LIMITS>, more: Parameters<typeof serve>[0] = {}) =>
  serve({ limits: { checkEveryMs: 20, ...limits }, clock: realClock(), ...more })

interface Reached {
  readonly url: string
}

/** Opens a connection; `said` is all that came back, once the server has closed it. */
async function client({ url }: Reached): Promise<{ readonly socket: Socket; readonly said: Promise<string> }> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  closing({ close: () => socket.destroy() })
  const said = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (data) => {
      text += data.toString()
    })
    socket.on('error', () => undefined).on('close', () => resolve(text))
  })
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, said }
}

async function says(server: Reached, text: string): Promise<string> {
  const { socket, said } = await client(server)
  socket.write(text)
  return said
}

/** The server of Node behind it, as Node tells of a request. */
async function nodeServer(reached: Reached, request: string): Promise<Server> {
  let server: Server | undefined
  const listener = (message: unknown): void => {
    server = Object(message).server
  }
  subscribe('http.server.request.start', listener)
  await says(reached, request)
  unsubscribe('http.server.request.start', listener)
  if (!server) throw new Error('Node has told of no request')
  return server
}

const ASK = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** Gives the server connections that are all there at once. */
async function coming(reached: Reached): Promise<(text: string) => Duplex> {
  const listening = await nodeServer(reached, ASK)
  return (text) => {
    const [near, far] = duplexPair()
    listening.emit('connection', far)
    near.write(text)
    return near
  }
}

const OK = async ({ url }: Reached): Promise<number> => (await fetch(`${url}/livez`)).status

describe('a slow client is cut off, and the server goes on', () => {
  const rows: readonly (readonly [string, Partial<typeof SERVER_LIMITS>, string, RegExp])[] = [
    ['one that says nothing', { headersTimeoutMs: 250, idleTimeoutMs: 250 }, '', /^(HTTP\/1\.1 408 |$)/],
    ['one that never ends its headers', { headersTimeoutMs: 100 }, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: ', /^HTTP\/1\.1 408 /],
    ['one that stops after its answer', { idleTimeoutMs: 100 }, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 200 /],
  ]
  test.each(rows)('%s', async (_name, limits, text, expected) => {
    const server = await start(limits)
    expect(await says(server, text)).toMatch(expected)
    expect(await OK(server)).toBe(200)
  })

  test('one that never sends the body it has announced', async () => {
    const server = await start({ headersTimeoutMs: 100, requestTimeoutMs: 150 })
    const said = await says(server, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx')
    expect(said).toMatch(/^HTTP\/1\.1 (200|400|408|413) /)
    expect(await OK(server)).toBe(200)
  })

  test('one that ends with its last request is answered all the same', async () => {
    const { socket, said } = await client(await start({}))
    socket.end('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\nGET /status HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect((await said).match(/HTTP\/1.1 200 /g)).toHaveLength(2)
  })

  test('one that resets its connection, before it asks or while it does', async () => {
    const server = await start({})
    for (const text of ['', 'GET /li', ASK]) {
      const { socket, said } = await client(server)
      // The server has accepted it and read what came.
      if (text !== '') socket.write(text)
      expect(await OK(server)).toBe(200)
      socket.resetAndDestroy()
      await said
      expect(await OK(server)).toBe(200)
    }
  })

  test('the limits that the daemon runs with', () => {
    expect(SERVER_LIMITS).toMatchObject({
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 15_000,
      idleTimeoutMs: 60_000,
      answerTimeoutMs: 30_000,
    })
    expect([64, 256, 1_024, 1_048_576, Number.POSITIVE_INFINITY].map(connectionsWithin)).toEqual([6, 54, 246, 512, 512])
    expect(descriptorLimit()).toBeGreaterThan(0)
  })
})

describe('excess is refused', () => {
  test('of more connections than the bound the one that has stood idle longest makes way, and the others keep working', async () => {
    const server = await start({ maxConnections: 3 })
    const first = await client(server)
    const [second, third] = [await client(server), await client(server)]
    const newest = await client(server)
    expect(await first.said).toBe('')
    for (const { socket, said } of [second, third, newest]) {
      socket.write(ASK)
      expect(await said).toMatch(/^HTTP\/1\.1 200 /)
    }
  })

  test('one that has just come, and whose request is on its way, stays before one that waits for a page', async () => {
    const come = await coming(await start({ maxConnections: 2 }, { clock: fakeClock() }))
    const page = come(ASK.replace('/livez', '/'))
    await new Promise((resolve) => process.nextTick(resolve))
    const said = await Promise.all([page, come(ASK), come(ASK)].map((one) => text(one.end())))
    expect(said.map((one) => one.endsWith('ok\n'))).toEqual([false, true, true])
  })

  test('the bound holds while many come that all wait for a page', async () => {
    const come = await coming(await start({ maxConnections: 2 }))
    const said: Promise<string>[] = []
    while (said.length < 30) {
      said.push(text(come(ASK.replace('/livez', '/')).end()))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await Promise.all(said)).filter((one) => one !== '').length).toBeLessThan(5)
  })

  test('a page does not wait for those of clients that closed their side, and they are answered too', async () => {
    const come = await coming(await start({}))
    const page = ASK.replace('/livez', '/')
    const order: string[] = []
    const left = Array.from({ length: 10 }, () => text(come(page).end()).then(() => order.push('left')))
    const stays = text(come(page)).then(() => order.push('stays'))
    await Promise.all([...left, stays])
    expect(order).toEqual(['stays', ...left.map(() => 'left')])
  })

  test('a client that does not read its answer makes room too, once none is idle', async () => {
    const server = await start({ maxConnections: 2 }, { ledger: () => pieces('x'.repeat(20_000_000)) })
    const unread = [await client(server), await client(server)]
    for (const { socket } of unread) {
      socket.pause()
      socket.write('GET /ledger HTTP/1.1\r\nHost: localhost\r\n\r\n')
    }
    expect(await OK(server)).toBe(200)
  })

  test('a client that reads an answer too slowly is cut off', async () => {
    const clock = fakeClock()
    const server = await start({ answerTimeoutMs: 1_000 }, { clock, ledger: () => pieces('x'.repeat(20_000_000)) })
    const { socket, said } = await client(server)
    socket.write('GET /ledger HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    await clock.advance(1_001)
    socket.resume()
    expect((await said).length).toBeLessThan(20_000_000)
  })

  test('a client that leaves while its answer is made reserves no room for it', async () => {
    const asked = Promise.withResolvers<void>()
    const made = Promise.withResolvers<void>()
    const library = libraryOf({ views: () => [], clock: realClock() })
    const documents: typeof library = {
      ...library,
      for: (...seen) => ({
        ...library.for(...seen),
        async status() {
          asked.resolve()
          await made.promise
          return { ...(await library.for(...seen).status()), version: 'x'.repeat(20_000_000) }
        },
      }),
    }
    const server = await start({}, { clock: realClock(), documents })
    const { socket, said } = await client(server)
    socket.write('GET /status?one HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await asked.promise
    socket.destroy()
    await said
    // The server learns of it a little later.
    await OK(server)
    made.resolve()
    expect((await fetch(`${server.url}/status?two`)).status).toBe(200)
  })

  const close = 'Host: localhost\r\nConnection: close\r\n'
  test.each([
    ['an address beyond 16 KiB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${close}\r\n`, 431],
    ['many headers', `GET /livez HTTP/1.1\r\n${close}${'X-A: b\r\n'.repeat(5_000)}\r\n`, 431],
    ['two lengths', `GET /livez HTTP/1.1\r\n${close}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, 400],
    ['both a length and chunks', `POST / HTTP/1.1\r\n${close}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${close}\r\n`, 0],
    ['a method nobody knows', `BREW / HTTP/1.1\r\n${close}\r\n`, 400],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['TRACE', `TRACE / HTTP/1.1\r\n${close}Cookie: a=b\r\n\r\n`, 405],
    ['a body on a page', `POST /status HTTP/1.1\r\n${close}Content-Length: 5\r\n\r\nhello`, 405],
    ['a file', `GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n${close}\r\n`, 404],
    ['a folder', `GET /page/ HTTP/1.1\r\n${close}\r\n`, 404],
    ['a path that cannot be decoded', `GET /%ff%zz HTTP/1.1\r\n${close}\r\n`, 400],
  ])('%s', async (_name, text, status) => {
    const server = await start({})
    const said = await says(server, text)
    expect(said.slice(0, 13)).toBe(status === 0 ? '' : `HTTP/1.1 ${status} `)
    expect(said).not.toMatch(/\bat .*\.(ts|js)\b|a=b/)
    expect(await OK(server)).toBe(200)
  })
})

describe('a foreign host name that resolves to this machine', () => {
  const ask = (server: Reached, host: string) => says(server, `GET /status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)

  test('reads no page on loopback', async () => {
    const server = await start({})
    expect(await ask(server, 'rebound.example')).toMatch(/^HTTP\/1\.1 421 .*localhost and to IP addresses/s)
    expect(await ask(server, 'localhost:9464')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('is as good as any where the daemon is meant to be reached from elsewhere', async () => {
    expect(await ask(await start({}, { host: '0.0.0.0' }), 'capkeeper.monitoring')).toMatch(/^HTTP\/1\.1 200 /)
  })
})
