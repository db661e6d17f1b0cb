// G1 to G4: the daemon over 1,000 scopes at 20 ms, beside a plain loop over the same calls. Service, daemon and loop are processes of their
// own; daemon and loop take turns.
import type { Call } from './bare.ts'
import { atMost, exactly, median, mib, ms, publish, ROUNDS, type Row, seconds, told } from './bench.ts'
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
/** Counts are exact and no goal is set for the seconds: once is enough. */
const FIRST_ROUNDS = 1
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

async function startDaemon({ place, declared }: Parts): Promise<{ daemon: Remote; remove: () => Promise<void> }> {
  const folder = openFolder()
  const config = configOf(place, folder, policyOf(place, declared))
  const daemon = await startRemote('daemon.ts', ['run', '--config', config, '--log-format', 'json'])
  const remove = async (): Promise<void> => {
    await daemon.stop()
    folder.remove()
  }
  return { daemon, remove }
}

/** From nothing set to everything as declared, beside a loop that reads, writes and reads back. */
async function firstConvergence(parts: Parts, loop: Remote) {
  const { service, declared } = parts
  const rounds: { daemon: CycleCost; loop: Cost; counts: Counts }[] = []
  for (let round = 0; round < FIRST_ROUNDS; round += 1) {
    await service.ask('clear')
    const { daemon, remove } = await startDaemon(parts)
    await service.ask<Counts>('counts')
    const cost = await daemon.ask<CycleCost>('start')
    const counts = await service.ask<Counts>('counts')
    await remove()
    await service.ask('clear')
    const floor = await loop.ask<Cost>('run', [...readCalls(declared), ...writeCalls(declared), ...readCalls(declared)])
    rounds.push({ daemon: cost, loop: floor, counts })
  }
  return rounds
}

const of = <T>(rounds: readonly T[], figure: (round: T) => number): number => median(rounds.map(figure))

async function firstRows(parts: Parts, loop: Remote): Promise<readonly Row[]> {
  const rounds = await firstConvergence(parts, loop)
  const counts = rounds[0]?.counts ?? {}
  const wall = of(rounds, (one) => one.daemon.totalMs)
  const cpu = of(rounds, (one) => one.daemon.cpuMs)
  const floorWall = of(rounds, (one) => one.loop.wallMs)
  const floorCpu = of(rounds, (one) => one.loop.cpuMs)
  return [
    exactly('G2', `first convergence of ${SCOPES} scopes: writes`, writes(counts), SCOPES),
    told('G2', 'first convergence: calls in all', `${total(counts)}`),
    told('G3', 'first convergence: seconds, beside read + write + read back', `${seconds(wall)} / ${seconds(floorWall)}`, wall / floorWall),
    told('G4', 'first convergence: CPU with start-up, beside the same', `${ms(cpu)} / ${ms(floorCpu)}`, cpu / floorCpu),
    told('G4', 'first convergence: peak memory of the daemon', mib(of(rounds, (one) => one.daemon.peakKib))),
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
  const idealMs = (SCOPES * LATENCY_MS) / CONCURRENCY
  const wall = of(rounds, (one) => one.daemon.totalMs)
  const floorWall = of(rounds, (one) => one.loop.wallMs)
  const cpu = of(rounds, (one) => one.daemon.cpuMs)
  const floorCpu = of(rounds, (one) => one.loop.cpuMs)
  const most = (figure: (counts: Counts) => number): number => Math.max(...rounds.map((one) => figure(one.counts)))
  return [
    exactly('G1', 'no-op cycle: cap reads', most(reads), SCOPES),
    exactly('G1', 'no-op cycle: writes', most(writes), 0),
    {
      ...exactly(
        'G1',
        'no-op cycle: other calls',
        most((counts) => total(counts) - reads(counts) - writes(counts)),
        0,
      ),
      limit: '<= 2',
    },
    atMost(
      'G3',
      'no-op cycle: seconds, beside calls x latency / concurrency',
      `${seconds(wall)} / ${seconds(idealMs)}`,
      wall / idealMs,
      1.1,
    ),
    told(
      'G3',
      `the same with the ${ms(seenMs)} that a lone call takes`,
      `${seconds(wall)} / ${seconds((SCOPES * seenMs) / CONCURRENCY)}`,
      (wall * CONCURRENCY) / (SCOPES * seenMs),
    ),
    told('G3', 'the same, beside the bare loop', `${seconds(wall)} / ${seconds(floorWall)}`, wall / floorWall),
    atMost('G4', 'no-op cycle: CPU, beside the bare loop', `${ms(cpu)} / ${ms(floorCpu)}`, cpu / floorCpu, 1.2),
    told(
      'G4',
      'peak memory: daemon / bare loop',
      `${mib(of(rounds, (one) => one.daemon.peakKib))} / ${mib(of(rounds, (one) => one.loop.peakKib))}`,
    ),
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
  const extra = reads(users) - SCOPES
  return [
    exactly('G2', `${DRIFTED} people drifted: writes`, writes(users), DRIFTED),
    { ...exactly('G2', `${DRIFTED} people drifted: extra reads`, extra, 0), limit: `<= ${2 * DRIFTED}`, met: extra <= 2 * DRIFTED },
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
  const { daemon, remove } = await startDaemon(parts)
  await daemon.ask('start')
  const quiet = await quietRows(parts, daemon, loop)
  const drift = await driftRows(parts, daemon)
  await remove()
  publish(`Cycles: ${SCOPES} scopes, ${LATENCY_MS} ms, ${CONCURRENCY} at once, the no-op cycle as median of ${ROUNDS}`, [
    ...first,
    ...quiet,
    ...drift,
  ])
} finally {
  await loop.stop()
  await service.stop()
}
