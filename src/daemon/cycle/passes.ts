// Carries plans out in passes: after the writes of a pass, everything that they could have changed is read again and planned again, until
// nothing is left that may be written (product.md, section 6). It puts steps in order and decides nothing about caps.
import { type Change, isReady, mayHaveLanded } from '../../core/model/change.ts'
import { MOST_PASSES } from '../../core/model/limits.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Failure } from '../../core/plan/dispositions.ts'
import { entriesOf } from '../../core/plan/states.ts'
import { showResult } from '../conditions/show.ts'
import { LedgerError } from '../ledger/error.ts'
import type { Workspace } from '../workspace.ts'
import type { CycleOptions } from './options.ts'
import type { Pass, PassReport } from './pass.ts'
import { beginPlan, endPlan } from './record.ts'
import type { WorkspaceState } from './state.ts'
import type { AncestorWrite } from './write/ancestor-write.ts'
import { watchWrites } from './write/breaker.ts'
import type { Halted } from './write/change.ts'
import { type CycleView, checkDescendants, descendantReadings, forgetMoved, readMoved } from './write/descendants.ts'
import type { WriteResult } from './write/outcome.ts'
import { type WaveRun, writeWaves } from './write/write.ts'

export interface PassInputs {
  readonly workspace: Workspace
  readonly state: WorkspaceState
  readonly first: Pass
  readonly options: CycleOptions
  /** Makes the next plan, without what failed in this run; `alsoRead`: scopes that were read again beyond those of a focused cycle. */
  readonly replan: (failed: ReadonlyMap<ScopeKey, Failure>, alsoRead: ReadonlySet<ScopeKey>) => Promise<Pass>
}

/** Writes what may be written, pass after pass. Rejects with a `LedgerError`, or when `stop` aborts while it reads again. */
export async function runPasses(inputs: PassInputs): Promise<PassReport> {
  const { workspace, first, options, replan } = inputs
  const isFresh = workspace.ledger.fact('planBaseline') === undefined
  const results = new Map<ScopeKey, WriteResult>()
  const tried = new Map<ScopeKey, Change>()
  const earlier: PassReport['earlier'][number][] = []
  // What was written last, be it what is asked for or what a 0 had replaced: that is not written again when it failed.
  const last = new Map<ScopeKey, Change>()
  const alsoRead = new Set<ScopeKey>()
  let pass = first
  let halted: Halted = {}
  for (let number = 1; number <= MOST_PASSES && pass.planned.plan.changes.some(isReady); number += 1) {
    const before = new Map(results)
    const wrote = await runPass(pass, inputs, results)
    halted = wrote.halted
    for (const change of wrote.tried) {
      const [was, result] = [tried.get(scopeKey(change.scope)), before.get(scopeKey(change.scope))]
      if (was && result?.result === 'applied' && was.to !== change.to) earlier.push({ change: was, result })
      if (!isFailed(results, tried, change)) {
        // The order of writing is that of the map.
        tried.delete(scopeKey(change.scope))
        tried.set(scopeKey(change.scope), change)
      }
      last.set(scopeKey(change.scope), change)
    }
    if (halted.interrupted !== undefined) forgetMoved(wrote.wide, cycleView(pass, inputs))
    else {
      for (const key of await readMoved(wrote.wide, cycleView(pass, inputs))) {
        alsoRead.add(key)
        // It was written, and then overwritten by ourselves: the next pass puts it back.
        if (wrote.isCopied && results.get(key)?.result === 'applied') {
          tried.delete(key)
          last.delete(key)
        }
      }
    }
    pass = await replan(failuresOf(results, last), alsoRead)
    if (halted.interrupted !== undefined || wrote.tried.length === 0) break
  }
  // A look at a few scopes must not end a plan that was interrupted before. What is held or unread is still to come.
  const { holds, unknown } = pass.planned.plan
  const isThrough = holds.length === 0 && unknown.length === 0 && halted.interrupted === undefined
  if (isThrough && (isFresh || !options.focus)) endPlan(workspace.ledger)
  return { results, earlier, tried, alsoRead, last: pass, ...halted }
}

const cycleView = ({ view }: Pass, { workspace, state, options }: PassInputs): CycleView => ({
  workspace,
  state,
  view,
  ...(options.stop && { stop: options.stop }),
})

