// Once faults and changes stop, what is observed is what is asked: for each scope, and for each person, but for what the program says is held,
// rejected, contested or left alone. What is asked is worked out by the simulation's own model of the policy.
import type { ScopeState, ScopeStatus, WorkspaceView } from '../../../src/core/model/events.ts'
import type { OwnedCap } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { PRUNE_OFF, PRUNING_WAITS } from '../../../src/core/plan/states.ts'
import { askedScopes, type Belonging, type ModelCap, personCap } from '../lives/policy-model.ts'
import type { Checker, Invariant, Scene, Step } from '../steps.ts'
import { intentOf } from './looks.ts'

const EXCUSED: ReadonlySet<ScopeState> = new Set(['held', 'rejected', 'contested'])

export const converges: Invariant = {
  name: 'converges',
  watch: (scene, checker) => {
    const others = writtenByOthers(scene)
    // Another cap was asked of a scope that had been left alone, such as by a new deal: the next cycle reads it.
    const freed = new Map<unknown, number>()
    // Whom a rule holds for has turned, as it does by time and use alone: they are looked at beside the sweeps, and the deal that follows is
    // written to the others of their pool by the next sweep.
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
  },
}

/** What a cycle that looks at some scopes says of the others. */
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
  // Who came after the last roster that is believed, and of whom it does not tell what a rule asks for.
  const isUnheard = (one: ScopeKey): boolean => !known.has(one) || scene.policy().rules.length > 0
  const unheard = doubted ? [...askedScopes(scene.policy(), belonging(scene), scene.now()).keys()].filter(isUnheard) : []
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

/** Codes of scopes that an exit code of 0 says nothing of: the policy itself asks for what cannot be. */
const LEFT_OUT: ReadonlySet<ScopeState> = new Set(['rejected', 'contested', 'skipped'])

/** Codes of what ends without everything being as declared, which has to say why. */
const FAILED = 1
const HELD = 3
const PARTIAL = 4
/** What `add` raises is gone, such as a team's cap: policies have errors, and nothing is written. */
const INVALID = 65

export const applied: Invariant = {
  name: 'one apply leaves the service as declared, or its exit code says why',
  watch: (scene, checker) => {
    const others = writtenByOthers(scene)
    // What each scope had before the command wrote there: a 0 that is not kept is given back, and then nothing was done.
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
      // Where all there was to write is refused, or reads as if nothing had been written, nothing could be done.
      const isUndone = began.entries().every(([scope, cap]) => scene.stored(scope) === cap || scene.shows(scope) === cap)
      // What somebody inherits from a group that they have just come to reads as foreign.
      const isTold = message?.includes('was read back') === true || (isUndone && (message !== undefined || problems > 0))
      const isFailed = (exit === FAILED && isTold) || (exit === INVALID && began.size === 0)
      if (exit !== HELD && exit !== PARTIAL && exit !== 0 && !isFailed) checker.violated(`apply ended with ${exit}: ${message ?? ''}`)
      if (exit !== 0 || nearBoundary(scene, scene.scenario.intervalMs)) return
      // A cap of the conflict rule that nothing asks for any more goes after two readings of the groups, and one apply makes one.
      const isLeft = ({ state, reason = '' }: ScopeStatus): boolean => LEFT_OUT.has(state) || reason.includes('agreeing readings')
      const excused = new Set(scopes.filter(isLeft).map(({ scope }) => scopeKey(scope)))
      checkScopes(scene, excused, checker, { scopes })
      if (!isMisjudged(scene)) checkPeople(scene, excused, checker, others.has)
    }
  },
}

/**
 * Where others wrote last; a wide write of theirs may have reached everybody where the service copies. What a grant of ours has replaced is
 * theirs again once it is given back, unless policy has asked for the same meanwhile.
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

/** More than half of the people are gone: neither who they are nor their groups is believed until somebody approves. */
const isDoubted = ({ conditions }: WorkspaceView): boolean => conditions.some(({ type }) => type === 'RosterDoubted')

/** What others changed is only shown. */
export const isWatched = ({ state, why = '' }: ScopeStatus): boolean => state === 'drifted' && why.includes('onDrift is alert')

/** What counts on a change that is held, or was refused and is left alone for a day, waits with it, and says so. */
const isWaiting = ({ state, why = '' }: ScopeStatus, { holds, scopes }: WorkspaceView): boolean =>
  state === 'drifted' &&
  ((holds.length > 0 && (why.includes('keeps it back') || why.includes('waits itself'))) ||
    ((why.includes('is refused') || why.includes('waits itself')) && scopes.some((one) => one.state === 'rejected')))

