// The six operations as the rest of the program knows them: caps, people, the balance, analytics. Encodes the question, says how long it
// may take and how urgent it is, and hands it to send.ts. The preview path gets the reading client, which has no method that writes.

import type { AddOnReading, Balance, CapReading } from '../core/model/observed.ts'
import type { Cap } from '../core/model/policy.ts'
import type { Scope } from '../core/model/scope.ts'
import { DAY_MS } from '../core/model/units.ts'
import type { AddOnQuestion, Clock, ReadClient, WriteClient, WriteFailure, WriteOutcome } from '../ports.ts'
import { ADD_ON_ROWS, createKeyBook, decodeAddOn, encodeAddOn, type KeyBook, lacksAddOn } from './add-on.ts'
import {
  ANALYTICS_ROWS,
  type AnalyticsQuestion,
  type AnalyticsRow,
  CASCADE_ROWS,
  type CascadeQuestion,
  type CascadeRows,
  type CascadeUse,
  decodeAnalytics,
  decodeCascade,
  decodeRuns,
  encodeAnalytics,
  encodeCascade,
  encodeRuns,
  sumCascade,
  timestamp,
} from './analytics.ts'
import {
  activeDayRows,
  decodeActiveDays,
  decodeBalance,
  decodeCap,
  decodeGroup,
  decodeRoster,
  rosterRows,
  spellingSighting,
} from './decode.ts'
import { ApiError } from './errors.ts'
import type { KeyName } from './keys.ts'
import { RUN_ROWS } from './run-sums.ts'
import { type ApiRequest, type ClientOptions, createSender, type Sender } from './send.ts'
import type { UsageConfigRequest, UserPageRequest, WireScope } from './wire.ts'

/** How long an answer may take. Choice. */
export const TIMEOUT_MS = 30_000
/** The balance is one small object, and caps wait for it at most this long for each attempt. Choice. */
const BALANCE_TIMEOUT_MS = 10_000
/** The roster and runs have no pages, so a big team takes longer. Choice. */
const ROSTER_TIMEOUT_MS = 60_000

/** The reading client with all that the service can tell. */
export interface ServiceReader extends ReadClient {
  /** The rows of each query, in the order asked. interface-spec.md, Endpoints 1. */
  analytics(question: AnalyticsQuestion, signal?: AbortSignal): Promise<readonly (readonly AnalyticsRow[])[]>
  /** Agent use, summed over (day, model, mode); asked in chunks of 30 days. interface-spec.md, Endpoints 3. */
  cascade(question: CascadeQuestion, signal?: AbortSignal): Promise<CascadeUse>
  /** Requests per second that a key may send at now; undefined before it was used. */
  ratePerSecond(keyName: KeyName): number | undefined
}

export type ServiceWriter = ServiceReader & WriteClient

/** A client that cannot write. One per workspace: it holds the pace, the circuit and the bound on requests under way. */
export const createReadClient = (options: ClientOptions): ServiceReader => readerOver(createSender(options), options)

/** A client that also sets and clears caps. */
export function createWriteClient(options: ClientOptions): ServiceWriter {
  const sender = createSender(options)
  return {
    ...readerOver(sender, options),
    writeCap: (scope, cap, signal, turn) => {
      const timeoutMs = options.writeTimeoutMs ?? TIMEOUT_MS
      return writeCap(sender, { scope, cap, timeoutMs, signal, turn })
    },
  }
}

/** The reading client over a sender, for those who share it with another kind of request. */
export function readerOver(sender: Sender, { clock, onSeen }: ClientOptions): ServiceReader {
  const book = createKeyBook()
  const listPeople = <Value>(body: UserPageRequest, decode: (answer: unknown) => Value, signal?: AbortSignal): Promise<Value> =>
    sender.send(
      reading('UserPageAnalytics', body, decode, {
        signal,
        urgency: 'late',
        timeoutMs: ROSTER_TIMEOUT_MS,
        rows: rosterRows(body.group_name),
      }),
    )
  const decode = (answer: unknown): Cap => {
    const observation = onSeen && spellingSighting(answer)
    if (observation) onSeen?.(observation)
    return decodeCap(answer)
  }
  return {
    async readCap(scope, signal, urgent) {
      const request = reading('GetUsageConfig', wireScope(scope), decode, { signal, urgency: urgent ?? 'normal' })
      return readingOf(scope, sender.send(request), clock)
    },
    readRoster: (signal) =>
      listPeople(
        {},
        (answer) => {
          const roster = decodeRoster(answer, clock.now())
          book.learn(answer)
          return roster
        },
        signal,
      ),
    readGroup: (group, signal) => listPeople({ group_name: group.name }, (answer) => decodeGroup(answer, group, clock.now()), signal),
    readActiveDays: ({ fromAt, untilAt }, signal) => {
      const body: UserPageRequest = { start_timestamp: timestamp(fromAt), end_timestamp: timestamp(untilAt) }
      const options = { signal, urgency: 'late', timeoutMs: ROSTER_TIMEOUT_MS, rows: activeDayRows() } as const
      return sender.send(reading('UserPageAnalytics', body, decodeActiveDays, options))
    },
    readBalance: (signal) =>
      orUnavailable(
        sender.send(
          reading('GetTeamCreditBalance', {}, (answer) => decodeBalance(answer, clock.now()), {
            signal,
            urgency: 'late',
            timeoutMs: BALANCE_TIMEOUT_MS,
          }),
        ),
      ),
    readRuns: (question, signal) =>
      sender.send(
        reading('CascadeAnalytics', encodeRuns(question), (answer) => decodeRuns(answer, question, clock.now() + DAY_MS), {
          signal,
          urgency: 'late',
          timeoutMs: ROSTER_TIMEOUT_MS,
          rows: RUN_ROWS,
        }),
      ),
    analytics: (question, signal) =>
      sender.send(
        reading('Analytics', encodeAnalytics(question), (answer) => decodeAnalytics(answer, question.queries), {
          signal,
          urgency: 'late',
          rows: ANALYTICS_ROWS,
        }),
      ),
    async cascade(question, signal) {
      const chunks: CascadeRows[] = []
      for (const body of encodeCascade(question)) {
        chunks.push(await sender.send(reading('CascadeAnalytics', body, decodeCascade, { signal, urgency: 'late', rows: CASCADE_ROWS })))
      }
      return sumCascade(chunks)
    },
    forget: book.forget,
    readAddOnUse: (question, signal) => readAddOnUse({ sender, book, clock }, question, signal),
    clockSkewMs: sender.clockSkewMs,
    ratePerSecond: sender.ratePerSecond,
  }
}

