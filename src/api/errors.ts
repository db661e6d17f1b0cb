// Classifies failed requests. An answer is judged by its status, then its code, then the stem of its message (docs/service.md, What the client tolerates,
// points 4 and 5). An ApiError is built afresh from an allow-list: it never has a cause and never holds a request or an answer. The
// service's own words go through `tidy` first, because a service may echo the key that it refuses.
import type { AspectValue, WireObservation } from '../core/interpret/evidence.ts'
import { ApiError, type ApiErrorFacts, type ApiErrorKind, type Operation } from '../core/model/observed.ts'
import type { WireAnswer } from '../ports.ts'
import { PERMISSION_NAME, PERMISSION_OF } from './wire.ts'

// Bounds on the answers of a service, and the error past one (docs/operations.md, Bounds). Sizes are in bytes, after decompression.

const KIB = 1024
const MIB = 1024 * KIB

/** The largest answer of one value that is accepted; and the largest listing of people or runs. */
export const MAX_SMALL_ANSWER_BYTES = 64 * KIB
export const MAX_LISTING_BYTES = 64 * MIB

/** One row of a listing; real rows have a few hundred bytes. */
export const MAX_ROW_BYTES = 16 * KIB
/** Rows of one listing: ten times the people that capkeeper is measured with, and more real runs than 64 MiB can hold. */
export const MAX_ROWS = 500_000
/** Objects and arrays within each other; the deepest answer of the interface has six levels. */
export const MAX_NESTING = 32
/** The time to open a connection, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A bound was exceeded. The message names the bound, and quotes nothing of the answer. */
export class BoundError extends Error {
  override readonly name = 'BoundError'
}

export const tooLarge = (limitBytes: number): string => `the answer is larger than ${sizeText(limitBytes)} and was dropped`

export const TOO_DEEP = `the answer is nested more than ${MAX_NESTING} deep and was dropped`

/** `64 KiB`, `12.5 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes >= MIB ? `${Math.round((bytes / MIB) * 10) / 10} MiB` : `${Math.round(bytes / KIB)} KiB`

/** Whether a value is nested too deep. */
function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= MAX_NESTING || Object.values(value).some((one) => isTooDeep(one, depth + 1))
}

/** The longest piece of the service's own words in a message. Choice. */
const MAX_QUOTE = 300
/** The longest pause that a `Retry-After` can ask for; the next try shows whether more is needed. Choice. */
const MAX_RETRY_AFTER_MS = 3_600_000
const MAX_ERROR_TEXT = 8_192

/** The answer arrived, but is not as docs/service.md says. */
export const malformed = (operation: Operation, what: string): ApiError =>
  new ApiError({ operation, kind: 'malformed', message: `${operation}: ${what}` })

/** What a request resolves with, or the `ApiError` that it rejects with. */
export const endOf = <Value>(sent: Promise<Value>): Promise<Value | ApiError> =>
  sent.catch((error: unknown) => {
    if (error instanceof ApiError) return error
    throw error
  })

/** The error of a request that was not sent because of an earlier failure. */
export const notSent = (failure: ApiError, operation: Operation): ApiError =>
  new ApiError({ ...failure, operation, message: `${operation}: not asked ${reasonNotToAsk(failure, operation)}`, unsent: true })

const reasonNotToAsk = (failure: ApiError, operation: Operation): string =>
  failure.operation === operation ? `again yet, after ${failure.message}` : `yet, because of ${failure.message}`

interface ClassifyContext {
  /** Wall clock, for a `Retry-After` that is a date. */
  readonly nowMs: number
  /** Removes every known key from a text. */
  readonly redact: (text: string) => string
  /** The request names a group or a person, whom the service may not know. */
  readonly names: boolean
}

/** `body` is the parsed JSON; undefined when the body is not JSON at all. */
type Verdict = { readonly kind: 'ok'; readonly body: unknown } | { readonly kind: 'failed'; readonly error: ApiError }

