// Caps of ours that are no longer declared: they are not forgotten, they are not pruned while the policy does not parse, and an approval is
// spent once all its changes are in force.
import type { Intent } from '../../../src/core/model/change.ts'
import type { OwnedCap } from '../../../src/core/model/observed.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { ModelCap } from '../lives/policy-model.ts'
import { askedNow, invariant, managedScopes, ownedAt, type Scene, type Step } from '../steps.ts'
import { inheritedCap, nearBoundary } from './converges.ts'
import { isLayered } from './people.ts'
import { intentOf } from './readings.ts'

export const notForgotten = invariant('no cap of ours is forgotten', (scene, checker) => {
  const ours = new Map<ScopeKey, ModelCap>()
  const sending = new Map<ScopeKey, Intent['entry']['kind']>()
  const lent = lentByOthers(scene)
  return (step) => {
    if (step.kind === 'foreign') for (const scope of step.scopes) ours.delete(scope)
    // The program takes a group that the service does not know for one without a cap, also when it comes back.
    for (const id of scene.company.gone) ours.delete(scopeKey(groupScope(id)))
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (intent) sending.set(scopeKey(intent.change.scope), intent.entry.kind)
    lent.note(step, sending)
    if (step.kind === 'landed') {
      // A write that lands long after its sender died is not ours, nor is a cap that the end of a grant restores.
      if (step.late || sending.get(step.scope) === 'restore') ours.delete(step.scope)
      else ours.set(step.scope, step.to)
    }
    if (!isLayered(scene) || !scene.scenario.prune) return
    if (step.kind === 'recorded' && step.method === 'releaseOwned')
      for (const scope of released(step)) {
        const cap = ours.get(scope)
        // A write under way is remembered by its intent.
        const isOpen =
          scene
            .ledger()
            ?.openIntents()
            .some(({ change }) => scopeKey(change.scope) === scope) === true
        if (typeof cap !== 'number' || isOpen || askedNow(scene).has(scope)) continue
        checker.checked()
        if (lent.has(scope, cap)) continue
        if (scene.stored(scope) === cap && scene.shows(scope) === cap) checker.violated(`${scope} still has our ${cap}, and is let go`)
      }
    if (step.kind !== 'settled' || nearBoundary(scene, WHILE_MS)) return
    const wanted = askedNow(scene)
    const shown = managedScopes(scene)
    const owned = new Set((scene.ledger()?.owned() ?? []).map((one: OwnedCap) => scopeKey(one.scope)))
    for (const [scope, cap] of ours) {
      checker.checked()
      const isAway = scope.includes('@') && !scene.company.approved.includes(scope)
      // The program cannot know of a 0 that the service does not show.
      const isThere = scene.stored(scope) === cap && scene.shows(scope) === cap
      if (cap === 'none' || !isThere || wanted.has(scope) || isAway) continue
      if (!shown.has(scope) && !owned.has(scope)) checker.violated(`${scope} still has our ${cap}, which is neither declared nor recorded`)
    }
  }
})

/** Foreign caps that only grants have replaced since. A grant with the same cap ends without a write. */
function lentByOthers(scene: Scene) {
  const theirs = new Map<ScopeKey, ModelCap>()
  return {
    note(step: Step, sending: ReadonlyMap<ScopeKey, Intent['entry']['kind']>): void {
      if (step.kind === 'foreign') for (const scope of step.scopes) theirs.set(scope, scene.stored(scope))
      if (step.kind === 'landed' && !GRANTING.has(sending.get(step.scope))) theirs.delete(step.scope)
      // A cap that policy has asked for is ours.
      if (step.kind === 'recorded' && step.method === 'saveOwned')
        for (const { scope, owner } of step.values.flat() as readonly OwnedCap[]) if (owner !== 'grant') theirs.delete(scopeKey(scope))
    },
    has: (scope: ScopeKey, cap: ModelCap): boolean => theirs.get(scope) === cap,
  }
}

