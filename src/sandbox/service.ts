// Takes one request from its text to its answer, faults included: the in-process transport and the HTTP server share it, so that they cannot
// differ. Order: faults that stop the request, the key, the rate, the operation, faults that damage the answer. Each operation checks the key
// first, then the fields, then what they name (docs/sandbox.md, Behaviour).
import { WIRE } from '../api/wire.generated.ts'
import { PERMISSION_NAME, PERMISSION_OF, type Wire } from '../api/wire.ts'
import type { Operation } from '../core/model/observed.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import type { Clock } from '../ports.ts'
import { analytics } from './analytics/analytics.ts'
import type { CapBook } from './caps.ts'
import { cascadeAnalytics } from './cascade.ts'
import { pick } from './company/company.ts'
import { type Encoded, encodeRefusal, type Fields, fieldsOf, flagField, JSON_TYPE, Refusal, textField, wholeField } from './refusal.ts'
import { type Answer, cycleStamps, int64, type ServiceContext, userPageAnalytics } from './roster.ts'
import type { Store, StoredKey } from './store.ts'
import { type createChance, type FaultName, HTML_PAGE, retryAfterHeader, type Switches } from './switches.ts'
import { cycleAt } from './time.ts'

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
  const served = serve(parts, operation, body, faults)
  if (faults.has('reset-after')) return { kind: 'reset', delayMs }
  return reply(delayMs, faults.has('truncated') ? { ...served, body: served.body.slice(0, Math.floor(served.body.length / 2)) } : served)
}

interface Served extends Encoded {
  readonly headers?: Readonly<Record<string, string>>
}

const reply = (delayMs: number, { headers = {}, ...answer }: Served): Exchange => ({ kind: 'answer', delayMs, answer, headers })

