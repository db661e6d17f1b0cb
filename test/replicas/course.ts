// Parts of all faults: a victim, a write under way, the notes of replicas in trouble, and the expected pages meanwhile. It never judges.

import { until } from '../support/process.ts'
import type { Replica } from './replica.ts'
import type { Arrival } from './service.ts'
import { now } from './time.ts'
import { capsShown, type World } from './world.ts'

export type Roll = () => number

export interface Course {
  /** Every workspace must be kept again within 30 s of this instant; by workspace where it differs. */
  readonly sinceAt: number
  readonly later?: ReadonlyMap<string, number>
  /** Workspaces with a write in doubt: the successor waits until it must have landed. */
  readonly doubted?: string
  /** Violations that were seen. */
  readonly wrong?: readonly string[]
}

export interface FaultKind {
  readonly name: string
  /** Why this machine cannot have the fault. */
  readonly lacks?: string
  /** The fault needs replicas with networks of their own. */
  readonly needsNetworks?: true
  run(world: World, roll: Roll): Promise<Course>
}

export const fault = (name: string, run: FaultKind['run'], needs: Pick<FaultKind, 'lacks' | 'needsNetworks'> = {}): FaultKind => ({
  ...{ name, run, ...needs },
})

/** Longer than a lease. */
export const long = (roll: Roll): number => 20_000 + roll() * 6_000
export const pick = <T>(from: readonly T[], roll: Roll): T => {
  const found = from[Math.floor(roll() * from.length)]
  if (found === undefined) throw new Error('there is nothing to choose from')
  return found
}

/** Something happens to a replica, and ends. */
export function noted(world: World, { place }: Replica, fromAt = now()): { over(): void } {
  const trouble = { place, fromAt, untilAt: Number.POSITIVE_INFINITY }
  world.troubles.push(trouble)
  return { over: () => void Object.assign(trouble, { untilAt: now() }) }
}

export const notedAll = (world: World): { over(): void } => {
  const all = world.replicas.map((one) => noted(world, one))
  return {
    over() {
      for (const one of all) one.over()
    },
  }
}

export const othersOf = ({ workspaces }: World, ...names: readonly string[]): readonly string[] =>
  workspaces.filter((one) => !names.includes(one))

export function victimIn(world: World, roll: Roll): Replica {
  return pick(
    world.replicas.filter((one) => world.heldBy(one).length > 0),
    roll,
  )
}

/** Resolves when a write of a workspace has reached its service, which holds it. */
export async function midWrite(
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

export const healed = (world: World, withinMs = 60_000): Promise<boolean> =>
  until('all is healed', () => world.workspaces.every((name) => world.service.capOf(name) === world.cap()), withinMs)

/** The page of a replica that cannot record anything: not ready, with the last state. */
export async function looksAway(world: World, replica: Replica, isAway: boolean): Promise<readonly string[]> {
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
