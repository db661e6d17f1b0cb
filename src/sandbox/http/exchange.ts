// Takes one request from its text to its answer, faults included. The in-process transport and the HTTP server share it, so that they
// cannot differ. Order: faults that stop the request, the key, the rate, the operation, faults that damage the answer.
import type { Operation } from '../../core/model/observed.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Clock } from '../../ports.ts'
import type { CapBook } from '../caps.ts'
import { pick } from '../company/company.ts'
import { type Encoded, encodeRefusal, JSON_TYPE, Refusal } from '../refusal.ts'
import type { ServiceContext } from '../roster.ts'
import { answer, authenticate } from '../service.ts'
import type { Store } from '../store.ts'
import { type createChance, type FaultName, HTML_PAGE, retryAfterHeader, type Switches } from '../switches.ts'

/** The result of a request: an answer, a connection that is reset, or no answer at all. */
export type Exchange =
  | { readonly kind: 'answer'; readonly delayMs: number; readonly answer: Encoded; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'reset'; readonly delayMs: number }
  | { readonly kind: 'silence' }

/** One request as it was received; `body` is what was sent, without the key. */
export interface SandboxCall {
  readonly operation: Operation
  readonly body: Readonly<Record<string, unknown>>
  readonly at: Instant
  /** The status of the answer; absent when none was sent. */
  readonly status?: number
  readonly faults: readonly FaultName[]
}

interface ExchangeParts {
  readonly store: Store
  readonly caps: CapBook
  readonly switches: Switches
  readonly clock: Clock
  readonly chance: ReturnType<typeof createChance>
  /** Milliseconds until the key may send again; 0: this request counts and may pass. */
  readonly waitMs: (key: string) => number
  /** The sandbox's own time; reading it lets use grow. */
  readonly now: () => Instant
  readonly onCall?: (call: SandboxCall) => void
}

/** Answers the text of a request body. Never throws, whatever a client sends. */
export function exchange(parts: ExchangeParts, operation: Operation, text: string): Exchange {
  const faults = parts.chance.faults()
  const body = parseBody(text)
  const result = answerWithFaults(parts, operation, body, faults)
  const seen = { operation, body: withoutKey(body), at: parts.clock.now(), faults: [...faults] }
  parts.onCall?.(result.kind === 'answer' ? { ...seen, status: result.answer.status } : seen)
  return result
}

function answerWithFaults(parts: ExchangeParts, operation: Operation, body: unknown, faults: ReadonlySet<FaultName>): Exchange {
  const delayMs = parts.chance.delayMs()
  const { errors } = parts.switches
  // Choice: a request with one of these faults has no effect.
  if (faults.has('timeout')) return { kind: 'silence' }
  if (faults.has('reset-before')) return { kind: 'reset', delayMs }
  if (faults.has('5xx'))
    return reply(delayMs, encodeRefusal(errors, pick(parts.chance.draw, [500, 502, 503]), 'service unavailable, try again'))
  if (faults.has('html'))
    return reply(delayMs, { status: parts.chance.draw() < 0.5 ? 200 : 503, contentType: 'text/html', body: HTML_PAGE })
  const answered = serve(parts, operation, body, faults)
  if (faults.has('reset-after')) return { kind: 'reset', delayMs }
  const cut = faults.has('truncated') ? answered.encoded.body.slice(0, Math.floor(answered.encoded.body.length / 2)) : answered.encoded.body
  return reply(delayMs, { ...answered.encoded, body: cut }, answered.headers)
}

const reply = (delayMs: number, encoded: Encoded, headers: Readonly<Record<string, string>> = {}): Exchange => ({
  kind: 'answer',
  delayMs,
  answer: encoded,
  headers,
})

interface Served {
  readonly encoded: Encoded
  readonly headers?: Readonly<Record<string, string>>
}

/** The key, the rate, the operation; refusals in the configured style. */
export function serve(parts: ExchangeParts, operation: Operation, body: unknown, faults: ReadonlySet<FaultName>): Served {
  const { store, caps, switches, clock } = parts
  try {
    if (body === undefined) throw new Refusal(400, 'the request body is not JSON')
    const key = authenticate(store, body)
    const waitMs = parts.waitMs(key.secret)
    if (waitMs > 0) {
      const retryAfter = retryAfterHeader(switches.retryAfter, waitMs, clock.now())
      const encoded = encodeRefusal(switches.errors, 429, 'rate limit exceeded')
      return retryAfter === undefined ? { encoded } : { encoded, headers: { 'retry-after': retryAfter } }
    }
    const quirks = { staleRead: faults.has('stale-read'), shortRoster: faults.has('short-roster') }
    const context: ServiceContext = { store, caps, switches, now: parts.now(), quirks }
    const answered = answer(context, key, operation, body)
    return { encoded: { status: 200, contentType: JSON_TYPE, body: answered === undefined ? '' : JSON.stringify(answered) } }
  } catch (error) {
    if (error instanceof Refusal) return { encoded: encodeRefusal(switches.errors, error.status, error.message) }
    throw error
  }
}

/** The value of a JSON text; undefined for anything else. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function withoutKey(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null) return {}
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'service_key'))
}