/** The key, the rate, the operation; refusals in the configured style. */
export function serve(parts: ExchangeParts, operation: Operation, body: unknown, faults: ReadonlySet<FaultName>): Served {
  const { store, caps, switches, clock } = parts
  try {
    if (body === undefined) throw new Refusal(400, 'the request body is not JSON')
    const key = authenticate(store, body)
    const waitMs = parts.waitMs(key.secret)
    if (waitMs > 0) {
      const retryAfter = retryAfterHeader(switches.retryAfter, waitMs, clock.now())
      const refused = encodeRefusal(switches.errors, 429, 'rate limit exceeded')
      return retryAfter === undefined ? refused : { ...refused, headers: { 'retry-after': retryAfter } }
    }
    const quirks = { staleRead: faults.has('stale-read'), shortRoster: faults.has('short-roster') }
    const context: ServiceContext = { store, caps, switches, now: parts.now(), quirks }
    const answered = answer(context, key, operation, body)
    return { status: 200, contentType: JSON_TYPE, body: answered === undefined ? '' : JSON.stringify(answered) }
  } catch (error) {
    if (error instanceof Refusal) return encodeRefusal(switches.errors, error.status, error.message)
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

// The operations as functions over the data. They know nothing of HTTP and faults, and throw a `Refusal` and nothing else.

/** The key of a request, checked before the rest of it; 401 when it is missing or unknown. */
function authenticate(store: Store, body: unknown): StoredKey {
  const secret = fieldsOf(body)['service_key']
  const key = typeof secret === 'string' ? store.key(secret) : undefined
  if (!key) throw new Refusal(401, secret === undefined ? 'missing service key' : 'invalid service key')
  return key
}

/**
 * How a plan without caps refuses, whatever the key may do (docs/service.md, Errors). Choice: a valid read of a cap
 * gets the code for invalid requests, and the others the code for forbidden ones; both codes were seen.
 */
const WITHOUT_CAPS: Readonly<Partial<Record<Operation, number>>> = {
  GetUsageConfig: 400,
  UsageConfig: 403,
  GetTeamCreditBalance: 403,
}

/** Answers one request with a known key: checks the plan and the permission (403), then calls the operation. */
function answer(context: ServiceContext, key: StoredKey, operation: Operation, body: unknown): Answer {
  const refusedForGood = context.switches.plan === 'no-caps' ? WITHOUT_CAPS[operation] : undefined
  if (refusedForGood !== undefined) throw new Refusal(refusedForGood, `${operation} is not available for this team`)
  const permission = PERMISSION_NAME[PERMISSION_OF[operation]]
  if (!key.permissions.includes(permission)) throw new Refusal(403, `insufficient permissions: ${operation} needs ${permission}`)
  return ANSWERS[operation](context, key, fieldsOf(body))
}

const ANSWERS: Readonly<Record<Operation, (context: ServiceContext, key: StoredKey, fields: Fields) => Answer>> = {
  Analytics: analytics,
  UserPageAnalytics: userPageAnalytics,
  CascadeAnalytics: cascadeAnalytics,
  GetUsageConfig: getUsageConfig,
  UsageConfig: usageConfig,
  GetTeamCreditBalance: getTeamCreditBalance,
}

/** docs/service.md, GetUsageConfig. */
function getUsageConfig({ caps, switches, store, quirks }: ServiceContext, key: StoredKey, fields: Fields): Wire<'GetUsageConfigAnswer'> {
  const scope = scopeOf(store, key, fields)
  const cap = quirks?.staleRead ? caps.readStale(scope) : caps.read(scope)
  if (cap === undefined) return {}
  return {
    addOnCreditCap: switches.capSpelling === 'snake' ? undefined : cap,
    add_on_credit_cap: switches.capSpelling === 'camel' ? undefined : cap,
  }
}

const MAX_CAP = WIRE.components.schemas.UsageConfigRequest.properties.set_add_on_credit_cap.maximum

/** docs/service.md, UsageConfig. Choice: a cap has the range of a 32-bit integer. */
function usageConfig({ caps, switches, store }: ServiceContext, key: StoredKey, fields: Fields): Answer {
  const cap = wholeField(fields, 'set_add_on_credit_cap', MAX_CAP)
  const clear = flagField(fields, 'clear_add_on_credit_cap')
  if (cap !== undefined && clear) throw new Refusal(400, 'only one of set_add_on_credit_cap and clear_add_on_credit_cap may be given')
  if (cap === undefined && !clear) throw new Refusal(400, 'one of set_add_on_credit_cap and clear_add_on_credit_cap is required')
  if (cap === 0 && switches.zeroCap === 'rejected') throw new Refusal(400, 'set_add_on_credit_cap must be greater than 0')
  caps.write(scopeOf(store, key, fields), cap)
  return switches.writeBody === 'empty' ? undefined : {}
}

/**
 * Exactly one of the three scope fields must be given (400), and the scope must exist (404). A key limited to one group gets 403 for any
 * other scope. E-mails are compared trimmed and without regard to case. Choices.
 */
function scopeOf(store: Store, key: StoredKey, fields: Fields): Scope {
  const groupId = textField(fields, 'group_id')
  const email = textField(fields, 'user_email')
  const scopes = [
    ...(flagField(fields, 'team_level') ? [TEAM] : []),
    ...(groupId === undefined ? [] : [groupScope(groupId)]),
    ...(email === undefined ? [] : [userScope(email)]),
  ]
  const [scope] = scopes
  if (!scope) throw new Refusal(400, 'no scope: one of team_level, group_id and user_email is required')
  if (scopes.length > 1) throw new Refusal(400, 'more than one scope: only one of team_level, group_id and user_email may be given')
  requireKnown(store, scope)
  if (key.groupId !== undefined && !isWithin(store, key.groupId, scope)) {
    throw new Refusal(403, 'insufficient permissions: this service key is limited to one group')
  }
  return scope
}

function requireKnown(store: Store, scope: Scope): void {
  if (scope.kind === 'group' && !store.groups().some((group) => group.id === scope.id)) throw new Refusal(404, 'invalid group id')
  if (scope.kind === 'user' && !store.person(scope.email)) throw new Refusal(404, 'invalid user e-mail')
}

function isWithin(store: Store, groupId: string, scope: Scope): boolean {
  if (scope.kind === 'team') return false
  if (scope.kind === 'group') return scope.id === groupId
  const person = store.person(scope.email)
  return person !== undefined && store.members(groupId).has(person.id)
}

/**
 * docs/service.md, GetTeamCreditBalance. Add-on use is each person's use in the cycle beyond their seat's credits, summed over all rows and
 * rounded once to whole credits. Without an enterprise plan: 403 (choice), the error that the interface names.
 */
function getTeamCreditBalance({ store, switches, now }: ServiceContext): Wire<'GetTeamCreditBalanceAnswer'> {
  if (switches.plan === 'team') throw new Refusal(403, 'plan without the feature: GetTeamCreditBalance needs an enterprise-tier plan')
  const cycle = cycleAt(now)
  const perSeat = store.meta('creditsPerSeat') ?? 0
  const used = store.usedCents({ fromAt: cycle.startAt, untilAt: now })
  const addOnCents = used.values().reduce((sum, cents) => sum + Math.max(0, cents - perSeat * 100), 0)
  return {
    promptCreditsPerSeat: int64(perSeat, switches),
    numSeats: int64(store.meta('seats') ?? 0, switches),
    addOnCreditsAvailable: int64(store.meta('addOnAvailable') ?? 0, switches),
    addOnCreditsUsed: int64(Math.round(addOnCents / 100), switches),
    ...cycleStamps(cycle),
  }
}
