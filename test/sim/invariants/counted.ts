// Counts again, in people and from the service's own state, what the guards count: a plan lowers no more people than the guards allow.
// People whose cap cannot be known for sure are left out, so an error of this invariant is never a false alarm.
import { type Change, holdOf, type Plan, type ShareLimit } from '../../../src/core/model/change.ts'
import type { Roster } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { MeasuredAddOn } from '../../../src/core/use/add-on.ts'
import { ENVELOPE_GROUPS } from '../lives/envelope.ts'
import type { ModelCap } from '../lives/policy-model.ts'
import { type InForce, invariant, type Scene } from '../steps.ts'
import { inForceWith, withChanges } from '../world/company.ts'
import { createSight, isLayered, managedPeople, scopesOf } from './people.ts'
import { everPooled } from './pools.ts'
import { createReleases } from './releases.ts'

/** A plan is carried out under the configuration that it was made with. */
const HOUR_MS = 3_600_000

/** A plan before any of its writes. */
interface Planned {
  readonly plan: Plan
  readonly total: number
  /** The caps that were set, and those that were set when an interrupted plan began. */
  readonly caps: ReadonlyMap<ScopeKey, number>
  readonly begun: ReadonlyMap<ScopeKey, number>
  /** People for whom everything is known that decides their cap. */
  readonly known: readonly string[]
}

export const countedPeople = invariant('no plan lowers more people than the guards allow', (scene, checker) => {
  const sight = createSight()
  const releases = createReleases(scene)
  const mostUsed = new Map<string, number>()
  // By e-mail; a service that tells add-on use may leave it out of the roster.
  let measured: ReadonlyMap<string, number> = new Map()
  const useOf = (email: string): number => Math.max(mostUsed.get(email) ?? 0, measured.get(email) ?? 0)
  let counted: string | undefined
  let planned: Planned | undefined
  return (step) => {
    sight.note(step)
    releases.note(step)
    // An approval may have made a smaller roster the accepted one.
    if (step.kind === 'started' || (step.kind === 'recorded' && step.method === 'saveApproval')) counted = undefined
    if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'addOn')
      measured = measuredIn(step.values[1] as MeasuredAddOn | undefined)
    if (step.kind === 'told' && step.event.kind === 'usage-read') {
      for (const { email, used = 0 } of step.event.roster?.people ?? []) mostUsed.set(email, Math.max(used, mostUsed.get(email) ?? 0))
      const groups = step.event.groups.map(({ id, emails }) => [id, emails] as const)
      // When the roster cannot be read again, the last known good one counts.
      const isTrue =
        approvedOn(step.event.roster) === `${scene.company.approved.toSorted()}` &&
        membersOf(
          scene,
          groups.map(([id]) => id),
        ) === textOfGroups(groups)
      counted = isTrue ? peopleOf(scene) : undefined
    }
    if (step.kind === 'told' && step.event.kind === 'planned') {
      // A plan without changes to write lowers no person.
      const goes = step.event.plan.changes.some((change) => holdOf(change) === undefined)
      const isKnown = goes && isLayered(scene) && counted !== undefined && counted === peopleOf(scene)
      planned = isKnown ? asPlanned(step.event.plan, scene, sight) : undefined
    }
    if (step.kind !== 'request' || step.operation !== 'UsageConfig' || !planned) return
    checker.checked()
    judge(planned, scene, { isReleased: releases.isOpen, useOf }, (message) => checker.violated(message))
    planned = undefined
  }
})

/** The most that was measured for each person in a cycle: early in a cycle the previous one counts too. */
function measuredIn({ cycles }: Pick<MeasuredAddOn, 'cycles'> = { cycles: [] }): ReadonlyMap<string, number> {
  const most = new Map<string, number>()
  for (const { people } of cycles) for (const [email, used] of Object.entries(people)) most.set(email, Math.max(used, most.get(email) ?? 0))
  return most
}

/** Undefined without a roster. */
const approvedOn = (roster: Roster | undefined): string | undefined =>
  roster && `${roster.people.flatMap(({ email, status }) => (status === 'approved' || roster.statusesAbsent ? [email] : [])).sort()}`

const textOfGroups = (groups: readonly (readonly [string, Iterable<string>])[]): string =>
  groups
    .map(([id, emails]) => `${id}: ${[...emails].sort()}`)
    .sort()
    .join('; ')

const membersOf = ({ company }: Scene, ids: readonly string[]): string => textOfGroups(ids.map((id) => [id, company.groups.get(id) ?? []]))

const peopleOf = ({ company }: Scene): string => `${company.approved} | ${textOfGroups([...company.groups])}`

