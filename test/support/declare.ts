// Short forms of policies and of the state of the world, for tests of the pure core. Names without an @ get a domain.

import type { Cycle, GroupMembers, Listing, MemberStatus, OwnedCap, Roster } from '../../src/core/model/observed.ts'
import type {
  AskedEntry,
  Cap,
  CapRule,
  Grant,
  OwnerKind,
  PeopleRule,
  PolicyEntry,
  PolicySet,
  Pool,
  PoolMembers,
  When,
} from '../../src/core/model/policy.ts'
import type { Position } from '../../src/core/model/problem.ts'
import { byScope, groupScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits, type Instant } from '../../src/core/model/units.ts'
import type { DesiredInputs } from '../../src/core/resolve/chain.ts'
import type { Resolution } from '../../src/core/resolve/desired.ts'
import { grantId } from '../../src/core/resolve/grants.ts'
import { nearest } from '../../src/policy/suggest.ts'
import { workspaceConfig } from './configured.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const NOW = Date.UTC(2026, 10, 20, 12)
export const CYCLE = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }

/** 500 or 'none', without the brand. */
export type PlainCap = number | 'none'

export const cap = (amount: PlainCap): Cap => (amount === 'none' ? amount : credits(amount))

export const email = (name: string): string => (name.includes('@') ? name : `${name}@example.com`)

/** `team`, `group:ID`, or a person. */
export function scope(name: string): Scope {
  if (name === 'team') return TEAM
  return name.startsWith('group:') ? groupScope(name.slice(6)) : userScope(email(name))
}

/** The keys of scopes by name. */
export const keysOf = (...names: readonly string[]): ReadonlySet<ScopeKey> => new Set(names.map((name) => scopeKey(scope(name))))

export interface GrantSketch {
  readonly on: string
  readonly cap?: number
  readonly add?: number
  readonly from?: Instant
  readonly until: Instant | 'cycleEnd'
  readonly reason?: string
  readonly ticket?: string
  readonly line?: number
}

interface RuleSketch {
  /** Default: r1, r2, r3 … */
  readonly name?: string
  readonly when: When
  readonly cap: PlainCap
  readonly reason?: string
}

export interface PoolSketch {
  /** Default: pool1, pool2 … */
  readonly name?: string
  readonly members: PoolMembers
  readonly credits: number
  readonly share?: Pool['share']
  readonly min?: number
  readonly max?: number
}

export interface PolicySketch {
  /** Caps by scope name. */
  readonly caps?: Readonly<Record<string, PlainCap>>
  readonly grants?: readonly GrantSketch[]
  readonly onGroupConflict?: 'min' | 'max'
  readonly rules?: readonly RuleSketch[]
  readonly pools?: readonly PoolSketch[]
  readonly protect?: readonly string[]
  /** Ids of holds that the policy approves. */
  readonly approvalIds?: readonly string[]
  /** Groups that are declared without a cap, besides those with an entry. */
  readonly bare?: readonly string[]
}

/** By default caps are on lines 1, 2, 3 … of acme.yaml, grants on 101, 102 …, rules on 201, 202 …, pools on 301, 302 … */
export function policy(sketch: PolicySketch): PolicySet {
  const at = (line: number): Position => ({ file: 'acme.yaml', line, column: 5 })
  const rules = Object.entries(sketch.caps ?? {}).map(
    ([name, amount], index): CapRule => ({ scope: scope(name), cap: cap(amount), at: at(index + 1), document: 'acme' }),
  )
  const grants = (sketch.grants ?? []).map((one, index) => grant(one, at(one.line ?? 101 + index)))
  const peopleRules = (sketch.rules ?? []).map((one, index): PeopleRule => {
    const { name = `r${index + 1}`, when, cap: amount, reason } = one
    return { name, when, cap: cap(amount), ...(reason !== undefined && { reason }), at: at(201 + index), document: 'acme' }
  })
  const pools = (sketch.pools ?? []).map((one, index): Pool => {
    const { name = `pool${index + 1}`, members, credits: amount, share = 'need', min = 0, max } = one
    const most = max === undefined ? {} : { max: credits(max) }
    return { name, members, credits: credits(amount), share, min: credits(min), ...most, at: at(301 + index), document: 'acme' }
  })
  const named = [...peopleRules.map(({ when }) => when.groups ?? []), ...pools.map(({ members }) => poolGroups(members)), sketch.bare ?? []]
  const ids = new Set([...[...rules, ...grants].flatMap((one) => (one.scope.kind === 'group' ? one.scope.id : [])), ...named.flat()])
  const groups = [...ids].map((id) => ({ scope: groupScope(id), name: id.toUpperCase(), at: at(1) }))
  const conflictRule = sketch.onGroupConflict && { onGroupConflict: sketch.onGroupConflict }
  return {
    workspace: 'acme',
    rules,
    grants,
    groups,
    protectedPeople: (sketch.protect ?? []).map((name) => ({ scope: userScope(email(name)), at: at(1) })),
    peopleRules,
    pools,
    approvals: (sketch.approvalIds ?? []).map((id) => ({ id, at: at(1) })),
    documents: ['acme'],
    ...conflictRule,
  }
}

