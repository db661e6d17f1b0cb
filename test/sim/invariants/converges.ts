// Once faults and changes stop, each scope and each person has the cap that policy asks for, except where the program says that it is held,
// rejected, contested or left alone. The desired caps come from the simulation's own model of the policy.
import type { ScopeState, ScopeStatus, WorkspaceView } from '../../../src/core/model/events.ts'
import type { OwnedCap } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { PRUNE_OFF, PRUNING_WAITS } from '../../../src/core/plan/states.ts'
import { type ModelCap, personCap } from '../lives/policy-model.ts'
import { askedNow, type Checker, invariant, ownedAt, type Scene, type Step } from '../steps.ts'
import { intentOf } from './readings.ts'

const EXCUSED: ReadonlySet<ScopeState> = new Set(['held', 'rejected', 'contested'])

export const converges = invariant('in calm times caps are as policy asks', (scene, checker) => {
  const others = writtenByOthers(scene)
  // A scope that had been left alone is asked for another cap, such as by a new deal: the next cycle reads it.
  const freed = new Map<unknown, number>()
  // Time or use has changed the matches of a rule. These people are read between the sweeps, and the next sweep writes the deal that
  // follows to the other members of their pool.
  let turnedMs = Number.NEGATIVE_INFINITY
  const isRecent = (atMs = Number.NEGATIVE_INFINITY): boolean => scene.elapsed() - atMs < scene.scenario.intervalMs
  const isNextSweeps = ({ scope, state, why }: ScopeStatus): boolean =>
    state === 'unknown'
      ? isRecent(freed.get(scopeKey(scope)))
      : state === 'drifted' && why === LEFT && scope.kind === 'user' && scene.scenario.pools && isRecent(turnedMs)
  return (step) => {
    others.note(step)
    if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'conditions') turnedMs = scene.elapsed()
    if (step.kind === 'recorded' && step.method === 'releaseQuarantined')
      for (const scope of [step.values[0]].flat()) freed.set(scope, scene.elapsed())
    if (step.kind === 'settled') check(scene, checker, others.has, isNextSweeps)
  }
})

/** The reason that a focused cycle gives for all other scopes. */
const LEFT = 'left to the next sweep'

function check(
  scene: Scene,
  checker: Checker,
  isOthers: (scope: ScopeKey) => boolean,
  isNextSweeps: (status: ScopeStatus) => boolean,
): void {
  const view = scene.view()
  if (!view) {
    checker.violated('no process runs')
    return
  }
  const doubted = isDoubted(view)
  const isExcused = (one: ScopeStatus): boolean =>
    EXCUSED.has(one.state) || isWaiting(one, view) || isWatched(one) || (doubted && one.state === 'skipped') || isNextSweeps(one)
  const known = new Set(view.scopes.map(({ scope }) => scopeKey(scope)))
  // The last roster and groups that were believed tell neither who came or moved since, nor whether a rule matches, nor who is in an envelope.
  const { rules, delegated } = scene.policy()
  const isMoved = (one: ScopeKey): boolean =>
    view.groups.some(({ id, emails }) => emails.includes(one) !== scene.company.groupsOf(one).includes(id))
  const isUnheard = (one: ScopeKey): boolean => !known.has(one) || rules.length > 0 || delegated.has(one) || isMoved(one)
  const unheard = doubted ? [...askedNow(scene).keys()].filter(isUnheard) : []
  const excused = new Set([...view.scopes.filter(isExcused).map(({ scope }) => scopeKey(scope)), ...unheard.filter(isPerson)])
  if (nearBoundary(scene, scene.scenario.intervalMs + scene.scenario.usageIntervalMs)) return
  checkScopes(scene, excused, checker, view)
  if (!isMisjudged(scene) && !doubted) checkPeople(scene, excused, checker, isOthers)
  for (const { scope, state, why } of view.scopes) {
    const mayKeep = !scene.scenario.prune || view.policy?.valid === false
    const isKept = mayKeep && state === 'drifted' && why === (scene.scenario.prune ? PRUNING_WAITS : PRUNE_OFF)
    if ((state === 'unknown' || state === 'drifted') && !isKept && !excused.has(scopeKey(scope)))
      checker.violated(`${scopeKey(scope)} is still ${state}: ${why ?? ''}`)
  }
}

const isPerson = (scope: ScopeKey): boolean => scope.includes('@')

/** States of scopes about which exit code 0 says nothing: the policy asks for something impossible. */
const LEFT_OUT: ReadonlySet<ScopeState> = new Set(['rejected', 'contested', 'skipped'])

