// What readings of groups count for from end to end: a cap goes after two good ones that agree, and a group that could not be listed was not
// read, for rules, pools and the conflict rule alike.
import { expect, test } from 'vitest'
import { HOUR } from '../../support/declare.ts'
import { type Declared, testWorld, type World } from '../../support/world.ts'

/** Everybody is in h, ada and bob in g, whose name is G. */
async function company(): Promise<{ one: World; storm: { name: string } }> {
  const storm = { name: '' }
  const one = await testWorld({
    people: ['ada', 'bob', 'cleo'],
    groups: { g: ['ada', 'bob'], h: ['ada', 'bob', 'cleo'] },
    wrapTransport: (inner) => ({
      send: async (operation, body, options) =>
        body['group_name'] === storm.name ? { status: 403, headers: {}, body: '{"error":"no"}' } : inner.send(operation, body, options),
    }),
  })
  return { one, storm }
}

const later = async (one: World): Promise<number | undefined> => {
  await one.clock.pass(HOUR)
  await one.cycle()
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
  expect(await later(one)).toBe(cap)
  one.setMembers('g', ['ada', 'bob'])
  storm.name = 'G'
  expect(await later(one)).toBe(cap)
  expect(await later(one)).toBe(cap)
  storm.name = ''
  expect(await later(one)).toBe(cap)
})

test.each(CASES)(
  'for %s two readings of a group agree over one that failed between them, and over a restart',
  async (_name, declared, cap) => {
    const { one, storm } = await company()
    await one.cycle(declared)
    one.setMembers('g', ['bob'])
    expect(await later(one)).toBe(cap)
    storm.name = 'G'
    one.restart()
    expect(await later(one)).toBe(cap)
    storm.name = ''
    expect(await later(one)).toBeUndefined()
  },
)

test.each(CASES)('for %s a reading that says otherwise between two makes them none that agree', async (_name, declared, cap) => {
  const { one, storm } = await company()
  await one.cycle(declared)
  one.setMembers('g', ['bob'])
  expect(await later(one)).toBe(cap)
  one.setMembers('g', ['ada', 'bob'])
  storm.name = 'H'
  expect(await later(one)).toBe(cap)
  one.setMembers('g', ['bob'])
  storm.name = ''
  expect(await later(one)).toBe(cap)
  expect(await later(one)).toBeUndefined()
})

test('somebody joins a rule by a group that was listed, whatever came of another group of the same rule', async () => {
  const { one, storm } = await company()
  await one.cycle({ caps: { team: 900 }, rules: [{ when: { groups: ['g', 'h'] }, cap: 100 }] })
  one.addPerson('dan')
  one.setMembers('h', ['ada', 'bob', 'cleo', 'dan'])
  storm.name = 'G'
  await later(one)
  await later(one)
  expect(one.caps()).toMatchObject({ dan: 100 })
})
