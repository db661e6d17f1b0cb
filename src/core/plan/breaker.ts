// The circuit breaker of a workspace's writes: when many changes fail for a shared cause, no more are tried until a wait is over, which
// doubles each time. It only counts and sets the times; the guard `breaker` holds the changes.
//
//   closed --so many failures--> open for 10 min --time is up--> trying again --one success--> closed
//                                  ^                                  |
//                                  +-- no success: twice as long -----+   2 h at most

import type { BreakerLimit } from '../model/change.ts'
import { boolean, instant, list, number, type Of, optional, shape, text } from '../model/shape.ts'
import { DAY_MS, HOUR_MS, type Instant, isYounger, MINUTE_MS } from '../model/units.ts'

/** The first and the longest wait. */
const BREAKER_FIRST_MS = 10 * MINUTE_MS
const BREAKER_MOST_MS = 2 * HOUR_MS

/** After this time an outage no longer affects the wait of the next one (choice). */
const FORGET_MS = DAY_MS

/** So many refusals, and over half of all attempts, stop a run at once; fewer are judged at its end, by `areShared` (choice). */
const ENOUGH_REFUSALS = 10

/** What the ledger keeps while writes fail, until the first success. */
export const OPEN_BREAKER = shape({
  openedAt: instant,
  /** No write is tried before. */
  retryAt: instant,
  waitMs: number,
  /** The changes that had failed when it opened, of those planned. */
  failed: number,
  planned: number,
  /** The error of the last failure. */
  cause: text,
  /** The planned scopes, by key. */
  scopes: list(text),
  /** The scopes that have failed, oldest failure first. They are written after all others, so that a few bad ones do not defer the rest. */
  failing: optional(list(text)),
  /** Every failure was a refusal, which may concern that scope alone: only `scopes` are held, and new changes are tried (choice). */
  refused: optional(boolean),
})
export type OpenBreaker = Of<typeof OPEN_BREAKER>

/** How one change ended: `service` failed for a shared cause; `scope` was refused, perhaps for a cause of its own. */
export type End = 'done' | 'service' | 'scope'

export const NO_ENDS = { inARow: 0, failed: 0, refused: 0, done: 0 }

/** How the changes of one run have ended so far. */
type Tally = Readonly<typeof NO_ENDS>

/** A refusal neither extends a row of failures nor ends it: the service answered, and wrote nothing. */
export function tally(before: Tally, end: End): Tally {
  switch (end) {
    case 'done':
      return { ...before, inARow: 0, done: before.done + 1 }
    case 'service':
      return { ...before, inARow: before.inARow + 1, failed: before.failed + 1 }
    case 'scope':
      return { ...before, refused: before.refused + 1 }
  }
}

/**
 * Whether the run must stop: 3 failures in a row or 10 % (docs/guards-and-approvals.md). The share is of the planned changes, and needs as many
 * failures as the row does, so that one failure of three does not stop the run (choice).
 */
export function isTripped({ inARow, failed, refused, done }: Tally, limit: BreakerLimit, planned: number): boolean {
  const isShare = failed >= limit.inARow && failed * 100 > limit.percent * planned
  return inARow >= limit.inARow || isShare || (refused >= ENOUGH_REFUSALS && refused > done + failed)
}

/** So many refusals, and over half of all attempts, have a shared cause (choice). */
const SHARED_REFUSALS = 3

/** Whether the refusals of a whole run have a shared cause, such as a wrong address, and say nothing about single scopes. */
export const areShared = ({ failed, refused, done }: Tally): boolean => refused >= SHARED_REFUSALS && refused > done + failed

/** Whether no write may be tried yet. A clock that was set back must not extend the wait. */
export const isOpen = (breaker: OpenBreaker | undefined, now: Instant): boolean =>
  breaker !== undefined && isYounger(breaker.openedAt, now, breaker.retryAt - breaker.openedAt)

/** The state after a failed run: the wait doubles, unless the run was ahead of time. */
export function opened(
  before: OpenBreaker | undefined,
  run: Omit<OpenBreaker, 'openedAt' | 'retryAt' | 'waitMs'>,
  now: Instant,
): OpenBreaker {
  const isAhead = isOpen(before, now)
  if (!before || !(isAhead || Math.abs(now - before.retryAt) < FORGET_MS)) {
    return { ...run, openedAt: now, retryAt: now + BREAKER_FIRST_MS, waitMs: BREAKER_FIRST_MS }
  }
  // A service that refuses every write does so for one set of scopes after the other.
  const isRefused = before.refused === true && run.refused === true
  const scopes = isRefused ? [...new Set([...before.scopes, ...run.scopes])] : run.scopes
  if (!isAhead) {
    const waitMs = Math.min(2 * before.waitMs, BREAKER_MOST_MS)
    return { ...run, scopes, openedAt: now, retryAt: now + waitMs, waitMs }
  }
  const { retryAt, waitMs } = before
  const { refused: _, ...rest } = run
  return { ...rest, scopes, refused: isRefused ? true : undefined, openedAt: now, retryAt, waitMs }
}
