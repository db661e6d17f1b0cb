// The operations as methods: encodes each question, sets its timeout and urgency, and hands it to send.ts. Whoever must not write gets the
// reading client, which has no method that writes.
import { ApiError, type CapReading } from '../core/model/observed.ts'
import type { Cap } from '../core/model/policy.ts'
import type { Scope } from '../core/model/scope.ts'
import type { Clock, ReadClient, WriteClient } from '../ports.ts'
import { createKeyBook, encodeAddOn, lacksAddOn, readAddOn } from './add-on.ts'
import { decodeBalance, decodeCap, type Reading, readActiveDays, readGroup, readRoster, spellingSighting } from './decode.ts'
import { endOf } from './errors.ts'
import type { KeyName } from './keys.ts'
import { encodeRuns, readRuns, timestamp } from './runs.ts'
import { type ApiRequest, type ClientOptions, createSender, type Sender } from './send.ts'
import type { Wire } from './wire.ts'

/** How long an answer may take. Choice. */
export const TIMEOUT_MS = 30_000
/** The balance is one small object, and reading caps waits for it. Choice. */
const BALANCE_TIMEOUT_MS = 10_000
/** The roster and runs have no pages, so a big team takes longer. Choice. */
const ROSTER_TIMEOUT_MS = 60_000

export interface ServiceReader extends ReadClient {
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
    /** docs/service.md, UsageConfig. The body of a success does not matter: reading back decides. */
    async writeCap(scope, cap, signal, turn) {
      const change = cap === 'none' ? { clear_add_on_credit_cap: true as const } : { set_add_on_credit_cap: cap }
      const body: Wire<'UsageConfigRequest'> = { ...wireScope(scope), ...change }
      const how = { urgency: 'urgent', timeoutMs: options.writeTimeoutMs ?? TIMEOUT_MS, once: true } as const
      const error = await endOf(
        sender.send({ operation: 'UsageConfig', body, reading: () => ({ decode: () => undefined }), ...how, signal, turn }),
      )
      if (!error) return { kind: 'accepted' }
      const { kind, message, unsent, lacksFeature } = error
      return {
        kind: error.isLate ? 'late' : hadNoEffect(error) ? 'refused' : 'ambiguous',
        failure: { kind, message, unsent, lacksFeature },
      }
    },
  }
}

type Question<Value> = Omit<ApiRequest<Value>, 'once' | 'timeoutMs' | 'urgency'> & Partial<Pick<ApiRequest<Value>, 'timeoutMs' | 'urgency'>>

/** The reading client over a sender that is shared with other kinds of requests. */
export function readerOver(sender: Sender, { clock: wall, onSeen, keys, filesKept = () => [] }: ClientOptions): ServiceReader {
  const clock = { ...wall, now: sender.now }
  const book = createKeyBook()
  const ask = <Value>(question: Question<Value>): Promise<Value> =>
    sender.send({ timeoutMs: TIMEOUT_MS, urgency: 'late', once: false, ...question })
  const listPeople = <Value>(
    body: Wire<'UserPageAnalyticsRequest'>,
    reading: () => Reading<Value>,
    signal: AbortSignal | undefined,
  ): Promise<Value> => ask({ operation: 'UserPageAnalytics', body, reading, signal, timeoutMs: ROSTER_TIMEOUT_MS })
  return {
    readCap(scope, signal, urgent) {
      const decode = (answer: unknown): Cap => {
        const observation = onSeen && spellingSighting(answer)
        if (observation) onSeen?.(observation)
        return decodeCap(answer)
      }
      const cap = ask({
        operation: 'GetUsageConfig',
        body: wireScope(scope),
        reading: () => ({ decode }),
        signal,
        urgency: urgent ?? 'normal',
      })
      return readingOf(scope, cap, clock)
    },
    readRoster: (signal) => listPeople({}, () => readRoster(clock.now, book.learn), signal),
    readGroup: (group, signal) => listPeople({ group_name: group.name }, () => readGroup(group, clock.now), signal),
    readActiveDays: ({ fromAt, untilAt }, signal) =>
      listPeople({ start_timestamp: timestamp(fromAt), end_timestamp: timestamp(untilAt) }, readActiveDays, signal),
    readBalance(signal) {
      const decode = (answer: unknown) => decodeBalance(answer, clock.now())
      const balance = ask({
        operation: 'GetTeamCreditBalance',
        body: {},
        reading: () => ({ decode }),
        signal,
        timeoutMs: BALANCE_TIMEOUT_MS,
      })
      return unavailableWhen(({ lacksFeature = false }) => lacksFeature, balance)
    },
    readRuns: (question, signal) =>
      ask({
        operation: 'CascadeAnalytics',
        body: encodeRuns(question),
        reading: () => readRuns(question, clock.now),
        signal,
        timeoutMs: ROSTER_TIMEOUT_MS,
      }),
    forget: book.forget,
    async readAddOnUse(question, signal) {
      if (!book.isKnown()) throw withoutRoster()
      const addOnUse = ask({
        operation: 'Analytics',
        body: encodeAddOn(question),
        reading: () => readAddOn(question, book, clock.now),
        signal,
        timeoutMs: ROSTER_TIMEOUT_MS,
      })
      return unavailableWhen(lacksAddOn, addOnUse)
    },
    clockSkewMs: sender.clockSkewMs,
    now: sender.now,
    serviceNow: sender.serviceNow,
    filesKept: () => [...keys.kept(), ...filesKept()],
    ratePerSecond: sender.ratePerSecond,
  }
}

async function readingOf(scope: Scope, sent: Promise<Cap>, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<CapReading> {
  const end = await endOf(sent)
  const read = { readAt: clock.now(), readMs: clock.monotonic() }
  if (!(end instanceof ApiError)) return { scope, observed: end, ...read }
  const { kind, message, lacksFeature } = end
  const isLacking = lacksFeature || isRefusedForGood(scope, end)
  return { scope, observed: 'unknown', ...read, failure: { kind, message, lacksFeature: isLacking ? true : undefined } }
}

/** A read of the team's cap contains nothing that could be invalid: a service that says so has no caps (docs/service.md). */
const isRefusedForGood = (scope: Scope, { kind, status = 0 }: ApiError): boolean =>
  scope.kind === 'team' && kind === 'invalid' && [200, 400, 403, 412, 422].includes(status)

export async function unavailableWhen<Value>(
  isLacking: (error: ApiError) => boolean,
  sent: Promise<Value>,
): Promise<Value | 'unavailable'> {
  const end = await endOf(sent)
  if (!(end instanceof ApiError)) return end
  if (isLacking(end)) return 'unavailable'
  throw end
}

const withoutRoster = (): ApiError =>
  new ApiError({
    operation: 'Analytics',
    kind: 'malformed',
    message: 'Analytics: the owners of the rows are not known before the roster was read',
    unsent: true,
  })

/** The request was never sent, was turned away by a proxy (407), or was refused by the service. */
function hadNoEffect({ kind, status, unsent }: ApiError): boolean {
  if (unsent || status === 407) return true
  return kind === 'rate_limited' || kind === 'auth' || kind === 'invalid' || kind === 'not_found'
}

function wireScope(scope: Scope): Wire<'GetUsageConfigRequest'> {
  switch (scope.kind) {
    case 'team':
      return { team_level: true }
    case 'group':
      return { group_id: scope.id }
    case 'user':
      return { user_email: scope.email }
  }
}
