// G1 to G4: the daemon over 1,000 scopes at 20 ms, beside a plain loop over the same calls. Service, daemon and loop are processes of their
// own; daemon and loop take turns.
import type { Call } from './bare.ts'
import { beside, exactly, median, mib, ms, publish, ROUNDS, type Row, seconds, told, within } from './bench.ts'
import type { CycleCost } from './daemon.ts'
import { type Cost, type Remote, startRemote } from './remote.ts'
import type { Counts, Place } from './service.ts'
import { configOf, type Declared, declaredAt, openFolder, policyOf } from './world.ts'

const SCOPES = 1000
const LATENCY_MS = 20
const CONCURRENCY = 8
const DRIFTED = 50
/** More than the interval with its jitter. */
const INTERVAL_MS = 6 * 60_000
/** A daemon runs for months: its code has long been compiled. */
const WARM_UPS = 3
const LONE_CALLS = 50

interface Parts {
  readonly service: Remote
  readonly place: Place
  readonly declared: readonly Declared[]
}

const reads = (counts: Counts): number => counts['GetUsageConfig'] ?? 0
const writes = (counts: Counts): number => counts['UsageConfig'] ?? 0
const total = (counts: Counts): number => Object.values(counts).reduce((sum, one) => sum + one, 0)

const scopeOf = (key: string): Call['body'] => {
  if (key === 'team') return { team_level: true }
  return key.startsWith('group:') ? { group_id: key.slice(6) } : { user_email: key }
}

const readCalls = (declared: readonly Declared[]): readonly Call[] =>
  declared.map(({ key }) => ({ operation: 'GetUsageConfig', body: scopeOf(key) }))

const writeCalls = (declared: readonly Declared[]): readonly Call[] =>
  declared.map(({ key, cap }) => ({ operation: 'UsageConfig', body: { ...scopeOf(key), set_add_on_credit_cap: cap } }))

const startDaemon = ({ place, declared }: Parts): Promise<Remote> =>
  startRemote('daemon.ts', ['run', '--config', configOf(place, openFolder(), policyOf(place, declared)), '--log-format', 'json'])

/** From nothing set to everything as declared, beside a loop that reads, writes and reads back. The past of people is read at the same time. */
async function firstRows(parts: Parts, loop: Remote): Promise<readonly Row[]> {
  const { service, declared } = parts
  await service.ask('clear')
  const daemon = await startDaemon(parts)
  await service.ask<Counts>('counts')
  const ours = await daemon.ask<CycleCost>('start')
  const counts = await service.ask<Counts>('counts')
  await daemon.stop()
  await service.ask('clear')
  const bare = await loop.ask<Cost>('run', [...readCalls(declared), ...writeCalls(declared), ...readCalls(declared)])
  return [
    exactly('G2', `first convergence of ${SCOPES} scopes: writes`, writes(counts), SCOPES),
    within('G2', 'first convergence: calls in all', total(counts), 3.1 * SCOPES, String),
    beside('G3', 'first convergence: seconds, beside read + write + read back', [ours.totalMs, bare.wallMs], 1.15, seconds),
    beside('G4', 'first convergence: CPU with start-up, beside the same', [ours.cpuMs, bare.cpuMs]),
    told('G4', 'first convergence: peak memory of the daemon', mib(ours.peakKib)),
  ]
}

async function quietRows(parts: Parts, daemon: Remote, loop: Remote): Promise<readonly Row[]> {
  const { service, declared } = parts
  const calls = readCalls(declared)
  const rounds: { daemon: CycleCost; loop: Cost; counts: Counts }[] = []
  for (let round = 0; round < WARM_UPS; round += 1) {
    await daemon.ask('sweep', INTERVAL_MS)
    await loop.ask('run', calls)
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await service.ask('counts')
    const cost = await daemon.ask<CycleCost>('sweep', INTERVAL_MS)
    const counts = await service.ask<Counts>('counts')
    rounds.push({ daemon: cost, loop: await loop.ask<Cost>('run', calls), counts })
  }
  const lone = await loop.ask<Cost>('alone', calls.slice(0, LONE_CALLS))
  const seenMs = lone.wallMs / LONE_CALLS
  const of = (figure: (round: (typeof rounds)[number]) => number): number => median(rounds.map(figure))
  const [wall, bareWall] = [of((one) => one.daemon.totalMs), of((one) => one.loop.wallMs)]
  const idealMs = (latencyMs: number): number => (SCOPES * latencyMs) / CONCURRENCY
  const most = (figure: (counts: Counts) => number): number => Math.max(...rounds.map((one) => figure(one.counts)))
  const others = most((counts) => total(counts) - reads(counts) - writes(counts))
  return [
    exactly('G1', 'no-op cycle: cap reads', most(reads), SCOPES),
    exactly('G1', 'no-op cycle: writes', most(writes), 0),
    within('G1', 'no-op cycle: other calls', others, 2, String),
    beside('G3', 'no-op cycle: seconds, beside calls x latency / concurrency', [wall, idealMs(LATENCY_MS)], 1.1, seconds),
    beside('G3', `the same with the ${ms(seenMs)} that a lone call takes`, [wall, idealMs(seenMs)], undefined, seconds),
    beside('G3', 'the same, beside the bare loop', [wall, bareWall], undefined, seconds),
    beside('G4', 'no-op cycle: CPU, beside the bare loop', [of((one) => one.daemon.cpuMs), of((one) => one.loop.cpuMs)], 1.2),
    told('G4', 'peak memory: daemon / bare loop', `${mib(of((one) => one.daemon.peakKib))} / ${mib(of((one) => one.loop.peakKib))}`),
  ]
}

async function driftRows({ service, declared, place }: Parts, daemon: Remote): Promise<readonly Row[]> {
  const drifted = declared.filter(({ key }) => key.includes('@')).slice(0, DRIFTED)
  await service.ask(
    'drift',
    drifted.map(({ key }) => key),
  )
  await service.ask('counts')
  await daemon.ask('sweep', INTERVAL_MS)
  const users = await service.ask<Counts>('counts')
  await service.ask('drift', [`group:${place.groups[0]?.id}`])
  await service.ask('counts')
  await daemon.ask('sweep', INTERVAL_MS)
  const group = await service.ask<Counts>('counts')
  return [
    exactly('G2', `${DRIFTED} people drifted: writes`, writes(users), DRIFTED),
    within('G2', `${DRIFTED} people drifted: extra reads`, reads(users) - SCOPES, 2 * DRIFTED, String),
    exactly('G2', '1 group drifted: writes', writes(group), 1),
    told('G2', '1 group drifted: extra reads, members with caps of their own included', String(reads(group) - SCOPES)),
  ]
}

const service = await startRemote('service.ts', [LATENCY_MS, 1060, 9].map(String))
const place = await service.ask<Place>('place')
const parts: Parts = { service, place, declared: declaredAt(place, SCOPES) }
const loop = await startRemote('bare.ts', [place.url, place.key, String(CONCURRENCY)])
try {
  const first = await firstRows(parts, loop)
  const daemon = await startDaemon(parts)
  await daemon.ask('start')
  const quiet = await quietRows(parts, daemon, loop)
  const drift = await driftRows(parts, daemon)
  await daemon.stop()
  publish(`Cycles: ${SCOPES} scopes, ${LATENCY_MS} ms, ${CONCURRENCY} at once, the no-op cycle as median of ${ROUNDS}`, [
    ...first,
    ...quiet,
    ...drift,
  ])
} finally {
  await loop.stop()
  await service.stop()
}