/** A pool called research, shared equally among people by name or by a condition. */
export const research = (amount: number, of: PoolMembers | readonly string[], more: Partial<PoolSketch> = {}): PoolSketch => {
  const members: PoolMembers = 'kind' in of ? of : { kind: 'emails', emails: of.map(email) }
  return { name: 'research', credits: amount, share: 'equal', members, ...more }
}

const poolGroups = (members: PoolMembers): readonly string[] =>
  members.kind === 'groups' ? members.ids : members.kind === 'when' ? (members.when.groups ?? []) : []

function grant(sketch: GrantSketch, at: Position): Grant {
  return {
    scope: scope(sketch.on),
    amount:
      sketch.add === undefined ? { kind: 'cap', credits: credits(sketch.cap ?? 6000) } : { kind: 'add', credits: credits(sketch.add) },
    ...(sketch.from !== undefined && { fromAt: sketch.from }),
    until: sketch.until === 'cycleEnd' ? { kind: 'cycleEnd' } : { kind: 'instant', at: sketch.until },
    reason: sketch.reason ?? 'release week',
    ...(sketch.ticket !== undefined && { ticket: sketch.ticket }),
    at,
    document: 'acme',
  }
}

/** People by name with their status. */
export function roster(people: Readonly<Record<string, MemberStatus | 'disabled'>>, more: Partial<Roster> = {}): Roster {
  const rows = Object.entries(people).map(([name, status]) => ({
    email: email(name),
    name,
    status: status === 'disabled' ? ('approved' as const) : status,
    disabled: status === 'disabled',
  }))
  return { people: rows, readAt: NOW, statusesAbsent: false, duplicates: [], ...more }
}

/** Approved people with what they used in the cycle. */
export const rosterOfUse = (used: Readonly<Record<string, number | undefined>>, cycle?: Cycle, readAt = NOW): Roster => {
  const { people, ...rest } = roster(Object.fromEntries(Object.keys(used).map((name) => [name, 'approved'])), { readAt, cycle })
  return {
    ...rest,
    people: people.map((one) => ({ ...one, used: used[one.name] === undefined ? undefined : credits(used[one.name] ?? 0) })),
  }
}

/** The other properties of a row of the roster: days are before NOW. */
export interface RowSketch {
  readonly status?: MemberStatus | 'disabled'
  readonly role?: string
  /** Credits in the cycle. */
  readonly used?: number
  readonly usedDaysAgo?: number
  readonly joinedDaysAgo?: number
  readonly activeDays?: Readonly<Record<number, number>>
  /** What the people file says of them. */
  readonly listing?: Listing
}

