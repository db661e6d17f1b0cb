// Writes that arrive after the clear of their scope, up to a day after they were sent: they are ours still, and are cleared again, or what was
// there before a grant comes back.
import { expect, test } from 'vitest'
import { userScope } from '../../../src/core/model/scope.ts'
import { email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'
import { faulty, heal, type Wrong } from '../../support/faults.ts'
import { intentFor, raise } from '../../support/ledger.ts'
import { later } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

// The first of its writes arrives hours after a later one, and the clear after that.
test.each<readonly [string, Wrong['writes'], meanwhile: readonly (PlainCap | undefined)[]]>([
  ['none of its writes', [[false, 503]], [700, undefined]],
  [
    'the first of two writes',
    [
      [false, 503],
      [true, 200],
    ],
    [undefined],
  ],
  ['none of its writes, and policy declared none meanwhile', [[false, 503]], [700, 'none', undefined]],
])('a cap is cleared again when the service answered %s, and one arrives at last after the clear', async (_row, writes, meanwhile) => {
  const under = (p001: PlainCap | undefined) => ({ caps: { team: 900, ...(p001 !== undefined && { p001 }) } })
  const fault: Wrong = { sent: 0 }
  const one = await testWorld({ people: 20, wrapTransport: faulty(fault, 'p001') })
  await one.cycle(under(undefined))
  fault.writes = writes
  await one.cycle(under(700))
  heal(fault)
  for (const cap of meanwhile) await later(one, HOUR, under(cap))
  expect(one.caps()).toEqual({ team: 900 })
  one.restart()
  await later(one, HOUR)
  one.foreign('p001', 700)
  for (let round = 0; round < 2; round += 1) await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900 })
  await later(one, 25 * HOUR)
  one.forget()
  await later(one, HOUR)
  expect(one.reads()).not.toContain('p001')
})

test('a cap is cleared again when the first attempts of two values were lost, and the older value arrives after the clear: in that cycle', async () => {
  const fault: Wrong = { sent: 0 }
  const one = await testWorld({ people: 20, wrapTransport: faulty(fault, 'p001') })
  await one.cycle({ caps: { team: 900 } })
  for (const p001 of [700, 800]) {
    Object.assign(fault, {
      sent: 0,
      writes: [
        [false, 503],
        [true, 200],
      ],
    })
    await later(one, HOUR, { caps: { team: 900, p001 } })
  }
  heal(fault)
  for (let round = 0; round < 2; round += 1) await later(one, HOUR, { caps: { team: 900 } })
  one.foreign('p001', 700)
  await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900 })
})

test('the older of two values that were lost is cleared after a long pause, in which it arrived', async () => {
  const fault: Wrong = { sent: 0 }
  const one = await testWorld({ people: 20, wrapTransport: faulty(fault, 'p001') })
  await one.cycle({ caps: { team: 900, p001: 300 } })
  fault.writes = [[false, 503]]
  for (const p001 of [700, 800]) await later(one, HOUR, { caps: { team: 900, p001 } })
  heal(fault)
  await one.ledger.savePause({ untilAt: one.clock.now() + 40 * HOUR, reason: 'incident', pausedAt: one.clock.now() })
  one.foreign('p001', 700)
  await later(one, HOUR, { caps: { team: 900 } })
  for (let round = 0; round < 2; round += 1) await later(one, 25 * HOUR)
  expect(one.caps()).toEqual({ team: 900 })
})

test('a cap is cleared again when the process died at the second attempt, which came, and the first arrives after the clear', async () => {
  const one = await testWorld({ people: 20 })
  await one.cycle({ caps: { team: 900 } })
  const change = { ...raise(userScope(email('p001')), 0, 700), from: 'none' } as const
  await one.ledger.recordIntent(intentFor(change, { at: one.clock.now() }))
  one.foreign('p001', 700)
  one.restart()
  await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900 })
  one.foreign('p001', 700)
  for (let round = 0; round < 2; round += 1) await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900 })
})

test.each([
  ['of somebody whom it was sent to', 'p001'],
  ['of a group', 'group:g'],
])(
  'a cap that arrives under one of the team of the same value, where the read %s shows that, is cleared once it is another',
  async (_row, name) => {
    const fault: Wrong = { sent: 0, writes: [[false, 503]] }
    const groups = { g: ['p001', 'p002'] }
    const switches = { capReads: 'inherited' } as const
    const one = await testWorld({ people: 20, groups, wrapTransport: faulty(fault, name), switches, config: { capReads: 'inherited' } })
    await one.cycle({ caps: { team: 500, [name]: 700 } })
    heal(fault)
    await later(one, HOUR, { caps: { team: 700 } })
    one.forget()
    await later(one, HOUR)
    one.foreign(name, 700)
    for (let round = 0; round < 2; round += 1) await later(one, HOUR)
    expect({ caps: one.caps(), writes: one.writes() }).toEqual({ caps: { team: 700, [name]: 700 }, writes: [] })
    for (const _day of [1, 2]) await later(one, 25 * HOUR)
    await later(one, HOUR, { caps: { team: 800 } })
    expect(one.caps()).toEqual({ team: 800 })
  },
)

test.each([
  ['has ended', true, NOW + HOUR],
  ['has ended, where nothing is pruned', false, NOW + HOUR],
  ['was taken out of policy', true, NOW + 99 * HOUR],
])('the cap from before a grant comes back when the first try of the grant arrives after it %s', async (_row, prune, until) => {
  const fault: Wrong = {
    sent: 0,
    writes: [
      [false, 503],
      [true, 200],
    ],
  }
  const caps = { p001: 500 }
  const one = await testWorld({ people: 20, caps, config: { prune }, wrapTransport: faulty(fault, 'p001') })
  await one.cycle({ caps: { team: 900 }, grants: [{ on: 'p001', cap: 6000, from: NOW - HOUR, until }] })
  heal(fault)
  for (let round = 0; round < 2; round += 1) await later(one, 2 * HOUR, { caps: { team: 900 } })
  expect(one.caps()).toEqual({ team: 900, p001: 500 })
  one.foreign('p001', 6000)
  for (let round = 0; round < 2; round += 1) await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900, p001: 500 })
})
