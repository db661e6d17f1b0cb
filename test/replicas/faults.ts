// What befalls the replicas of the check: pauses, deaths, cuts, a database that fails in its ways, clocks that jump, policies that lag. Each kind says from
// when on every workspace has to be kept again. It never judges.
import { hasSmallDisk, until } from './database.ts'
import type { LinkMode } from './link.ts'
import type { Loss } from './network.ts'
import { canMoveClocks, type Replica } from './replica.ts'
import type { Arrival } from './service.ts'
import { now } from './time.ts'
import { capsShown, type World } from './world.ts'

export type Roll = () => number

export interface Course {
  /** Every workspace is kept again within 30 s of this; per workspace where it differs. */
  readonly sinceAt: number
  readonly later?: ReadonlyMap<string, number>
  /** With a write in doubt: its successor waits until that must have landed. */
  readonly doubted?: string
  /** What was seen that must not be. */
  readonly wrong?: readonly string[]
}

export interface FaultKind {
  readonly name: string
  /** Why it cannot be had here. */
  readonly lacks?: string
  /** It happens only to replicas with networks of their own. */
  readonly needsNetworks?: true
  run(world: World, roll: Roll): Promise<Course>
}

/** Longer than a lease. */
const long = (roll: Roll): number => 20_000 + roll() * 6_000
const pick = <T>(from: readonly T[], roll: Roll): T => {
  const found = from[Math.floor(roll() * from.length)]
  if (found === undefined) throw new Error('there is nothing to choose from')
  return found
}

/** Something happens to a replica, and is over. */
function noted(world: World, { place }: Replica, fromAt = now()): { over(): void } {
  const trouble = { place, fromAt, untilAt: Number.POSITIVE_INFINITY }
  world.troubles.push(trouble)
  return { over: () => void Object.assign(trouble, { untilAt: now() }) }
}

const notedAll = (world: World): { over(): void } => {
  const all = world.replicas.map((one) => noted(world, one))
  return {
    over() {
      for (const one of all) one.over()
    },
  }
}

const othersOf = ({ workspaces }: World, ...names: readonly string[]): readonly string[] => workspaces.filter((one) => !names.includes(one))

function victimIn(world: World, roll: Roll): Replica {
  return pick(
    world.replicas.filter((one) => world.heldBy(one).length > 0),
    roll,
  )
}

/** A write of a workspace is held up by its service, and has come. */
async function midWrite(
  world: World,
  roll: Roll,
  holdUp: { beforeMs?: number; afterMs?: number },
): Promise<{ write: Arrival; victim: Replica }> {
  const workspace = pick(world.workspaces, roll)
  const came = world.service.nextWrite(workspace, holdUp)
  world.foreign(workspace)
  const write = await Promise.race([came, world.rest(15_000).then(() => undefined)])
  const victim = write?.sender === undefined ? undefined : world.replicas[write.sender]
  if (!write || !victim) throw new Error(`${workspace}: no write came within 15 s`)
  return { write, victim }
}

const healed = (world: World, withinMs = 60_000): Promise<void> =>
  until('all is healed', () => world.workspaces.every((name) => world.service.capOf(name) === world.cap()), withinMs)

/** A page of a replica that cannot record anything: not ready, and the last state. */
async function looksAway(world: World, replica: Replica, isAway: boolean): Promise<readonly string[]> {
  const ready = await replica.get('/readyz')
  const status = await replica.get('/status')
  const wrong: string[] = []
  if (ready?.status !== (isAway ? 503 : 200))
    wrong.push(`/readyz of replica ${replica.place} answers ${ready?.status}: ${ready?.text.slice(0, 200)}`)
  const caps = capsShown(status?.text)
  if (status?.status !== 200 || caps < world.workspaces.length) {
    wrong.push(`/status of replica ${replica.place} does not show the last state: ${status?.status}, ${caps} caps`)
  }
  const page = await replica.get('/')
  if (page?.status !== 200 || !page.text.includes('w0')) wrong.push(`/ of replica ${replica.place} answers ${page?.status}`)
  return wrong
}