/** Exit codes for a service that is not as declared; each must come with a reason. */
const FAILED = 1
const HELD = 3
const PARTIAL = 4
/** A cap that a grant adds to is gone, such as the team's: the policy has errors, and nothing is written. */
const INVALID = 65

export const applied = invariant('one apply leaves the service as declared, or its exit code tells the reason', (scene, checker) => {
  const others = writtenByOthers(scene)
  // The cap of each scope before the command wrote to it: after a 0 that is not kept the old cap is restored, and then nothing was done.
  let began = new Map<ScopeKey, ModelCap>()
  return (step) => {
    others.note(step)
    if (step.kind === 'world' && step.what === 'apply') began = new Map()
    if (step.kind === 'landed' && !began.has(step.scope)) began.set(step.scope, step.from)
    if (step.kind !== 'applied') return
    const { exit, message, problems, holds, scopes } = step.end
    checker.checked()
    if (exit === HELD && holds === 0) checker.violated('apply ended with 3, and its plan has no hold')
    if (exit === PARTIAL && message === undefined && problems === 0) checker.violated('apply ended with 4, and does not say why')
    // When every write is refused, or reads back as if it had not been made, nothing could be done.
    const isUndone = began.entries().every(([scope, cap]) => scene.stored(scope) === cap || scene.shows(scope) === cap)
    // A cap that a person inherits from a group they have just joined looks like a foreign change.
    const isTold = message?.includes('was read back') === true || (isUndone && (message !== undefined || problems > 0))
    const isFailed = (exit === FAILED && isTold) || (exit === INVALID && began.size === 0)
    if (exit !== HELD && exit !== PARTIAL && exit !== 0 && !isFailed) checker.violated(`apply ended with ${exit}: ${message ?? ''}`)
    if (exit !== 0 || nearBoundary(scene, scene.scenario.intervalMs)) return
    // A cap of the conflict rule that is no longer desired is cleared after two readings of the groups, and one apply makes one reading.
    // So does a rule that has come to match, where nothing else is declared for the person any more.
    const isLeft = ({ state, reason = '' }: ScopeStatus): boolean => LEFT_OUT.has(state) || reason.includes('agreeing readings')
    const excused = new Set(scopes.filter(isLeft).map(({ scope }) => scopeKey(scope)))
    checkScopes(scene, excused, checker, { scopes })
    if (!isMisjudged(scene)) checkPeople(scene, excused, checker, others.has)
  }
})

/**
 * Scopes where another client wrote last; its team or group write may have reached all people where the service copies. A foreign cap that
 * a grant of ours had replaced is foreign again once it is restored, unless policy has asked for the same cap meanwhile.
 */
function writtenByOthers(scene: Scene) {
  const scopes = new Set<ScopeKey>()
  const theirs = new Map<ScopeKey, ModelCap>()
  const givenBack = new Set<string>()
  const reachesAll = (scope: ScopeKey): boolean => !scope.includes('@') && scene.scenario.switches.capSemantics === 'fan-out'
  return {
    note(step: Step): void {
      if (step.kind === 'foreign')
        for (const scope of step.scopes) {
          scopes.add(scope)
          theirs.set(scope, scene.stored(scope))
        }
      const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
      if (intent?.entry.kind === 'restore') givenBack.add(`${scopeKey(intent.change.scope)} ${intent.change.to}`)
      if (step.kind === 'recorded' && step.method === 'saveOwned')
        for (const { scope, cap } of step.values as readonly OwnedCap[])
          if (theirs.get(scopeKey(scope)) === cap) theirs.delete(scopeKey(scope))
      if (step.kind !== 'landed') return
      const isTheirs = theirs.get(step.scope) === step.to && givenBack.delete(`${step.scope} ${step.to}`)
      if (isTheirs) scopes.add(step.scope)
      else scopes.delete(step.scope)
    },
    has: (scope: ScopeKey): boolean => scopes.has(scope) || scopes.values().some(reachesAll),
  }
}

/** More than half of the people are gone: neither the roster nor the groups are believed until a person approves. */
const isDoubted = ({ conditions }: WorkspaceView): boolean => conditions.some(({ type }) => type === 'RosterDoubted')

/** A foreign change that is only shown. */
export const isWatched = ({ state, why = '' }: ScopeStatus): boolean => state === 'drifted' && why.includes('onDrift is alert')

