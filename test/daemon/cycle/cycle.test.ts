// The reads and writes of a cycle, in several deployments, and that it is quiet afterwards.
import { describe, expect, test } from 'vitest'
import { keysOf, type PolicySketch } from '../../support/declare.ts'
import { instead } from '../../support/faults.ts'
import { later, MINUTE, outage, worldUnder } from '../../support/living.ts'
import { testWorld, type WorldOptions } from '../../support/world.ts'

const COMPANY: WorldOptions = {
  people: ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'],
  groups: { a: ['ada', 'bob'], b: ['cleo'] },
}

const POLICY: PolicySketch = { caps: { team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, dan: 700, eve: 'none' } }

describe('first convergence and steady state', () => {
  const deployments: readonly (readonly [string, NonNullable<Parameters<typeof testWorld>[0]>['switches']])[] = [
    ['as the interface is documented', {}],
    ['whose caps are spelled add_on_credit_cap', { capSpelling: 'snake' }],
    ['whose caps are spelled both ways', { capSpelling: 'both' }],
    ['whose writes answer zero bytes', { writeBody: 'empty' }],
    ['whose errors carry code and message', { errors: 'connect' }],
    ['whose errors are plain text', { errors: 'text' }],
    ['whose errors come with status 200', { errors: 'ok' }],
    ['whose reads show the inherited value', { capReads: 'inherited' }],
    ['with live names, strings for numbers and no zeros', { names: 'live', int64: 'string', zeros: 'omitted' }],
    ['without a balance', { plan: 'team' }],
    ['without credit fields', { plan: 'quota' }],
  ]

  test.each(deployments)('on a service %s: exactly five writes, then none and one read a scope', async (_row, switches) => {
    const one = await testWorld({ ...COMPANY, switches })
    const first = await one.cycle(POLICY)
    expect(first.result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, dan: 700 })
    expect(one.writes().toSorted()).toEqual(['ada 4000', 'dan 700', 'group:a 1500', 'group:b 900', 'team 500'])

    one.forget()
    const second = await one.cycle()
    expect(second.result).toBe('noop')
    expect(one.writes()).toEqual([])
    expect(one.reads().toSorted()).toEqual(['ada', 'dan', 'eve', 'group:a', 'group:b', 'team'])
    expect(one.begun('ForeignChange')).toEqual([])
  })
})

describe('drift', () => {
  test.each([1, 3, 5])('of %i scopes costs as many writes and at most twice as many reads more', async (drifted) => {
    const one = await testWorld({ people: 10 })
    const caps = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`p${String(index + 1).padStart(3, '0')}`, 100 + index]))
    await one.cycle({ caps })
    for (const name of Object.keys(caps).slice(0, drifted)) one.foreign(name, 9000)
    one.forget()
    expect((await one.cycle()).result).toBe('success')
    expect(one.count('UsageConfig')).toBe(drifted)
    expect(one.count('GetUsageConfig')).toBeLessThanOrEqual(10 + 2 * drifted)
    expect(one.begun('ForeignChange')).toHaveLength(drifted)
    expect(one.caps()).toEqual(caps)
  })

  test('to the same value again is reported again', async () => {
    const one = await worldUnder({ caps: { ada: 4000 } })
    one.forget()
    for (let round = 0; round < 3; round += 1) {
      one.foreign('ada', 9000)
      await one.cycle()
    }
    expect(one.begun('ForeignChange')).toHaveLength(3)
  })

  test('that remains is reported once, also while policy asks for something else or it cannot be read', async () => {
    const away = { is: false }
    const one = await testWorld({ config: { mode: 'audit' }, wrapTransport: outage(away) })
    one.foreign('ada', 4000)
    await one.cycle({ caps: { ada: 4000 } })
    one.foreign('ada', 9000)
    await one.cycle()
    for (const ada of [4100, 4000]) await one.cycle({ caps: { ada } })
    for (const isAway of [true, false]) {
      away.is = isAway
      await later(one, 5 * MINUTE)
    }
    expect(one.begun('ForeignChange')).toHaveLength(1)
    one.foreign('ada', 9500)
    await one.cycle()
    expect(one.begun('ForeignChange')).toHaveLength(2)
  })

  test('that only alerts stays left alone in a focused cycle over another scope', async () => {
    const one = await worldUnder({ caps: { ada: 4000 } }, { config: { onDrift: 'alert' } })
    one.foreign('ada', 9000)
    await one.cycle({ caps: { ada: 4000, bob: 300 } }, { focus: keysOf('ada', 'bob') })
    expect(one.caps()).toEqual({ ada: 9000, bob: 300 })
  })
})

