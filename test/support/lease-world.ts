// A simulated world of replicas on one table of leases: processes that stop while their clocks run, wall clocks that jump, networks that
// are cut, and a database that fails over to a copy without the last moments. Every request that leaves is recorded.
import { type Heartbeat, type HeartbeatAnswer, LEASE_MS, LEASED_WRITE_MS, type LeaseRow } from '../../src/core/replicas/lease.ts'
import { LedgerError } from '../../src/daemon/ledger/error.ts'
import { createKeeper } from '../../src/daemon/replicas/keeper.ts'
import type { FencedLeases } from '../../src/daemon/replicas/leases.ts'
import type { Clock, LeaseTable } from '../../src/ports.ts'
import { sleepersOf } from './clock.ts'
import { QUIET_HOOKS, QUIET_TABLE } from './lease-parts.ts'

interface Row {
  holder: string | undefined
  token: number
  until: number
  era: number
  config: string
}

/** A request when it left. */
export interface Sent {
  readonly at: number
  readonly workspace: string
  readonly replica: string
  readonly token: number
  /** When it has landed, or failed. */
  readonly landsAt: number
}

interface Run {
  readonly stop: AbortController
  /** The request under way. */
  busy: Promise<void>
}

interface Machine {
  readonly name: string
  readonly keeper: FencedLeases
  paused: boolean
  skew: number
  cut: boolean
  readonly running: Map<string, Run>
}

export type LeaseWorld = ReturnType<typeof createLeaseWorld>

export interface LeaseWorldOptions {
  readonly replicas: number
  readonly workspaces: readonly string[]
  readonly random: () => number
  /** The digest of each machine's settings; all have the same when absent. */
  readonly configs?: readonly string[]
  /** A deliberate fault: replaces the check before a request leaves. */
  readonly mayLeave?: (keeper: FencedLeases, workspace: string) => boolean
}

const away = () => new LedgerError('LEDGER_AWAY', 'the network is cut')
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve()
}

