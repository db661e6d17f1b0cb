// Takes one request to its decoded answer: waits for a turn, adds the key, sends, judges, and retries where that is safe. Retries, the
// circuit and the pace are pure state machines in core/. The key enters the body in `exchange` and nowhere else. A write is never sent
// twice unless the first certainly had no effect.

import type { WireObservation } from '../core/interpret/evidence.ts'
import type { RequestOutcome } from '../core/model/events.ts'
import { ApiError, type ApiErrorFacts, type Operation } from '../core/model/observed.ts'
import { CLOCKS_APART_MS, type Instant } from '../core/model/units.ts'
import {
  admit,
  type Backoff,
  type Ending,
  ended,
  isLeftAlone,
  probing,
  retryDelayMs,
  spendRetry,
  startBackoff,
  toldFor,
} from '../core/pace/backoff.ts'
import type { LearnedRate, RateSettings } from '../core/pace/pace.ts'
import type { Clock, Random, Transport, TransportFailure, WireAnswer } from '../ports.ts'
import { type Reading, withoutEcho } from './decode.ts'
import { BoundError, classify, errorSighting, malformed, notSent, outcomeOfFailure, tidy } from './errors.ts'
import type { KeyRing, ServiceKey } from './keys.ts'
import { takeRows } from './transport/cut.ts'
import { createQueue, type Paces, type Permit, type Queue, type Turn, type Urgency, underSignals } from './transport/queue.ts'

/** How often one request is sent again after a refusal for the rate; each time the pace must allow it. Choice. */
const MAX_REFUSALS = 100
const MAX_ROUNDS = MAX_REFUSALS + 10

export interface RequestEvent {
  readonly operation: Operation
  readonly outcome: RequestOutcome
  readonly durationMs: number
  /** Why it failed. */
  readonly message?: string
  /** How long the service says to wait. */
  readonly retryAfterMs?: number
}

/** The parts and settings of a workspace's client. */
export interface ClientOptions {
  readonly transport: Transport
  readonly keys: KeyRing
  readonly clock: Clock
  readonly random: Random
  readonly rate: RateSettings & { readonly concurrency: number }
  /** The paces of the workspace's keys; the same for every client of it in this process. */
  readonly paces: Paces
  /** The rates learned in earlier runs, by key name (`LedgerFacts.pace`). */
  readonly learned?: Readonly<Record<string, unknown>>
  /** A rate changed; `learned` is to be stored under the key's name. */
  readonly onLearned?: (keyName: string, learned: LearnedRate) => void
  /** Called with each answer that tells something about the deployment. */
  readonly onSeen?: (observation: WireObservation) => void
  /** Whether a write that may take so long may be sent now. Asked before it begins, and again once its connection is open. Absent: always. */
  readonly mayLeave?: (timeoutMs: number) => boolean
  /** The timeout of a write; absent: that of other requests. */
  readonly writeTimeoutMs?: number
  /** Called before each request, to read the files of keys and authorities again. Never rejects. */
  readonly readFiles?: () => Promise<void>
  /** Of the transport (`ServiceReader`). */
  readonly filesKept?: () => readonly string[]
  /** Called at the end of every attempt that was not aborted. */
  readonly onRequest?: (event: RequestEvent) => void
  /** Why nothing is sent any more, if so; asked before each request. */
  readonly givenUp?: () => string | undefined
  /** Ends waiting and reading at once. A write under way ends only by its own signal. */
  readonly signal?: AbortSignal
  /** A time that has surely passed: of the last reading that earlier processes recorded. */
  readonly knownAt?: () => Instant | undefined
}

export interface ApiRequest<Value> {
  readonly operation: Operation
  /** All but the key. */
  readonly body: object
  readonly timeoutMs: number
  readonly urgency: Urgency
  /** Begins to read an answer; called for each attempt. */
  readonly reading: () => Reading<Value>
  /** For a write: retried only after a refusal for the rate, which certainly had no effect. */
  readonly once: boolean
  readonly signal: AbortSignal | undefined
  /** Ends the wait for a turn, with an error that `isLate`: the request certainly had no effect. */
  readonly turn?: AbortSignal | undefined
}

export type Sender = ReturnType<typeof createSender>

interface Machine {
  readonly options: ClientOptions
  readonly queue: Queue
  backoff: Backoff<ApiError>
  readonly time: ReturnType<typeof steadyTime>
}

