// Readings of groups from end to end: a cap is cleared after two that agree, and a group that could not be listed was not read, alike for rules,
// pools and the conflict rule.
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { HOUR } from '../../support/declare.ts'
import { answering, type Match } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { type Declared, revisionOf, testWorld, type World, type WorldOptions } from '../../support/world.ts'

/** Everybody is in h, ada and bob in g, whose name is G. */
async function company(switches: WorldOptions['switches'] = {}): Promise<{ one: World; storm: { name: string } }> {
  const storm = { name: '' }
  const one = await testWorld({
    people: ['ada', 'bob', 'cleo'],
    groups: { g: ['ada', 'bob'], h: ['ada', 'bob', 'cleo'] },
    switches,
    wrapTransport: answering((_, body) => body['group_name'] === storm.name, 403),
  })
  return { one, storm }
}

const adaLater = async (one: World): Promise<number | undefined> => {
  await later(one, HOUR)
  return one.caps()['ada']
}

const CASES: readonly (readonly [string, Declared, number])[] = [
  ['a rule', { caps: { team: 900 }, rules: [{ when: { groups: ['g'] }, cap: 100 }] }, 100],
  ['a pool', { caps: { team: 900 }, pools: [{ name: 'r', credits: 200, members: { kind: 'groups', ids: ['g'] }, share: 'equal' }] }, 100],
  ['the conflict rule', { caps: { team: 900, 'group:g': 300, 'group:h': 200 }, onGroupConflict: 'max' }, 300],
]

test.each(CASES)('for %s one odd reading of a group, and one that failed, are not two that agree', async (_name, declared, cap) => {
  const { one, storm } = await company()
  await one.cycle(declared)
  expect(one.caps()).toMatchObject({ ada: cap, bob: cap })
  one.setMembers('g', ['bob'])
  expect(await adaLater(one)).toBe(cap)
  one.setMembers('g', ['ada', 'bob'])
  storm.name = 'G'
  expect(await adaLater(one)).toBe(cap)
  expect(await adaLater(one)).toBe(cap)
  storm.name = ''
  expect(await adaLater(one)).toBe(cap)
})

test.each(CASES)(
  'for %s two readings of a group agree over one that failed between them, and over a restart',
  async (_name, declared, cap) => {
    const { one, storm } = await company()
    await one.cycle(declared)
    one.setMembers('g', ['bob'])
    expect(await adaLater(one)).toBe(cap)
    storm.name = 'G'
    one.restart()
    expect(await adaLater(one)).toBe(cap)
    storm.name = ''
    expect(await adaLater(one)).toBeUndefined()
  },
)

test('a renamed group has no members until it was listed under the new name', async () => {
  const { one, storm } = await company()
  one.sandbox.store.saveGroup({ id: 'n', name: 'N' })
  one.setMembers('n', ['cleo'])
  await one.cycle({ caps: { team: 900 }, bare: ['g'] })
  const rules: Declared = { caps: { team: 900 }, rules: [{ when: { groups: ['g'] }, cap: 100 }] }
  const { state } = one
  const renamed = revisionOf(rules)
  const groups = renamed.set.groups.map((group) => ({ ...group, name: 'N' }))
  storm.name = 'N'
  await one.clock.pass(HOUR)
  state.policy = { ...renamed, set: { ...renamed.set, groups } }
  await one.cycle()
  expect(one.caps()).toEqual({ team: 900 })
  storm.name = ''
  await later(one, HOUR)
  await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900, cleo: 100 })
})

test('a person who shows the cap of an unlisted group may inherit it: a lowering of another group below it is held with theirs', async () => {
  const { one, storm } = await company({ capReads: 'inherited' })
  storm.name = 'G'
  one.foreign('group:g', 400)
  one.foreign('group:h', 700)
  const { planned } = await one.cycle({ caps: { 'group:g': 400, 'group:h': 100, ada: 300, bob: 400 }, protect: ['ada'] })
  expect(planned.plan.changes.find(({ scope }) => scope.kind === 'group')?.disposition).toMatchObject({ kind: 'held' })
  expect(one.inForce()).toMatchObject({ ada: 400, bob: 400 })
  await one.cycle(undefined, { approve: planned.plan.holds.map(({ id }) => id) })
  expect(one.caps()).toMatchObject({ 'group:h': 100, ada: 300, bob: 400 })
})

const COMPANY = { people: 20, groups: { a: ['p001', 'p002'], b: ['p002'] } }
const CONFLICT = { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'max' } as const

describe('a cap of the conflict rule', () => {
  test.each([
    ['no group', 'layered', { team: 500 }, { team: 500 }],
    ['one group', 'layered', { team: 500, 'group:b': 900 }, { team: 500, 'group:b': 900 }],
    ['no group, where caps are copied', 'copied', { team: 500 }, { team: 500, p002: 500 }],
  ] as const)('goes at once when %s is declared any more', async (_row, capSemantics, caps, left) => {
    const copies = capSemantics === 'copied'
    const one = await testWorld({ ...COMPANY, config: { capSemantics }, switches: { capSemantics: copies ? 'fan-out' : 'layered' } })
    await one.cycle({ ...CONFLICT, caps: { team: 500, ...CONFLICT.caps } })
    await one.cycle({ caps }, { usage: false })
    expect(one.caps()).toMatchObject(left)
    await one.cycle()
    expect(one.ledger.owned().map(({ owner }) => owner)).not.toContain('conflict')
    if (!copies) expect(one.caps()).toEqual(left)
  })

  test('is not kept any longer by a clear that failed', async () => {
    const storm = { broken: false }
    const isClear: Match = (_, body) => 'clear_add_on_credit_cap' in body
    const one = await testWorld({ ...COMPANY, wrapTransport: answering(isClear, 503, storm) })
    await one.cycle({ ...CONFLICT, caps: { ...CONFLICT.caps, 'group:c': 100 } })
    storm.broken = true
    await one.cycle({ ...CONFLICT, caps: { 'group:a': 1500, 'group:b': 1500, 'group:c': 100 } })
    storm.broken = false
    const outcome = await later(one, HOUR, undefined, { usage: false })
    expect([outcome.result, one.caps()['p002']]).toEqual(['success', undefined])
  })

  test('stays while one of the groups is unknown to the service', async () => {
    const one = await worldUnder(CONFLICT, COMPANY)
    one.sandbox.store.saveGroup({ id: 'b', name: 'Renamed' })
    one.sandbox.reload()
    for (let round = 0; round < 4; round += 1) await later(one, HOUR)
    expect(one.caps()['p002']).toBe(1500)
  })

  test('is cleared once, also where it equals the cap of a group and another group inherits', async () => {
    const guards = { ...DEFAULT_GUARDS, maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
    const one = await testWorld({ groups: { a: ['bob'], b: ['bob'] }, switches: { capReads: 'inherited' }, config: { guards } })
    await one.cycle({ caps: { 'group:a': 910, 'group:b': 'none' }, onGroupConflict: 'min' })
    await one.cycle()
    one.forget()
    await one.cycle({ caps: { team: 150, 'group:b': 910 }, onGroupConflict: 'min' })
    for (let round = 0; round < 4; round += 1) await one.cycle()
    expect(one.writes().filter((write) => write.startsWith('bob'))).toEqual(['bob none'])
    expect(one.caps()).toEqual({ team: 150, 'group:b': 910 })
    expect(one.ledger.owned().map(({ owner }) => owner)).not.toContain('conflict')
  })
})
