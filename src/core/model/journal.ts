// The records behind the timeline and the charts: events of a workspace beside its writes, and figures by day. Both are bounded facts of the
// ledger. Writes are in the history, and are not repeated here.
import type { GuardCode } from './change.ts'
import type { Observed } from './observed.ts'
import type { Cap } from './policy.ts'
import type { Scope } from './scope.ts'
import type { Credits, Instant } from './units.ts'

export type JournalEntry = { readonly at: Instant } & (
  | {
      readonly kind: 'foreign'
      readonly scope: Scope
      readonly verified: Cap
      readonly observed: Observed
      /** The number of further ones at that time, which are not listed. */
      readonly more?: number
      /** The plan that found it. */
      readonly planId?: string
    }
  | {
      readonly kind: 'hold'
      readonly id: string
      readonly guards: readonly GuardCode[]
      readonly people: number
      /** The plan that showed it first. */
      readonly planId?: string
    }
  | { readonly kind: 'release'; readonly id: string }
  | { readonly kind: 'policy'; readonly digest: string; readonly revision: string; readonly valid: boolean }
  | { readonly kind: 'pause'; readonly untilAt: Instant; readonly reason: string }
  | { readonly kind: 'resume' }
  | { readonly kind: 'outage'; readonly message?: string }
  | { readonly kind: 'recovery' }
)

/** Counts of one day, and figures at its end. */
export interface DayFigures {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** Foreign changes that were found. */
  readonly found: number
  /** Foreign changes that were reverted. */
  readonly reverted: number
  /** Writes for other reasons. */
  readonly written: number
  readonly failed: number
  /** Scopes that differed in the last plan. */
  readonly open?: number
  /** Credits used in the cycle, in the last reading. */
  readonly used?: Credits
  readonly addOnUsed?: Credits
  readonly addOnAvailable?: Credits
  /** Pools in the last plan, by name; absent on days too long ago to be shown. */
  readonly pools?: Readonly<Record<string, PoolOfDay>>
}

/** A pool at the end of a day, in the cycle of that day. */
export interface PoolOfDay {
  readonly credits: number
  readonly used: number
  /** The sum of the amounts that its members count at; absent while a member's cap is not known. */
  readonly dealt?: number
}

/** What the history of changes tells: our writes, and the kinds of the journal. */
export const CHANGE_KINDS = ['write', 'foreign', 'hold', 'release', 'policy', 'pause', 'resume', 'outage', 'recovery'] as const
