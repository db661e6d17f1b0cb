// Real time and real chance: the only place of the program that has them. Everything else is handed a Clock, a Random or an instant, so
// that a simulated world can take their place.
import { createHash, randomBytes } from 'node:crypto'
import type { Clock, Digest, Random } from '../../ports.ts'

/** `setTimeout` takes no more than this (about 24.8 days) and would fire at once. */
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
      // A timer can also fire a little early: whoever slept until an instant must find it passed.
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

/** Chance good enough for jitter and the sandbox; never for secrets. */
export const systemRandom: Random = { next: () => Math.random() }

/** SHA-256 of a UTF-8 text, 64 hex digits. */
export const sha256: Digest = (text) => createHash('sha256').update(text, 'utf8').digest('hex')

/** 32 hex digits that nobody can guess. */
export const randomSalt = (): string => randomBytes(16).toString('hex')

/** The Node that runs this, such as `24.11.0`. */
export const nodeVersion: string = process.versions.node
