// A change, a hold, the plan itself, the settings of guards, and what the ledger records of all these. Plain data: the same plan is rendered,
// saved and applied.
import { CAP, ENTRY } from './policy.ts'
import { POSITION, type Position, type Problem } from './problem.ts'
import { SCOPE, type Scope } from './scope.ts'
import { boolean, instant, list, number, type Of, oneOf, optional, orWord, type Shape, shape, text } from './shape.ts'
import { DAY_MS, type Instant } from './units.ts'

export const EFFECTS = ['set', 'raise', 'lower', 'block', 'clear'] as const
/** What a change does to the people it reaches: `block` sets 0 or a cap at or below their use, `clear` leaves no cap at the scope. */
export type Effect = (typeof EFFECTS)[number]

/** The past tense of each effect, for what was written. */
export const DONE: Readonly<Record<Effect, string>> = { set: 'set', raise: 'raised', lower: 'lowered', block: 'blocked', clear: 'cleared' }

export const CAUSES = ['policy', 'external', 'expired', 'orphan'] as const
/** Why desired and observed differ: policy changed, another client wrote, a grant ended, the scope is no longer declared. */
export type Cause = (typeof CAUSES)[number]

export const CHANGE_RESULTS = ['applied', 'failed', 'ambiguous', 'verify_failed'] as const
export type ChangeResult = (typeof CHANGE_RESULTS)[number]

const WHAT = { scope: SCOPE, action: oneOf(['set', 'clear']), effect: oneOf(EFFECTS), from: CAP, to: CAP, cause: oneOf(CAUSES) }
/** The policy line behind it (absent for an orphan), and the reason given there. */
const WHY = { source: optional(POSITION), reason: optional(text) }

/** One write to one scope, and why. `to` is `none` exactly when `action` is `clear`. */
const SCOPE_CHANGE = shape({
  ...WHAT,
  ...WHY,
  /** The number of approved people that this change reaches. */
  people: number,
  /** Reverts a foreign change to the cap that the ledger last verified under an unchanged policy entry. */
  healing: boolean,
  /** Restores the base when a grant ends. */
  grantEnd: boolean,
})
export type ScopeChange = Of<typeof SCOPE_CHANGE>

/** Why this run does not write a change at all. */
type ExclusionCode = 'mode' | 'pause' | 'replaced' | 'lease' | 'focus' | 'onDrift' | 'notShown'

/**
 * What becomes of a change now. `deferred`: it is written later, for the given reason; `order`: another write comes first; `unread`: a scope that
 * comes first could not be read. `excluded`: this run does not write it.
 */
export type Disposition =
  | { readonly kind: 'ready' }
  | { readonly kind: 'held'; readonly hold: string }
  | { readonly kind: 'deferred'; readonly code: 'order' | 'unread' | 'failed'; readonly reason: string; readonly waitsFor?: Scope }
  | { readonly kind: 'excluded'; readonly code: ExclusionCode; readonly reason: string }

export const READY: Disposition = { kind: 'ready' }

/** The approval that released a change: in a policy, with its place, or by command. */
export interface Release {
  readonly id: string
  readonly via: 'policy' | 'command'
  readonly at?: Position
}

/** One line of a plan. */
export interface Change extends ScopeChange {
  readonly disposition: Disposition
  /** The approval that released it. */
  readonly released?: Release
}

export const holdOf = ({ disposition }: Pick<Change, 'disposition'>): string | undefined =>
  disposition.kind === 'held' ? disposition.hold : undefined

export const isReady = ({ disposition }: Pick<Change, 'disposition'>): boolean => disposition.kind === 'ready'

const HELD = { scope: SCOPE, from: CAP, to: CAP }
const HELD_CHANGE = shape(HELD)
export type HeldChange = Of<typeof HELD_CHANGE>

/** A guard's refusal. */
export interface Hold {
  /** 32 hex digits over the workspace and the sorted (scope, from, to) of its changes; of a pool's deal over its declaration and members. */
  readonly id: string
  readonly guards: readonly GuardCode[]
  /** The number of people whom the held changes affect by net effect. */
  readonly people: number
  readonly changes: readonly HeldChange[]
  readonly message: string
  /** When an approval releases it: never, or only once changes may be written again. Absent: now. */
  readonly release?: 'never' | 'later'
}

