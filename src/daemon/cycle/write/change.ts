// One change, from the second look to the outcome in the ledger:
//
//   re-read (when the reading is old) -> equals `from`? -> intent (durable) -> write -> read back -> outcome
//
// Whose turn does not come while the reading is fresh begins again, once: then it waits on, for readings wait for the same rate. What was stopped,
// paused or taken back meanwhile does not leave any more.
// An answer that was lost is resolved by reading. When even reading fails, the intent stays open and the next cycle finds it. Nothing is
// ever written without an intent before it.

import type { Answer } from '../../../core/interpret/classify.ts'
import { ancestorsOf } from '../../../core/interpret/effective.ts'
import type { Change, Intent, Quarantined } from '../../../core/model/change.ts'
import { UNDECLARED } from '../../../core/model/entry.ts'
import type { ApiErrorKind, CapReading } from '../../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import type { WriteClient, WriteFailure } from '../../../ports.ts'
import { LedgerError } from '../../ledger/error.ts'
import { keepReading, sweep } from '../read.ts'
import { conclude, historyEntry, noteZero, type OutcomeContext, quarantined, verdictOf, type WriteResult } from './outcome.ts'

/** Why writing ended before its time: a stop, a pause, a ledger that cannot record, a key or a service that takes no write, or the breaker. */
export interface Halted {
  readonly interrupted?: 'stopped' | 'paused' | 'ledger' | 'refused' | 'breaker'
  /** The ledger's own words when it cannot record. */
  readonly fatal?: string
  /** Why no write is taken. */
  readonly refusal?: string
  /** The key is to blame for that. */
  readonly isKey?: boolean
}

/** What the writes of one run share. */
export interface WriteRun extends OutcomeContext {
  readonly client: WriteClient
  /** The plan that is carried out now. */
  planned: Planned
  readonly readings: Map<ScopeKey, CapReading>
  readonly results: Map<ScopeKey, WriteResult>
  /** Refusals that may be about one scope only; judged together after each pass. */
  readonly refusals: Quarantined[]
  halted: Halted
  /** Aborts when no further change may start; the change under way still finishes. */
  readonly stop?: AbortSignal
  /** Aborts when even a write in flight has had its time; its intent stays. */
  readonly cut?: AbortSignal
  /** The process is going down: what was written is not read back any more, the intent stays for the next start. */
  readonly leaving?: () => boolean
}

/** A reading younger than this is not read again before the write (choice). */
export const FRESH_MS = 60_000

/** How often a write whose answer was lost, and which had not landed, is sent in all. */
const WRITE_ATTEMPTS = 3

/** A read-back that still shows the old value is repeated once after this, because some reads are stale. */
export const STALE_MS = 1_000

/** Carries out one change. Undefined when the run was halted and nothing can be said of the change. */
export async function writeChange(change: Change, run: WriteRun): Promise<WriteResult | undefined> {
  try {
    for (let isPatient = false; ; isPatient = true) {
      const seen = await secondLook(change, run)
      if (seen) return seen
      const interrupted = await mayNotStart(run)
      if (interrupted) {
        run.halted = { interrupted, ...run.halted }
        return undefined
      }
      const sent = await send(change, await recordIntent(change, run), run, isPatient)
      if (sent !== 'late') return sent
    }
  } catch (error) {
    if (error instanceof LedgerError) run.halted = { interrupted: 'ledger', fatal: error.message }
    else if (run.cut?.aborted || run.stop?.aborted) run.halted = { interrupted: 'stopped', ...run.halted }
    else throw error
    return undefined
  }
}

async function mayNotStart(run: WriteRun): Promise<Halted['interrupted']> {
  if (run.halted.interrupted) return run.halted.interrupted
  if (run.stop?.aborted) return 'stopped'
  return (await run.ledger.pause(run.clock.now())) ? 'paused' : undefined
}

/** Is it still as the plan saw it? A result means that there is nothing to write. */
async function secondLook(change: Change, run: WriteRun): Promise<WriteResult | undefined> {
  const known = run.readings.get(scopeKey(change.scope))
  const isFresh = known?.readMs !== undefined && run.clock.monotonic() - known.readMs < FRESH_MS
  const reading = isFresh ? known : await run.client.readCap(change.scope, run.stop, 'urgent')
  keepReading(run.readings, reading)
  if (reading.failure) {
    const error = `not written, because it could not be read again: ${reading.failure.message}`
    return { result: 'failed', error, ...blameOf(reading.failure.kind) }
  }
  const isPin = run.planned.differences.get(scopeKey(change.scope))?.pin === true
  if (reading.observed === change.from || (isPin && reading.observed === change.to)) return undefined
  if (reading.observed === change.to) return { result: 'skipped' }
  return { result: 'skipped', error: `changed from ${change.from} to ${reading.observed} since it was planned`, foreign: reading.observed }
}

function recordIntent(change: Change, run: WriteRun): Promise<Intent> {
  const { plan, differences } = run.planned
  const { disposition: _, released: __, ...written } = change
  return run.ledger.recordIntent({
    at: run.clock.now(),
    planId: plan.id,
    change: written,
    entry: differences.get(scopeKey(change.scope))?.entry ?? UNDECLARED,
    digest: plan.policyDigest,
    revision: plan.revision,
  })
}

