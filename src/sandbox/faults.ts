// What goes wrong on purpose: which faults a request meets, how long its answer takes, and how many requests a key may make. Drawn from
// one stream per fault under the seed, in the order of requests, so that one fault never shifts another.
import { type Draw, stream } from './company/random.ts'
import type { RateLimit, Switches } from './switches.ts'
import { FAULT_NAMES, type FaultName } from './switches.ts'

export interface Chance {
  /** The faults that the next request meets; several may meet at once. */
  readonly faults: () => ReadonlySet<FaultName>
  /** Milliseconds that the next answer takes. */
  readonly delayMs: () => number
  /** For choosing between the shapes of one fault. */
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
  /** Milliseconds until the key may ask again; 0: this request counts and may pass. */
  readonly waitMs: (key: string) => number
}

/**
 * A fixed window per key that opens with its first request and holds `limit` requests; refused ones do not count. Choice: the
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

/** What a proxy in front of a service answers when it takes over. */
export const HTML_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Service unavailable</title></head><body><h1>Please try again later</h1></body></html>\n'
