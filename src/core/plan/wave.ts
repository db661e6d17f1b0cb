// Which changes may be written now, side by side. A change is admitted only if, for each person it reaches, nothing that can be in force on
// the way is below the least of what they had, what they get and what a healed cap gives back, and nobody is uncapped on the way to a cap,
// whichever of the writes under way fail; nor is anybody above what they had and get while a cap that a pool counts on is still to come, or
// because they fall to something wider that is still to come. What fails, is held or was not read therefore keeps out what counts on it
// (product.md, section 6).
import { type CapAt, type CountedPerson, effectiveCap, type People, TEAM_KEY } from '../interpret/effective.ts'
import type { Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Scope, ScopeKey } from '../model/scope.ts'
import type { Credits } from '../model/units.ts'
import type { Difference } from './diff.ts'

/** A cap that is still to be written, by whomever and whenever. */
export interface Pending extends Pick<Difference, 'scope' | 'key' | 'from' | 'to' | 'healing'> {
  /** It counts in the sum of a pool. */
  readonly isPooled?: boolean
  /** The service has refused it, and perhaps always will. */
  readonly isRefused?: boolean
  /** A guard holds it: nobody knows when it comes, or whether. */
  readonly isHeld?: boolean
  /** It could not be read: nobody knows what is set there. */
  readonly isUnread?: boolean
}

export interface WaveInputs<Change extends Pending = Pending> {
  /** What may be written now. */
  readonly ready: readonly Change[]
  /** Everything that is still to come, `ready` included: held, deferred, or not read and so not written. */
  readonly pending: readonly Pending[]
  /** What is set; for a scope that was not read, what is believed to be. */
  readonly now: CapAt
  /** Scopes that may have nothing set: the change must be right under both. */
  readonly mayBeInherited: (key: ScopeKey) => boolean
  readonly people: People
  /** Groups whose members are not known: anybody may be in one of them. */
  readonly unlisted?: ReadonlySet<ScopeKey>
  readonly layers: 'layered' | 'copied'
  /** How the plan began, where some of it was written since; absent: as it is now. */
  readonly start?: PlanStart
}

/** What nobody may be worse off than, whatever of a plan was written since. */
export interface PlanStart {
  readonly set: CapAt
  readonly mayBeInherited: (key: ScopeKey) => boolean
  /** What foreign changes are put back to: nobody is owed what somebody else set. */
  readonly healed: ReadonlyMap<ScopeKey, Cap>
}

export interface Wave<Change extends Pending = Pending> {
  readonly changes: readonly Change[]
  /** By what is not in the wave: whose write comes first. Nothing else keeps a change back, however caps are read. */
  readonly blocked: ReadonlyMap<ScopeKey, Scope>
}

/** The next changes to write: all of one kind of scope and one direction, in the order of writing. Empty when none may go. */
export function nextWave<Change extends Pending>(inputs: WaveInputs<Change>): Wave<Change> {
  const blocked = new Map<ScopeKey, Scope>()
  const ways = waysOf(inputs)
  for (const phase of phases(inputs)) {
    if (inputs.layers === 'copied') return { changes: phase, blocked }
    const admitted = new Map<ScopeKey, Change>()
    for (const change of phase) {
      const blocker = ways.blocker(change, admitted)
      if (blocker) blocked.set(change.key, blocker)
      else admitted.set(change.key, change)
    }
    if (admitted.size > 0) return { changes: [...admitted.values()], blocked }
  }
  return { changes: [], blocked }
}

/** The beginning of a plan of which nothing was written yet. */
export const planStart = ({ now, mayBeInherited, pending }: Pick<WaveInputs, 'now' | 'mayBeInherited' | 'pending'>): PlanStart => ({
  set: now,
  mayBeInherited,
  healed: new Map(pending.flatMap(({ key, to, healing }) => (healing ? [[key, to] as const] : []))),
})

/** All waves, as they follow when each write succeeds; and what then still waits. */
export function schedule<Change extends Pending>(inputs: WaveInputs<Change>): { waves: Change[][]; blocked: ReadonlyMap<ScopeKey, Scope> } {
  const waves: Change[][] = []
  const landed = new Map<ScopeKey, Cap>()
  const { now, start = planStart(inputs) } = inputs
  let { ready, pending } = inputs
  // Each wave takes at least one change out.
  for (;;) {
    const after: CapAt = (key) => landed.get(key) ?? now(key)
    const mayBeInherited = (key: ScopeKey): boolean => !landed.has(key) && inputs.mayBeInherited(key)
    const wave = nextWave({ ...inputs, ready, pending, now: after, mayBeInherited, start })
    if (wave.changes.length === 0) return { waves, blocked: wave.blocked }
    waves.push([...wave.changes])
    for (const { key, to } of wave.changes) landed.set(key, to)
    ready = ready.filter((one) => !landed.has(one.key))
    pending = pending.filter((one) => !landed.has(one.key))
  }
}

