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
  const one = await testWorld({ groups: { a: ['bob'] }, caps: { team: 100, ada: 200, 'group:a': 300 } })
  const until = one.clock.now() + HOUR
  one.onCall = ({ operation }) => {
    if (operation === 'UsageConfig' && one.writes().length === 1) one.clock.jumpWall(2 * HOUR)
  }
  const grants = ['team', 'group:a', 'ada'].map((on) => ({ on, add: 50, until }))
  const report = await one.cycle({ caps: { team: 100, ada: 250, cleo: 400, 'group:a': 300 }, grants })
  expect(one.caps()).toEqual({ team: 100, ada: 250, cleo: 400, 'group:a': 300 })
  const view = viewOf(report)
  expect(told(view)).toEqual([
    'ada@example.com 200>300 applied',
    'cleo@example.com none>400 applied',
    'group:a 300>350 applied',
    'team 100>150 applied',
    'team 150>100 applied',
    'group:a 350>300 applied',
    'ada@example.com 300>250 applied',
  ])
  expect(renderResultText(view)).toContain('Applied: 1 set, 3 raised, 3 lowered.')
  expect(view.plan.counts).toMatchObject({ set: 1, raise: 3, lower: 3 })
  expect(one.writes()).toEqual(['ada 300', 'cleo 400', 'group:a 350', 'team 150', 'team 100', 'group:a 300', 'ada 250'])
})
