// Leases for a command that writes beside replicas, such as `apply`: it takes each workspace that it is about to write, or fails with the name
// of the holder. It releases all at its end, and never takes a workspace from a replica.
import {
  BEAT_MS,
  type HeartbeatAnswer,
  LEASE_MS,
  LOOK_MS,
  leftMs,
  type Moment,
  mayLeave,
  quietUntil,
  type ReplicaName,
} from '../../core/replicas/lease.ts'
import type { Clock, LeaseTable } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import { type FencedLeases, soleLeases, type Wanted } from './leases.ts'
import type { Own } from './state.ts'

/** How long to wait for a replica that is ending. Choice. */
const PATIENCE_MS = 2_000

interface CommandLeases extends FencedLeases {
  /** Rejects with LEDGER_LOCKED when another process holds the workspace. */
  claim(workspace: string): Promise<void>
}

interface CommandOptions {
  readonly replica: ReplicaName
  readonly table: LeaseTable
  readonly clock: Clock
  readonly wanted: readonly Wanted[]
  readonly heldBy: (workspace: string, holder: string) => LedgerError
}

export function commandLeases({ replica, table, clock, wanted, heldBy }: CommandOptions): CommandLeases {
  const held = new Map<string, Own>()
  const ended = new AbortController()
  const moment = (): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() })
  const beat = async (take?: string): Promise<HeartbeatAnswer> => {
    const askedAt = moment()
    const configOf = (name: string): string => wanted.find(({ workspace }) => workspace === name)?.config ?? ''
    const renew = [...held].map(([workspace, { token }]) => ({ workspace, token, config: configOf(workspace) }))
    const taking = take === undefined ? [] : [{ workspace: take, config: configOf(take) }]
    const answer = await table.beat({ replica, lastsMs: LEASE_MS, renew, release: [], take: taking, refuses: [], spreads: false })
    for (const [workspace, own] of held) {
      if (answer.renewed.has(workspace)) held.set(workspace, { ...own, askedAt })
      else if (renew.some((one) => one.workspace === workspace)) held.delete(workspace)
    }
    for (const [workspace, { token, quietMs }] of answer.taken) {
      held.set(workspace, { token, askedAt, lastsMs: LEASE_MS, ...(quietMs > 0 && { quiet: { from: moment(), lastsMs: quietMs } }) })
    }
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
  const lasting = (workspace: string): Own | undefined => {
    const own = held.get(workspace)
    return own && leftMs(own, moment()) > 0 ? own : undefined
  }
  return {
    ...soleLeases(),
    isSole: false,
    holds: (workspace) => lasting(workspace) !== undefined,
    mayLeave: (workspace, timeoutMs) => mayLeave(held.get(workspace), moment(), timeoutMs),
    quietUntil: (workspace) => quietUntil(held.get(workspace)?.quiet, moment()),
    fence(workspace) {
      const own = lasting(workspace)
      return own && { replica: replica.id, token: own.token }
    },
    async claim(workspace) {
      const endAt = clock.monotonic() + PATIENCE_MS
      while (!lasting(workspace)) {
        const { leases, taken } = await beat(workspace)
        if (taken.has(workspace)) break
        const holder = leases.find((one) => one.workspace === workspace)?.holder
        if (clock.monotonic() >= endAt) throw heldBy(workspace, holder?.name ?? 'another process')
        await clock.sleep(LOOK_MS)
      }
      living ??= live()
    },
    async stop() {
      ended.abort(new Error('stopped'))
      await living
      if (held.size > 0) await table.leave(replica.id).catch(ignore)
    },
  }
}

const ignore = (error: unknown): void => {
  if (!(error instanceof LedgerError)) throw error
}
