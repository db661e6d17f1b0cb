// The questions of `doctor`: whether a service answers at all, and which permissions a key has. Each key has one client, so that its pace
// counts all questions asked with it. Nothing here can change a cap: see `mayWrite`.
import { ApiError } from '../core/model/observed.ts'
import { TEAM } from '../core/model/scope.ts'
import { DAY_MS, type Instant } from '../core/model/units.ts'
import type { Clock, Transport } from '../ports.ts'
import { lacksAddOn } from './add-on.ts'
import { readerOver, TIMEOUT_MS, unavailableWhen } from './client.ts'
import { objectOf, rowsOf } from './decode.ts'
import { classify, endOf, isObject, malformed } from './errors.ts'
import { createKeyRing, type KeyName, type KeyRing, type KeyRingOptions, type KeySources } from './keys.ts'
import { timestamp } from './runs.ts'
import { type ClientOptions, createSender, type Sender, skewOf } from './send.ts'
import { createPaces } from './transport/queue.ts'
import { PERMISSIONS, type Permission, type Wire } from './wire.ts'

/** How long the first answer may take. Choice. */
const REACH_TIMEOUT_MS = 10_000

/** The outcome of one request without any key. */
export type Reached =
  | {
      readonly kind: 'answered'
      readonly latencyMs: number
      /** The service's clock minus ours; absent without a `Date`. */
      readonly skewMs?: number
      /** False when the request was judged before its key: then a refusal says nothing about permissions. */
      readonly keyFirst: boolean
      /** What is odd about the answer. */
      readonly odd?: string
    }
  | { readonly kind: 'failed'; readonly message: string }

/** Sends one request that carries no key, and so is refused by every service that is one. Rejects only when `signal` aborts. */
export async function reach(transport: Transport, clock: Clock, redact: (text: string) => string, signal?: AbortSignal): Promise<Reached> {
  const [askedAt, startedAt] = [clock.now(), clock.monotonic()]
  const answer = await transport.send('GetUsageConfig', {}, { timeoutMs: REACH_TIMEOUT_MS, signal })
  const latencyMs = clock.monotonic() - startedAt
  if ('kind' in answer) return { kind: 'failed', message: answer.message }
  const measured = { latencyMs, skewMs: skewOf(answer, askedAt, clock.now()) }
  const verdict = classify(answer, 'GetUsageConfig', { nowMs: clock.now(), redact, names: false })
  if (verdict.kind === 'ok') {
    const what = verdict.body === undefined ? 'not JSON' : 'not an object'
    if (!isObject(verdict.body)) return { kind: 'failed', message: `something else answers there (${answer.status}, ${what})` }
    return { kind: 'answered', ...measured, keyFirst: false, odd: 'it answered a request that carried no key' }
  }
  const { kind, message } = verdict.error
  if (kind === 'auth' || kind === 'rate_limited') return { kind: 'answered', ...measured, keyFirst: true }
  if (kind === 'invalid' && [200, 400, 422].includes(answer.status)) return { kind: 'answered', ...measured, keyFirst: false }
  return { kind: 'failed', message }
}

/** Whether a key has a permission. `held` and `lacking` are the service's own answer; `unclear` says nothing about the key. */
export interface Holding {
  readonly kind: 'held' | 'lacking' | 'unclear'
  /** The service's words, free of any key; absent when it simply answered. */
  readonly message?: string
  /** The request that had to be refused was accepted. */
  readonly accepted?: true
  /** The workspace has no caps, whatever the key. */
  readonly lacksFeature?: true
}

/** One key, and the questions that may be asked with it. */
export type KeyProbe = ReturnType<typeof probeOf>

export type ProbedKey = KeyProbe | { readonly names: readonly KeyName[]; readonly problem: string }

type ProbeOptions = Omit<ClientOptions, 'keys' | 'paces'> &
  KeyRingOptions & {
    readonly sources: KeySources
    /** Gets each ring of keys, so that output can be redacted. */
    readonly onKeys?: (keys: KeyRing) => void
  }

const NAMES: readonly KeyName[] = ['default', ...PERMISSIONS]

/** One probe for each different key, in the order of names; or the reason why a key cannot be used. */
export function probesOf({ sources, ...options }: ProbeOptions): readonly ProbedKey[] {
  const found: ProbedKey[] = []
  const byValue = new Map<string, { readonly names: KeyName[] }>()
  for (const name of NAMES) {
    const source = sources[name]
    if (!source) continue
    const keys = createKeyRing({ default: source }, options)
    const [problem] = keys.problems()
    options.onKeys?.(keys)
    if (problem) {
      found.push({ names: [name], problem: problem.message })
      continue
    }
    const { value } = keys.keyFor('GetUsageConfig')
    const known = byValue.get(value)
    known?.names.push(name)
    if (known) continue
    const names: KeyName[] = [name]
    byValue.set(value, { names })
    // Each key has a ring of its own, where its name is `default`.
    const learned = options.learned?.[name]
    found.push(probeOf(names, { ...options, keys, paces: createPaces(), learned: learned === undefined ? {} : { default: learned } }))
  }
  return found
}

