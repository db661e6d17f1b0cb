// What a set of changes does to people: each counted person's cap in force before and after the whole set, the net effect, and the changes
// that cause it. Guards judge these counts; nothing here holds a change.

import {
  type CapAt,
  type CountedPerson,
  type Effective,
  isNumber,
  ownCap,
  type People,
  reachedByTeam,
  sharedCap,
  TEAM_KEY,
} from '../interpret/effective.ts'
import type { EFFECTS_ON_PEOPLE } from '../model/change.ts'
import type { Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { ScopeKey } from '../model/scope.ts'
import type { Difference } from './snapshot.ts'

export type NetEffect = (typeof EFFECTS_ON_PEOPLE)[number]

/** Whether the effect takes nothing from the person; then no share counts it. */
export const isFree = (effect: NetEffect): boolean => effect === 'raised' || effect === 'capped'

/** One person whose cap in force changes. */
export interface Impact {
  readonly person: CountedPerson
  readonly effect: NetEffect
  readonly before: Observed
  readonly after: Observed
  /** The changes that cause it. Empty when an interrupted plan has caused it already. */
  readonly changes: readonly ScopeKey[]
}

export interface ImpactInputs {
  readonly people: People
  /** See `countingReader`. */
  readonly readings: CapAt
  /** See `Slots.mayBeInherited`: people are counted under both readings, and the worse effect counts. */
  readonly mayBeInherited?: (key: ScopeKey) => boolean
  /** The caps at the start of an interrupted plan; they count as "before". */
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  readonly capSemantics: 'layered' | 'copied'
  /** Whether a team or group write of ours has overwritten the cap at this scope: restoring it takes nothing from anybody. */
  readonly isOverwritten?: (key: ScopeKey) => boolean
  /** User scopes with a desired cap: where caps are copied, it is restored in the same cycle. */
  readonly kept?: ReadonlySet<ScopeKey>
}

/** The impact of `changes` on the people whom guards count, one entry a person. */
export function impactOf(changes: Changes, inputs: ImpactInputs): readonly Impact[] {
  if (changes.size === 0) return []
  const counted = [...reached(changes, inputs)].filter((person) => !person.disabled)
  return impactOn(counted, changes, inputs)
}

/** The impact of `changes` on these people, whether guards count them or not. */
export function impactOn(people: Iterable<CountedPerson>, changes: Changes, inputs: ImpactInputs): readonly Impact[] {
  const { readings, mayBeInherited } = inputs
  const asRead = impactReader(changes, inputs)
  const asInherited =
    mayBeInherited && impactReader(changes, { ...inputs, readings: (key) => (mayBeInherited(key) ? 'none' : readings(key)) }, readings)
  const impacts: Impact[] = []
  for (const person of people) {
    const impact = worseOf(asRead(person), asInherited?.(person))
    if (impact) impacts.push(impact)
  }
  return impacts
}

const GRAVITY: Readonly<Record<NetEffect, number>> = { raised: 0, capped: 0, lowered: 1, cleared: 2, blocked: 3 }

/** The first where both are as bad. */
const worseOf = (a: Impact | undefined, b: Impact | undefined): Impact | undefined =>
  a && b && GRAVITY[b.effect] > GRAVITY[a.effect] ? b : (a ?? b)

/** `shown`: the cap that a person has, whether set or inherited; absent: as `inputs.readings` say. */
function impactReader(changes: Changes, inputs: ImpactInputs, shown?: CapAt): (person: CountedPerson) => Impact | undefined {
  const baseline = inputs.baseline
  const sharedOf = sharedCaps(
    (key) => baseline?.[key] ?? inputs.readings(key),
    inputs.readings,
    (key) => changes.get(key)?.to ?? inputs.readings(key),
  )
  return (person) => {
    const { key } = person
    const shared = sharedOf(person.groups)
    const overwriting = inputs.capSemantics === 'copied' ? overwrittenBy(person, changes, inputs.kept) : undefined
    const isOwnMoved = overwriting !== undefined || changes.has(key) || baseline?.[key] !== undefined
    // A shortcut: most people on a changed team have a group whose cap does not change.
    if (!isOwnMoved && shared.before.cap === shared.after.cap) return undefined
    const reading = inputs.readings(key)
    const ownBefore = baseline?.[key] ?? reading
    const ownAfter = changes.get(overwriting ?? key)?.to ?? reading
    // An unchanged cap of the person's own applies whatever the ancestors have.
    if (ownBefore === ownAfter && isNumber(ownAfter)) return undefined
    const start = ownCap(key, ownBefore) ?? shared.before
    const end = ownCap(key, ownAfter) ?? shared.after
    if (start.cap === end.cap) return undefined
    // An interrupted plan may have caused the cap that is shown now.
    const isUntouched = [key, ...person.groups, TEAM_KEY].every((one) => baseline?.[one] === undefined)
    const before = (isUntouched ? ownCap(key, shown?.(key))?.cap : undefined) ?? start.cap
    const effect = netEffect(before, end.cap, person.use)
    if (!effect) return undefined
    const present = ownCap(key, reading) ?? shared.now
    const sources = [start.from, continues(present, end, effect) ? present.from : undefined, end.from]
    const impact = { person, effect, before, after: end.cap }
    if (isOwnMoved) return { ...impact, changes: causesOf([...sources, overwriting], effect) }
    shared.causes[effect] ??= causesOf(sources, effect)
    return { ...impact, changes: shared.causes[effect] }

    function causesOf(scopes: readonly (ScopeKey | undefined)[], what: NetEffect): readonly ScopeKey[] {
      const changed = new Set(scopes.flatMap((one) => (one !== undefined && changes.has(one) ? [one] : [])))
      return [...changed].filter((one) => overwriting !== undefined || !isOpposed(one, what))
    }
  }

  /** A raise causes no lowering, and a lowering no raise: compared both with the start of the plan and with now. */
  function isOpposed(key: ScopeKey, effect: NetEffect): boolean {
    const to = changes.get(key)?.to
    return [baseline?.[key] ?? inputs.readings(key), inputs.readings(key)].every(
      (from) => typeof from === 'number' && typeof to === 'number' && (effect === 'raised' ? to < from : to > from),
    )
  }
}

type Changes = ReadonlyMap<ScopeKey, Difference>

/** Whether the step from now to the end has the direction of the whole effect: then the scope whose cap applies now is a cause as well. */
const continues = (present: Effective, end: Effective, effect: NetEffect): boolean =>
  present.cap !== end.cap && isFree(effect) === (end.cap !== 'none' && end.cap > present.cap)

/** The cap of people without one of their own, and the changes that cause each effect: worked out once for all people in the same groups. */
function sharedCaps(before: CapAt, now: CapAt, after: CapAt) {
  const of = (groups: readonly ScopeKey[]) => {
    const causes: Partial<Record<NetEffect, readonly ScopeKey[]>> = {}
    return { before: sharedCap(groups, before), now: sharedCap(groups, now), after: sharedCap(groups, after), causes }
  }
  const known = new Map<string, ReturnType<typeof of>>()
  return (groups: readonly ScopeKey[]) => {
    const name = groups.join()
    const shared = known.get(name) ?? of(groups)
    known.set(name, shared)
    return shared
  }
}

/** Where caps are copied: the group or team whose change overwrites the person's own cap, unless policy has a cap for the person. */
const overwrittenBy = (person: CountedPerson, changes: Changes, kept: ImpactInputs['kept']): ScopeKey | undefined => {
  if (changes.has(person.key) || kept?.has(person.key)) return undefined
  return person.groups.find((group) => changes.has(group)) ?? (changes.has(TEAM_KEY) ? TEAM_KEY : undefined)
}

/** The people on whose chain a cap changes, by this plan or by an interrupted one. */
function reached(changes: Changes, inputs: ImpactInputs): Iterable<CountedPerson> {
  const { people, readings, mayBeInherited, baseline = {}, capSemantics } = inputs
  const moved = new Set([...changes.keys(), ...(Object.keys(baseline) as ScopeKey[])])
  const named = [...moved].flatMap((key) => people.byGroup.get(key) ?? people.byKey.get(key) ?? [])
  if (!moved.has(TEAM_KEY)) return new Set(named)
  // Where caps are layered, a group that surely has a cap shelters its members from the team's; the members of a moved group are named.
  const shelters = (group: ScopeKey): boolean => capSemantics === 'layered' && isNumber(readings(group)) && mayBeInherited?.(group) !== true
  return new Set([...reachedByTeam(people, shelters), ...named])
}

/** A cap of 0, or at or below the use, is `blocked` unless it is a raise. */
export function netEffect(before: Observed, after: Observed, use: number): NetEffect | undefined {
  if (before === after || before === 'unknown' || after === 'unknown') return undefined
  if (after === 'none') return 'cleared'
  if (before !== 'none' && after > before) return 'raised'
  if (after === 0 || after <= use) return 'blocked'
  return before === 'none' ? 'capped' : 'lowered'
}

/** From one cap to a higher one; a first cap is no raise. */
export const isRaise = ({ from, to }: { readonly from: Cap; readonly to: Cap }): boolean => netEffect(from, to, 0) === 'raised'

/** How many approved people a change reaches: those without a cap of a descendant scope; where caps are copied, all of them. */
export function reachOf(key: ScopeKey, inputs: ImpactInputs, after: CapAt): number {
  const { people } = inputs
  const isCopied = inputs.capSemantics === 'copied'
  const isCapped = (scope: ScopeKey): boolean => !isCopied && isNumber(after(scope))
  const members = key === TEAM_KEY ? reachedByTeam(people, isCapped) : people.byGroup.get(key)
  if (!members) return people.byKey.has(key) ? 1 : 0
  return isCopied ? members.length : members.filter((person) => !isCapped(person.key)).length
}

/** The readings that people are counted by. An unread scope, or one that `isUnset`, has no cap: it shields nobody from a change of an ancestor. */
export const countingReader =
  (readings: CapAt, isUnset: (key: ScopeKey) => boolean): CapAt =>
  (key) => {
    const observed = readings(key)
    return observed === 'unknown' || isUnset(key) ? 'none' : observed
  }
