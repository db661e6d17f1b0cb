// What `audit` finds: user caps that no policy declares, people without any cap, and people at or near their cap; and what `import` declares for the
// caps in force, so that a plan made of it changes nothing. It uses readings only; unread scopes are listed, and no cap is ever invented.
import { type CapAt, type CountedPerson, effectiveCap, type People, TEAM_KEY } from '../interpret/effective.ts'
import type { ScopeStatus } from '../model/events.ts'
import type { CapReading, GroupMembers, Observed, OwnedCap } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type ScopeKey, scopeKey, type UserScope, userScope } from '../model/scope.ts'
import type { Resolution } from '../resolve/desired.ts'
import type { AddOnUse } from '../use/add-on.ts'
import { bandOf, bandRank } from '../use/first-stop.ts'

// User caps that no policy declares and that are not ours: which people to read, and which readings to show. They are never written.

/** The user scopes in policy or in the ledger. Skipped, rejected and quarantined scopes are managed too, and members to whom a pool has not dealt yet. */
export function managedUsers(
  { desired, skipped, rejected, pools }: Pick<Resolution, 'desired' | 'skipped' | 'rejected' | 'pools'>,
  ...more: readonly Iterable<ScopeKey>[]
): ReadonlySet<ScopeKey> {
  const managed = new Set<ScopeKey>()
  for (const { members } of pools) for (const { email } of members) managed.add(scopeKey(userScope(email)))
  for (const { scope } of [...desired, ...skipped, ...rejected]) if (scope.kind === 'user') managed.add(scopeKey(scope))
  for (const keys of more) for (const key of keys) managed.add(key)
  return managed
}

/** Approved people whose scope is not managed, in the order of the roster. */
export const undeclaredPeople = (people: People, managed: ReadonlySet<ScopeKey>): readonly UserScope[] =>
  people.approved.flatMap(({ key, email }: CountedPerson): UserScope[] => (managed.has(key) ? [] : [{ kind: 'user', email }]))

/**
 * The readings that show a cap of the person's own. A cap that equals the inherited one does not count: it makes no difference to the
 * person, and where reads show inherited caps every person would seem to have one (choice).
 */
export function undeclaredCaps(readings: readonly CapReading[], inherited: (key: ScopeKey) => Observed): readonly ScopeStatus[] {
  const why = 'no policy declares it, and it is not ours; it is never written'
  return readings.flatMap(({ scope, observed, readAt, last }): readonly ScopeStatus[] => {
    const known = observed === 'unknown' ? last : { observed, readAt }
    const isOwn = scope.kind === 'user' && known && known.observed !== 'none' && known.observed !== inherited(scopeKey(scope))
    return isOwn ? [{ scope, state: 'undeclared', ...known, why }] : []
  })
}

// What `import` declares. A value that is only inherited is not declared.
/** What was read, all of it known; `none` is a scope without a cap explicitly set. */
interface LiveCaps {
  readonly team: Cap
  readonly groups: readonly LiveGroup[]
  readonly people: readonly { readonly email: string; readonly cap: Cap }[]
}

export interface LiveGroup extends Pick<GroupMembers, 'id' | 'name' | 'emails'> {
  readonly cap: Cap
}

/** The caps to declare. */
export type Adopted = ReturnType<typeof adopt>

/**
 * Works out the declarations. Where every person with an ancestor's cap reads a value, readings are taken to show inherited or copied
 * values, and what equals the inherited cap is left out. Otherwise every cap was set on purpose, and is declared. Choice.
 */
export function adopt(live: LiveCaps) {
  const groupsOf = Map.groupBy(
    live.groups.flatMap(({ emails, cap }) => emails.map((email) => ({ email, cap }))),
    ({ email }) => email,
  )
  const inherited = (email: string): Cap | 'conflict' => inheritedCap(live.team, groupsOf.get(email) ?? [])
  const inherits = showsInherited(live.people.map(({ email, cap }) => ({ cap, inherited: inherited(email) })))
  const isDeclared = ({ cap }: LiveGroup): boolean => cap !== 'none' && !(inherits && cap === live.team)
  const named = live.groups.filter((group) => !isDeclared(group))
  const set = live.people.filter(({ cap }) => cap !== 'none')
  const people = set.filter(({ email, cap }) => !(inherits && cap === inherited(email)))
  const declared = new Set(people.map(({ email }) => email))
  return {
    team: live.team,
    groups: live.groups.filter(isDeclared),
    people,
    /** Groups without a cap to declare: only named, for grants, rules, pools and reports. */
    named,
    /** How many people and groups inherit their cap, and are not declared. */
    left: set.length - people.length + named.filter(({ cap }) => cap !== 'none').length,
    /** People who inherit from groups with different caps: policy has to say which one counts (`onGroupConflict`). */
    conflicts: live.people.flatMap(({ email }) => (!declared.has(email) && inherited(email) === 'conflict' ? [email] : [])),
  }
}

