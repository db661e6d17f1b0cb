// Every single write follows from a good reading that differed, from the newest plan, in which it is not held, and from an intent that was
// on the disk before it; its sender is the only process that may write.
import { holdOf, type Plan } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { type ModelCap, personCap, userCap } from '../lives/policy-model.ts'
import { invariant, ownedAt, type Scene, type Step } from '../steps.ts'
import { createListed, isMistaken, scopesOf } from './people.ts'
import { everPooled } from './pools.ts'
import { lastReadings } from './readings.ts'

type Write = Extract<Step, { kind: 'request' }> & { readonly scope: ScopeKey; readonly to: ModelCap }

const asWrite = (step: Step): Write | undefined =>
  step.kind === 'request' && step.scope !== undefined && step.to !== undefined ? { ...step, scope: step.scope, to: step.to } : undefined

/** A write follows from a good reading that differed. */
export const knownReading = invariant('no write from an unknown read', (scene, checker) => {
  const last = lastReadings(scene)
  const pinned = new Set<string>()
  return (step) => {
    last.note(step)
    // A cap that is shown and may only be inherited is set explicitly before its ancestor is cleared.
    if (step.kind === 'told' && step.event.kind === 'planned')
      for (const { scope, from, to } of step.event.plan.changes) if (from === 'none') pinned.add(`${scopeKey(scope)} ${to}`)
    const write = asWrite(step)
    if (!write) return
    checker.checked()
    const seen = last.of(write.process, write.scope)?.observed
    if (seen === undefined || seen === 'unknown') checker.violated(`${write.scope} is set to ${write.to}, and was read as ${seen}`)
    else if (seen === write.to && !pinned.has(`${write.scope} ${write.to}`))
      checker.violated(`${write.scope} is set to ${write.to}, which it was read as`)
  }
})

export const heldStays = invariant('no held change is written', (_scene, checker) => {
  const plans = new Map<number, Plan>()
  return (step) => {
    if (step.kind === 'told' && step.event.kind === 'planned') plans.set(step.process, step.event.plan)
    const write = asWrite(step)
    if (!write) return
    checker.checked()
    const plan = plans.get(write.process)
    const change = plan?.changes.find(({ scope }) => scopeKey(scope) === write.scope)
    const shown = plan?.holds.find((hold) => hold.changes.some(({ scope }) => scopeKey(scope) === write.scope))
    if (shown) checker.violated(`${write.scope} is set to ${write.to}, which hold ${shown.id} shows as held`)
    else if (!change) checker.violated(`${write.scope} is set to ${write.to}, which is in no plan`)
    else if (holdOf(change) !== undefined) checker.violated(`${write.scope} is set to ${write.to}, which hold ${holdOf(change)} holds`)
    else if (change.to !== write.to) checker.violated(`${write.scope} is set to ${write.to}; the plan says ${change.to}`)
  }
})

interface Recorded {
  readonly id: number
  readonly change: { readonly scope: Parameters<typeof scopeKey>[0]; readonly to: ModelCap }
}

const isRecorded = (value: unknown): value is Recorded => typeof value === 'object' && value !== null && 'id' in value && 'change' in value

export const intents = invariant('every write has an intent before it and an outcome after', (scene, checker) => {
  const open = new Map<number, Recorded>()
  return (step) => {
    if (step.kind === 'recorded' && step.method === 'recordIntent') {
      const intent = step.values.find(isRecorded)
      if (intent) open.set(intent.id, intent)
    }
    if (step.kind === 'recorded' && step.method === 'recordOutcome') {
      const intent = step.values.find(isRecorded)
      if (intent) open.delete(intent.id)
    }
    const write = asWrite(step)
    if (write) {
      checker.checked()
      const found = [...open.values()].some(({ change }) => scopeKey(change.scope) === write.scope && change.to === write.to)
      if (!found) checker.violated(`${write.scope} is set to ${write.to} without an intent on the disk`)
    }
    if (step.kind === 'settled') {
      checker.checked()
      for (const intent of scene.ledger()?.openIntents() ?? [])
        checker.violated(`the intent ${intent.id} for ${scopeKey(intent.change.scope)} has no outcome yet`)
    }
  }
})

export const oneWriter = invariant('at most one process writes', (_scene, checker) => {
  const alive = new Set<number>()
  return (step) => {
    if (step.kind === 'started') {
      checker.checked()
      if (alive.size > 0) checker.violated(`process ${step.process} starts beside ${[...alive].join()}`)
      alive.add(step.process)
    }
    if (step.kind === 'died') alive.delete(step.process)
    if (step.kind === 'request' && !alive.has(step.process)) checker.violated(`process ${step.process} sends after its end`)
  }
})

/** The people to whom the service copies a team or group write. */
function copiedTo(scope: ScopeKey, { company, scenario }: Scene): readonly ScopeKey[] {
  if (scenario.switches.capSemantics !== 'fan-out') return []
  const emails = scope === 'team' ? company.approved : scope.startsWith('group:') ? (company.groups.get(scope.slice(6)) ?? []) : []
  return [...emails].map((email) => scopeKey({ kind: 'user', email }))
}

