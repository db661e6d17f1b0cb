// Real time and real randomness, and the only place that has them. All other code is given a Clock, a Random or an instant, so that a
// simulation can replace them.
import { createHash, randomBytes } from 'node:crypto'
import type { Clock, Digest, Random } from '../../ports.ts'

/** The longest time that `setTimeout` takes (about 24.8 days); after a longer one it would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The clocks of this machine. A sleep of any length is fine; one that is not positive ends at once. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const endAt = performance.now() + ms
      let timer: NodeJS.Timeout | undefined
      const abort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      // A timer may fire a little early, but after a sleep until an instant that instant must have passed.
      const wait = (): void => {
        const leftMs = endAt - performance.now()
        if (leftMs > 0) {
          timer = setTimeout(wait, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS))
          return
        }
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      signal?.addEventListener('abort', abort, { once: true })
      wait()
    })
  },
}

/** Calls back after this time, unless it is disposed of before. */
export function timer(clock: Pick<Clock, 'sleep'>, ms: number, ring: () => void): Disposable {
  const off = new AbortController()
  clock.sleep(ms, off.signal).then(ring, () => undefined)
  return { [Symbol.dispose]: () => off.abort() }
}

/** Calls back when all that is ready now, timers and messages of other machines, had its turn. */
export const nextTurn = (then: () => void): void => void setImmediate(then)

/** Random enough for jitter and the sandbox; never for secrets. */
export const systemRandom: Random = { next: () => Math.random() }

/** SHA-256 of a UTF-8 text, 64 hex digits. */
export const sha256: Digest = (text) => createHash('sha256').update(text, 'utf8').digest('hex')

/** 32 hex digits that cannot be guessed. */
export const randomSalt = (): string => randomBytes(16).toString('hex')

/** The Node that runs this, such as `24.11.0`. */
export const nodeVersion: string = process.versions.node
