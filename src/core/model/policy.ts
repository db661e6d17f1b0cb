// What policy files declare, after parsing: plain data with the place of every declaration. Nothing here knows YAML.
import type { Position } from './problem.ts'
import type { GroupScope, Scope, ScopeKey, UserScope } from './scope.ts'
import type { Credits, Instant } from './units.ts'

/** Whole credits a person may use, or `none`: nothing is set at this scope, and the next ancestor's cap applies. */
export type Cap = Credits | 'none'

/** What applies while the files of a workspace are invalid. `digest`: of the set in force, empty without one. */
export const whileInvalid = (digest: string): string =>
  digest === '' ? 'no set was whole yet, so no cap is kept' : 'the last good set stays in force'

/** `cap:` at a team, group or user. */
export interface CapRule {
  readonly scope: Scope
  readonly cap: Cap
  readonly reason?: string
  readonly at: Position
  /** `metadata.name` of its document. */
  readonly document: string
  /** The envelope that it comes from; absent: platform's. */
  readonly envelope?: string
  /** Its envelope was narrowed below what had been accepted. */
  readonly narrowed?: boolean
}

/** A temporary cap above the rules; the base is restored at its end. */
export interface Grant {
  readonly scope: Scope
  readonly amount: { readonly kind: 'cap'; readonly credits: Credits } | { readonly kind: 'add'; readonly credits: Credits }
  /** Absent: from now on. */
  readonly fromAt?: Instant
  /** Exclusive end. Parsing has turned a date into the end of that day in `spec.timezone`. */
  readonly until: { readonly kind: 'instant'; readonly at: Instant } | { readonly kind: 'cycleEnd' }
  readonly reason: string
  readonly ticket?: string
  readonly at: Position
  readonly document: string
  /** As in `CapRule`. */
  readonly envelope?: string
}

/** The conditions of a rule on a person's row of the roster. All of them must hold, and there is at least one. */
export interface When {
  /** A pattern over the whole address, normalised: `*` stands for any text, `?` for one character. */
  readonly email?: string
  /** Compared trimmed and case-insensitively. */
  readonly role?: string
  /** Ids of declared groups; being in one of them is enough. */
  readonly groups?: readonly string[]
  /** At least so many days between the person's last use and the newest use on the whole roster. */
  readonly inactiveDays?: number
  /** Signed up at most so many days ago. */
  readonly joinedWithinDays?: number
  /** Active on fewer than `below` of the last `within` days. */
  readonly activeDays?: ActiveDays
  readonly attributes?: Attributes
}

/** What the people file must say of a person. At least one is given. */
export interface Attributes {
  /** Whether the person is in the file. */
  readonly listed?: boolean
  /** The exact text of columns, in the order of their names. */
  readonly columns?: Readonly<Record<string, string>>
}

export interface ActiveDays {
  readonly below: number
  readonly within: number
}

/** One of `spec.rules`: a cap for all people who match a condition. Not to be confused with `CapRule`, which names its scope. */
export interface PeopleRule {
  /** Unique in the workspace. */
  readonly name: string
  readonly when: When
  readonly cap: Cap
  readonly reason?: string
  /** The place of its cap. */
  readonly at: Position
  readonly document: string
}

export type PoolMembers =
  | { readonly kind: 'groups'; readonly ids: readonly string[] }
  /** Normalised. */
  | { readonly kind: 'emails'; readonly emails: readonly string[] }
  | { readonly kind: 'when'; readonly when: When }

/** One of `spec.pools`: add-on credits for a set of people and a cycle, enforced by their caps. */
export interface Pool {
  /** Unique in the workspace. */
  readonly name: string
  readonly members: PoolMembers
  /** For all members together, in a billing cycle. */
  readonly credits: Credits
  /** How the remaining credits are dealt: by the members' own pace, or with the same head-room for all. */
  readonly share: 'need' | 'equal'
  /** No member's cap is lower while the pool lasts. */
  readonly min: Credits
  /** No member's cap is higher. */
  readonly max?: Credits
  /** The place of its credits. */
  readonly at: Position
  readonly document: string
}

