// A cap of 0 on services that read it back as unset: the write has still removed the old cap, which is restored, also through crashes between any two records of the ledger, outages, and
// services that copy caps or show inherited ones.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { SETTINGS, short } from '../../support/declare.ts'
import { answering, failingLedger, type Match, reads, writes } from '../../support/faults.ts'
import { approve, expectNothing, later, outage, worldUnder } from '../../support/living.ts'
import { testWorld, type WorldOptions } from '../../support/world.ts'

const NO_BLOCKING = { ...SETTINGS.guards, maxBlocked: 'off', maxAffected: 'off' } as const

const OMITTED: WorldOptions = { people: 20, switches: { zeroCap: 'omitted' } }

/** Ours: 700 by policy. Not ours: what stood there before any policy. */
const OWNERS = [
  ['ours', {}, { team: 500, p002: 700 }],
  ['not ours', { caps: { p002: 700 } }, { team: 500 }],
] as const

describe('a cap of 0', () => {
  test.each([
    ['asks for none there', { team: 500, p001: 'none' }, false],
    ['drops the scope', { team: 500 }, false],
    ['drops the scope, and the first clear is lost', { team: 500 }, true],
  ] as const)('that does not show and may be set is cleared once policy %s, and only once', async (_row, caps, isLost) => {
    const lost = { broken: false }
    const one = await worldUnder({ caps: { team: 500, p001: 0 } }, { ...OMITTED, wrapTransport: answering(writes(), 503, lost) })
    lost.broken = isLost
    if (isLost) await one.cycle({ caps })
    lost.broken = false
    expect(one.caps()).toEqual({ team: 500, p001: 0 })
    const { planned, result } = await one.cycle({ caps })
    expect(result).toBe('success')
    expect(planned.plan.changes).toMatchObject([
      { action: 'clear', from: 'none', to: 'none', reason: expect.stringContaining('may be set') },
    ])
    expect(one.caps()).toEqual({ team: 500 })
    await expectNothing(one, 3_600_000)
  })

  test('that reads back as unset gives the number back that it has replaced, ours or not, in the same cycle', async () => {
    const one = await worldUnder({ caps: { team: 500, p002: 700 } }, { ...OMITTED, caps: { p001: 300 } })
    one.forget()
    const { result, message } = await one.cycle({ caps: { team: 500, p001: 0, p002: 0 } })
    expect(result).toBe('error')
    expect(message).toContain('that stood there was written back')
    expect(one.writes().toSorted()).toEqual(['p001 0', 'p001 300', 'p002 0', 'p002 700'])
    expect(one.caps()).toEqual({ team: 500, p001: 300, p002: 700 })
    expect(one.ledger.openIntents()).toEqual([])
    const ours = one.ledger.owned().map(({ scope, cap }) => `${short(scope)} ${cap}`)
    expect(ours.toSorted()).toEqual(['p001 300', 'p002 700', 'team 500'])
    await expectNothing(one)
  })

  test.each([1, 2])('that stale readings hide (%i) is kept, and is in sync once it shows', async (times) => {
    const after = { write: -9 }
    const isStale: Match = (operation, body) => reads('p001')(operation, body) && ++after.write > 0 && after.write <= times
    const one = await worldUnder({ caps: { team: 500 } }, { people: 20, wrapTransport: answering(isStale, 200) })
    one.onCall = ({ operation }) => {
      if (operation === 'UsageConfig') after.write = 0
    }
    expect((await one.cycle({ caps: { team: 500, p001: 0 } })).result).toBe(['success', 'error'][times - 1])
    await expectNothing(one)
    expect([one.ledger.quarantined(), one.ledger.fact('seen')?.zero?.value]).toEqual([[], 'stored'])
  })

  test('that a group lost gives its number back before anybody else is written', async () => {
    const config = { guards: { ...NO_BLOCKING, maxLowered: 'off' } } as const
    const one = await worldUnder({ caps: { 'group:a': 1000, bob: 800 } }, { groups: { a: ['ada'] }, switches: OMITTED.switches, config })
    one.forget()
    await one.cycle({ caps: { 'group:a': 0, bob: 700 } })
    expect(one.writes()).toEqual(['group:a 0', 'group:a 1000', 'bob 700'])
  })
})

describe('a number that a dropped 0 has replaced comes back after a death', () => {
  test.each(OWNERS)('right after the write, %s', async (_row, caps, declared) => {
    const one = await worldUnder({ caps: declared }, { ...OMITTED, ...caps })
    await one.cycle({ caps: { team: 500, p002: 0 } }, { leaving: () => true })
    expect(one.caps()).toEqual({ team: 500, p002: 0 })
    one.restart()
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500, p002: 700 })
    expect(one.ledger.quarantined()).toMatchObject([{ code: 'ZERO_NOT_STORED' }])
  })

  const moments = [
    ['before the outcome of the 0', 'recordOutcome', 1],
    ['before the intent of giving back', 'recordIntent', 2],
    ['after giving back, before its outcome', 'recordOutcome', 2],
    ['before it is noted that 0 is not kept', 'saveQuarantined', 1],
  ] as const
  test.each(moments.flatMap((moment) => OWNERS.map((owner) => [...moment, ...owner] as const)))(
    '%s (%s %i), %s',
    async (_row, method, calls, _owner, caps, declared) => {
      const nth = { calls: 0 }
      const wrapLedger = failingLedger((called) => called === method && --nth.calls === 0)
      const one = await worldUnder({ caps: declared }, { ...OMITTED, ...caps, wrapLedger })
      nth.calls = calls
      await one.cycle({ caps: { team: 500, p002: 0 } })
      expect(nth.calls).toBe(0)
      one.restart()
      await one.cycle()
      await one.cycle()
      expect(one.caps()).toEqual({ team: 500, p002: 700 })
      expect(one.ledger.openIntents()).toEqual([])
      expect(one.ledger.quarantined()).toMatchObject([{ code: 'ZERO_NOT_STORED' }])
    },
  )
})

