// Writes the waves of a plan, each change side by side with the others of its wave, until nothing is left that may be written or something
// halts the run. It decides nothing: which changes go is in core/plan/wave.ts, how one goes in change.ts.
import type { Change } from '../../../core/model/change.ts'
import { isReady } from '../../../core/model/change.ts'
import { byScope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { waveInputs } from '../../../core/plan/dispositions.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import { nextWave, type PlanStart, planStart } from '../../../core/plan/wave.ts'
import type { BreakerWatch } from './breaker.ts'
import { type WriteRun, writeChange } from './change.ts'
import type { WriteResult } from './outcome.ts'

export interface WaveRun extends WriteRun {
  readonly concurrency: number
  readonly watch: BreakerWatch
  readonly onResult: (change: Change, result: WriteResult) => void
  /** Looks at what a wave of team or group writes did to the scopes beneath; true: the plan does not hold any more. */
  readonly afterAncestors: (changes: readonly Change[]) => Promise<boolean>
}

/** Carries out the waves of `run.planned`. Returns the changes that were tried. */
export async function writeWaves(run: WaveRun): Promise<readonly Change[]> {
  const { planned } = run
  const tried: Change[] = []
  const start = beginning(planned)
  // Each wave takes at least one change out.
  for (;;) {
    const wave = waveOf(planned, new Set(tried.map(({ scope }) => scopeKey(scope))), start, run)
    if (wave.length === 0 || run.halted.interrupted) return tried
    await writeSideBySide(run, wave)
    tried.push(...wave)
    if (run.halted.interrupted) return tried
    const isWide = wave.some(({ scope }) => scope.kind !== 'user')
    if (isWide && (await run.afterAncestors(wave))) return tried
    // A 0 that is not kept has left the scope without its cap: putting that back comes first.
    if (wave.some(({ scope }) => run.results.get(scopeKey(scope))?.isDropped)) return tried
  }
}

/** How the plan began: readings are newer by now, of what was written since. */
function beginning(planned: Planned): PlanStart {
  const inputs = waveInputs(planned)
  const was = new Map(planned.pending.map(({ key }) => [key, { cap: inputs.caps(key), isOpen: inputs.mayBeInherited(key) }]))
  return {
    ...planStart({ ...inputs, pending: planned.pending }),
    caps: (key) => was.get(key)?.cap ?? inputs.caps(key),
    mayBeInherited: (key) => was.get(key)?.isOpen ?? inputs.mayBeInherited(key),
  }
}

/** The changes that may go now, as the readings are by now. */
function waveOf(planned: Planned, tried: ReadonlySet<ScopeKey>, start: PlanStart, run: WaveRun): readonly Change[] {
  const ready = planned.plan.changes.filter((one) => isReady(one) && !tried.has(scopeKey(one.scope)))
  if (ready.length === 0) return []
  const inputs = waveInputs(planned)
  // What was just written is there, whatever a read could show beside it. What may only be inherited goes with what it is inherited from,
  // and was perhaps read before that went.
  const mayBeInherited = (key: ScopeKey): boolean => !hasLanded(run, key) && (inputs.mayBeInherited(key) || start.mayBeInherited(key))
  const isThere = (key: ScopeKey, to: unknown): boolean => planned.slots.shown(key) === to && !mayBeInherited(key)
  const pending = planned.pending.filter(({ key, to }) => !(tried.has(key) && (isThere(key, to) || hasLanded(run, key))))
  for (const turn of run.watch.inTurn(ready)) {
    const changes = byScope(turn)
    const wave = nextWave({ ...inputs, mayBeInherited, ready: planned.pending.filter(({ key }) => changes.has(key)), pending, start })
    if (wave.changes.length > 0) return wave.changes.flatMap(({ key }) => changes.get(key) ?? [])
  }
  return []
}

/** A clear after which the inherited value shows. */
const hasLanded = ({ results }: WaveRun, key: ScopeKey): boolean => results.get(key)?.result === 'applied'

/** Changes of one wave touch different scopes of one kind in one direction, so they may go side by side. */
async function writeSideBySide(run: WaveRun, changes: readonly Change[]): Promise<void> {
  const pending = changes.values()
  const work = async (isOver: () => boolean): Promise<void> => {
    for (const change of pending) {
      if (run.halted.interrupted) return
      const result = await writeChange(change, run)
      if (!result) return
      run.results.set(scopeKey(change.scope), joined(run.results.get(scopeKey(change.scope)), change, result))
      run.onResult(change, result)
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

/** What was asked for has failed, also when the cap that it had replaced could be written back. */
function joined(before: WriteResult | undefined, { to }: Change, result: WriteResult): WriteResult {
  if (!before?.isDropped) return result
  const end =
    result.result === 'applied' ? `the ${to} that stood there was written back` : `${to} could not be written back: ${result.error}`
  return { ...before, error: `${before.error}; ${end}` }
}

function noteEnd(run: WaveRun, { scope }: Change, { result, blame, error }: WriteResult): void {
  const end = result === 'applied' ? 'done' : blame
  const isOver = run.watch.note({ key: scopeKey(scope), end, ...(error !== undefined && { error }) })
  if (isOver) run.halted = { interrupted: 'breaker', ...run.halted }
}
