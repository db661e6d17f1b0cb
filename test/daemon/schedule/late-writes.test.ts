// A write that waits for the rate is not in flight yet: whatever stops writing stops it as well (docs/commands.md, 4 and 6).
import { expect, test } from 'vitest'
import type { Transport } from '../../../src/ports.ts'
import { HOUR } from '../../support/declare.ts'
import { capsOf, live, MINUTE } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

/** The first write is refused, and the next is allowed half an hour later. */
const limited =
  (refused: { times: number }) =>
  (inner: Transport): Transport => ({
    async send(operation, body, options) {
      if (operation !== 'UsageConfig' || refused.times > 0) return inner.send(operation, body, options)
      refused.times += 1
      return { status: 429, headers: { 'retry-after': '1800' }, body: '{"error":"rate limit exceeded"}' }
    },
  })

async function waiting() {
  const refused = { times: 0 }
  const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 1000, bob: 1000 }, wrapTransport: limited(refused) })
  const life = live(one)
  life.set({ caps: { ada: 500, bob: 1000 } })
  await one.clock.pass(MINUTE)
  expect(refused.times).toBe(1)
  return { one, life }
}

test('a write that waits for the rate does not leave any more after a pause', async () => {
  const { one, life } = await waiting()
  const pausedAt = one.clock.now()
  await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'that edit was wrong' })
  await one.clock.pass(HOUR)
  await life.stop()
  expect(one.caps()).toMatchObject({ ada: 1000 })
  expect(one.ledger.openIntents()).toEqual([])
})

test('a write that waits for the rate does not leave any more after an edit that takes it back', async () => {
  const { one, life } = await waiting()
  life.set({ caps: { ada: 1000, bob: 1000 } })
  await one.clock.pass(HOUR)
  await life.stop()
  expect(one.writes().filter((write) => write !== 'ada 1000')).toEqual([])
})

test('a write that waits for the rate does not keep its workspace from ending', async () => {
  const { one, life } = await waiting()
  const before = one.clock.now()
  await life.stop()
  expect(one.clock.now() - before).toBeLessThan(MINUTE)
  expect(one.ledger.openIntents()).toEqual([])
})

test('a write whose answer was lost, and whose second try waits for the rate, does not leave any more after a pause', async () => {
  let times = 0
  const wrapTransport = (inner: Transport): Transport => ({
    async send(operation, body, options) {
      if (operation !== 'UsageConfig') return inner.send(operation, body, options)
      times += 1
      if (times === 1) return { status: 503, headers: {}, body: '{"error":"down"}' }
      if (times === 2) return { status: 429, headers: { 'retry-after': '1800' }, body: '{"error":"rate"}' }
      return inner.send(operation, body, options)
    },
  })
  const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 1000, bob: 1000 }, wrapTransport })
  const life = live(one)
  life.set({ caps: { ada: 500, bob: 1000 } })
  await one.clock.pass(MINUTE)
  expect(times).toBe(2)
  const pausedAt = one.clock.now()
  await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'that edit was wrong' })
  await one.clock.pass(2 * HOUR)
  await life.stop()
  expect(one.caps()).toMatchObject({ ada: 1000 })
  expect(one.ledger.openIntents()).toEqual([])
})

/** One request of all operations in so long, and no other before that. */
const slow =
  (everyMs: number, clock: { now(): number }) =>
  (inner: Transport): Transport => {
    let nextAt = 0
    return {
      async send(operation, body, options) {
        const now = clock.now()
        if (now < nextAt)
          return { status: 429, headers: { 'retry-after': String(Math.ceil((nextAt - now) / 1000)) }, body: '{"error":"rate"}' }
        nextAt = now + everyMs
        return inner.send(operation, body, options)
      },
    }
  }

test.each([
  [1, 120],
  [8, 40],
  [20, 20],
])('%i writes leave on a service that takes one request in %i s', async (count, seconds) => {
  const clock = { now: () => 0 }
  const wrapTransport = slow(seconds * 1000, clock)
  const one = await testWorld({ people: Math.max(2, count), caps: capsOf(count), rate: 5, wrapTransport })
  clock.now = one.clock.monotonic
  const life = live(one)
  life.set({ caps: capsOf(count, 1100) })
  await one.clock.pass(6 * HOUR)
  await life.stop()
  expect(one.caps()).toEqual(capsOf(count, 1100))
})
