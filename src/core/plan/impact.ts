// What a set of changes does to people: each counted person's cap in force before and after the whole set, once, by net effect, and
// which changes are responsible. Guards judge these counts; nothing here holds anything back.

import {
  type CapAt,
  type CountedPerson,
  type Effective,
  ownCap,
  type People,
  reachedByTeam,
  sharedCap,
  TEAM_KEY,
} from '../interpret/effective.ts'
import type { Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { ScopeKey } from '../model/scope.ts'
import type { Difference } from './diff.ts'

/** `capped`: a first cap that blocks nobody; together with `raised` it is free in every share. */
export type NetEffect = 'raised' | 'capped' | 'lowered' | 'blocked' | 'cleared'

/** Nobody has less to use than before. */
export const isFree = (effect: NetEffect): boolean => effect === 'raised' || effect === 'capped'

/** One person whose cap in force changes. */
export interface Impact {
  readonly person: CountedPerson
  readonly effect: NetEffect
  readonly before: Observed
  readonly after: Observed
  /** The changes that make it so. Empty when an interrupted plan had already made it so. */
  readonly changes: readonly ScopeKey[]
}

export interface ImpactInputs {
  readonly people: People
  /** See `countingReader`. */
  readonly readings: CapAt
  /** Scopes that may have nothing set, see `Slots.mayBeInherited`. People are counted as if they had, and as if they had not; the worse counts. */
  readonly mayBeInherited?: (key: ScopeKey) => boolean
  /** Caps in force where an interrupted plan began; they count as "before". */
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  readonly capSemantics: 'layered' | 'copied'
  /** Whose own cap a wide write of ours has overwritten: putting it back takes nothing from anybody. */
  readonly isOverwritten?: (key: ScopeKey) => boolean
  /** User scopes that policy keeps: what a copied wide write does to them is put back in the same cycle. */
  readonly kept?: ReadonlySet<ScopeKey>
}

/** The impact of `changes` on those whom guards count, one entry a person. */
export function impactOf(changes: Changes, inputs: ImpactInputs): readonly Impact[] {
  if (changes.size === 0) return []
  const counted = reached(changes, inputs).filter((person) => !person.disabled)
  return impactOn(counted, changes, inputs)
}

/** The impact of `changes` on these people, whether they are counted or not. */
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

/** The one that takes something away; the first when both do, or neither. */
const worseOf = (a: Impact | undefined, b: Impact | undefined): Impact | undefined =>
  a && b && isFree(a.effect) && !isFree(b.effect) ? b : (a ?? b)

/** `shown`: what a person has, whether set or inherited; where it is left out the readings tell. */
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
    // Of everybody whom a team write could reach, most have a group whose cap stays as it is.
    if (!isOwnMoved && shared.before.cap === shared.after.cap) return undefined
    const reading = inputs.readings(key)
    const ownBefore = baseline?.[key] ?? reading
    const ownAfter = changes.get(overwriting ?? key)?.to ?? reading
    // Whoever keeps a cap of their own is out of reach of anything wider.
    if (ownBefore === ownAfter && isNumber(ownAfter)) return undefined
    const was = ownCap(key, ownBefore) ?? shared.before
    const will = ownCap(key, ownAfter) ?? shared.after
    if (was.cap === will.cap) return undefined
    // What is shown now may be what an interrupted plan has brought about.
    const isAsBegun = [key, ...person.groups, TEAM_KEY].every((one) => baseline?.[one] === undefined)
    const before = (isAsBegun ? ownCap(key, shown?.(key))?.cap : undefined) ?? was.cap
    const effect = netEffect(before, will.cap, person.use)
    if (!effect) return undefined
    const now = ownCap(key, reading) ?? shared.now
    const givers = [was.from, movesOn(now, will, effect) ? now.from : undefined, will.from]
    if (isOwnMoved) return { person, effect, before, after: will.cap, changes: causesOf([...givers, overwriting], effect) }
    shared.causes[effect] ??= causesOf(givers, effect)
    return { person, effect, before, after: will.cap, changes: shared.causes[effect] }

    function causesOf(scopes: readonly (ScopeKey | undefined)[], what: NetEffect): readonly ScopeKey[] {
      return bearingOn(scopes, changes).filter((one) => overwriting !== undefined || !isOpposed(one, what))
    }
  }

  /** A raise takes nothing from anybody, and a lowering gives nobody anything, whatever else happens to them: both from the beginning and from now. */
  function isOpposed(key: ScopeKey, effect: NetEffect): boolean {
    const to = changes.get(key)?.to
    return [baseline?.[key] ?? inputs.readings(key), inputs.readings(key)].every(
      (from) => typeof from === 'number' && typeof to === 'number' && (effect === 'raised' ? to < from : to > from),
    )
  }
}

type Changes = ReadonlyMap<ScopeKey, Difference>

/** Whether the way from what applies now goes where the whole way goes: what an interrupted plan has put in between takes, or gives, as it goes. */
const movesOn = (now: Effective, { cap }: Effective, effect: NetEffect): boolean =>
  now.cap !== cap && isFree(effect) === (cap !== 'none' && cap > now.cap)

