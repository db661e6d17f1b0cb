// What one cycle comes to: what has failed in it waits for the next one, however many passes are still to come; and a cycle that says it
// went well has written all that it was free to write, so that one `apply` is enough on a healthy service.
import { type Change, isReady } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { ModelCap } from '../lives/policy-model.ts'
import type { Invariant, Scene, Step } from '../steps.ts'
import { nearBoundary } from './converges.ts'
import { intentOf } from './looks.ts'
import { createListed, isLayered, scopesOf } from './people.ts'
import { everPooled } from './pools.ts'

const HOUR_MS = 3_600_000

export const fewTries: Invariant = {
  name: 'what has failed is not tried again in the same cycle',
  watch(scene, checker) {
    let tries = new Map<string, number>()
    let landed = new Map<ScopeKey, string>()
    // A cycle that an edit, an approval or the instant of a grant cuts short does not say so, and the next one tries again.
    const cuts: ReadonlySet<Step['kind']> = new Set(['started', 'died', 'foreign', 'world', 'approved', 'calm'])
    return (step) => {
      const isOver = step.kind === 'told' && (step.event.kind === 'cycle-finished' || step.event.kind === 'policy-loaded')
      if (isOver || cuts.has(step.kind)) {
        tries = new Map()
        landed = new Map()
      }
      if (step.kind === 'landed') {
        // What had landed and was then overwritten by a wide write of the same cycle is put back.
        if (step.scope.includes('@')) landed.set(step.scope, `${step.scope} to ${step.to}`)
        else for (const what of landed.values()) tries.delete(what)
      }
      const change = step.kind === 'recorded' ? intentOf(step)?.change : undefined
      if (step.kind !== 'recorded' || !change) return
      const what = `${scopeKey(change.scope)} to ${change.to}`
      // Its turn did not come: it was never sent.
      if (step.method === 'recordOutcome' && step.values[1] === undefined) tries.delete(what)
      if (step.method !== 'recordIntent') return
      checker.checked()
      const count = (tries.get(what) ?? 0) + 1
      tries.set(what, count)
      if (count > 1 && !nearBoundary(scene, HOUR_MS)) checker.violated(`${what} is tried ${count} times in one cycle`)
    }
  },
}

/** Also what is written again after a wide write was copied over it. */
const isFree = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.reason.endsWith('overwrites it'))

/** By a pause, or by the mode. */
const isKeptBack = ({ disposition }: Change): boolean => disposition.kind === 'excluded' && ['pause', 'mode'].includes(disposition.code)

/**
 * A cycle that was stopped for an edit or a grant is over, and leaves the rest to the next sweep. What was to be put back once a wide write
 * had been copied over it, and kept what others had set, is theirs and only shown.
 */
const isGivenUp = (scene: Scene, code: string): boolean => code === 'focus' || (code === 'onDrift' && !isLayered(scene))

const NOTHING: ReadonlyMap<ScopeKey, ModelCap> = new Map()

/** What is set is just what a group of the person, or the team, has. */
const isFromAbove = (scene: Scene, scope: ScopeKey): boolean =>
  scopesOf(scene, scope).some((above) => above !== scope && scene.stored(above) === scene.stored(scope))

export const oneIsEnough: Invariant = {
  name: 'a cycle that went well leaves nothing that it might have written',
  watch(scene, checker) {
    const listed = createListed(scene)
    let free = new Map<ScopeKey, ModelCap>()
    let isAlone = false
    // A roster that was doubted when this cycle planned is good by now.
    let isBelieved = false
    // What was read since another cap was in force: a stale reading shows what is gone.
    const seen = new Map<ScopeKey, unknown>()
    return (step) => {
      listed.note(step)
      if (step.kind === 'answered' && step.scope !== undefined) seen.set(step.scope, step.observed)
      if (step.kind === 'landed') {
        // Who is in a group that no policy declares any more nobody lists: where caps are copied, its clear reaches people unseen.
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
      // The edit may be long ago. What is under way ends, and the rest is planned anew.
      if (step.event.kind === 'policy-loaded') free = new Map()
      if (step.event.kind === 'planned') {
        const { changes } = step.event.plan
        for (const { scope, disposition } of changes)
          if (disposition.kind === 'excluded' && isGivenUp(scene, disposition.code)) free.delete(scopeKey(scope))
        // What waits for something that is kept back is kept back with it.
        if (!changes.some(isKeptBack)) for (const { scope, to } of changes.filter(isFree)) free.set(scopeKey(scope), to)
      }
      if (step.event.kind !== 'cycle-finished') return
      const { result } = step.event
      const judged = isAlone && (result === 'success' || result === 'noop') ? free : NOTHING
      const statuses = new Map(judged.size === 0 ? [] : (scene.view()?.scopes ?? []).map((one) => [scopeKey(one.scope), one]))
      const pooled = judged.size === 0 ? new Set() : everPooled(scene)
      for (const [scope, to] of judged) {
        // Who turned out to be away in the middle of the cycle, such as by a roster that somebody approved, is left alone.
        const status = statuses.get(scope)
        if (!status || status.state === 'skipped') continue
        // Where caps are copied, a cap that was taken away gives way to what a group has, also in the same cycle.
        if (to === 'none' && !isLayered(scene) && isFromAbove(scene, scope)) continue
        if (listed.misses(scope)) continue
        // A pool lets a member keep what is in force until the credits pay for more, and that may have moved in the cycle.
        if (pooled.has(scope) && status.desired === scene.shows(scope)) continue
        // What a rule asks of a person goes by the roster: one that somebody approved in this cycle may ask for what stands there.
        if (isBelieved && scope.includes('@') && status.desired === scene.stored(scope)) continue
        checker.checked()
        // A 0 that is not kept gives way to what stood there, and a scope is written only when its observed cap differs: what shows as
        // asked because an ancestor has it by now is left as it is.
        if (to !== 0 && scene.stored(scope) !== to && scene.shows(scope) !== to && seen.get(scope) !== to)
          checker.violated(`${scope} was to be ${to} and is ${scene.stored(scope)} at the end of a cycle with the result ${result}`)
      }
      free = new Map()
      isAlone = true
      isBelieved = false
    }
  },
}

export const zeroGivenBack: Invariant = {
  name: 'what a 0 that is not kept has replaced is given back',
  watch(scene, checker) {
    const lost = new Map<ScopeKey, ModelCap>()
    const seen = new Map<ScopeKey, ModelCap>()
    return (step) => {
      const change = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step)?.change : undefined
      if (change) seen.set(scopeKey(change.scope), change.from)
      if (step.kind === 'foreign') for (const scope of step.scopes) lost.delete(scope)
      if (step.kind === 'landed') {
        // It was given back, or replaced by something newer.
        if (lost.has(step.scope)) checker.checked()
        // What somebody has set between our last look and the write was never seen.
        const isLost = step.to === 0 && typeof step.from === 'number' && step.from === seen.get(step.scope) && !step.late
        if (isLost && isLayered(scene) && scene.scenario.switches.zeroCap === 'omitted') lost.set(step.scope, step.from)
        else lost.delete(step.scope)
      }
      if (step.kind !== 'settled') return
      // Of a scope that policy makes impossible nothing is asked, whatever was written there before.
      const refused = new Set((scene.ledger()?.quarantined() ?? []).map((one) => scopeKey(one.scope)))
      for (const [scope, cap] of lost) {
        if (!refused.has(scope)) continue
        checker.checked()
        if (scene.stored(scope) === 0) checker.violated(`${scope} had ${cap}, which a 0 that is not kept has replaced for good`)
      }
    }
  },
}
