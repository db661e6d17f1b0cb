// Whether an exit code fits the result (docs/commands.md).
import { landedOf } from '../service.ts'
import type { Run, World } from '../world.ts'

/** On an unreliable service: the code is a possible one; 1 means that nothing was done, 4 that a part was. */
export function checkCode(world: World, run: Run): void {
  const landed = landedOf(run.seen).length
  if (![0, 1, 3, 4].includes(run.code)) world.breach('Exit codes of apply', `exit ${run.code}: ${run.talk.slice(-300)}`)
  if (run.code === 1 && landed > 0)
    world.breach(
      '1 means that nothing could be done, 4 that something succeeded and something failed',
      `exit 1 after ${landed} writes took effect`,
    )
}
