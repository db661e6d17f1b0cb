// Ownership from end to end: an orphan of ours is cleared, also where it equals its ancestor's cap, and another client's cap is neither cleared
// nor taken for ours.
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, NOW, type PolicySketch, short } from '../../support/declare.ts'
import { answering, listings, whenAsked, writes } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { revisionOf, testWorld, type World } from '../../support/world.ts'

const mine = (one: World): readonly string[] => one.ledger.owned().map((cap) => short(cap.scope))

describe('a cap of ours that equals its ancestor’s', () => {
  test('stays where caps are copied and policy asks for no ancestor’s cap, as after a grant for all', async () => {
    const one = await testWorld({ people: 10, switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } })
    one.foreign('team', 300)
    const caps = one.caps()
    expect(Object.keys(caps)).toHaveLength(11)
    await one.cycle({ grants: [{ on: 'team', cap: 300, until: NOW + 9 * DAY }] })
    one.forget()
    const outcome = await one.cycle({ caps: { p002: 300 } })
    await one.cycle()
    expect([outcome.result, one.writes(), one.caps()]).toEqual(['noop', [], caps])
    expect(mine(one)).toHaveLength(10)
  })

  test.each([
    ['turns into none', { team: 500, p001: 'none' }],
    ['is no longer declared', { team: 500 }],
  ] as const)('is cleared by one write and then quiet where reads show what applies, when it %s', async (_row, caps) => {
    const one = await worldUnder({ caps: { team: 500, p001: 500 } }, { people: 20, switches: { capReads: 'inherited' } })
    one.forget()
    for (let round = 0; round < 4; round += 1) await one.cycle({ caps })
    expect(one.writes()).toEqual(['p001 none'])
    expect(one.caps()).toEqual({ team: 500 })
  })

  test.each([
    ['turns into none', { team: 500, p001: 'none' }],
    ['is no longer declared', { team: 500 }],
  ] as const)('is cleared in the end when the clear was lost, when it %s', async (_row, caps) => {
    const storm = { broken: false }
    const one = await worldUnder({ caps: { team: 500, p001: 500 } }, { people: 20, wrapTransport: answering(writes(), 503, storm) })
    storm.broken = true
    await one.cycle({ caps })
    expect(mine(one)).toContain('p001')
    storm.broken = false
    await one.cycle()
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })
})

describe('a cap that we wrote and that was read back too early', () => {
  /** What a stale reading shows after our write. */
  const stale = (one: World, name: string, shown: number | undefined): void => {
    whenAsked(one, writes(), () => one.foreign(name, shown))
  }
  const team: PolicySketch = { caps: { team: 900 } }
  const had: PolicySketch = { caps: { team: 900, p001: 500 } }
  const asked: PolicySketch = { caps: { team: 900, p001: 700 } }
  const ruled: PolicySketch = { ...team, rules: [{ name: 'one', when: { email: 'p001@*' }, cap: 700 }] }
  const granted = (base: PolicySketch): PolicySketch => ({
    ...base,
    grants: [{ on: 'p001', cap: 700, from: NOW - HOUR, until: NOW + DAY }],
  })
  test.each<readonly [string, number | undefined, PolicySketch, PolicySketch, PolicySketch, number]>([
    ['where nothing was ours', undefined, team, asked, team, 700],
    ['where another cap was ours', undefined, had, asked, team, 700],
    ['where another cap was ours, and it never came', undefined, had, asked, team, 500],
    ['of a rule over people', undefined, team, ruled, team, 700],
    ['of a rule over people, where another cap was ours', undefined, had, ruled, team, 700],
    ['of a grant', undefined, team, granted(team), team, 700],
    ['of a grant, where somebody had set a cap', 300, team, granted(team), team, 700],
    ['of a grant over a base', undefined, had, granted(had), had, 700],
  ])('is cleared when policy drops it meanwhile: %s', async (_row, found, before, during, after, there) => {
    const one = await testWorld({ people: 20 })
    if (found !== undefined) one.foreign('p001', found)
    await one.cycle(before)
    stale(one, 'p001', one.caps()['p001'])
    await one.cycle(during)
    const [last] = await one.ledger.history({ limit: 1 })
    expect(last?.result).toBe('verify_failed')
    one.onCall = undefined
    one.foreign('p001', there)
    await one.cycle(after)
    expect(one.caps()).toEqual({ ...after.caps, ...(found !== undefined && { p001: found }) })
  })

  test('is not ours any more once the old one still shows after a day', async () => {
    const one = await worldUnder({ caps: { team: 900, p001: 500 } }, { people: 20 })
    stale(one, 'p001', 500)
    await one.cycle({ caps: { team: 900, p001: 700 } })
    one.onCall = undefined
    await one.cycle({ caps: { team: 900, p001: 500 } })
    await later(one, DAY + HOUR)
    one.foreign('p001', 700)
    await one.cycle({ caps: { team: 900 } })
    expect(one.caps()).toEqual({ team: 900, p001: 700 })
  })

  test('or verified, and then covered by a stale reading of the old one, is cleared when policy has dropped it', async () => {
    const one = await worldUnder({ caps: { team: 900, p001: 500 } }, { people: 20 })
    await one.cycle({ caps: { team: 900, p001: 700 } })
    one.foreign('p001', 500)
    await one.cycle({ caps: { team: 900, p001: 500 } })
    one.foreign('p001', 700)
    await one.cycle({ caps: { team: 900 } })
    expect(one.caps()).toEqual({ team: 900 })
  })
})

