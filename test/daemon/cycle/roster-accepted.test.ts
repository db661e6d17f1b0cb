// Approving a `rosterShrink` hold makes the doubted roster the good one, in the same cycle that carries the held changes out.
import { expect, test } from 'vitest'
import { capsOf, person } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

test('an approved roster counts at once: who is away on it is not written, the others are', async () => {
  const one = await testWorld({ people: 10 })
  await one.cycle({ caps: { team: 500, ...capsOf(2) } })
  for (const number of [1, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { team: 500, ...capsOf(2, 700) } })
  const [hold] = planned.plan.holds
  expect(hold?.guards).toContain('rosterShrink')
  await one.cycle(undefined, { approve: [hold?.id ?? ''] })
  expect(one.ledger.fact('usage')?.doubted).toBeUndefined()
  expect(one.caps()).toMatchObject({ [person(1)]: 1000, [person(2)]: 700 })
})
