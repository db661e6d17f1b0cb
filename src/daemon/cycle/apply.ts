// Carries out a plan: phase by phase in the order that leaves nobody worse off on the way, each change re-read, recorded as an intent,
// written, read back and recorded again. It decides nothing: what is held, unknown or changed since stays untouched, and what would take
// something away before an earlier write has given its part waits for the next cycle (`waiting.ts`).

import type { People } from '../../core/interpret/effective.ts'
import { layeringSighting, type Sighting } from '../../core/interpret/seen.ts'
import type { BreakerLimit, Change, ChangeResult, Quarantined } from '../../core/model/change.ts'
import type { CapReading, Observed } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { mayInherit } from '../../core/plan/impact.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { writeOrder } from '../../core/plan/plan.ts'
import type { Clock, Ledger, WriteClient } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import { type BreakerWatch, watchWrites } from './breaker.ts'
import { rememberLooks } from './looks.ts'
import { sweep } from './read.ts'
import { noteSeen } from './seen.ts'
import { copyingEvidence, inheritanceEvidence } from './semantics.ts'
import { missingOf, waitsFor } from './waiting.ts'
import { writeChange } from './write.ts'

export interface ApplyInputs {
  readonly workspace: string
  readonly planned: Planned
  /** Only these scopes are written; absent: all. */
  readonly only?: ReadonlySet<ScopeKey>
  readonly client: WriteClient
  readonly ledger: Ledger
  readonly clock: Clock
  readonly concurrency: number
  readonly capSemantics: 'layered' | 'copied'
  /** Updated with everything that is read on the way. */
  readonly readings: Map<ScopeKey, CapReading>
  /** The declared scopes under a team or group. */
  readonly beneath: (scope: Scope) => readonly Scope[]
  /** What a scope shows when nothing is set at it, on services whose reads show what applies. */
  readonly wider: (key: ScopeKey) => Observed
  readonly people: People
  readonly breaker: BreakerLimit | 'off'
  /** A foreign change that is told and never healed; guards have counted on it to stay. */
  readonly isWatched: (change: Change) => boolean
  /** Aborts when no further change may start; the change under way still finishes. */
  readonly stop?: AbortSignal
  /** Aborts when even a write in flight has had its time; its intent stays. */
  readonly cut?: AbortSignal
  /** The process is going down: what was written is not read back any more, the intent stays for the next start. */
  readonly leaving?: () => boolean
  readonly onResult?: (change: Change, result: WriteResult) => void
}

/** `skipped`: nothing was written, because the scope had changed since it was read, or is already as asked. */
export interface WriteResult {
  readonly result: ChangeResult | 'skipped'
  readonly error?: string
  /** Whom a failure speaks of: the service or the way to it, or perhaps only the scope. Absent: somebody else, or the key. */
  readonly blame?: 'service' | 'scope'
  /** A value that is neither what was there nor what was written. */
  readonly foreign?: Observed
  /** It failed, and yet something was written: a 0 that is not kept. */
  readonly landed?: true
}

export interface ApplyReport {
  readonly results: ReadonlyMap<ScopeKey, WriteResult>
  /** Why changes were left out: a stop, a pause, a ledger that cannot record, a key or a service that takes no write at all, or the breaker. */
  readonly interrupted?: 'stopped' | 'paused' | 'ledger' | 'refused' | 'breaker'
  /** The ledger's own words when it cannot record. */
  readonly fatal?: string
  /** Why no write is taken. */
  readonly refusal?: string
  /** How copying was seen. */
  readonly copyingSeen?: string
  /** Team and group scopes written on a service that copies: what is beneath must be looked at again before anything else is written. */
  readonly overwrote: readonly Scope[]
  /** Changes left for the next cycle, each with the scope whose write it counts on. */
  readonly waiting: ReadonlyMap<ScopeKey, ScopeKey>
}

/** What the workers of one run share. */
export interface ApplyRun extends ApplyInputs {
  readonly results: Map<ScopeKey, WriteResult>
  readonly waiting: Map<ScopeKey, ScopeKey>
  /** Refusals that may be about one scope only; judged together at the end. */
  readonly refusals: Quarantined[]
  readonly watch: BreakerWatch
  halted: Pick<ApplyReport, 'interrupted' | 'fatal' | 'refusal'>
}

