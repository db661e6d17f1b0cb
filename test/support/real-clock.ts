// The real clock, for the few tests that wait for the file system.
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../src/ports.ts'

export const realClock = (): Clock => ({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(Math.max(0, ms), undefined, signal ? { signal } : {}),
})

/** Of a long sleep a twentieth is slept, or another share. */
export function hurriedClock(share = 0.05): Clock {
  const real = realClock()
  let skippedMs = 0
  return {
    now: real.now,
    monotonic: () => real.monotonic() + skippedMs,
    async sleep(ms, signal) {
      const skipped = ms < 100 ? 0 : ms * (1 - share)
      await real.sleep(ms - skipped, signal)
      skippedMs += skipped
    },
  }
}