/** Changes by effect, ready or deferred; held ones are counted in `held` only. */
export type PlanCounts = Readonly<Record<Effect | 'held' | 'inSync' | 'unknown' | 'skipped' | 'rejected', number>>

/** A scope that could not be read, and so is not written, with the reason. */
export interface UnknownScope {
  readonly scope: Scope
  readonly message: string
}

/** What a reader of the plan should know: a rejected scope, a guard without a change to hold, a removable approval. */
export interface PlanProblem extends Pick<Problem, 'severity' | 'code' | 'message' | 'at'> {
  readonly scope?: Scope
}

/** Immutable; the same object is printed, saved and applied. */
export interface Plan {
  readonly apiVersion: 'capkeeper/v1'
  readonly kind: 'Plan'
  /** 16 hex digits over workspace, digest, changes and holds. */
  readonly id: string
  readonly workspace: string
  readonly createdAt: Instant
  readonly policyDigest: string
  readonly revision: string
  readonly counts: PlanCounts
  /** In the order of writing; changes that are not written now come last. */
  readonly changes: readonly Change[]
  readonly holds: readonly Hold[]
  readonly unknown: readonly UnknownScope[]
  readonly problems: readonly PlanProblem[]
  readonly approvals: readonly PlanApproval[]
}

/** An approval that is listed in policy or pending, as a plan shows it. */
export interface PlanApproval extends Release {
  readonly state: ApprovalState
  /** The changes it releases in this plan; empty when it matches no hold. */
  readonly releases: readonly HeldChange[]
  /** Why it releases nothing. */
  readonly note?: string
}

/** A share of the people with a floor: the guard holds when more than max(floor, percent × people) are affected. */
const SHARE_LIMIT = shape({ percent: number, floor: number })
export type ShareLimit = Of<typeof SHARE_LIMIT>

/** Writes stop after `inARow` failures in a row, or when more than `percent` of the planned changes, and at least `inARow`, failed. */
const BREAKER_LIMIT = shape({ inARow: number, percent: number })
export type BreakerLimit = Of<typeof BREAKER_LIMIT>

/** Every guard with the setting it has by default, in the order of docs/guards-and-approvals.md. */
export const DEFAULT_GUARDS = {
  emptyPolicy: true,
  rosterShrink: 20,
  directoryShrink: 20,
  maxAffected: { percent: 25, floor: 5 },
  maxLowered: { percent: 15, floor: 3 },
  maxBlocked: { percent: 2, floor: 3 },
  maxCleared: { percent: 5, floor: 3 },
  /** Percent of the add-on credits remaining; may be above 100. */
  maxRaise: 100,
  protected: true,
  readQuality: { percent: 5, floor: 5 },
  breaker: { inARow: 3, percent: 10 },
  semantics: true,
  envelope: true,
  /** Foreign changes of one scope within 24 h. */
  contested: 3,
} satisfies Readonly<Record<string, boolean | number | ShareLimit | BreakerLimit>>

export type GuardCode = keyof typeof DEFAULT_GUARDS
// Object.keys loses the type of the names; the cast restores it.
export const GUARD_CODES = Object.keys(DEFAULT_GUARDS) as readonly GuardCode[]

export type GuardDefault = (typeof DEFAULT_GUARDS)[GuardCode]

/** `off`, or false where the guard is on or off, switches a guard off. */
export type GuardSettings = {
  readonly [Code in GuardCode]: (typeof DEFAULT_GUARDS)[Code] extends boolean ? boolean : (typeof DEFAULT_GUARDS)[Code] | 'off'
}

const SETTINGS = { number: orWord('off', number), share: orWord('off', SHARE_LIMIT), breaker: orWord('off', BREAKER_LIMIT) }

