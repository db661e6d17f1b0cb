// What policy files declare, after parsing: plain data with the place of every declaration. Nothing here knows YAML.
import { POSITION, type Position } from './problem.ts'
import { ofScopes, SCOPE, type ScopeKey } from './scope.ts'
import {
  amount,
  boolean,
  byKind,
  instant,
  list,
  number,
  numeric,
  type Of,
  oneOf,
  optional,
  orWord,
  record,
  type Shape,
  shape,
  text,
} from './shape.ts'
import type { Credits } from './units.ts'

/** Whole credits a person may use, or `none`: nothing is set at this scope, and the next ancestor's cap applies. */
export const CAP = orWord('none', numeric<Credits>('a cap or none'))
export type Cap = Of<typeof CAP>

/** What applies while the files of a workspace are invalid. `digest`: of the set in force, empty without one. */
export const whileInvalid = (digest: string): string =>
  digest === '' ? 'no set was whole yet, so no cap is kept' : 'the last good set stays in force'

/** `cap:` at a team, group or user. */
const CAP_RULE = shape({
  scope: SCOPE,
  cap: CAP,
  reason: optional(text),
  at: POSITION,
  /** `metadata.name` of its document. */
  document: text,
  /** The envelope that it comes from; absent: platform's. */
  envelope: optional(text),
  /** Its envelope was narrowed below what had been accepted. */
  narrowed: optional(boolean),
})
export type CapRule = Of<typeof CAP_RULE>

/** A temporary cap above the rules; the base is restored at its end. */
const GRANT = shape({
  scope: SCOPE,
  amount: byKind({ cap: { credits: amount }, add: { credits: amount } }),
  /** Absent: from now on. */
  fromAt: optional(instant),
  /** Exclusive end. Parsing has turned a date into the end of that day in `spec.timezone`. */
  until: byKind({ instant: { at: instant }, cycleEnd: {} }),
  reason: text,
  ticket: optional(text),
  at: POSITION,
  document: text,
  /** As in `CapRule`. */
  envelope: optional(text),
})
export type Grant = Of<typeof GRANT>

/** What the people file must say of a person. At least one is given. */
const ATTRIBUTES = shape({
  /** Whether the person is in the file. */
  listed: optional(boolean),
  /** The exact text of columns, in the order of their names. */
  columns: optional(record(text)),
})
export type Attributes = Of<typeof ATTRIBUTES>

const ACTIVE_DAYS = shape({ below: number, within: number })

/** The conditions of a rule on a person's row of the roster. All of them must hold, and there is at least one. */
const WHEN = shape({
  /** A pattern over the whole address, normalised: `*` stands for any text, `?` for one character. */
  email: optional(text),
  /** Compared trimmed and case-insensitively. */
  role: optional(text),
  /** Ids of declared groups; being in one of them is enough. */
  groups: optional(list(text)),
  /** At least so many days between the person's last use and the newest use on the whole roster. */
  inactiveDays: optional(number),
  /** Signed up at most so many days ago. */
  joinedWithinDays: optional(number),
  /** Active on fewer than `below` of the last `within` days. */
  activeDays: optional(ACTIVE_DAYS),
  attributes: optional(ATTRIBUTES),
})
export type When = Of<typeof WHEN>

/** One of `spec.rules`: a cap for all people who match a condition. Not to be confused with `CapRule`, which names its scope. */
const PEOPLE_RULE = shape({
  /** Unique in the workspace. */
  name: text,
  when: WHEN,
  cap: CAP,
  reason: optional(text),
  /** The place of its cap. */
  at: POSITION,
  document: text,
})
export type PeopleRule = Of<typeof PEOPLE_RULE>

/** E-mails are normalised. */
const POOL_MEMBERS = byKind({ groups: { ids: list(text) }, emails: { emails: list(text) }, when: { when: WHEN } })
export type PoolMembers = Of<typeof POOL_MEMBERS>

/** What is declared for a pool, beside its members. */
export const POOL_TERMS = {
  /** For all members together, in a billing cycle. */
  credits: amount,
  /** How the remaining credits are dealt: by the members' own pace, or with the same head-room for all. */
  share: oneOf(['need', 'equal']),
  /** No member's cap is lower while the pool lasts. */
  min: amount,
  /** No member's cap is higher; absent: the credits of the pool. */
  max: optional(amount),
}

/** One of `spec.pools`: add-on credits for a set of people and a cycle, enforced by their caps. */
const POOL = shape({
  /** Unique in the workspace. */
  name: text,
  members: POOL_MEMBERS,
  ...POOL_TERMS,
  /** The place of its credits. */
  at: POSITION,
  document: text,
})
export type Pool = Of<typeof POOL>

