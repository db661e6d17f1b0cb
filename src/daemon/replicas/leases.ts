// The daemon's view of leases, the same for a ledger of one process and for one that replicas share. `soleLeases` is the case of one process;
// keeper.ts keeps the leases of a replica, whose state is here; `commandLeases` holds those of `apply`.
import type { LeaseShown } from '../../core/model/events.ts'
import type { Delegated, PolicyRevision } from '../../core/model/policy.ts'
import type { Instant } from '../../core/model/units.ts'
import {
  BEAT_MS,
  type HeartbeatAnswer,
  LEASE_MS,
  type Lease,
  type LeaseRow,
  LOOK_MS,
  leftMs,
  type Moment,
  mayLeave,
  type Quiet,
  quietUntil,
  type ReplicaName,
} from '../../core/replicas/lease.ts'
import { emptied } from '../../core/resolve/roster.ts'
import { digestOf } from '../../policy/load/digest.ts'
import type { Clock, LeaseTable, RecordsReader } from '../../ports.ts'
import { heldBy, unlessLedger } from '../ledger/error.ts'
import type { Fence } from '../ledger/postgres/single.ts'

// Compares the policy sets of replicas. It does not decide which set is newer.

type Known = Pick<PolicyRevision, 'digest' | 'revision'>

/** Digest and revision: old policies that come back with a new commit are a new set. */
export const policyId = ({ digest, revision }: Known): string => `${digest} ${revision}`

/**
 * Policies as other replicas are told of them. A file that cannot be used, which may be so here alone, replaces no policy elsewhere: it counts as it
 * was `told` before, as it does in force, and where that is not known nothing is told. What an empty file held before this process began is known
 * from the ledger. Nor is anything told of a workspace that this process does not have, whose files it may not read. `sets` have the digests that are
 * told.
 */
export async function toTell<Ours extends { readonly name: string }>(
  read: ReadonlyMap<string, PolicyRevision>,
  told: Map<string, PolicyRevision>,
  workspaces: readonly Ours[],
  recordsOf?: (workspace: Ours) => Promise<RecordsReader>,
) {
  const known = new Map<string, PolicyRevision | undefined>()
  const before = async (one: Ours, { empty = [] }: PolicyRevision) =>
    told.get(one.name) ?? (empty.length > 0 ? (await recordsOf?.(one))?.fact('policy') : undefined)
  for (const one of workspaces) {
    const set = read.get(one.name)
    if (set) known.set(one.name, await before(one, set).then((kept) => usable(set, kept), unlessLedger))
  }
  for (const [name, set] of known) if (set) told.set(name, set)
  return {
    ids: new Map([...known].flatMap(([name, set]) => (set ? [[name, policyId(set)] as const] : []))),
    sets: new Map([...read].map(([name, set]) => [name, { ...set, digest: known.get(name)?.digest ?? set.digest }])),
  }
}

function usable(read: PolicyRevision, before: PolicyRevision | undefined): PolicyRevision | undefined {
  if (emptied(read, before?.set).length > 0) return before
  const { delegated } = read
  if (!delegated || (delegated.unlisted.length === 0 && delegated.files.every(({ documents }) => documents))) return read
  const whole = before?.delegated && filled(delegated, before.delegated)
  return whole && { ...read, delegated: whole, digest: digestOf({ ...read, delegated: whole }) }
}

/** With the files of teams that cannot be read now as they were before. */
function filled({ files, unlisted, ...now }: Delegated, before: Delegated): Delegated | undefined {
  const isSame = (one: Delegated['files'][number]) => (two: typeof one) => one.envelope === two.envelope && one.file === two.file
  const hidden = before.files.filter((one) => unlisted.includes(one.envelope) && !files.some(isSame(one)))
  const known = [...files.flatMap((one) => (one.documents ? one : (before.files.find(isSame(one)) ?? []))), ...hidden]
  return known.length < files.length ? undefined : { ...now, files: known, unlisted: [], refused: before.refused }
}

/** Whether two sets are equal, whatever their commits. */
export const saySame = (one: string | undefined, other: string | undefined): boolean => one?.split(' ', 1)[0] === other?.split(' ', 1)[0]

/** A workspace that this process is configured for. */
export interface Wanted {
  readonly workspace: string
  /** The digest of its settings: see `configDigest`. */
  readonly config: string
}

/** How the daemon reacts to changes of leases. Calls for one workspace never overlap. */
export interface LeaseHooks {
  /** The lease was taken: starts the loop. Rejects when it cannot start. */
  taken(workspace: string): Promise<void>
  /** Ends the loop, and resolves when it has ended. `gone`: the lease is over, so that even a write in flight is cut off. */
  ending(workspace: string, gone: boolean): Promise<void>
  /** The loop could not start; the workspace is left to other replicas for a while. */
  failed(workspace: string, error: unknown): void
  /** A heartbeat was answered; the status of leases may have changed. */
  beaten(): void
  /** Policies that were held back may count now. */
  policiesSettled(): void
  /** The workspace's view as text; undefined while it should not yet replace the view of the former holder. */
  document(workspace: string): string | undefined
  /** The view of a workspace that another replica holds is another one. */
  seen(workspace: string): void
  /** The policy set that a workspace follows while its files are broken. */
  lastGood(workspace: string): string | undefined
}