/** A declared group: the id is used for caps, the name to list members. */
export interface DeclaredGroup {
  readonly scope: GroupScope
  readonly name: string
  readonly at: Position
  /** Where the name stands, for groups that a file declares. */
  readonly nameAt?: Position
}

export interface ProtectedPerson {
  readonly scope: UserScope
  readonly at: Position
}

export interface PolicyApproval {
  /** A hold id, 12 hex digits. */
  readonly id: string
  readonly at: Position
}

/** The declarations of all files for one workspace. */
export interface PolicySet {
  readonly workspace: string
  readonly rules: readonly CapRule[]
  readonly grants: readonly Grant[]
  readonly groups: readonly DeclaredGroup[]
  readonly protectedPeople: readonly ProtectedPerson[]
  readonly approvals: readonly PolicyApproval[]
  readonly onGroupConflict?: 'min' | 'max'
  /** `spec.rules` in order of precedence: by the name of the document, then by place. */
  readonly peopleRules: readonly PeopleRule[]
  /** By name. */
  readonly pools: readonly Pool[]
  /** Names of the documents, sorted. */
  readonly documents: readonly string[]
}

/** The number of platform's declarations that set caps; the guard `emptyPolicy` compares it. */
export const declaredCount = ({ rules, grants, peopleRules, pools }: PolicySet): number =>
  [...rules, ...grants].filter(({ envelope }) => envelope === undefined).length + peopleRules.length + pools.length

/** The people who are never lowered, blocked or cleared, in order. */
export const protectedEmails = ({ protectedPeople }: Pick<PolicySet, 'protectedPeople'>): readonly string[] =>
  protectedPeople.map(({ scope }) => scope.email).toSorted()

/** A policy set with its identity. */
export interface PolicyRevision {
  readonly set: PolicySet
  /** 12 hex digits over the meaning of the set: independent of the order and the formatting of the files. */
  readonly digest: string
  /** The commit of the worktree the files lie in, or '' outside one. */
  readonly revision: string
  /** Files that were read and hold no policy; absent: none. */
  readonly empty?: readonly string[]
  /** What teams declare in envelopes, beside `set`, until it is settled. */
  readonly delegated?: Delegated
  /** `set` has what is accepted of it. */
  readonly settled?: Settled
}

/** A revision for a later process, which has its own bounds; what teams say beyond them is in their files. */
export type KeptRevision = Omit<PolicyRevision, 'delegated' | 'settled'>

export const keptRevision = ({ delegated: _, settled: __, ...kept }: PolicyRevision): KeptRevision => kept

/** A revision to be shown: each commit cut to its first 12 digits, `+dirty` unchanged. */
export const shortRevision = (revision: string): string => revision.replace(/[0-9a-f]{13,}/g, (commit) => commit.slice(0, 12))

/** One of `envelopes` in the config. */
export interface Envelope {
  readonly name: string
  readonly workspace: string
  readonly groups: readonly string[]
  readonly maxCap: number
  readonly sum?: number
  readonly maxPeople?: number
  /** Absent: no grants. */
  readonly grants?: { readonly maxDays: number; readonly maxAdd: number }
  readonly at: Position
}

/** The declarations of one document of a team. */
export interface DelegatedDocument extends Pick<PolicySet, 'rules' | 'grants' | 'groups'> {
  readonly file: string
  readonly name: string
}

/** A file of an envelope. Without `documents` it cannot be used, and its last good form stays. */
export interface DelegatedFile {
  readonly envelope: string
  readonly file: string
  readonly documents?: readonly DelegatedDocument[]
}

/** What the files of all envelopes of a workspace say, before the bounds are judged. */
export interface Delegated {
  readonly envelopes: readonly Envelope[]
  readonly files: readonly DelegatedFile[]
  /** Envelopes of which a path or a folder could not be listed: what is not seen of them may exist. */
  readonly unlisted: readonly string[]
  /** Scopes of which the caps or the grants contradict each other, in one envelope, as `cap KEY of NAME` and `grant KEY of NAME`. */
  readonly refused: readonly string[]
}

