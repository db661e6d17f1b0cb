// The service as simulated processes reach it: the sandbox behind a network that loses, delays and damages. It emits steps for requests
// sent, effects and answers.
import type { Operation } from '../../../src/core/model/observed.ts'
import { groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import type { Transport, TransportFailure, WireAnswer } from '../../../src/ports.ts'
import { stream } from '../../../src/sandbox/company/company.ts'
import { encodeRefusal } from '../../../src/sandbox/refusal.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import { groupName, type ModelCap } from '../lives/policy-model.ts'
import type { FaultKind, Scenario } from '../lives/scenario.ts'
import type { Step } from '../steps.ts'
import { approvedIn, capIn, isRefusal, objectIn, rowsIn } from './answers.ts'
import type { Owner, SimClock } from './clock.ts'
import type { Company } from './company.ts'
import { cutShort, HTML, oddBody, type Weather } from './faults.ts'

interface ServiceParts {
  readonly scenario: Scenario
  readonly clock: SimClock
  readonly sandbox: Sandbox
  readonly company: Company
  readonly weather: Weather
  /** The clock of the service. */
  serviceNow(): number
  emit(step: Step): void
  note(text: string): void
}

/** A process as the network sees it. */
export interface Sender extends Owner {
  readonly number: number
  /** Called with every request: whether the process dies now, and whether the request arrives all the same. */
  diesSending(): 'no' | 'arrives' | 'lost'
}

type Body = Readonly<Record<string, unknown>>
type Answer = WireAnswer | TransportFailure

interface Request {
  readonly sender: Sender
  readonly operation: Operation
  readonly body: Body
  readonly scope: ScopeKey | undefined
  readonly faults: ReadonlySet<FaultKind>
}

export type Service = ReturnType<typeof createService>

export function createService(parts: ServiceParts) {
  const { scenario, clock } = parts
  const latency = stream(scenario.seed, 'latency')
  const stale = new Map<ScopeKey, { readonly body: string; readonly untilMs: number }>()
  const limits = rateLimits(parts)
  const handle = remembering(parts)
  const read = rememberingReads(parts)
  const shows = (scope: ScopeKey): ModelCap => read(scope).cap
  const keepOld = (scope: Scope): void =>
    void stale.set(scopeKey(scope), { body: read(scopeKey(scope)).body, untilMs: clock.elapsed() + STALE_MS })
  const write = (scope: Scope, cap: ModelCap): void => {
    keepOld(scope)
    parts.sandbox.writeCap(scope, cap === 'none' ? undefined : cap)
    parts.company.capsChanged()
  }
  const land = (request: Request, late: boolean): Answer => {
    const refusal = refusalOf(parts, request, limits)
    if (refusal) return refusal
    const { operation, body, sender } = request
    const scope = operation === 'UsageConfig' ? scopeOf(body) : undefined
    if (scope) keepOld(scope)
    const from = scope ? shows(scopeKey(scope)) : 'none'
    const before = scope ? parts.company.inForce() : new Map()
    const { status, contentType, body: text } = handle(operation, body)
    if (scope && status === 200 && !text.includes('error')) {
      parts.company.capsChanged()
      const to = wanted(body)
      const step = { scope: scopeKey(scope), from, to, late, before, after: parts.company.inForce() }
      parts.emit({ kind: 'landed', process: sender.number, ...step })
    }
    const isStale = request.scope && (request.faults.has('stale-read') || parts.company.behind.has(request.scope))
    const old = request.scope && isStale ? stale.get(request.scope) : undefined
    const seen = operation === 'GetUsageConfig' && old && old.untilMs > clock.elapsed() && status === 200 ? old.body : text
    const answer = { status, headers: headers(parts, contentType), body: seen }
    return spoil(parts, request, answer)
  }
  return {
    /** The answer of a read without faults. */
    shows,
    /** Another client sets or clears caps. */
    write,
    transportOf: (sender: Sender): Transport => ({
      send(operation, body, { timeoutMs, signal }) {
        if (!sender.alive) return new Promise(() => undefined)
        const scope = operation === 'GetUsageConfig' || operation === 'UsageConfig' ? scopeOf(body) : undefined
        const request = { sender, operation, body, scope: scope && scopeKey(scope), faults: parts.weather.strike() }
        const draw = (): number => scenario.latencyMs * (0.3 + 1.4 * latency())
        return carry(parts, request, { upMs: draw(), downMs: draw(), timeoutMs, signal }, land)
      },
    }),
  }
}

/** Caches the sandbox's answers: all that they depend on is counted in the company's version. */
function remembering({ sandbox, company }: ServiceParts): Sandbox['handle'] {
  // Figures that are shown late also change with time.
  if ((sandbox.switches.analyticsDelay ?? 0) > 0) return sandbox.handle
  const ask = (question: string): ReturnType<Sandbox['handle']> => {
    const [operation, body] = JSON.parse(question)
    return sandbox.handle(operation, body)
  }
  // The answer to a read of a cap depends neither on use nor on time.
  const readCap = sameUntil(() => company.capsVersion, ask)
  const others = sameUntil(() => `${company.version} ${cycleAt(sandbox.now()).startAt}`, ask)
  return (operation, body) => {
    if (operation === 'UsageConfig') return sandbox.handle(operation, body)
    return (operation === 'GetUsageConfig' ? readCap : others)(JSON.stringify([operation, body]))
  }
}

interface FaultlessRead {
  readonly body: string
  readonly cap: ModelCap
}

const rememberingReads = ({ sandbox, company }: ServiceParts): ((scope: ScopeKey) => FaultlessRead) =>
  sameUntil(
    () => company.capsVersion,
    (scope) => {
      const { body } = sandbox.handle('GetUsageConfig', { service_key: 'sandbox-admin', ...wire(scope) })
      return { body, cap: capIn(body) ?? 'none' }
    },
  )

/** Caches answers until the version changes. */
function sameUntil<Question, Answer extends object>(
  versionNow: () => number | string,
  ask: (question: Question) => Answer,
): (question: Question) => Answer {
  let version = versionNow()
  const known = new Map<Question, Answer>()
  return (question) => {
    const now = versionNow()
    if (version !== now) known.clear()
    version = now
    const answer = known.get(question) ?? ask(question)
    known.set(question, answer)
    return answer
  }
}

/** A stale read shows the cap of at most a minute ago. */
const STALE_MS = 60_000

interface Way {
  readonly upMs: number
  readonly downMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

function carry(parts: ServiceParts, request: Request, way: Way, land: (request: Request, late: boolean) => Answer): Promise<Answer> {
  const { clock, weather } = parts
  const { sender, operation, scope, faults, body } = request
  tellRequest(parts, request)
  const death = sender.diesSending()
  const struck = (kind: FaultKind): boolean => weather.meets(faults, kind)
  return new Promise((resolve, reject) => {
    if (way.signal?.aborted) reject(way.signal.reason)
    const giveUp = (): void => reject(way.signal?.reason)
    way.signal?.addEventListener('abort', giveUp, { once: true })
    const answer = (afterMs: number, what: Answer): void =>
      clock.later(afterMs, () => {
        // The client has given up and no longer waits for the answer.
        way.signal?.removeEventListener('abort', giveUp)
        if (!sender.alive || way.signal?.aborted) return
        tellAnswer(parts, request, what)
        resolve(what)
      })
    const network = { kind: 'network', message: `${operation}: the connection was reset` } as const
    const timeout = { kind: 'timeout', message: `${operation}: no answer within ${way.timeoutMs} ms` } as const
    if (death === 'lost' || (death === 'no' && struck('drop-before'))) {
      answer(way.upMs, network)
      return
    }
    const lands = operation === 'UsageConfig' && struck('lands-late')
    const upMs = lands ? way.timeoutMs + weather.draw('lands-late') * 300_000 : way.upMs
    const downMs = struck('slow') ? way.downMs + weather.draw('slow') * 45_000 : way.downMs
    const isDropped = struck('drop-after')
    clock.later(upMs, () => {
      const late = lands || !sender.alive
      const what = land(request, late)
      parts.note(`  ${operation} ${scope ?? ''} ${'write' in body ? '' : ''}arrived`)
      if (lands || upMs + downMs > way.timeoutMs) return
      answer(downMs, isDropped ? network : what)
    })
    if (lands || upMs + downMs > way.timeoutMs) answer(way.timeoutMs, timeout)
  })
}

function tellRequest({ emit }: ServiceParts, { sender, operation, scope, body }: Request): void {
  const to = operation === 'UsageConfig' ? { to: wanted(body) } : {}
  emit({ kind: 'request', process: sender.number, operation, ...(scope && { scope }), ...to })
}

function tellAnswer({ emit }: ServiceParts, request: Request, answer: Answer): void {
  const { sender, operation, scope } = request
  emit({ kind: 'answered', process: sender.number, operation, ...(scope && { scope }), ...whatItSays(request, answer) })
}

function whatItSays({ operation, body }: Request, answer: Answer): Partial<Extract<Step, { kind: 'answered' }>> {
  if (operation === 'GetUsageConfig')
    return { observed: 'kind' in answer || answer.status !== 200 ? 'unknown' : (capIn(answer.body) ?? 'unknown') }
  if (operation === 'UsageConfig') return { refused: isRefusal(answer) }
  // A list of a group, or of people active within some days, is no roster.
  const isRoster = operation === 'UserPageAnalytics' && body['group_name'] === undefined && body['start_timestamp'] === undefined
  return isRoster ? { approved: approvedIn(answer) ?? 'unread' } : {}
}

const headers = ({ serviceNow }: ServiceParts, contentType: string): WireAnswer['headers'] => ({
  'content-type': contentType,
  date: new Date(serviceNow()).toUTCString(),
})

/** Why the service refuses a request before it reads it. */
function refusalOf(parts: ServiceParts, { operation, body, faults, sender: _ }: Request, limits: RateLimits): Answer | undefined {
  const { errors = 'error' } = parts.scenario.switches
  const encode = (status: number, message: string, more = {}): Answer => {
    const { contentType, body: text, status: shown } = encodeRefusal(errors, status, message)
    return { status: shown, headers: { ...headers(parts, contentType), ...more }, body: text }
  }
  const struck = (kind: FaultKind): boolean => parts.weather.meets(faults, kind)
  if (faults.has('rate-limit') && limits.isOver()) {
    struck('rate-limit')
    return encode(429, 'rate limit exceeded', limits.retryAfter())
  }
  if (struck('server-error')) return encode(500 + Math.floor(parts.weather.draw('server-error') * 5), 'try again later')
  if (struck('html')) return { status: parts.weather.draw('html') < 0.5 ? 200 : 502, headers: headers(parts, 'text/html'), body: HTML }
  if (struck('key-refused')) return encode(401, 'invalid service key')
  if (struck('key-echoed')) return encode(500, `panic near "service_key":"${String(body['service_key'])}"`)
  const gone = [...parts.company.gone]
  if (gone.some((id) => body['group_id'] === id)) return encode(404, `unknown group: ${body['group_id']}`)
  const { dark, locked } = parts.company
  const lock = operation === 'UsageConfig' ? locked.get(String(body['group_id'])) : undefined
  if (lock !== undefined) return encode(lock, 'this cap cannot be set now')
  if (operation === 'UserPageAnalytics' && dark.keys().some((id) => body['group_name'] === groupName(id)))
    return encode(503, 'try again later')
  if (operation === 'UsageConfig' && dark.get(String(body['group_id'])) === 'unset') return encode(400, 'this cap cannot be set')
  if (operation === 'UserPageAnalytics' && gone.some((id) => body['group_name'] === groupName(id)))
    return encode(404, `invalid group name: ${body['group_name']}`)
  return undefined
}

interface RateLimits {
  isOver(): boolean
  retryAfter(): Readonly<Record<string, string>>
}

/** The low rate limit, in requests a second. */
const ALLOWED_PER_SECOND = 2

function rateLimits({ clock, weather, serviceNow }: ServiceParts): RateLimits {
  let second = -1
  let passed = 0
  return {
    isOver() {
      const now = Math.floor(clock.elapsed() / 1000)
      if (now !== second) passed = 0
      second = now
      passed += 1
      return passed > ALLOWED_PER_SECOND
    },
    retryAfter(): Record<string, string> {
      const roll = weather.draw('rate-limit')
      if (roll < 0.4) return {}
      const seconds = 1 + Math.floor(roll * 20)
      return { 'retry-after': roll < 0.8 ? String(seconds) : new Date(serviceNow() + seconds * 1000).toUTCString() }
    },
  }
}

/** The network's effect on an answer. */
function spoil({ weather }: ServiceParts, { operation, faults }: Request, answer: WireAnswer): WireAnswer {
  let { body } = answer
  const struck = (kind: FaultKind, applies = true): boolean => applies && weather.meets(faults, kind)
  if (answer.status !== 200) return answer
  const isRead = operation === 'GetUsageConfig'
  struck('stale-read', isRead)
  if (struck('short-roster', operation === 'UserPageAnalytics')) body = shortened(body, weather.draw('short-roster'))
  const cap = isRead ? capIn(body) : undefined
  if (typeof cap === 'number' && struck('spelling'))
    body = JSON.stringify({ [cap % 2 ? 'add_on_credit_cap' : 'addOnCreditCap']: cap, extra: [1] })
  if (typeof cap === 'number' && struck('two-spellings')) body = JSON.stringify({ add_on_credit_cap: cap + 1, addOnCreditCap: cap })
  if (struck('truncated')) body = cutShort(body, weather.draw('truncated'))
  if (struck('odd-body', isRead)) body = oddBody(weather.draw('odd-body'))
  if (struck('empty-body')) body = ''
  return body === answer.body ? answer : { ...answer, body }
}

function shortened(body: string, roll: number): string {
  const rows = rowsIn(body)
  return rows ? JSON.stringify({ ...objectIn(body), userTableStats: rows.slice(0, Math.floor(rows.length * roll)) }) : body
}

const wire = (scope: ScopeKey): Body =>
  scope === 'team' ? { team_level: true } : scope.startsWith('group:') ? { group_id: scope.slice(6) } : { user_email: scope }

function scopeOf(body: Body): Scope {
  if (body['team_level'] === true) return TEAM
  return body['group_id'] === undefined ? userScope(String(body['user_email'])) : groupScope(String(body['group_id']))
}

function wanted(body: Body): ModelCap {
  const cap = body['set_add_on_credit_cap']
  return typeof cap === 'number' ? cap : 'none'
}
