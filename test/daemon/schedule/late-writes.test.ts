// A write that waits for the rate is not in flight yet: whatever stops writing stops it as well (docs/commands.md, 4 and 6).
import { expect, test } from 'vitest'
import { HOUR } from '../../support/declare.ts'
import { answerOf, instead } from '../../support/faults.ts'
import { capsOf, loopOver, MINUTE } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

const limited = (seconds: number) => answerOf(429, '{"error":"rate limit exceeded"}', { 'retry-after': String(seconds) })

/** The first writes are answered so: after the last of them the next is allowed half an hour later. */
async function waiting(...answers: readonly ReturnType<typeof answerOf>[]) {
  const left = [...answers, limited(1800)]
  const wrapTransport = instead((operation) => (operation === 'UsageConfig' ? left.shift() : undefined))
  const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 1000, bob: 1000 }, wrapTransport })
  const life = loopOver(one, { caps: { ada: 500, bob: 1000 } })
  await one.clock.pass(MINUTE)
  expect(left).toEqual([])
  return { one, life }
}

test.each([
  ['', []],
  [' for its second try, after a lost answer,', [answerOf(503)]],
])('a write that waits for the rate%s does not leave any more after a pause', async (_row, answers) => {
  const { one, life } = await waiting(...answers)
  const pausedAt = one.clock.now()
  await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'that edit was wrong' })
  await one.clock.pass(2 * HOUR)
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

/** One request of all operations in so long, and no other before that. */
const slow = (everyMs: number, clock: { now(): number }) => {
  let nextAt = 0
  return instead(() => {
    const now = clock.now()
    if (now < nextAt) return limited(Math.ceil((nextAt - now) / 1000))
    nextAt = now + everyMs
    return undefined
  })
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
  const life = loopOver(one, { caps: capsOf(count, 1100) })
  await one.clock.pass(6 * HOUR)
  await life.stop()
  expect(one.caps()).toEqual(capsOf(count, 1100))
})
