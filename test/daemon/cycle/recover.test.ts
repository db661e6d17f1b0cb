// Recovery from lost answers and crashes, scope by scope: how an open intent is closed, and whose the cap is then. Whole days of faults and
// crashes are in test/sim.
import { describe, expect, test } from 'vitest'
import { entryOf } from '../../support/declare.ts'
import { answering, cutShort, faulty, heal, type Match, reads, type Wrong, writes } from '../../support/faults.ts'
import { ADA, intentFor, raise } from '../../support/ledger.ts'
import { later, MINUTE, worldUnder } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'

/** A write that lands, and is answered. */
const ACCEPTED = [true, 200] as const

test('a lost answer is resolved by reading: a write that landed is not sent again, one that did not is', async () => {
  for (const lands of [true, false]) {
    const fault: Wrong = { sent: 0, writes: [[lands, 503], ACCEPTED] }
    const one = await testWorld({ wrapTransport: faulty(fault, 'ada') })
    expect((await one.cycle({ caps: { ada: 4000 } })).result).toBe('success')
    expect(fault.sent).toBe(lands ? 1 : 2)
    expect((await one.ledger.history()).map((entry) => entry.result)).toEqual(['applied'])
  }
})

test.each([
  ['is closed as applied when the value is there', 900, true, 'applied'],
  ['is closed as failed when the old value is there', 500, true, 'failed'],
  ['is closed as verify_failed when somebody else’s is', 123, true, 'verify_failed'],
  ['stays open on a reading from before it', 900, false, undefined],
  ['stays open when the scope could not be read', 'unknown', true, undefined],
] as const)('an open intent: %s', async (_row, shown, isRead, result) => {
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
  expect(one.ledger.owned()).toMatchObject(result ? [{ cap: 900, owner: 'conflict' }] : [])
})

describe('an open intent of somebody who is away', () => {
  /** Sent once, not read back, and ten minutes later the person is gone or pending. */
  const away = async (leave: (one: World) => void, isRead: boolean) => {
    const fault: Wrong = { sent: 0, writes: [ACCEPTED], readsAfter: 'no answer' }
    const one = await testWorld({ people: 20, wrapTransport: faulty(fault, 'p001') })
    const others = { team: 500, p002: 5 }
    for (const caps of [others, { ...others, p001: 1000 }]) await one.cycle({ caps })
    expect(one.ledger.openIntents()).toHaveLength(1)
    if (isRead) heal(fault)
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
  await later(one, 10 * MINUTE)
  expect(one.ledger.openIntents()).toHaveLength(1)
  bad.broken = false
  await later(one, 10 * MINUTE)
  expect(one.ledger.openIntents()).toEqual([])
  expect({ copying: one.ledger.fact('seen')?.caps?.value, foreign: one.begun('ForeignChange') }).toEqual({ copying: 'copied', foreign: [] })
  // What was looked beneath while it was open is not looked beneath again.
  one.forget()
  await later(one, 10 * MINUTE)
  expect(one.reads()).toHaveLength(4)
})
