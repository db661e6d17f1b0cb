// Carries plans out in passes: after the writes of a pass, everything that they may have changed is read again and planned again, until
// nothing is ready (docs/operations.md). It orders the steps and decides nothing about caps.

import { type Change, isReady } from '../../core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { MOST_PASSES } from '../../core/model/units.ts'
import { mayHaveLanded } from '../../core/plan/outcome.ts'
import type { Failure } from '../../core/plan/snapshot.ts'
import { entriesOf } from '../../core/plan/states.ts'
import { LedgerError } from '../ledger/error.ts'
import type { CycleRun, Halted, Pass, PassReport } from './options.ts'
import { beginPlan, endPlan } from './record.ts'
import { grantsFrozen, type WorkspaceState } from './state.ts'
import { watchWrites } from './write/breaker.ts'
import { type AncestorWrite, checkDescendants, descendantReadings, forgetMoved, readMoved } from './write/descendants.ts'
import type { WriteResult } from './write/outcome.ts'
import { type WaveRun, writeWaves } from './write/writes.ts'

interface PassInputs extends CycleRun {
  readonly first: Pass
  /** Makes the next plan without what failed in this run; `alsoRead`: scopes that were read again beyond those of a focused cycle. */
  readonly replan: (failed: ReadonlyMap<ScopeKey, Failure>, alsoRead: ReadonlySet<ScopeKey>) => Pass
}

/** Writes what is ready, pass after pass. Rejects with a `LedgerError`, or when `stop` aborts while scopes are read again. */
export async function runPasses(inputs: PassInputs): Promise<PassReport> {
  const { workspace, first, options, replan } = inputs
  const isFresh = workspace.ledger.fact('planBaseline') === undefined
  const results = new Map<ScopeKey, WriteResult>()
  const tried = new Map<ScopeKey, Change>()
  const earlier: PassReport['earlier'][number][] = []
  // The last write of each scope, also one that restores the cap that a 0 had replaced: it is not written again after it failed.
  const last = new Map<ScopeKey, Change>()
  const alsoRead = new Set<ScopeKey>()
  let pass = first
  let halted: Halted = {}
  for (let number = 1; number <= MOST_PASSES && pass.planned.plan.changes.some(isReady); number += 1) {
    const before = new Map(results)
    const wrote = await runPass(pass, inputs, results)
    halted = wrote.halted
    for (const change of wrote.tried) {
      const key = scopeKey(change.scope)
      const [previous, result] = [tried.get(key), before.get(key)]
      if (previous && result?.result === 'applied' && previous.to !== change.to) earlier.push({ change: previous, result })
      // A failure stays the one that is reported, also when the cap that it had replaced was restored since.
      if (!previous || results.get(key)?.result !== 'failed') {
        // The map keeps the order of writing.
        tried.delete(key)
        tried.set(key, change)
      }
      last.set(key, change)
    }
    const cycle = { ...inputs, desired: pass.desired }
    if (halted.interrupted !== undefined) forgetMoved(wrote.ancestors, cycle)
    else {
      for (const key of await readMoved(wrote.ancestors, cycle)) {
        alsoRead.add(key)
        // Our own team or group write has overwritten it: the next pass restores it.
        if (wrote.isCopied && results.get(key)?.result === 'applied') {
          tried.delete(key)
          last.delete(key)
        }
      }
    }
    pass = replan(failuresOf(results, last), alsoRead)
    if (halted.interrupted !== undefined || wrote.tried.length === 0) break
  }
  // A focused cycle must not end a plan that was interrupted before it. Holds and unread scopes are still to come.
  const { holds, unknown } = pass.planned.plan
  const isComplete = holds.length === 0 && unknown.length === 0 && halted.interrupted === undefined
  if (isComplete && (isFresh || !options.focus)) endPlan(workspace.ledger)
  return { results, earlier, tried, alsoRead, last: pass, ...halted }
}

