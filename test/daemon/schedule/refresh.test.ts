// A refresh is shared by all pages that ask for it, and no page waits long for it.
import { expect, test } from 'vitest'
import { sharedRefresh } from '../../../src/daemon/schedule/refresh.ts'
import { fakeClock } from '../../support/clock.ts'

test('pages that ask while a refresh runs share it, and a later page begins a new one', async () => {
  const begun: PromiseWithResolvers<void>[] = []
  const refresh = sharedRefresh(fakeClock(), () => {
    const one = Promise.withResolvers<void>()
    begun.push(one)
    return one.promise
  })
  const both = Promise.all([refresh(), refresh()])
  expect(begun).toHaveLength(1)
  begun[0]?.resolve()
  await both
  const next = refresh()
  expect(begun).toHaveLength(2)
  begun[1]?.resolve()
  await next
})

test('no page waits for a refresh that takes too long, and none begins it again meanwhile', async () => {
  const clock = fakeClock()
  let begun = 0
  const endless = Promise.withResolvers<void>()
  const refresh = sharedRefresh(clock, () => {
    begun += 1
    return endless.promise
  })
  for (let time = 0; time < 3; time += 1) {
    const waiting = refresh()
    await clock.advance(1_000)
    await waiting
  }
  expect(begun).toBe(1)
})