test('a cap of the conflict rule goes at once, also after a restart, when one of the groups that differed is not declared any more', async () => {
  const one = await testWorld({ people: 10, groups: { a: ['p001'], b: ['p001'], c: ['p002'] } })
  await one.cycle({ caps: { 'group:a': 1500, 'group:b': 1500, 'group:c': 700 }, onGroupConflict: 'min' })
  // Policy changes between two readings of the groups.
  await one.cycle({ caps: { 'group:a': 1500, 'group:b': 900, 'group:c': 700 }, onGroupConflict: 'min' }, { alone: false })
  expect(one.caps()).toEqual({ 'group:a': 1500, 'group:b': 900, 'group:c': 700, p001: 900 })
  one.restart()
  await one.cycle({ caps: { 'group:a': 1500, 'group:c': 700 }, onGroupConflict: 'min' })
  expect(one.caps()).toEqual({ 'group:a': 1500, 'group:c': 700 })
})

describe('where an accepted write has ended a cap of ours', () => {
  const team: PolicySketch = { caps: { team: 100 } }
  const ruled: PolicySketch = { ...team, rules: [{ name: 'one', when: { email: 'p001@*' }, cap: 200 }] }
  const conflict: PolicySketch = { caps: { team: 100, 'group:g': 200, 'group:h': 300 }, onGroupConflict: 'min' }
  const settled: PolicySketch = { caps: { team: 100, 'group:h': 300 }, bare: ['g'], onGroupConflict: 'min' }
  const granted: PolicySketch = { ...team, grants: [{ on: 'p001', cap: 200, until: NOW + HOUR }] }
  const guarded: PolicySketch = { ...granted, protect: ['p001'] }
  const ENDED: readonly (readonly [title: string, on: string, found: number | undefined, before: PolicySketch, after: PolicySketch])[] = [
    ['of a person', 'p001', undefined, { caps: { team: 100, p001: 200 } }, team],
    ['of a group', 'group:g', undefined, { caps: { team: 100, 'group:g': 200 } }, { ...team, bare: ['g'] }],
    ['of a rule', 'p001', undefined, ruled, team],
    ['of the conflict rule', 'p001', undefined, conflict, settled],
    ['of a grant', 'p001', undefined, granted, granted],
    ['of a grant that gave back what was there before, of a protected person', 'p001', 150, guarded, guarded],
  ]
  test.each(ENDED)('the same value stays that another client sets: %s', async (_row, on, found, before, after) => {
    const one = await testWorld({ people: 20, groups: { g: ['p001'], h: ['p001'] } })
    if (found !== undefined) one.foreign(on, found)
    await one.cycle(before)
    expect(one.caps()[on]).toBe(200)
    await later(one, 2 * HOUR, after)
    expect(one.caps()[on]).toBe(found)
    one.foreign(on, 200)
    one.forget()
    for (let round = 0; round < 2; round += 1) await one.cycle()
    expect([one.writes(), one.caps()[on]]).toEqual([[], 200])
  })

  test('the cap does not come back with a 0 that is not kept and follows at once', async () => {
    const one = await worldUnder({ caps: { team: 100, p001: 200 } }, { people: 20, switches: { zeroCap: 'omitted' } })
    await one.cycle({ caps: { team: 100 } })
    one.forget()
    await one.cycle({ caps: { team: 100, p001: 0 } })
    expect(one.writes()).toEqual(['p001 0'])
  })
})