const GRANTING: ReadonlySet<Intent['entry']['kind'] | undefined> = new Set(['grant', 'restore'])

const WHILE_MS = 3 * 3_600_000

const released = ({ values: [keys] }: Extract<Step, { kind: 'recorded' }>): readonly ScopeKey[] =>
  [keys].flat().filter((key): key is ScopeKey => typeof key === 'string')

export const wholeOnly = invariant('nothing is pruned while the policy does not parse', (_scene, checker) => {
  let brokenPlan: string | undefined
  let isBroken = false
  return (step) => {
    if (step.kind === 'started') isBroken = false
    if (step.kind === 'told' && step.event.kind === 'policy-loaded') isBroken = !step.event.policy.valid
    if (step.kind === 'told' && step.event.kind === 'planned') brokenPlan = isBroken ? step.event.plan.id : undefined
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (!intent || intent.planId !== brokenPlan) return
    checker.checked()
    const { scope, from, to } = intent.change
    if (to === 'none' && intent.entry.kind === 'undeclared')
      checker.violated(`${scopeKey(scope)} is cleared from ${from}, while a policy file is broken`)
  }
})

export const spentInTime = invariant('an approval is spent once all its changes are in force', (scene, checker) => {
  // Readings: scopes of people who have left, or that are no longer managed, are not read.
  const seen = new Map<ScopeKey, ModelCap>()
  // First caps that the last plan has still to set.
  let first: ReadonlySet<string> = new Set()
  // A person whom no policy declares may be read all the same, for a report, which verifies nothing.
  const isUndeclared = (key: ScopeKey): boolean =>
    scene.scenario.undeclaredUsers === 'report' && key.includes('@') && !askedNow(scene).has(key) && !ownedAt(scene, key)
  return (step) => {
    if (step.kind === 'told' && step.event.kind === 'planned')
      first = new Set(step.event.plan.changes.flatMap(({ scope, from, to }) => (from === 'none' ? [`${scopeKey(scope)} ${to}`] : [])))
    if (step.kind === 'answered' && step.scope !== undefined && step.observed !== undefined && step.observed !== 'unknown')
      seen.set(step.scope, step.observed)
    if (step.kind !== 'settled') return
    for (const { id, state, released } of scene.ledger()?.approvals() ?? []) {
      if (released.length === 0) continue
      checker.checked()
      const isThere = released.every(({ scope, to }) => {
        const key = scopeKey(scope)
        // A cap that is shown and may only be inherited is set explicitly before its ancestor is cleared: it is not known to be set.
        const isOpen = first.has(`${key} ${to}`) && inheritedCap(scene, key) === to
        const isRead = seen.get(key) === to && (to === 'none' || !isUndeclared(key))
        return !isOpen && scene.stored(key) === to && scene.shows(key) === to && isRead
      })
      if (state === 'pending' && isThere) checker.violated(`approval ${id} is through and still pending`)
    }
  }
})

export const releasesKept = invariant('an approval keeps its released changes', (_scene, checker) => {
  const matched = new Set<string>()
  return (step) => {
    // An approval that is given again starts anew.
    if (step.kind === 'approved') matched.delete(step.id)
    if (step.kind !== 'recorded' || step.method !== 'saveApproval') return
    const [saved] = step.values
    if (typeof saved !== 'object' || saved === null || !('id' in saved) || typeof saved.id !== 'string') return
    if (!('released' in saved) || !Array.isArray(saved.released)) return
    checker.checked()
    const state = 'state' in saved ? saved.state : undefined
    // A void approval that left the policy is withdrawn: listed again, it is a new one.
    if (state === 'void' && 'withdrawn' in saved && saved.withdrawn === true) matched.delete(saved.id)
    else if (saved.released.length > 0) matched.add(saved.id)
    else if (matched.has(saved.id) && state === 'pending')
      checker.violated(`approval ${saved.id} has released something, and is as good as new`)
  }
})
