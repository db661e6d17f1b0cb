// Whether a lease still lasts, and for how long: judged on two clocks, of which the less favourable counts. Pure: the clocks are arguments. It
// must never call a lease good because one clock was set back, or stood still while the process did.
import type { Instant } from '../model/units.ts'

/** For how long a lease is given. A write's timeout, a late heartbeat and the margin fit in; a dead replica is replaced within 30 s. */
export const LEASE_MS = 18_000
/** How often leases are renewed. */
export const BEAT_MS = 3_000
/** How often it is asked whether somebody has let go of a workspace. */
export const LOOK_MS = 400
/** How long a write may take under a lease: the lease has to outlast it. */
export const LEASED_WRITE_MS = 10_000
/** What clocks of two machines may drift apart within a lease, and more. */
export const MARGIN_MS = 1_000

/** Both clocks, read together. */
export interface Moment {
  readonly wall: Instant
  /** Goes on while the process is stopped by a signal, and not while the machine sleeps. */
  readonly monotonic: number
}

/** A lease as its holder knows it. */
export interface Lease {
  /** Rises with every change of hands, and is never given twice. */
  readonly token: number
  /** Before the database was asked for it, so that ours ends first. */
  readonly askedAt: Moment
  readonly lastsMs: number
}

/** What is left of it; 0 and less: it is over. */
export function leftMs({ askedAt, lastsMs }: Lease, now: Moment): number {
  // A wall clock that was set back tells nothing, and then the other one does; one that was set on ends the lease early.
  return lastsMs - Math.max(now.monotonic - askedAt.monotonic, now.wall - askedAt.wall)
}

/** For how long a write of the holder before may still land. */
export interface Quiet {
  readonly from: Moment
  readonly lastsMs: number
}

/** When it ends or ended, on the wall clock as that is now: readings are compared with it. A jump of that clock makes it neither longer nor shorter. */
export const quietUntil = (quiet: Quiet | undefined, now: Moment): Instant =>
  quiet === undefined ? Number.NEGATIVE_INFINITY : now.wall + quiet.lastsMs - (now.monotonic - quiet.from.monotonic)

/** A request that may take so long leaves only if the lease outlasts it. */
export const mayLeave = (lease: Lease | undefined, now: Moment, timeoutMs: number): boolean =>
  lease !== undefined && leftMs(lease, now) >= timeoutMs + MARGIN_MS