/** Judges an answer of any status; a 2xx with a non-empty `error` is a failure. docs/service.md, Errors; the rest is choice. */
export function classify(answer: WireAnswer, operation: Operation, context: ClassifyContext): Verdict {
  const body = bodyOf(answer)
  const succeeded = answer.status >= 200 && answer.status < 300
  if (succeeded && isTooDeep(body)) return { kind: 'failed', error: malformed(operation, TOO_DEEP) }
  const said = errorTextOf(body, answer.body)
  // What was only accepted, or is a part, tells no value.
  const isOther = succeeded && answer.status !== 200 && operation !== 'UsageConfig'
  if (isOther && !carriesError(body))
    return { kind: 'failed', error: malformed(operation, `answered with ${answer.status} instead of 200`) }
  // The body of a successful write does not matter. But an HTML page is not from the service: the write may never have reached it.
  const isStray = operation === 'UsageConfig' && said.html
  if (succeeded && !carriesError(body) && !isStray) return { kind: 'ok', body }
  const quote = tidy(said.message || said.code, context.redact)
  return { kind: 'failed', error: new ApiError(factsOf(answer, operation, said, quote, context)) }
}

function factsOf(answer: WireAnswer, operation: Operation, said: ErrorText, quote: string, context: ClassifyContext): ApiErrorFacts {
  const { status } = answer
  const because = quote === '' ? '' : `; the service said: ${quote}`
  if (status >= 300 && status < 400) {
    const target = tidy((answer.headers['location'] ?? 'nowhere').replace(/[?#].*$/s, ''), context.redact)
    const message = `${operation}: redirected (${status}) to ${target}; redirects are not followed: set the base URL to the service itself`
    return { operation, kind: 'malformed', status, message }
  }
  const judgement = kindOf(operation, status, said)
  // What has no name cannot be unknown: a 404 then says that the service is not there.
  const kind = judgement === 'not_found' && !context.names ? 'malformed' : judgement
  if (lacksFeature(operation, status, said, kind)) {
    // `invalid` stops no other request: all else works without a balance. Missing caps stay `auth`, which ends the requests for all scopes.
    const judged = operation === 'GetTeamCreditBalance' || kind === 'server' ? 'invalid' : kind
    return {
      operation,
      kind: judged,
      status,
      lacksFeature: true,
      message: `${operation}: the plan lacks this feature (${status})${because}`,
    }
  }
  const retryAfterMs = retryAfter(answer, context.nowMs)
  const rest = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (kind === 'auth') {
    const permission = PERMISSION_NAME[PERMISSION_OF[operation]]
    return { operation, kind, status, permission, message: `${operation}: the key was refused (${status}): needs ${permission}${because}` }
  }
  const hint = status === 404 && (said.html || quote === '' || /page not found/i.test(quote)) ? '; is the base URL right?' : ''
  return { operation, kind, status, ...rest, message: `${operation}: ${KIND_TEXT[kind]} (${status})${because}${hint}` }
}

/**
 * The shape of the service's own refusals. Undefined where a proxy may have answered instead: redirects, limits, 5xx, HTML pages and empty
 * bodies.
 */
export function errorSighting(answer: WireAnswer, operation: Operation): WireObservation | undefined {
  const { status } = answer
  const succeeded = status >= 200 && status < 300
  if (!succeeded && (status < 400 || status >= 500 || [407, 408, 429].includes(status))) return undefined
  const body = bodyOf(answer)
  const value = succeeded ? (carriesError(body) ? 'ok' : undefined) : shapeOf(body, answer.body)
  return value && { aspect: 'errors', value, evidence: `${operation} was refused with ${status} and ${SHAPE_TEXT[value]}` }
}

const SHAPE_TEXT: Readonly<Record<AspectValue<'errors'>, string>> = {
  error: 'an object with `error`',
  coded: 'an object with `code` and `message`',
  text: 'plain text',
  ok: 'an error in the body of a success',
}

function shapeOf(body: unknown, text: string): AspectValue<'errors'> | undefined {
  if (isObject(body)) return typeof body['error'] === 'string' ? 'error' : typeof body['message'] === 'string' ? 'coded' : undefined
  return text.trim() === '' || errorTextOf(body, text).html ? undefined : 'text'
}

const KIND_TEXT: Readonly<Record<ApiErrorKind, string>> = {
  rate_limited: 'the rate limit is reached',
  auth: 'the key was refused',
  invalid: 'the request was refused',
  not_found: 'the service does not know this',
  server: 'the service failed',
  timeout: 'the service took too long',
  network: 'a proxy refused the request',
  malformed: 'the answer cannot be understood',
}

/** What metrics call a failure: an answer that is not the service's word on the request goes by its status. docs/service.md, What the client tolerates, point 5. */
export const outcomeOfFailure = ({ kind, status = 0 }: ApiErrorFacts): ApiErrorKind =>
  kind === 'malformed' && status >= 400 ? clientError(status) : kind

const clientError = (status: number): ApiErrorKind => (status === 403 ? 'auth' : status === 404 ? 'not_found' : 'invalid')

/**
 * What an answer says of the request, by its status, its code and its message. A page in HTML is not the service's word on anything, and a 404
 * is its word on a scope only with the code or the stem of a message that says so: proxies answer 404 too.
 */
function kindOf(operation: Operation, status: number, said: ErrorText): ApiErrorKind {
  if (status === 429) return 'rate_limited'
  if (status === 401) return 'auth'
  if (status === 408 || status === 499) return 'timeout'
  if (status === 407) return 'network'
  if (status >= 500) return 'server'
  if (said.html) return status === 403 ? 'auth' : 'malformed'
  const coded = CODE_KINDS.get(said.code.toLowerCase())
  // These codes say that the request may have been carried out.
  if (coded === 'timeout' || coded === 'server') return coded
  const hinted = coded ?? STEMS.find(([stem]) => stem.test(`${said.message} ${said.code}`))?.[1]
  if (status >= 200 && status < 300) return hinted ?? 'server'
  // A cap may be refused for the quota of a plan.
  if (hinted === 'rate_limited' && !coded && operation === 'UsageConfig' && !RATE_WORDS.test(said.message)) return clientError(status)
  if (hinted === 'auth' || hinted === 'not_found' || hinted === 'rate_limited') return hinted
  return status >= 400 && status !== 404 ? clientError(status) : 'malformed'
}

/** A map, because a code may be any text, such as `constructor`. */
const CODE_KINDS: ReadonlyMap<string, ApiErrorKind> = new Map([
  ['permission_denied', 'auth'],
  ['unauthenticated', 'auth'],
  ['not_found', 'not_found'],
  ['invalid_argument', 'invalid'],
  ['failed_precondition', 'invalid'],
  ['out_of_range', 'invalid'],
  ['already_exists', 'invalid'],
  ['resource_exhausted', 'rate_limited'],
  ['canceled', 'timeout'],
  ['cancelled', 'timeout'],
  ['deadline_exceeded', 'timeout'],
  ['internal', 'server'],
  ['unavailable', 'server'],
  ['unimplemented', 'invalid'],
  ['aborted', 'server'],
  ['data_loss', 'server'],
])

const RATE_WORDS = /\brate.?limit|too many requests|resource[ _]exhausted/i

/**
 * The first match counts: "service key not found" is about the key, "group not found or no permission" about the group. "Not found" alone
 * may be a proxy's, about an address.
 */
const STEMS: readonly (readonly [RegExp, ApiErrorKind])[] = [
  // `api_key` is a field of Analytics.
  [/\b(service[ _-]?key|api[ -]?key)\b/i, 'auth'],
  [
    /(group|user|member|person|e-?mail)\b.{0,80}(\bnot found|does(n't| not) exist)|(group|user|member)_not_found|\binvalid (group|user|e-?mail)|\bunknown (group|user|member|e-?mail)|\bno such (group|user|member|e-?mail)/i,
    'not_found',
  ],
  [new RegExp(`${RATE_WORDS.source}|\\bquota\\b`, 'i'), 'rate_limited'],
  [/unauthenticated|unauthori[sz]ed|forbidden|permission|credential|access denied/i, 'auth'],
  [/internal|unavailable|time.?out|timed out|try again|temporar|overload/i, 'server'],
  [
    /invalid|\bmust\b|required|exactly one|at least one|more than one|duplicate|not allowed|out of range|exceed|negative|unsupported/i,
    'invalid',
  ],
]

/**
 * "Plan without the feature (enterprise tier needed)" is documented for the balance (docs/service.md, Errors). A plan may also lack caps
 * (docs/service.md): only the words tell that from a wrong key. A refused value or id never counts as a lacking feature.
 */
function lacksFeature(operation: Operation, status: number, said: ErrorText, kind: ApiErrorKind): boolean {
  if (status === 401 || status === 429 || (status >= 500 && status !== 501)) return false
  if (operation === 'GetTeamCreditBalance') {
    return status === 402 || said.code === 'unimplemented' || PLAN_WORDS.test(said.message) || ABSENT_WORDS.test(said.message)
  }
  if (operation !== 'GetUsageConfig' && operation !== 'UsageConfig') return false
  if (status === 402) return true
  const mayBe = kind === 'auth' || (kind === 'invalid' && operation === 'GetUsageConfig') || status < 300
  return mayBe && kind !== 'not_found' && ABSENT_WORDS.test(said.message)
}

const PLAN_WORDS = /\b(enterprise|plan|tier|subscription|upgrade)\b|\bfeature/i
const ABSENT_WORDS =
  /\b(enterprise|higher|paid) (plan|tier)\b|\b(plan|tier|subscription) (does|is|lacks|without)\b|\b(not|n't) (available|enabled|included) (for|on|in|by) (this|your|the) (team|workspace|organi[sz]ation|plan|tier|subscription|account)\b/i

// ---- the words of a failure

interface ErrorText {
  /** '' when there is none. */
  readonly code: string
  readonly message: string
  readonly html: boolean
}

/** The JSON value of a body; undefined when it is not JSON, so also for zero bytes. */
function bodyOf({ body }: WireAnswer): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function carriesError(body: unknown): boolean {
  if (!isObject(body)) return false
  const { error, code, message } = body
  if (typeof error === 'string') return error.trim() !== ''
  if (typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error)) return true
  return typeof code === 'string' && typeof message === 'string' && CODE_KINDS.has(code.toLowerCase())
}

function errorTextOf(body: unknown, text: string): ErrorText {
  if (isObject(body)) {
    const inner = isObject(body['error']) ? body['error'] : body
    const message = [inner['message'], body['error'], body['message']].find((one) => typeof one === 'string' && one.trim() !== '')
    const code = [inner['code'], inner['status']].find((one) => typeof one === 'string')
    return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '', html: false }
  }
  if (typeof body === 'string') return { code: '', message: body, html: false }
  const html = /^\s*<(!doctype|html|head|body|\?xml)/i.test(text)
  const title = /<title[^>]*>([^<]*)/i.exec(text.slice(0, MAX_ERROR_TEXT))?.[1]
  return { code: '', message: html ? (title ?? 'an HTML page') : text.slice(0, MAX_ERROR_TEXT), html }
}

const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi
const NAMED_KEY = /(service_?key["']?\s*[:=]\s*["']?)[^\s"',}]+/gi
const LONG_TOKEN = /[\w+=-]{24,}/g
const REMOVED = '[removed]'

const withoutTokens = (text: string): string =>
  text.replace(LONG_TOKEN, (token) => (/\d/.test(token) && /[a-z]/i.test(token) ? REMOVED : token))

/** Makes the service's words fit to be shown: one line, no key and nothing that looks like one, at most `MAX_QUOTE` characters. */
export function tidy(text: string, redact: (text: string) => string): string {
  const known = redact(text.slice(0, MAX_ERROR_TEXT))
  const clean = withoutTokens(known.replace(UUID, REMOVED).replace(NAMED_KEY, `$1${REMOVED}`))
  const line = clean.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE - 1)}…` : line
}

/** `Retry-After` in seconds or as a date. A date is compared with the answer's own `Date` if there is one. */
function retryAfter(answer: WireAnswer, nowMs: number): number | undefined {
  const text = answer.headers['retry-after']?.trim()
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1_000)
  const at = Date.parse(text)
  if (Number.isNaN(at)) return undefined
  const from = Date.parse(answer.headers['date'] ?? '')
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, at - (Number.isNaN(from) ? nowMs : from)))
}
