// Clocks that move only when a test moves them, and one on which time passes while nothing else can happen. Sleepers wake in the order of their time.
import type { Clock } from '../../src/ports.ts'

interface MovedClock extends Clock {
  /** Moves only the wall clock, as an operator or NTP does. */
  jumpWall(ms: number): void
}

/** A clock on which time passes only while a sleeper waits for it and nothing else can happen. */
export type WorldClock = ReturnType<typeof worldClock>

interface Sleeper {
  readonly at: number
  /** Who sleeps, where several do. */
  readonly of: number
  readonly wake: () => void
}

const START = Date.UTC(2026, 10, 20, 12)

/** Time and those who wait for it; it passes only by `step` and `reach`. */
export function sleepersOf(startAt: number) {
  let elapsed = 0
  let skew = 0
  let sleepers: readonly Sleeper[] = []
  const sleepOf =
    (of: number): Clock['sleep'] =>
    (ms, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason)
      return new Promise((resolve, reject) => {
        const sleeper: Sleeper = { at: elapsed + Math.max(0, ms), of, wake: resolve }
        sleepers = [...sleepers, sleeper]
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((one) => one !== sleeper)
          reject(signal.reason)
        })
      })
    }
  const clock: MovedClock = {
    now: () => startAt + Math.floor(elapsed) + skew,
    monotonic: () => elapsed,
    sleep: sleepOf(0),
    jumpWall(ms) {
      skew += ms
    },
  }
  return {
    clock,
    sleepOf,
    sleeping: () => sleepers.length,
    /** Wakes the next sleeper that is due by `end` and may wake; false when there is none. */
    step(end: number, mayWake: (of: number) => boolean = () => true): boolean {
      let next: Sleeper | undefined
      for (const one of sleepers) if (one.at <= end && mayWake(one.of) && (!next || one.at < next.at)) next = one
      if (!next) return false
      elapsed = Math.max(elapsed, next.at)
      const woken = next
      sleepers = sleepers.filter((one) => one !== woken)
      woken.wake()
      return true
    },
    reach(end: number): void {
      elapsed = end
    },
  }
}

export function fakeClock(startAt = START) {
  const { clock, sleeping, step, reach } = sleepersOf(startAt)
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return {
    ...clock,
    /** The number of sleepers. */
    sleeping,
    /** Moves both clocks on, waking sleepers on the way; awaits microtasks between wake-ups. */
    async advance(ms: number) {
      const end = clock.monotonic() + ms
      await settle()
      for (let turn = 0; turn < 1_000_000 && step(end); turn += 1) await settle()
      reach(end)
      await settle()
    },
  }
}

/** Sleeping takes no real time: the earliest sleeper wakes as soon as the event loop is idle. */
export function hastyClock(startAt = START): MovedClock & { pass(ms: number): void } {
  const { clock, step, reach } = sleepersOf(startAt)
  return {
    ...clock,
    pass: (ms) => reach(clock.monotonic() + ms),
    sleep(ms, signal) {
      setImmediate(step, Number.POSITIVE_INFINITY)
      return clock.sleep(ms, signal)
    },
  }
}

/** How many idle turns of the event loop make a wait endless. */
const PATIENCE = 200_000

export function worldClock(startAt = START) {
  const { clock, step, reach } = sleepersOf(startAt)
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const world = {
    ...clock,
    /** True while work outside the clock is under way, such as a request over a socket. */
    busy: () => false,
    /** Waits for a promise, letting as much time pass as it takes. */
    async until<T>(promise: Promise<T>): Promise<T> {
      let over = false
      const end = (): void => {
        over = true
      }
      promise.then(end, end)
      for (let idle = 0; idle < PATIENCE; idle += 1) {
        await settle()
        if (over) return promise
        if (!world.busy() && step(Number.POSITIVE_INFINITY)) idle = 0
      }
      throw new Error('nothing happens any more, and the promise is still open')
    },
    /** Lets this much time pass. */
    async pass(ms: number): Promise<void> {
      const end = clock.monotonic() + ms
      for (let idle = 0; idle < PATIENCE; idle += 1) {
        await settle()
        if (world.busy()) continue
        if (!step(end)) break
        idle = 0
      }
      reach(end)
      await settle()
    },
  }
  return world
}