interface SharedCap {
  readonly before: Effective
  readonly now: Effective
  readonly after: Effective
  /** The changes that make it so, by what they do. */
  readonly causes: Partial<Record<NetEffect, readonly ScopeKey[]>>
}

/** The cap of people without one of their own; worked out once for a group, not for each of its members. */
function sharedCaps(before: CapAt, now: CapAt, after: CapAt): (groups: readonly ScopeKey[]) => SharedCap {
  const known = new Map<ScopeKey | undefined, SharedCap>()
  const of = (groups: readonly ScopeKey[]): SharedCap => ({
    before: sharedCap(groups, before),
    now: sharedCap(groups, now),
    after: sharedCap(groups, after),
    causes: {},
  })
  return (groups) => {
    if (groups.length > 1) return of(groups)
    const found = known.get(groups[0])
    if (found) return found
    const shared = of(groups)
    known.set(groups[0], shared)
    return shared
  }
}

/** Those of the scopes that a change is about, each once. */
function bearingOn(scopes: readonly (ScopeKey | undefined)[], changes: Changes): readonly ScopeKey[] {
  const found: ScopeKey[] = []
  for (const key of scopes) if (key !== undefined && changes.has(key) && !found.includes(key)) found.push(key)
  return found
}

/** Copying overwrites the person's own cap with what a wide write brings, unless policy keeps a cap for the person. */
const overwrittenBy = (person: CountedPerson, changes: Changes, kept: ImpactInputs['kept']): ScopeKey | undefined => {
  if (changes.has(person.key) || kept?.has(person.key)) return undefined
  return person.groups.find((group) => changes.has(group)) ?? (changes.has(TEAM_KEY) ? TEAM_KEY : undefined)
}

/** Only people on whose chain something changes, by this plan or by one that was interrupted. */
function reached(changes: Changes, inputs: ImpactInputs): readonly CountedPerson[] {
  const { people, baseline } = inputs
  const isTeamMoved = changes.has(TEAM_KEY) || baseline?.[TEAM_KEY] !== undefined
  const found = new Set<CountedPerson>()
  for (const key of [...changes.keys(), ...(Object.keys(baseline ?? {}) as ScopeKey[])]) {
    const person = people.byKey.get(key)
    if (person) found.add(person)
    for (const member of people.byGroup.get(key) ?? []) found.add(member)
  }
  if (!isTeamMoved) return [...found]
  const moved = descendantsOfMovedTeam(changes, inputs)
  for (const person of moved) found.delete(person)
  return [...moved, ...found]
}

/** Where caps are kept in layers, a group that surely has a cap before and after keeps the team's from its members. */
function descendantsOfMovedTeam(changes: Changes, { people, readings, mayBeInherited, baseline, capSemantics }: ImpactInputs) {
  if (capSemantics === 'copied') return people.approved
  return reachedByTeam(people, (group) => {
    const reading = readings(group)
    const isSure = mayBeInherited?.(group) !== true
    return isSure && isNumber(baseline?.[group] ?? reading) && isNumber(changes.get(group)?.to ?? reading)
  })
}

/** By net effect: to 0 or to at/below use is `blocked` unless it is a raise; a first cap that blocks nobody is free. */
export function netEffect(before: Observed, after: Observed, use: number): NetEffect | undefined {
  if (before === after || before === 'unknown' || after === 'unknown') return undefined
  if (after === 'none') return 'cleared'
  if (before !== 'none' && after > before) return 'raised'
  if (after === 0 || after <= use) return 'blocked'
  return before === 'none' ? 'capped' : 'lowered'
}

/** From one cap to a higher one; a first cap is no raise. */
export const isRaise = ({ from, to }: { readonly from: Cap; readonly to: Cap }): boolean => netEffect(from, to, 0) === 'raised'

/** How many approved people a change reaches: those for whom no narrower cap is in force (all of them, when caps are copied). */
export function reachOf(key: ScopeKey, inputs: ImpactInputs, after: CapAt): number {
  const { people } = inputs
  const isCopied = inputs.capSemantics === 'copied'
  const isCapped = (scope: ScopeKey): boolean => !isCopied && isNumber(after(scope))
  const members = key === TEAM_KEY ? reachedByTeam(people, isCapped) : people.byGroup.get(key)
  if (!members) return people.byKey.has(key) ? 1 : 0
  return isCopied ? members.length : members.filter((person) => !isCapped(person.key)).length
}

const isNumber = (cap: Observed | undefined): boolean => cap !== undefined && cap !== 'none' && cap !== 'unknown'

/**
 * Readings to count people by. A scope that could not be read, or that may only show the wider value, counts as not set, so that nobody
 * under it is out of reach of what changes at a wider one.
 */
export const countingReader =
  (readings: CapAt, isUnset: (key: ScopeKey) => boolean): CapAt =>
  (key) => {
    const observed = readings(key)
    return observed === 'unknown' || isUnset(key) ? 'none' : observed
  }