/** People by name with these properties. */
export function rosterRows(rows: Readonly<Record<string, RowSketch>>): Roster {
  const people = Object.entries(rows).map(
    ([name, { status = 'approved', role, used, usedDaysAgo, joinedDaysAgo, activeDays, listing }]) => ({
      ...{ email: email(name), name, status: status === 'disabled' ? ('approved' as const) : status, disabled: status === 'disabled' },
      ...(used !== undefined && { used: credits(used) }),
      ...(role !== undefined && { role }),
      ...(usedDaysAgo !== undefined && { lastUsedAt: NOW - usedDaysAgo * DAY }),
      ...(joinedDaysAgo !== undefined && { signedUpAt: NOW - joinedDaysAgo * DAY }),
      ...(activeDays && { activeDays }),
      ...(listing && { listing }),
    }),
  )
  return { people, readAt: NOW, statusesAbsent: false, duplicates: [] }
}

export const members = (groups: Readonly<Record<string, readonly string[]>>): GroupMembers[] =>
  Object.entries(groups).map(([id, names]) => ({ id, name: id.toUpperCase(), emails: names.map(email), readAt: NOW }))

export interface OwnedSketch {
  readonly cap: PlainCap
  readonly owner?: OwnerKind
  readonly entry?: PolicyEntry
  readonly tried?: PlainCap
  readonly baseline?: PlainCap
  /** The grant that the cap came from. */
  readonly grant?: GrantSketch
  /** Other fields of its record. */
  readonly more?: Partial<OwnedCap>
}

/** The policy entry of a declaration of this kind. */
export const entryOf = (kind: AskedEntry['kind'], value: PlainCap): AskedEntry => ({ kind, cap: cap(value) })

const ENTRY_KIND: Record<OwnerKind, AskedEntry['kind']> = {
  policy: 'cap',
  grant: 'grant',
  rule: 'rule',
  pool: 'pool',
  conflict: 'conflict',
  copied: 'copied',
}

/** The records of the ledger, by scope name. */
export function ownedCaps(caps: Readonly<Record<string, OwnedSketch>>): ReadonlyMap<ScopeKey, OwnedCap> {
  const owned = Object.entries(caps).map(([name, one]): OwnedCap => {
    const owner = one.owner ?? 'policy'
    const entry = one.entry ?? entryOf(ENTRY_KIND[owner], one.cap)
    const baseline = one.baseline === undefined ? {} : { baseline: cap(one.baseline) }
    const tried = one.tried === undefined ? {} : { tried: cap(one.tried) }
    const from = one.grant === undefined ? {} : { grant: grantId(grant(one.grant, { file: '', line: 0, column: 0 })) }
    return { scope: scope(name), cap: cap(one.cap), owner, entry, verifiedAt: NOW - HOUR, ...tried, ...baseline, ...from, ...one.more }
  })
  return byScope(owned)
}

/** Inputs with only a policy: no roster, no members, no caps of ours, cycle of November 2026. */
/** What is asked, where the policies' own search for a near word is given, as in the daemon. */
export const inputsWithNearest = (sketch: PolicySketch, more: Partial<DesiredInputs>): DesiredInputs =>
  desiredInputs(sketch, { nearest, ...more })

export function desiredInputs(sketch: PolicySketch, more: Partial<DesiredInputs> = {}): DesiredInputs {
  return {
    set: policy(sketch),
    groups: [],
    unknownGroups: [],
    cycle: CYCLE,
    now: NOW,
    capSemantics: 'layered',
    owned: new Map(),
    prune: true,
    conflictsGone: {},
    newReading: { groups: (more.groups ?? []).map(({ id }) => id) },
    grantsFrozen: false,
    ...more,
  }
}

/** A scope's key without the domain of the tests. */
export const short = (scope: Scope): string => scopeKey(scope).replace('@example.com', '')

/** Desired caps by scope: `kind cap` of the winner. */
export const asked = ({ desired }: Resolution): Record<string, string> =>
  Object.fromEntries(desired.map(({ scope, origin, cap }) => [short(scope), `${origin.kind} ${cap}`]))

/** Windows of grants around now. */
export const running = { from: NOW - DAY, until: NOW + 3 * DAY }
export const over = { from: NOW - 3 * DAY, until: NOW - DAY }

/** `p001`, `p002` …: the names of people in a test world. */
export const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `p${String(index + 1).padStart(3, '0')}`)

/** Of a workspace that is kept in order. */
export const SETTINGS = workspaceConfig('acme')
