// Which changes may be written now, side by side. A change is admitted only if each person it reaches stays within the limits that `Limits`
// lists, in whichever order the writes of the wave land and whichever of them fail. A change that failed, is held or could not be read is
// still pending, and so defers every change that would be unsafe without it (docs/operations.md).

import { type CapAt, type CountedPerson, effectiveCap, type People, TEAM_KEY } from '../interpret/effective.ts'
import type { Observed } from '../model/observed.ts'
import { byScope, type Scope, type ScopeKey } from '../model/scope.ts'
import type { Credits } from '../model/units.ts'
import type { Difference } from './snapshot.ts'

/** A cap that is still to be written, by this run or by a later one. */
export interface Pending extends Pick<Difference, 'scope' | 'key' | 'from' | 'to' | 'healing'> {
  /** An ancestor may have given the cap that is shown. It counts as a first cap, because that cap moves with the ancestor. */
  readonly isFirst?: boolean
  /** It counts in the sum of a pool. */
  readonly isPooled?: boolean
  /** The service has refused it, and may always refuse it. */
  readonly isRefused?: boolean
  /** It is shown and not written: no person gets its cap, which still counts in the sum of a pool. */
  readonly isWatched?: boolean
  /** A guard holds it: it may never be written. */
  readonly isHeld?: boolean
  /** Its scope could not be read: what is set there is not known. */
  readonly isUnread?: boolean
}

type Changes = ReadonlyMap<ScopeKey, Pending>

export interface WaveInputs<Change extends Pending = Pending> {
  /** The changes that may be written now. */
  readonly ready: readonly Change[]
  /** Every pending change, `ready` included: also those that are held, deferred or unread. */
  readonly pending: readonly Pending[]
  /** The cap set at each scope; for an unread scope, the best guess. */
  readonly caps: CapAt
  /** Whether nothing may be set at a scope. A change must then be safe in every combination. */
  readonly mayBeInherited: (key: ScopeKey) => boolean
  readonly people: People
  /** Groups whose members are not known: anybody may be in one of them. */
  readonly unlisted?: ReadonlySet<ScopeKey>
  /** People whom nothing may lower without a hold. */
  readonly guarded: ReadonlySet<ScopeKey>
  readonly layers: 'layered' | 'copied'
  /** The state before the first write of the plan. Absent: nothing of it was written yet. */
  readonly start?: PlanStart
}

/** The caps at the start of a plan. No person may be worse off on the way than these caps and the plan's result allow. */
export type PlanStart = ReturnType<typeof planStart>

/**
 * The next changes to write: all of one kind of scope and one direction, in the order of writing. Empty when none may go. `blocked`: for each
 * ready change that is not in the wave, the scope to be written first.
 */
export function nextWave<Change extends Pending>(
  inputs: WaveInputs<Change>,
): { readonly changes: readonly Change[]; readonly blocked: ReadonlyMap<ScopeKey, Scope> } {
  const blocked = new Map<ScopeKey, Scope>()
  const findBlocker = blockerFinder(inputs)
  for (const phase of phases(inputs)) {
    if (inputs.layers === 'copied') return { changes: phase, blocked }
    const admitted = new Map<ScopeKey, Change>()
    for (const change of phase) {
      const blocker = findBlocker(change, admitted)
      if (blocker) blocked.set(change.key, blocker)
      else admitted.set(change.key, change)
    }
    if (admitted.size > 0) return { changes: [...admitted.values()], blocked }
  }
  return { changes: [], blocked }
}

/** The start of a plan of which nothing was written yet. */
export const planStart = ({ caps, mayBeInherited, pending }: Pick<WaveInputs, 'caps' | 'mayBeInherited' | 'pending'>) => ({
  caps,
  mayBeInherited,
  /** Changes that revert foreign ones. A cap that another client set is kept for nobody but people of `guarded`. */
  reverts: byScope(pending.filter(({ healing }) => healing)),
})

/** All waves in order, as if each write succeeded, and the changes that remain blocked after them. */
export function schedule<Change extends Pending>(inputs: WaveInputs<Change>): { waves: Change[][]; blocked: ReadonlyMap<ScopeKey, Scope> } {
  const waves: Change[][] = []
  const written = new Map<ScopeKey, Change>()
  const { start = planStart(inputs) } = inputs
  let { ready, pending } = inputs
  // Each wave takes at least one change out.
  for (;;) {
    const mayBeInherited = (key: ScopeKey): boolean => !written.has(key) && inputs.mayBeInherited(key)
    const wave = nextWave({ ...inputs, ready, pending, caps: after(inputs.caps, written), mayBeInherited, start })
    if (wave.changes.length === 0) return { waves, blocked: wave.blocked }
    waves.push([...wave.changes])
    for (const change of wave.changes) written.set(change.key, change)
    ready = ready.filter(({ key }) => !written.has(key))
    pending = pending.filter(({ key }) => !written.has(key))
  }
}

