// Where caps are copied and reads show what applies: what our own team and group writes leave at people is ours, whatever shows there, and a
// cycle that says it went well has put it right.
import { expect, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { MINUTE_MS } from '../../../src/core/model/units.ts'
import { scope } from '../../support/declare.ts'
import { type Declared, testWorld, type WorldOptions } from '../../support/world.ts'

const COPIED: WorldOptions = {
  people: ['ada', 'bob', 'cleo', 'dan'],
  groups: { a: ['ada', 'bob'], b: ['ada'] },
  switches: { capSemantics: 'fan-out', capReads: 'inherited' },
  config: { capSemantics: 'copied', capReads: 'inherited', onDrift: 'alert', guards: { ...DEFAULT_GUARDS, maxCleared: 'off' } },
}

test('who only shows the team’s cap, also through a group, goes with it, and nobody is said to have taken it away', async () => {
  const one = await testWorld(COPIED)
  const policy: Declared = { caps: { team: 500, 'group:a': 'none', ada: 4000, dan: 'none' } }
  await one.cycle(policy)
  await one.cycle({ caps: { ...policy.caps, team: 'none' } })
  expect(one.inForce()).toEqual({ ada: 4000, bob: 'none', cleo: 'none', dan: 'none' })
  expect(one.begun('ForeignChange')).toEqual([])
})

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

test('a group that is found as asked for just before its write has moved those beneath it, and they are put right in the same cycle', async () => {
  const one = await testWorld({ ...COPIED, config: { ...COPIED.config, onDrift: 'heal' } })
  await one.cycle({ caps: { 'group:a': 900, ada: 4000 } })
  await one.clock.pass(2 * MINUTE_MS)
  one.foreign('group:a', 1000)
  await one.cycle({ caps: { 'group:a': 1000, ada: 4000 } }, { slice: new Set([scopeKey(scope('cleo'))]) })
  expect(one.inForce()).toMatchObject({ ada: 4000, bob: 1000 })
})
