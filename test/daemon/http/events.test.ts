// Server-sent events over real HTTP: what a listener hears, and what keeps listeners from costing anything.
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EVERYBODY, NOBODY } from '../../../src/daemon/http/auth.ts'
import { fakeClock } from '../../support/clock.ts'
import { serve as start } from '../../support/serve.ts'
import { serverParts } from '../../support/server.ts'
import { emptyView, NOW } from '../../support/views.ts'

interface World {
  readonly url: string
  readonly live: ReturnType<typeof serverParts>['live']
  readonly clock: ReturnType<typeof fakeClock>
}

async function serve(more: Parameters<typeof start>[0] = {}): Promise<World> {
  const clock = fakeClock()
  const parts = serverParts({ clock, views: () => [emptyView('acme'), emptyView('other')], ...more })
  const { url } = await start(parts)
  return { url, live: parts.live, clock }
}

interface Heard {
  readonly event: string
  readonly data: Record<string, unknown>
}

/** Listens; `next` gives one event after the other, without the beats. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  const answer = await fetch(url, { headers, signal: ended.signal })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Heard> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end === -1) {
        const { value, done } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error('the stream has ended')
        text += value
        continue
      }
      const lines = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)] as const),
      )
      text = text.slice(end + 2)
      const [event, data] = [lines.get('event'), lines.get('data')]
      if (event !== undefined && data !== undefined) return { event, data: JSON.parse(data) }
    }
  }
  return { answer, next, end: () => ended.abort() }
}

const event = (workspace: string, change: 'begun' | 'ended' = 'begun'): Parameters<World['live']['onEvent']>[0] => ({
  workspace,
  at: NOW,
  kind: 'condition',
  change,
  condition: { type: 'Paused', subject: workspace, reason: 'PAUSED', message: 'paused', since: NOW },
})

describe('a listener', () => {
  test('hears within a second which workspace changed, once, and of nothing that no page shows', async () => {
    const { url, live, clock } = await serve()
    const one = await listen(`${url}/api/v1/events`)
    expect(one.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(one.answer.headers.get('cache-control')).toBe('no-store')
    live.onEvent(event('acme'))
    live.onEvent(event('acme', 'ended'))
    await clock.advance(1_000)
    expect(await one.next()).toEqual({ event: 'change', data: { workspace: 'acme' } })
    live.onEvent({ workspace: 'acme', at: NOW, kind: 'request-finished', operation: 'Analytics', outcome: 'ok', durationMs: 3 })
    live.onEvent(event('other'))
    await clock.advance(1_000)
    expect(await one.next()).toEqual({ event: 'change', data: { workspace: 'other' } })
    expect([live.version('acme'), live.version('other')]).toEqual([1, 1])
  })

  test('hears a beat every 15 s', async () => {
    const { url, clock } = await serve()
    const one = await listen(`${url}/api/v1/events`)
    await clock.advance(15_000)
    expect(await one.next()).toEqual({ event: 'beat', data: {} })
  })

  test('hears with a beat what another process changed', async () => {
    const late: { live?: World['live'] } = {}
    const world = await serve({ refresh: async () => late.live?.changed('other') })
    late.live = world.live
    await world.clock.advance(30_000)
    const one = await listen(`${world.url}/api/v1/events`)
    await world.clock.advance(15_000)
    await one.next()
    await world.clock.advance(1_000)
    expect(await one.next()).toEqual({ event: 'change', data: { workspace: 'other' } })
  })

  test('of one workspace hears of no other', async () => {
    const { url, live, clock } = await serve()
    const one = await listen(`${url}/api/v1/events?workspace=other`)
    for (const name of ['acme', 'other']) live.onEvent(event(name))
    await clock.advance(1_000)
    expect(await one.next()).toEqual({ event: 'change', data: { workspace: 'other' } })
  })

  test('hears of no workspace that the reader may not see', async () => {
    const viewer = { ...EVERYBODY, sightOf: (name: string) => (name === 'other' ? NOBODY : EVERYBODY).sightOf(name) }
    const { url, live, clock } = await serve({ gate: () => viewer, isChecked: () => ({ metrics: false }) })
    const one = await listen(`${url}/api/v1/events`)
    for (const name of ['other', 'acme']) live.onEvent(event(name))
    await clock.advance(1_000)
    expect(await one.next()).toEqual({ event: 'change', data: { workspace: 'acme' } })
  })

  test('one that lost its access is disconnected with the next beat', async () => {
    let isIn = true
    const { url, clock } = await serve({
      gate: () => (isIn ? EVERYBODY : { status: 401, message: 'no' }),
      isChecked: () => ({ metrics: false }),
    })
    const one = await listen(`${url}/api/v1/events`)
    isIn = false
    await clock.advance(15_000)
    await expect(one.next()).rejects.toThrow('the stream has ended')
  })
})

describe('listeners', () => {
  test('are bounded, and one that leaves makes room', async () => {
    const { url } = await serve({ limits: { maxConnections: 8 } })
    const [first, second] = [await listen(`${url}/api/v1/events`), await listen(`${url}/api/v1/events`)]
    expect(second.answer.status).toBe(200)
    const third = await fetch(`${url}/api/v1/events`)
    expect([third.headers.get('retry-after'), await third.json()]).toMatchObject(['5', { kind: 'Error', status: 503 }])
    first.end()
    await expect.poll(async () => (await listen(`${url}/api/v1/events`)).answer.status).toBe(200)
  })

  test('one that does not read is disconnected, which makes room, and the others continue', async () => {
    const { url, live, clock } = await serve({ limits: { maxConnections: 8 } })
    await mute(url)
    const one = await listen(`${url}/api/v1/events`)
    const isRoom = async () => (await fetch(`${url}/api/v1/events`, { method: 'HEAD' })).status === 200
    expect(await isRoom()).toBe(false)
    let hasRoom = false
    // What the system keeps for a connection is full some time.
    for (let round = 0; round < 8_000 && !hasRoom; round += 1) {
      if (round % 100 === 99) hasRoom = await isRoom()
      live.onEvent(event(`${'w'.repeat(4_000)}${round}`))
      await clock.advance(1_000)
      while ((await one.next()).event === 'beat');
      // What is written leaves between two turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(hasRoom).toBe(true)
  })

  test('a question that makes no sense is refused', async () => {
    const { url } = await serve()
    expect((await fetch(`${url}/api/v1/events?workspce=acme`)).status).toBe(400)
    expect((await fetch(`${url}/api/v1/events?workspace=none`)).status).toBe(404)
  })
})

/** Asks for events and takes nothing of the answer. */
async function mute(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise((resolve) => socket.once('readable', resolve))
}