/** Writes every change that no guard holds. Resolves also when it was stopped half-way; the report says so. */
export async function applyPlan(inputs: ApplyInputs): Promise<ApplyReport> {
  const watch = watchWrites({
    ...inputs,
    limit: inputs.breaker,
    planned: inputs.planned.plan.changes.filter((one) => mayGo(one, inputs)).length,
  })
  const run: ApplyRun = { ...inputs, results: new Map(), waiting: new Map(), refusals: [], watch, halted: {} }
  let copyingSeen: string | undefined
  const isDoubtful = mayInherit(inputs.people, (key) => inputs.readings.get(key)?.observed)
  const isUnset = ({ scope }: Change): boolean => isDoubtful(scopeKey(scope))
  for (const phase of writeOrder(inputs.planned.plan.changes, inputs.capSemantics, isUnset)) {
    const wanted = phase.filter((one) => mayGo(one, inputs))
    const changes = inputs.capSemantics === 'layered' ? withoutWaiting(run, wanted) : wanted
    // The plan for people was made before our wide writes were copied over them; the caller looks again and goes on with a new one.
    if (inputs.capSemantics === 'copied' && changes[0]?.scope.kind === 'user' && overwritten(run).length > 0) break
    const strike =
      inputs.capSemantics === 'layered' ? rememberLooks(changes, run.beneath, run.readings, run.ledger, run.clock.now()) : undefined
    await writePhase(run, changes)
    if (run.halted.interrupted) break
    if (inputs.capSemantics === 'layered') copyingSeen = await lookBeneath(run, changes)
    if (!run.halted.interrupted) strike?.()
    // Going on would overwrite more people's own caps before anybody could look.
    if (copyingSeen) break
  }
  watch.finish(quarantine(run))
  const overwrote = inputs.capSemantics === 'copied' ? overwritten(run) : []
  return { results: run.results, ...run.halted, ...(copyingSeen !== undefined && { copyingSeen }), overwrote, waiting: run.waiting }
}

const mayGo = ({ hold, scope }: Change, { only }: ApplyInputs): boolean => hold === undefined && only?.has(scopeKey(scope)) !== false

/** So many refusals of one kind, and more than half of what was tried, have a shared cause (choice). */
const SHARED_REFUSALS = 3

/**
 * Leaves the refused scopes alone for a day, unless the refusals speak about something else: an address or a service that turns most writes
 * down says nothing about scopes: then it returns true. The team is always tried again: a day without its cap is too long.
 */
function quarantine({ refusals, results, ledger }: ApplyRun): boolean {
  const tried = [...results.values()].filter(({ result }) => result !== 'skipped').length
  if (refusals.length >= SHARED_REFUSALS && refusals.length * 2 > tried) return true
  for (const one of refusals) if (one.scope.kind !== 'team') ledger.saveQuarantined(one)
  return false
}

/** Asked anew before every phase: what an earlier one has brought about need not be waited for. */
function withoutWaiting(run: ApplyRun, changes: readonly Change[]): readonly Change[] {
  const missing = missingOf(run)
  return changes.filter((change) => {
    const awaited = waitsFor(change, missing, run.people)
    if (awaited) run.waiting.set(scopeKey(change.scope), awaited.key)
    return !awaited
  })
}

/** The wide scopes whose write may have landed. */
function overwritten(run: ApplyRun): readonly Scope[] {
  const wide = run.planned.plan.changes.filter((one) => one.scope.kind !== 'user').map((one) => one.scope)
  return wide.filter((scope) => {
    const { result, landed } = run.results.get(scopeKey(scope)) ?? {}
    return result !== undefined && result !== 'skipped' && (result !== 'failed' || landed === true)
  })
}

