// Deliberate faults: which of them a request gets, the delay of its answer, and how many requests a key may send. Each fault draws from a
// stream of its own under the seed, in the order of requests, so that no fault changes another.
import { type Draw, stream } from './company/random.ts'
import { FAULT_NAMES, type FaultName, type RateLimit, type Switches } from './switches.ts'

export interface Chance {
  /** The faults of the next request; there may be several. */
  readonly faults: () => ReadonlySet<FaultName>
  /** The delay of the next answer in milliseconds. */
  readonly delayMs: () => number
  /** Chooses between the forms of one fault. */
  readonly draw: Draw
}

export function createChance(seed: number, switches: Pick<Switches, 'faults' | 'latency' | 'jitter'>): Chance {
  const draws = FAULT_NAMES.map((name) => ({ name, probability: switches.faults[name] ?? 0, draw: stream(seed, `fault/${name}`) }))
  const jitter = stream(seed, 'jitter')
  return {
    faults: () => new Set(draws.filter(({ draw, probability }) => draw() < probability).map(({ name }) => name)),
    delayMs: () => switches.latency + Math.round(jitter() * switches.jitter),
    draw: stream(seed, 'fault-shape'),
  }
}

export interface RateLimiter {
  /** Milliseconds until the key may send again; 0: this request counts and may pass. */
  readonly waitMs: (key: string) => number
}

/**
 * A fixed window for each key: it opens with the first request and lets `limit` requests pass; refused requests do not count. Choice: the
 * interface names no limit. `now` is the monotonic clock.
 */
export function createRateLimiter(rate: RateLimit | 'off', now: () => number): RateLimiter {
  const windows = new Map<string, { openedAt: number; count: number }>()
  return {
    waitMs(key) {
      if (rate === 'off') return 0
      const at = now()
      const open = windows.get(key)
      if (!open || at - open.openedAt >= rate.windowMs) {
        windows.set(key, { openedAt: at, count: 1 })
        return 0
      }
      if (open.count >= rate.limit) return open.openedAt + rate.windowMs - at
      open.count += 1
      return 0
    },
  }
}

/** `Retry-After` as configured: whole seconds, or a date of whole seconds, never too early. `now` is the wall clock. */
export function retryAfterHeader(style: Switches['retryAfter'], waitMs: number, now: number): string | undefined {
  switch (style) {
    case 'none':
      return undefined
    case 'seconds':
      return String(Math.ceil(waitMs / 1000))
    case 'date':
      return new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString()
  }
}

/** Pages that a proxy in front of a service answers with. */
export const HTML_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Service unavailable</title></head><body><h1>Please try again later</h1></body></html>\n'