/** A declared group: the id is used for caps, the name to list members. `nameAt`: where the name stands, for groups that a file declares. */
const DECLARED_GROUP = shape({ scope: byKind({ group: { id: text } }), name: text, at: POSITION, nameAt: optional(POSITION) })

const PROTECTED_PERSON = shape({ scope: byKind({ user: { email: text } }), at: POSITION })

/** `id`: of a hold, 32 hex digits. */
const POLICY_APPROVAL = shape({ id: text, at: POSITION })

/** The declarations of all files for one workspace. */
const POLICY_SET = shape({
  workspace: text,
  rules: list(CAP_RULE),
  grants: list(GRANT),
  groups: list(DECLARED_GROUP),
  protectedPeople: list(PROTECTED_PERSON),
  approvals: list(POLICY_APPROVAL),
  onGroupConflict: optional(oneOf(['min', 'max'])),
  /** `spec.rules` in order of precedence: by the name of the document, then by place. */
  peopleRules: list(PEOPLE_RULE),
  /** By name. */
  pools: list(POOL),
  /** Names of the documents, sorted. */
  documents: list(text),
})
export type PolicySet = Of<typeof POLICY_SET>

/** The number of platform's declarations that set caps; the guard `emptyPolicy` compares it. */
export const declaredCount = ({ rules, grants, peopleRules, pools }: PolicySet): number =>
  [...rules, ...grants].filter(({ envelope }) => envelope === undefined).length + peopleRules.length + pools.length

/** Whom a set names apart from the members of pools, and where. */
export const declaredPeople = ({ rules, grants, protectedPeople }: PolicySet) =>
  [...rules, ...grants, ...protectedPeople].flatMap(({ scope, at }) => (scope.kind === 'user' ? [{ email: scope.email, at }] : []))

/** The people who are never lowered, blocked or cleared, in order. */
export const protectedEmails = ({ protectedPeople }: Pick<PolicySet, 'protectedPeople'>): readonly string[] =>
  protectedPeople.map(({ scope }) => scope.email).toSorted()

/** A policy set with its identity, for a later process, which has its own bounds; what teams say beyond them is in their files. */
export const KEPT_REVISION = shape({
  set: POLICY_SET,
  /** 12 hex digits over the meaning of the set: independent of the order and the formatting of the files. */
  digest: text,
  /** The commit of the worktree the files lie in, or '' outside one. */
  revision: text,
  /** Files that were read and hold no policy; absent: none. */
  empty: optional(list(text)),
})
export type KeptRevision = Of<typeof KEPT_REVISION>

export interface PolicyRevision extends KeptRevision {
  /** What teams declare in envelopes, beside `set`, until it is settled. */
  readonly delegated?: Delegated
  /** `set` has what is accepted of it. */
  readonly settled?: Settled
}

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
export interface DelegatedDocument extends Pick<PolicySet, 'rules' | 'grants'> {
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

const SPAN = shape({ fromAt: instant, untilAt: instant })
export type Span = Of<typeof SPAN>

/** What is remembered of envelopes from reading to reading; the last accepted forms are in the policy that was in force last. */
export const ENVELOPE_MEMORY = shape({
  /** When the members of a group were last read and counted. */
  readAt: record(instant),
  /** The members of each group that two readings in a row agree about; the first reading of a group counts at once. */
  members: record(list(text)),
  last: record(list(text)),
  /** When people joined, for a day. */
  joined: record(instant),
  /** From when to when grants of a scope last, those in a row as one. */
  spans: ofScopes(SPAN),
  /** Since when each scope is narrowed, without a break. */
  narrowedAt: optional(ofScopes(instant)),
  /** The envelope of each scope that it declares, or declared while a cap of ours is there. */
  scopes: ofScopes(text),
})
export type EnvelopeMemory = Of<typeof ENVELOPE_MEMORY>

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

const ASKED_KINDS: readonly AskedEntry['kind'][] = [...ORIGIN_KINDS, 'kept']
// Object.fromEntries loses the names; the cast restores them.
const ASKED = Object.fromEntries(ASKED_KINDS.map((kind) => [kind, { cap: CAP }])) as Record<
  AskedEntry['kind'],
  { readonly cap: typeof CAP }
>
export const ENTRY: Shape<PolicyEntry> = byKind({ ...ASKED, undeclared: {}, given_up: {} })

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
