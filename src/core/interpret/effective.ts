// The cap in force for each person, from the caps set at user, group and team scope. Guards count people by it. It decides no write.

import { type Balance, type EndedCycle, type GroupMembers, type Observed, type Person, type Roster, SETTLE_MS } from '../model/observed.ts'
import { onceFor } from '../model/once.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM } from '../model/scope.ts'
import { type Credits, credits, type Instant } from '../model/units.ts'
import { type AddOnSource, addOnFigures, type MeasuredAddOn } from '../use/add-on.ts'

export const TEAM_KEY: ScopeKey = scopeKey(TEAM)

/** An approved person. */
export interface CountedPerson {
  readonly email: string
  readonly key: ScopeKey
  /** Written, but not counted in guards. */
  readonly disabled: boolean
  /** The declared groups of the person. */
  readonly groups: readonly ScopeKey[]
  /** Add-on use in credits, as `People.useSource` says; 0 when nothing is known. */
  readonly use: Credits
}

export interface People {
  readonly approved: readonly CountedPerson[]
  /** The number of people whom guards count: those approved and not disabled. */
  readonly total: number
  /** Approved people in no declared group. */
  readonly alone: readonly CountedPerson[]
  readonly byKey: ReadonlyMap<ScopeKey, CountedPerson>
  readonly byGroup: ReadonlyMap<ScopeKey, readonly CountedPerson[]>
  /** Where the figures of use come from. With `measured`, people without a measured figure are estimated. */
  readonly useSource: AddOnSource
}

interface PeopleInputs {
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  readonly measured?: MeasuredAddOn
  readonly previousCycle?: EndedCycle
  readonly now: Instant
}

export const isApproved = (person: Person, roster: Roster): boolean => person.status === 'approved' || roster.statusesAbsent

/** Nobody while there is no roster. */
export const approvedIn = (roster: Roster | undefined): readonly Person[] =>
  roster?.people.filter((person) => isApproved(person, roster)) ?? []

/** The keys of each member's groups, by e-mail. */
export const groupsOfEach = onceFor((groups: readonly GroupMembers[]): ReadonlyMap<string, readonly ScopeKey[]> => {
  const keys = new Map<string, ScopeKey[]>()
  for (const { id, emails } of groups) for (const email of emails) append(keys, email, scopeKey(groupScope(id)))
  return keys
})

/** The people to count, with their groups and use. Without a roster there are none. */
export function countPeople(inputs: PeopleInputs): People {
  const { roster, groups, balance, measured, previousCycle, now } = inputs
  const groupsOf = groupsOfEach(groups)
  const cycle = roster?.cycle ?? balance?.cycle
  // The use at the end of the previous cycle still counts while the new figures are near zero (docs/guards-and-approvals.md) or unknown.
  const isSettling = cycle !== undefined && now - cycle.startAt < SETTLE_MS
  const present = addOnFigures({ now, cycle, measured, balance })
  const before = previousCycle ? addOnFigures({ now, cycle: previousCycle.cycle, measured, balance }) : undefined
  const approved = approvedIn(roster).map(({ email, disabled, used: all }): CountedPerson => {
    const used = present.of(email, all)?.credits
    const last = isSettling || used === undefined ? (before?.of(email, previousCycle?.used[email])?.credits ?? 0) : 0
    const use = credits(Math.max(used ?? 0, last))
    return { email, key: email as ScopeKey, disabled, groups: groupsOf.get(email) ?? NO_GROUPS, use }
  })
  const total = approved.filter((person) => !person.disabled).length
  return { approved, total, ...index(approved), useSource: present.source }
}

const NO_GROUPS: readonly ScopeKey[] = []

function index(approved: readonly CountedPerson[]): Pick<People, 'alone' | 'byKey' | 'byGroup'> {
  const byKey = new Map<ScopeKey, CountedPerson>()
  const byGroup = new Map<ScopeKey, CountedPerson[]>()
  for (const person of approved) {
    byKey.set(person.key, person)
    for (const group of person.groups) append(byGroup, group, person)
  }
  return { alone: approved.filter(({ groups }) => groups.length === 0), byKey, byGroup }
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** The people whom the team's cap may reach: all but the members of a group that `shelters` them, as one with a cap of its own does. */
export function reachedByTeam({ approved, alone, byGroup }: People, shelters: (group: ScopeKey) => boolean): readonly CountedPerson[] {
  const sheltering = new Set(byGroup.keys().filter(shelters))
  if (sheltering.size === byGroup.size) return alone
  return approved.filter(({ groups }) => !groups.some((group) => sheltering.has(group)))
}

/** The ancestors that may give this scope its cap: the groups of a person, then the team. */
export const ancestorsOf = (key: ScopeKey, { byKey }: Pick<People, 'byKey'>): readonly ScopeKey[] =>
  key === TEAM_KEY ? [] : [...(byKey.get(key)?.groups ?? []), TEAM_KEY]

/** The cap set at a scope; undefined for a scope that is not managed, and so not read. */
export type CapAt = (key: ScopeKey) => Observed | undefined

export const isNumber = (cap: Observed | undefined): boolean => typeof cap === 'number'

/** A cap in force and the scope that sets it. */
export interface Effective {
  readonly cap: Observed
  readonly from: ScopeKey | undefined
}

const UNCAPPED: Effective = { cap: 'none', from: undefined }

/**
 * User over group over team. With several groups the lowest cap counts (choice: the service does not say which applies). A scope that is
 * not managed counts as unset (choice: it is not read). An unread scope on the way makes the result `unknown`.
 */
export function effectiveCap(person: Pick<CountedPerson, 'key' | 'groups'>, capAt: CapAt): Effective {
  return ownCap(person.key, capAt(person.key)) ?? sharedCap(person.groups, capAt)
}

/** The cap at a person's own scope, perhaps `unknown`; undefined when nothing is set there and an ancestor's cap applies. */
export const ownCap = (key: ScopeKey, own: Observed | undefined): Effective | undefined =>
  own === undefined || own === 'none' ? undefined : { cap: own, from: key }

/** The cap in force for a person in these groups without a cap of their own. */
export function sharedCap(groups: readonly ScopeKey[], capAt: CapAt): Effective {
  let lowest: { cap: Credits; from: ScopeKey } | undefined
  for (const group of groups) {
    const cap = capAt(group)
    if (cap === 'unknown') return { cap, from: group }
    if (cap !== undefined && cap !== 'none' && (!lowest || cap < lowest.cap)) lowest = { cap, from: group }
  }
  if (lowest) return lowest
  const team = capAt(TEAM_KEY)
  return team === undefined || team === 'none' ? UNCAPPED : { cap: team, from: TEAM_KEY }
}
