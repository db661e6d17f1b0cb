// Whether a lease still lasts, and for how long: by two clocks, of which the one with less time left counts. It must never call a lease good
// because one clock was set back, or stopped together with the process.
import type { Instant } from '../model/units.ts'
import type { RateSettings } from '../pace/pace.ts'
import type { Votes } from './spread.ts'

/** A workspace that a replica holds, or held. */
export interface HeldWorkspace {
  readonly workspace: string
  readonly token: number
}

interface Settings {
  /** The digest of the settings with which the replica runs the workspace. */
  readonly config: string
}

/** What a replica reports and asks for. */
export interface Heartbeat {
  readonly replica: ReplicaName
  /** The duration of each lease given or renewed. */
  readonly lastsMs: number
  readonly renew: readonly (HeldWorkspace & Settings)[]
  readonly release: readonly HeldWorkspace[]
  readonly take: readonly (Pick<HeldWorkspace, 'workspace'> & Settings)[]
  readonly refuses: readonly string[]
  /** False for a command that holds one workspace for a while, and takes no share of the others. */
  readonly spreads: boolean
}

export interface ReplicaName {
  /** Unique to one process, for ever. */
  readonly id: string
  /** For people. */
  readonly name: string
}

/** A workspace's row in the table after a heartbeat. */
export interface LeaseRow {
  readonly workspace: string
  readonly token: number
  /** Absent when no replica holds it, or the lease is over. */
  readonly holder?: ReplicaName
  /** Negative: how long it has been free. */
  readonly lastsMs: number
  /** The digest of the holder's settings. */
  readonly config: string
  /** The latest policy set. */
  readonly policy?: string
}

export interface HeartbeatAnswer {
  readonly renewed: ReadonlySet<string>
  /** `quietMs`: how long an earlier holder's open write may still land; 0 when it was not held lately. */
  readonly taken: ReadonlyMap<string, { readonly token: number; readonly quietMs: number }>
  /** Live replicas that take a share of the workspaces. */
  readonly peers: readonly (ReplicaName & { readonly refuses: readonly string[] })[]
  readonly leases: readonly LeaseRow[]
  /** The settings of the live replicas for each workspace about which they differ, those that this replica reported included. */
  readonly votes: ReadonlyMap<string, Votes>
  /** The policies that this replica reported to the table, by workspace. */
  readonly told: ReadonlyMap<string, string>
}

/** One workspace's part of its key's rate, shared by `sharers` workspaces. */
export function partOfRate<Rate extends RateSettings>(rate: Rate, sharers: number): Rate {
  const parts = Math.max(1, sharers)
  if (parts === 1) return rate
  const max = rate.max / parts
  return { ...rate, max, start: Math.min(rate.start, max) }
}

/** By workspace: how many workspaces use the same key, at the most shared of its keys. `keys`: the identities of each workspace's keys. */
export function sharersOf(keys: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, number> {
  const users = new Map<string, number>()
  for (const ids of keys.values()) for (const id of ids) users.set(id, (users.get(id) ?? 0) + 1)
  return new Map([...keys].map(([workspace, ids]) => [workspace, Math.max(1, ...[...ids].map((id) => users.get(id) ?? 1))]))
}

/** A key's identity, and its name in a workspace. */
export interface NamedKey {
  readonly id: string
  readonly name: string
}

/**
 * What a workspace starts with for each of its keys, by the names of `mine`: what it learned itself, and for a key whose limit it has not met,
 * the lowest limit that other workspaces met with the same key.
 */
export function learnedTogether(
  own: Readonly<Record<string, unknown>>,
  mine: readonly NamedKey[],
  others: readonly { readonly named: readonly NamedKey[]; readonly learned: Readonly<Record<string, unknown>> }[],
): Readonly<Record<string, unknown>> {
  const found = mine.flatMap(({ id, name }) => {
    if (limitIn(own[name]) !== undefined) return []
    const met = others.flatMap(({ named, learned }) =>
      named.flatMap((one) => (one.id === id && limitIn(learned[one.name]) !== undefined ? [learned[one.name]] : [])),
    )
    const [lowest] = met.toSorted((a, b) => (limitIn(a) ?? 0) - (limitIn(b) ?? 0))
    return lowest === undefined ? [] : [[name, lowest] as const]
  })
  return { ...own, ...Object.fromEntries(found) }
}

/** The rate, if the service's limit was met at it. */
function limitIn(learned: unknown): number | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  return learned.limited === true && typeof learned.rate === 'number' ? learned.rate : undefined
}

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
