// Readings of groups from end to end: a cap is cleared after two that agree, and a group that could not be listed was not read, alike for rules,
// pools and the conflict rule.
import { expect, test } from 'vitest'
import { HOUR, type PolicySketch } from '../../support/declare.ts'
import { answering, either, listings, type Match, reads, writes } from '../../support/faults.ts'
import { later } from '../../support/living.ts'
import { revisionOf, testWorld, type World, type WorldOptions } from '../../support/world.ts'

const CALM: Match = () => false

/** Everybody is in h, ada and bob in g, whose name is G. */
async function company(switches: WorldOptions['switches'] = {}): Promise<{ one: World; storm: { strikes: Match } }> {
  const storm = { strikes: CALM }
  const one = await testWorld({
    people: ['ada', 'bob', 'cleo'],
    groups: { g: ['ada', 'bob'], h: ['ada', 'bob', 'cleo'] },
    switches,
    wrapTransport: answering((...asked) => storm.strikes(...asked)),
  })
  return { one, storm }
}

const adaLater = async (one: World): Promise<number | undefined> => {
  await later(one, HOUR)
  return one.caps()['ada']
}

const CASES: readonly (readonly [string, PolicySketch, number])[] = [
  ['a rule', { caps: { team: 900 }, rules: [{ when: { groups: ['g'] }, cap: 100 }] }, 100],
  ['a pool', { caps: { team: 900 }, pools: [{ name: 'r', credits: 200, members: { kind: 'groups', ids: ['g'] }, share: 'equal' }] }, 100],
  ['the conflict rule', { caps: { team: 900, 'group:g': 300, 'group:h': 200 }, onGroupConflict: 'max' }, 300],
]

test.each(CASES)(
  'for %s two readings of a group agree over one that failed between them and over a restart, and one odd reading and one that failed do not',
  async (_name, declared, cap) => {
    const { one, storm } = await company()
    await one.cycle(declared)
    expect(one.caps()).toMatchObject({ ada: cap, bob: cap })
    one.setMembers('g', ['bob'])
    expect(await adaLater(one)).toBe(cap)
    one.setMembers('g', ['ada', 'bob'])
    storm.strikes = listings('G')
    expect(await adaLater(one)).toBe(cap)
    expect(await adaLater(one)).toBe(cap)
    storm.strikes = CALM
    expect(await adaLater(one)).toBe(cap)
    one.setMembers('g', ['bob'])
    expect(await adaLater(one)).toBe(cap)
    storm.strikes = listings('G')
    one.restart()
    expect(await adaLater(one)).toBe(cap)
    storm.strikes = CALM
    expect(await adaLater(one)).toBeUndefined()
  },
)

test('a renamed group has no members until it was listed under the new name', async () => {
  const { one, storm } = await company()
  one.sandbox.store.saveGroup({ id: 'n', name: 'N' })
  one.setMembers('n', ['cleo'])
  await one.cycle({ caps: { team: 900 }, bare: ['g'] })
  const renamed = revisionOf({ caps: { team: 900 }, rules: [{ when: { groups: ['g'] }, cap: 100 }] })
  const groups = renamed.set.groups.map((group) => ({ ...group, name: 'N' }))
  storm.strikes = listings('N')
  await one.clock.pass(HOUR)
  one.state.policy = { ...renamed, set: { ...renamed.set, groups } }
  await one.cycle()
  expect(one.caps()).toEqual({ team: 900 })
  storm.strikes = CALM
  for (let round = 0; round < 2; round += 1) await later(one, HOUR)
  expect(one.caps()).toEqual({ team: 900, cleo: 100 })
})

test('a person who shows the cap of an unlisted group may inherit it: a lowering of another group below it is held with theirs', async () => {
  const { one, storm } = await company({ capReads: 'inherited' })
  storm.strikes = listings('G')
  one.foreign('group:g', 400)
  one.foreign('group:h', 700)
  const { planned } = await one.cycle({ caps: { 'group:g': 400, 'group:h': 100, ada: 300, bob: 400 }, protect: ['ada'] })
  expect(planned.plan.changes.find(({ scope }) => scope.kind === 'group')?.disposition).toMatchObject({ kind: 'held' })
  expect(one.inForce()).toMatchObject({ ada: 400, bob: 400 })
  await one.cycle(undefined, { approve: planned.plan.holds.map(({ id }) => id) })
  expect(one.caps()).toMatchObject({ 'group:h': 100, ada: 300, bob: 400 })
})

test.each([
  ['read', reads('group:h'), { 'group:h': 400 }],
  ['listed', listings('H'), {}],
] as const)('a write without an answer has set no cap that a group may give which cannot be %s', async (_name, match, first) => {
  const { one, storm } = await company({ capReads: 'inherited' })
  const caps = { team: 100, 'group:g': 500, 'group:h': 400 }
  for (const [name, cap] of Object.entries(caps)) one.foreign(name, cap)
  await one.cycle({ caps: { team: 100, 'group:g': 500, ...first, ada: 400 } })
  storm.strikes = either(match, writes('ada'))
  await later(one, HOUR, { caps: { ...caps, 'group:g': 200, ada: 400 } })
  expect(one.caps()).toEqual(caps)
})
