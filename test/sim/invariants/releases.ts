// Released changes, by the simulation's own record: the changes that a hold showed when it was approved, each until it was written and read
// back. The ledger is believed only for pools, whose holds are for deals and not for amounts.
import type { Change } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { Scene, Step } from '../steps.ts'
import { everPooled } from './pools.ts'
import { intentOf } from './readings.ts'

type Shown = Pick<Change, 'scope' | 'from' | 'to'>

const textOf = ({ scope, from, to }: Shown): string => `${scopeKey(scope)} ${from} ${to}`

/** All changes that were approved. */
export function createReleases(scene: Scene) {
  const shown = new Map<string, readonly Shown[]>()
  const released = new Set<string>()
  const goals = new Set<string>()
  const open = new Set<string>()
  const release = (one: Shown): void => {
    released.add(textOf(one))
    open.add(textOf(one))
    goals.add(`${scopeKey(one.scope)} ${one.to}`)
  }
  const noteDeal = ({ values: [saved] }: Extract<Step, { kind: 'recorded' }>): void => {
    if (typeof saved !== 'object' || saved === null || !('released' in saved) || !Array.isArray(saved.released)) return
    const pooled: ReadonlySet<ScopeKey | string> = everPooled(scene)
    for (const one of saved.released) if (pooled.has(scopeKey(one.scope))) release(one)
  }
  return {
    /** The change was released; it may have been written since. */
    has: (change: Change): boolean => released.has(textOf(change)),
    /** The change is released now: it has not been written since the approval. */
    isOpen: (change: Change): boolean => open.has(textOf(change)),
    /** A change to this cap was released, from whatever cap. */
    hasGoal: ({ scope, to }: Change): boolean => goals.has(`${scopeKey(scope)} ${to}`),
    note(step: Step): void {
      if (step.kind === 'told' && step.event.kind === 'planned') for (const { id, changes } of step.event.plan.holds) shown.set(id, changes)
      if (step.kind === 'approved') for (const one of shown.get(step.id) ?? []) release(one)
      if (step.kind !== 'recorded') return
      if (step.method === 'saveApproval' && scene.scenario.pools) noteDeal(step)
      const change = step.method === 'recordOutcome' ? intentOf(step)?.change : undefined
      const [, entry] = step.values
      const isThrough = typeof entry === 'object' && entry !== null && 'result' in entry && entry.result === 'applied'
      if (change && isThrough) open.delete(textOf(change))
    },
  }
}