interface Wrote {
  readonly tried: readonly Change[]
  readonly wide: readonly AncestorWrite[]
  /** A wide write was seen to overwrite what stands beneath it. */
  readonly isCopied: boolean
  readonly halted: Halted
}

async function runPass(pass: Pass, inputs: PassInputs, results: Map<ScopeKey, WriteResult>): Promise<Wrote> {
  const { workspace, state, options } = inputs
  const { config, ledger, clock } = workspace
  const { planned, view } = pass
  const ready = planned.plan.changes.filter(isReady)
  const wide = config.capSemantics === 'copied' ? ready.filter(({ scope }) => scope.kind !== 'user') : []
  beginPlan(
    ready,
    wide.flatMap(({ scope }) => descendantReadings(scope, { view, state })),
    planned,
    ledger,
  )
  const done = [...results.values()].filter(({ result }) => result === 'applied').length
  const watch = watchWrites({ ledger, clock, limit: config.guards.breaker, changes: ready, done })
  const looked: AncestorWrite[] = []
  let isCopied = false
  const run: WaveRun = {
    client: workspace.client,
    ledger,
    clock,
    planned,
    slots: planned.slots,
    desiredAt: (key) => planned.desired.get(key),
    ownedAt: (key) => planned.owned.get(key),
    entryAt: entriesOf(view.resolution),
    readings: state.readings,
    results,
    refusals: [],
    halted: {},
    concurrency: config.rate.concurrency,
    watch,
    ...(options.stop && { stop: options.stop }),
    ...(options.cut && { cut: options.cut }),
    ...(options.leaving && { leaving: options.leaving }),
    onResult: (change, result) => showResult(workspace, change, result),
    async afterAncestors(changes) {
      const moved = changes.filter((change) => hasMoved(change, results, state))
      const writes = moved.map(
        (change): AncestorWrite => ({ change, before: descendantReadings(change.scope, { view, state }), at: clock.now() }),
      )
      looked.push(...writes)
      if (writes.length === 0) return false
      const sent = writes.filter(({ change }) => hasLanded(change, results))
      if (await checkDescendants(sent, cycleView(pass, inputs))) isCopied = true
      // Nothing but these readings tells how caps are kept here.
      await ledger.commit()
      // Where caps are copied the plan for the people beneath was made before they were overwritten.
      return isCopied || config.capSemantics === 'copied'
    },
  }
  const tried = await tryWaves(run, options.stop)
  // Whom the service has refused is left alone for a day.
  if (watch.finish()) for (const one of run.refusals) ledger.saveQuarantined(one)
  await keep(run)
  return { tried, wide: looked, isCopied, halted: run.halted }
}

const hasLanded = ({ scope }: Pick<Change, 'scope'>, results: PassReport['results']): boolean =>
  mayHaveLanded(results.get(scopeKey(scope)) ?? { result: 'skipped' })

/** By a write of this pass, or by what the look before it found: an earlier write that landed late, or somebody else's. */
function hasMoved(change: Change, results: PassReport['results'], { readings }: WorkspaceState): boolean {
  const { observed = 'unknown' } = readings.get(scopeKey(change.scope)) ?? {}
  return hasLanded(change, results) || (observed !== 'unknown' && observed !== change.from)
}

/** What follows from how writes ended is kept; a ledger that cannot keep it stops the run. */
async function keep(run: WaveRun): Promise<void> {
  try {
    await run.ledger.commit()
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    run.halted = { interrupted: 'ledger', fatal: error.message }
  }
}

/** A stop while scopes are read again halts the run; what was written is recorded. */
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

/** What failed stays what was tried, though the cap that it had replaced was written back since. */
const isFailed = (results: PassReport['results'], tried: PassReport['tried'], { scope }: Change): boolean =>
  tried.has(scopeKey(scope)) && results.get(scopeKey(scope))?.result === 'failed'

/** What is not written again by this run. A scope that had merely changed since it was planned is. */
function failuresOf(results: ReadonlyMap<ScopeKey, WriteResult>, last: ReadonlyMap<ScopeKey, Change>): ReadonlyMap<ScopeKey, Failure> {
  return new Map(
    [...results].flatMap(([key, { error, result }]) => {
      const change = result === 'skipped' ? undefined : last.get(key)
      const reason = error ?? (result === 'applied' ? 'it was written already, and does not show' : result)
      return change ? [[key, { to: change.to, reason }] as const] : []
    }),
  )
}