/** A lost write may land for a day, and clocks are wrong by thirty hours at most. */
const DOUBT_MS = 54 * 3_600_000

/** Sent caps that were not refused may be ours, until a reading shows another cap when they cannot land any more. */
function sentCaps(scene: Scene) {
  let sent: readonly { readonly scope: ScopeKey; readonly to: ModelCap; readonly at: number }[] = []
  return {
    note(step: Step): void {
      const write = asWrite(step)
      if (write) sent = [...sent, { scope: write.scope, to: write.to, at: scene.elapsed() }]
      if (step.kind !== 'answered') return
      const { scope, observed, refused } = step
      const last = refused && sent.findLast((one) => one.scope === scope)
      if (last) sent = sent.filter((one) => one !== last)
      if (observed === undefined || observed === 'unknown') return
      sent = sent.filter((one) => one.scope !== scope || one.to === observed || scene.elapsed() - one.at <= DOUBT_MS)
    },
    has: (scope: ScopeKey, cap: ModelCap): boolean => sent.some((one) => one.scope === scope && one.to === cap),
  }
}

export const notOurs = invariant('no scope that is not ours is ever cleared', (scene, checker) => {
  const listed = createListed(scene)
  const sent = sentCaps(scene)
  const ours = new Map<ScopeKey, Set<ModelCap>>()
  const last = new Map<string, ModelCap | 'unknown'>()
  const add = (scope: ScopeKey, cap: ModelCap): void => void ours.set(scope, (ours.get(scope) ?? new Set()).add(cap))
  return (step) => {
    listed.note(step)
    sent.note(step)
    if (step.kind === 'landed') for (const scope of [step.scope, ...copiedTo(step.scope, scene)]) add(scope, step.to)
    if (step.kind === 'answered' && step.scope !== undefined && step.observed !== undefined) {
      last.set(`${step.process} ${step.scope}`, step.observed)
      const isNew = step.observed !== 'unknown' && !ours.get(step.scope)?.has(step.observed)
      if (isNew && isAskedOf(step.scope, step.observed, scene)) add(step.scope, step.observed)
    }
    const write = asWrite(step)
    if (write?.to !== 'none') return
    checker.checked()
    const isAsked = scene.policies().some((policy) => isDeclared(write.scope, 'none', [policy])) || isAskedOf(write.scope, 'none', scene)
    const seen = last.get(`${write.process} ${write.scope}`)
    // Where caps are copied, the cap of a person that was `none` by our write is reverted to `none`, whatever their groups are by now.
    if (scene.scenario.capSemantics === 'copied' && (ours.get(write.scope)?.has('none') || ownedAt(scene, write.scope)?.cap === 'none'))
      return
    // Any cap of a pool's member may have been dealt.
    if (listed.misses(write.scope) || everPooled(scene).has(write.scope)) return
    if (isAsked || seen === undefined || seen === 'unknown' || sent.has(write.scope, seen)) return
    // Another client had set just what we had written above the scope, which looks like a copy of ours.
    if (isMistaken(scene) && scopesOf(scene, write.scope).some((scope) => ours.get(scope)?.has(seen))) return
    if (!ours.get(write.scope)?.has(seen)) checker.violated(`${write.scope} is cleared from ${seen}, which was never ours`)
  }
})

/** Includes caps by the conflict rule and, where caps are copied, inherited caps. */
function isAskedOf(scope: ScopeKey, cap: ModelCap, scene: Scene): boolean {
  if (isDeclared(scope, cap, [scene.policy()])) return true
  if (!scope.includes('@')) return false
  // Whether a rule matches a person changes with readings, so the cap of any rule may have been theirs.
  if (scene.policies().some(({ rules }) => rules.some((rule) => rule.cap === cap))) return true
  const { groupsOf, holds, gone, dark } = scene.company
  const asked = scene.scenario.capSemantics === 'copied' ? personCap : userCap
  // Members of a group that cannot be listed may or may not be known.
  const belongings = [groupsOf, (email: string) => groupsOf(email).filter((id) => !gone.has(id) && !dark.has(id))]
  // A process may still have an earlier policy. When the model cannot tell whether a rule matches, the rest of the policy may have applied.
  const policies = scene.policies().flatMap((policy) => [policy, { ...policy, rules: [] }])
  return belongings.some((known) =>
    policies.some((asking) => asked(asking, scope, { approved: [], groupsOf: known, holds }, scene.now()) === cap),
  )
}

type Policies = ReturnType<Scene['policies']>

/** Whether any of these policies asks for this cap at this scope, grants included. */
function isDeclared(scope: ScopeKey, cap: ModelCap, policies: Policies): boolean {
  return policies.some((policy) => {
    const group = scope.startsWith('group:') ? policy.groups.get(scope.slice(6))?.cap : undefined
    const rule = scope === 'team' ? policy.team : (group ?? policy.users.get(scope))
    if (rule === cap) return true
    return policy.grants.some(
      (one) => one.scope === scope && (one.cap ?? (typeof rule === 'number' ? rule + (one.add ?? 0) : undefined)) === cap,
    )
  })
}
