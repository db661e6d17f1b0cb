// Scopes that cannot be read never keep a foreign change of another scope from being reverted (docs/operations.md).
import { describe, expect, test } from 'vitest'
import { email } from '../../support/declare.ts'
import { answerOf, instead } from '../../support/faults.ts'
import { capsOf, loopOver, MINUTE, person } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('a foreign change of the last of many people is reverted', () => {
  test.each<readonly [string, number, number, ReturnType<typeof answerOf>]>([
    ['twelve side by side cannot be read', 300, 12, answerOf(500)],
    ['the key may not read four side by side', 100, 4, answerOf(403)],
    ['one is answered with a wait of an hour', 20, 1, answerOf(503, 'maintenance', { 'retry-after': '3600' })],
  ])('while %s', async (_, people, count, said) => {
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
})
