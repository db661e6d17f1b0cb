// Envelopes: what an envelope refuses changes nobody's cap, and each write under a policy sets what that policy says of the scope, or, of a
// scope that is the team's, what was accepted of it before.
import type { Plan } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { ENVELOPE_GROUPS, REFUSED } from '../lives/envelope.ts'
import type { ModelCap, PolicyModel } from '../lives/policy-model.ts'
import { invariant, type Step } from '../steps.ts'
import { worth } from './people.ts'
import { intentOf } from './readings.ts'
import { createReleases } from './releases.ts'

export const refusedIsNothing = invariant(
  'what an envelope refuses changes nobody, and a narrowed bound lowers nobody at once',
  (scene, checker) => {
    if (scene.scenario.envelope === undefined) return () => undefined
    const releases = createReleases(scene)
    // People who were in a group that the envelope may have had: a line about them may have been accepted.
    const members = new Set<string>()
    let plan: Plan | undefined
    return (step) => {
      releases.note(step)
      if (step.kind === 'started' || step.kind === 'world')
        for (const one of ENVELOPE_GROUPS.flatMap((id) => [...(scene.company.groups.get(id) ?? [])])) members.add(one)
      if (step.kind === 'told' && step.event.kind === 'planned') plan = step.event.plan
      if (step.kind !== 'landed') return
      checker.checked()
      const { scope, from, to } = step
      if (to === REFUSED.beyond || (to === REFUSED.outside && !members.has(scope)))
        checker.violated(`${scope} is set to ${to}, which its envelope refuses`)
      if (to !== REFUSED.narrowed || worth(from) <= to) return
      // A line of the platform's may say as much: a policy written from the caps that are there does.
      const policy = plan && scene.policyNamed(plan.policyDigest)
      if (policy && !policy.delegated.has(scope) && lineOf(policy, scope) === to) return
      const change = plan?.changes.find((one) => scopeKey(one.scope) === scope)
      if (!change?.healing && !(change && releases.hasGoal(change)))
        checker.violated(`${scope} falls from ${from} to ${to}, the narrowed bound, before a day is over`)
    }
  },
)

/** What a policy says of a group or a person by a line of theirs; undefined where a grant or a pool may say something else. */
function lineOf({ groups, users, grants, pools }: PolicyModel, scope: ScopeKey): ModelCap | 'no line' | undefined {
  if (pools.length > 0 || grants.some((one) => one.scope === scope)) return undefined
  return users.get(scope) ?? groups.get(scope.slice('group:'.length))?.cap ?? 'no line'
}

export const asDeclared = invariant('a write to a scope with a line of its own sets what the line says', (scene, checker) => {
  let plan: Plan | undefined
  const judge = (scope: ScopeKey, to: ModelCap): void => {
    const policy = plan && scene.policyNamed(plan.policyDigest)
    const line = policy && lineOf(policy, scope)
    if (!policy || typeof line !== 'number' || line === 0) return
    checker.checked()
    if (to === line) return
    // What was accepted before of a line that is refused; nothing, if it was not always the team's; the cap before it, if it was a 0 that the
    // service does not keep. Or as much as a narrowed bound leaves. The first policy is the empty one before any was read.
    const isAccepted = (one: PolicyModel): boolean =>
      !one.delegated.has(scope) || [to, undefined, 'no line', 0].includes(lineOf(one, scope))
    if (policy.delegated.has(scope) && (to === REFUSED.narrowed || scene.policies().slice(1).some(isAccepted))) return
    checker.violated(`${scope} is set to ${to}, and its line says ${line}`)
  }
  return (step: Step) => {
    if (step.kind === 'told' && step.event.kind === 'planned') plan = step.event.plan
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (intent && intent.entry.kind !== 'restore') judge(scopeKey(intent.change.scope), intent.change.to)
  }
})
