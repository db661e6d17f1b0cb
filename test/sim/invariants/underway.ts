// People while a plan is carried out and some of it fails, is held or left out: each has the cap from before, or the one of the plan, or
// more than the lesser of both. First caps and reverts do not wait and are not judged.
import type { Plan } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { type InForce, invariant, type Scene } from '../steps.ts'
import { inForceWith, withChanges } from '../world/company.ts'
import { createSight, isLayered, isMistaken, worth } from './people.ts'

interface Underway {
  readonly plan: Plan
  readonly before: InForce
  /** After the whole plan, including its held changes. */
  readonly after: InForce
  readonly known: readonly string[]
}

export const safeWhilePartial = invariant(
  'while part of a plan fails or waits, no person is below the lesser of before and after',
  (scene, checker) => {
    const sight = createSight()
    let underway: Underway | undefined
    return (step) => {
      if (step.kind === 'foreign' || step.kind === 'world' || step.kind === 'died') underway = undefined
      if (step.kind === 'told' && step.event.kind === 'planned')
        underway = isLayered(scene) && !isMistaken(scene) ? begin(step.event.plan, scene, sight) : undefined
      sight.note(step)
      if (step.kind !== 'landed' || !underway) return
      const { plan, before, after, known } = underway
      const change = plan.changes.find(({ scope, from, to }) => scopeKey(scope) === step.scope && from === step.from && to === step.to)
      if (!change || step.late || (step.to === 0 && scene.scenario.switches.zeroCap === 'omitted')) {
        underway = undefined
        return
      }
      if (change.healing || !['lower', 'block', 'clear'].includes(change.effect)) return
      checker.checked()
      for (const email of known) {
        const [was, is, will] = [before.get(email), step.after.get(email), after.get(email)]
        if (worth(is) < Math.min(worth(was), worth(will)) && is !== step.before.get(email))
          checker.violated(`${email} falls to ${is} with ${step.scope}, had ${was}, and is to have ${will}`)
      }
    }
  },
)

/** Undefined for a plan without changes, to which no write can belong. */
function begin(plan: Plan, scene: Scene, sight: ReturnType<typeof createSight>): Underway | undefined {
  if (plan.changes.length === 0) return undefined
  const caps = scene.company.caps()
  const before = inForceWith(scene.company, caps)
  const made = plan.changes.filter(({ disposition }) => disposition.kind !== 'excluded' || disposition.code !== 'onDrift')
  return {
    plan,
    before,
    after: inForceWith(scene.company, withChanges(caps, made)),
    known: scene.company.approved.filter((email) => sight.isTrue(scene, email) || sight.isTrueInTheDark(scene, email)),
  }
}