/** `late`: it was never sent, and may be tried again. */
async function send(change: Change, intent: Intent, run: WriteRun, isPatient: boolean): Promise<WriteResult | 'late' | undefined> {
  let isAccepted = false
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await inTurn(run, isPatient, (turn) => run.client.writeCap(change.scope, change.to, run.cut, turn))
    if (outcome.kind === 'late' && attempt === 1) {
      await run.ledger.recordOutcome(intent, undefined, 'kept')
      return 'late'
    }
    const isRefused = outcome.kind === 'refused'
    if (isRefused) noteRefusal(outcome.failure, run)
    // That this try had no effect says nothing of one before it, whose answer was lost.
    if (isRefused && attempt === 1) return turnedDown(intent, outcome.failure, run)
    if (run.leaving?.()) {
      run.halted = { interrupted: 'stopped', ...run.halted }
      return undefined
    }
    const kind: Answer = outcome.kind !== 'accepted' ? 'lost' : isAccepted ? 'repeated' : 'accepted'
    const reading = await readBack(change, kind, run)
    keepReading(run.readings, reading)
    const verdict = await verdictOf(change, reading, kind, run)
    isAccepted = kind !== 'lost'
    const isOpen = verdict === 'notLanded' || (verdict === 'unmoved' && kind === 'accepted' && mayShowOthers(change, run))
    if (isOpen && !isRefused && attempt < WRITE_ATTEMPTS && !(await mayNotStart(run))) continue
    const why = outcome.kind === 'accepted' ? '' : `${WRITE_ATTEMPTS} times sent at most: ${outcome.failure.message}`
    const result = await conclude(intent, reading, { kind, why }, run)
    if (isRefused && verdict === 'notLanded') return blamed(result, outcome.failure, intent, run)
    return reading.failure ? { ...result, ...blameOf(reading.failure.kind) } : result
  }
}

/** Work under a signal that ends as soon as nothing may be written any more, or, without patience, when a reading is not fresh any more. */
async function inTurn<Value>(run: WriteRun, isPatient: boolean, work: (turn: AbortSignal) => Promise<Value>): Promise<Value> {
  const { clock, stop } = run
  const [late, over] = [new AbortController(), new AbortController()]
  const watch = async (): Promise<void> => {
    do await clock.sleep(FRESH_MS, over.signal)
    while (isPatient && !(await mayNotStart(run)))
  }
  // A ledger that cannot tell is asked again before the write, and then says so.
  const end = (): void => late.abort(new Error('its turn did not come in time'))
  watch().then(end, () => (over.signal.aborted ? undefined : end()))
  try {
    return await work(stop ? AbortSignal.any([stop, late.signal]) : late.signal)
  } finally {
    over.abort()
  }
}

/**
 * Some reads are stale: one that shows the old value is repeated once. Where a cap shows after a clear that may be inherited by now, what it may
 * come from is read beside it.
 */
async function readBack(change: Change, answer: Answer, run: WriteRun): Promise<CapReading> {
  const read = async (): Promise<CapReading> => {
    const reading = await run.client.readCap(change.scope, run.cut, 'urgent')
    if (change.to === 'none' && typeof reading.observed === 'number') await readAbove(reading, run)
    return reading
  }
  const reading = await read()
  if (reading.observed !== change.from || (await verdictOf(change, reading, answer, run)) === 'zeroDropped') return reading
  await run.clock.sleep(STALE_MS, run.cut)
  return read()
}

/** Reads again the wider scopes that are known, unless they explain already what was read, or are about to be written themselves. */
async function readAbove({ scope, observed }: CapReading, run: WriteRun): Promise<void> {
  const { slots, planned, readings } = run
  const key = scopeKey(scope)
  if (slots.model.reads === 'explicit' || slots.mayApply(key, observed)) return
  const scopes = ancestorsOf(key, planned.people).flatMap((one) => (planned.differences.has(one) ? [] : (readings.get(one)?.scope ?? [])))
  await sweep({ client: run.client, scopes, concurrency: 1, readings, urgent: true, ...(run.cut && { signal: run.cut }) })
}

/** What shows after a clear may come from a group that no policy names: then clearing twice tells. */
const mayShowOthers = ({ scope, to }: Change, { slots }: WriteRun): boolean =>
  to === 'none' && scope.kind === 'user' && slots.model.reads === 'inherited'

/** A key that is refused, and a request that could not leave, stop all writes. */
function noteRefusal({ kind, message, unsent, lacksFeature }: WriteFailure, run: WriteRun): void {
  if (unsent || kind === 'auth') {
    run.halted = { interrupted: 'refused', refusal: message, isKey: kind === 'auth' && !lacksFeature, ...run.halted }
  }
}

/** Nothing of it had any effect. What was never sent is no write; those that were in flight beside the first refusal are. */
async function turnedDown(intent: Intent, failure: WriteFailure, run: WriteRun): Promise<WriteResult | undefined> {
  if (failure.unsent) {
    await run.ledger.recordOutcome(intent, undefined, 'kept')
    return undefined
  }
  const ended = { result: 'failed', error: failure.message } as const
  await run.ledger.recordOutcome(intent, historyEntry(intent, ended, run.clock.now()), 'kept')
  return blamed(ended, failure, intent, run)
}

/** What a refusal says of the scope, which may be left alone for it. */
function blamed(result: WriteResult, { kind, message }: WriteFailure, intent: Intent, run: WriteRun): WriteResult {
  if (kind === 'invalid' && intent.change.to === 0) noteZero('rejected', `is refused: ${message}`, intent.change, run)
  if (kind === 'invalid') run.refusals.push(quarantined(intent, 'CAP_REFUSED', message, run))
  // A team has no id that could be unknown.
  else if (kind === 'not_found' && intent.change.scope.kind === 'team') return { ...result, blame: 'service' }
  else if (kind === 'not_found') run.refusals.push(quarantined(intent, 'SCOPE_UNKNOWN', message, run))
  return { ...result, ...blameOf(kind) }
}

/** A key that is refused stops the writes by itself. */
function blameOf(kind: ApiErrorKind): Pick<WriteResult, 'blame'> {
  if (kind === 'auth') return {}
  return { blame: kind === 'invalid' || kind === 'not_found' ? 'scope' : 'service' }
}
