// Recovery from faults of the service and crashes: within three cycles everything is as desired, every write has an intent before it and an
// outcome or a recovered intent after it, and no cap of ours is forgotten.

import { assert, asyncProperty, integer } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Scope, scopeKey } from '../../../src/core/model/scope.ts'
import type { Ledger } from '../../../src/ports.ts'
import type { FaultName } from '../../../src/sandbox/switches.ts'
import { entryOf } from '../../support/declare.ts'
import { answering, cutShort, type Match, reads, writes } from '../../support/faults.ts'
import { ADA, intentFor, raise } from '../../support/ledger.ts'
import { expectNothing, later, MINUTE, worldUnder } from '../../support/living.ts'
import { createWorld, type Declared, revisionOf, testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY: WorldOptions = { people: 12, groups: { a: ['p001', 'p002'], b: ['p003'] } }
const FIRST: Declared = { caps: { team: 500, 'group:a': 1500, 'group:b': 900, p001: 4000, p004: 700, p005: 800, p006: 900 } }
const SECOND: Declared = { caps: { team: 600, 'group:a': 1400, 'group:b': 950, p001: 4100, p004: 650, p005: 800 } }
const ASKED = { team: 600, 'group:a': 1400, 'group:b': 950, p001: 4100, p004: 650, p005: 800 }

/** A ledger that checks that intents and outcomes come in pairs, and knows which scopes have an open intent. */
function watched(open: Map<string, number>): (real: Ledger) => Ledger {
  const count = (scope: Scope, more: number): void => void open.set(scopeKey(scope), (open.get(scopeKey(scope)) ?? 0) + more)
  return (real) => ({
    ...real,
    recordIntent(intent) {
      count(intent.change.scope, 1)
      return real.recordIntent(intent)
    },
    async recordOutcome(intent, entry, ownership) {
      count(intent.change.scope, -1)
      await real.recordOutcome(intent, entry, ownership)
    },
  })
}

const keyOf = (body: Readonly<Record<string, unknown>>): string =>
  body['team_level'] === true ? 'team' : 'group_id' in body ? `group:${body['group_id']}` : String(body['user_email'])

async function settle(one: World, cycles: number): Promise<void> {
  for (let round = 0; round < cycles; round += 1) await later(one, 10 * MINUTE)
}

// Stale readings of one scope in several cycles in a row cannot be told from the truth, so the mixture has fewer of them.
const STORMS: readonly (readonly [string, Partial<Record<FaultName, number>>])[] = [
  ['errors of the server', { '5xx': 0.3 }],
  ['silence', { timeout: 0.3 }],
  ['connections reset before', { 'reset-before': 0.3 }],
  ['connections reset after', { 'reset-after': 0.3 }],
  ['answers cut short', { truncated: 0.3 }],
  ['pages of a proxy', { html: 0.3 }],
  ['stale reads', { 'stale-read': 0.3 }],
  [
    'everything at once',
    {
      '5xx': 0.1,
      timeout: 0.05,
      'reset-before': 0.1,
      'reset-after': 0.1,
      truncated: 0.1,
      html: 0.1,
      'stale-read': 0.1,
      'short-roster': 0.2,
    },
  ],
]

describe('faults of the service', () => {
  test.each(STORMS)('%s: every write has an intent, and all is as asked within three calm cycles', async (_row, faults) => {
    for (const seed of [1, 2, 3]) {
      const open = new Map<string, number>()
      const one = await createWorld({ ...COMPANY, seed, switches: { faults }, wrapLedger: watched(open) })
      const orphans: string[] = []
      one.onCall = ({ operation, body }) => {
        if (operation === 'UsageConfig' && (open.get(keyOf(body)) ?? 0) < 1) orphans.push(keyOf(body))
      }
      await one.cycle(FIRST)
      await settle(one, 3)
      one.state.policy = revisionOf(SECOND)
      await settle(one, 4)
      one.stormy = false
      await settle(one, 3)
      expect(one.caps()).toEqual(ASKED)
      expect(one.ledger.openIntents()).toEqual([])
      expect(orphans).toEqual([])
      const history = (await one.ledger.history()).length
      await expectNothing(one)
      expect(await one.ledger.history()).toHaveLength(history)
      expect(one.ledger.owned()).toHaveLength(6)
      await one.close()
    }
  })

  test('a lost answer is resolved by reading: a write that landed is not sent again, one that did not is', async () => {
    for (const fault of ['reset-after', 'reset-before'] as const) {
      const one = await testWorld({ switches: { faults: { [fault]: 1 } } })
      one.stormy = false
      await one.cycle({ caps: {} })
      one.forget()
      one.onCall = ({ operation }) => {
        // The storm lasts for one write.
        one.stormy = operation !== 'UsageConfig' && one.count('UsageConfig') === 0 && one.stormy
      }
      const confirm = async () => {
        one.stormy = true
        return {}
      }
      const { result } = await one.cycle({ caps: { ada: 4000 } }, { confirm })
      expect(result).toBe('success')
      expect(one.writes()).toHaveLength(fault === 'reset-after' ? 1 : 2)
      expect((await one.ledger.history()).map((entry) => entry.result)).toEqual(['applied'])
    }
  })
})

describe('a process that dies', () => {
  test('at any call of a run goes on with no write more than the one in doubt', async () => {
    const whole = await worldUnder(FIRST, COMPANY)
    const calls = whole.calls.length
    for (let dying = 1; dying <= calls; dying += 1) {
      const one = await createWorld(COMPANY)
      const died = Promise.withResolvers<void>()
      let isDead = false
      one.onCall = () => {
        if (one.calls.length !== dying) return
        isDead = true
        died.resolve()
      }
      // A dead process neither reads answers nor records anything.
      const ledger = one.ledger
      one.workspace = { ...one.workspace, ledger: dyingLedger(ledger, () => isDead), client: dyingClient(one, () => isDead) }
      await Promise.race([one.cycle(FIRST).catch(() => undefined), one.clock.until(died.promise)])
      one.onCall = undefined
      const sent = one.count('UsageConfig')
      one.restart()
      await later(one, MINUTE)
      expect(one.caps()).toEqual(FIRST.caps)
      expect(one.count('UsageConfig')).toBeLessThanOrEqual(7 + Math.min(1, sent))
      expect(one.ledger.openIntents()).toEqual([])
      expect(one.ledger.owned()).toHaveLength(7)
      await one.close()
    }
  })

  test('forgets no cap, also when policy has moved on before the next start', async () => {
    await assert(
      asyncProperty(integer({ min: 1, max: 40 }), async (dying) => {
        const one = await createWorld({ ...COMPANY, people: 40 })
        let isDead = false
        one.onCall = () => {
          isDead ||= one.calls.length >= dying
        }
        const ledger = one.ledger
        one.workspace = { ...one.workspace, ledger: dyingLedger(ledger, () => isDead), client: dyingClient(one, () => isDead) }
        const running = one.cycle(FIRST).catch(() => undefined)
        await Promise.race([running, one.clock.pass(5_000)])
        one.onCall = undefined
        one.restart()
        await one.cycle({ caps: { team: 500, p001: 4000 } })
        await one.cycle()
        expect(one.caps()).toEqual({ team: 500, p001: 4000 })
        expect(one.ledger.openIntents()).toEqual([])
        await one.close()
      }),
      { numRuns: 12 },
    )
  })
})

describe('an open intent', () => {
  test.each([
    ['is closed as applied when the value is there', 900, true, 'applied'],
    ['is closed as failed when the old value is there', 500, true, 'failed'],
    ['is closed as verify_failed when somebody else’s is', 123, true, 'verify_failed'],
    ['stays open on a reading from before it', 900, false, undefined],
    ['stays open when the scope could not be read', 'unknown', true, undefined],
  ] as const)('%s', async (_row, shown, isRead, result) => {
    const fault = { broken: false }
    const one = await testWorld({ config: { mode: 'audit' }, caps: { ada: 500 }, wrapTransport: answering(reads('ada'), 503, fault) })
    if (!isRead) one.foreign('ada', 900)
    await one.cycle({ caps: { ada: 700 } })
    await one.clock.pass(MINUTE)
    await one.ledger.recordIntent(intentFor(raise(ADA, 500, 900), { at: one.clock.now(), entry: entryOf('conflict', 900) }))
    if (shown === 'unknown') fault.broken = true
    else one.foreign('ada', shown)
    await later(one, MINUTE, undefined, isRead ? {} : { slice: new Set() })
    expect((await one.ledger.history())[0]?.result).toBe(result)
    expect(one.ledger.openIntents()).toHaveLength(result ? 0 : 1)
    // What landed is ours, or may land yet, and whose it was is not forgotten either.
    const isOurs = result === 'applied' || result === 'failed'
    expect(one.ledger.owned()).toMatchObject(isOurs ? [{ cap: 900, owner: 'conflict' }] : [])
  })
})

describe('an open intent of somebody who is away', () => {
  /** Sent once, not read back, and ten minutes later the person is gone or pending. */
  const away = async (leave: (one: World) => void, isRead: boolean) => {
    const fault = { broken: false }
    const one = await testWorld({ people: 20, wrapTransport: answering(reads('p001'), 503, fault) })
    const others = { team: 500, p002: 5 }
    await one.cycle({ caps: others })
    one.onCall = ({ operation }) => {
      fault.broken ||= operation === 'UsageConfig'
    }
    await one.cycle({ caps: { ...others, p001: 1000 } })
    one.onCall = undefined
    expect(one.ledger.openIntents()).toHaveLength(1)
    fault.broken = !isRead
    leave(one)
    expect((await later(one, 10 * MINUTE, isRead ? { caps: others } : undefined)).result).toBe('noop')
    expect(one.ledger.openIntents()).toEqual([])
    return one
  }

  test('is closed as failed when the service does not know them any more, and nobody is quarantined for it', async () => {
    const one = await away((world) => world.removePerson('p001'), true)
    expect(one.ledger.quarantined()).toEqual([])
    expect((await one.ledger.history())[0]).toMatchObject({ result: 'failed', to: 1000 })
    expect((await one.cycle()).result).toBe('noop')
  })

  test('is closed as ambiguous when they cannot be read while they are not approved, and the cap stays ours', async () => {
    const one = await away((world) => world.setStatus('p001', 'PENDING'), false)
    expect((await one.ledger.history())[0]).toMatchObject({ result: 'ambiguous', to: 1000 })
    expect(one.ledger.owned().map((owned) => owned.cap)).toContain(1000)
  })
})

const never = (): Promise<never> => new Promise(() => undefined)

function dyingLedger(real: Ledger, isDead: () => boolean): Ledger {
  return new Proxy(real, {
    get(ledger, name, self) {
      if (isDead() && typeof name === 'string' && /^(save|record|release)/.test(name)) {
        return () => {
          throw new Error('the process is dead')
        }
      }
      return Reflect.get(ledger, name, self)
    },
  })
}

function dyingClient({ client }: World, isDead: () => boolean): World['client'] {
  return {
    ...client,
    readCap: async (...given) => {
      if (isDead()) return never()
      const reading = await client.readCap(...given)
      return isDead() ? never() : reading
    },
    writeCap: async (...given) => {
      if (isDead()) return never()
      const outcome = await client.writeCap(...given)
      return isDead() ? never() : outcome
    },
  }
}

test('an intent that was recorded while the clock was far ahead is closed after the clock was set back', async () => {
  const one = await worldUnder({ caps: { team: 500 } })
  one.clock.jumpWall(36 * 3_600_000)
  await one.ledger.recordIntent(intentFor(raise(ADA, 100, 700), { at: one.clock.now() }))
  one.foreign('ada', 700)
  one.clock.jumpWall(-36 * 3_600_000)
  await later(one, 60_000, { caps: { team: 500, ada: 700 } })
  expect(one.ledger.openIntents()).toEqual([])
  expect(await one.ledger.history({ scope: ADA })).toMatchObject([{ result: 'applied', to: 700 }])
})

test.each([
  ['goes on', false],
  ['is started again', true],
])(
  'a stop between a team write that is read back and the look beneath it, and the process %s: copying is seen, and nobody else is blamed',
  async (_name, restarts) => {
    const caps = { team: 500, p001: 900, p002: 800, p003: 700 }
    const one = await worldUnder({ caps }, { people: 12, caps, switches: { capSemantics: 'fan-out' } })
    one.forget()
    const isReadBack: Match = (...asked) => reads('team')(...asked) && one.writes().length === 1
    await cutShort(one, isReadBack, { caps: { ...caps, team: 600 } })
    if (restarts) one.restart()
    one.forget()
    await later(one, MINUTE)
    expect({
      copying: one.ledger.fact('seen')?.caps?.value,
      foreign: one.begun('ForeignChange').map(({ message }) => message),
    }).toEqual({ copying: 'copied', foreign: [] })
  },
)

test('a death in a team write is looked beneath also while the team cannot be read: copying is seen, and nobody else is blamed', async () => {
  const caps = { team: 500, p001: 900, p002: 800, p003: 700 }
  const bad = { broken: false }
  const wrapTransport = answering(reads('team'), 500, bad)
  const one = await worldUnder({ caps }, { people: 12, caps, switches: { capSemantics: 'fan-out' }, wrapTransport })
  await cutShort(one, writes(), { caps: { ...caps, team: 600 } }, { dies: true })
  one.restart()
  one.forget()
  bad.broken = true
  await settle(one, 1)
  expect(one.ledger.openIntents()).toHaveLength(1)
  bad.broken = false
  await settle(one, 1)
  expect(one.ledger.openIntents()).toEqual([])
  expect({ copying: one.ledger.fact('seen')?.caps?.value, foreign: one.begun('ForeignChange') }).toEqual({ copying: 'copied', foreign: [] })
  // What was looked beneath while it was open is not looked beneath again.
  one.forget()
  await settle(one, 1)
  expect(one.reads()).toHaveLength(4)
})
