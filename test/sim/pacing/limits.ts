// Rate limiters as services have them, on simulated time: token buckets, fixed windows, and sliding windows that remember every request.
// They decide which requests are refused and the value of `Retry-After`, and know the throughput of an optimal client.

export type LimitKind =
  | { readonly kind: 'bucket'; readonly burstSeconds: number }
  | { readonly kind: 'fixed'; readonly windowMs: number; readonly offsetMs?: number }
  | { readonly kind: 'sliding'; readonly windowMs: number }

/** The limit from a moment on, in requests per second. */
export interface LimitStep {
  readonly fromMs: number
  readonly rate: number
}

export interface LimiterSpec {
  readonly limit: LimitKind
  /** In order of time; the first from 0. */
  readonly steps: readonly LimitStep[]
  readonly retryAfter: 'none' | 'seconds'
}

/** Changes with every offer. */
export interface Limiter {
  readonly spec: LimiterSpec
  step: number
  tokens: number
  tokensAtMs: number
  window: number
  used: number
  /** Times of the accepted requests that may still count, from `oldest` on. */
  log: number[]
  oldest: number
}

export type Verdict = { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number }

const OK: Verdict = { kind: 'ok' }

export function makeLimiter(spec: LimiterSpec): Limiter {
  const rate = spec.steps[0]?.rate ?? 1
  const tokens = spec.limit.kind === 'bucket' ? capacity(spec.limit.burstSeconds, rate) : 0
  return { spec, step: 0, tokens, tokensAtMs: 0, window: 0, used: 0, log: [], oldest: 0 }
}

/** A request arrives; offers must come in the order of time. */
export function offer(limiter: Limiter, atMs: number): Verdict {
  const { limit } = limiter.spec
  const next = limiter.spec.steps[limiter.step + 1]
  if (next && atMs >= next.fromMs) {
    if (limit.kind === 'bucket') refill(limiter, limit.burstSeconds, next.fromMs)
    limiter.step += 1
  }
  if (limit.kind === 'bucket') return offerBucket(limiter, limit.burstSeconds, atMs)
  return limit.kind === 'fixed'
    ? offerFixed(limiter, limit.windowMs, limit.offsetMs ?? 0, atMs)
    : offerSliding(limiter, limit.windowMs, atMs)
}

/** How many requests a client with endless work that knows the limit completes between two moments. */
export function allowedBetween(spec: LimiterSpec, fromMs: number, toMs: number): number {
  let sum = 0
  spec.steps.forEach((step, index) => {
    const endMs = Math.min(toMs, spec.steps[index + 1]?.fromMs ?? toMs)
    sum += (step.rate * Math.max(0, endMs - Math.max(fromMs, step.fromMs))) / 1000
  })
  return sum
}

const capacity = (burstSeconds: number, rate: number): number => Math.max(1, burstSeconds * rate)

const rateNow = (limiter: Limiter): number => limiter.spec.steps[limiter.step]?.rate ?? 1

const refusal = (limiter: Limiter, waitMs: number): Verdict =>
  limiter.spec.retryAfter === 'none' ? { kind: 'refused' } : { kind: 'refused', retryAfterMs: 1000 * Math.max(1, Math.ceil(waitMs / 1000)) }

function refill(limiter: Limiter, burstSeconds: number, atMs: number): void {
  const rate = rateNow(limiter)
  const gained = ((atMs - limiter.tokensAtMs) * rate) / 1000
  limiter.tokens = Math.min(capacity(burstSeconds, rate), limiter.tokens + gained)
  limiter.tokensAtMs = atMs
}

function offerBucket(limiter: Limiter, burstSeconds: number, atMs: number): Verdict {
  refill(limiter, burstSeconds, atMs)
  if (limiter.tokens < 1) return refusal(limiter, (1000 * (1 - limiter.tokens)) / rateNow(limiter))
  limiter.tokens -= 1
  return OK
}

function offerFixed(limiter: Limiter, windowMs: number, offsetMs: number, atMs: number): Verdict {
  const window = Math.floor((atMs + offsetMs) / windowMs)
  if (window !== limiter.window) {
    limiter.window = window
    limiter.used = 0
  }
  if (limiter.used >= Math.round((rateNow(limiter) * windowMs) / 1000)) return refusal(limiter, (window + 1) * windowMs - offsetMs - atMs)
  limiter.used += 1
  return OK
}

function offerSliding(limiter: Limiter, windowMs: number, atMs: number): Verdict {
  const { log } = limiter
  while (limiter.oldest < log.length && (log[limiter.oldest] ?? 0) <= atMs - windowMs) limiter.oldest += 1
  if (limiter.oldest > 10_000 && limiter.oldest * 2 > log.length) {
    limiter.log = log.slice(limiter.oldest)
    limiter.oldest = 0
  }
  const used = limiter.log.length - limiter.oldest
  const quota = Math.round((rateNow(limiter) * windowMs) / 1000)
  if (used >= quota) return refusal(limiter, (limiter.log[limiter.oldest + used - quota] ?? atMs) + windowMs - atMs)
  limiter.log.push(atMs)
  return OK
}