/** A change that depends on a held change, or on one that was refused and is left alone for a day, waits with it and says so. */
const isWaiting = ({ state, why = '' }: ScopeStatus, { holds, scopes }: WorkspaceView): boolean =>
  state === 'drifted' &&
  ((holds.length > 0 && (why.includes('keeps it back') || why.includes('waits itself'))) ||
    ((why.includes('is refused') || why.includes('waits itself')) && scopes.some((one) => one.state === 'rejected')))

/** The configuration says layers and the service copies: the program sees it, holds team and group writes, and cannot correct all caps. */
const isMisjudged = ({ scenario }: Scene): boolean => scenario.switches.capSemantics === 'fan-out' && scenario.capSemantics === 'layered'

/** Whether a grant has started or ended within this time before now. */
export function nearBoundary(scene: Scene, ms: number): boolean {
  const now = scene.now()
  const isNear = (at: number | undefined): boolean => at !== undefined && at <= now && now - at < ms
  return scene.policy().grants.some(({ fromAt, untilAt }) => isNear(fromAt) || isNear(untilAt))
}

/** The cap that a scope inherits; with `counts` only from those of its groups. */
export function inheritedCap(scene: Scene, scope: ScopeKey, counts: (group: string) => boolean = () => true): ModelCap {
  const team = scene.stored(scopeKey({ kind: 'team' }))
  if (scope === 'team') return 'none'
  const groups = scene.company.groupsOf(scope).flatMap((id) => {
    if (!counts(id)) return []
    const cap = scene.stored(scopeKey({ kind: 'group', id }))
    return cap === 'none' ? [] : cap
  })
  return groups.length > 0 ? Math.min(...groups) : team
}

/** The same without groups that no policy declares, or that cannot be listed now. */
const inheritedAsListed = (scene: Scene, scope: ScopeKey): ModelCap =>
  inheritedCap(scene, scope, (id) => scene.policy().groups.has(id) && !scene.company.dark.has(id))

function checkScopes(scene: Scene, excused: ReadonlySet<ScopeKey>, checker: Checker, view: Pick<WorkspaceView, 'scopes'>): void {
  if (scene.scenario.capSemantics === 'copied') return
  const states = new Map(view.scopes.map((one) => [scopeKey(one.scope), one.state]))
  for (const [scope, cap] of askedNow(scene)) {
    if (excused.has(scope) || cap === 'conflict' || cap === 'open') continue
    checker.checked()
    const seen = cap === 'none' && !isHidden(scene, scope) ? scene.stored(scope) : scene.shows(scope)
    // A reading of the cap that applies anyway looks like an inherited one, and leaves every person the same cap.
    if (cap === 'none' && (seen === inheritedCap(scene, scope) || seen === inheritedAsListed(scene, scope) || isMisjudged(scene))) continue
    // Another client has set just what the scope showed, inherited from a group of no policy, when it was read back as cleared.
    if (cap === 'none' && ownedAt(scene, scope)?.shows === seen) continue
    if (seen !== cap) checker.violated(`${scope} should have ${cap} and has ${seen}; it is said to be ${states.get(scope) ?? 'nothing'}`)
  }
}

/** A 0 that reads back as unset, so no client can see it. */
const isHidden = (scene: Scene, scope: ScopeKey): boolean => scene.scenario.switches.zeroCap === 'omitted' && scene.stored(scope) === 0

/** Checks the cap in force of all people whose scopes are all managed, visible and not excused. */
function checkPeople(scene: Scene, excused: ReadonlySet<ScopeKey>, checker: Checker, isOthers: (scope: ScopeKey) => boolean): void {
  const inForce = scene.inForce()
  const policy = scene.policy()
  const people = scene.company
  const asked = askedNow(scene)
  const isClear = (scope: ScopeKey): boolean =>
    !excused.has(scope) && !isHidden(scene, scope) && (asked.has(scope) || scene.stored(scope) === 'none')
  for (const email of people.approved) {
    const groups = people.groupsOf(email).map((id) => scopeKey({ kind: 'group', id }))
    const own = scopeKey({ kind: 'user', email })
    const isCopied = scene.scenario.capSemantics === 'copied'
    if (![scopeKey({ kind: 'team' }), ...groups].every(isClear) || excused.has(own) || (!isCopied && !isClear(own))) continue
    const cap = personCap(policy, email, people, scene.now())
    if (cap === undefined || cap === 'conflict' || cap === 'open') continue
    // Where caps are copied, a foreign cap of a person for whom nothing is declared is not ours to clear.
    if (isCopied && cap === 'none' && !asked.has(own) && isOthers(own)) continue
    checker.checked()
    if (inForce.get(email) !== cap) checker.violated(`${email} should have ${cap} in force and has ${inForce.get(email)}`)
  }
}
