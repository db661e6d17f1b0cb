// When something is due next. Intervals run on the monotonic clock and grants on wall time, so that neither a jump of the clock nor a suspended
// machine makes a sweep run twice or a grant end late.

import type { Cycle } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import type { Instant } from '../model/units.ts'
import { grantWindow } from '../resolve/grants.ts'

/** Intervals vary by this share either way, so that many instances do not send at the same time. */
const JITTER = 0.1

/** The wall clock may be set during a sleep: while a grant is awaited, check at least this often. */
export const LONGEST_SLEEP_MS = 60_000

/** The next instant on the wall clock at which a grant starts or ends; undefined when none is known. */
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

/** Recurring work: when it last began on the monotonic clock (absent: never), and the delay from then. */
interface RecurringWork {
  readonly lastAt?: number
  readonly delayMs: number
}

/** Milliseconds until it is due; 0 when it is due now or never ran. */
export const dueInMs = ({ lastAt, delayMs }: RecurringWork, monotonicNow: number): number =>
  lastAt === undefined ? 0 : Math.max(0, lastAt + delayMs - monotonicNow)

interface ScheduleInputs {
  readonly caps: RecurringWork
  readonly usage: RecurringWork
  /** From `nextGrantInstant`. */
  readonly grantAt?: Instant
  readonly now: Instant
  readonly monotonicNow: number
}

interface NextWork {
  readonly capsDue: boolean
  readonly usageDue: boolean
  /** How long to sleep before asking again; 0 when something is due. */
  readonly sleepMs: number
}

/** What is due now, and how long to sleep. A grant that starts or ends makes caps due. */
export function nextWork({ caps, usage, grantAt, now, monotonicNow }: ScheduleInputs): NextWork {
  const grantInMs = grantAt === undefined ? undefined : Math.max(0, grantAt - now)
  const capsInMs = Math.min(dueInMs(caps, monotonicNow), grantInMs ?? Number.POSITIVE_INFINITY)
  const usageInMs = dueInMs(usage, monotonicNow)
  const sleepMs = Math.min(capsInMs, usageInMs, grantInMs === undefined ? Number.POSITIVE_INFINITY : LONGEST_SLEEP_MS)
  return { capsDue: capsInMs === 0, usageDue: usageInMs === 0, sleepMs }
}