function asPlanned(plan: Plan, scene: Scene, sight: ReturnType<typeof createSight>): Planned {
  const caps = new Map(scene.company.caps())
  const begun = new Map(caps)
  for (const [key, cap] of Object.entries(scene.ledger()?.fact('planBaseline') ?? {})) {
    if (cap === 'none') begun.delete(key as ScopeKey)
    else begun.set(key as ScopeKey, cap)
  }
  const isManaged = managedPeople(scene)
  const known = scene.company.approved.filter((email) => sight.isTrue(scene, email) && isManaged(email))
  return { plan, total: scene.company.approved.length, caps, begun, known }
}

interface Knowledge {
  readonly isReleased: (change: Change) => boolean
  useOf(email: string): number
}

function judge(planned: Planned, scene: Scene, knowledge: Knowledge, violated: (message: string) => void): void {
  const goes = planned.plan.changes.filter((change) => holdOf(change) === undefined)
  const judgeSome = (changes: readonly Change[], counts?: (key: ScopeKey) => boolean): void =>
    judgePart(planned, { changes, counts }, scene, knowledge, violated)
  if (scene.scenario.envelope === undefined) {
    judgeSome(goes)
    return
  }
  // Changes of platform are judged alone, and those of an envelope beside them. A member's own change is platform's, or follows from the
  // team's group and is the team's: with platform's such members are not counted.
  const isTeams = (key: ScopeKey): boolean => scene.policies().some(({ delegated }) => delegated.has(key))
  const isOfMember = (key: ScopeKey): boolean => ENVELOPE_GROUPS.some((id) => scene.company.groups.get(id)?.has(key))
  const ofMembers = new Set<string>(goes.map(({ scope }) => scopeKey(scope)).filter(isOfMember))
  const known = planned.known.filter((email) => !ofMembers.has(email))
  const ofPlatform = goes.filter(({ scope }) => !isTeams(scopeKey(scope)))
  judgePart({ ...planned, known }, { changes: ofPlatform, counts: undefined }, scene, knowledge, violated)
  judgeSome(goes, (key) => scene.policy().delegated.has(key))
}

/** Changes that are judged together; `counts`: whether more than the guards allow is wrong by a change of this scope. */
interface JudgedPart {
  readonly changes: readonly Change[]
  readonly counts: ((key: ScopeKey) => boolean) | undefined
}

function judgePart(
  { plan, total, caps, begun, known }: Planned,
  { changes: goes, counts }: JudgedPart,
  scene: Scene,
  { isReleased, useOf }: Knowledge,
  violated: (message: string) => void,
): void {
  const after = inForceWith(scene.company, withChanges(caps, goes))
  const [before, atBegin] = [inForceWith(scene.company, caps), inForceWith(scene.company, begun)]
  const exempt = new Set(goes.filter((one) => one.healing || one.grantEnd).map(({ scope }) => scopeKey(scope)))
  const released = new Set(goes.filter(isReleased).map(({ scope }) => scopeKey(scope)))
  const going = new Set(goes.map(({ scope }) => scopeKey(scope)))
  // A later deal of a pool whose deal was approved is not counted by these guards.
  const pooled = everPooled(scene)
  const judged = known.filter((email) => !pooled.has(email) && !scopesOf(scene, email).some((key) => exempt.has(key)))
  const falls = (email: string): boolean => isLess(before, after, email) && isLess(atBegin, after, email)
  const cleared = judged.filter((email) => falls(email) && after.get(email) === 'none')
  const lowered = judged.filter((email) => falls(email) && numberOf(after.get(email)) > useOf(email))
  // Released changes stay counted, and no other change may be written while the count is too high.
  const isUnreleased = (email: string): boolean => {
    const own = scopesOf(scene, email).filter((key) => going.has(key))
    return own.every((key) => !released.has(key)) && (counts === undefined || own.some(counts))
  }
  const most = (guard: 'maxAffected' | 'maxLowered' | 'maxCleared', people: readonly string[]): void => {
    const found = people.some(isUnreleased) ? people.length : 0
    const allowed = Math.max(...scene.settingsSince(scene.elapsed() - HOUR_MS).map(({ guards }) => allowance(guards[guard], total)))
    if (found > allowed) violated(`plan ${plan.id} takes from ${found} of ${total} people; ${guard} allows ${allowed}`)
  }
  most('maxAffected', judged.filter(falls))
  most('maxCleared', cleared)
  most('maxLowered', lowered)
}

const numberOf = (cap: ModelCap | undefined): number => (cap === undefined || cap === 'none' ? 0 : cap)

/** From a cap to a lower one, or to no cap at all. */
function isLess(before: InForce, after: InForce, email: string): boolean {
  const [was, is] = [before.get(email), after.get(email)]
  return was !== undefined && was !== 'none' && is !== undefined && (is === 'none' || is < was)
}

const allowance = (limit: ShareLimit | 'off', total: number): number =>
  limit === 'off' ? total : Math.max(limit.floor, (limit.percent * total) / 100)
