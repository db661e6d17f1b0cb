// Replicas of one ledger, started, watched and ended by the bench: who holds what is looked up in the database itself, and not asked of those that are measured.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import type { PostgresServer } from '../../support/postgres.ts'
import { until } from '../../support/process.ts'
import { type Remote, startRemote } from '../remote.ts'
import type { Done } from './replica.ts'

/** Clock ticks of Linux, on every architecture that Node runs on. */
const TICK_MS = 10
const LOOK_MS = 50

export type Replica = Awaited<ReturnType<typeof startReplica>>

/** What happened after one replica was told to stop, or killed. */
export interface Ended {
  /** How many workspaces it held. */
  readonly count: number
  /** Until all of them were held by others. */
  readonly heldMs: number
  /** The longest that one of them was free. */
  readonly longestFreeMs: number
  /** Until each had a cycle there. */
  readonly keptMs: number
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>

export interface FleetOptions {
  readonly server: PostgresServer
  readonly service: Remote
  readonly config: string
  readonly ledger: string
  readonly workspaces: readonly string[]
}

export async function startReplica(config: string) {
  const remote = await startRemote('replicas/replica.ts', ['run', '--config', config, '--log-format', 'json'])
  const pid = await remote.ask<number>('pid')
  await remote.ask('start')
  const endedAt = (): Promise<Readonly<Record<string, number>>> => remote.ask('endedAt')
  return {
    pid,
    done: (): Promise<Done> => remote.ask('done'),
    endedAt,
    untilKept: (count: number, withinMs: number) =>
      until('each has had a cycle', async () => Object.keys(await endedAt()).length >= count, withinMs),
    stop: () => remote.stop(),
  }
}

/** Statements that leases cost, cycles or not. */
const OF_LEASES = ['WITH now AS', 'AS free', 'capkeeper.shown', 'policy_seen', 'replica_policy']

/** CPU of the server so far: of its first process with all that it has seen end, and of those that live. */
function serverCpuMs(postmaster: number): number {
  const statOf = (pid: number): readonly number[] =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) . /s, '')
      .split(' ')
      .map(Number)
  const sum = (stat: readonly number[], fields: readonly number[]): number => fields.reduce((all, field) => all + (stat[field] ?? 0), 0)
  const children = readdirSync('/proc').flatMap((name) => {
    try {
      const stat = /^\d+$/.test(name) ? statOf(Number(name)) : []
      return stat[0] === postmaster ? [sum(stat, [10, 11])] : []
    } catch {
      return []
    }
  })
  return (sum(statOf(postmaster), [10, 11, 12, 13]) + children.reduce((all, one) => all + one, 0)) * TICK_MS
}

interface State extends FleetOptions {
  readonly replicas: Replica[]
  readonly eye: Client
}

