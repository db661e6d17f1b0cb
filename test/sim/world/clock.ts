// The simulation's time: it passes only when nothing else can happen, and then jumps to the next sleeper. Each sleeper has an owner, and a
// killed process is never woken again. Sleepers wake by instant, then in the order in which they fell asleep, so the order is repeatable.

/** The owner of a sleeper, which is not woken once its owner is dead. */
export interface Owner {
  alive: boolean
}

export type SimClock = ReturnType<typeof simClock>

interface Sleeper {
  readonly at: number
  readonly owner: Owner
  wake: (() => void) | undefined
}

const WORLD: Owner = { alive: true }

/** A turn of the event loop, after which every promise that could continue has done so. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** `isBusy`: real work is under way, and time stops until it has ended. */
export function simClock(isBusy: () => boolean = () => false) {
  const settle = async (): Promise<void> => {
    await turn()
    // Its end may start more work.
    while (isBusy()) {
      await turn()
      if (!isBusy()) await turn()
    }
  }
  // The next first.
  const sleepers: Sleeper[] = []
  let elapsed = 0
  const add = (ms: number, owner: Owner, wake: () => void): Sleeper => {
    const sleeper = { at: elapsed + Math.max(0, ms), owner, wake }
    const place = sleepers.findIndex(({ at }) => at > sleeper.at)
    sleepers.splice(place < 0 ? sleepers.length : place, 0, sleeper)
    return sleeper
  }
  return {
    /** Milliseconds since the simulation began. */
    elapsed: () => elapsed,
    /** Acts later, whichever processes are alive then. */
    later: (ms: number, action: () => void) => void add(ms, WORLD, action),
    sleep(ms: number, signal?: AbortSignal, owner = WORLD): Promise<void> {
      if (signal?.aborted) return Promise.reject(signal.reason)
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          sleeper.wake = undefined
          reject(signal?.reason)
        }
        const sleeper = add(ms, owner, () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        })
        signal?.addEventListener('abort', abort, { once: true })
      })
    },
    /** Lets time pass until that instant. */
    async runTo(atMs: number) {
      await settle()
      for (let next = sleepers[0]; next && next.at <= atMs; next = sleepers[0]) {
        sleepers.shift()
        if (!next.wake || !next.owner.alive) continue
        elapsed = Math.max(elapsed, next.at)
        next.wake()
        await settle()
      }
      elapsed = Math.max(elapsed, atMs)
    },
  }
}