/** Changes of one phase touch different scopes of one kind in one direction, so they may go side by side. */
async function writePhase(run: ApplyRun, changes: readonly Change[]): Promise<void> {
  const pending = run.watch.inOrder(changes).values()
  const work = async (isOver: () => boolean): Promise<void> => {
    for (const change of pending) {
      const interrupted = mayNotStart(run)
      if (interrupted) {
        run.halted = { interrupted, ...run.halted }
        return
      }
      const result = await writeChange(change, run)
      if (!result) return
      run.results.set(scopeKey(change.scope), result)
      run.onResult?.(change, result)
      noteEnd(run, change, result)
      if (isOver()) return
    }
  }
  if (run.watch.isProbing()) await work(() => !run.watch.isProbing())
  const workers = Array.from({ length: Math.min(run.concurrency, changes.length) }, () => work(() => false))
  const ends = await Promise.allSettled(workers)
  // Only once nothing is in flight any more.
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** A ledger that cannot keep when to try again stops the run as well. */
function noteEnd(run: ApplyRun, { scope }: Change, { result, blame, error }: WriteResult): void {
  const end = result === 'applied' ? 'done' : blame
  try {
    const isOver = run.watch.note({ key: scopeKey(scope), end, ...(error !== undefined && { error }) })
    if (isOver) run.halted = { interrupted: 'breaker', ...run.halted }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    run.halted = { interrupted: 'ledger', fatal: error.message }
  }
}

function mayNotStart(run: ApplyRun): ApplyReport['interrupted'] {
  if (run.halted.interrupted) return run.halted.interrupted
  if (run.stop?.aborted) return 'stopped'
  try {
    return run.ledger.pause(run.clock.now()) ? 'paused' : undefined
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    run.halted = { interrupted: 'ledger', fatal: error.message }
    return 'ledger'
  }
}

/**
 * After team or group writes, the declared scopes beneath are read again, each once: a change without us means that the service copies.
 * Writes of one phase are of one kind, so what is beneath two groups is read after both.
 */
async function lookBeneath(run: ApplyRun, changes: readonly Change[]): Promise<string | undefined> {
  const beneath = new Map<ScopeKey, { readonly scope: Scope; readonly was: CapReading | undefined; readonly wide: Change[] }>()
  for (const change of changes) {
    if (change.scope.kind === 'user' || run.results.get(scopeKey(change.scope))?.result !== 'applied') continue
    for (const scope of run.beneath(change.scope)) {
      const key = scopeKey(scope)
      const known = beneath.get(key)
      if (known) known.wide.push(change)
      else beneath.set(key, { scope, was: run.readings.get(key), wide: [change] })
    }
  }
  await lookAgain(
    run,
    [...beneath.values()].map(({ scope }) => scope),
  )
  let layers: Sighting | undefined
  for (const [key, { was, wide }] of beneath) {
    const is = run.readings.get(key)
    if (!was || !is) continue
    // What showed the old value of one group may show the new one of another.
    const isOwn = !wide.some(({ from }) => from === was.observed)
    for (const change of wide) {
      const evidence = isOwn ? copyingEvidence(change, was, is) : undefined
      if (evidence) return evidence
      noteInheritance(run, change, was, is)
      // A reading from before the write, kept because the look was cut short, proves nothing.
      if (isOwn && is !== was) layers ??= layeringSighting(change, was, is)
    }
  }
  if (layers) noteSeen(run.ledger, [layers], run.clock)
  return undefined
}

/** A stop in between halts the run. */
async function lookAgain(run: ApplyRun, scopes: readonly Scope[]): Promise<void> {
  const { client, concurrency, readings, stop } = run
  try {
    await sweep({ client, scopes, concurrency, readings, urgent: true, ...(stop && { signal: stop }) })
  } catch (error) {
    if (!stop?.aborted) throw error
    run.halted = { interrupted: 'stopped', ...run.halted }
  }
}

function noteInheritance(run: ApplyRun, wide: Change, was: CapReading, is: CapReading): void {
  const evidence = inheritanceEvidence(wide, was, is)
  if (evidence === undefined || run.ledger.fact('inheritedReadsSeen')) return
  run.ledger.saveFact('inheritedReadsSeen', { at: run.clock.now(), evidence })
}
