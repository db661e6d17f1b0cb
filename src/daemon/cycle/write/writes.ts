// Writes the waves of a plan, each change so: read again (if the reading is old) -> still `from`? -> intent (durable) -> write -> read back ->
// outcome. Nothing is ever written without an intent before it. A lost answer is resolved by reading; if that fails too, the intent stays open
// for the next cycle. A write that waits for its turn until its reading is old begins again once; then it waits as long as it takes, because a
// new reading would wait for the same rate.

import { ancestorsOf } from '../../../core/interpret/effective.ts'
import { type Change, type Intent, isReady, type Quarantined } from '../../../core/model/change.ts'
import type { ApiErrorKind, CapReading } from '../../../core/model/observed.ts'
import { UNDECLARED } from '../../../core/model/policy.ts'
import { byScope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { waveInputs } from '../../../core/plan/dispositions.ts'
import type { Answer } from '../../../core/plan/outcome.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import { nextWave, type PlanStart, planStart } from '../../../core/plan/wave.ts'
import type { WriteFailure } from '../../../ports.ts'
import { showResult } from '../../conditions/show.ts'
import { LedgerError } from '../../ledger/error.ts'
import { readPause } from '../../workspace.ts'
import type { CycleRun, Halted } from '../options.ts'
import { keepReading, sweep } from '../read.ts'
import type { BreakerWatch } from './breaker.ts'
import { conclude, historyEntry, noteZero, type OutcomeContext, quarantined, verdictOf, type WriteResult } from './outcome.ts'

/** The shared state of a run of writes. */
export interface WaveRun extends OutcomeContext, Pick<CycleRun, 'workspace' | 'options'> {
  /** The plan that is carried out. */
  readonly planned: Planned
  readonly readings: Map<ScopeKey, CapReading>
  readonly results: Map<ScopeKey, WriteResult>
  /** Refusals that may concern one scope only; judged together after each pass. */
  readonly refusals: Quarantined[]
  halted: Halted
  /**
   * The rest is to be planned again. Another client has changed the cap of a pool's member since the deal, so the other raises are no longer paid
   * for; or the clocks have come apart, so grants must neither start nor end.
   */
  isOutdated?: boolean
  readonly areClocksApart: () => boolean
  readonly watch: BreakerWatch
  /** Checks the descendants after a wave of team or group writes; true: the plan is out of date. */
  readonly afterAncestors: (changes: readonly Change[]) => Promise<boolean>
}

/** A younger reading is not repeated before the write (choice). */
export const FRESH_MS = 60_000

/** How often a write is sent at most while its answers are lost and it has not landed. */
const WRITE_ATTEMPTS = 3

/** A read-back that shows the old value is repeated once after this time, because it may be stale. */
const STALE_MS = 1_000

/** Carries out one change. Undefined when the run was halted before its end is known. */
async function writeChange(change: Change, run: WaveRun): Promise<WriteResult | undefined> {
  try {
    for (let isPatient = false; ; isPatient = true) {
      const skipped = await recheck(change, run)
      if (skipped) return skipped
      if (run.areClocksApart()) {
        run.isOutdated = true
        return { result: 'skipped', error: "the service's clock and ours have come apart since it was planned" }
      }
      const interrupted = await whyNotStart(run)
      if (interrupted) {
        run.halted = { interrupted, ...run.halted }
        return undefined
      }
      const sent = await send(change, await recordIntent(change, run), run, isPatient)
      if (sent !== 'unsent') return sent
    }
  } catch (error) {
    if (error instanceof LedgerError) run.halted = { interrupted: 'ledger', fatal: error.message }
    else if (run.options.cut?.aborted || run.options.stop?.aborted) run.halted = { interrupted: 'stopped', ...run.halted }
    else throw error
    return undefined
  }
}

async function whyNotStart(run: WaveRun): Promise<Halted['interrupted']> {
  if (run.halted.interrupted) return run.halted.interrupted
  if (run.options.stop?.aborted) return 'stopped'
  return (await readPause(run.workspace)) ? 'paused' : undefined
}

/** Checks that the scope still has the cap that the plan saw. A result means that nothing is written. */
async function recheck(change: Change, run: WaveRun): Promise<WriteResult | undefined> {
  const known = run.readings.get(scopeKey(change.scope))
  const isFresh = known?.readMs !== undefined && run.clock.monotonic() - known.readMs < FRESH_MS
  const reading = isFresh ? known : await run.workspace.client.readCap(change.scope, run.options.stop, 'urgent')
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

function recordIntent(change: Change, run: WaveRun): Promise<Intent> {
  const { plan, differences, desired } = run.planned
  const key = scopeKey(change.scope)
  const base = desired.get(key)?.base
  const { disposition: _, released: __, ...written } = change
  return run.workspace.ledger.recordIntent({
    at: run.clock.now(),
    planId: plan.id,
    change: written,
    entry: differences.get(key)?.entry ?? UNDECLARED,
    base,
    digest: plan.policyDigest,
    revision: plan.revision,
  })
}

/** `unsent`: it was never sent, and may begin again. */
async function send(change: Change, intent: Intent, run: WaveRun, isPatient: boolean): Promise<WriteResult | 'unsent' | undefined> {
  let isAccepted = false
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await beforeDeadline(run, isPatient, (deadline) =>
      run.workspace.client.writeCap(change.scope, change.to, run.options.cut, deadline),
    )
    if (outcome.kind === 'late' && attempt === 1) {
      await run.ledger.recordOutcome(intent, undefined, 'kept')
      return 'unsent'
    }
    const isRefused = outcome.kind === 'refused'
    if (isRefused) noteRefusal(outcome.failure, run)
    // The refusal of a later attempt does not tell whether an earlier one, whose answer was lost, has landed.
    if (isRefused && attempt === 1) return refused(intent, outcome.failure, run)
    if (run.options.leaving?.()) {
      run.halted = { interrupted: 'stopped', ...run.halted }
      return undefined
    }
    const kind: Answer = outcome.kind !== 'accepted' ? 'lost' : isAccepted ? 'repeated' : 'accepted'
    const reading = await readBack(change, run)
    keepReading(run.readings, reading)
    const verdict = await verdictOf(change, reading, kind, run)
    isAccepted = kind !== 'lost'
    const isUnexplained = (verdict === 'unmoved' || verdict === 'foreign') && kind === 'accepted' && mayComeFromGroup(change, run)
    const isOpen = verdict === 'notLanded' || isUnexplained
    if (isOpen && !isRefused && attempt < WRITE_ATTEMPTS && !(await whyNotStart(run))) continue
    const why = outcome.kind === 'accepted' ? '' : `${WRITE_ATTEMPTS} times sent at most: ${outcome.failure.message}`
    const result = await conclude(intent, reading, { kind, why, isRetried: attempt > 1 }, run)
    if (isRefused && verdict === 'notLanded') return blamed(result, outcome.failure, intent, run)
    return reading.failure ? { ...result, ...blameOf(reading.failure.kind) } : result
  }
}

/** Runs `work` with a signal that aborts once nothing may be written any more or, without patience, once the reading is old. */
async function beforeDeadline<Value>(run: WaveRun, isPatient: boolean, work: (deadline: AbortSignal) => Promise<Value>): Promise<Value> {
  const { clock, options } = run
  const [deadline, over] = [new AbortController(), new AbortController()]
  using ended = new DisposableStack()
  ended.defer(() => over.abort())
  const watch = async (): Promise<void> => {
    do await clock.sleep(FRESH_MS, over.signal)
    while (isPatient && !(await whyNotStart(run)))
  }
  // A ledger that cannot be read ends the wait as well; it is asked again before the write, and fails there.
  const end = (): void => deadline.abort(new Error('its turn did not come in time'))
  watch().then(end, () => (over.signal.aborted ? undefined : end()))
  return await work(options.stop ? AbortSignal.any([options.stop, deadline.signal]) : deadline.signal)
}

/** Reads the cap back. A reading of the old value may be stale and is repeated once. A number after a clear may be inherited, so the ancestors are read too. */
async function readBack(change: Change, run: WaveRun): Promise<CapReading> {
  const read = async (): Promise<CapReading> => {
    const reading = await run.workspace.client.readCap(change.scope, run.options.cut, 'urgent')
    if (change.to === 'none' && typeof reading.observed === 'number') await readAncestors(reading, run)
    return reading
  }
  const reading = await read()
  if (reading.observed !== change.from) return reading
  await run.clock.sleep(STALE_MS, run.options.cut)
  return read()
}

/** Reads the ancestors again, unless the known ones explain the value already; those that this plan writes are left out. */
async function readAncestors({ scope, observed }: CapReading, run: WaveRun): Promise<void> {
  const { slots, planned, readings } = run
  const key = scopeKey(scope)
  if (slots.model.reads === 'explicit' || slots.mayApply(key, observed)) return
  const scopes = ancestorsOf(key, planned.people).flatMap((one) => (planned.differences.has(one) ? [] : (readings.get(one)?.scope ?? [])))
  await sweep({ client: run.workspace.client, scopes, concurrency: 1, readings, urgency: 'urgent', signal: run.options.cut })
}

/** After a clear, the value may be inherited from a group that no policy names, or be another client's: only a second clear tells. */
const mayComeFromGroup = ({ scope, to }: Change, { slots }: WaveRun): boolean =>
  to === 'none' && scope.kind === 'user' && slots.model.reads !== 'explicit'

/** A refused key, and a request that could not leave, halt all writes. */
function noteRefusal({ kind, message, unsent, lacksFeature }: WriteFailure, run: WaveRun): void {
  if (unsent || kind === 'auth') {
    run.halted = { interrupted: 'refused', refusal: message, isKey: kind === 'auth' && !lacksFeature, ...run.halted }
  }
}

/** Records a write that had no effect; one that was never sent leaves no line of history. */
async function refused(intent: Intent, failure: WriteFailure, run: WaveRun): Promise<WriteResult | undefined> {
  if (failure.unsent) {
    await run.ledger.recordOutcome(intent, undefined, 'kept')
    return undefined
  }
  const ended = { result: 'failed', error: failure.message } as const
  await run.ledger.recordOutcome(intent, historyEntry(intent, ended, run.clock.now()), 'kept')
  return blamed(ended, failure, intent, run)
}

/** Notes what a refusal says of the scope, which may be quarantined for it. */
function blamed(result: WriteResult, { kind, message }: WriteFailure, intent: Intent, run: WaveRun): WriteResult {
  if (kind === 'invalid' && intent.change.to === 0) noteZero('rejected', `is refused: ${message}`, intent.change, run)
  const { blame } = blameOf(kind)
  // Whether the service knows the scope is for the next reading to say.
  if (blame === 'scope') run.refusals.push(quarantined(intent, 'CAP_REFUSED', message, run))
  return { ...result, ...(blame && { blame }) }
}

function blameOf(kind: ApiErrorKind): Pick<WriteResult, 'blame'> {
  if (kind === 'auth') return { blame: 'key' }
  return { blame: kind === 'invalid' || kind === 'not_found' ? 'scope' : 'service' }
}

/** Writes the waves of `run.planned`. Returns the changes that were tried. */
export async function writeWaves(run: WaveRun): Promise<readonly Change[]> {
  const { planned } = run
  const tried: Change[] = []
  const start = startOf(planned)
  // Each wave takes at least one change out.
  for (;;) {
    const wave = waveOf(planned, new Set(tried.map(({ scope }) => scopeKey(scope))), start, run)
    if (wave.length === 0 || run.halted.interrupted) return tried
    tried.push(...(await writeSideBySide(run, wave)))
    if (run.halted.interrupted || run.isOutdated) return tried
    if (wave.some(({ scope }) => scope.kind !== 'user') && (await run.afterAncestors(wave))) return tried
    // A 0 that was not kept has left the scope without its cap: restoring that comes first.
    if (wave.some(({ scope }) => run.results.get(scopeKey(scope))?.isDropped)) return tried
  }
}

/** The slots as they were before the first wave; later readings show the writes since. */
function startOf(planned: Planned): PlanStart {
  const inputs = waveInputs(planned)
  const before = new Map(planned.pending.map(({ key }) => [key, { cap: inputs.caps(key), isOpen: inputs.mayBeInherited(key) }]))
  return {
    ...planStart({ ...inputs, pending: planned.pending }),
    caps: (key) => before.get(key)?.cap ?? inputs.caps(key),
    mayBeInherited: (key) => before.get(key)?.isOpen ?? inputs.mayBeInherited(key),
  }
}

/** The changes that may be written now, by the present readings. */
function waveOf(planned: Planned, tried: ReadonlySet<ScopeKey>, start: PlanStart, run: WaveRun): readonly Change[] {
  const ready = planned.plan.changes.filter((one) => isReady(one) && !tried.has(scopeKey(one.scope)))
  if (ready.length === 0) return []
  const shown = waveInputs(planned)
  // A scope that was just cleared has nothing set: what it shows is inherited, and goes with its ancestor.
  const cleared = new Set(
    planned.plan.changes.flatMap(({ scope, to }) => (to === 'none' && hasLanded(run, scopeKey(scope)) ? [scopeKey(scope)] : [])),
  )
  const inputs = { ...shown, caps: (key: ScopeKey) => (cleared.has(key) ? 'none' : shown.caps(key)) }
  // A cap that was just written is certain. A cap that may be inherited changes with its ancestor, and was perhaps read before that.
  const mayBeInherited = (key: ScopeKey): boolean => !hasLanded(run, key) && (inputs.mayBeInherited(key) || start.mayBeInherited(key))
  const isThere = (key: ScopeKey, to: unknown): boolean => planned.slots.shown(key) === to && !mayBeInherited(key)
  const pending = planned.pending.filter(({ key, to }) => !(tried.has(key) && (isThere(key, to) || hasLanded(run, key))))
  for (const group of run.watch.inOrder(ready)) {
    const changes = byScope(group)
    const wave = nextWave({ ...inputs, mayBeInherited, ready: planned.pending.filter(({ key }) => changes.has(key)), pending, start })
    if (wave.changes.length > 0) return wave.changes.flatMap(({ key }) => changes.get(key) ?? [])
  }
  return []
}

/** Also true of a clear after which the inherited value shows. */
const hasLanded = ({ results }: WaveRun, key: ScopeKey): boolean => results.get(key)?.result === 'applied'

/** The changes of one wave touch different scopes of one kind in one direction, so they may be written side by side. Returns those that were tried. */
async function writeSideBySide(run: WaveRun, changes: readonly Change[]): Promise<readonly Change[]> {
  const pending = changes.values()
  const tried: Change[] = []
  const work = async (isOver: () => boolean): Promise<void> => {
    for (const change of pending) {
      if (run.halted.interrupted || run.isOutdated) return
      tried.push(change)
      const result = await writeChange(change, run)
      if (!result) return
      run.results.set(scopeKey(change.scope), joined(run.results.get(scopeKey(change.scope)), change, result))
      showResult(run.workspace, change, result)
      noteEnd(run, change, result)
      run.isOutdated ||= result.foreign !== undefined && run.entryAt(scopeKey(change.scope))?.kind === 'pool'
      if (isOver()) return
    }
  }
  if (run.watch.isProbing()) await work(() => !run.watch.isProbing())
  const workers = Array.from({ length: Math.min(run.workspace.config.rate.concurrency, changes.length) }, () => work(() => false))
  const ends = await Promise.allSettled(workers)
  // An error is thrown only once nothing is in flight any more.
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return tried
}

/** A dropped 0 stays failed, also when the cap that it had replaced could be restored. */
function joined(before: WriteResult | undefined, { to }: Change, result: WriteResult): WriteResult {
  if (!before?.isDropped) return result
  const end =
    result.result === 'applied' ? `the ${to} that stood there was written back` : `${to} could not be written back: ${result.error}`
  return { ...before, error: `${before.error}; ${end}` }
}

function noteEnd(run: WaveRun, { scope }: Change, { result, blame, error }: WriteResult): void {
  const end = result === 'applied' ? 'done' : blame
  const isOver = run.watch.note(scopeKey(scope), end, error)
  if (isOver) run.halted = { interrupted: 'breaker', ...run.halted }
}