/** Who holds a workspace. */
export interface LeaseStatus {
  readonly isHere: boolean
  readonly holder?: string
  /** Why this replica does not keep it: other settings count, those of `holder`. */
  readonly refused?: { readonly ours: string; readonly theirs: string; readonly holder: string }
}

export interface Leases {
  /** The ledger allows only one process. */
  readonly isSole: boolean
  holds(workspace: string): boolean
  /** Whether a write that may take so long may leave now. Asked last. */
  mayLeave(workspace: string, timeoutMs: number): boolean
  /** Until this instant (wall clock) a write of the former holder may land. */
  quietUntil(workspace: string): Instant
  /** Whether another replica has had newer policies than this one. */
  isReplaced(workspace: string): boolean
  /** Sets the workspaces that this process is configured for. */
  want(wanted: readonly Wanted[]): void
  begin(hooks: LeaseHooks): void
  /** Reports the loaded policies; resolves when the other replicas know of them, or cannot be reached now. */
  followed(policies: ReadonlyMap<string, string>): Promise<void>
  /** The workspace's loop ended for good here. */
  release(workspace: string): Promise<void>
  /** Why the last heartbeat failed. */
  trouble(): string | undefined
  /** The first heartbeat was answered. */
  hasBegun(): boolean
  statusOf(workspace: string): LeaseStatus
  /** The processes that share the workspaces, with this one; empty when it is the only one. */
  peers(): readonly { readonly name: string; readonly isHere: boolean }[]
  /** How often this replica took the workspace. */
  transfers(workspace: string): number
  /** The last saved views of workspaces that other replicas hold. */
  shownElsewhere(): Promise<ReadonlyMap<string, string>>
  /** From now on takes no workspace. */
  withdraw(): void
  /** Releases all leases; their loops have ended. */
  stop(): Promise<void>
}

/** Leases with the token that fences each record. */
export interface FencedLeases extends Leases {
  readonly fence: Fence
}

/** For a ledger of one process: its lock is the lease. */
export const soleLeases = (): Leases => ({
  isSole: true,
  holds: () => true,
  mayLeave: () => true,
  quietUntil: () => Number.NEGATIVE_INFINITY,
  isReplaced: () => false,
  want: () => undefined,
  begin: () => undefined,
  followed: async () => undefined,
  release: async () => undefined,
  trouble: () => undefined,
  hasBegun: () => true,
  statusOf: () => ({ isHere: true }),
  peers: () => [],
  transfers: () => 0,
  shownElsewhere: async () => new Map(),
  withdraw: () => undefined,
  stop: async () => undefined,
})

export type WorkspaceLease = NonNullable<ReturnType<typeof leaseOf>>

/** The lease of one workspace; undefined when the ledger has no leases. */
export function leaseOf(leases: Leases, workspace: string) {
  if (leases.isSole) return undefined
  return {
    /** Another replica has had newer policies than these. */
    isReplaced: () => leases.isReplaced(workspace),
    /** Until then a write of the previous holder may land. */
    quietUntil: () => leases.quietUntil(workspace),
    /** The holder, as it is shown. */
    shown(): LeaseShown {
      const { isHere, holder } = leases.statusOf(workspace)
      return { isHere, holder, transfers: leases.transfers(workspace) }
    },
  }
}

export interface KeeperOptions {
  readonly replica: ReplicaName
  readonly table: LeaseTable
  readonly clock: Clock
  /** Logs something unexpected. */
  readonly complain?: (message: string) => void
}

export interface Own extends Lease {
  readonly quiet?: Quiet
}

export type State = ReturnType<typeof newState>

/** What a replica knows of leases. Moments are on the monotonic clock. */
export const newState = (options: KeeperOptions) => ({
  ...options,
  wanted: [] as readonly Wanted[],
  /** The digests of settings in `wanted`, by workspace. */
  configs: new Map<string, string>() as ReadonlyMap<string, string>,
  /** The `configs` that the table has. */
  configsTold: undefined as ReadonlyMap<string, string> | undefined,
  /** The leases in the last answer, by workspace. */
  rows: new Map<string, LeaseRow>() as ReadonlyMap<string, LeaseRow>,
  hooks: undefined as LeaseHooks | undefined,
  held: new Map<string, Own>(),
  /** Workspaces whose loops are starting or ending. */
  busy: new Map<string, Promise<void>>(),
  /** Tokens of leases to release with the next heartbeat. */
  leaving: new Map<string, number>(),
  /** Workspaces that could not be opened here: until when they are left to other replicas. */
  failed: new Map<string, number>(),
  answer: undefined as HeartbeatAnswer | undefined,
  freeSince: new Map<string, number>(),
  /** The policies of valid files, by workspace. */
  policies: new Map<string, string>() as ReadonlyMap<string, string>,
  /** The policies of this replica that the table has, and since when. */
  told: new Map<string, string>() as ReadonlyMap<string, string>,
  toldAt: 0,
  /** The newest policies of any replica, by workspace. */
  latest: new Map<string, string>(),
  transfers: new Map<string, number>(),
  shown: new Map<string, string>(),
  saved: new Map<string, string>(),
  shownMark: undefined as string | undefined,
  /** Why the last heartbeat failed. */
  trouble: undefined as string | undefined,
  stopping: false,
  beating: undefined as Promise<void> | undefined,
  /** When each step is due; `free` is the search for free workspaces. */
  due: { beat: 0, free: 0, readopt: 0, show: 0, readShown: 0 },
  ended: new AbortController(),
})

