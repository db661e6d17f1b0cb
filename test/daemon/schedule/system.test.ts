import { expect, onTestFinished, test, vi } from 'vitest'
import { sha256, systemClock, systemRandom } from '../../../src/daemon/schedule/system.ts'

function stopTime(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

test('a sleep ends after its time, not before', async () => {
  stopTime()
  const started = systemClock.monotonic()
  let endedAt: number | undefined
  const sleeping = systemClock.sleep(1_000.5).then(() => {
    endedAt = systemClock.monotonic()
  })
  await vi.advanceTimersByTimeAsync(999)
  expect(endedAt).toBeUndefined()
  await vi.advanceTimersByTimeAsync(2)
  await sleeping
  expect((endedAt ?? 0) - started).toBeGreaterThanOrEqual(1_000.5)
})

test('a sleep of 90 days, longer than one timer can be, lasts 90 days', async () => {
  stopTime()
  const day = 86_400_000
  let ended = false
  const sleeping = systemClock.sleep(90 * day).then(() => {
    ended = true
  })
  await vi.advanceTimersByTimeAsync(90 * day - 1)
  expect(ended).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await sleeping
})

test.each([0, -5])('a sleep of %d ms ends at once', async (ms) => {
  await expect(systemClock.sleep(ms)).resolves.toBeUndefined()
})

test('an abort ends a sleep with its own reason, and leaves no timer behind', async () => {
  stopTime()
  const controller = new AbortController()
  const reason = new Error('stopped')
  const sleeping = systemClock.sleep(60_000, controller.signal)
  controller.abort(reason)
  await expect(sleeping).rejects.toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
})

test('a signal that was aborted before ends the sleep before it begins', async () => {
  const reason = new Error('stopped')
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
})

test('a sleep that ended listens to its signal no more', async () => {
  const controller = new AbortController()
  const remove = vi.spyOn(controller.signal, 'removeEventListener')
  await systemClock.sleep(1, controller.signal)
  expect(remove).toHaveBeenCalledOnce()
})

test('the wall clock tells milliseconds since the epoch, the monotonic one never goes back', () => {
  expect(systemClock.now()).toBeGreaterThan(Date.UTC(2020, 0))
  const first = systemClock.monotonic()
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first)
})

test('chance lies in [0, 1) and is not always the same', () => {
  const rolls = Array.from({ length: 100 }, () => systemRandom.next())
  expect(rolls.every((roll) => roll >= 0 && roll < 1)).toBe(true)
  expect(new Set(rolls).size).toBeGreaterThan(90)
})

test('sha256 is that of the UTF-8 text', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha256('ü')).toBe(sha256('\u00fc'))
  expect(sha256('ü')).not.toBe(sha256('u'))
})