/** First sets and raises, users before groups before the team; then the rest, the team before groups before users. */
const PHASES = {
  layered: ['user up', 'group up', 'team up', 'team', 'group', 'user'],
  copied: ['team', 'group', 'user up', 'user'],
} as const

function phases<Change extends Pending>({ ready, layers }: WaveInputs<Change>): readonly (readonly Change[])[] {
  const byPhase = Map.groupBy(ready, (one) => {
    const { kind } = one.scope
    const isSplit = layers === 'layered' || kind === 'user'
    return isSplit && isUp(one) ? (`${kind} up` as const) : kind
  })
  return PHASES[layers].flatMap((phase) => {
    const changes = byPhase.get(phase)
    return changes ? [changes] : []
  })
}

const isUp = ({ from, to, isFirst }: Pending): boolean => to !== 'none' && (isFirst || from === 'none' || to > from)

/** The limits for one person's cap in force while the plan is written, under one reading of the caps. */
interface Limits {
  readonly caps: CapAt
  /** The person's cap in force at the start of the plan, and at its end. */
  readonly before: number
  readonly after: number
  /** The least of both, and, but for people of `guarded`, of what remains once foreign changes are reverted. */
  readonly floor: number
  /** While a pool's cap for the person is pending, no ancestor may lift them above both: their cap counts in the pool's sum. */
  readonly ceiling: number
  readonly mayBeUncapped: boolean
}

/** Finds the scope to be written before a change is safe, given the changes that the wave has admitted already. */
function blockerFinder(inputs: WaveInputs): (change: Pending, admitted: Changes) => Scope | undefined {
  const { start = planStart(inputs) } = inputs
  const pending = byScope(inputs.pending)
  const limitsOf = limitsReader(inputs, start, pending)
  const memberships = possibleMemberships(inputs, start, pending)

  const blockerFor = (person: CountedPerson, change: Pending, admitted: Changes): Scope | undefined => {
    const chain = [person.key, ...person.groups, TEAM_KEY]
    const others = chain.flatMap((key) => (key === change.key ? [] : (pending.get(key) ?? [])))
    const [first] = others
    // No other change on the person's chain is pending: the result is exactly what the person is to get, under every reading.
    if (!first) return undefined
    const ancestors = others.filter((one) => (change.key === person.key || one.key === TEAM_KEY) && !one.isHeld && !one.isRefused)
    const concurrent = others.filter(({ key }) => admitted.has(key))
    for (const limits of limitsOf(person, chain)) {
      for (const written of subsets(concurrent)) {
        written.set(change.key, change)
        const ancestor = ancestorToWaitFor(person, limits, written, { pending, ancestors })
        if (ancestor) return ancestor
        if (isWithin(person, limits, written)) continue
        return (others.find((one) => isWithin(person, limits, new Map([...written, [one.key, one]]))) ?? first).scope
      }
    }
    return undefined
  }

  return (change, admitted) => {
    // The team's change is compared for people with another pending change only: for all others it is alone on the chain.
    const scopes = change.key === TEAM_KEY ? inputs.pending.map(({ key }) => key) : [change.key]
    const people = new Set(scopes.flatMap((key) => peopleUnder(key, inputs)))
    for (const person of people) {
      for (const more of memberships) {
        const member = more.length === 0 ? person : { ...person, groups: [...person.groups, ...more] }
        const blocker = blockerFor(member, change, admitted)
        if (blocker) return blocker
      }
    }
    return undefined
  }
}

