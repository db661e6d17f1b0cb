// What takes time to make and serves many: pages, documents, and the people of a workspace. Each is made once for all who ask meanwhile, and kept while
// the state behind it is the same, or for a while whatever changes. A failure is not kept.
import type { Clock } from '../../ports.ts'

/** `lifeMs`: for how long it serves whatever changes. */
export interface Made<T> {
  readonly value: T
  readonly lifeMs: number
}

interface Room<T> {
  readonly most: number
  readonly mostBytes?: number
  readonly bytesOf?: (value: T) => number
}

/** Gives what is kept by a name, or makes it. `state` names what it depends on; undefined: it is another one each time. */
export function keeper<T>(clock: Pick<Clock, 'monotonic'>, { most, mostBytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 }: Room<T>) {
  const kept = new Map<string, { readonly value: T; readonly state: string | undefined; readonly untilMs: number }>()
  // `areGone`: of each that asked for it, whether it has left.
  const making = new Map<string, { readonly value: Promise<T>; readonly areGone: (() => boolean)[] }>()
  let bytes = 0
  function forget(name: string): void {
    const one = kept.get(name)
    if (one && kept.delete(name)) bytes -= bytesOf(one.value)
  }
  function keep(name: string, state: string | undefined, { value, lifeMs }: Made<T>): T {
    kept.set(name, { value, state, untilMs: clock.monotonic() + lifeMs })
    bytes += bytesOf(value)
    for (const oldest of kept.keys()) {
      if (kept.size <= most && bytes <= mostBytes) break
      forget(oldest)
    }
    return value
  }
  type Make = (isWanted: () => boolean) => Promise<Made<T>>
  return async (name: string, state: string | undefined, make: Make, isGone = () => false): Promise<T> => {
    const one = kept.get(name)
    if (one && (clock.monotonic() < one.untilMs || (state !== undefined && one.state === state))) return one.value
    // The old one is released first: two of them at once would take twice the memory.
    forget(name)
    // Requests that come while it is made share it, also when the state has changed since.
    const pending = making.get(name)
    pending?.areGone.push(isGone)
    if (pending) return pending.value
    const areGone = [isGone]
    const value = make(() => areGone.some((gone) => !gone()))
      .then((made) => keep(name, state, made))
      .finally(() => making.delete(name))
    making.set(name, { value, areGone })
    return value
  }
}

/** Shared for this many times as long as making it took, whatever changes: so making it takes at most a fifth of the time. Choice. */
const SHARED_TIMES = 4

export async function timed<T>(clock: Pick<Clock, 'monotonic'>, make: () => Promise<T>): Promise<Made<T>> {
  const beganMs = clock.monotonic()
  const value = await make()
  return { value, lifeMs: (clock.monotonic() - beganMs) * SHARED_TIMES }
}

/** A page of this size is shared at least this long, so that few copies are in memory while slow readers read theirs. Choice. */
const LARGE_BYTES = 1024 * 1024
const LARGE_SHARED_MS = 15_000

/** A page that has no state, for all who ask. */
export function sharePage(clock: Pick<Clock, 'monotonic'>, make: () => Promise<Buffer>): () => Promise<Buffer> {
  const kept = keeper<Buffer>(clock, { most: 1 })
  const share = async () => {
    const { value, lifeMs } = await timed(clock, make)
    return { value, lifeMs: value.length >= LARGE_BYTES ? Math.max(lifeMs, LARGE_SHARED_MS) : lifeMs }
  }
  return () => kept('', undefined, share)
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
