// What somebody agreed to, held against a plan that is made later: what was not shown is left. Where caps are copied, a team or group write
// and the repair of what it overwrites are one step, so it is left as well while some of that was not shown.
import { byScope } from '../../core/model/scope.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion } from '../../core/plan/dispositions.ts'
import type { Go } from './options.ts'
import type { DesiredState } from './state.ts'

type Excluded = (one: Difference) => Exclusion | undefined

const notShown = (reason: string): Exclusion => ({ kind: 'excluded', code: 'notShown', reason })

/** What is left of a plan because nobody agreed to it. */
export function unlessShown({ mayWrite }: Go, view: DesiredState): Excluded {
  if (!mayWrite) return () => undefined
  const desired = byScope(view.resolution.desired)
  return (one) => {
    if (!mayWrite(one)) return notShown('it was not in the plan that was agreed to; run apply again')
    const unseen = overwrittenBy(one, view).find(({ key }) => {
      // Whom the service has refused is put right by no plan.
      const want = view.quarantine.active.has(key) ? undefined : desired.get(key)
      return want !== undefined && want.cap !== one.to && want.cap !== 'none' && !mayWrite({ key, to: want.cap })
    })
    return unseen && notShown(`it overwrites ${unseen.email}, and the plan that was agreed to does not put that right; run apply again`)
  }
}

/** Whose own caps a write overwrites. */
function overwrittenBy({ scope, key }: Difference, { slots, people }: DesiredState): DesiredState['people']['approved'] {
  if (slots.model.layers !== 'copied' || scope.kind === 'user') return []
  return scope.kind === 'team' ? people.approved : (people.byGroup.get(key) ?? [])
}
