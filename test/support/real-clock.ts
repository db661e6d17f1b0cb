// The real clock, for the few tests that wait for the file system.
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../src/ports.ts'

export const realClock = (): Clock => ({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(Math.max(0, ms), undefined, signal ? { signal } : {}),
})
