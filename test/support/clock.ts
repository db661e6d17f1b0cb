// A clock that moves only when a test moves it. Sleepers wake in the order of their time.
import type { Clock } from '../../src/ports.ts'

interface FakeClock extends Clock {
  /** Moves both clocks on, waking sleepers on the way; awaits microtasks between wake-ups. */
  advance(ms: number): Promise<void>
  /** Moves only the wall clock, as an operator or NTP does. */
  jumpWall(ms: number): void
  /** The number of sleepers. */
  sleeping(): number
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

export function fakeClock(startAt = Date.UTC(2026, 10, 20, 12)): FakeClock {
  let elapsed = 0
  let skew = 0
  let sleepers: Sleeper[] = []
  return {
    now: () => startAt + elapsed + skew,
    monotonic: () => elapsed,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason)
      return new Promise((resolve, reject) => {
        const sleeper: Sleeper = { at: elapsed + Math.max(0, ms), wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((one) => one !== sleeper)
          reject(signal.reason)
        })
      })
    },
    async advance(ms) {
      const end = elapsed + ms
      await settle()
      for (let turn = 0; turn < 1_000_000; turn += 1) {
        const next = sleepers.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        elapsed = Math.max(elapsed, next.at)
        sleepers = sleepers.filter((one) => one !== next)
        next.wake()
        await settle()
      }
      elapsed = end
      await settle()
    },
    jumpWall(ms) {
      skew += ms
    },
    sleeping: () => sleepers.length,
  }
}
