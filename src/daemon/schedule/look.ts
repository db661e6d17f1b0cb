// How long a page waits for what it asks of the ledger: a database that does not answer must not keep anybody from seeing what is known.
import type { Clock } from '../../ports.ts'

/** Then what was known is shown. Choice. */
export const LOOK_MS = 1_000

/** A look that all who look share while it is under way, and that nobody waits for longer than `LOOK_MS`. */
export function patientLook(clock: Pick<Clock, 'sleep'>, look: () => Promise<void>): () => Promise<void> {
  let looking: Promise<void> | undefined
  return async () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    const seen = new AbortController()
    const enough = clock.sleep(LOOK_MS, seen.signal).catch(() => undefined)
    try {
      await Promise.race([looking, enough])
    } finally {
      seen.abort()
    }
  }
}