/** A time, and the monotonic clock then. */
interface Mark {
  readonly at: Instant
  readonly ms: number
}

/** The clocks as of an answer: `at` is the time that no jump moves, `skewMs` the service's clock minus ours. */
interface ClocksThen extends Mark {
  readonly wall: Instant
  readonly skewMs: number
}

/**
 * The time that ages and waits are judged by, which no jump of a clock moves. It is the wall clock's where an answer shows that both clocks
 * agree, runs on from there, and is the wall clock's while that stays close. Where they differ by as much as at the answer before, both have
 * gone on by as much, also when that is more than the monotonic clock says: the machine was suspended. Where they never agreed, it runs on from
 * the first answer: then it was the wall clock's, or the service's where the wall clock is behind `knownAt`. Where both are behind that, it was
 * recorded by a clock that was ahead.
 */
function steadyTime({ clock, knownAt = () => undefined }: Pick<ClientOptions, 'clock' | 'knownAt'>) {
  let last: ClocksThen | undefined
  let service: (Mark & { readonly skewMs: number }) | undefined
  const since = ({ at, ms }: Mark): Instant => Math.floor(at + clock.monotonic() - ms)
  const isNear = (a: Instant, b: Instant): boolean => Math.abs(a - b) <= CLOCKS_APART_MS
  const told = (): Instant | undefined => service && since(service)
  const first = (): Instant => {
    const [wall, passed = Number.NEGATIVE_INFINITY, byService] = [clock.now(), knownAt(), told()]
    const isPossible = (at: Instant): boolean => at >= passed - CLOCKS_APART_MS
    if (isPossible(wall)) return wall
    if (byService === undefined) return passed
    return isPossible(byService) ? byService : Math.max(wall, byService)
  }
  const atAnswer = (wall: Instant, skewMs: number): Instant => {
    if (isNear(skewMs, 0)) return wall
    if (!last) return first()
    return isNear(skewMs, last.skewMs) ? last.at + wall - last.wall : since(last)
  }
  return {
    now(): Instant {
      if (!last) return first()
      const [wall, at] = [clock.now(), since(last)]
      return isNear(wall, at) ? wall : at
    },
    /** By the service's clock; absent before it told. */
    told,
    /** The service's clock minus ours, by the last answer with a date. */
    skewMs: (): number | undefined => service?.skewMs,
    /** An answer without a date tells nothing of a clock that has jumped since one with a date. */
    learn(dated: number | undefined): void {
      const [wall, ms] = [clock.now(), clock.monotonic()]
      if (dated !== undefined) service = { at: wall + dated, ms, skewMs: dated }
      const skewMs = (told() ?? wall) - wall
      last = { at: atAnswer(wall, skewMs), ms, wall, skewMs }
    },
  }
}

export function createSender(options: ClientOptions) {
  const { clock, rate, paces, learned = {}, onLearned = () => undefined } = options
  const queue = createQueue({ clock, concurrency: rate.concurrency, rate, paces, learned, onLearned })
  const machine: Machine = { options, queue, backoff: startBackoff(), time: steadyTime(options) }
  return {
    /** Rejects with an `ApiError`, or with the reason of a signal. */
    send: <Value>(request: ApiRequest<Value>): Promise<Value> => sendPatiently(machine, request),
    clockSkewMs: machine.time.skewMs,
    now: machine.time.now,
    serviceNow: machine.time.told,
    ratePerSecond: queue.ratePerSecond,
  }
}

async function sendPatiently<Value>(machine: Machine, request: ApiRequest<Value>): Promise<Value> {
  const { clock, random, signal } = machine.options
  let [attempts, refusals] = [0, 0]
  for (let round = 1; ; round += 1) {
    const { result, admission } = await attempt(machine, request, round > 1)
    if (!(result instanceof ApiError)) return result
    const error = result
    if (error.kind === 'rate_limited' && refusals < MAX_REFUSALS && round < MAX_ROUNDS) {
      refusals += 1
      const { ownMs } = toldFor(request.operation, error.retryAfterMs ?? 0)
      if (ownMs > 0) await underSignals([signal, request.signal], (either) => clock.sleep(ownMs, either))
      continue
    }
    attempts += 1
    const { retryAfterMs = 0 } = error
    // Other requests wait for this one: after a longer pause than its timeout the next cycle asks again.
    const isSoon = retryAfterMs <= request.timeoutMs
    const backoff = isSoon && mayRetry(error, request) && admission === 'go' ? spendRetry(machine.backoff, attempts) : undefined
    if (!backoff) throw error
    machine.backoff = backoff
    const delayMs = Math.max(retryDelayMs(attempts, random.next()), retryAfterMs)
    await underSignals([signal, request.signal], (either) => clock.sleep(delayMs, either))
  }
}