type ReadingOptions = Pick<ApiRequest<unknown>, 'urgency' | 'rows'> & {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs?: number
}

function reading<Value>(
  operation: ApiRequest<Value>['operation'],
  body: object,
  decode: (answer: unknown) => Value,
  { urgency, signal, rows, timeoutMs = TIMEOUT_MS }: ReadingOptions,
): ApiRequest<Value> {
  return { operation, body, decode, urgency, signal, timeoutMs, once: false, ...(rows && { rows }) }
}

async function readingOf(scope: Scope, sent: Promise<Cap>, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<CapReading> {
  try {
    return { scope, observed: await sent, readAt: clock.now(), readMs: clock.monotonic() }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const lacking = error.lacksFeature || isRefusedForGood(scope, error)
    return {
      ...{ scope, observed: 'unknown', readAt: clock.now(), readMs: clock.monotonic() },
      failure: { kind: error.kind, message: error.message, ...(lacking && { lacksFeature: true }) },
    }
  }
}

/** A read of the team's cap has nothing in it that could be invalid: who calls it so has no caps (service-notes.md, section 1). */
const isRefusedForGood = (scope: Scope, { kind, status = 0 }: ApiError): boolean =>
  scope.kind === 'team' && kind === 'invalid' && [200, 400, 403, 412, 422].includes(status)

async function orUnavailable(sent: Promise<Balance>): Promise<Balance | 'unavailable'> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof ApiError && error.lacksFeature) return 'unavailable'
    throw error
  }
}

interface AddOnParts extends Pick<ClientOptions, 'clock'> {
  readonly sender: Sender
  readonly book: KeyBook
}

async function readAddOnUse({ sender, book, clock }: AddOnParts, question: AddOnQuestion, signal?: AbortSignal) {
  if (!book.isKnown()) throw withoutRoster()
  const unassignable = book.unassignable()
  // A question about nobody is none.
  if (question.emails?.every((email) => book.keysOf(email).length === 0)) return { rows: [], unassignable }
  const decode = (answer: unknown): AddOnReading => decodeAddOn(answer, question, book, clock.now() + DAY_MS)
  const options = { signal, urgency: 'late', timeoutMs: ROSTER_TIMEOUT_MS, rows: ADD_ON_ROWS } as const
  return orNoAddOn(sender.send(reading('Analytics', encodeAddOn(question, book), decode, options)))
}

const withoutRoster = (): ApiError =>
  new ApiError({
    operation: 'Analytics',
    kind: 'malformed',
    message: 'Analytics: whose the rows are is not known before the roster was read',
    unsent: true,
  })

async function orNoAddOn(sent: Promise<AddOnReading>): Promise<AddOnReading | 'unavailable'> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof ApiError && lacksAddOn(error)) return 'unavailable'
    throw error
  }
}

interface CapWrite extends Pick<ApiRequest<unknown>, 'signal' | 'turn' | 'timeoutMs'> {
  readonly scope: Scope
  readonly cap: Cap
}

/** interface-spec.md, Endpoints 5. What a success says does not matter: reading back decides. */
async function writeCap(sender: Sender, { scope, cap, timeoutMs, signal, turn }: CapWrite): Promise<WriteOutcome> {
  const body: UsageConfigRequest = {
    ...wireScope(scope),
    ...(cap === 'none' ? { clear_add_on_credit_cap: true } : { set_add_on_credit_cap: cap }),
  }
  try {
    await sender.send({
      operation: 'UsageConfig',
      body,
      decode: () => undefined,
      urgency: 'urgent',
      signal,
      turn,
      timeoutMs,
      once: true,
    })
    return { kind: 'accepted' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { kind: error.isLate ? 'late' : hadNoEffect(error) ? 'refused' : 'ambiguous', failure: failureOf(error) }
  }
}

const failureOf = ({ kind, message, unsent, lacksFeature }: ApiError): WriteFailure => ({
  ...{ kind, message },
  ...(unsent && { unsent }),
  ...(lacksFeature && { lacksFeature }),
})

/** Never sent, turned away by a proxy (407), or judged and turned down by the service. */
function hadNoEffect({ kind, status, unsent }: ApiError): boolean {
  if (unsent || status === 407) return true
  return kind === 'rate_limited' || kind === 'auth' || kind === 'invalid' || kind === 'not_found'
}

function wireScope(scope: Scope): WireScope {
  switch (scope.kind) {
    case 'team':
      return { team_level: true }
    case 'group':
      return { group_id: scope.id }
    case 'user':
      return { user_email: scope.email }
  }
}