async function pause(world: World, victim: Replica, ms: number, fromAt = now()): Promise<void> {
  const trouble = noted(world, victim, fromAt)
  victim.signal('SIGSTOP')
  await world.rest(ms)
  victim.signal('SIGCONT')
  trouble.over()
}

const standstill: FaultKind = {
  name: 'holder stopped for longer than its lease',
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const sinceAt = now()
    const over = pause(world, victim, long(roll))
    await world.rest(roll() * 1_000)
    world.foreign(...world.workspaces)
    await over
    world.foreign(...world.workspaces.filter(() => roll() < 0.5))
    return { sinceAt }
  },
}

const standstillMidWrite: FaultKind = {
  name: 'holder stopped in the middle of a write',
  async run(world, roll) {
    const { write, victim } = await midWrite(world, roll, roll() < 0.5 ? { afterMs: 2_000 } : { beforeMs: roll() * 4_000 })
    const sinceAt = now()
    const over = pause(world, victim, long(roll), write.sentAt)
    world.foreign(...othersOf(world, write.workspace))
    await over
    return { sinceAt, doubted: write.workspace }
  },
}

/** What has come meanwhile may be taken up before any timer: a write must not leave then. */
const standstillConnecting: FaultKind = {
  name: 'holder stopped while it connects for a write',
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const workspace = pick(world.heldBy(victim), roll)
    victim.services.slow(1_500)
    world.service.endConnections(true)
    await world.rest(2_000)
    world.foreign(workspace)
    const isOpen = async (): Promise<boolean> => (await world.database.sql('SELECT id FROM capkeeper.intent')).length > 0
    await until(`${workspace} has an open intent`, isOpen)
    await world.rest(roll() * 1_200)
    const sinceAt = now()
    const over = pause(world, victim, long(roll))
    victim.services.slow(0)
    world.service.endConnections(false)
    world.foreign(...othersOf(world, workspace))
    await over
    return { sinceAt, doubted: workspace }
  },
}

const lateLanding: FaultKind = {
  name: 'a write lands after its lease, policies changed meanwhile',
  async run(world, roll) {
    const { write, victim } = await midWrite(world, roll, { beforeMs: 42_000 })
    const sinceAt = now()
    const isDeath = roll() < 0.3
    const trouble = noted(world, victim, write.sentAt)
    victim.signal(isDeath ? 'SIGKILL' : 'SIGSTOP')
    world.newPolicies()
    world.foreign(...othersOf(world, write.workspace))
    await healed(world)
    const landed = until('the late write lands', () => write.landedAt !== undefined, 60_000)
    if (!isDeath && roll() < 0.5) victim.signal('SIGCONT')
    await landed
    await healed(world)
    if (isDeath) await victim.start()
    else victim.signal('SIGCONT')
    trouble.over()
    return { sinceAt, doubted: write.workspace }
  },
}

const death = (name: string, isMidWrite: boolean): FaultKind => ({
  name,
  async run(world, roll) {
    const begun = isMidWrite ? await midWrite(world, roll, roll() < 0.5 ? { afterMs: 1_000 } : { beforeMs: 1_000 }) : undefined
    const victim = begun?.victim ?? victimIn(world, roll)
    const sinceAt = now()
    const trouble = noted(world, victim, begun?.write.sentAt ?? sinceAt)
    victim.signal('SIGKILL')
    world.foreign(...othersOf(world, begun?.write.workspace ?? ''))
    await healed(world)
    await victim.start()
    trouble.over()
    return { sinceAt, ...(begun && { doubted: begun.write.workspace }) }
  },
})

const stopping: FaultKind = {
  name: 'SIGTERM',
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const sinceAt = now()
    const trouble = noted(world, victim)
    victim.signal('SIGTERM')
    world.foreign(...world.workspaces)
    const wrong: string[] = []
    await healed(world)
    // Nothing has to end first but a write in flight.
    if (now() - sinceAt > 12_000) wrong.push(`handed over after ${now() - sinceAt} ms`)
    await victim.ended()
    await victim.start()
    trouble.over()
    return { sinceAt, wrong }
  },
}

