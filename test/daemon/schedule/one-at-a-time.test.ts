import { expect, test } from 'vitest'
import { oneAtATime } from '../../../src/daemon/schedule/refresh.ts'

/** Work whose ends are told by hand. */
function byHand() {
  const ends: (() => void)[] = []
  let [running, most] = [0, 0]
  const run = (): Promise<void> => {
    running += 1
    most = Math.max(most, running)
    return new Promise((resolve) =>
      ends.push(() => {
        running -= 1
        resolve()
      }),
    )
  }
  return { run, runs: () => ends.length, end: (index: number) => ends[index]?.(), most: () => most }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a thousand requests during a run lead to one more run, never two at a time', async () => {
  const work = byHand()
  const ask = oneAtATime(work.run)
  const first = ask()
  const others = Array.from({ length: 1_000 }, () => ask())
  await settle()
  expect(work.runs()).toBe(1)
  work.end(0)
  await first
  await settle()
  expect(work.runs()).toBe(2)
  work.end(1)
  await Promise.all(others)
  expect([work.runs(), work.most()]).toEqual([2, 1])
  void ask()
  expect(work.runs()).toBe(3)
})

test('a request resolves only when a run that began after it has ended', async () => {
  const work = byHand()
  const ask = oneAtATime(work.run)
  void ask()
  let answered = false
  const second = ask().then(() => {
    answered = true
  })
  work.end(0)
  await settle()
  expect(answered).toBe(false)
  work.end(1)
  await second
  expect(answered).toBe(true)
})

test('work that is done at once begins at once', async () => {
  let runs = 0
  const ask = oneAtATime(() => {
    runs += 1
  })
  const asked = ask()
  expect(runs).toBe(1)
  await asked
  await ask()
  expect(runs).toBe(2)
})
