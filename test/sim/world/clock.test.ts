import { expect, it } from 'vitest'
import { simClock } from './clock.ts'

it('sleepers wake by instant, then in the order they fell asleep, and time stands still in between', async () => {
  const clock = simClock()
  const woken: string[] = []
  const nap = (name: string, ms: number): void => void clock.sleep(ms).then(() => woken.push(`${name} ${clock.elapsed()}`))
  nap('c', 30)
  nap('a', 10)
  nap('b', 10)
  await clock.runTo(20)
  expect(woken).toEqual(['a 10', 'b 10'])
  expect(clock.elapsed()).toBe(20)
  await clock.runTo(100)
  expect(woken.at(-1)).toBe('c 30')
})

it('a thousand sleepers wake in order', async () => {
  const clock = simClock()
  const woken: number[] = []
  for (let index = 0; index < 1000; index += 1) {
    const ms = (index * 7919) % 1009
    void clock.sleep(ms).then(() => woken.push(ms))
  }
  await clock.runTo(2000)
  expect(woken).toEqual(woken.toSorted((a, b) => a - b))
  expect(woken).toHaveLength(1000)
})

it('a sleeper of a killed process never wakes', async () => {
  const clock = simClock()
  const owner = { alive: true }
  let woken = false
  void clock.sleep(10, undefined, owner).then(() => {
    woken = true
  })
  owner.alive = false
  await clock.runTo(100)
  expect(woken).toBe(false)
})

it('an abort ends a sleep at once', async () => {
  const clock = simClock()
  const stop = new AbortController()
  const slept = clock.sleep(1000, stop.signal).catch((error: Error) => error.message)
  stop.abort(new Error('enough'))
  expect(await slept).toBe('enough')
  await clock.runTo(2000)
})