/** Writes the waves of one plan. Returns what was tried, the team and group writes that may have landed, and whether these were seen to overwrite caps. */
async function runPass(pass: Pass, inputs: PassInputs, results: Map<ScopeKey, WriteResult>) {
  const { workspace, state, options } = inputs
  const { client, config, ledger, clock } = workspace
  const { planned, desired } = pass
  const cycle = { ...inputs, desired }
  const ready = planned.plan.changes.filter(isReady)
  const copying = config.capSemantics === 'copied' ? ready.filter(({ scope }) => scope.kind !== 'user') : []
  const overwritten = copying.flatMap(({ scope }) => descendantReadings(scope, cycle))
  beginPlan(ready, overwritten, planned, ledger)
  const done = [...results.values()].filter(({ result }) => result === 'applied').length
  const watch = watchWrites(inputs, ready, done)
  const ancestors: AncestorWrite[] = []
  let isCopied = false
  const { slots, desired: asked, owned } = planned
  const run: WaveRun = {
    ...{ workspace, ledger, clock, planned, slots, desired: asked, owned },
    entryAt: entriesOf(desired.resolution),
    readings: state.readings,
    results,
    refusals: [],
    halted: {},
    areClocksApart: () => grantsFrozen(client) && !desired.inputs.grantsFrozen,
    watch,
    options,
    async afterAncestors(changes) {
      const moved = changes.filter((change) => hasMoved(change, results, state))
      const writes = moved.map((change): AncestorWrite => ({ change, before: descendantReadings(change.scope, cycle), at: clock.now() }))
      ancestors.push(...writes)
      if (writes.length === 0) return false
      const sent = writes.filter(({ change }) => hasLanded(change, results))
      if (await checkDescendants(sent, cycle)) isCopied = true
      // No later reading would tell how caps are kept here.
      await ledger.commit()
      // Where caps are copied, the plan for the descendants was made before they were overwritten.
      return isCopied || config.capSemantics === 'copied'
    },
  }
  const tried = await tryWaves(run, options.stop)
  // Refusals that speak of scopes, and not of the service, quarantine these scopes for a day.
  if (watch.finish()) for (const one of run.refusals) ledger.saveQuarantined(one)
  await commit(run)
  return { tried, ancestors, isCopied, halted: run.halted }
}

const hasLanded = ({ scope }: Pick<Change, 'scope'>, results: PassReport['results']): boolean =>
  mayHaveLanded(results.get(scopeKey(scope)) ?? { result: 'skipped' })

/** The cap was changed by a write of this pass, or the reading before the write found it changed: by a late write, or by another client. */
function hasMoved(change: Change, results: PassReport['results'], { readings }: WorkspaceState): boolean {
  const { observed = 'unknown' } = readings.get(scopeKey(change.scope)) ?? {}
  return hasLanded(change, results) || (observed !== 'unknown' && observed !== change.from)
}

/** A ledger that cannot record how writes ended halts the run. */
async function commit(run: WaveRun): Promise<void> {
  try {
    await run.workspace.ledger.commit()
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    run.halted = { interrupted: 'ledger', fatal: error.message }
  }
}

/** A stop while scopes are read again halts the run; the writes so far are still reported. */
async function tryWaves(run: WaveRun, stop: AbortSignal | undefined): Promise<readonly Change[]> {
  const before = new Map(run.results)
  try {
    return await writeWaves(run)
  } catch (error) {
    if (!stop?.aborted) throw error
    run.halted = { interrupted: 'stopped', ...run.halted }
    return run.planned.plan.changes.filter(({ scope }) => run.results.get(scopeKey(scope)) !== before.get(scopeKey(scope)))
  }
}

/** What this run does not write again. A write that was skipped, because its scope had changed since the plan, may be tried again. */
function failuresOf(results: ReadonlyMap<ScopeKey, WriteResult>, last: ReadonlyMap<ScopeKey, Change>): ReadonlyMap<ScopeKey, Failure> {
  return new Map(
    [...results].flatMap(([key, { error, result }]) => {
      const change = result === 'skipped' ? undefined : last.get(key)
      const reason = error ?? (result === 'applied' ? 'it was written already, and does not show' : result)
      return change ? [[key, { to: change.to, reason }] as const] : []
    }),
  )
}
