// What apply tells once it is through, of runs in which more happened than was planned at first.
import { expect, test } from 'vitest'
import { exitOfAll, viewOf } from '../../src/cli/apply/run.ts'
import { renderResultText } from '../../src/cli/plan/render.ts'
import { outcomeOf } from '../../src/cli/plan/view.ts'
import { holdOf } from '../../src/core/model/change.ts'
import { scopeKey } from '../../src/core/model/scope.ts'
import { HOUR, short } from '../support/declare.ts'
import { testWorld } from '../support/world.ts'

const told = (view: ReturnType<typeof viewOf>): readonly string[] =>
  view.plan.changes.map((change) => `${scopeKey(change.scope)} ${change.from}>${change.to} ${outcomeOf(view, change)?.result ?? 'waits'}`)

test('a cap that was written twice, because its grant ended on the way, is shown as two changes', async () => {
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

test('a change that another write has made unnecessary is shown as done, and no change names a hold that is gone', async () => {
  const caps = { p001: 900, p002: 900, p003: 1000 }
  const copied = { switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } } as const
  const one = await testWorld({ people: 20, groups: { b: ['p001', 'p002'] }, caps, ...copied })
  await one.cycle({ caps })
  const view = viewOf(await one.cycle({ caps: { 'group:b': 300, p001: 300, p002: 300, p003: 500 }, protect: ['p003'] }))
  expect(told(view)).toEqual([
    'group:b none>300 applied',
    'p001@example.com 900>300 satisfied',
    'p002@example.com 900>300 satisfied',
    'p003@example.com 1000>500 waits',
  ])
  expect(new Set(view.plan.changes.flatMap((change) => holdOf(change) ?? []))).toEqual(new Set(view.plan.holds.map(({ id }) => id)))
})

test('a scope that the service refuses is something that failed, also while a guard holds others', async () => {
  const caps = Object.fromEntries(['p001', 'p002', 'p003', 'p004', 'p005', 'p006'].map((name) => [name, 1000]))
  const one = await testWorld({ people: 20, caps, switches: { zeroCap: 'rejected' } })
  const held = Object.fromEntries(Object.keys(caps).map((name) => [name, 500]))
  await one.cycle({ caps: { ...caps, p009: 0 } })
  const report = await one.cycle({ caps: { ...held, p009: 0 } })
  expect(report.result).toBe('held')
  expect(exitOfAll([{ report }])).toBe(4)
})

test('an explicitly set cap below the team’s is in the plan with its condition, so one apply is enough', async () => {
  const caps = { team: 100, ada: 100 }
  const one = await testWorld({ people: ['ada', 'bob'], caps, switches: { capReads: 'inherited' }, config: { capReads: 'inherited' } })
  const shown: string[] = []
  const report = await one.cycle(
    { caps: { team: 300, ada: 'none', bob: 'none' } },
    {
      confirm: async (planned) => {
        shown.push(...planned.plan.changes.map((change) => `${short(change.scope)} ${change.to}`))
        return { mayWrite: ({ key, to }) => planned.plan.changes.some((change) => scopeKey(change.scope) === key && change.to === to) }
      },
    },
  )
  expect(shown).toEqual(['team 300', 'ada none', 'bob none'])
  expect(report.result).toBe('success')
  expect(one.caps()).toEqual({ team: 300 })
  expect(told(viewOf(report))).toEqual(['team 100>300 applied', 'ada@example.com 100>none applied', 'bob@example.com 100>none satisfied'])
})

test('a team write that succeeded before the run was interrupted is shown as done', async () => {
  const copied = { switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } } as const
  const one = await testWorld({ people: ['ada', 'bob'], ...copied })
  await one.cycle({ caps: { team: 500, ada: 4000 } })
  const stop = new AbortController()
  one.onCall = ({ operation, body }) => {
    if (operation === 'GetUsageConfig' && body['user_email'] !== undefined && one.caps()['team'] === 600) stop.abort()
  }
  const report = await one.cycle({ caps: { team: 600, ada: 4000 } }, { stop: stop.signal })
  expect(report.applied?.interrupted).toBe('stopped')
  expect(told(viewOf(report))[0]).toBe('team 500>600 applied')
  expect(exitOfAll([{ report }])).toBe(4)
})