/** First sets and raises, users before groups before the team; then the rest, the team before groups before users. */
const PHASES = {
  layered: ['user up', 'group up', 'team up', 'team', 'group', 'user'],
  copied: ['team', 'group', 'user up', 'user'],
} as const

function phases<Change extends Pending>({ ready, layers, mayBeInherited }: WaveInputs<Change>): readonly (readonly Change[])[] {
  const byPhase = Map.groupBy(ready, (one) => {
    const { kind } = one.scope
    const isSplit = layers === 'layered' || kind === 'user'
    return isSplit && isUp(one, mayBeInherited) ? (`${kind} up` as const) : kind
  })
  return PHASES[layers].flatMap((phase) => {
    const changes = byPhase.get(phase)
    return changes ? [changes] : []
  })
}

/** A cap where perhaps nothing is set is a first one, and must stand before the one above it goes. */
const isUp = ({ key, from, to }: Pending, mayBeInherited: (key: ScopeKey) => boolean): boolean =>
  to !== 'none' && (from === 'none' || to > from || mayBeInherited(key))

interface Ways {
  blocker(change: Pending, admitted: ReadonlyMap<ScopeKey, Pending>): Scope | undefined
}

/** What may be in force for one person, under one way to read the caps. */
interface View {
  readonly now: CapAt
  readonly floor: number
  readonly had: number
  readonly gets: number
  /** While a cap by a pool is still to come, nothing wider may lift them above what they had and get: it counts in a sum. */
  readonly ceiling: number
  readonly mayBeUncapped: boolean
}

function waysOf(inputs: WaveInputs): Ways {
  const { mayBeInherited, now, start = planStart(inputs) } = inputs
  const pending = new Map(inputs.pending.map((one) => [one.key, one]))
  const unrefused = new Map(inputs.pending.flatMap((one) => (one.isRefused ? [] : [[one.key, one] as const])))
  const known = new Map<CountedPerson, readonly View[]>()
  const maybe = maybeMembers(inputs)

  const viewOf = (person: CountedPerson, isSet: boolean): View => {
    const read = (capAt: CapAt, mayBeUnset: (key: ScopeKey) => boolean): CapAt =>
      isSet ? capAt : (key) => (mayBeUnset(key) ? 'none' : capAt(key))
    const [set, was] = [read(now, mayBeInherited), read(start.set, start.mayBeInherited)]
    const had = inForce(person, was)
    const gets = inForce(
      person,
      with_(set, (key) => pending.get(key)?.to),
    )
    const without = with_(set, (key) => unrefused.get(key)?.to)
    const getsSurely = unrefused.size === pending.size ? gets : inForce(person, without)
    const owed = inForce(
      person,
      with_(was, (key) => start.healed.get(key)),
    )
    return {
      ...{ now: set, had: worth(had), gets: worth(gets) },
      floor: Math.min(worth(had), Math.max(worth(gets), worth(getsSurely)), worth(owed)),
      ceiling: pending.get(person.key)?.isPooled ? Math.max(worth(had), worth(gets)) : Number.POSITIVE_INFINITY,
      mayBeUncapped: had === 'none' || gets === 'none',
    }
  }
  const viewsOf = (person: CountedPerson, isOpen: boolean): readonly View[] => {
    const views = known.get(person) ?? [viewOf(person, true), ...(isOpen ? [viewOf(person, false)] : [])]
    known.set(person, views)
    return views
  }
  const isBad = (person: CountedPerson, view: View, landed: ReadonlyMap<ScopeKey, Pending>): boolean => {
    const cap = inForce(
      person,
      with_(view.now, (key) => landed.get(key)?.to),
    )
    return worth(cap) < view.floor || worth(cap) > view.ceiling || (cap === 'none' && !view.mayBeUncapped)
  }

  const blockerAt = (person: CountedPerson, change: Pending, admitted: ReadonlyMap<ScopeKey, Pending>): Scope | undefined => {
    const chain = [person.key, ...person.groups, TEAM_KEY]
    const others = chain.flatMap((key) => (key === change.key ? [] : (pending.get(key) ?? [])))
    const [first] = others
    // Alone on somebody's chain, it leaves exactly what the person is to get, under either way to read.
    if (!first) return undefined
    const wider = others.filter((one) => (change.key === person.key || one.key === TEAM_KEY) && !one.isHeld && !one.isRefused)
    const underWay = others.filter(({ key }) => admitted.has(key))
    for (const view of viewsOf(person, chain.some(start.mayBeInherited))) {
      for (const landed of subsets(underWay)) {
        landed.set(change.key, change)
        const lifts = liftedBy(person, view, landed, { pending, wider })
        if (lifts) return lifts
        if (!isBad(person, view, landed)) continue
        return (others.find((one) => !isBad(person, view, new Map([...landed, [one.key, one]]))) ?? first).scope
      }
    }
    return undefined
  }

  return {
    blocker(change, admitted) {
      for (const person of maybe(change.key === TEAM_KEY ? besideTeam(inputs) : reached(change.key, inputs))) {
        const blocker = blockerAt(person, change, admitted)
        if (blocker) return blocker
      }
      return undefined
    },
  }
}

