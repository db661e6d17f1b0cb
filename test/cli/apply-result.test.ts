// What apply tells once it is through, of runs in which more happened than was planned at first.
import { expect, test } from 'vitest'
import { viewOf } from '../../src/cli/apply/result.ts'
import { renderResultText } from '../../src/cli/plan/render.ts'
import { outcomeOf } from '../../src/cli/plan/view.ts'
import { scopeKey } from '../../src/core/model/scope.ts'
import { HOUR } from '../support/declare.ts'
import { testWorld } from '../support/world.ts'

const told = (view: ReturnType<typeof viewOf>): readonly string[] =>
  view.plan.changes.map((change) => `${scopeKey(change.scope)} ${change.from}>${change.to} ${outcomeOf(view, change)?.result ?? 'waits'}`)

test('a cap that was written, and written again because its grant ended on the way, is told as two changes', async () => {
  const one = await testWorld({ caps: { ada: 200, bob: 300 } })
  const until = one.clock.now() + HOUR
  one.onCall = ({ operation }) => {
    if (operation === 'UsageConfig' && one.writes().length === 1) one.clock.jumpWall(2 * HOUR)
  }
  const report = await one.cycle({
    caps: { ada: 250, cleo: 400 },
    grants: [
      { on: 'ada', add: 50, until },
      { on: 'bob', cap: 350, until },
    ],
  })
  expect(one.caps()).toEqual({ ada: 250, bob: 300, cleo: 400 })
  const view = viewOf(report)
  expect([...told(view)].sort()).toEqual([
    'ada@example.com 200>300 applied',
    'ada@example.com 300>250 applied',
    'bob@example.com 300>350 applied',
    'bob@example.com 350>300 applied',
    'cleo@example.com none>400 applied',
  ])
  // In the order of writing.
  expect(told(view).findIndex((line) => line.includes('300>250'))).toBeGreaterThan(told(view).findIndex((line) => line.includes('200>300')))
  expect(renderResultText(view)).toContain('Applied: 1 set, 2 raised, 2 lowered.')
  expect(view.plan.counts).toMatchObject({ set: 1, raise: 2, lower: 2 })
  expect(one.writes()).toHaveLength(5)
})
