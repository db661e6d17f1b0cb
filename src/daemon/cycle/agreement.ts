// Compares a later plan with what the person agreed to: a change that was not shown is left out. Where caps are copied, a team or group write
// and the repair of what it overwrites are one step, so the write is left out as well while a part of the repair was not shown.
import { byScope } from '../../core/model/scope.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion } from '../../core/plan/dispositions.ts'
import type { Agreement } from './options.ts'
import type { DesiredState } from './state.ts'

type Excluded = (one: Difference) => Exclusion | undefined

const notShown = (reason: string): Exclusion => ({ kind: 'excluded', code: 'notShown', reason })

/** Excludes the changes of a plan that the person did not agree to. */
export function unlessShown({ mayWrite }: Agreement, desired: DesiredState): Excluded {
  if (!mayWrite) return () => undefined
  const asked = byScope(desired.resolution.desired)
  return (one) => {
    if (!mayWrite(one)) return notShown('it was not in the plan that was agreed to; run apply again')
    const unseen = overwrittenBy(one, desired).find(({ key }) => {
      // No plan repairs a person whom the service has refused.
      const want = desired.quarantine.active.has(key) ? undefined : asked.get(key)
      return want !== undefined && want.cap !== one.to && want.cap !== 'none' && !mayWrite({ key, to: want.cap })
    })
    return unseen && notShown(`it overwrites ${unseen.email}, and the plan that was agreed to does not put that right; run apply again`)
  }
}

/** The people whose own caps a write overwrites. */
function overwrittenBy({ scope, key }: Difference, { slots, people }: DesiredState): DesiredState['people']['approved'] {
  if (slots.model.layers !== 'copied' || scope.kind === 'user') return []
  return scope.kind === 'team' ? people.approved : (people.byGroup.get(key) ?? [])
}
