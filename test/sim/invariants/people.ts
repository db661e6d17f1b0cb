// People at every write that lands: protected people keep their cap, and on the way from before to after no person falls below the lesser
// of the two, or loses every cap. Only for layered caps; people whose cap the program cannot know are left out.
import type { Plan } from '../../../src/core/model/change.ts'
import type { CycleEvent } from '../../../src/core/model/events.ts'
import type { LedgerFacts } from '../../../src/core/model/facts.ts'
import type { Roster } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { askedScopes, type ModelCap } from '../lives/policy-model.ts'
import { type Checker, type InForce, invariant, managedScopes, ownedAt, type Scene, type Step } from '../steps.ts'
import { inForceWith, withChanges } from '../world/company.ts'
import { FULL_DISK } from '../world/crash.ts'
import { createReleases } from './releases.ts'

export const worth = (cap: ModelCap | undefined): number => (cap === undefined || cap === 'none' ? Number.POSITIVE_INFINITY : cap)

export const isLayered = ({ scenario }: Scene): boolean =>
  scenario.switches.capSemantics !== 'fan-out' && scenario.capSemantics === 'layered'

/** Foreign changes misled the program about how this service keeps or shows caps. */
export function isMistaken(scene: Scene): boolean {
  const { caps, reads } = scene.ledger()?.fact('seen') ?? {}
  const { capSemantics, capReads } = scene.scenario.switches
  return (caps?.value === 'copied' && capSemantics === 'layered') || (reads !== undefined && reads.value !== capReads)
}

/** With a full disk the reading of the roster is known to the program, but it emits no event. */
export const isDiskFull = (step: Step): boolean =>
  step.kind === 'told' && step.event.kind === 'cycle-finished' && step.event.message === FULL_DISK

/** The members of each group, as last listed. */
type Listing = ReadonlyMap<string, ReadonlySet<string>>

const listingOf = ({ groups }: Pick<Extract<CycleEvent, { kind: 'usage-read' }>, 'groups'>): Listing =>
  new Map(groups.map(({ id, emails }) => [id, new Set(emails)]))

const approvedOn = (roster: Roster | undefined): ReadonlySet<string> =>
  new Set(roster?.people.filter(({ status }) => roster.statusesAbsent || status === 'approved').map(({ email }) => email))

/** What a process knows of the service: the answers that reached it. */
export function createSight() {
  const seen = new Map<ScopeKey, ModelCap | 'unknown'>()
  let listed: Listing = new Map()
  let people: ReadonlySet<string> = new Set()
  /** The person is on the roster, their listed groups are exactly those they are in, and their other groups have no cap. */
  const knowsGroups = ({ company, stored }: Scene, email: string): boolean =>
    people.has(email) &&
    listed.entries().every(([id, members]) => members.has(email) === company.groupsOf(email).includes(id)) &&
    company.groupsOf(email).every((id) => listed.has(id) || stored(scopeKey({ kind: 'group', id })) === 'none')
  // No client can see a 0 that reads back as unset.
  const isSeen = (scene: Scene, scope: ScopeKey): boolean =>
    (scene.stored(scope) !== 0 || scene.shows(scope) === 0) &&
    (seen.get(scope) ?? 'none') === scene.shows(scope) &&
    (seen.has(scope) || scene.stored(scope) === 'none')
  return {
    note(step: Step): void {
      if (step.kind === 'started') seen.clear()
      if (step.kind === 'started' || isDiskFull(step)) {
        listed = new Map()
        people = new Set()
      }
      if (step.kind === 'told' && step.event.kind === 'usage-read') {
        listed = listingOf(step.event)
        people = approvedOn(step.event.roster)
      }
      // A doubted roster that a person has approved emits no new event.
      const usage = step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'usage' ? step.values[1] : undefined
      if (usage) people = approvedOn((usage as LedgerFacts['usage'])?.roster)
      if (step.kind === 'answered' && step.scope !== undefined && step.observed !== undefined) seen.set(step.scope, step.observed)
      if (step.kind === 'landed') seen.set(step.scope, step.to)
    },
    knowsGroups,
    /** The same where some of the person's groups cannot be listed: each person counts as a possible member of those. */
    isTrueInTheDark(scene: Scene, email: string): boolean {
      const { company, stored } = scene
      const groups = company.groupsOf(email)
      return (
        people.has(email) &&
        groups.some((id) => company.dark.has(id) && !listed.has(id)) &&
        listed.entries().every(([id, members]) => members.has(email) === groups.includes(id)) &&
        groups.every((id) => listed.has(id) || company.dark.has(id) || stored(scopeKey({ kind: 'group', id })) === 'none') &&
        !looksUnset(scene, email) &&
        scopesOf(scene, email).every((scope) => isSeen(scene, scope) && !looksSet(scene, scope))
      )
    },
    /** All readings that decide the person's cap are correct, or not set. `landed` has just been written, and the caller judges it. */
    isTrue(scene: Scene, email: string, landed?: ScopeKey): boolean {
      // A group that was never listed has just lost its cap: the person had it all the same.
      const isUnlisted = scene.company.groupsOf(email).some((id) => scopeKey({ kind: 'group', id }) === landed && !listed.has(id))
      return (
        !isUnlisted &&
        knowsGroups(scene, email) &&
        !looksUnset(scene, email) &&
        scopesOf(scene, email).every((scope) => scope === landed || (isSeen(scene, scope) && !looksSet(scene, scope)))
      )
    },
  }
}

