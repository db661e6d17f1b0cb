// What a set of changes does to people: each counted person's cap in force before and after the whole set, once, by net effect, and
// which changes are responsible. Guards judge these counts; nothing here holds anything back.
import type { Difference } from './diff.ts'
import { type CapAt, type CountedPerson, effectiveCap, type People, TEAM_KEY, widerCap } from './effective.ts'
import type { Observed } from './observed.ts'
import type { Cap } from './policy.ts'
import { groupScope, type Scope, type ScopeKey, scopeKey } from './scope.ts'

export type NetEffect = 'raised' | 'lowered' | 'blocked' | 'cleared'

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
  readonly readings: CapAt
  /** Caps in force where an interrupted plan began; they count as "before". */
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  readonly capSemantics: 'layered' | 'copied'
  /** User scopes that policy keeps: what a copied wide write does to them is put back in the same cycle. */
  readonly kept?: ReadonlySet<ScopeKey>
}

/** The impact of `changes`, one entry a person, in the order of the roster. */
export function impactOf(changes: ReadonlyMap<ScopeKey, Difference>, inputs: ImpactInputs): readonly Impact[] {
  if (changes.size === 0) return []
  const baseline = inputs.baseline
  const before: CapAt = baseline ? (key) => baseline[key] ?? inputs.readings(key) : inputs.readings
  const layered: CapAt = (key) => changes.get(key)?.to ?? inputs.readings(key)
  const impacts: Impact[] = []
  for (const person of reached(changes, inputs)) {
    if (person.disabled) continue
    const was = effectiveCap(person, before)
    const after = inputs.capSemantics === 'copied' ? copiedCapAt(person, changes, layered, inputs.kept) : layered
    const will = effectiveCap(person, after)
    const effect = netEffect(was.cap, will.cap, person.use)
    if (!effect) continue
    const own = inputs.capSemantics === 'copied' ? overwrittenBy(person, changes, inputs.kept) : undefined
    const responsible = [was.from, will.from, own].filter((key) => key !== undefined && changes.has(key)) as ScopeKey[]
    impacts.push({ person, effect, before: was.cap, after: will.cap, changes: [...new Set(responsible)] })
  }
  return impacts
}

type Changes = ReadonlyMap<ScopeKey, Difference>

/** Copying overwrites the person's own cap with what a wide write brings, unless policy keeps a cap for the person. */
function copiedCapAt(person: CountedPerson, changes: Changes, after: CapAt, kept: ImpactInputs['kept']): CapAt {
  const wide = overwrittenBy(person, changes, kept)
  if (wide === undefined) return after
  const copied = changes.get(wide)?.to
  return (key) => (key === person.key ? copied : after(key))
}

const overwrittenBy = (person: CountedPerson, changes: Changes, kept: ImpactInputs['kept']): ScopeKey | undefined => {
  if (changes.has(person.key) || kept?.has(person.key)) return undefined
  return person.groups.find((group) => changes.has(group)) ?? (changes.has(TEAM_KEY) ? TEAM_KEY : undefined)
}

/** Only people on whose chain something changes: everybody for a team write or an interrupted plan, else members and the named. */
function reached(changes: ReadonlyMap<ScopeKey, Difference>, inputs: ImpactInputs): Iterable<CountedPerson> {
  const { people, baseline } = inputs
  if (changes.has(TEAM_KEY) || baseline?.[TEAM_KEY] !== undefined) return people.approved
  const found = new Set<CountedPerson>()
  for (const key of [...changes.keys(), ...(Object.keys(baseline ?? {}) as ScopeKey[])]) {
    const person = people.byKey.get(key)
    if (person) found.add(person)
    for (const member of people.byGroup.get(key) ?? []) found.add(member)
  }
  return found
}

/** By net effect: to 0 or to at/below use is `blocked` unless it is a raise; a first cap that blocks nobody is free. */
export function netEffect(before: Observed, after: Observed, use: number): NetEffect | undefined {
  if (before === after || before === 'unknown' || after === 'unknown') return undefined
  if (after === 'none') return 'cleared'
  if (before !== 'none' && after > before) return 'raised'
  if (after === 0 || after <= use) return 'blocked'
  return before === 'none' ? undefined : 'lowered'
}

/** How many approved people a change reaches: those for whom no narrower cap is in force (all of them, when caps are copied). */
export function reachOf(key: ScopeKey, inputs: ImpactInputs, after: CapAt): number {
  const { people } = inputs
  const members = key === TEAM_KEY ? people.approved : people.byGroup.get(key)
  if (!members) return people.byKey.has(key) ? 1 : 0
  if (inputs.capSemantics === 'copied') return members.length
  let count = 0
  for (const person of members) {
    const own = after(person.key)
    if (own !== undefined && own !== 'none' && own !== 'unknown') continue
    if (key === TEAM_KEY && person.groups.some((group) => isNumber(after(group)))) continue
    count += 1
  }
  return count
}

const isNumber = (cap: Observed | undefined): boolean => cap !== undefined && cap !== 'none' && cap !== 'unknown'

/**
 * Reads what a scope shows when nothing is set at it, for services whose reads show what applies. A group of which nothing is asked and
 * that shows the team's value counts as not set, as the service counts it.
 */
export function widerReader(people: People, readings: CapAt, unset: ReadonlySet<ScopeKey> = new Set()): (key: ScopeKey) => Observed {
  const capAt: CapAt = (key) => (unset.has(key) && readings(key) === readings(TEAM_KEY) ? 'none' : readings(key))
  return (key) => widerCap(key, people.byKey.get(key)?.groups ?? [], capAt)
}

/** The groups for which policy declares `none`. */
export const unsetGroups = (desired: readonly { readonly scope: Scope; readonly cap: Cap }[]): ReadonlySet<ScopeKey> =>
  new Set(desired.filter(({ scope, cap }) => scope.kind === 'group' && cap === 'none').map(({ scope }) => scopeKey(scope)))

export const groupKey = (id: string): ScopeKey => scopeKey(groupScope(id))