/** A late request that timed out is left to the next cycle, because caps wait for it. A redirect would only be sent again. */
const mayRetry = ({ kind, status = 0 }: ApiError, { once, urgency }: ApiRequest<unknown>): boolean =>
  !once &&
  !(status >= 300 && status < 400) &&
  (kind === 'server' || kind === 'network' || kind === 'malformed' || (kind === 'timeout' && urgency !== 'late'))

/** Waits for a turn, and uses it. Throws when the request may not be sent at all. */
async function attempt<Value>(
  machine: Machine,
  request: ApiRequest<Value>,
  again: boolean,
): Promise<{ readonly result: Value | ApiError; readonly admission: 'go' | 'probe' }> {
  const { keys, readFiles } = machine.options
  if (readFiles) await readFiles()
  let key = keys.keyFor(request.operation)
  const entered = machine.queue.enter({
    keyName: key.name,
    urgency: request.urgency,
    again,
    signals: [machine.options.signal, request.signal, request.turn],
    admit() {
      try {
        // The key may have changed while the request waited.
        key = keys.keyFor(request.operation)
        return permitFor(machine, request.operation, key)
      } catch (error) {
        return { kind: 'fail', error }
      }
    },
    onAdmitted(admission) {
      if (admission === 'probe') machine.backoff = probing(machine.backoff, identityOf(request.operation, key))
    },
  })
  const turn = await entered.catch((error: unknown) => {
    throw request.turn?.aborted && error === request.turn.reason ? tooLate(request.operation) : error
  })
  return { result: await useTurn(machine, request, { ...turn, again }, key), admission: turn.admission }
}

const tooLate = (operation: Operation): ApiError =>
  unsent({ operation, kind: 'rate_limited', message: `${operation} was not sent: its turn did not come in time`, isLate: true })

const unsent = (facts: ApiErrorFacts): ApiError => new ApiError({ ...facts, unsent: true })

const identityOf = (operation: Operation, key: ServiceKey) => ({ operation, keyId: key.id })

function permitFor(machine: Machine, operation: Operation, key: ServiceKey): Permit {
  const why = machine.options.givenUp?.()
  if (why !== undefined) return { kind: 'fail', error: unsent({ operation, kind: 'rate_limited', message: `${operation}: ${why}` }) }
  const admission = admit(machine.backoff, identityOf(operation, key), machine.options.clock.monotonic())
  if (admission.kind === 'fail') return { kind: 'fail', error: notSent(admission.failure, operation) }
  return admission.kind === 'wait' ? { kind: 'wait' } : { kind: admission.kind, keyId: key.id }
}

async function useTurn<Value>(
  machine: Machine,
  request: ApiRequest<Value>,
  turn: Turn & { readonly again: boolean },
  key: ServiceKey,
): Promise<Value | ApiError> {
  const { clock, random, onRequest } = machine.options
  const startedMs = clock.monotonic()
  let exchanged: Exchanged<Value> | undefined
  try {
    exchanged = await exchange(machine, request, key)
    return exchanged.result
  } finally {
    const nowMs = clock.monotonic()
    const ending: Ending<ApiError> = exchanged ? endingOf(exchanged.result) : { kind: 'nothing' }
    const identity = identityOf(request.operation, key)
    const isAlone = isLeftAlone(machine.backoff, identity)
    // Before the turn ends: that lets the next one ask to be admitted.
    machine.backoff = ended(machine.backoff, identity, turn.admission, ending, {
      nowMs,
      roll: random.next(),
      again: turn.again,
    })
    turn.end(exchanged && paceAnswerOf(exchanged, isAlone))
    if (exchanged) onRequest?.(eventOf(request.operation, exchanged.result, nowMs - startedMs))
  }
}

interface Exchanged<Value> {
  readonly result: Value | ApiError
  readonly answered: boolean
}

