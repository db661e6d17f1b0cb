// People while a plan is carried out and some of it fails, is held or left out: each has the cap from before, or the one of the plan, or
// more than the lesser of both. First caps and reverts do not wait and are not judged. What another client gave is kept for
// protected people only: what reverting it leaves the others may come early, by a cap that is written before the revert.
import type { Plan } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { type InForce, invariant, type Scene } from '../steps.ts'
import { inForceWith, withChanges } from '../world/company.ts'
import { createSight, isLayered, isMistaken, worth } from './people.ts'

interface Underway {
  readonly plan: Plan
  /** Of people whose caps are known: what they had, or, unless they are protected, less that reverting foreign changes leaves them. */
  readonly before: InForce
  /** After the whole plan, including its held changes. */
  readonly after: InForce
}

export const safeWhilePartial = invariant(
  'while part of a plan fails or waits, no person is below the lesser of before and after',
  (scene, checker) => {
    const sight = createSight()
    let underway: Underway | undefined
    return (step) => {
      if (step.kind === 'foreign' || step.kind === 'world' || step.kind === 'died') underway = undefined
      if (step.kind === 'told' && step.event.kind === 'planned') underway = begin(step.event.plan, scene, sight)
      sight.note(step)
      if (step.kind !== 'landed' || !underway) return
      const { plan, before, after } = underway
      const change = plan.changes.find(({ scope, from, to }) => scopeKey(scope) === step.scope && from === step.from && to === step.to)
      if (!change || step.late || (step.to === 0 && scene.scenario.switches.zeroCap === 'omitted')) {
        underway = undefined
        return
      }
      if (change.healing || !['lower', 'block', 'clear'].includes(change.effect)) return
      checker.checked()
      for (const [email, was] of before) {
        const [is, will] = [step.after.get(email), after.get(email)]
        if (worth(is) < Math.min(worth(was), worth(will)) && is !== step.before.get(email))
          checker.violated(`${email} falls to ${is} with ${step.scope}, had ${was}, and is to have ${will}`)
      }
    }
  },
)

/** Undefined for a plan without changes, to which no write can belong, and where caps are not kept in layers. */
function begin(plan: Plan, scene: Scene, sight: ReturnType<typeof createSight>): Underway | undefined {
  if (plan.changes.length === 0 || !isLayered(scene) || isMistaken(scene)) return undefined
  const caps = scene.company.caps()
  const inForce = (changes: Plan['changes']): InForce => inForceWith(scene.company, withChanges(caps, changes))
  const made = plan.changes.filter(({ disposition }) => disposition.kind !== 'excluded' || disposition.code !== 'onDrift')
  const [had, reverted] = [inForce([]), inForce(made.filter(({ healing }) => healing))]
  const { protectedPeople } = scene.policyNamed(plan.policyDigest) ?? scene.policy()
  const isKept = (email: string): boolean => protectedPeople.has(email) || worth(had.get(email)) < worth(reverted.get(email))
  const known = scene.company.approved.filter((email) => sight.isTrue(scene, email) || sight.isTrueInTheDark(scene, email))
  const before = known.map((email) => [email, (isKept(email) ? had : reverted).get(email) ?? 'none'] as const)
  return { plan, before: new Map(before), after: inForce(made) }
}