describe('the end of a grant', () => {
  const old = { on: 'team', cap: 700, from: NOW - 60 * DAY, until: NOW - 50 * DAY }
  const current = { on: 'team', cap: 6000, from: NOW - HOUR, until: NOW + DAY }

  test('is distinct from an edit of the policy when a copied cap equals an old grant’s', async () => {
    const grants = [{ ...old, cap: 500 }]
    const one = await testWorld({ people: 40, config: { capSemantics: 'copied' }, switches: { capSemantics: 'fan-out' } })
    await one.cycle({ caps: { team: 500 }, grants, protect: ['p001'] })
    await one.cycle({ caps: { team: 1 }, grants, protect: ['p001'] })
    expect(one.inForce()['p001']).toBe(500)
  })

  test('passes the guards, also after its end was moved and where caps are copied', async () => {
    const one = await testWorld({ people: 40, config: { capSemantics: 'copied' }, switches: { capSemantics: 'fan-out' } })
    const caps = { team: 500 }
    await one.cycle({ caps, grants: [old, current], protect: ['p001'] })
    const moved = { ...current, until: NOW + 2 * DAY }
    await one.cycle({ caps, grants: [old, moved], protect: ['p001'] })
    await later(one, DAY + HOUR)
    expect(one.inForce()['p001']).toBe(6000)
    const { planned } = await later(one, DAY)
    expect(planned.plan.holds).toEqual([])
    expect(one.inForce()['p001']).toBe(500)
  })

  test.each(['inherited', 'auto'] as const)(
    'leaves nothing behind where a group has a cap that no policy declares, and capReads is %s',
    async (capReads) => {
      const caps = { team: 500, 'group:core': 444 }
      const one = await testWorld({
        people: 20,
        groups: { core: ['p001', 'p002'] },
        caps,
        switches: { capReads: 'inherited' },
        config: { capReads },
      })
      await one.cycle({ caps: { team: 500 }, bare: ['core'], grants: [{ on: 'p001', cap: 1000, until: NOW + HOUR }] })
      expect(one.caps()).toEqual({ ...caps, p001: 1000 })
      for (let round = 0; round < 3; round += 1) await later(one, 2 * HOUR)
      expect({ caps: one.caps(), mine: mine(one) }).toEqual({ caps, mine: ['team'] })
    },
  )

  test('restores the cap from before it, also when its write was first read back stale', async () => {
    const one = await testWorld({ people: 20, caps: { p002: 700 } })
    const grants = ['p001', 'p002'].map((on) => ({ on, cap: 6000, until: NOW + HOUR }))
    const before = { p001: undefined, p002: 700 }
    await one.cycle({ caps: { team: 500 } })
    // What a stale reading shows, as if somebody had put it back.
    whenAsked(one, writes(), () => {
      for (const [name, cap] of Object.entries(before)) one.foreign(name, cap)
    })
    await one.cycle({ caps: { team: 500 }, grants })
    one.onCall = undefined
    for (const name of ['p001', 'p002']) one.foreign(name, 6000)
    await one.cycle()
    for (let round = 0; round < 3; round += 1) await later(one, 2 * HOUR)
    expect({ caps: one.caps(), mine: mine(one) }).toEqual({ caps: { team: 500, p002: 700 }, mine: ['team'] })
  })

  test('waits where caps are copied until the members of every group are known', async () => {
    const storm = { broken: false }
    const wrapTransport = answering(listings(), 503, storm)
    const copied = { config: { capSemantics: 'copied' }, switches: { capSemantics: 'fan-out' } } as const
    const one = await testWorld({ people: 20, groups: { g: ['p002'] }, ...copied, wrapTransport })
    const grants = [{ on: 'p001', cap: 6000, until: NOW + HOUR }]
    await one.cycle({ caps: { team: 500 } })
    await one.cycle({ caps: { team: 500 }, grants })
    storm.broken = true
    await later(one, 2 * HOUR, { caps: { team: 500, 'group:g': 900 }, grants })
    expect(one.caps()['p001']).toBe(6000)
    storm.broken = false
    await later(one, HOUR)
    expect(one.caps()).toMatchObject({ team: 500, p001: 500, p002: 900 })
  })
})

describe('while a file of a team cannot be used', () => {
  const envelope = { name: 'a', workspace: 'acme', groups: ['ga'], maxCap: 3000, at: { file: 'config.yaml', line: 1, column: 1 } }
  const beside = (caps: Readonly<Record<string, number>>, isBroken: boolean) => ({
    ...revisionOf({ caps, bare: ['ga'] }),
    delegated: {
      ...{ envelopes: [envelope], unlisted: [], refused: [] },
      files: [{ envelope: 'a', file: 'a.yaml', ...(!isBroken && { documents: [] }) }],
    },
  })

  test('from the first, what platform takes back is cleared', async () => {
    const one = await testWorld({ groups: { ga: ['ada'] } })
    one.state.declared = beside({ team: 500, bob: 100 }, true)
    await one.cycle()
    one.state.declared = beside({ team: 500 }, true)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })

  test('and what was accepted before is not known, nothing is cleared until the file is right', async () => {
    const one = await testWorld({ groups: { ga: ['ada'] } })
    await one.cycle({ caps: { team: 500, bob: 100 } })
    one.restart()
    one.state.declared = beside({ team: 500 }, true)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500, bob: 100 })
    one.state.declared = beside({ team: 500 }, false)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })
})
