// G20: replicas on one PostgreSQL: what a cycle costs there and beside SQLite, what 1, 2 and 4 of them get done, how evenly they share, and how
// fast one that stops or dies is replaced. Argument: how many workspaces (default 1000); 100 take about two minutes.
import { setTimeout as wait } from 'node:timers/promises'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { until } from '../support/process.ts'
import { beside, judged, mib, ms, publish, type Row, seconds, told, within } from './bench.ts'
import { type Remote, startRemote } from './remote.ts'
import { configOf, namesOf } from './replicas/company.ts'
import { type Fleet, openFleet, type Replica, startReplica } from './replicas/fleet.ts'
import { openFolder } from './world.ts'

const COUNT = Number(process.argv[2] ?? 1000)
const PEOPLE = 18
const SCOPES = PEOPLE + 2
/** At rest: each workspace is read so often. */
const INTERVAL_S = Math.max(10, Math.round(COUNT / 12))
/** A first start asks for months of use of every workspace. */
const SETTLE_MS = 60_000 + COUNT * 1_500
const MOST_STATEMENTS = 6
const KEPT_AGAIN_MS = 30_000
const HANDED_OVER_MS = 1_000

const rows: Row[] = []
/** Each figure is also told at once: a run that is broken off leaves those that it had. */
function found(...more: readonly Row[]): void {
  rows.push(...more)
  for (const { figure, measured } of more) console.error(`${figure}: ${measured}`)
}

/** How far it has come: a run with 1,000 workspaces is long. */
const phase = (what: string): void => console.error(`${seconds(performance.now())}: ${what}`)

/** SQLite and PostgreSQL do the same work side by side. */
async function besideSqlite(fleet: Fleet, sqlite: Replica): Promise<void> {
  const [one] = fleet.replicas
  if (!one) throw new Error('no replica runs')
  await Promise.all([one.done(), sqlite.done()])
  await fleet.statements()
  const cpuBefore = fleet.serverCpuMs()
  await wait(2 * INTERVAL_S * 1000)
  const [here, there, statements] = await Promise.all([one.done(), sqlite.done(), fleet.statements()])
  const serverMs = fleet.serverCpuMs() - cpuBefore
  const each = statements.ofCycles / here.cycles
  found(
    beside(
      'G20',
      `no-op cycle of ${SCOPES} scopes: CPU, beside the SQLite ledger`,
      [here.cpuMs / here.cycles, there.cpuMs / there.cycles],
      1.3,
    ),
    within('G20', 'no-op cycle: statements, begin and commit counted', each, MOST_STATEMENTS, (count) => count.toFixed(2)),
    told('G20', 'no-op cycle: CPU of PostgreSQL', ms(serverMs / here.cycles)),
    told('G20', 'statements a second for leases, whatever there is to do', (statements.ofLeases / (2 * INTERVAL_S)).toFixed(1)),
    beside('G20', `resident memory with ${COUNT} workspaces, beside the SQLite ledger`, [here.rssKib, there.rssKib], undefined, mib),
  )
}

async function intents(fleet: Fleet): Promise<void> {
  for (const one of fleet.replicas) await one.done()
  await fleet.drift()
  const durable: number[] = []
  await until('the foreign changes are put right', async () => (await fleet.drifted()) === 0, 3 * INTERVAL_S * 1000 + 60_000)
  for (const one of fleet.replicas) durable.push(...(await one.done()).intents)
  const sorted = durable.toSorted((a, b) => a - b)
  const at = (part: number): string => ms(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN)
  found(told('G20', `intent, from its sending until it is durable: median, p99 of ${sorted.length}`, `${at(0.5)}, ${at(0.99)}`))
}

async function spreading(fleet: Fleet, to: number): Promise<void> {
  const begun = performance.now()
  while (fleet.replicas.length < to) await fleet.add()
  await fleet.untilSpread(SETTLE_MS)
  const tookMs = performance.now() - begun
  const held = await fleet.held()
  const even = COUNT / held.length
  const off = Math.max(...held.map((count) => Math.abs(count - even))) / even
  const figure = `${to} replicas: workspaces held by each, ${seconds(tookMs)} after the start of the last`
  found(judged('G20', figure, 'within 10 %', held.join(', '), off <= 0.1, 1 + off))
}