/** What is remembered of envelopes from reading to reading; the last accepted forms are in the policy that was in force last. */
export interface EnvelopeMemory {
  /** When the members of a group were last read and counted. */
  readonly readAt: Readonly<Record<string, Instant>>
  /** The members of each group that two readings in a row agree about; the first reading of a group counts at once. */
  readonly members: Readonly<Record<string, readonly string[]>>
  readonly last: Readonly<Record<string, readonly string[]>>
  /** When people joined, for a day. */
  readonly joined: Readonly<Record<string, Instant>>
  /** From when to when grants of a scope last, those in a row as one. */
  readonly spans: Readonly<Record<ScopeKey, Span>>
  /** The envelope of each scope that it declares, or declared while a cap of ours is there. */
  readonly scopes: Readonly<Record<ScopeKey, string>>
  /** Since when each scope is narrowed, without a break. */
  readonly narrowedAt?: Readonly<Record<ScopeKey, Instant>>
}

export interface Span {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** An entry, a document or a file that is not accepted, and why. */
export interface Refusal {
  readonly code: 'ENVELOPE' | 'ENVELOPE_OUTSIDE' | 'ENVELOPE_BOUND' | 'DUPLICATE_SCOPE'
  readonly message: string
  readonly at: Position
  /** The envelope's place. */
  readonly other: Position
  readonly hint: string
}

/** What follows from envelopes for guards and plans. */
export interface Settled {
  /** The envelope of each scope that is not platform's. */
  readonly envelopeOf: Readonly<Record<ScopeKey, string>>
  /** Scopes that change only because an envelope was narrowed or removed, with the reason. */
  readonly narrowed: Readonly<Record<ScopeKey, string>>
  readonly refusals: readonly Refusal[]
  /** Who joined. */
  readonly notes: readonly Pick<Refusal, 'message' | 'at'>[]
  readonly memory: EnvelopeMemory
}

/**
 * Where a desired cap comes from: a cap declared for its scope, a grant, a rule, a pool, the group conflict rule, a copy at user scope, or the
 * base a grant gives back.
 */
export const ORIGIN_KINDS = ['cap', 'grant', 'rule', 'pool', 'conflict', 'copied', 'restore'] as const
export type OriginKind = (typeof ORIGIN_KINDS)[number]

/** `rule` and `pool`: the cap of a person who matched a rule, or is a member of a pool; such caps are at user scope. */
export const OWNER_KINDS = ['policy', 'grant', 'rule', 'pool', 'conflict', 'copied'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]

/** A declaration of a cap. `kept`: the cap from before a 0 that the service does not store. */
export interface AskedEntry {
  readonly kind: OriginKind | 'kept'
  readonly cap: Cap
}

/** `undeclared`: no declaration, as at an orphan. `given_up`: the declaration counts no more, but the cap stays ours. */
export type PolicyEntry = AskedEntry | { readonly kind: 'undeclared' } | { readonly kind: 'given_up' }

export const UNDECLARED: PolicyEntry = { kind: 'undeclared' }
export const GIVEN_UP: PolicyEntry = { kind: 'given_up' }

const capOf = (entry: PolicyEntry): Cap | undefined => ('cap' in entry ? entry.cap : undefined)

/** Whether two entries declare the same cap in the same way. */
export const isSameEntry = (one: PolicyEntry, other: PolicyEntry): boolean => one.kind === other.kind && capOf(one) === capOf(other)

const OWNERS: { readonly [Kind in PolicyEntry['kind']]?: OwnerKind } = {
  grant: 'grant',
  restore: 'grant',
  rule: 'rule',
  pool: 'pool',
  conflict: 'conflict',
  copied: 'copied',
}

/** The owner of a cap that was written for this entry. */
export const ownerOf = ({ kind }: PolicyEntry): OwnerKind => OWNERS[kind] ?? 'policy'

/** What a policy may declare a cap by. */
export const ENTRY_KINDS = ['team', 'group', 'user', 'grant', 'rule', 'pool'] as const