export async function openFleet(options: FleetOptions) {
  const eye = new Client({ connectionString: options.ledger })
  // The server goes when a phase fails; what failed is told, and not this.
  eye.on('error', () => undefined)
  await eye.connect()
  await options.server.sql('postgres', 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  const postmaster = Number(readFileSync(`${options.server.folder}/data/postmaster.pid`, 'utf8').split('\n')[0])
  const state: State = { ...options, replicas: [], eye }
  const { service, workspaces, replicas } = state
  return {
    replicas,
    add: async () => void replicas.push(await startReplica(options.config)),
    end: (signal: 'SIGTERM' | 'SIGKILL') => end(state, signal),
    /** How many each of them holds. */
    held: () => held(state),
    untilSpread: (withinMs: number) =>
      until(
        'the workspaces are spread evenly',
        async () => {
          const counts = await held(state)
          const even = workspaces.length / replicas.length
          return (
            counts.reduce((sum, one) => sum + one, 0) === workspaces.length &&
            counts.every((one) => Math.abs(one - even) <= Math.max(1, even / 10))
          )
        },
        withinMs,
      ),
    untilKept: (withinMs: number) =>
      until('each has had a cycle', async () => (await keptSince(state, 0)).size >= workspaces.length, withinMs),
    /** Since they were asked for last. */
    statements: () => statements(state),
    serverCpuMs: () => serverCpuMs(postmaster),
    async serviceCpuMs() {
      const { user, system } = await service.ask<NodeJS.CpuUsage>('cpu')
      return (user + system) / 1000
    },
    drift: (): Promise<void> => service.ask('drift', workspaces),
    drifted: (): Promise<number> => service.ask('drifted', workspaces),
    async stop() {
      await Promise.all(replicas.map((one) => one.stop()))
      await eye.end()
    },
  }
}

async function statements({ server, ledger }: State): Promise<{ readonly ofCycles: number; readonly ofLeases: number }> {
  const found = await server.sql(
    'postgres',
    `SELECT query, calls FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '${ledger.split('/').at(-1)}') ORDER BY calls DESC`,
  )
  await server.sql('postgres', 'SELECT pg_stat_statements_reset()')
  let [ofCycles, ofLeases] = [0, 0]
  for (const { query, calls } of found) {
    const isOfLeases = OF_LEASES.some((part) => String(query).includes(part))
    if (isOfLeases) ofLeases += Number(calls)
    else ofCycles += Number(calls)
    if (process.env['BENCH_LOG']) console.error(`${calls} ${String(query).replaceAll(/\s+/g, ' ').slice(0, 110)}`)
  }
  return { ofCycles, ofLeases }
}

/** Holders by workspace, as far as their leases last. */
async function holders({ eye, workspaces }: State): Promise<ReadonlyMap<string, string>> {
  const { rows } = await eye.query<{ workspace: string; pid: string }>(
    `SELECT lease.workspace, split_part(replica.name, ':', -1) AS pid FROM capkeeper.lease JOIN capkeeper.replica ON replica.id = lease.holder
     WHERE lease.until > clock_timestamp()`,
  )
  const ours = new Set(workspaces)
  return new Map(rows.flatMap(({ workspace, pid }) => (ours.has(workspace) ? [[workspace, pid] as const] : [])))
}

async function held(state: State): Promise<readonly number[]> {
  const all = [...(await holders(state).catch(() => new Map<string, string>())).values()]
  return state.replicas.map(({ pid }) => all.filter((one) => one === String(pid)).length)
}

/** Workspaces that had a cycle after that, at a replica that lives. */
async function keptSince({ replicas }: State, since: number): Promise<ReadonlySet<string>> {
  const all = await Promise.all(replicas.map((one) => one.endedAt()))
  return new Set(all.flatMap((one) => Object.entries(one).flatMap(([workspace, at]) => (at > since ? [workspace] : []))))
}

async function end(state: State, signal: 'SIGTERM' | 'SIGKILL'): Promise<Ended> {
  const one = state.replicas.at(-1)
  if (!one) throw new Error('no replica runs')
  const its = [...(await holders(state))].flatMap(([workspace, pid]) => (pid === String(one.pid) ? [workspace] : []))
  const [begun, begunAt] = [performance.now(), Date.now()]
  process.kill(one.pid, signal)
  state.replicas.pop()
  const freeSince = new Map<string, number>()
  const left = new Set(its)
  let longestFreeMs = 0
  while (left.size > 0) {
    const now = await holders(state)
    const at = performance.now()
    for (const workspace of left) {
      const holder = now.get(workspace)
      if (holder === undefined && !freeSince.has(workspace)) freeSince.set(workspace, at)
      if (holder === undefined || holder === String(one.pid)) continue
      longestFreeMs = Math.max(longestFreeMs, at - (freeSince.get(workspace) ?? at))
      left.delete(workspace)
    }
    if (performance.now() - begun > 120_000) throw new Error(`${left.size} workspaces are held by nobody`)
    await wait(LOOK_MS)
  }
  const heldMs = performance.now() - begun
  await until('each has had a cycle', async () => new Set(its).isSubsetOf(await keptSince(state, begunAt)), 120_000)
  return { count: its.length, heldMs, longestFreeMs, keptMs: performance.now() - begun }
}
