// The result of one cycle: a write that failed waits for the next cycle, however many passes follow; and a cycle that reports success has
// written everything that it was free to write, so that one `apply` is enough on a healthy service.
import { type Change, isReady } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { ModelCap } from '../lives/policy-model.ts'
import { invariant, ownedAt, type Scene, type Step } from '../steps.ts'
import { nearBoundary } from './converges.ts'
import { createListed, isLayered, scopesOf } from './people.ts'
import { everPooled } from './pools.ts'
import { intentOf } from './readings.ts'

const HOUR_MS = 3_600_000

export const fewTries = invariant('a failed write is not tried again in the same cycle', (scene, checker) => {
  let tries = new Map<string, number>()
  let landed = new Map<ScopeKey, string>()
  // An edit, an approval or the instant of a grant may cut a cycle short without an event, and the next one tries again.
  const cuts: ReadonlySet<Step['kind']> = new Set(['started', 'died', 'foreign', 'world', 'approved', 'calm'])
  return (step) => {
    const isOver = step.kind === 'told' && (step.event.kind === 'cycle-finished' || step.event.kind === 'policy-loaded')
    if (isOver || cuts.has(step.kind)) {
      tries = new Map()
      landed = new Map()
    }
    if (step.kind === 'landed') {
      // A cap that had landed and was overwritten by a team or group write of the same cycle is restored.
      if (step.scope.includes('@')) landed.set(step.scope, `${step.scope} to ${step.to}`)
      else for (const what of landed.values()) tries.delete(what)
    }
    const change = step.kind === 'recorded' ? intentOf(step)?.change : undefined
    if (step.kind !== 'recorded' || !change) return
    const what = `${scopeKey(change.scope)} to ${change.to}`
    // The intent was closed before the request was sent.
    if (step.method === 'recordOutcome' && step.values[1] === undefined) tries.delete(what)
    if (step.method !== 'recordIntent') return
    checker.checked()
    const count = (tries.get(what) ?? 0) + 1
    tries.set(what, count)
    if (count > 1 && !nearBoundary(scene, HOUR_MS)) checker.violated(`${what} is tried ${count} times in one cycle`)
  }
})

/** Including caps that are restored after a team or group write was copied over them. */
const isFree = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.reason.endsWith('overwrites it'))

/** Withheld by a pause, or by the mode. */
const isKeptBack = ({ disposition }: Change): boolean => disposition.kind === 'excluded' && ['pause', 'mode'].includes(disposition.code)

/** Excluded for the reason. */
const isExcluded = ({ disposition }: Change, code: string): boolean => disposition.kind === 'excluded' && disposition.code === code

const NOTHING: ReadonlyMap<ScopeKey, ModelCap> = new Map()

/** The stored cap equals that of a group of the person, or of the team. */
const isFromAncestor = (scene: Scene, scope: ScopeKey): boolean =>
  scopesOf(scene, scope).some((above) => above !== scope && scene.stored(above) === scene.stored(scope))

