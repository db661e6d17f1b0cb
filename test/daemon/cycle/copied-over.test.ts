// Where caps are copied and reads show inherited caps: caps that our own team and group writes leave at people are ours, and a successful
// cycle has repaired them.
import { expect, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { email, keysOf, short } from '../../support/declare.ts'
import { answering, writes } from '../../support/faults.ts'
import { MINUTE, worldUnder } from '../../support/living.ts'
import { type Declared, testWorld, type WorldOptions } from '../../support/world.ts'

const COPIED: WorldOptions = {
  people: ['ada', 'bob', 'cleo', 'dan'],
  groups: { a: ['ada', 'bob'], b: ['ada'] },
  switches: { capSemantics: 'fan-out', capReads: 'inherited' },
  config: { capSemantics: 'copied', capReads: 'inherited', onDrift: 'alert', guards: { ...DEFAULT_GUARDS, maxCleared: 'off' } },
}

test.each(['inherited', 'auto'] as const)(
  'what a group’s clear was copied over is put back, also where a group that no policy names shows there then (capReads: %s)',
  async (capReads) => {
    const one = await testWorld({ ...COPIED, config: { ...COPIED.config, capReads } })
    one.foreign('group:b', 1500)
    await one.cycle({ caps: { 'group:a': 900, ada: 4000 } })
    expect((await one.cycle({ caps: { 'group:a': 'none', ada: 4000 } })).result).toBe('success')
    expect(one.inForce()['ada']).toBe(4000)
    expect(one.begun('ForeignChange')).toEqual([])
  },
)

test('a group that already has its cap before the write has moved its members, who are repaired in the same cycle', async () => {
  const one = await worldUnder({ caps: { 'group:a': 900, ada: 4000 } }, { ...COPIED, config: { ...COPIED.config, onDrift: 'heal' } })
  await one.clock.pass(2 * MINUTE)
  one.foreign('group:a', 1000)
  await one.cycle({ caps: { 'group:a': 1000, ada: 4000 } }, { slice: keysOf('cleo') })
  expect(one.inForce()).toMatchObject({ ada: 4000, bob: 1000 })
})

test('a team write whose repairs were not in the agreed plan is left out, and overwrites nothing', async () => {
  const guards = { ...DEFAULT_GUARDS, maxLowered: { percent: 1, floor: 1 } }
  const one = await testWorld({ ...COPIED, config: { ...COPIED.config, onDrift: 'heal', guards } })
  const policy: Declared = { caps: { team: 500, 'group:a': 900, ada: 4000 } }
  const edited: Declared = { caps: { ...policy.caps, team: 400 } }
  await one.cycle(policy)
  // While the team's write is held, the plan does not say what it overwrites.
  const { planned } = await one.cycle(edited)
  const shown = new Map(planned.plan.changes.map(({ scope, to }) => [short(scope), to]))
  expect([...shown.keys()]).toEqual(['team', 'cleo', 'dan'])
  const agreed = await one.cycle(edited, {
    approve: planned.plan.holds.map(({ id }) => id),
    confirm: async () => ({ mayWrite: ({ key, to }) => shown.get(key.replace('@example.com', '')) === to }),
  })
  expect(one.caps()).toMatchObject({ team: 500, ada: 4000, bob: 900, cleo: 400, dan: 400 })
  expect(agreed).toMatchObject({ result: 'partial', message: expect.stringMatching(/^team: it overwrites ada@/) })
  expect((await one.cycle(edited)).result).toBe('success')
  expect(one.inForce()).toEqual({ ada: 4000, bob: 900, cleo: 400, dan: 400 })
})

test('a team write goes out over a person whose cap the service has refused, because no plan repairs that', async () => {
  const one = await worldUnder({ caps: { team: 500, ada: 4000, bob: 900 } }, { ...COPIED, wrapTransport: answering(writes('ada'), 400) })
  expect(one.ledger.quarantined()).toMatchObject([{ scope: { email: email('ada') } }])
  const edited: Declared = { caps: { team: 600, ada: 4000, bob: 900 } }
  const mayWrite = ({ key, to }: { key: string; to: unknown }): boolean =>
    key === 'team' ? to === 600 : key === email('bob') && to === 900
  await one.cycle(edited, { confirm: async () => ({ mayWrite }) })
  expect(one.caps()).toMatchObject({ team: 600, ada: 600, bob: 900 })
})