/** The limits of each person; one set for each combination of scopes on the chain that may have nothing set. */
function limitsReader(inputs: WaveInputs, start: PlanStart, pending: Changes) {
  const wanted = inputs.pending.filter(({ isWatched }) => !isWatched)
  const goal = byScope(wanted)
  const accepted = byScope(wanted.filter(({ isRefused }) => !isRefused))
  const limitsOf = (person: CountedPerson, unset: readonly ScopeKey[]): Limits => {
    const caps: CapAt = (key) => (unset.includes(key) && inputs.mayBeInherited(key) ? 'none' : inputs.caps(key))
    const startCaps: CapAt = (key) => (unset.includes(key) ? 'none' : start.caps(key))
    const [before, end] = [inForce(person, startCaps), inForce(person, after(caps, goal))]
    const amount = (at: CapAt, changes: Changes): number => amountOf(inForce(person, after(at, changes)))
    const reverted = inputs.guarded.has(person.key) ? UNLIMITED : amount(startCaps, start.reverts)
    return {
      ...{ caps, before: amountOf(before), after: amountOf(end) },
      floor: Math.min(amountOf(before), Math.max(amountOf(end), amount(caps, accepted)), reverted),
      ceiling: pending.get(person.key)?.isPooled ? Math.max(amountOf(before), amount(caps, pending)) : UNLIMITED,
      mayBeUncapped: before === 'none' || end === 'none',
    }
  }
  return (person: CountedPerson, chain: readonly ScopeKey[]): readonly Limits[] =>
    combinations(chain.filter(start.mayBeInherited)).map((unset) => limitsOf(person, unset))
}

function isWithin(person: CountedPerson, { caps, floor, ceiling, mayBeUncapped }: Limits, written: Changes): boolean {
  const cap = inForce(person, after(caps, written))
  return amountOf(cap) >= floor && amountOf(cap) <= ceiling && (cap !== 'none' || mayBeUncapped)
}

/**
 * The ancestor to be written before the person may fall to it, because its present cap is above what the person had and gets. A held or
 * refused ancestor is not waited for, as it may never be written. An unread one may have any cap; but a person who is to have less
 * falls to the cap that is believed to be there.
 */
function ancestorToWaitFor(
  person: CountedPerson,
  limits: Limits,
  written: Changes,
  { pending, ancestors }: { readonly pending: Changes; readonly ancestors: readonly Pending[] },
): Scope | undefined {
  const isLifted = (more: readonly Pending[]): boolean => {
    const all = new Map([...written, ...more.map((one) => [one.key, one] as const)])
    const present: CapAt = (key) => (limits.after >= limits.before && pending.get(key)?.isUnread ? ANY_CAP : limits.caps(key))
    return amountOf(inForce(person, after(present, all))) > Math.max(limits.before, limits.after)
  }
  if (ancestors.length === 0 || !isLifted([]) || isLifted(ancestors)) return undefined
  return (ancestors.find((one) => !isLifted([one])) ?? ancestors[0])?.scope
}

const UNLIMITED = Number.POSITIVE_INFINITY
const ANY_CAP = UNLIMITED as Credits

/** The caps once these changes are written. */
const after =
  (caps: CapAt, changes: Changes): CapAt =>
  (key) =>
    changes.get(key)?.to ?? caps(key)

const inForce = (person: CountedPerson, caps: CapAt): Observed => effectiveCap(person, caps).cap

const amountOf = (cap: Observed): number => (typeof cap === 'number' ? cap : UNLIMITED)

/** The unlisted groups of which anybody may be a member, in combinations. One without a cap, before, now and to come, changes nobody's. */
function possibleMemberships({ unlisted = new Set(), caps }: WaveInputs, start: PlanStart, pending: Changes) {
  const isCapped = (key: ScopeKey): boolean => [caps, start.caps].some((at) => (at(key) ?? 'none') !== 'none')
  return combinations([...unlisted].filter((key) => pending.has(key) || start.reverts.has(key) || isCapped(key)))
}

/** Up to so many scopes of which each may or may not count are tried in every combination; beyond, each alone and all together. */
const MOST_OPEN = 4

const combinations = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  all.length > MOST_OPEN
    ? [[], ...all.map((one) => [one]), all]
    : Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_one, index) => (bits >> index) % 2 === 1))

/** The people whose cap in force a group's or person's cap may decide. */
function peopleUnder(key: ScopeKey, { people, unlisted }: WaveInputs): readonly CountedPerson[] {
  if (unlisted?.has(key)) return people.approved
  const person = people.byKey.get(key)
  return person ? [person] : (people.byGroup.get(key) ?? [])
}

/** Up to so many concurrent writes on one chain are tried in every combination; beyond, none and all of the rest. */
const MOST_COMBINED = 6

/** The sets of concurrent writes that may have landed. */
function* subsets(changes: readonly Pending[]): Iterable<Map<ScopeKey, Pending>> {
  const count = 2 ** Math.min(changes.length, MOST_COMBINED)
  for (let bits = 0; bits < count; bits += 1)
    yield byScope(changes.filter((_, index) => index >= MOST_COMBINED || (bits >> index) % 2 === 1))
  if (changes.length > MOST_COMBINED) yield new Map()
}