/** The cap that a person inherits; `conflict` when their groups have different caps. */
function inheritedCap(team: Cap, groups: readonly { readonly cap: Cap }[]): Cap | 'conflict' {
  const caps = new Set(groups.flatMap(({ cap }) => (cap === 'none' ? [] : [cap])))
  const [only, ...others] = caps
  if (only === undefined) return team
  return others.length === 0 ? only : 'conflict'
}

/** Nobody with an ancestor's cap reads as unset, and at least one person reads exactly that cap. */
function showsInherited(people: readonly { readonly cap: Cap; readonly inherited: Cap | 'conflict' }[]): boolean {
  const heirs = people.filter(({ inherited }) => inherited !== 'none')
  return heirs.every(({ cap }) => cap !== 'none') && heirs.some(({ cap, inherited }) => cap === inherited)
}

// What `audit` finds.

interface AuditInputs {
  /** Every approved person. */
  readonly people: readonly CountedPerson[]
  /** The team, declared groups and every approved person. */
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** Declared groups with their members. */
  readonly groups: readonly Pick<GroupMembers, 'id' | 'name' | 'emails'>[]
  /** Scopes with a desired cap. */
  readonly declared: ReadonlySet<ScopeKey>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  /** Whether a declaration applies to the person: a rule, or a cap or grant of the person, of a group or of the team. */
  readonly reaches: (email: string) => boolean
  /** Add-on use; undefined when it is not known. */
  readonly useOf: (email: string) => AddOnUse | undefined
}

export type Audit = ReturnType<typeof audit>

export function audit(inputs: AuditInputs) {
  const { people, readings, owned } = inputs
  const capAt: CapAt = (key) => readings.get(key)?.observed
  const own = ownCaps(inputs)
  const withUse = (some: readonly CountedPerson[]) =>
    some
      .map(({ email }) => {
        const use = inputs.useOf(email)
        return { email, used: use?.credits, source: use?.source }
      })
      .sort(byEmail)
  return {
    /** `ours`: we set it, and it still has our value. */
    undeclared: own.people
      .filter(({ email }) => !inputs.declared.has(email as ScopeKey))
      .flatMap(({ email, cap }) => (cap === 'none' ? [] : [{ email, cap, ours: owned.get(email as ScopeKey)?.cap === cap }]))
      .sort(byEmail),
    uncapped: withUse(people.filter((person) => effectiveCap(person, capAt).cap === 'none')),
    /** People to whom no declaration applies. */
    unreached: withUse(people.filter(({ email }) => !inputs.reaches(email))),
    /** By the share of the cap that is used, the highest first. */
    near: people.flatMap((person) => near(person, capAt, inputs.useOf(person.email))).sort(worstFirst),
    unread: [...readings.values()].flatMap(({ scope, failure }) => (failure ? [{ scope: scopeKey(scope), message: failure.message }] : [])),
    people: people.length,
    /** Some user caps were left out, because they equal the ancestor's and may only be inherited. */
    showsInherited: own.left > 0,
  }
}

const byEmail = (a: { readonly email: string }, b: { readonly email: string }): number => (a.email < b.email ? -1 : 1)

/** The users' own caps. Where the service shows or copies an ancestor's cap, only caps that differ from it count. */
function ownCaps({ people, readings, groups }: AuditInputs): Adopted {
  const capOf = (key: ScopeKey): Cap => {
    const observed = readings.get(key)?.observed ?? 'none'
    return observed === 'unknown' ? 'none' : observed
  }
  return adopt({
    team: capOf(TEAM_KEY),
    groups: groups.map((group): LiveGroup => ({ ...group, cap: capOf(`group:${group.id}` as ScopeKey) })),
    people: people.flatMap(({ email, key }) => (readings.get(key)?.failure ? [] : [{ email, cap: capOf(key) }])),
  })
}

/** A person who has used 85 % of the cap or more; `from`: the scope that sets it. */
function near(person: CountedPerson, capAt: CapAt, use: AddOnUse | undefined) {
  const { cap, from } = effectiveCap(person, capAt)
  if (cap === 'none' || cap === 'unknown' || !use || from === undefined) return []
  const { credits: used, source } = use
  const band = bandOf(cap, used)
  return band !== undefined && bandRank(band) >= bandRank('85_to_95') ? [{ email: person.email, cap, used, source, band, from }] : []
}

/** By the share of the cap that is used; a cap of 0 is always the first. */
function worstFirst(a: ReturnType<typeof near>[number], b: typeof a): number {
  const difference = b.used * a.cap - a.used * b.cap
  if (a.cap === 0 || b.cap === 0) return a.cap - b.cap || byEmail(a, b)
  return difference || byEmail(a, b)
}