async function exchange<Value>(machine: Machine, request: ApiRequest<Value>, key: ServiceKey): Promise<Exchanged<Value>> {
  const { transport, clock, signal, mayLeave = () => true } = machine.options
  const { operation, timeoutMs } = request
  const reading = withoutEcho(request.reading(), key.value)
  const signals = request.once ? [request.signal] : [signal, request.signal]
  const askedAt = clock.now()
  const startedMs = clock.monotonic()
  // Connecting is part of the timeout.
  const mayGo = (): boolean => mayLeave(Math.max(0, timeoutMs - (clock.monotonic() - startedMs)))
  // Thrown, and so not counted as a failure of the service.
  if (request.once && !mayGo()) throw leaseTooShort(operation)
  const how = { timeoutMs, rows: reading.rows, mayLeave: request.once ? mayGo : undefined }
  const answer = await underSignals(signals, (either) =>
    transport.send(operation, { ...request.body, service_key: key.value }, { ...how, signal: either }),
  )
  if ('kind' in answer && answer.isKeptBack) throw leaseTooShort(operation)
  if ('kind' in answer) return { result: unanswered(machine, operation, answer), answered: false }
  const now = clock.now()
  // An answer that was on its way while the wall clock jumped, or the machine was suspended, tells of neither clock.
  if (Math.abs(now - askedAt - (clock.monotonic() - startedMs)) <= CLOCKS_APART_MS) machine.time.learn(skewOf(answer, askedAt, now))
  return { result: judge(machine, request, { reading, answer }), answered: true }
}

const leaseTooShort = (operation: Operation): ApiError => {
  const message = `${operation} was not sent: this replica's hold on the workspace does not outlast it`
  return unsent({ operation, kind: 'network', message })
}

function unanswered({ options }: Machine, operation: Operation, failure: TransportFailure): ApiError {
  return new ApiError({ operation, kind: failure.kind, message: `${operation}: ${tidy(failure.message, options.keys.redact)}` })
}

interface Answered<Value> {
  readonly reading: Reading<Value>
  readonly answer: WireAnswer
}

function judge<Value>({ options }: Machine, request: ApiRequest<Value>, { reading, answer }: Answered<Value>): Value | ApiError {
  const { operation, body } = request
  const names = ['user_email', 'group_id', 'group_name', 'emails'].some((field) => field in body)
  const verdict = classify(answer, operation, { nowMs: options.clock.now(), redact: options.keys.redact, names })
  if (verdict.kind === 'failed') {
    const observation = options.onSeen && errorSighting(answer, operation)
    if (observation) options.onSeen?.(observation)
    return verdict.error
  }
  try {
    if (reading.rows && !answer.isCut) takeRows(verdict.body, reading.rows)
    return reading.decode(verdict.body)
  } catch (error) {
    if (error instanceof BoundError) return malformed(operation, error.message)
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The service's clock minus ours. `Date` has whole seconds; on average half a second has passed since. */
export function skewOf(answer: WireAnswer, askedAt: number, now: number): number | undefined {
  const date = Date.parse(answer.headers['date'] ?? '')
  return Number.isNaN(date) ? undefined : Math.round(date + 500 - (askedAt + now) / 2)
}

function endingOf(result: unknown): Ending<ApiError> {
  if (!(result instanceof ApiError)) return { kind: 'answered' }
  switch (result.kind) {
    case 'rate_limited':
      return { kind: 'limited', failure: result, toldMs: result.retryAfterMs ?? 0 }
    case 'auth':
      return { kind: 'denied', failure: result }
    case 'invalid':
    case 'not_found':
      return { kind: 'answered' }
    case 'server':
    case 'timeout':
    case 'network':
    case 'malformed':
      return { kind: 'failed', failure: result }
  }
}

function paceAnswerOf({ result, answered }: Exchanged<unknown>, isAlone: boolean): Parameters<Turn['end']>[0] {
  if (!answered) return undefined
  if (!(result instanceof ApiError) || result.kind !== 'rate_limited') return { kind: 'ok' }
  const { operation, retryAfterMs } = result
  if (isAlone) return undefined
  return retryAfterMs === undefined ? { kind: 'refused' } : { kind: 'refused', retryAfterMs: toldFor(operation, retryAfterMs).allMs }
}

function eventOf(operation: Operation, result: unknown, durationMs: number): RequestEvent {
  if (!(result instanceof ApiError)) return { operation, durationMs, outcome: 'ok' }
  const { message, retryAfterMs } = result
  return { operation, durationMs, outcome: outcomeOfFailure(result), message, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}