const cutFromDatabase = (mode: LinkMode, what: string): FaultKind => ({
  name: `holder ${what} from the database`,
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const sinceAt = now()
    const trouble = noted(world, victim)
    victim.database.set(mode)
    world.foreign(...world.workspaces)
    await world.rest(14_000)
    const wrong = [...(await looksAway(world, victim, true))]
    for (const one of world.replicas) if (one !== victim) wrong.push(...(await looksAway(world, one, false)))
    await world.rest(long(roll) - 14_000)
    victim.database.set('open')
    trouble.over()
    return { sinceAt, wrong }
  },
})

const cutFromService = (mode: LinkMode, what: string): FaultKind => ({
  name: `holder ${what} from the service`,
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const names = world.heldBy(victim)
    const sinceAt = now()
    const trouble = noted(world, victim)
    victim.services.set(mode)
    world.foreign(...world.workspaces)
    await world.rest(long(roll))
    victim.services.set('open')
    trouble.over()
    return { sinceAt, later: new Map(names.map((name) => [name, now()])) }
  },
})

const cutFromBoth = (mode: LinkMode, what: string, isMidWrite: boolean): FaultKind => ({
  name: `holder ${what} from both${isMidWrite ? ', a write on its way' : ''}`,
  async run(world, roll) {
    const begun = isMidWrite ? await midWrite(world, roll, { beforeMs: 500, afterMs: 500 }) : undefined
    const victim = begun?.victim ?? victimIn(world, roll)
    const sinceAt = now()
    const trouble = noted(world, victim, begun?.write.sentAt ?? sinceAt)
    victim.services.set(mode)
    victim.database.set(mode)
    world.foreign(...othersOf(world, begun?.write.workspace ?? ''))
    await world.rest(long(roll) + 4_000)
    victim.services.set('open')
    victim.database.set('open')
    trouble.over()
    return { sinceAt, ...(begun && { doubted: begun.write.workspace }) }
  },
})

/** Where packets of a replica get lost. */
type Way = 'database' | 'services'

/** In the kernel, with nobody told: what was lost is sent again when the way opens, also by connections that the process has given up. */
const packetsLost = (ways: readonly Way[], loss: Loss, isMidWrite = false): FaultKind => ({
  name: `${loss === 'all' ? 'packets' : 'answers'} lost between a holder and its ${ways.join(' and ')}${isMidWrite ? ', a write on its way' : ''}`,
  needsNetworks: true,
  async run(world, roll) {
    const begun = isMidWrite ? await midWrite(world, roll, { beforeMs: roll() * 1_000, afterMs: roll() * 1_000 }) : undefined
    const victim = begun?.victim ?? victimIn(world, roll)
    const names = world.heldBy(victim)
    const sinceAt = now()
    const trouble = noted(world, victim, begun?.write.sentAt ?? sinceAt)
    victim.network.lose(
      ways.map((way) => victim[way].port),
      loss,
    )
    world.foreign(...othersOf(world, begun?.write.workspace ?? ''))
    await world.rest(14_000)
    const wrong = ways.includes('database') ? await looksAway(world, victim, true) : []
    await world.rest(long(roll) - 14_000)
    victim.network.lose([])
    const overAt = now()
    trouble.over()
    // Who still has the database keeps its workspaces, and the service away.
    const later = ways.includes('database') ? undefined : new Map(names.map((name) => [name, overAt]))
    return { sinceAt, wrong, ...(later && { later }), ...(begun && { doubted: begun.write.workspace }) }
  },
})

const restarted: FaultKind = {
  name: 'database restarted at once (immediate)',
  async run(world, roll) {
    const trouble = notedAll(world)
    const over = world.database.restart(roll() < 0.5 ? 0 : roll() * 20_000)
    world.foreign(...world.workspaces)
    await over
    trouble.over()
    return { sinceAt: now() }
  },
}

const failedOver = (name: string, lostMs: number): FaultKind => ({
  name,
  async run(world, roll) {
    const trouble = notedAll(world)
    const over = world.database.failOver(lostMs * (0.3 + roll()))
    world.foreign(...world.workspaces)
    await world.rest(roll() * 2_000)
    world.foreign(...world.workspaces)
    const sinceAt = await over
    world.foreign(...world.workspaces)
    trouble.over()
    return { sinceAt }
  },
})