describe('a cap that is not declared any more', () => {
  test('is cleared again when the clear was lost and a stale reading hid it', async () => {
    const storm = { is: false }
    const lost = instead(async (operation, _body, ask) => {
      const answer = await ask()
      return storm.is && operation === 'UsageConfig' ? { kind: 'network', message: 'reset' } : answer
    })
    const one = await worldUnder({ caps: { team: 500, p001: 4000 } }, { people: 20, wrapTransport: lost })
    storm.is = true
    await one.cycle({ caps: { team: 500 } })
    storm.is = false
    one.foreign('p001', 4000)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })

  test('was never ours and is never read', async () => {
    const one = await worldUnder({ caps: { ada: 4000 } }, { caps: { bob: 123 } })
    expect(one.reads()).not.toContain('bob')
    expect(one.caps()).toEqual({ ada: 4000, bob: 123 })
  })
})

test('a cap of ours on a person who becomes pending stays ours, and is neither read nor written', async () => {
  const one = await worldUnder({ caps: { team: 500, p001: 4000 } }, { people: 20 })
  one.setStatus('p001', 'PENDING')
  one.forget()
  const { result, after } = await one.cycle({ caps: { team: 500, p001: 5000 } })
  expect({ result, reads: one.reads(), writes: one.writes() }).toEqual({ result: 'noop', reads: ['team'], writes: [] })
  expect(after.scopes.find((status) => status.scope.kind === 'user')).toMatchObject({ state: 'skipped' })
  one.setStatus('p001', 'APPROVED')
  await one.cycle({ caps: { team: 500 } })
  expect(one.caps()).toEqual({ team: 500 })
})

test('nothing is written from the very next write on when a pause comes between two writes', async () => {
  const one = await testWorld({ people: 6, config: { rate: { concurrency: 1 } } })
  one.onCall = ({ operation }) => {
    if (operation !== 'UsageConfig') return
    const now = one.clock.now()
    void one.ledger.savePause({ untilAt: now + 3_600_000, reason: 'stop', pausedAt: now })
  }
  const { result } = await one.cycle({ caps: { p001: 1, p002: 2, p003: 3 } })
  expect({ result, writes: one.count('UsageConfig'), open: one.ledger.openIntents() }).toEqual({ result: 'partial', writes: 1, open: [] })
  expect(one.begun('CycleIncomplete')).toMatchObject([{ message: expect.stringContaining('a pause began') }])
  expect(one.begun('Paused')).toHaveLength(1)
  one.onCall = undefined
  await one.ledger.savePause(undefined)
  await one.cycle()
  expect(one.ended('Paused')).toHaveLength(1)
  expect(one.caps()).toEqual({ p001: 1, p002: 2, p003: 3 })
})

test('a reading that a clock stamped which went back since is due as if it were read now, not an hour later', async () => {
  const one = await worldUnder({ caps: { ada: 500, bob: 500 } }, { people: ['ada', 'bob'] })
  one.clock.jumpWall(-60 * MINUTE)
  const { after } = await one.cycle({ caps: { ada: 600, bob: 500 } }, { focus: keysOf('ada') })
  for (const { readAt } of after.scopes) expect(readAt).toBeLessThanOrEqual(one.clock.now())
})
