// What replicas agree on: which of them holds which workspace, what a heartbeat says, how they share the rate of a key and what they learned
// of it. And whether a lease still lasts: by two clocks, of which the one with less time left counts. It must never call a lease good because
// one clock was set back, or stopped together with the process.
import type { Instant } from '../model/units.ts'
import type { LearnedRate, RateSettings } from '../pace/pace.ts'
import { readLearned } from '../pace/pacing.ts'

/** Who holds a workspace, as the database has it. */
export interface Held {
  readonly workspace: string
  /** The live replica that holds it; absent: it can be taken. */
  readonly holder?: string
  /** How long it has been free. */
  readonly freeForMs?: number
}

/** A replica that is alive. */
interface Peer {
  readonly id: string
  /** Workspaces that it will not take, because its configuration differs or has them not, or it could not open them. */
  readonly refuses: ReadonlySet<string>
}

/** The digests of the settings with which live replicas would keep a workspace, by their ids. */
type Votes = ReadonlyMap<string, string>

/**
 * The settings under which a workspace is kept: those of most live replicas; of as many, those under which it is kept now or was kept last, else
 * those of the first replica by id. So all replicas come to the same settings, some replica has them, and none waits for ever. `votes` is not
 * empty; `present` is absent for a workspace that was never kept.
 */
export function settingsThatCount(votes: Votes, present: string | undefined): string | undefined {
  const counts = new Map<string, number>()
  for (const config of votes.values()) counts.set(config, (counts.get(config) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const leading = new Set([...counts].flatMap(([config, count]) => (count === most ? [config] : [])))
  if (present !== undefined && leading.has(present)) return present
  const [first = ''] = [...votes.keys()].filter((id) => leading.has(votes.get(id) ?? '')).sort()
  return votes.get(first)
}

/** A workspace free for longer goes to any replica that does not refuse it, however many that holds. */
const LEFT_OVER_MS = 8_000
/** After a replica joins, each heartbeat moves at most one in so many workspaces. */
const PART_AT_ONCE = 20

/** The moves of replica `me`; `peers` has `me` in it. */
export function spread(
  me: string,
  peers: readonly Peer[],
  leases: readonly Held[],
): { readonly take: readonly string[]; readonly release: readonly string[] } {
  const own = peers.find(({ id }) => id === me)
  if (!own) return { take: [], release: [] }
  // One that may keep none of them, as while its config is another, takes no share.
  const sharing = peers.filter(({ refuses }) => leases.some(({ workspace }) => !refuses.has(workspace)))
  const counts = countsOf(sharing, leases)
  const targets = targetsOf(counts, leases.length)
  const held = leases.filter(({ holder }) => holder === me)
  const room = (targets.get(me) ?? 0) - held.length
  const free = freeFor(own, peers, leases)
  const leftOver = free.filter(({ freeForMs = 0 }) => freeForMs >= LEFT_OVER_MS)
  if (room >= 0) return { take: named([...new Set([...free.slice(0, room), ...leftOver])]), release: [] }
  const takers = peers.filter(({ id }) => (counts.get(id) ?? 0) < (targets.get(id) ?? 0))
  const welcome = held.filter(({ workspace }) => takers.some(({ refuses }) => !refuses.has(workspace)))
  const atOnce = Math.min(-room, Math.max(1, Math.ceil(leases.length / PART_AT_ONCE)))
  return { take: named(leftOver), release: named(welcome.slice(-atOnce)) }
}

const named = (held: readonly Held[]): readonly string[] => held.map(({ workspace }) => workspace)

function countsOf(peers: readonly Peer[], leases: readonly Held[]): ReadonlyMap<string, number> {
  const counts = new Map(peers.map(({ id }) => [id, 0]))
  for (const { holder } of leases) if (holder !== undefined && counts.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1)
  return counts
}

/** How many each replica should hold: equal within one. Those that hold most get the one more, so that the fewest move. */
function targetsOf(counts: ReadonlyMap<string, number>, all: number): ReadonlyMap<string, number> {
  const byCount = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  const least = Math.floor(all / byCount.length)
  const more = all % byCount.length
  return new Map(byCount.map(([id], place) => [id, least + (place < more ? 1 : 0)]))
}

/** The free workspaces. Each replica begins at another place, so that two seldom want the same one. */
function freeFor({ id, refuses }: Peer, peers: readonly Peer[], leases: readonly Held[]): readonly Held[] {
  const free = leases.filter(({ workspace, holder }) => holder === undefined && !refuses.has(workspace))
  const ids = peers.map((one) => one.id).toSorted()
  const from = Math.floor((free.length * ids.indexOf(id)) / ids.length)
  return [...free.slice(from), ...free.slice(0, from)]
}

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
export interface LeaseRow extends HeldWorkspace {
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
  /** The settings of the live replicas for each workspace about which they differ, or that not all have; with those that this replica reported. */
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
 * What a workspace begins with for each of its keys, by the names of `mine`: what it learned itself, and for a key whose limit it has not met,
 * the lowest limit that other workspaces met with the same key.
 */
export function learnedTogether(
  own: Readonly<Record<string, unknown>>,
  mine: readonly NamedKey[],
  others: readonly { readonly id: string; readonly learned: unknown }[],
): Readonly<Record<string, unknown>> {
  const borrowed = mine.flatMap(({ id, name }) => {
    if (limitIn(own[name])) return []
    const met = others.flatMap((one) => (one.id === id && limitIn(one.learned)) || [])
    const [lowest] = met.toSorted((a, b) => a.rate - b.rate)
    return lowest ? [[name, lowest] as const] : []
  })
  return { ...own, ...Object.fromEntries(borrowed) }
}

/** What was learned, if the service's limit was met. */
function limitIn(learned: unknown): LearnedRate | undefined {
  const known = readLearned(learned)
  return known?.limited ? known : undefined
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
const MARGIN_MS = 1_000

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