async function handOver(fleet: Fleet): Promise<void> {
  await wait(5_000)
  const stopped = await fleet.end('SIGTERM')
  found(
    within('G20', `SIGTERM of one of 4: until others hold its ${stopped.count} workspaces`, stopped.heldMs, HANDED_OVER_MS, seconds),
    told('G20', 'the same: longest time that one of them was nobody’s', seconds(stopped.longestFreeMs)),
  )
  await fleet.add()
  await fleet.untilSpread(SETTLE_MS)
  await wait(5_000)
  const killed = await fleet.end('SIGKILL')
  found(
    within('G20', `kill -9 of one of 4: until others hold its ${killed.count} workspaces`, killed.heldMs, KEPT_AGAIN_MS, seconds),
    within('G20', 'the same: until each had its first cycle there', killed.keptMs, KEPT_AGAIN_MS, seconds),
  )
}

/** After a first start months of use are asked for, beside the cycles. */
async function untilQuiet(service: Remote): Promise<void> {
  const ofUse = async (): Promise<number> => (await service.ask<{ readonly ofUse: number }>('counts')).ofUse
  for (let [before, now] = [-1, await ofUse()]; before !== now; now = await ofUse()) {
    before = now
    await wait(5_000)
  }
}

/** As much as they can: every workspace is always due. */
async function flatOut(fleet: Fleet, replicas: number): Promise<void> {
  while (fleet.replicas.length < replicas) await fleet.add()
  await fleet.untilSpread(SETTLE_MS)
  for (const one of fleet.replicas) await one.done()
  const serviceBefore = await fleet.serviceCpuMs()
  const serverBefore = fleet.serverCpuMs()
  const begun = performance.now()
  await wait(Math.min(60_000, 10_000 + COUNT * 30))
  const passedMs = performance.now() - begun
  const done = await Promise.all(fleet.replicas.map((one) => one.done()))
  const cycles = done.reduce((sum, one) => sum + one.cycles, 0)
  const cpuMs = done.reduce((sum, one) => sum + one.cpuMs, 0)
  const part = (usedMs: number): string => `${Math.round((100 * usedMs) / passedMs)} %`
  const shares = `${part(cpuMs)}, ${part(fleet.serverCpuMs() - serverBefore)}, ${part((await fleet.serviceCpuMs()) - serviceBefore)}`
  found(
    told('G20', `${replicas} flat out: cycles a second; CPU a cycle`, `${((1000 * cycles) / passedMs).toFixed(1)}; ${ms(cpuMs / cycles)}`),
    told('G20', 'the same: a core’s share of replicas, PostgreSQL, service', shares),
  )
}

async function main(): Promise<void> {
  const folder = openFolder()
  const server = await startPostgres({ fsync: 'on', max_connections: '100', shared_preload_libraries: 'pg_stat_statements' })
  const service = await startRemote('replicas/service.ts', [String(PEOPLE)])
  try {
    const url = await service.ask<string>('url')
    const ledger = await server.create()
    const settings = { url, people: PEOPLE, interval: `${INTERVAL_S}s` }
    const workspaces = namesOf('p', COUNT)
    const config = configOf(folder, { ...settings, name: 'postgres', ledger, workspaces })
    const other = configOf(folder, { ...settings, name: 'sqlite', ledger: `${folder.path}/ledger.db`, workspaces: namesOf('s', COUNT) })
    phase('first cycles of all, on PostgreSQL and on SQLite')
    const fleet = await openFleet({ server, service, config, ledger, workspaces })
    const sqlite = await startReplica(other)
    await fleet.add()
    await fleet.untilSpread(SETTLE_MS)
    await Promise.all([fleet.untilKept(SETTLE_MS), sqlite.untilKept(COUNT, SETTLE_MS)])
    phase('until no use is asked for')
    await untilQuiet(service)
    phase('cycles beside SQLite')
    await besideSqlite(fleet, sqlite)
    await sqlite.stop()
    phase('foreign changes')
    await intents(fleet)
    phase('2 and 4 replicas')
    for (const replicas of [2, 4]) await spreading(fleet, replicas)
    phase('hand-over')
    await handOver(fleet)
    phase('flat out')
    await fleet.stop()
    const busy = await openFleet({
      server,
      service,
      config: configOf(folder, { ...settings, name: 'busy', ledger, workspaces, interval: '1s' }),
      ledger,
      workspaces,
    })
    for (const replicas of [1, 2, 4]) await flatOut(busy, replicas)
    await busy.stop()
  } finally {
    await service.stop()
    await server.remove()
  }
  publish(`Replicas, ${COUNT} workspaces of ${SCOPES} scopes each`, rows)
}

if (hasPostgres) await main()
else console.log('replicas: PostgreSQL is not installed here')
