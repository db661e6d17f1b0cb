// History is kept 400 days (docs/configuration.md), as a clock says that had time to be put right.
import { expect, test } from 'vitest'
import { forgetOldHistory } from '../../src/cli/run/host.ts'
import { worldClock } from '../support/clock.ts'
import { DAY, HOUR } from '../support/declare.ts'

test('old history goes once a day, and not in the first hour: the clock of a machine that has just started may be wrong', async () => {
  const clock = worldClock()
  const pruned: number[] = []
  const beganAt = clock.now()
  const store = { prune: async (now: number) => pruned.push(now - beganAt) }
  const logger = { info: () => undefined, error: () => undefined }
  const ended = new AbortController()
  const forgetting = forgetOldHistory({ store, cli: { clock }, logger } as never, ended.signal)
  await clock.pass(HOUR - 1)
  expect(pruned).toEqual([])
  await clock.pass(2 * DAY)
  expect(pruned).toEqual([HOUR, HOUR + DAY])
  ended.abort(new Error('the end'))
  await forgetting
})