export const momentOf = ({ clock }: Pick<State, 'clock'>): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() })

/** What this process may do under its leases, by its own clocks. */
export function holding(state: Pick<State, 'held' | 'replica' | 'clock'>) {
  const { held, replica } = state
  const lasting = (workspace: string): Own | undefined => {
    const own = held.get(workspace)
    return own && leftMs(own, momentOf(state)) > 0 ? own : undefined
  }
  return {
    isSole: false,
    holds: (workspace) => lasting(workspace) !== undefined,
    mayLeave: (workspace, timeoutMs) => mayLeave(held.get(workspace), momentOf(state), timeoutMs),
    quietUntil: (workspace) => quietUntil(held.get(workspace)?.quiet, momentOf(state)),
    fence(workspace) {
      const own = lasting(workspace)
      return own && { replica: replica.id, token: own.token }
    },
  } satisfies Partial<FencedLeases>
}

/** A lease as it was taken. `quietMs`: for so long a write of the former holder may land. */
export const taken = (
  state: Pick<State, 'clock'>,
  askedAt: Moment,
  { token, quietMs }: { readonly token: number; readonly quietMs: number },
): Own => ({
  ...{ token, askedAt, lastsMs: LEASE_MS },
  quiet: quietMs > 0 ? { from: momentOf(state), lastsMs: quietMs } : undefined,
})

/**
 * Whether the policies of this replica are not the newest: another replica has had newer ones, or the table does not know them yet. The last
 * known good policies, in force while files are broken, were known before.
 */
export function isReplaced(state: State, workspace: string): boolean {
  const own = inForce(state, workspace)
  return own !== undefined && !saySame(state.latest.get(workspace), own)
}

/** The policies that this replica follows. */
export const inForce = ({ policies, latest, hooks }: State, workspace: string): string | undefined =>
  policies.get(workspace) ?? (latest.has(workspace) ? hooks?.lastGood(workspace) : undefined)

/** False also when the table has lost them: after a failover, or because it had dropped this replica. */
export const isTold = ({ policies, told }: State): boolean => [...policies].every(([workspace, policy]) => told.get(workspace) === policy)

/** How long to wait for a replica that is ending. Choice. */
const PATIENCE_MS = 2_000

interface CommandOptions extends KeeperOptions {
  readonly wanted: readonly Wanted[]
  /** The name of the ledger in messages. */
  readonly file: string
}

export function commandLeases({ replica, table, clock, wanted, file }: CommandOptions) {
  const held = new Map<string, Own>()
  const own = holding({ held, replica, clock })
  const ended = new AbortController()
  const beat = async (take?: string): Promise<HeartbeatAnswer> => {
    const askedAt = momentOf({ clock })
    const configOf = (name: string): string => wanted.find(({ workspace }) => workspace === name)?.config ?? ''
    const renew = [...held].map(([workspace, { token }]) => ({ workspace, token, config: configOf(workspace) }))
    const taking = take === undefined ? [] : [{ workspace: take, config: configOf(take) }]
    const answer = await table.beat({ replica, lastsMs: LEASE_MS, renew, release: [], take: taking, refuses: [], spreads: false })
    for (const [workspace, lease] of held) {
      if (answer.renewed.has(workspace)) held.set(workspace, { ...lease, askedAt })
      else if (renew.some((one) => one.workspace === workspace)) held.delete(workspace)
    }
    for (const [workspace, one] of answer.taken) held.set(workspace, taken({ clock }, askedAt, one))
    return answer
  }
  let living: Promise<void> | undefined
  const live = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(BEAT_MS, ended.signal).catch(() => undefined)
      // A lease that cannot be renewed ends by itself, and stops all writes.
      if (!ended.signal.aborted) await beat().catch(() => undefined)
    }
  }
  return {
    ...soleLeases(),
    ...own,
    /** Rejects with LEDGER_LOCKED when another process holds the workspace. */
    async claim(workspace: string): Promise<void> {
      const endAt = clock.monotonic() + PATIENCE_MS
      while (!own.holds(workspace)) {
        const answer = await beat(workspace)
        if (answer.taken.has(workspace)) break
        const holder = answer.leases.find((one) => one.workspace === workspace)?.holder
        if (clock.monotonic() >= endAt) throw heldBy(file, workspace, holder?.name ?? 'another process')
        await clock.sleep(LOOK_MS)
      }
      living ??= live()
    },
    async stop(): Promise<void> {
      ended.abort(new Error('stopped'))
      await living
      if (held.size > 0) await table.leave(replica.id).catch(unlessLedger)
    },
  }
}
