// One page that is made once and shared by all requests for a while, so that clients cannot make the daemon spend all its time and memory on it. How
// long it is shared depends only on what it cost: making it takes at most a fifth of the time.
import type { Clock } from '../../ports.ts'

/** A page is shared for this many times as long as making it took. Choice. */
const SHARED_TIMES = 4
/** A page of this size is shared at least this long, so that few copies are in memory while slow readers read theirs. Choice. */
const LARGE_BYTES = 1024 * 1024
const LARGE_SHARED_MS = 15_000

export type SharedPage = () => Promise<Buffer>

export function sharePage(clock: Pick<Clock, 'monotonic'>, make: () => string | Promise<string> | Promise<Buffer>): SharedPage {
  let made: { readonly bytes: Buffer; readonly untilMs: number } | undefined
  let making: Promise<Buffer> | undefined
  async function remake(): Promise<Buffer> {
    const beganMs = clock.monotonic()
    try {
      const content = await make()
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      const nowMs = clock.monotonic()
      const sharedMs = (nowMs - beganMs) * SHARED_TIMES
      made = { bytes, untilMs: nowMs + (bytes.length >= LARGE_BYTES ? Math.max(sharedMs, LARGE_SHARED_MS) : sharedMs) }
      return bytes
    } finally {
      making = undefined
    }
  }
  return async () => {
    if (made && clock.monotonic() < made.untilMs) return made.bytes
    // The old page is released first: two of them at once would take twice the memory.
    made = undefined
    making ??= remake()
    return making
  }
}

/** How long pieces are joined without a pause for other work. */
const STRETCH_MS = 20

/** Joins a long text while other work goes on. */
export async function gathered(pieces: AsyncIterable<string>, clock: Pick<Clock, 'monotonic' | 'sleep'>): Promise<Buffer> {
  const parts: Buffer[] = []
  let beganMs = clock.monotonic()
  for await (const piece of pieces) {
    parts.push(Buffer.from(piece))
    if (clock.monotonic() - beganMs < STRETCH_MS) continue
    await clock.sleep(1)
    beganMs = clock.monotonic()
  }
  return Buffer.concat(parts)
}