/**
 * What has to come before somebody may fall to it, as they would be above what they had and get. What is held or refused is not waited for:
 * it may never come. What nobody could read may be anything, but who is to have less falls to what is believed to be there.
 */
function liftedBy(
  person: CountedPerson,
  { now, had, gets }: View,
  landed: ReadonlyMap<ScopeKey, Pending>,
  { pending, wider }: { readonly pending: ReadonlyMap<ScopeKey, Pending>; readonly wider: readonly Pending[] },
): Scope | undefined {
  const isLifted = (more: readonly Pending[]): boolean => {
    const written = new Map([...landed, ...more.map((one) => [one.key, one] as const)])
    const capAt: CapAt = (key) => written.get(key)?.to ?? (gets >= had && pending.get(key)?.isUnread ? ANYTHING : now(key))
    return worth(inForce(person, capAt)) > Math.max(had, gets)
  }
  if (wider.length === 0 || !isLifted([]) || isLifted(wider)) return undefined
  return (wider.find((one) => !isLifted([one])) ?? wider[0])?.scope
}

/** Of everybody whom the team's cap reaches, those on whose chain something else may move. */
function besideTeam(inputs: WaveInputs): readonly CountedPerson[] {
  return [...new Set(inputs.pending.flatMap(({ key }) => reached(key, inputs)))]
}

const ANYTHING = Number.POSITIVE_INFINITY as Credits

const with_ =
  (capAt: CapAt, change: (key: ScopeKey) => Cap | undefined): CapAt =>
  (key) =>
    change(key) ?? capAt(key)

const inForce = (person: CountedPerson, capAt: CapAt): Observed => effectiveCap(person, capAt).cap

const worth = (cap: Observed): number => (typeof cap === 'number' ? cap : Number.POSITIVE_INFINITY)

/** So many groups that nobody could list are tried in every combination; beyond, each alone and all of them. */
const MOST_UNLISTED = 4

/** People as the lists have them, and as members of groups that nobody could list. */
function maybeMembers({ unlisted = NO_GROUPS }: WaveInputs): (people: readonly CountedPerson[]) => readonly CountedPerson[] {
  if (unlisted.size === 0) return (people) => people
  const groups = [...unlisted]
  const single = groups.map((group) => [group])
  const more = groups.length > MOST_UNLISTED ? [[], ...single, groups] : combinations(groups)
  const known = new Map<CountedPerson, readonly CountedPerson[]>()
  const inEach = (person: CountedPerson): readonly CountedPerson[] => {
    const all = known.get(person) ?? more.map((one) => ({ ...person, groups: [...person.groups, ...one] }))
    known.set(person, all)
    return all
  }
  return (people) => people.flatMap(inEach)
}

const NO_GROUPS: ReadonlySet<ScopeKey> = new Set()

const combinations = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_one, index) => (bits >> index) % 2 === 1))

/** Whose cap in force a group or a person may decide. */
function reached(key: ScopeKey, { people, unlisted }: WaveInputs): readonly CountedPerson[] {
  if (unlisted?.has(key)) return people.approved
  const person = people.byKey.get(key)
  return person ? [person] : (people.byGroup.get(key) ?? [])
}

/** So many writes on one person's chain are tried in every combination; beyond, only none and all of them. */
const MOST_COMBINED = 6

function* subsets(pending: readonly Pending[]): Iterable<Map<ScopeKey, Pending>> {
  const count = 2 ** Math.min(pending.length, MOST_COMBINED)
  for (let bits = 0; bits < count; bits += 1) {
    yield new Map(pending.filter((_, index) => index >= MOST_COMBINED || (bits >> index) % 2 === 1).map((one) => [one.key, one]))
  }
  if (pending.length > MOST_COMBINED) yield new Map()
}