function probeOf(names: readonly KeyName[], options: ClientOptions) {
  const sender = createSender(options)
  const reader = readerOver(sender, options)
  return {
    /** Its names in the configuration: the same key may serve for several. */
    names,
    reader,
    /** Whether it has a permission to read. Rejects only when `signal` aborts. */
    async mayRead(permission: Exclude<Permission, 'billingWrite'>, now: Instant, signal?: AbortSignal): Promise<Holding> {
      switch (permission) {
        case 'analyticsRead':
          return holding(askAnalytics(sender, amountOf(now), signal))
        case 'teamsRead':
          return holding(reader.readRuns({ fromAt: Math.floor(now / DAY_MS) * DAY_MS }, signal))
        case 'billingRead': {
          const { failure } = await reader.readCap(TEAM, signal)
          return failure ? judged(failure) : { kind: 'held' }
        }
      }
    },
    /** Whether the service tells add-on use by person. Rejects with an `ApiError` where that is not known, or when `signal` aborts. */
    async tellsAddOn(now: Instant, signal?: AbortSignal): Promise<boolean> {
      const query: Wire<'Query'> = {
        data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA',
        selections: [{ field: 'date' }],
        filters: [today(now)],
      }
      return (await unavailableWhen(lacksAddOn, askAnalytics(sender, query, signal))) !== 'unavailable'
    },
    /** Whether it may write caps, without changing one. Rejects only when `signal` aborts. */
    mayWrite: (signal?: AbortSignal): Promise<Holding> => mayWrite(sender, signal),
  }
}

const today = (now: Instant): Wire<'Filter'> => ({ name: 'date', filter: 'QUERY_FILTER_GE', value: timestamp(now).slice(0, 10) })

const amountOf = (now: Instant): Wire<'Query'> => ({
  data_source: 'QUERY_DATA_SOURCE_USER_DATA',
  selections: [{ field: 'num_acceptances', aggregation_function: 'QUERY_AGGREGATION_SUM' }],
  filters: [today(now)],
})

/** Asks one query, only to see whether it is answered: no row is kept. docs/service.md, Analytics. */
const askAnalytics = (sender: Sender, query: Wire<'Query'>, signal: AbortSignal | undefined): Promise<void> =>
  sender.send({
    ...{ operation: 'Analytics', urgency: 'late', timeoutMs: TIMEOUT_MS, once: false },
    body: { query_requests: [query] } satisfies Wire<'AnalyticsRequest'>,
    reading: () => ({ rows: { at: [['queryResults', '*', 'responseItems', '*']], take: () => undefined }, decode: judgeAnalytics }),
    signal,
  })

/** A missing list has no rows; one of another length cannot be about the one query. */
function judgeAnalytics(body: unknown): void {
  const results = objectOf('Analytics', body)['queryResults'] ?? []
  if (!Array.isArray(results)) throw malformed('Analytics', 'queryResults is not an array')
  if (results.length > 1) throw malformed('Analytics', `the answer has ${results.length} results for 1 queries`)
  for (const result of results) if (isObject(result)) rowsOf('Analytics', result['responseItems'], 'responseItems')
}

/** The service refused the request itself, so it accepted the key. */
function isRefusal({ kind, status = 0, message, lacksFeature }: ApiError): boolean {
  if (lacksFeature) return false
  if (kind === 'invalid') return [200, 400, 409, 412, 422].includes(status)
  return kind === 'not_found' && /group|user|e-?mail|scope/i.test(message)
}

/** No person can have an address in this domain (RFC 2606). */
const NOBODY = 'nobody@capkeeper.invalid'

/**
 * Sends a write without a cap, for a person who cannot exist. The interface demands exactly one of the two cap fields, so the service must
 * refuse it; since it checks the key first, the kind of refusal tells about the key. An invalid value would not do, because a lenient
 * service may round it; nor a missing scope, which may be taken for the team. A service that takes a missing cap for 0 or for a clear
 * does no harm, as there is no such person. Sent once, never again. docs/service.md, UsageConfig.
 */
async function mayWrite(sender: Sender, signal: AbortSignal | undefined): Promise<Holding> {
  const request = {
    operation: 'UsageConfig',
    body: { user_email: NOBODY },
    reading: () => ({ decode: () => undefined }),
    urgency: 'late',
    timeoutMs: TIMEOUT_MS,
    once: true,
  } as const
  const error = await endOf(sender.send({ ...request, signal }))
  if (!error) return { kind: 'held', accepted: true }
  return isRefusal(error) ? { kind: 'held', message: error.message } : judged(error)
}

async function holding(asked: Promise<unknown>): Promise<Holding> {
  const end = await endOf(asked)
  return end instanceof ApiError ? judged(end) : { kind: 'held' }
}

/** A refusal because of the plan says nothing about the key. */
const judged = ({ kind, message, lacksFeature }: Pick<ApiError, 'kind' | 'message' | 'lacksFeature'>): Holding => ({
  kind: kind === 'auth' && !lacksFeature ? 'lacking' : 'unclear',
  message,
  lacksFeature,
})
