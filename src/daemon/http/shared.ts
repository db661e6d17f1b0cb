// Pages are made once and shared by all who ask meanwhile, because making one costs time and memory that a client must not be able to ask for
// without end. How long one is shared depends on what it cost alone: making pages takes a fifth of the time at most. It knows no page.
import type { Clock } from '../../ports.ts'

/** How many times as long as it took to make it a page is shared. Choice. */
const SHARED_TIMES = 4
/** A page of this size is shared this long at least, so that few of them are in memory while slow readers take theirs. Choice. */
const LARGE_BYTES = 1024 * 1024
const LARGE_SHARED_MS = 15_000

/** A page that is made when it is asked for, and not more often than it may be. */
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
    // What was is let go before the next is there.
    made = undefined
    making ??= remake()
    return making
  }
}

/** How long pieces of a page are put together at a stretch; then others get their turn. */
const STRETCH_MS = 20

/** Puts a long text together without holding anybody up; the pieces are made on the way. */
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