/** A scope for which `none` is desired has its ancestor's cap: it looks like one that only shows the inherited cap. */
function looksUnset(scene: Scene, email: string): boolean {
  const { company } = scene
  const groups = company.groupsOf(email).map((id) => scopeKey({ kind: 'group', id }))
  const asked = (): ReturnType<typeof askedScopes> =>
    askedScopes(scene.policy(), { approved: [email], groupsOf: company.groupsOf, holds: company.holds }, scene.now())
  const team = scene.stored(scopeKey({ kind: 'team' }))
  // The desired caps come last, because they are expensive to compute.
  const isFromAncestorWrite = (scope: ScopeKey, ancestorCaps: readonly ModelCap[]): boolean =>
    scene.stored(scope) !== 'none' && ancestorCaps.includes(scene.stored(scope)) && asked().get(scope) === 'none'
  return (
    groups.some((group) => isFromAncestorWrite(group, [team])) ||
    isFromAncestorWrite(email as ScopeKey, [team, ...groups.map(scene.stored)])
  )
}

/** Another client has cleared a cap that we wrote, and the inherited cap is the same: the reading does not show the change. */
function looksSet(scene: Scene, scope: ScopeKey): boolean {
  const shows = scene.shows(scope)
  const isGone = scene.stored(scope) === 'none' && shows !== 'none'
  return isGone && ownedAt(scene, scope)?.written === true && ownedAt(scene, scope)?.cap === shows
}

export const scopesOf = ({ company }: Scene, email: string): readonly ScopeKey[] => [
  scopeKey({ kind: 'team' }),
  email as ScopeKey,
  ...company.groupsOf(email).map((id) => scopeKey({ kind: 'group', id })),
]

/** Finds people in a declared group that was listed without them, or is gone: the program cannot know that its cap applies to them. */
export function createListed(scene: Scene) {
  let listed: Listing = new Map()
  const lacks = (id: string, scope: ScopeKey): boolean => scene.policy().groups.has(id) && !listed.get(id)?.has(scope)
  return {
    lacks,
    note(step: Step): void {
      if (step.kind === 'told' && step.event.kind === 'usage-read') listed = listingOf(step.event)
    },
    /** Where caps are copied. */
    misses: (scope: ScopeKey): boolean => !isLayered(scene) && scene.company.groupsOf(scope).some((id) => lacks(id, scope)),
  }
}

/** Finds people whose scopes are all managed. Other scopes are not read, so the program does not know of a cap there. */
export function managedPeople(scene: Scene): (email: string) => boolean {
  const managed = managedScopes(scene)
  return (email) => scopesOf(scene, email).every((key) => managed.has(key) || scene.stored(key) === 'none')
}

export const protectedPeople = invariant('protected people are never lowered', (scene, checker) => {
  const sight = createSight()
  const releases = createReleases(scene)
  let plan: Plan | undefined
  let atFirst: InForce = new Map()
  let givenBack: InForce = new Map()
  const judge = (step: Extract<Step, { kind: 'landed' }>): void => {
    const change = plan?.changes.find(({ scope }) => scopeKey(scope) === step.scope)
    if (change?.from !== step.from || change.grantEnd || releases.has(change)) return
    const isManaged = managedPeople(scene)
    // After a full disk and a broken file the policy in force is older than the published one.
    const { protectedPeople } = (plan && scene.policyNamed(plan.policyDigest)) ?? scene.policy()
    for (const email of protectedPeople) {
      const before = step.before.get(email)
      // A first cap that blocks no person is not a loss.
      if (
        before === undefined ||
        before === 'none' ||
        atFirst.get(email) === 'none' ||
        !isManaged(email) ||
        !sight.isTrue(scene, email, step.scope)
      )
        continue
      checker.checked()
      const after = step.after.get(email)
      // Where reads show inherited caps, the origin of a person's cap is unknown: caps that were verified or released are written.
      const isOurs = ownedAt(scene, step.scope)?.cap === step.to || releases.hasGoal(change)
      if (scene.scenario.switches.capReads === 'inherited' && isOurs) continue
      // The write uncovers a cap to which a person has agreed.
      if (plan?.changes.some((one) => one.to === after && releases.has(one))) continue
      // A grant ends with the same plan, and leaves the person as much or less.
      const given = givenBack.get(email)
      if (given !== undefined && worth(given) <= worth(after)) continue
      // A cap that this plan has just raised may go back.
      if (after === 'none' || worth(after) < Math.min(before, worth(atFirst.get(email))))
        checker.violated(`${email} is protected and falls from ${before} to ${after} with ${step.scope}`)
    }
  }
  return (step) => {
    releases.note(step)
    if (step.kind === 'told' && step.event.kind === 'planned') {
      plan = step.event.plan
      const ends = plan.changes.filter(({ grantEnd }) => grantEnd)
      if (plan.changes.length > 0) atFirst = scene.inForce()
      givenBack = ends.length > 0 ? inForceWith(scene.company, withChanges(scene.company.caps(), ends)) : new Map()
    }
    if (step.kind === 'landed' && !step.late && isLayered(scene) && !isMistaken(scene)) judge(step)
    sight.note(step)
  }
})

