// The faults of the check: pauses, kills, cuts, failures of the database, clocks that jump, policies that lag. Each kind returns from when
// on every workspace has to be kept again. It never judges.

import { until } from '../support/process.ts'
import { type FaultKind, fault, healed, long, looksAway, midWrite, noted, notedAll, othersOf, pick, victimIn } from './course.ts'
import { CUTS } from './cuts.ts'
import { hasSmallDisk } from './database.ts'
import { canMoveClocks, type Replica } from './replica.ts'
import { now } from './time.ts'
import type { World } from './world.ts'

async function pause(world: World, victim: Replica, ms: number, fromAt = now()): Promise<void> {
  const trouble = noted(world, victim, fromAt)
  victim.signal('SIGSTOP')
  await world.rest(ms)
  victim.signal('SIGCONT')
  trouble.over()
}

const standstill = fault('holder stopped for longer than its lease', async (world, roll) => {
  const victim = victimIn(world, roll)
  const sinceAt = now()
  const over = pause(world, victim, long(roll))
  await world.rest(roll() * 1_000)
  world.foreign(...world.workspaces)
  await over
  world.foreign(...world.workspaces.filter(() => roll() < 0.5))
  return { sinceAt }
})

const standstillMidWrite = fault('holder stopped in the middle of a write', async (world, roll) => {
  const { write, victim } = await midWrite(world, roll, roll() < 0.5 ? { afterMs: 2_000 } : { beforeMs: roll() * 4_000 })
  const sinceAt = now()
  const over = pause(world, victim, long(roll), write.sentAt)
  world.foreign(...othersOf(world, write.workspace))
  await over
  return { sinceAt, doubted: write.workspace }
})

/** Messages that have arrived meanwhile may be handled before any timer: a write must not leave then. */
const standstillConnecting = fault('holder stopped while it connects for a write', async (world, roll) => {
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
})

const lateLanding = fault('a write lands after its lease, policies changed meanwhile', async (world, roll) => {
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
})

const death = (name: string, isMidWrite: boolean) =>
  fault(name, async (world, roll) => {
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
  })

const stopping = fault('SIGTERM', async (world, roll) => {
  const victim = victimIn(world, roll)
  const sinceAt = now()
  const trouble = noted(world, victim)
  victim.signal('SIGTERM')
  world.foreign(...world.workspaces)
  const wrong: string[] = []
  await healed(world)
  // Only a write in flight has to end first.
  if (now() - sinceAt > 12_000) wrong.push(`handed over after ${now() - sinceAt} ms`)
  await victim.ended()
  await victim.start()
  trouble.over()
  return { sinceAt, wrong }
})

const restarted = fault('database restarted at once (immediate)', async (world, roll) => {
  const trouble = notedAll(world)
  const over = world.database.restart(roll() < 0.5 ? 0 : roll() * 20_000)
  world.foreign(...world.workspaces)
  await over
  trouble.over()
  return { sinceAt: now() }
})

const failedOver = (name: string, lostMs: number) =>
  fault(name, async (world, roll) => {
    const trouble = notedAll(world)
    const over = world.database.failOver(lostMs * (0.3 + roll()))
    world.foreign(...world.workspaces)
    await world.rest(roll() * 2_000)
    world.foreign(...world.workspaces)
    const sinceAt = await over
    world.foreign(...world.workspaces)
    trouble.over()
    return { sinceAt }
  })

/** The database serves no client for a while. */
const withoutDatabase = (name: string, begin: (world: World, ms: number) => Promise<() => Promise<void>>) =>
  fault(name, async (world, roll) => {
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
  })

const limited = withoutDatabase('database at its connection limit', async ({ database }) => {
  await database.sql('ALTER DATABASE ledger CONNECTION LIMIT 0')
  await database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'")
  return async () => void (await database.sql('ALTER DATABASE ledger CONNECTION LIMIT -1'))
})

const full: FaultKind = {
  ...withoutDatabase('database out of disk', async ({ database }) => {
    await database.fillDisk()
    // The remaining segments are used up.
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

const locked = (table: string) =>
  fault(`a table of the database locked (${table})`, async (world, roll) => {
    const trouble = notedAll(world)
    const over = world.database.lock(table, long(roll) - 4_000)
    await world.rest(200)
    world.foreign(...world.workspaces)
    await over
    trouble.over()
    return { sinceAt: now() }
  })

const jump = (name: string, ms: readonly number[]) =>
  fault(
    name,
    async (world, roll) => {
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
    canMoveClocks ? {} : { lacks: 'libfaketime' },
  )

const laggingPolicies = fault('one replica has old policies', async (world, roll) => {
  const victim = victimIn(world, roll)
  const trouble = noted(world, victim)
  world.newPolicies(world.replicas.filter((one) => one !== victim))
  await world.rest(3_000)
  world.foreign(...world.workspaces)
  await world.rest(12_000)
  victim.policies(world.cap())
  trouble.over()
  return { sinceAt: now() }
})

export const FAULTS: readonly FaultKind[] = [
  ...[standstill, standstillMidWrite, standstillConnecting, lateLanding],
  ...[death('kill -9', false), death('kill -9 in the middle of a write', true), stopping],
  ...CUTS,
  ...[restarted, failedOver('failover to a copy', 0), failedOver('failover to a copy that lags', 3_000)],
  ...[full, limited, silent, locked('lease'), locked('intent')],
  ...[
    jump('clock of a holder jumps on', [15_000, 600_000, 3_600_000]),
    jump('clock of a holder jumps back', [-15_000, -600_000, -3_600_000]),
  ],
  laggingPolicies,
]
