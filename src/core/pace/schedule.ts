// When something is next to be done. Intervals run on the monotonic clock and grants on wall time, so that neither a jumping clock nor a
// suspended machine makes a sweep come twice or a grant end late. It starts nothing itself, and both times and chance are arguments.

import type { Cycle } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import type { Instant } from '../model/units.ts'
import { grantWindow } from '../resolve/grants.ts'

/** Intervals vary by this share either way, so that many instances do not knock at once. */
const JITTER = 0.1

/** The wall clock may be set while we sleep: look again at least this often when a grant is awaited. */
export const LONGEST_SLEEP_MS = 60_000

/** The next instant on the wall clock at which a grant starts or ends; undefined when none is known to. */
export function nextGrantInstant(set: PolicySet, cycle: Cycle | undefined, now: Instant): Instant | undefined {
  let next: Instant | undefined
  for (const grant of set.grants) {
    const window = grantWindow(grant, cycle)
    const untilAt = window.kind === 'instant' ? window.untilAt : undefined
    for (const at of [grant.fromAt, untilAt]) if (at !== undefined && at > now && (next === undefined || at < next)) next = at
  }
  return next
}

/** The time to the next cycle in milliseconds: `intervalMs` ± 10 %, evenly over `roll` in [0, 1). */
export const nextCycleDelay = (intervalMs: number, roll: number): number => Math.round(intervalMs * (1 - JITTER + 2 * JITTER * roll))

/** One kind of work that comes round: when it last began on the monotonic clock (absent: never), and how long to wait from then. */
export interface Rhythm {
  readonly lastAt?: number
  readonly delayMs: number
}

/** Milliseconds until it is due; 0 when it is due now or never ran. */
export const dueInMs = ({ lastAt, delayMs }: Rhythm, monotonicNow: number): number =>
  lastAt === undefined ? 0 : Math.max(0, lastAt + delayMs - monotonicNow)

export interface Waiting {
  readonly caps: Rhythm
  readonly usage: Rhythm
  /** From `nextGrantInstant`. */
  readonly grantAt?: Instant
  readonly now: Instant
  readonly monotonicNow: number
}

export interface NextWork {
  readonly capsDue: boolean
  readonly usageDue: boolean
  /** How long to sleep before asking again; 0 when something is due. */
  readonly sleepMs: number
}

/** What is due now, and how long nothing is. A grant that starts or ends makes caps due. */
export function nextWork({ caps, usage, grantAt, now, monotonicNow }: Waiting): NextWork {
  const grantInMs = grantAt === undefined ? undefined : Math.max(0, grantAt - now)
  const capsInMs = Math.min(dueInMs(caps, monotonicNow), grantInMs ?? Number.POSITIVE_INFINITY)
  const usageInMs = dueInMs(usage, monotonicNow)
  const sleepMs = Math.min(capsInMs, usageInMs, grantInMs === undefined ? Number.POSITIVE_INFINITY : LONGEST_SLEEP_MS)
  return { capsDue: capsInMs === 0, usageDue: usageInMs === 0, sleepMs }
}
