// What approvals have released, as the ledger was told: an invariant says nothing of changes that somebody has agreed to.
import type { Change } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import type { Step } from '../steps.ts'

const textOf = ({ scope, from, to }: Pick<Change, 'scope' | 'from' | 'to'>): string => `${scopeKey(scope)} ${from} ${to}`

/** Everything that an approval has ever released. */
export function createReleases() {
  const released = new Set<string>()
  const goals = new Set<string>()
  return {
    has: (change: Change): boolean => released.has(textOf(change)),
    /** Released to the same cap, from whatever stood there. */
    hasGoal: ({ scope, to }: Change): boolean => goals.has(`${scopeKey(scope)} ${to}`),
    note(step: Step): void {
      if (step.kind !== 'recorded' || step.method !== 'saveApproval') return
      const [saved] = step.values
      if (typeof saved !== 'object' || saved === null || !('released' in saved) || !Array.isArray(saved.released)) return
      for (const one of saved.released) {
        released.add(textOf(one))
        goals.add(`${scopeKey(one.scope)} ${one.to}`)
      }
    },
  }
}
