// A look at what others change is shared by all who look, and nobody waits long for it.
import { expect, test } from 'vitest'
import { LOOK_MS, patientLook } from '../../../src/daemon/schedule/look.ts'
import { fakeClock } from '../../support/clock.ts'

test('one look serves all who come while it is under way, and the next one begins a new look', async () => {
  const begun: PromiseWithResolvers<void>[] = []
  const look = patientLook(fakeClock(), () => {
    const one = Promise.withResolvers<void>()
    begun.push(one)
    return one.promise
  })
  const both = Promise.all([look(), look()])
  expect(begun).toHaveLength(1)
  begun[0]?.resolve()
  await both
  const next = look()
  expect(begun).toHaveLength(2)
  begun[1]?.resolve()
  await next
})

test('what takes too long is not waited for, and is not begun again meanwhile', async () => {
  const clock = fakeClock()
  let begun = 0
  const endless = Promise.withResolvers<void>()
  const look = patientLook(clock, () => {
    begun += 1
    return endless.promise
  })
  for (let time = 0; time < 3; time += 1) {
    const looked = look()
    await clock.advance(LOOK_MS)
    await looked
  }
  expect(begun).toBe(1)
})