/** The database does not serve anybody for a while. */
const withoutDatabase = (name: string, begin: (world: World, ms: number) => Promise<() => Promise<void>>, lacks?: string): FaultKind => ({
  name,
  ...(lacks !== undefined && { lacks }),
  async run(world, roll) {
    const ms = long(roll)
    const trouble = notedAll(world)
    const end = await begin(world, ms)
    await world.rest(500)
    world.foreign(...world.workspaces)
    await world.rest(15_000)
    const wrong = (await Promise.all(world.replicas.map((one) => looksAway(world, one, true)))).flat()
    await world.rest(ms - 15_000)
    await end()
    trouble.over()
    return { sinceAt: now(), wrong }
  },
})

const limited = withoutDatabase('database at its connection limit', async ({ database }) => {
  await database.sql('ALTER DATABASE ledger CONNECTION LIMIT 0')
  await database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'")
  return async () => void (await database.sql('ALTER DATABASE ledger CONNECTION LIMIT -1'))
})

const full: FaultKind = {
  ...withoutDatabase('database out of disk', async ({ database }) => {
    await database.fillDisk()
    // Whatever segments are left over are used up.
    for (let turn = 0; turn < 12; turn += 1) await database.sql('SELECT pg_switch_wal()').catch(() => undefined)
    return database.freeDisk
  }),
  ...(!hasSmallDisk && { lacks: 'a small disk, which only root can make' }),
}

const silent = withoutDatabase('database silent for all', async ({ replicas }) => {
  for (const { database } of replicas) database.set('held')
  return async () => {
    for (const { database } of replicas) database.set('open')
  }
})

const locked = (table: string): FaultKind => ({
  name: `a table of the database locked (${table})`,
  async run(world, roll) {
    const trouble = notedAll(world)
    const over = world.database.lock(table, long(roll) - 4_000)
    await world.rest(200)
    world.foreign(...world.workspaces)
    await over
    trouble.over()
    return { sinceAt: now() }
  },
})

const jump = (name: string, ms: readonly number[]): FaultKind => ({
  name,
  ...(!canMoveClocks && { lacks: 'libfaketime' }),
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const sinceAt = now()
    const trouble = noted(world, victim)
    victim.moveClock(pick(ms, roll))
    await world.rest(1_500)
    world.foreign(...world.workspaces)
    await world.rest(8_000 + roll() * 4_000)
    victim.moveClock(0)
    await world.rest(1_500)
    world.foreign(...world.workspaces)
    trouble.over()
    return { sinceAt }
  },
})

const laggingPolicies: FaultKind = {
  name: 'one replica has old policies',
  async run(world, roll) {
    const victim = victimIn(world, roll)
    const trouble = noted(world, victim)
    world.newPolicies(world.replicas.filter((one) => one !== victim))
    await world.rest(3_000)
    world.foreign(...world.workspaces)
    await world.rest(12_000)
    victim.policies(world.cap())
    trouble.over()
    return { sinceAt: now() }
  },
}

export const FAULTS: readonly FaultKind[] = [
  ...[standstill, standstillMidWrite, standstillConnecting, lateLanding],
  ...[death('kill -9', false), death('kill -9 in the middle of a write', true), stopping],
  ...[cutFromDatabase('held', 'held up'), cutFromDatabase('cut', 'cut off')],
  ...[cutFromService('held', 'held up'), cutFromService('cut', 'cut off'), cutFromService('deaf', 'without answers')],
  ...[cutFromBoth('held', 'held up', false), cutFromBoth('held', 'held up', true), cutFromBoth('cut', 'cut off', true)],
  ...[packetsLost(['database'], 'all'), packetsLost(['database'], 'answers'), packetsLost(['services'], 'all', true)],
  ...[packetsLost(['database', 'services'], 'all'), packetsLost(['database', 'services'], 'all', true)],
  ...[restarted, failedOver('failover to a copy', 0), failedOver('failover to a copy that lags', 3_000)],
  ...[full, limited, silent, locked('lease'), locked('intent')],
  ...[
    jump('clock of a holder jumps on', [15_000, 600_000, 3_600_000]),
    jump('clock of a holder jumps back', [-15_000, -600_000, -3_600_000]),
  ],
  laggingPolicies,
]
