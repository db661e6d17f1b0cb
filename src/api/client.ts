// The six operations as methods: encodes each question, sets its timeout and urgency, and hands it to send.ts. Whoever must not write gets the
// reading client, which has no method that writes. Also sums runs of agents by day.
import { ApiError, type CapReading, type RunsReading } from '../core/model/observed.ts'
import type { Cap } from '../core/model/policy.ts'
import type { Scope } from '../core/model/scope.ts'
import { cents, creditsOf, DAY_MS, type Instant } from '../core/model/units.ts'
import type { Clock, ReadClient, RowPlan, RunsQuestion, WriteClient, WriteFailure, WriteOutcome } from '../ports.ts'
import {
  ADD_ON_ROWS,
  countOf,
  createKeyBook,
  dayAtOf,
  decodeAddOn,
  encodeAddOn,
  type Judged,
  lacksAddOn,
  MAX_NAME,
  nameOf,
  type SumKind,
  shown,
  summingRows,
  sumRows,
  withoutFuture,
} from './add-on.ts'
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
  encodeAnalytics,
  encodeCascade,
  RUN_PATHS,
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
  type Fields,
  isAbsent,
  MAX_CENTS,
  MAX_FIGURE,
  rosterRows,
  setAside,
  spellingSighting,
} from './decode.ts'

import type { KeyName } from './keys.ts'
import { type ApiRequest, type ClientOptions, createSender, type Sender } from './send.ts'
import type { Urgency } from './transport/queue.ts'
import type { CascadeRequest, UsageConfigRequest, UserPageRequest, WireScope } from './wire.ts'

/** How long an answer may take. Choice. */
export const TIMEOUT_MS = 30_000
/** The balance is one small object, and reading caps waits for it. Choice. */
const BALANCE_TIMEOUT_MS = 10_000
/** The roster and runs have no pages, so a big team takes longer. Choice. */
const ROSTER_TIMEOUT_MS = 60_000

/** The reading client, with the questions of `doctor` and reports beside those of the daemon. */
export interface ServiceReader extends ReadClient {
  /** The rows of each query, in the order asked. docs/service.md, Analytics. */
  analytics(question: AnalyticsQuestion, signal?: AbortSignal): Promise<readonly (readonly AnalyticsRow[])[]>
  /** Agent use, summed by day, model and mode; asked in chunks of 30 days. docs/service.md, CascadeAnalytics. */
  cascade(question: CascadeQuestion, signal?: AbortSignal): Promise<CascadeUse>
  /** Requests per second that a key may send at now; undefined before it was used. */
  ratePerSecond(keyName: KeyName): number | undefined
}

export type ServiceWriter = ServiceReader & WriteClient

/** A client that cannot write. One per workspace: it holds the pace, the circuit and the bound on requests under way. */
export const createReadClient = (options: ClientOptions): ServiceReader => readerOver(createSender(options), options)

/** A client that also sets and clears caps. Who may get it is held by `WRITERS` in test/support/code-rules.ts. */
export function createWriteClient(options: ClientOptions): ServiceWriter {
  const sender = createSender(options)
  return {
    ...readerOver(sender, options),
    writeCap: (scope, cap, signal, turn) => writeCap(sender, { scope, cap, timeoutMs: options.writeTimeoutMs ?? TIMEOUT_MS, signal, turn }),
  }
}

type Question<Value> = Omit<ApiRequest<Value>, 'once' | 'signal' | 'timeoutMs' | 'urgency'> & {
  readonly signal: AbortSignal | undefined
  readonly timeoutMs?: number
  readonly urgency?: Urgency
}

