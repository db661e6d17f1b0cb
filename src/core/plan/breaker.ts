// The breaker of a workspace's writes: when so many changes fail for a cause that is not theirs, the rest is not tried any more, and tried
// again after a while that doubles. It only counts and says when; holding is the guard `breaker`, and sending is for others.
//
//   closed --so many failures--> open for 10 min --time is up--> trying again --one success--> closed
//                                  ^                                  |
//                                  +-- no success: twice as long -----+   2 h at most
import { isYounger } from '../model/age.ts'
import type { BreakerLimit } from '../model/change.ts'
import type { Instant } from '../model/units.ts'

/** How long nothing is tried at first, and at most. */
export const BREAKER_FIRST_MS = 10 * 60_000
export const BREAKER_MOST_MS = 2 * 3_600_000

/** An outage that is longer over than this says nothing about the next one (choice). */
const FORGET_MS = 24 * 3_600_000

/** So many refusals, and more than half of what was tried, speak of the service and not of scopes; fewer are judged at the end (choice). */
const ENOUGH_REFUSALS = 10

/** What the ledger keeps while writes fail; gone with the first that succeeds. */
export interface OpenBreaker {
  readonly openedAt: Instant
  /** Nothing is tried before. */
  readonly retryAt: Instant
  readonly waitMs: number
  /** Changes that failed when it opened, of those that were to be written. */
  readonly failed: number
  readonly planned: number
  /** What the last of them failed with. */
  readonly cause: string
  /** Keys of the scopes that were to be written. */
  readonly scopes: readonly string[]
  /** Of what has failed since writes began to, what failed longest ago first. It goes after all others, so that a few bad ones do not keep the rest back. */
  readonly failing?: readonly string[]
  /** All that failed was turned down, which may be about it alone: only these scopes are kept back, and what is new to be written is tried (choice). */
  readonly refused?: boolean
}

/** What a run that was stopped leaves to say. */
export type FailedRun = Pick<OpenBreaker, 'failed' | 'planned' | 'cause' | 'scopes' | 'failing' | 'refused'>

/** How one change ended, as far as the breaker cares: `service` failed for a shared cause, `scope` was refused for itself, perhaps. */
export type End = 'done' | 'service' | 'scope'

/** How the changes of one run have ended so far. */
export interface Tally {
  readonly inARow: number
  readonly failed: number
  readonly refused: number
  readonly done: number
}

/** Before the first change has ended. */
export const NO_ENDS: Tally = { inARow: 0, failed: 0, refused: 0, done: 0 }

/** A refusal neither adds to a row of failures nor ends it: the service answered, and wrote nothing. */
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
 * Is it time to stop? product.md, section 5: 3 in a row or 10 %. The share is of the changes that were to be written, and never stops at
 * fewer failures than the row does, so that one failure of three does not (choice).
 */
export function isTripped({ inARow, failed, refused, done }: Tally, limit: BreakerLimit, planned: number): boolean {
  const isShare = failed >= limit.inARow && failed * 100 > limit.percent * planned
  return inARow >= limit.inARow || isShare || (refused >= ENOUGH_REFUSALS && refused > done + failed)
}

/** So many refusals, and more than half of what was tried, have a shared cause (choice). */
const SHARED_REFUSALS = 3

/** Do the refusals of a whole run speak of something else than scopes? An address or a service that turns most writes down says nothing about any. */
export const areShared = ({ failed, refused, done }: Tally): boolean => refused >= SHARED_REFUSALS && refused > done + failed

/** May nothing be tried yet? A clock that was set back must not make the wait any longer. */
export const isOpen = (breaker: OpenBreaker | undefined, now: Instant): boolean =>
  breaker !== undefined && isYounger(breaker.openedAt, now, breaker.retryAt - breaker.openedAt)

/** The next state after a run that failed: twice as long as before, unless it was tried ahead of time. */
export function opened(before: OpenBreaker | undefined, run: FailedRun, now: Instant): OpenBreaker {
  const isAhead = isOpen(before, now)
  if (!before || !(isAhead || Math.abs(now - before.retryAt) < FORGET_MS)) {
    return { ...run, openedAt: now, retryAt: now + BREAKER_FIRST_MS, waitMs: BREAKER_FIRST_MS }
  }
  // A service that turns down whatever is tried is found out bit by bit.
  const isRefused = before.refused === true && run.refused === true
  const scopes = isRefused ? [...new Set([...before.scopes, ...run.scopes])] : run.scopes
  if (!isAhead) {
    const waitMs = Math.min(2 * before.waitMs, BREAKER_MOST_MS)
    return { ...run, scopes, openedAt: now, retryAt: now + waitMs, waitMs }
  }
  const { retryAt, waitMs } = before
  const { refused: _, ...rest } = run
  return { ...rest, scopes, ...(isRefused && { refused: true }), openedAt: now, retryAt, waitMs }
}
