// What happened in a workspace beside its writes, and the figures of each day: the records behind the timeline and the charts. Plain data, bounded,
// kept as two facts of the ledger; writes themselves are the history, and are not repeated here.
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
      /** More of them at that time, which are not listed. */
      readonly more?: number
      /** The plan that met it. */
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

/** Counts of one day, and what was known at its end. */
export interface DayFigures {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** Foreign changes that were found. */
  readonly found: number
  /** Foreign changes that were put back. */
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
  /** Pools in the last plan, by name; absent on days that are too long ago to be shown. */
  readonly pools?: Readonly<Record<string, PoolOfDay>>
}

/** A pool at the end of a day, of the cycle that the day is in. */
export interface PoolOfDay {
  readonly credits: number
  readonly used: number
  /** What its members count at together; absent while somebody has no known cap. */
  readonly dealt?: number
}
