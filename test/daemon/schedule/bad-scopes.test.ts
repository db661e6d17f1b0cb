// Scopes that cannot be read never keep a foreign change of another scope from being reverted (docs/operations.md).
import { describe, expect, test } from 'vitest'
import type { Transport, WireAnswer } from '../../../src/ports.ts'
import { email } from '../../support/declare.ts'
import { capsOf, live, MINUTE, person } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

interface Faults {
  isOn: boolean
}

/** Once on, answers the reads of these people so. */
const answering =
  (faults: Faults, bad: ReadonlySet<unknown>, said: Partial<WireAnswer>) =>
  (inner: Transport): Transport => ({
    async send(operation, body, options) {
      const isBad = faults.isOn && operation === 'GetUsageConfig' && bad.has(body['user_email'])
      return isBad ? { status: 500, headers: {}, body: '', ...said } : inner.send(operation, body, options)
    },
  })

describe('a foreign change of the last of many people is reverted', () => {
  test.each<readonly [string, number, number, Partial<WireAnswer>]>([
    ['twelve side by side cannot be read', 300, 12, { status: 500, body: '{"error":"internal"}' }],
    ['the key may not read four side by side', 100, 4, { status: 403, body: '{"error":"forbidden"}' }],
    ['one is answered with a wait of an hour', 20, 1, { status: 503, body: 'maintenance', headers: { 'retry-after': '3600' } }],
  ])('while %s', async (_, people, count, said) => {
    const bad = new Set(Array.from({ length: count }, (_, index) => email(person(1 + index))))
    const faults: Faults = { isOn: false }
    const one = await testWorld({ people, rate: 50, wrapTransport: answering(faults, bad, said) })
    const life = live(one)
    life.set({ caps: capsOf(people) })
    await one.clock.pass(10 * MINUTE)
    faults.isOn = true
    one.foreign(person(people), 9000)
    await one.clock.pass(20 * MINUTE)
    await life.stop()
    const unread = one.workspace.state?.readings.values().filter(({ observed }) => observed === 'unknown')
    expect(one.caps()[person(people)]).toBe(1000)
    expect(unread?.toArray()).toHaveLength(count)
  })
})
