// Writes a plan wave by wave, the changes of a wave side by side, until no change remains that may be written or the run is halted. It decides
// nothing: core/plan/wave.ts chooses the changes, and change.ts writes one.
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
  /** Checks the descendants after a wave of team or group writes; true: the plan is out of date. */
  readonly afterAncestors: (changes: readonly Change[]) => Promise<boolean>
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
    await writeSideBySide(run, wave)
    tried.push(...wave)
    if (run.halted.interrupted) return tried
    const hasAncestors = wave.some(({ scope }) => scope.kind !== 'user')
    if (hasAncestors && (await run.afterAncestors(wave))) return tried
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
  const inputs = waveInputs(planned)
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

/** The changes of one wave touch different scopes of one kind in one direction, so they may be written side by side. */
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
  // An error is thrown only once nothing is in flight any more.
  for (const end of ends) if (end.status === 'rejected') throw end.reason
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
  const isOver = run.watch.note({ key: scopeKey(scope), end, ...(error !== undefined && { error }) })
  if (isOver) run.halted = { interrupted: 'breaker', ...run.halted }
}
