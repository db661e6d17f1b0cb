// Conditions: what is true now and operators should know, each with type, subject, reason, and since when. Log lines, counters, /status and
// the pages are made from conditions and their transitions; nothing else remembers what was reported. A new condition is a row of the table
// here, and a finding where the daemon learns of it.
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

/** Every condition. The names are a part of /status and of the log. */
export const CONDITIONS = {
  ConfigInvalid: {
    severity: 'error',
    begun: 'configuration is invalid, the last good one stays in force',
    ended: 'configuration is valid again',
    hasOwnPlace: true,
  },
  PolicyInvalid: {
    severity: 'error',
    begun: 'policy is invalid, the last good one stays in force',
    ended: 'policy is valid again',
    hasOwnPlace: true,
  },
  LedgerUnwritable: {
    severity: 'error',
    begun: 'the ledger cannot be written, so no cap is written',
    ended: 'the ledger can be written again',
    hasOwnPlace: true,
    explains: ['CycleFailed', 'CycleIncomplete'],
  },
  ConfigDiffers: {
    severity: 'error',
    begun: 'two replicas have different settings for a workspace',
    ended: 'the replicas agree about the workspace again',
  },
  WorkspaceNotStarted: {
    severity: 'error',
    begun: 'a workspace cannot be kept by this replica',
    ended: 'the workspace can be kept by this replica again',
  },
  PolicyReplaced: {
    severity: 'warn',
    begun: 'newer policies were seen by another replica, nothing is written',
    ended: 'these policies are the latest again',
  },
  LateWrite: { severity: 'warn', begun: 'a write of an earlier holder landed late', ended: 'the late write is put right' },
  NoCaps: {
    severity: 'error',
    begun: 'this workspace has no caps',
    ended: 'this workspace has caps now',
    explains: ['KeyRefused', 'ServiceUnreachable', 'BalanceUnavailable', 'CycleFailed', 'CycleIncomplete'],
  },
  KeyRefused: {
    severity: 'error',
    begun: 'the key does not work',
    ended: 'the key works again',
    explains: ['CycleFailed', 'CycleIncomplete'],
  },
  FileUnread: {
    severity: 'error',
    begun: 'a file cannot be read, the last good one stays in force',
    ended: 'the file can be read again',
  },
  ServiceUnreachable: {
    severity: 'error',
    begun: 'the service gives no usable answer',
    ended: 'the service answers again',
    explains: ['UsageUnread', 'RosterStale', 'CycleFailed', 'CycleIncomplete'],
  },
  WritesRefused: { severity: 'error', begun: 'nothing can be written', ended: 'writes are taken again', explains: ['CycleFailed'] },
  CycleFailed: { severity: 'error', begun: 'cycle failed', hasOwnPlace: true },
  CycleIncomplete: { severity: 'warn', begun: 'cycle finished in part', hasOwnPlace: true },
  Rejected: {
    severity: 'error',
    begun: 'scope is rejected and left alone',
    ended: 'scope is no longer rejected',
    hasOwnPlace: true,
  },
  Quarantined: {
    severity: 'error',
    begun: 'scope is rejected and left alone',
    ended: 'scope is no longer left alone',
    hasOwnPlace: true,
  },
  CopyingSeen: { severity: 'error', begun: 'copying of caps was seen', ended: 'copying of caps is declared' },
  ClockSkew: { severity: 'error', begun: 'the clocks disagree', ended: 'the clocks agree again' },
  Held: { severity: 'warn', begun: 'changes are held', ended: 'hold is gone', hasOwnPlace: true },
  Contested: { severity: 'warn', begun: 'changes are held', ended: 'hold is gone', hasOwnPlace: true },
  BreakerOpen: { severity: 'warn', begun: 'changes are held', ended: 'hold is gone', hasOwnPlace: true },
  ForeignChange: { severity: 'warn', begun: 'somebody else changed a cap', hasOwnPlace: true },
  RulesWeakened: { severity: 'warn', begun: 'a rule was weakened', ended: 'the weakened rule counts now', hasOwnPlace: true },
  RosterDoubted: { severity: 'warn', begun: 'the roster is doubted', ended: 'the roster is believed again' },
  DirectoryDoubted: { severity: 'warn', begun: 'the people file is doubted', ended: 'the people file counts again' },
  DirectoryWaits: { severity: 'info', begun: 'the people file has changed', ended: 'the changed people file counts' },
  RosterStale: { severity: 'warn', begun: 'the roster is old', ended: 'the roster was read again' },
  UsageUnread: { severity: 'warn', begun: 'use could not be read', ended: 'use was read again' },
  AddOnUseDoubted: {
    severity: 'warn',
    begun: 'add-on use is of nobody on the roster',
    ended: 'add-on use is of people on the roster again',
  },
  UnknownGroup: { severity: 'warn', begun: 'the service does not know a group', ended: 'the service knows the group' },
  PoolFrozen: { severity: 'warn', begun: 'a pool keeps its last deal', ended: 'a pool is dealt again' },
  PoolAbove: { severity: 'warn', begun: 'the caps of a pool exceed its credits', ended: 'the caps of a pool are within its credits' },
  PoolBounds: { severity: 'warn', begun: 'a pool cannot pay its min', ended: 'a pool can pay its min again' },
  PoolNobody: { severity: 'warn', begun: 'a pool has no members', ended: 'the pool has members, or is gone' },
  PoolUnknown: {
    severity: 'warn',
    begun: 'whether a pool’s condition holds is not known',
    ended: 'whether the pool’s condition holds is known',
  },
  PoolUsedUp: { severity: 'warn', begun: 'a pool is used up', ended: 'a pool has credits again' },
  MalformedRows: { severity: 'warn', begun: 'rows made no sense', ended: 'all rows make sense again' },
  RosterDuplicates: { severity: 'warn', begun: 'people stand in the roster twice', ended: 'nobody stands in the roster twice' },
  BeyondLimit: { severity: 'warn', begun: 'beyond what was measured', ended: 'within what was measured again' },
  RuleUnknown: { severity: 'warn', begun: 'whether a rule matches is not known', ended: 'whether the rule matches is known' },
  RuleNobody: { severity: 'warn', begun: 'a rule matches nobody', ended: 'the rule matches somebody, or is gone' },
  RuleEverybody: { severity: 'warn', begun: 'a rule matches everybody', ended: 'the rule does not match everybody any more' },
  HistoryUnfiltered: {
    severity: 'warn',
    begun: 'the past of people cannot be told apart',
    ended: 'the past of people can be told apart again',
  },
  UnitDoubted: { severity: 'warn', begun: 'two figures contradict each other', ended: 'the figures agree again' },
  ViewersNobody: {
    severity: 'error',
    begun: 'an entry of viewers names a group that shows nobody',
    ended: 'each group that viewers name shows somebody',
  },
  NotifyFailed: { severity: 'warn', begun: 'messages could not be sent', ended: 'messages can be sent again' },
  EnvelopeRefused: {
    severity: 'warn',
    begun: 'what a team declares is not accepted',
    ended: 'what the team declares is accepted, or gone',
    hasOwnPlace: true,
  },
  PoolWaits: {
    severity: 'info',
    begun: 'raises of a pool wait for newer figures',
    ended: 'no raise of a pool waits for newer figures any more',
  },
  StatusesAbsent: { severity: 'info', begun: 'the roster has no statuses', ended: 'the roster has statuses' },
  BalanceUnavailable: { severity: 'info', begun: 'this plan has no credit balance', ended: 'this plan has a credit balance' },
  RunsWithoutCredits: { severity: 'info', begun: 'runs carry no credits', ended: 'runs carry credits' },
  ApprovalRemovable: { severity: 'info', begun: 'an approval can be removed', ended: 'the approval was removed', hasOwnPlace: true },
  ApprovalUnmatched: {
    severity: 'info',
    begun: 'an approval releases nothing',
    ended: 'the approval is matched or gone',
    hasOwnPlace: true,
  },
  Paused: { severity: 'info', begun: 'paused, nothing is written', ended: 'resumed', hasOwnPlace: true },
} as const satisfies Readonly<Record<string, ConditionKind>>

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
  /** It was reported before this process began, as the ledger knows: it is logged once more, and counted as nothing new. */
  readonly remembered?: true
  readonly fields?: ConditionFields
}

