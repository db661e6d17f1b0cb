// Whether a lease still lasts, and for how long: by two clocks, of which the one with less time left counts. It must never call a lease good
// because one clock was set back, or stopped together with the process.
import type { Instant } from '../model/units.ts'

/** The duration of a lease. A write's timeout, a late heartbeat and the margin fit in; a dead replica is replaced within 30 s. */
export const LEASE_MS = 18_000
/** How often leases are renewed. */
export const BEAT_MS = 3_000
/** How often a replica checks whether another has released a workspace. */
export const LOOK_MS = 400
/** How long a write may take under a lease: the lease has to outlast it. */
export const LEASED_WRITE_MS = 10_000
/** More than the clocks of two machines drift apart within a lease. */
export const MARGIN_MS = 1_000

/** Both clocks, read at the same time. */
export interface Moment {
  readonly wall: Instant
  /** Goes on while the process is stopped by a signal, and not while the machine sleeps. */
  readonly monotonic: number
}

/** A lease as its holder knows it. */
export interface Lease {
  /** Rises with every change of hands, and is never given twice. */
  readonly token: number
  /** The time before the request to the database, so that the lease ends here first. */
  readonly askedAt: Moment
  readonly lastsMs: number
}

/** The time left; 0 or less when the lease is over. */
export function leftMs({ askedAt, lastsMs }: Lease, now: Moment): number {
  // When the wall clock was set back, the monotonic clock counts. A wall clock set forward ends the lease early.
  return lastsMs - Math.max(now.monotonic - askedAt.monotonic, now.wall - askedAt.wall)
}

/** How long a write of the previous holder may still land. */
export interface Quiet {
  readonly from: Moment
  readonly lastsMs: number
}

/** Its end on the present wall clock, to compare readings with. A jump of that clock makes it neither longer nor shorter. */
export const quietUntil = (quiet: Quiet | undefined, now: Moment): Instant =>
  quiet === undefined ? Number.NEGATIVE_INFINITY : now.wall + quiet.lastsMs - (now.monotonic - quiet.from.monotonic)

/** Whether a request may be sent: only if the lease outlasts its timeout. */
export const mayLeave = (lease: Lease | undefined, now: Moment, timeoutMs: number): boolean =>
  lease !== undefined && leftMs(lease, now) >= timeoutMs + MARGIN_MS