export function createLeaseWorld({ replicas, workspaces, random, mayLeave, configs: settings = [] }: LeaseWorldOptions) {
  const { clock: all, sleepOf, step, reach } = sleepersOf(1e12)
  const time = all.monotonic
  let rows = new Map<string, Row>()
  let history: { readonly at: number; readonly rows: ReadonlyMap<string, Row> }[] = []
  let era = { id: 1, since: Number.NEGATIVE_INFINITY }
  const alive = new Map<string, { until: number; spreads: boolean; refuses: readonly string[]; name: string }>()
  const configs = new Map<string, ReadonlyMap<string, string>>()
  const sent: Sent[] = []
  const intents: Omit<Sent, 'landsAt'>[] = []
  const machines: Machine[] = []

  const isCut = (of: number): boolean => machines[of]?.cut === true
  const copy = (): Map<string, Row> => new Map([...rows].map(([name, row]) => [name, { ...row }]))

  function beat({ replica, lastsMs, renew, release, take, refuses, spreads }: Heartbeat): HeartbeatAnswer {
    history = [...history.filter(({ at }) => time() - at < 60_000), { at: time(), rows: copy() }]
    alive.set(replica.id, { until: time() + lastsMs, spreads, refuses, name: replica.name })
    const renewed = new Set<string>()
    const taken = new Map<string, { token: number; quietMs: number }>()
    for (const { workspace, token } of renew) {
      const row = rows.get(workspace)
      if (row?.token !== token || row.holder !== replica.id || row.era !== era.id) continue
      row.until = time() + lastsMs
      renewed.add(workspace)
    }
    for (const { workspace, token } of release) {
      const row = rows.get(workspace)
      if (row?.token === token && row.holder === replica.id) Object.assign(row, { holder: undefined, until: time() })
    }
    for (const { workspace, config } of era.since + LEASE_MS <= time() ? take : []) {
      const row = rows.get(workspace)
      if (row?.holder !== undefined && row.until > time() && row.era === era.id && row.holder !== replica.id) continue
      const token = Math.max((row?.token ?? 0) + 1, Math.floor(time()))
      const isOld = row !== undefined && row.era !== era.id
      const endedAt = Math.max(row?.until ?? Number.NEGATIVE_INFINITY, isOld || !row ? era.since + LEASE_MS : Number.NEGATIVE_INFINITY)
      const quietMs = Math.max(0, endedAt - time() + LEASED_WRITE_MS)
      rows.set(workspace, { holder: replica.id, token, until: time() + lastsMs, era: era.id, config })
      taken.set(workspace, { token, quietMs })
    }
    const peers = [...alive].flatMap(([id, one]) =>
      one.spreads && one.until > time() ? [{ id, name: one.name, refuses: one.refuses }] : [],
    )
    const leases = [...rows].map(([workspace, row]): LeaseRow => {
      const isHeld = row.holder !== undefined && row.until > time()
      return {
        workspace,
        token: row.token,
        lastsMs: row.until - time(),
        config: row.config,
        ...(isHeld && row.holder !== undefined && { holder: { id: row.holder, name: row.holder } }),
      }
    })
    const isLive = (id: string): boolean => id === replica.id || (alive.get(id)?.spreads === true && (alive.get(id)?.until ?? 0) > time())
    const votes = new Map<string, Map<string, string>>()
    for (const [id, told] of configs)
      for (const [workspace, config] of isLive(id) ? told : []) votes.set(workspace, (votes.get(workspace) ?? new Map()).set(id, config))
    const voters = new Set([...votes.values()].flatMap((all) => [...all.keys()])).size
    for (const [workspace, all] of votes) if (new Set(all.values()).size === 1 && all.size === voters) votes.delete(workspace)
    return { renewed, taken, peers, leases, votes, told: new Map() }
  }

  /** Both directions take time; either may be cut. */
  async function ask<T>(of: number, job: () => T): Promise<T> {
    const sleep = sleepOf(of)
    await sleep(random() * 300)
    if (isCut(of)) {
      await sleep(random() * 8_000)
      throw away()
    }
    const answer = job()
    await sleep(random() * 300)
    if (isCut(of)) throw away()
    return answer
  }

  function tableOf(of: number): LeaseTable {
    return {
      ...QUIET_TABLE,
      beat: (heartbeat) => ask(of, () => beat(heartbeat)),
      configured: (replica, told) => ask(of, () => void configs.set(replica, told)),
      hasFree: () => ask(of, () => [...rows.values()].some(({ holder, until }) => holder === undefined || until <= time())),
      leave: (replica) => ask(of, () => void alive.delete(replica)),
    }
  }

  /** One loop: an intent, the check, the request, repeated. */
  async function work(of: number, workspace: string, run: Run): Promise<void> {
    const stop = run.stop.signal
    const machine = machines[of]
    if (!machine) return
    const sleep = sleepOf(of)
    while (!stop.aborted) {
      try {
        await sleep(200 + random() * 1_500, stop)
        const held = machine.keeper.fence(workspace)
        if (!held) continue
        await ask(of, () => {
          const row = rows.get(workspace)
          if (!row || row.holder !== held.replica || row.token !== held.token) throw new LedgerError('LEDGER_FENCED', 'fenced')
          intents.push({ at: time(), workspace, replica: held.replica, token: held.token })
        })
        if (stop.aborted) return
        const may = mayLeave?.(machine.keeper, workspace) ?? machine.keeper.mayLeave(workspace, LEASED_WRITE_MS)
        if (!may) continue
        const lastsMs = random() < 0.7 ? random() * 300 : random() * LEASED_WRITE_MS
        sent.push({ at: time(), workspace, replica: held.replica, token: held.token, landsAt: time() + lastsMs })
        run.busy = sleep(lastsMs)
        await run.busy
      } catch (error) {
        if (!(error instanceof LedgerError) && !stop.aborted) throw error
      }
    }
  }

  for (let of = 0; of < replicas; of += 1) {
    const name = `replica-${of}`
    const clock: Clock = { ...all, now: () => all.now() + (machines[of]?.skew ?? 0), sleep: sleepOf(of) }
    const keeper = createKeeper({ replica: { id: name, name }, table: tableOf(of), clock })
    const running = new Map<string, Run>()
    machines.push({ name, keeper, paused: false, skew: 0, cut: false, running })
    keeper.want(workspaces.map((workspace) => ({ workspace, config: settings[of] ?? 'same' })))
    keeper.begin({
      ...QUIET_HOOKS,
      async taken(workspace) {
        const run = { stop: new AbortController(), busy: Promise.resolve() }
        running.set(workspace, run)
        void work(of, workspace, run)
      },
      // A write under way may finish, unless the lease is over.
      async ending(workspace, gone) {
        const run = running.get(workspace)
        running.delete(workspace)
        run?.stop.abort(new Error('ended'))
        if (!gone) await run?.busy
      },
    })
  }

  async function advance(ms: number): Promise<void> {
    const end = time() + ms
    await settle()
    while (step(end, (of) => machines[of]?.paused !== true)) await settle()
    reach(end)
  }

  const machineAt = (of: number): Machine => {
    const machine = machines[of]
    if (!machine) throw new Error(`there is no machine ${of}`)
    return machine
  }
  return {
    machines,
    sent,
    /** Intents that the table accepted. */
    intents,
    advance,
    /** One machine, which a test pauses, cuts off, or whose clock it moves. */
    at: machineAt,
    /** The machine reads other settings. */
    configure(of: number, config: string) {
      machineAt(of).keeper.want(workspaces.map((workspace) => ({ workspace, config })))
    },
    /** The copy that takes over lacks the writes of the last `lostMs`. */
    failOver(lostMs: number) {
      const old = history.findLast(({ at }) => at <= time() - lostMs)
      rows = new Map([...(old?.rows ?? new Map<string, Row>())].map(([name, row]) => [name, { ...row }]))
      era = { id: era.id + 1, since: time() }
    },
    async stop(of: number) {
      const { keeper, running } = machineAt(of)
      keeper.withdraw()
      for (const { stop, busy } of running.values()) {
        stop.abort(new Error('stopped'))
        await busy
      }
      await keeper.stop()
    },
  }
}