test.each(OWNERS)('a number that could not be given back at once is given back by a later cycle, %s', async (_row, caps, declared) => {
  const away = { is: false }
  const one = await worldUnder({ caps: declared }, { ...OMITTED, ...caps, wrapTransport: outage(away) })
  one.onCall = ({ operation }) => {
    if (operation === 'GetUsageConfig' && one.writes().includes('p002 0')) away.is = true
  }
  one.forget()
  await one.cycle({ caps: { team: 500, p002: 0 } })
  expect(one.caps()).toEqual({ team: 500, p002: 0 })
  one.onCall = undefined
  away.is = false
  await later(one, 3_600_000)
  expect(one.caps()).toEqual({ team: 500, p002: 700 })
  expect(one.ledger.quarantined()).toMatchObject([{ code: 'ZERO_NOT_STORED' }])
})

test.each([
  ['as the team has it', { team: 500, p002: 500 }, { team: 500, p002: 500 }],
  ['as their group has it', { team: 500, 'group:a': 500, p002: 500 }, { team: 500, 'group:a': 500, p002: 500 }],
] as const)(
  'a number that is also what applies there is given back all the same (%s): the 0 may block unseen',
  async (_row, caps, after) => {
    const one = await worldUnder({ caps }, { ...OMITTED, groups: { a: ['p002'] } })
    await one.cycle({ caps: { ...caps, p002: 0 } })
    expect(one.caps()).toEqual(after)
    expect(one.ledger.quarantined()).toMatchObject([{ code: 'ZERO_NOT_STORED' }])
    one.forget()
    await one.cycle()
    expect(one.writes()).toEqual([])
  },
)

test('where caps are copied, people keep their own caps through a team 0 that is dropped and given back', async () => {
  const one = await testWorld({
    people: 3,
    switches: { zeroCap: 'omitted', capSemantics: 'fan-out' },
    config: { capSemantics: 'copied', guards: { ...NO_BLOCKING } },
  })
  await one.cycle({ caps: { team: 500, p002: 700 } })
  expect(one.caps()).toMatchObject({ team: 500, p002: 700 })
  await one.cycle({ caps: { team: 0, p002: 700 } })
  expect(one.caps()).toMatchObject({ team: 500, p002: 700 })
})

test('a number is restored to a group whose 0 was released from a hold of group writes: the same release counts', async () => {
  const switches = { zeroCap: 'omitted', capSemantics: 'fan-out' } as const
  const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] }, switches, config: { guards: NO_BLOCKING } })
  await one.cycle({ caps: { ada: 4000 } })
  await one.cycle({ caps: { ada: 4000, 'group:a': 1500 } })
  const { planned } = await one.cycle({ caps: { ada: 4000, 'group:a': 0 } })
  const [hold] = planned.plan.holds
  expect(hold).toMatchObject({ guards: ['semantics'] })
  approve(one, hold?.id)
  one.forget()
  await one.cycle()
  expect(one.writes()).toContain('group:a 0')
  expect(one.caps()).toEqual({ ada: 4000, 'group:a': 1500 })
})

test('a restore that does not show is written once in a cycle, and again by the next one', async () => {
  const stale = { broken: false }
  const one = await worldUnder({ caps: { team: 500, p002: 700 } }, { ...OMITTED, wrapTransport: answering(reads('p002'), 200, stale) })
  one.onCall = ({ operation }) => {
    if (operation === 'UsageConfig' && one.writes().includes('p002 0')) stale.broken = true
  }
  one.forget()
  await one.cycle({ caps: { team: 500, p002: 0 } })
  expect(one.writes()).toEqual(['p002 0', 'p002 700'])
  one.onCall = undefined
  one.forget()
  await one.cycle()
  expect(one.writes()).toEqual(['p002 700'])
  stale.broken = false
  await one.clock.pass(300_000)
  one.forget()
  await one.cycle()
  expect(one.writes()).toEqual([])
  expect(one.caps()).toEqual({ team: 500, p002: 700 })
})

test('a 0 that was kept before, and does not show for a moment after it was written anew, is no dropped 0', async () => {
  const stale = { broken: false }
  const one = await testWorld({ people: 20, caps: { p002: 700 }, wrapTransport: answering(reads('p002'), 200, stale) })
  await one.cycle({ caps: { team: 500, p002: 0 } })
  one.foreign('p002', undefined)
  stale.broken = true
  await one.cycle()
  expect(one.ledger.quarantined()).toEqual([])
  stale.broken = false
  await later(one, 300_000)
  expect(one.caps()).toEqual({ team: 500, p002: 0 })
})

test('a second 0 that is not kept is no foreign change: the cap that it replaced is restored also where those are only shown', async () => {
  const one = await worldUnder({ caps: { team: 500, p002: 700 } }, { ...OMITTED, config: { guards: NO_BLOCKING, onDrift: 'alert' } })
  for (let round = 0; round < 2; round += 1) {
    await one.cycle({ caps: { team: 500, p002: 0 } })
    expect(one.caps()['p002']).toBe(700)
    // It is asked for anew.
    one.ledger.releaseQuarantined(one.ledger.quarantined().map(({ scope }) => scopeKey(scope)))
  }
  expect(one.begun('ForeignChange')).toEqual([])
})