/** The configuration says layers and the service copies: the program sees that, holds wide writes, and cannot put everything right. */
const isMisjudged = ({ scenario }: Scene): boolean => scenario.switches.capSemantics === 'fan-out' && scenario.capSemantics === 'layered'

/** Whether a grant starts or ends within that time before now. */
export function nearBoundary(scene: Scene, ms: number): boolean {
  const now = scene.now()
  const isNear = (at: number | undefined): boolean => at !== undefined && at <= now && now - at < ms
  return scene.policy().grants.some(({ fromAt, untilAt }) => isNear(fromAt) || isNear(untilAt))
}

/** What applies at a scope where nothing is set; with only those of its groups that count. */
export function widerOf(scene: Scene, scope: ScopeKey, counts: (group: string) => boolean = () => true): ModelCap {
  const team = scene.stored(scopeKey({ kind: 'team' }))
  if (scope === 'team') return 'none'
  const groups = scene.company.groupsOf(scope).flatMap((id) => {
    if (!counts(id)) return []
    const cap = scene.stored(scopeKey({ kind: 'group', id }))
    return cap === 'none' ? [] : cap
  })
  return groups.length > 0 ? Math.min(...groups) : team
}

/** The same without groups that no policy declares, or that nobody can list now. */
const widerAsListed = (scene: Scene, scope: ScopeKey): ModelCap =>
  widerOf(scene, scope, (id) => scene.policy().groups.has(id) && !scene.company.dark.has(id))

const belonging = ({ company }: Scene): Belonging => ({ approved: company.approved, groupsOf: company.groupsOf, holds: company.holds })

function checkScopes(scene: Scene, excused: ReadonlySet<ScopeKey>, checker: Checker, view: Pick<WorkspaceView, 'scopes'>): void {
  if (scene.scenario.capSemantics === 'copied') return
  const states = new Map(view.scopes.map((one) => [scopeKey(one.scope), one.state]))
  for (const [scope, cap] of askedScopes(scene.policy(), belonging(scene), scene.now())) {
    if (excused.has(scope) || cap === 'conflict' || cap === 'open') continue
    checker.checked()
    const seen = cap === 'none' && !isHidden(scene, scope) ? scene.stored(scope) : scene.shows(scope)
    // A reading that shows what applies anyway cannot be told from an inherited one, and nobody has more or less by it.
    if (cap === 'none' && (seen === widerOf(scene, scope) || seen === widerAsListed(scene, scope) || isMisjudged(scene))) continue
    if (seen !== cap) checker.violated(`${scope} should have ${cap} and has ${seen}; it is said to be ${states.get(scope) ?? 'nothing'}`)
  }
}

/** A 0 that reads back as unset: nobody can see it. */
const isHidden = (scene: Scene, scope: ScopeKey): boolean => scene.scenario.switches.zeroCap === 'omitted' && scene.stored(scope) === 0

/** The cap in force of everybody whose scopes are all managed, seen and not excused. */
function checkPeople(scene: Scene, excused: ReadonlySet<ScopeKey>, checker: Checker, isOthers: (scope: ScopeKey) => boolean): void {
  const inForce = scene.inForce()
  const policy = scene.policy()
  const people = belonging(scene)
  const asked = askedScopes(policy, people, scene.now())
  const isClear = (scope: ScopeKey): boolean =>
    !excused.has(scope) && !isHidden(scene, scope) && (asked.has(scope) || scene.stored(scope) === 'none')
  for (const email of people.approved) {
    const groups = people.groupsOf(email).map((id) => scopeKey({ kind: 'group', id }))
    const own = scopeKey({ kind: 'user', email })
    const isCopied = scene.scenario.capSemantics === 'copied'
    if (![scopeKey({ kind: 'team' }), ...groups].every(isClear) || excused.has(own) || (!isCopied && !isClear(own))) continue
    const cap = personCap(policy, email, people, scene.now())
    if (cap === undefined || cap === 'conflict' || cap === 'open') continue
    // Where caps are copied, what others gave to somebody of whom nothing is declared is not ours to clear.
    if (isCopied && cap === 'none' && !asked.has(own) && isOthers(own)) continue
    checker.checked()
    if (inForce.get(email) !== cap) checker.violated(`${email} should have ${cap} in force and has ${inForce.get(email)}`)
  }
}
