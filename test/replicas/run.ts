// Runs one fault after the other in one world, each judged when it has ended. Returns figures and violations; main.ts prints them.
import { stream } from '../../src/sandbox/company/company.ts'
import type { Course, FaultKind, Roll } from './course.ts'
import { lateLandings, type Violation, violationsOf } from './judge.ts'
import { now } from './time.ts'
import type { World } from './world.ts'

/** docs/replicas.md: a replica that dies is replaced within 30 s. */
const KEPT_WITHIN_MS = 30_000
/** Beyond the lease its successor waits for a write that may still land, and for the next sweep. */
const DOUBTED_WITHIN_MS = 40_000
const SETTLED_WITHIN_MS = 90_000
/** A late landing is reported with the sweep that finds it. */
const TOLD_WITHIN_MS = 5_000

export interface Judged {
  readonly kind: string
  readonly number: number
  readonly violations: readonly Violation[]
  /** The longest time that a workspace without a write in doubt was not kept. */
  readonly keptAgainMs: number
  /** How long a scope with a write in doubt was left alone; absent: there was none. */
  readonly doubtedMs?: number
  readonly late: number
  readonly writes: number
}

/** Faults drawn from a seed: each kind occurs once before any is repeated. */
export function drawn(kinds: readonly FaultKind[], seed: number, count: number): readonly FaultKind[] {
  const roll = stream(seed, 'kinds')
  const drawnKinds: FaultKind[] = []
  while (drawnKinds.length < count) {
    const round = kinds.map((kind) => ({ kind, place: roll() })).sort((a, b) => a.place - b.place)
    drawnKinds.push(...round.map(({ kind }) => kind))
  }
  return drawnKinds.slice(0, count)
}

export async function runFault(world: World, kind: FaultKind, number: number, roll: Roll): Promise<Judged> {
  const { service, audit, troubles, probes } = world
  await world.settled(SETTLED_WITHIN_MS)
  const [startAt, writesBefore] = [now(), service.arrivals.length]
  troubles.length = 0
  probes.length = 0
  const violations: Violation[] = []
  const course = await kind.run(world, roll).catch((error: unknown): Course => {
    violations.push({ rule: 'the fault runs its course', found: error instanceof Error ? error.message : String(error) })
    return { sinceAt: startAt }
  })
  service.forgetPlans()
  await world.settled(SETTLED_WITHIN_MS).catch((error: Error) => void violations.push({ rule: 'all is kept again', found: error.message }))
  await audit.read().catch(() => undefined)
  const late = lateLandings({ service, sinceAt: startAt })
  const isTold = (): boolean => world.replicas.some((one) => one.log(startAt).some((line) => line.includes('LATE_WRITE')))
  for (let waitedMs = 0; late.length > 0 && !isTold() && waitedMs < TOLD_WITHIN_MS; waitedMs += 500) await world.rest(500)
  if (late.length > 0 && !isTold()) violations.push({ rule: 'a late landing is told', found: `${late.length} were not` })
  violations.push(...violationsOf({ audit, service, placeOf: world.placeOf, troubles, sinceAt: startAt }))
  violations.push(...(course.wrong ?? []).map((found) => ({ rule: 'pages tell how things stand', found })))
  violations.push(...bugsIn(world, startAt))
  const [keptAgainMs, doubtedMs] = [keptAgain(world, course, false), keptAgain(world, course, true)]
  if (keptAgainMs > KEPT_WITHIN_MS) violations.push({ rule: 'kept again within 30 s', found: `after ${Math.round(keptAgainMs)} ms` })
  if (doubtedMs > DOUBTED_WITHIN_MS)
    violations.push({ rule: 'settled within 40 s where a write was in doubt', found: `after ${Math.round(doubtedMs)} ms` })
  return {
    kind: kind.name,
    number,
    violations,
    keptAgainMs,
    ...(course.doubted !== undefined && { doubtedMs }),
    late: late.length,
    writes: service.arrivals.length - writesBefore,
  }
}

/** How long after each foreign change, and after the fault allowed it, the change was reverted. */
function keptAgain({ probes, healedAt }: World, { sinceAt, later, doubted }: Course, isDoubted: boolean): number {
  return Math.max(
    0,
    ...probes.map((probe) => {
      if ((probe.workspace === doubted) !== isDoubted) return 0
      const fromAt = Math.max(probe.at, later?.get(probe.workspace) ?? sinceAt)
      const at = healedAt(probe)
      return at === undefined ? Number.POSITIVE_INFINITY : at - fromAt
    }),
  )
}

const bugsIn = ({ replicas }: World, sinceAt: number): readonly Violation[] =>
  replicas.flatMap((one) =>
    one
      .log(sinceAt)
      .filter((line) => /unexpected: |^\s+at /.test(line) && !line.startsWith('{"level":"info"'))
      .slice(0, 3)
      .map((line) => ({ rule: 'nothing unexpected in the log', found: `replica ${one.place}: ${line.slice(0, 300)}` })),
  )
