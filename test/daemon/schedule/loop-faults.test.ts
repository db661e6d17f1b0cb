// A loop beside faults that last: a write that waits for the rate is not in flight yet, and whatever stops writing stops it as well
// (docs/commands.md, 4 and 6); a ledger that cannot be written for hours; scopes that cannot be read (docs/operations.md).
import { expect, test } from 'vitest'
import { email, HOUR } from '../../support/declare.ts'
import { answerOf, failingLedger, instead, writes } from '../../support/faults.ts'
import { capsOf, live, living, loopOver, MINUTE, passUntil, person, SECOND } from '../../support/living.ts'
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

test.each([
  ['the balance', 'GetTeamCreditBalance', answerOf(429, ''), 30],
  ['the balance, until an hour later,', 'GetTeamCreditBalance', limited(3600), 30],
  ['people', 'UserPageAnalytics', limited(3600), 30],
  ['writes', 'UsageConfig', answerOf(429, ''), 90],
  ['writes, until an hour later,', 'UsageConfig', limited(3600), 150],
] as const)('a service that refuses %s alone for the rate, for ever, stops nothing else', async (_row, operation, answer, minutes) => {
  const fault = { begun: false }
  const wrapTransport = instead((asked) => (fault.begun && asked === operation ? answer : undefined))
  const { one, set } = await living({ groups: { a: ['ada'] }, rate: 10, wrapTransport })
  const declared = { team: 500, 'group:a': 900 }
  set({ caps: declared })
  await one.clock.pass(MINUTE)
  fault.begun = true
  for (const scope of Object.keys(declared)) {
    one.foreign(scope, 7)
    await one.clock.pass(2 * HOUR)
    one.forget()
    await one.clock.pass(minutes * MINUTE)
    expect(one.reads()).toContain('group:a')
    if (operation === 'UsageConfig') expect(one.count('UserPageAnalytics')).toBeGreaterThan(0)
    else expect(one.caps()).toEqual(declared)
  }
  fault.begun = false
  await one.clock.pass(2 * HOUR)
  expect(one.caps()).toEqual(declared)
})

test('a write that is refused for the rate after the key was refused waits as long as the service asks', async () => {
  const fault: { answer?: ReturnType<typeof answerOf>; sent: number } = { sent: 0 }
  const wrapTransport = instead((operation) => {
    if (operation !== 'UsageConfig') return undefined
    fault.sent += 1
    return fault.answer
  })
  const { one, set } = await living({ people: 20, rate: 10, wrapTransport })
  set({ caps: { team: 500 } })
  await one.clock.pass(2 * MINUTE)
  fault.answer = answerOf(403, '{"code":"permission_denied","message":"no"}')
  one.foreign('team', 7)
  await one.clock.pass(HOUR)
  Object.assign(fault, { answer: limited(30), sent: 0 })
  await one.clock.pass(HOUR / 2)
  expect(fault.sent).toBeLessThanOrEqual(60)
})

test.each([
  ['with the key', answerOf(403, '{"code":"permission_denied","message":"not this person"}')],
  ['for the quota of a plan', answerOf(400, '{"error":"cap exceeds the quota of your plan"}')],
])('a person whose cap is refused %s keeps nobody else from theirs', async (_row, answer) => {
  const wrapTransport = instead((operation, body) => (writes('p001')(operation, body) ? answer : undefined))
  const { one, set } = await living({ people: 12, rate: 10, wrapTransport })
  set({ caps: capsOf(12) })
  await one.clock.pass(6 * MINUTE)
  const { p001, ...others } = capsOf(12)
  expect([p001, one.caps()]).toEqual([p001, others])
})

const RECORDING = ['commit', 'recordIntent', 'recordOutcome', 'saveBurn', 'saveRuns', 'saveAddOnUse'] as const
const failing = (disk: { isFull: boolean }, methods: readonly string[]) =>
  failingLedger((method) => disk.isFull && methods.includes(method))

/** Of an hour, at most: caps of two scopes, people and one group and the balance each 5 minutes. */
const USUAL = { GetUsageConfig: 24, UserPageAnalytics: 24, GetTeamCreditBalance: 12 } as const