function guardSetting(usual: GuardDefault): Shape {
  if (typeof usual === 'boolean') return boolean
  if (typeof usual === 'number') return SETTINGS.number
  return 'floor' in usual ? SETTINGS.share : SETTINGS.breaker
}

// Object.fromEntries loses the types of the fields; the cast restores them.
export const GUARD_SETTINGS = shape(
  Object.fromEntries(GUARD_CODES.map((code) => [code, guardSetting(DEFAULT_GUARDS[code])])),
) as Shape<GuardSettings>

export const APPROVAL_STATES = ['pending', 'spent', 'void'] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/** The release of one hold. */
export const APPROVAL = shape({
  id: text,
  via: oneOf(['policy', 'command']),
  approvedAt: instant,
  state: oneOf(APPROVAL_STATES),
  /** The people whom the hold affected when it was last shown before the approval; absent where it was not shown. */
  people: optional(number),
  /** The credits that the pool's deal moved then. */
  credits: optional(number),
  /** The released changes, copied when first matched. `verified`: landed. `pool`: the whole deal is released (`PoolReview.key`). */
  released: list(shape({ ...HELD, verified: boolean, pool: optional(text) })),
  /** When it was matched and released them. */
  releasedAt: optional(instant),
  /** The changes of other holds then: they stay held for a day, though the release may have made them harmless. */
  beside: optional(list(HELD_CHANGE)),
  /** The number of approved people on the doubted roster that it was given for. */
  roster: optional(number),
  /** A policy listed it, and no longer does. */
  withdrawn: optional(boolean),
})
export type Approval = Of<typeof APPROVAL>

/** 128 bits: nobody can construct two sets of changes with the same id. */
export const HOLD_ID_DIGITS = 32

/** docs/commands.md. */
export const LONGEST_PAUSE_MS = 7 * DAY_MS

export const PAUSE = shape({ untilAt: instant, reason: text, pausedAt: instant })
export type Pause = Of<typeof PAUSE>

const PLANNED = { at: instant, planId: text, digest: text, revision: text }

/** Without its id, which is that of its row. */
const INTENT = {
  ...PLANNED,
  change: SCOPE_CHANGE,
  /** The policy entry behind the change. */
  entry: ENTRY,
  /** See `DesiredCap`. */
  base: optional(CAP),
}
/** Recorded durably before a write is sent, so that the next start finds it after a crash. */
export const RECORDED_INTENT = shape(INTENT)
export const OPEN_INTENT = shape({ ...INTENT, id: number })
export type Intent = Of<typeof OPEN_INTENT>

/** One line of `history`. */
export const HISTORY_ENTRY = shape({
  ...WHAT,
  ...WHY,
  ...PLANNED,
  result: oneOf(CHANGE_RESULTS),
  /** Why it failed; never with a key. */
  error: optional(text),
  /**
   * It failed, but may have landed: the read-back may have come too early, and a 0 that is not stored has replaced the earlier cap. Or it was
   * applied, and an attempt before that, whose answer was lost, may land yet.
   */
  unproven: optional(boolean),
})
export type HistoryEntry = Of<typeof HISTORY_ENTRY>

/** So long a write with an unknown end may still land, and a reading may not show a write yet. Choice. */
export const LANDING_MS = DAY_MS

/** A scope whose cap the service refuses, or that policy makes impossible: not written for 24 h, or until its policy entry changes or the person returns. */
export const QUARANTINED = shape({
  scope: SCOPE,
  code: text,
  message: text,
  entry: ENTRY,
  at: instant,
  /** The cap from before a 0 that the service did not store: it is desired as long as the scope is in quarantine. */
  restore: optional(CAP),
})
export type Quarantined = Of<typeof QUARANTINED>

/** Whether the service does not know the scope and no policy declares it: it is skipped, which is no failure. */
export const isGone = ({ code, entry }: Quarantined): boolean => code === 'SCOPE_UNKNOWN' && entry.kind === 'undeclared'

/** What a hold would do to a person. `capped`: a first cap that does not block the person. */
export const EFFECTS_ON_PEOPLE = ['raised', 'capped', 'lowered', 'blocked', 'cleared'] as const
