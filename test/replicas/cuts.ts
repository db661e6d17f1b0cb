// Connections of a replica that fail: to the database, to the services or to both; held or cut by its links, or with packets lost in the
// kernel.
import { type FaultKind, fault, long, looksAway, midWrite, noted, othersOf, victimIn } from './course.ts'
import type { LinkMode } from './link.ts'
import type { Loss } from './network.ts'
import { now } from './time.ts'

const cutFromDatabase = (mode: LinkMode, what: string) =>
  fault(`holder ${what} from the database`, async (world, roll) => {
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
  })

const cutFromService = (mode: LinkMode, what: string) =>
  fault(`holder ${what} from the service`, async (world, roll) => {
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
  })

const cutFromBoth = (mode: LinkMode, what: string, isMidWrite: boolean) =>
  fault(`holder ${what} from both${isMidWrite ? ', a write on its way' : ''}`, async (world, roll) => {
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
  })

/** Where packets of a replica are lost. */
type Way = 'database' | 'services'

/** Silently, in the kernel: lost packets are sent again when the filter ends, also by connections that the process has given up. */
const packetsLost = (ways: readonly Way[], loss: Loss, isMidWrite = false) =>
  fault(
    `${loss === 'all' ? 'packets' : 'answers'} lost between a holder and its ${ways.join(' and ')}${isMidWrite ? ', a write on its way' : ''}`,
    async (world, roll) => {
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
      // A replica that still reaches the database keeps its workspaces, although it does not reach the service.
      const later = ways.includes('database') ? undefined : new Map(names.map((name) => [name, overAt]))
      return { sinceAt, wrong, ...(later && { later }), ...(begun && { doubted: begun.write.workspace }) }
    },
    { needsNetworks: true },
  )

export const CUTS: readonly FaultKind[] = [
  ...[cutFromDatabase('held', 'held up'), cutFromDatabase('cut', 'cut off')],
  ...[cutFromService('held', 'held up'), cutFromService('cut', 'cut off'), cutFromService('deaf', 'without answers')],
  ...[cutFromBoth('held', 'held up', false), cutFromBoth('held', 'held up', true), cutFromBoth('cut', 'cut off', true)],
  ...[packetsLost(['database'], 'all'), packetsLost(['database'], 'answers'), packetsLost(['services'], 'all', true)],
  ...[packetsLost(['database', 'services'], 'all'), packetsLost(['database', 'services'], 'all', true)],
]