test.each<readonly [string, readonly string[]]>([
  ['with changes that wait', ['load', ...RECORDING]],
  ['at the end of each cycle', RECORDING],
  ['at the figures of use alone', ['saveBurn']],
  ['at intents alone', ['recordIntent']],
])('a full disk %s is met with no more than one look each interval, and all goes on soon after there is room', async (_row, methods) => {
  const disk = { isFull: false }
  const { one, set } = await living({ groups: { a: ['ada'] }, wrapLedger: failing(disk, methods) })
  set({ caps: { team: 500, 'group:a': 900 } })
  await one.clock.pass(MINUTE)
  disk.isFull = true
  set({ caps: { team: 600, 'group:a': 900 } })
  // The first tries come soon after each other.
  await one.clock.pass(15 * MINUTE)
  one.forget()
  await one.clock.pass(4 * HOUR)
  expect(one.caps()).toEqual({ team: methods.includes('recordIntent') ? 500 : 600, 'group:a': 900 })
  for (const [operation, usual] of Object.entries(USUAL))
    expect(one.count(operation as keyof typeof USUAL), operation).toBeLessThanOrEqual(4 * usual + 8)
  disk.isFull = false
  expect(await passUntil(one, () => one.caps()['team'] === 600, HOUR, SECOND)).toBeLessThanOrEqual(30 * SECOND)
})

test('a ledger that has failed once while use was read counts as writable again within minutes, however long the interval is', async () => {
  const disk = { isFull: false }
  const config = { intervalMs: 4 * HOUR, usageIntervalMs: 15 * MINUTE }
  const { one, set } = await living({ people: ['ada'], config, wrapLedger: failing(disk, ['saveBurn']) })
  const isUnwritable = (): boolean => one.workspace.conditions.some(({ type }) => type === 'LedgerUnwritable')
  set({ caps: { ada: 500 } })
  await one.clock.pass(10 * MINUTE)
  disk.isFull = true
  await passUntil(one, isUnwritable, HOUR)
  disk.isFull = false
  expect(await passUntil(one, () => !isUnwritable(), HOUR, SECOND)).toBeLessThanOrEqual(MINUTE)
})

test.each<readonly [string, number, number, ReturnType<typeof answerOf>]>([
  ['twelve side by side cannot be read', 300, 12, answerOf(500)],
  ['the key may not read four side by side', 100, 4, answerOf(403)],
  ['one is answered with a wait of an hour', 20, 1, answerOf(503, 'maintenance', { 'retry-after': '3600' })],
])('a foreign change of the last of many people is reverted while %s', async (_, people, count, said) => {
  const bad = new Set(Array.from({ length: count }, (_, index) => email(person(1 + index))))
  let isOn = false
  const wrapTransport = instead((operation, body) =>
    isOn && operation === 'GetUsageConfig' && bad.has(String(body['user_email'])) ? said : undefined,
  )
  const one = await testWorld({ people, rate: 50, wrapTransport })
  const life = loopOver(one, { caps: capsOf(people) })
  await one.clock.pass(10 * MINUTE)
  isOn = true
  one.foreign(person(people), 9000)
  await one.clock.pass(20 * MINUTE)
  await life.stop()
  const unread = one.workspace.state?.readings.values().filter(({ observed }) => observed === 'unknown')
  expect(one.caps()[person(people)]).toBe(1000)
  expect(unread?.toArray()).toHaveLength(count)
})

test('a loop begins with what is recorded when it begins, which may be more than when its ledger was opened', async () => {
  let isOld = false
  const one = await testWorld({
    wrapLedger: (ledger) => ({
      ...ledger,
      fact: (name) => (isOld ? undefined : ledger.fact(name)),
      async load() {
        isOld = false
        await ledger.load()
      },
    }),
  })
  const before = loopOver(one, { caps: { team: 500 } })
  await one.clock.pass(MINUTE)
  await before.stop()
  one.restart()
  isOld = true
  const after = live(one)
  after.set({}, false)
  one.foreign('team', 1)
  await one.clock.pass(10 * MINUTE)
  expect(one.caps()).toEqual({ team: 500 })
  await after.stop()
})
