// Shared by all kinds of cases: how a case starts, and the switches of a healthy service.
import { checkEnd } from '../checks/end.ts'
import { checkNeed, checkOnce, checkReadBack, checkWay } from '../checks/steps.ts'
import type { Company } from '../company.ts'
import type { State } from '../model.ts'
import type { Ended } from '../program.ts'
import type { Random } from '../random.ts'
import { passing, writesOf } from '../service.ts'
import type { Run, World } from '../world.ts'

type Open = (company: Company, switches?: readonly string[]) => Promise<World>

/** One random case; it reports breaches to the world that it opened. */
export type Kind = (random: Random, open: Open) => Promise<void>

/** Switches under which every cap is kept per scope and reads show it. */
export function drawSwitches(random: Random): readonly string[] {
  const switches: string[] = []
  const maybe = (flag: string, ...values: readonly string[]): void => {
    if (random.chance(0.3)) switches.push(flag, random.pick(values))
  }
  maybe('--cap-spelling', 'snake', 'both')
  maybe('--write-body', 'empty')
  maybe('--names', 'live')
  maybe('--int64', 'string')
  maybe('--zeros', 'omitted')
  maybe('--errors', 'connect', 'text', 'ok')
  return switches
}

/** All checks of one `apply --yes` that ended with 0 on a healthy, layered service. */
export function checkDone(world: World, run: Run, start: State, expected: State, loose: ReadonlySet<string>): void {
  if (run.code !== 0) world.breach('One apply on a healthy service ends where the policy says, with 0', `exit ${run.code}: ${outcome(run)}`)
  else checkEnd(world, expected, loose, 'after apply with exit 0')
  checkWrites(world, run, start)
}

/** All checks of the writes of one apply, however it ended. */
export function checkWrites(world: World, { seen }: Run, start: State): void {
  checkWay(world, seen, start, world.service.state())
  checkNeed(world, seen)
  checkOnce(world, seen)
  checkReadBack(world, seen)
}

/** An apply that is killed at its write number `write`, which reaches the service when it is `landing`. */
export async function applyKilledAt(world: World, write: number, landing: boolean, ...words: readonly string[]): Promise<Ended> {
  let left = write
  const running = world.begin('apply', '--yes', ...words, '--config', 'capkeeper.yaml')
  world.service.tamper = (operation) => {
    if (operation === 'UsageConfig') left -= 1
    if (left > 0) return 'pass'
    running.child.kill('SIGKILL')
    return landing ? 'drop-after' : 'drop-before'
  }
  const ended = await running.ended
  world.service.tamper = passing
  return ended
}

/** Neither `apply` nor `plan --detailed-exitcode` finds a change. */
export async function checkQuiet(world: World): Promise<void> {
  const again = await world.run('apply', '--yes', '--output', 'json')
  for (const write of writesOf(again.seen))
    world.breach('A second apply writes nothing (ARCHITECTURE.md, invariant 6)', `${write.scope} → ${write.cap}`)
  if (again.code !== 0) world.breach('A second apply ends with 0', `exit ${again.code}: ${outcome(again)}`)
  const plan = await world.run('plan', '--detailed-exitcode')
  if (plan.code !== 0) world.breach('plan --detailed-exitcode is 0 when nothing is pending', `exit ${plan.code}: ${outcome(plan)}`)
}

/** The end of a command's output, on one line. */
export const outcome = (run: { readonly out: string; readonly talk: string }): string =>
  `${run.talk}${run.out}`.replaceAll(/\s+/g, ' ').slice(-500)