/** The reading client over a sender that is shared with other kinds of requests. */
export function readerOver(sender: Sender, { clock, onSeen, keys, filesKept = () => [] }: ClientOptions): ServiceReader {
  const book = createKeyBook()
  const ask = <Value>(question: Question<Value>): Promise<Value> =>
    sender.send({ timeoutMs: TIMEOUT_MS, urgency: 'late', once: false, ...question })
  const listPeople = <Value>(
    body: UserPageRequest,
    decode: (answer: unknown) => Value,
    { signal, rows = rosterRows(body.group_name) }: { readonly signal: AbortSignal | undefined; readonly rows?: RowPlan },
  ): Promise<Value> => ask({ operation: 'UserPageAnalytics', body, decode, signal, rows, timeoutMs: ROSTER_TIMEOUT_MS })
  return {
    readCap(scope, signal, urgent) {
      const decode = (answer: unknown): Cap => {
        const observation = onSeen && spellingSighting(answer)
        if (observation) onSeen?.(observation)
        return decodeCap(answer)
      }
      const cap = ask({ operation: 'GetUsageConfig', body: wireScope(scope), decode, signal, urgency: urgent ?? 'normal' })
      return readingOf(scope, cap, clock)
    },
    readRoster(signal) {
      const decode = (answer: unknown) => {
        const roster = decodeRoster(answer, clock.now())
        book.learn(answer)
        return roster
      }
      return listPeople({}, decode, { signal })
    },
    readGroup: (group, signal) => listPeople({ group_name: group.name }, (answer) => decodeGroup(answer, group, clock.now()), { signal }),
    readActiveDays({ fromAt, untilAt }, signal) {
      const body = { start_timestamp: timestamp(fromAt), end_timestamp: timestamp(untilAt) }
      return listPeople(body, decodeActiveDays, { signal, rows: activeDayRows() })
    },
    readBalance(signal) {
      const decode = (answer: unknown) => decodeBalance(answer, clock.now())
      const balance = ask({ operation: 'GetTeamCreditBalance', body: {}, decode, signal, timeoutMs: BALANCE_TIMEOUT_MS })
      return unavailableWhen(({ lacksFeature = false }) => lacksFeature, balance)
    },
    readRuns: (question, signal) =>
      ask({
        operation: 'CascadeAnalytics',
        body: encodeRuns(question),
        decode: (answer) => decodeRuns(answer, question, clock.now() + DAY_MS),
        signal,
        timeoutMs: ROSTER_TIMEOUT_MS,
        rows: RUN_ROWS,
      }),
    analytics(question, signal) {
      const decode = (answer: unknown) => decodeAnalytics(answer, question.queries)
      return ask({ operation: 'Analytics', body: encodeAnalytics(question), decode, signal, rows: ANALYTICS_ROWS })
    },
    async cascade(question, signal) {
      const chunks: CascadeRows[] = []
      for (const body of encodeCascade(question)) {
        chunks.push(await ask({ operation: 'CascadeAnalytics', body, decode: decodeCascade, signal, rows: CASCADE_ROWS }))
      }
      return sumCascade(chunks)
    },
    forget: book.forget,
    async readAddOnUse(question, signal) {
      if (!book.isKnown()) throw withoutRoster()
      // None of the named people has a key, so there is nothing to ask.
      if (question.emails?.every((email) => book.keysOf(email).length === 0)) return { rows: [], unassignable: book.unassignable() }
      const addOnUse = ask({
        operation: 'Analytics',
        body: encodeAddOn(question, book),
        decode: (answer) => decodeAddOn(answer, question, book, clock.now() + DAY_MS),
        signal,
        timeoutMs: ROSTER_TIMEOUT_MS,
        rows: ADD_ON_ROWS,
      })
      return unavailableWhen(lacksAddOn, addOnUse)
    },
    clockSkewMs: sender.clockSkewMs,
    filesKept: () => [...keys.kept(), ...filesKept()],
    ratePerSecond: sender.ratePerSecond,
  }
}

async function readingOf(scope: Scope, sent: Promise<Cap>, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<CapReading> {
  try {
    return { scope, observed: await sent, readAt: clock.now(), readMs: clock.monotonic() }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const lacking = error.lacksFeature || isRefusedForGood(scope, error)
    return {
      ...{ scope, observed: 'unknown', readAt: clock.now(), readMs: clock.monotonic() },
      failure: { kind: error.kind, message: error.message, lacksFeature: lacking ? true : undefined },
    }
  }
}

/** A read of the team's cap contains nothing that could be invalid: a service that says so has no caps (docs/service.md). */
const isRefusedForGood = (scope: Scope, { kind, status = 0 }: ApiError): boolean =>
  scope.kind === 'team' && kind === 'invalid' && [200, 400, 403, 412, 422].includes(status)

async function unavailableWhen<Value>(isLacking: (error: ApiError) => boolean, sent: Promise<Value>): Promise<Value | 'unavailable'> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof ApiError && isLacking(error)) return 'unavailable'
    throw error
  }
}