export const completeCycle = invariant('a successful cycle has written everything it was free to write', (scene, checker) => {
  const listed = createListed(scene)
  let free = new Map<ScopeKey, ModelCap>()
  let isAlone = false
  // A roster that was in doubt when this cycle planned has been accepted since.
  let isBelieved = false
  // The answers since the cap in force last changed: a stale reading shows the cap before.
  const seen = new Map<ScopeKey, unknown>()
  return (step) => {
    listed.note(step)
    if (step.kind === 'answered' && step.scope !== undefined) seen.set(step.scope, step.observed)
    if (step.kind === 'landed') {
      // The members of a group that is no longer declared are not listed: where caps are copied, its clear reaches people unnoticed.
      const isUnlisted = step.scope.startsWith('group:') && !scene.policy().groups.has(step.scope.slice(6))
      for (const [email, cap] of step.after) {
        if (step.before.get(email) === cap) continue
        seen.delete(email as ScopeKey)
        if (isUnlisted && !isLayered(scene)) free.delete(email as ScopeKey)
      }
    }
    if (step.kind === 'started' || step.kind === 'foreign' || step.kind === 'world' || step.kind === 'died') isAlone = false
    if (step.kind === 'landed' && step.late) isAlone = false
    if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'usage' && free.size > 0) isBelieved = true
    if (step.kind !== 'told') return
    // The edit may have been made long ago. Writes under way end, and the rest is planned anew.
    if (step.event.kind === 'policy-loaded') free = new Map()
    if (step.event.kind === 'planned') {
      const { changes, unknown } = step.event.plan
      // A cycle that stopped for an edit or a grant leaves the rest to the next sweep, also caps that it has not yet seen overwritten.
      if (changes.some((change) => isExcluded(change, 'focus'))) free = new Map()
      // Where caps are copied, a cap that was to be restored may become a foreign one, which is only shown.
      for (const change of changes) if (isExcluded(change, 'onDrift') && !isLayered(scene)) free.delete(scopeKey(change.scope))
      // One that cannot be read is left to the next sweep by a cycle with a focus; all others are partial then.
      for (const { scope } of unknown) free.delete(scopeKey(scope))
      // Changes that depend on a withheld change are withheld with it.
      if (!changes.some(isKeptBack)) for (const { scope, to } of changes.filter(isFree)) free.set(scopeKey(scope), to)
    }
    if (step.event.kind !== 'cycle-finished') return
    const { result } = step.event
    const judged = isAlone && (result === 'success' || result === 'noop') ? free : NOTHING
    const statuses = new Map(judged.size === 0 ? [] : (scene.view()?.scopes ?? []).map((one) => [scopeKey(one.scope), one]))
    const pooled = judged.size === 0 ? new Set() : everPooled(scene)
    for (const [scope, to] of judged) {
      // A person who turns out to be away during the cycle, such as by an approved roster, is left alone.
      const status = statuses.get(scope)
      if (!status || status.state === 'skipped') continue
      // Where caps are copied, a cleared cap is replaced by that of a group, also within the cycle. Where reads show inherited caps, a cap that
      // the team or a group has by now looks inherited.
      const mayInherit = !isLayered(scene) || scene.scenario.switches.capReads === 'inherited'
      if (to === 'none' && mayInherit && isFromAncestor(scene, scope)) continue
      if (listed.misses(scope)) continue
      // A pool leaves a member the cap in force until the credits pay for more, which may change within the cycle.
      if (pooled.has(scope) && status.desired === scene.shows(scope)) continue
      // A rule depends on the roster: by one that was approved in this cycle, the stored cap may be the desired one.
      if (isBelieved && scope.includes('@') && status.desired === scene.stored(scope)) continue
      checker.checked()
      // A 0 that is not kept is replaced by the cap before it. A scope is written only when its observed cap differs, so a cap that is
      // shown as desired, because an ancestor has it by now, remains.
      if (to !== 0 && scene.stored(scope) !== to && scene.shows(scope) !== to && seen.get(scope) !== to)
        checker.violated(`${scope} was to be ${to} and is ${scene.stored(scope)} at the end of a cycle with the result ${result}`)
    }
    free = new Map()
    isAlone = true
    isBelieved = false
  }
})

export const zeroGivenBack = invariant('a cap that was replaced by a 0 that is not kept is restored', (scene, checker) => {
  const lost = new Map<ScopeKey, ModelCap>()
  const seen = new Map<ScopeKey, ModelCap>()
  return (step) => {
    const { change, entry } = (step.kind === 'recorded' && step.method === 'recordIntent' && intentOf(step)) || {}
    const isOver = change && entry?.kind !== 'grant' && ownedAt(scene, scopeKey(change.scope))?.owner === 'grant'
    if (change) seen.set(scopeKey(change.scope), isOver ? 'none' : change.from)
    if (step.kind === 'foreign') for (const scope of step.scopes) lost.delete(scope)
    if (step.kind === 'landed') {
      // The cap was restored, or replaced by a newer one.
      if (lost.has(step.scope)) checker.checked()
      // A foreign cap that was set between our last reading and the write was never seen. What a grant gave is over.
      const isLost = step.to === 0 && typeof step.from === 'number' && step.from === seen.get(step.scope) && !step.late
      if (isLost && isLayered(scene) && scene.scenario.switches.zeroCap === 'omitted') lost.set(step.scope, step.from)
      else lost.delete(step.scope)
    }
    if (step.kind !== 'settled') return
    // No cap is desired for a scope that the policy makes impossible, whatever was written there before.
    const refused = new Set((scene.ledger()?.quarantined() ?? []).map((one) => scopeKey(one.scope)))
    for (const [scope, cap] of lost) {
      if (!refused.has(scope)) continue
      checker.checked()
      if (scene.stored(scope) === 0) checker.violated(`${scope} had ${cap}, which a 0 that is not kept has replaced for good`)
    }
  }
})