/** The writes of one process between two foreign changes. */
interface Run {
  readonly before: InForce
  /** People whose groups were listed correctly. */
  readonly known: Set<string>
  /** The caps in force after each write; `none` between two caps is a violation. */
  readonly states: InForce[]
  readonly beganAt: number
}

/** Whether a grant may have started or ended since then, by any of the clocks, so that the desired caps have changed. */
function hasTurned(scene: Scene, sinceAt: number): boolean {
  const margin = Math.abs(scene.skewMs())
  const isBetween = (at = Number.POSITIVE_INFINITY): boolean => at >= sinceAt - margin && at <= scene.now() + margin
  return scene.policy().grants.some(({ fromAt, untilAt }) => isBetween(fromAt) || isBetween(untilAt))
}

/** When each pool was dealt. */
function dealsIn(step: Step): string | undefined {
  if (step.kind !== 'recorded' || step.method !== 'saveFact' || step.values[0] !== 'pools') return undefined
  const pools = (step.values[1] ?? {}) as NonNullable<LedgerFacts['pools']>
  return JSON.stringify(Object.entries(pools).map(([name, { dealtAt }]) => [name, dealtAt]))
}

export const safeOnTheWay = invariant('no person is below the lesser of before and after, nor uncapped, on the way', (scene, checker) => {
  const sight = createSight()
  let run: Run | undefined
  let isTrue = false
  let plan: Plan | undefined
  let healing: ReadonlySet<ScopeKey> = new Set()
  // Scopes where another client wrote last, or a write of ours landed long after its sender gave it up.
  const others = new Set<ScopeKey>()
  const isReverted = (email: string): boolean => scopesOf(scene, email).some((scope) => others.has(scope) && healing.has(scope))
  let deals: string | undefined
  const end = (): void => {
    if (run) judge(run, checker)
    run = undefined
  }
  return (step) => {
    // The next deal may follow in the same cycle after a deal that was held until now.
    const dealt = dealsIn(step)
    if (dealt !== undefined && dealt !== deals) {
      end()
      deals = dealt
    }
    if (step.kind === 'told' && step.event.kind === 'planned') {
      // A policy that arrives in the middle of a cycle begins anew: what the one before had already written is where it begins.
      if (run && (hasTurned(scene, run.beganAt) || step.event.plan.policyDigest !== plan?.policyDigest)) end()
      plan = step.event.plan
      healing = new Set(step.event.plan.changes.flatMap((one) => (one.healing ? [scopeKey(one.scope)] : [])))
    }
    if (step.kind === 'landed' && isLayered(scene)) {
      const isProbe = step.to === 0 && scene.scenario.switches.zeroCap === 'omitted'
      isTrue = !step.late && !isProbe
      // A 0 that the service drops leaves no cap until the old cap is restored.
      if (!isTrue) run = undefined
      else {
        run ??= {
          before: step.before,
          known: new Set(scene.company.approved.filter((email) => sight.knowsGroups(scene, email))),
          states: [],
          beganAt: scene.now(),
        }
        // No person has a right to a foreign cap: people whose cap changes by a revert, by a write before it, or by one that replaces the
        // foreign cap, are not judged. A write that only undoes one of our own is no revert.
        for (const [email, cap] of step.after)
          if (cap !== step.before.get(email) && (others.has(step.scope) || isReverted(email))) run.known.delete(email)
        // The service showed an old cap, so the plan was made for people who had another.
        const planned = plan?.changes.find(({ scope }) => scopeKey(scope) === step.scope)
        if (planned && planned.from !== step.from)
          for (const [email, cap] of step.after) if (cap !== step.before.get(email)) run.known.delete(email)
        run.states.push(step.after)
      }
      if (step.late) others.add(step.scope)
      else others.delete(step.scope)
    }
    if (step.kind === 'foreign') for (const scope of step.scopes) others.add(scope)
    if (isTrue && step.kind === 'told' && step.event.kind === 'cycle-finished') end()
    // Foreign changes in between are not our responsibility.
    if (step.kind === 'foreign' || step.kind === 'world' || step.kind === 'died') run = undefined
    sight.note(step)
  }
})

function judge({ before, known, states }: Run, checker: Checker): void {
  const after = states.at(-1)
  if (!after) return
  checker.checked()
  for (const [email, was] of before) {
    const is = after.get(email)
    if (is === undefined || !known.has(email)) continue
    for (const state of states) {
      const now = state.get(email)
      if (now === undefined) continue
      if (worth(now) < Math.min(worth(was), worth(is))) checker.violated(`${email} has ${now} on the way from ${was} to ${is}`)
      if (now === 'none' && was !== 'none' && is !== 'none') checker.violated(`${email} is without a cap on the way from ${was} to ${is}`)
    }
  }
}