export interface Condition extends Omit<Finding, 'since' | 'onlyIfHeld' | 'remembered'> {
  readonly since: Instant
}

/** `changed`: it holds with another reason or version than before. */
export interface Transition {
  readonly change: 'begun' | 'changed' | 'ended'
  readonly condition: Condition
  /** As the finding says. */
  readonly remembered?: true
}

interface Advanced {
  /** Every condition that holds, also those that another explains. */
  readonly conditions: readonly Condition[]
  /** The ended ones first, then those that began or changed. */
  readonly transitions: readonly Transition[]
}

const keyOf = ({ type, subject }: Pick<Finding, 'type' | 'subject'>): string => `${type} ${subject}`

/** The conditions that hold now, and the transitions from the previous ones. Of two findings with one type and subject the first counts. */
export function advance(previous: readonly Condition[], found: readonly Finding[], now: Instant): Advanced {
  const before = new Map(previous.map((one) => [keyOf(one), one]))
  const holding = new Map<string, Condition>()
  const old = new Set<string>()
  for (const { onlyIfHeld, since, remembered, ...finding } of found) {
    const key = keyOf(finding)
    if (remembered) old.add(key)
    const was = before.get(key)
    if (holding.has(key) || (onlyIfHeld && !was)) continue
    holding.set(key, onlyIfHeld && was ? was : { ...finding, since: since ?? was?.since ?? now })
  }
  const conditions = [...holding.values()]
  const isShownBefore = unexplainedIn(previous)
  const isShown = unexplainedIn(conditions)
  const ended: Transition[] = []
  for (const [key, condition] of before) if (isShownBefore(condition) && !holding.has(key)) ended.push({ change: 'ended', condition })
  const begun: Transition[] = []
  for (const [key, condition] of holding) {
    if (!isShown(condition)) continue
    const was = before.get(key)
    if (!was || !isShownBefore(was)) begun.push({ change: 'begun', condition, remembered: old.has(key) ? true : undefined })
    else if (versionOf(was) !== versionOf(condition)) begun.push({ change: 'changed', condition })
  }
  return { conditions, transitions: [...ended, ...begun] }
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