const withoutRoster = (): ApiError =>
  new ApiError({
    operation: 'Analytics',
    kind: 'malformed',
    message: 'Analytics: the owners of the rows are not known before the roster was read',
    unsent: true,
  })

interface CapWrite extends Pick<ApiRequest<unknown>, 'signal' | 'turn' | 'timeoutMs'> {
  readonly scope: Scope
  readonly cap: Cap
}

/** docs/service.md, UsageConfig. The body of a success does not matter: reading back decides. */
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
  unsent,
  lacksFeature,
})

/** The request was never sent, was turned away by a proxy (407), or was refused by the service. */
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

// Runs of agents, summed by day, model and mode for the record of use (docs/service.md, Rows of the agent). Pure.

/** Sums of one answer: a month of 20 models in 10 modes has a third of that. Choice. */
const MAX_RUN_SUMS = 20_000

/** One day, model and mode. */
interface RunSum {
  readonly dayAt: Instant
  readonly model: string
  readonly mode: string
  messages: number
  /** Undefined while no row told credits. */
  cents: number | undefined
}

const RUNS: SumKind<RunSum> = {
  operation: 'CascadeAnalytics',
  of: 'runs',
  most: MAX_RUN_SUMS,
  judge,
  keyOf: ({ dayAt, model, mode }) => JSON.stringify([dayAt, model, mode]),
  add(into, { messages, cents: used }) {
    into.messages = Math.min(MAX_FIGURE, into.messages + messages)
    if (used !== undefined) into.cents = Math.min(MAX_FIGURE, (into.cents ?? 0) + used)
  },
}

const RUN_ROWS: RowPlan = summingRows(RUN_PATHS, RUNS)

/** docs/service.md, CascadeAnalytics: runs of some days in one request. A range ends 1 ms before the day that it excludes. */
function encodeRuns({ fromAt, untilAt, groupName, email }: RunsQuestion): CascadeRequest {
  return {
    group_name: groupName,
    emails: email === undefined ? undefined : [email],
    start_timestamp: timestamp(fromAt),
    end_timestamp: untilAt === undefined ? undefined : timestamp(untilAt - 1),
    query_requests: [{ cascade_runs: {} }],
  }
}

/** The runs of the requested days. Rows that make no sense, or are later than `latestAt`, are set aside; malformed when nothing else is left. */
function decodeRuns(body: unknown, { fromAt, untilAt = Number.POSITIVE_INFINITY }: RunsQuestion, latestAt: number): RunsReading {
  const { sums, aside } = withoutFuture(sumRows(decodeCascade(body).cascade_runs, RUNS), latestAt, 'CascadeAnalytics')
  const tellsUse = sums.some((sum) => sum.cents !== undefined)
  const rows = sums
    .filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)
    .map(({ dayAt, model, mode, messages, cents: used = 0 }) => ({
      ...{ dayAt, model, mode, messages },
      used: tellsUse ? creditsOf(cents(used)) : undefined,
    }))
  return { rows, ...setAside(aside) }
}

function judge(row: Fields): Judged<RunSum> {
  const [day = '', model = '', mode = ''] = [row['day'], row['model'], row['mode']].map(nameOf)
  const dayAt = dayAtOf(day)
  const [messages, used] = [countOf(row['messagesSent']), countOf(row['promptsUsed'])]
  if (Number.isNaN(dayAt)) return { why: 'a run has no day' }
  if (model.length > MAX_NAME || mode.length > MAX_NAME) return { why: `a name of a run has more than ${MAX_NAME} characters` }
  if (!Number.isInteger(messages) || Math.abs(messages) > MAX_FIGURE)
    return { why: `messagesSent of a run is ${shown(row['messagesSent'])}` }
  if (Number.isNaN(used) || Math.abs(used) > MAX_CENTS) return { why: `promptsUsed of a run is ${shown(row['promptsUsed'])}` }
  return { sum: { dayAt, model, mode, messages, cents: isAbsent(row['promptsUsed']) ? undefined : used } }
}
