// Conditions: what is true now and operators should know, each with type, subject, reason, and since when. Log lines, counters, /status and
// the pages are made from conditions and their transitions; nothing else remembers what was reported. A new condition is a row of the table
// here, and a finding where the daemon learns of it.
import type { Position } from './problem.ts'
import type { Scope } from './scope.ts'
import type { Instant } from './units.ts'

/** error: a person must act; warn: held, a foreign change, or something that could not be read; info: worth knowing. */
export const SEVERITIES = ['error', 'warn', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

interface ConditionKind {
  readonly severity: Severity
  /** The log message when it begins or changes. */
  readonly begun: string
  /** The log message when it ends; absent: another log line reports that already. */
  readonly ended?: string
  /** Plans, outcomes and /status show it in a place of its own, so it is not listed as a warning as well. */
  readonly hasOwnPlace?: true
  /** Conditions that follow from it, and so are not reported beside it. */
  readonly explains?: readonly string[]
}

const of =
  (severity: Severity) =>
  (begun: string, ended?: string, more?: Partial<ConditionKind>): ConditionKind => ({ severity, begun, ended, ...more })
const [error, warn, info] = [of('error'), of('warn'), of('info')]

/** Every condition. The names are a part of /status and of the log. */
export const CONDITIONS = {
  ConfigInvalid: error('configuration is invalid, the last good one stays in force', 'configuration is valid again', { hasOwnPlace: true }),
  PolicyInvalid: error('policy is invalid, the last good one stays in force', 'policy is valid again', { hasOwnPlace: true }),
  LedgerUnwritable: error('the ledger cannot be written, so no cap is written', 'the ledger can be written again', {
    hasOwnPlace: true,
    explains: ['CycleFailed', 'CycleIncomplete'],
  }),
  ConfigDiffers: error('two replicas have different settings for a workspace', 'the replicas agree about the workspace again'),
  WorkspaceNotStarted: error('a workspace cannot be kept by this replica', 'the workspace can be kept by this replica again'),
  PolicyReplaced: warn('newer policies were seen by another replica, nothing is written', 'these policies are the latest again'),
  LateWrite: warn('a write of an earlier holder landed late', 'the late write is put right'),
  NoCaps: error('this workspace has no caps', 'this workspace has caps now', {
    explains: ['KeyRefused', 'ServiceUnreachable', 'BalanceUnavailable', 'CycleFailed', 'CycleIncomplete'],
  }),
  KeyRefused: error('the key does not work', 'the key works again', { explains: ['CycleFailed', 'CycleIncomplete'] }),
  FileUnread: error('a file cannot be read, the last good one stays in force', 'the file can be read again'),
  ServiceUnreachable: error('the service gives no usable answer', 'the service answers again', {
    explains: ['UsageUnread', 'CycleFailed', 'CycleIncomplete'],
  }),
  WritesRefused: error('nothing can be written', 'writes are taken again', { explains: ['CycleFailed'] }),
  CycleFailed: error('cycle failed', undefined, { hasOwnPlace: true }),
  CycleIncomplete: warn('cycle finished in part', undefined, { hasOwnPlace: true }),
  Rejected: error('scope is rejected and left alone', 'scope is no longer rejected', { hasOwnPlace: true }),
  Quarantined: error('scope is rejected and left alone', 'scope is no longer left alone', { hasOwnPlace: true }),
  CopyingSeen: error('copying of caps was seen', 'copying of caps is declared'),
  ClockSkew: error('the clocks disagree', 'the clocks agree again'),
  Held: warn('changes are held', 'hold is gone', { hasOwnPlace: true }),
  Contested: warn('changes are held', 'hold is gone', { hasOwnPlace: true }),
  BreakerOpen: warn('changes are held', 'hold is gone', { hasOwnPlace: true }),
  ForeignChange: warn('somebody else changed a cap', undefined, { hasOwnPlace: true }),
  RulesWeakened: warn('a rule was weakened', 'the weakened rule counts now, or is taken back', { hasOwnPlace: true }),
  RosterDoubted: warn('the roster is doubted', 'the roster is believed again'),
  DirectoryDoubted: warn('the people file is doubted', 'the people file counts again'),
  DirectoryWaits: info('the people file has changed', 'the changed people file counts'),
  UsageUnread: warn('use could not be read', 'use was read again'),
  AddOnUseDoubted: warn('add-on use is of nobody on the roster', 'add-on use is of people on the roster again'),
  UnknownGroup: warn('the service does not know a group', 'the service knows the group'),
  PoolFrozen: warn('a pool keeps its last deal', 'a pool is dealt again'),
  PoolAbove: warn('the caps of a pool exceed its credits', 'the caps of a pool are within its credits'),
  PoolBounds: warn('a pool cannot pay its min', 'a pool can pay its min again'),
  PoolNobody: warn('a pool has no members', 'the pool has members, or is gone'),
  PoolUnknown: warn('whether a pool’s condition holds is not known', 'whether the pool’s condition holds is known'),
  PoolUsedUp: warn('a pool is used up', 'a pool has credits again'),
  MalformedRows: warn('rows made no sense', 'all rows make sense again'),
  RosterDuplicates: warn('people stand in the roster twice', 'nobody stands in the roster twice'),
  BeyondLimit: warn('beyond what was measured', 'within what was measured again'),
  RuleUnknown: warn('whether a rule matches is not known', 'whether the rule matches is known'),
  RuleNobody: warn('a rule matches nobody', 'the rule matches somebody, or is gone'),
  RuleEverybody: warn('a rule matches everybody', 'the rule does not match everybody any more'),
  HistoryUnfiltered: warn('the past of people cannot be told apart', 'the past of people can be told apart again'),
  UnitDoubted: warn('two figures contradict each other', 'the figures agree again'),
  ViewersNobody: error('an entry of viewers names a group that shows nobody', 'each group that viewers name shows somebody'),
  NotifyFailed: warn('messages could not be sent', 'messages can be sent again'),
  EnvelopeRefused: warn('what a team declares is not accepted', 'what the team declares is accepted, or gone', { hasOwnPlace: true }),
  PoolWaits: info('raises of a pool wait for newer figures', 'no raise of a pool waits for newer figures any more'),
  StatusesAbsent: info('the roster has no statuses', 'the roster has statuses'),
  BalanceUnavailable: info('this plan has no credit balance', 'this plan has a credit balance'),
  RunsWithoutCredits: info('runs carry no credits', 'runs carry credits'),
  ApprovalRemovable: info('an approval can be removed', 'the approval was removed', { hasOwnPlace: true }),
  ApprovalUnmatched: info('an approval releases nothing', 'the approval is matched or gone', { hasOwnPlace: true }),
  Paused: info('paused, nothing is written', 'resumed', { hasOwnPlace: true }),
} satisfies Readonly<Record<string, ConditionKind>>

export type ConditionType = keyof typeof CONDITIONS

export const kindOf = (type: ConditionType): ConditionKind => CONDITIONS[type]

/** The fields of a log line beside the message. */
type ConditionFields = Readonly<Record<string, string | number | readonly string[]>>

/** A condition as one check found it. Type and subject identify it. */
export interface Finding {
  readonly type: ConditionType
  /** A workspace, a scope, a hold, or a part of the readings. */
  readonly subject: string
  /** A code of docs/codes.md. */
  readonly reason: string
  /** A sentence: the subject, what is wrong, both numbers, the way out. */
  readonly message: string
  readonly scope?: Scope
  /** As the ledger has it; absent: since it was first found. */
  readonly since?: Instant
  /** It is reported again when this changes; absent: only when the reason changes. */
  readonly version?: string
  /** It was not checked this time: it holds if it held before. */
  readonly onlyIfHeld?: true
  /** An earlier process counted it, as the ledger knows: it is logged once more, and is nothing new. */
  readonly remembered?: true
  readonly fields?: ConditionFields
}

/** What should be known of a rule or a pool, at its cap or its credits. The condition has the name of the code. */
export interface Note<Code extends string = string> extends Pick<Finding, 'subject' | 'message' | 'version'> {
  readonly code: Code
  readonly at: Position
}

type NameOf<Code> = Code extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Lowercase<Word>>}${NameOf<Rest>}`
  : Capitalize<Lowercase<Code & string>>

/** `RULE_NOBODY` is `RuleNobody`. */
export const nameOf = <Code extends string>(code: Code): NameOf<Code> =>
  // The type is worked out as the text is.
  code.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase()) as NameOf<Code>

export interface Condition extends Omit<Finding, 'since' | 'onlyIfHeld'> {
  readonly since: Instant
}

/** `changed`: it holds with another reason or version than before. */
export interface Transition {
  readonly change: 'begun' | 'changed' | 'ended'
  readonly condition: Condition
}

const keyOf = ({ type, subject }: Pick<Finding, 'type' | 'subject'>): string => `${type} ${subject}`

/**
 * The conditions that hold now, also those that another explains, and the transitions from the previous ones: those that ended, then those
 * that began or changed. Of two findings with one type and subject the first counts.
 */
export function advance(previous: readonly Condition[], found: readonly Finding[], now: Instant) {
  const before = new Map(previous.map((one) => [keyOf(one), one]))
  const holding = new Map<string, Condition>()
  for (const { onlyIfHeld, since, ...finding } of found) {
    const key = keyOf(finding)
    const was = before.get(key)
    if (holding.has(key) || (onlyIfHeld && !was)) continue
    holding.set(key, onlyIfHeld && was ? was : { ...finding, since: since ?? was?.since ?? now })
  }
  const conditions: readonly Condition[] = [...holding.values()]
  const isShownBefore = unexplainedIn(previous)
  const isShown = unexplainedIn(conditions)
  const transitions: Transition[] = []
  for (const [key, condition] of before) if (isShownBefore(condition) && !holding.has(key)) transitions.push({ change: 'ended', condition })
  for (const [key, condition] of holding) {
    if (!isShown(condition)) continue
    const was = before.get(key)
    if (!was || !isShownBefore(was)) transitions.push({ change: 'begun', condition })
    else if (versionOf(was) !== versionOf(condition)) transitions.push({ change: 'changed', condition })
  }
  return { conditions, transitions }
}

const versionOf = ({ reason, version }: Condition): string => `${reason} ${version ?? ''}`

/** The conditions that do not follow from another one. */
export const unexplained = (conditions: readonly Condition[]): readonly Condition[] => conditions.filter(unexplainedIn(conditions))

function unexplainedIn(conditions: readonly Condition[]): (one: Condition) => boolean {
  const explained = new Set<string>()
  for (const { type } of conditions) for (const one of kindOf(type).explains ?? []) explained.add(one)
  return ({ type }) => !explained.has(type)
}

/** By severity, then the oldest first. */
export const byUrgency = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.toSorted((a, b) => rankOf(a) - rankOf(b) || a.since - b.since)

const rankOf = ({ type }: Condition): number => SEVERITIES.indexOf(kindOf(type).severity)
