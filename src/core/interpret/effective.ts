// The cap that is in force for each person, before and after a plan, worked out from what is set at user, group and team scope.
// Guards count people by it. It decides nothing about what to write.

import type { Balance, GroupMembers, Observed, Person, Roster } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { groupScope, type ScopeKey, scopeKey, TEAM } from '../model/scope.ts'
import { type Credits, credits, type Instant } from '../model/units.ts'
import { type AddOnSource, addOnFigures, type MeasuredAddOn } from '../use/add-on.ts'
import { type EndedCycle, SETTLE_MS } from '../use/turn.ts'

export const TEAM_KEY: ScopeKey = scopeKey(TEAM)

/** An approved person. */
export interface CountedPerson {
  readonly email: string
  readonly key: ScopeKey
  /** Written, but not counted in guards. */
  readonly disabled: boolean
  /** Keys of the declared groups they are in. */
  readonly groups: readonly ScopeKey[]
  /** Add-on use in credits, as `People.useSource` says; 0 when nothing is known. */
  readonly use: Credits
}

export interface People {
  /** Every approved person. */
  readonly approved: readonly CountedPerson[]
  /** How many of them guards count: those who are not disabled. */
  readonly total: number
  /** Those in no declared group. */
  readonly alone: readonly CountedPerson[]
  readonly byKey: ReadonlyMap<ScopeKey, CountedPerson>
  readonly byGroup: ReadonlyMap<ScopeKey, readonly CountedPerson[]>
  /** Where the figures of use come from; where they are measured, those of people who cannot be measured are estimated. */
  readonly useSource: AddOnSource
}

export interface PeopleInputs {
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  readonly measured?: MeasuredAddOn
  readonly previousCycle?: EndedCycle
  readonly now: Instant
}

export const isApproved = (person: Person, roster: Roster): boolean => person.status === 'approved' || roster.statusesAbsent

/** The people to count, with their groups and use. Without a roster there are none. */
export function countPeople(inputs: PeopleInputs): People {
  const { roster, groups, balance, measured, previousCycle, now } = inputs
  const groupsOf = new Map<string, ScopeKey[]>()
  for (const group of groups) {
    const key = scopeKey(groupScope(group.id))
    for (const email of group.emails) {
      const list = groupsOf.get(email)
      if (list) list.push(key)
      else groupsOf.set(email, [key])
    }
  }
  const cycle = roster?.cycle ?? balance?.cycle
  // What the last one ended with still counts, because the new figures are next to nothing (product.md, section 5), or not known.
  const isSettling = cycle !== undefined && now - cycle.startAt < SETTLE_MS
  const present = addOnFigures({ now, cycle, measured, balance })
  const before = previousCycle ? addOnFigures({ now, cycle: previousCycle.cycle, measured, balance }) : undefined
  const approved: CountedPerson[] = []
  for (const person of roster?.people ?? []) {
    if (!roster || !isApproved(person, roster)) continue
    const { email, disabled } = person
    const used = present.of(email, person.used)?.credits
    const last = isSettling || used === undefined ? (before?.of(email, previousCycle?.used[email])?.credits ?? 0) : 0
    const use = credits(Math.max(used ?? 0, last))
    approved.push({ email, key: email as ScopeKey, disabled, groups: groupsOf.get(email) ?? NO_GROUPS, use })
  }
  const total = approved.filter((person) => !person.disabled).length
  return { approved, total, ...index(approved), useSource: present.source }
}

const NO_GROUPS: readonly ScopeKey[] = []

function index(approved: readonly CountedPerson[]): Pick<People, 'alone' | 'byKey' | 'byGroup'> {
  const byKey = new Map<ScopeKey, CountedPerson>()
  const byGroup = new Map<ScopeKey, CountedPerson[]>()
  for (const person of approved) {
    byKey.set(person.key, person)
    for (const group of person.groups) {
      const list = byGroup.get(group)
      if (list) list.push(person)
      else byGroup.set(group, [person])
    }
  }
  return { alone: approved.filter(({ groups }) => groups.length === 0), byKey, byGroup }
}

/** People whom a cap of the team may reach: all but the members of a group that `shelters`, as one with a cap of its own does. */
export function reachedByTeam({ approved, alone, byGroup }: People, shelters: (group: ScopeKey) => boolean): readonly CountedPerson[] {
  const sheltering = new Set(byGroup.keys().filter(shelters))
  if (sheltering.size === byGroup.size) return alone
  return approved.filter(({ groups }) => !groups.some((group) => sheltering.has(group)))
}

/** The wider scopes that may give this one its cap, the narrowest first. */
export const ancestorsOf = (key: ScopeKey, { byKey }: Pick<People, 'byKey'>): readonly ScopeKey[] =>
  key === TEAM_KEY ? [] : [...(byKey.get(key)?.groups ?? []), TEAM_KEY]

/** What is set at a scope; undefined for a scope that was not read because nothing manages it. */
export type CapAt = (key: ScopeKey) => Observed | undefined

/** A person's cap in force and the scope that gives it. */
export interface Effective {
  readonly cap: Observed
  readonly from: ScopeKey | undefined
}

const UNCAPPED: Effective = { cap: 'none', from: undefined }

/**
 * User over group over team. With several groups the lowest cap counts (choice: the service does not say which applies). A scope that
 * nothing manages counts as not set (choice: it is not read). A failed reading on the way makes the result `unknown`.
 */
export function effectiveCap(person: Pick<CountedPerson, 'key' | 'groups'>, capAt: CapAt): Effective {
  return ownCap(person.key, capAt(person.key)) ?? sharedCap(person.groups, capAt)
}

/** A person's own cap, or that it is not known; undefined when nothing is set and the wider one applies. */
export const ownCap = (key: ScopeKey, own: Observed | undefined): Effective | undefined =>
  own === undefined || own === 'none' ? undefined : { cap: own, from: key }

/** The cap in force for somebody in these groups who has none of their own. */
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

/** The wider value that applies where nothing is set at this scope; `none` when there is none, `unknown` when it cannot be told. */
export function inheritedCap(key: ScopeKey, groups: readonly ScopeKey[], capAt: CapAt): Cap | 'unknown' {
  if (key === TEAM_KEY) return 'none'
  if (key.startsWith('group:')) return capAt(TEAM_KEY) ?? 'none'
  return sharedCap(groups, capAt).cap
}
