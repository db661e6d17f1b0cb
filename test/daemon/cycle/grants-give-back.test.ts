// The cap that a grant restores at its end: the one from before it, ours under the rules of pruning, and never that of an older grant.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { DAY, type GrantSketch, HOUR, NOW, type PolicySketch, short } from '../../support/declare.ts'
import { answering, onLedger, writes } from '../../support/faults.ts'
import { ADA, intentFor, raise } from '../../support/ledger.ts'
import { later } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const company = (more: WorldOptions = {}): Promise<World> =>
  testWorld({ people: ['ada', 'bob', 'cleo'], groups: { g: ['ada', 'bob'] }, ...more })

const UNPRUNED = { config: { prune: false } } as const
const grantOn = (on: string, more: Partial<GrantSketch> = {}): GrantSketch => ({ on, cap: 800, from: NOW, until: NOW + DAY, ...more })

/** A cycle after so long. */
async function capsLater(one: World, time: number, declared?: PolicySketch): Promise<Record<string, number>> {
  await later(one, time, declared)
  return one.caps()
}

describe('an undeclared cap', () => {
  test('comes back at the end of each grant, whatever one days before had put there', async () => {
    const one = await company({ caps: { ada: 500 } })
    const first = grantOn('ada', { cap: 6000 })
    const second = grantOn('ada', { cap: 500, from: NOW + 5 * DAY, until: NOW + 6 * DAY })
    await one.cycle({ caps: { team: 900 }, grants: [first, second] })
    expect(one.caps()).toEqual({ team: 900, ada: 6000 })
    for (const days of [2, 1, 2.5, 1]) expect(await capsLater(one, days * DAY)).toEqual({ team: 900, ada: 500 })
  })

  test('comes back after two successive grants, also when no cycle ran meanwhile', async () => {
    for (const isDown of [false, true]) {
      const one = await company({ caps: { ada: 500 } })
      const second = grantOn('ada', { cap: 700, from: NOW + DAY, until: NOW + 2 * DAY })
      await one.cycle({ caps: { team: 900 }, grants: [grantOn('ada'), second] })
      if (isDown) one.restart()
      else expect(await capsLater(one, DAY / 2)).toEqual({ team: 900, ada: 800 })
      expect(await capsLater(one, isDown ? 1.5 * DAY : DAY)).toEqual({ team: 900, ada: 700 })
      expect(await capsLater(one, DAY)).toEqual({ team: 900, ada: 500 })
    }
  })

  test.each(['team', 'group:g', 'ada'])('stays when a whole grant passes while no cycle runs: %s', async (on) => {
    const one = await company({ caps: { team: 900, 'group:g': 700, ada: 500 } })
    await one.cycle({ grants: [grantOn(on, { from: NOW + DAY, until: NOW + 2 * DAY })] })
    one.restart()
    expect(await capsLater(one, 3 * DAY)).toEqual({ team: 900, 'group:g': 700, ada: 500 })
  })
})

const POLICY = { team: 900 }
const SCOPES = [['a person', 'ada'] as const, ['a group', 'group:g'] as const]

describe.each(SCOPES)('a cap of ours on %s that policy has dropped', (_name, on) => {
  const declared = { caps: { ...POLICY, [on]: 500 } }
  const dropped = { caps: POLICY, ...(on === 'ada' ? {} : { bare: ['g'] }) }

  /** At which step of a grant's life the declaration goes. */
  const WHEN = ['before the grant', 'with its beginning', 'while it runs', 'with its end'] as const
  const live = async (one: World, when: (typeof WHEN)[number]): Promise<void> => {
    const grants = [grantOn(on, { from: NOW + HOUR })]
    await one.cycle(declared)
    if (when === 'before the grant') await one.cycle(dropped)
    const isDropped = when === 'before the grant' || when === 'with its beginning'
    await capsLater(one, 2 * HOUR, { ...(isDropped ? dropped : declared), grants })
    expect(one.caps()).toMatchObject({ [on]: 800 })
    if (when === 'while it runs') await capsLater(one, HOUR, { ...dropped, grants })
    expect(one.caps()).toMatchObject({ [on]: 800 })
    await capsLater(one, DAY, { ...dropped, grants })
  }

  test.each(WHEN)('comes back where nothing is pruned, and is pruned once that is asked for: dropped %s', async (when) => {
    const one = await company(UNPRUNED)
    await live(one, when)
    expect(one.caps()).toEqual({ team: 900, [on]: 500 })
    expect(await capsLater(one, HOUR)).toEqual({ team: 900, [on]: 500 })
    one.restart({ prune: true })
    expect(await capsLater(one, HOUR)).toEqual({ team: 900 })
  })

  test.each(WHEN.slice(1))('is gone after the grant where that is pruned: dropped %s', async (when) => {
    const one = await company()
    await live(one, when)
    expect(one.caps()).toEqual({ team: 900 })
  })

  test.each(WHEN.slice(1))('comes back while a file is broken, and is cleared when the set is whole: dropped %s', async (when) => {
    const one = await company()
    const grants = [grantOn(on, { from: NOW + HOUR })]
    await one.cycle(declared)
    await capsLater(one, 2 * HOUR, { ...(when === 'with its beginning' ? dropped : declared), grants })
    if (when === 'while it runs') await capsLater(one, HOUR, { ...dropped, grants })
    one.state.policyValid = false
    expect(await capsLater(one, DAY, { ...dropped, grants })).toEqual({ team: 900, [on]: 500 })
    one.state.policyValid = true
    expect(await capsLater(one, HOUR)).toEqual({ team: 900 })
  })

  test('does not come back where another client had set another before the grant', async () => {
    const one = await company(UNPRUNED)
    await one.cycle(declared)
    one.foreign(on, 650)
    const grants = [grantOn(on, { from: NOW + HOUR })]
    await capsLater(one, 2 * HOUR, { ...dropped, grants })
    expect(await capsLater(one, 2 * DAY)).toEqual({ team: 900, [on]: 650 })
    expect(await capsLater(one, 2 * DAY)).toEqual({ team: 900, [on]: 650 })
    expect(one.ledger.owned().map(({ scope }) => scope.kind)).toEqual(['team'])
  })
})

describe.each(SCOPES)('a grant over a declared cap gives that cap back as ours, whatever stood there before: %s', (_name, on) => {
  const FOUND = { caps: { ada: 1500, 'group:g': 1500 } } as const
  const WITHOUT = { caps: POLICY, ...(on === 'ada' ? {} : { bare: ['g'] }) }
  const based = (cap: number): PolicySketch => ({ caps: { ...POLICY, [on]: cap } })
  const granted = (base: PolicySketch): PolicySketch => ({ ...base, grants: [grantOn(on)] })
  const both = granted(based(300))
  /** Edits one after the other; nothing is declared at the end. */
  const EDITS: readonly (readonly [string, readonly PolicySketch[]])[] = [
    ['both begin at once', [both]],
    ['the declared cap comes while the grant runs', [granted(WITHOUT), both]],
    ['the declared cap changes while the grant runs', [based(200), granted(based(200)), both]],
    ['the declared cap changes as the grant begins', [based(200), both]],
    ['the declared cap goes before the grant', [both, granted(WITHOUT)]],
  ]

  test.each(EDITS)('%s', async (_edit, edits) => {
    for (const prune of [true, false]) {
      const one = await company({ ...FOUND, config: { prune } })
      for (const edit of edits) await one.cycle(edit)
      expect(one.caps()[on]).toBe(800)
      await one.cycle(WITHOUT)
      expect(one.caps()[on]).toBe(prune ? undefined : 300)
      one.restart({ prune: true })
      await one.cycle()
      expect(one.caps()[on]).toBeUndefined()
    }
  })

  test('both are gone at the start after a crash that left the first write open', async () => {
    const intents: Parameters<World['ledger']['recordIntent']>[0][] = []
    const living = await company({
      ...FOUND,
      wrapLedger: onLedger((method, [intent]) => {
        if (method === 'recordIntent') intents.push(intent as (typeof intents)[number])
      }),
    })
    await living.cycle(both)
    const one = await company(FOUND)
    for (const intent of intents) if (short(intent.change.scope) === on) await one.ledger.recordIntent(intent)
    one.foreign(on, 800)
    await one.cycle(WITHOUT)
    expect(one.caps()[on]).toBeUndefined()
  })
})

test('a grant over a cap whose declaration ends with the grant leaves only caps of ours', async () => {
  const one = await company(UNPRUNED)
  await one.cycle({ caps: { team: 900, ada: 500 }, grants: [grantOn('ada')] })
  expect(await capsLater(one, 2 * DAY, { caps: { team: 900 } })).not.toMatchObject({ ada: 800 })
})

test.each([
  ['that is in force', [true, true, false, false]],
  ['that was left in force', [true, false, false, false]],
])('while nobody knows whether a rule still matches, a grant gives back the cap of it %s', async (_name, known) => {
  const one = await company()
  const rules = [{ when: { groups: ['g'] }, cap: 300 }]
  const grants = [grantOn('ada', { from: NOW + 2 * HOUR })]
  const seen: (number | undefined)[] = []
  for (const [index, isKnown] of known.entries()) {
    // The members of a group that the service does not know are not known.
    one.sandbox.store.saveGroup({ id: 'g', name: isKnown ? 'G' : 'Renamed' })
    one.sandbox.reload()
    seen.push((await capsLater(one, [0, HOUR, 2 * HOUR, DAY][index] ?? 0, { caps: { team: 900 }, rules, grants }))['ada'])
  }
  expect(seen).toEqual([300, 300, 800, 300])
})

test('an open write of a second grant restores the cap that the first would', async () => {
  const one = await company({ caps: { ada: 500 } })
  const second = grantOn('ada', { cap: 700, from: NOW + DAY, until: NOW + 2 * DAY })
  await one.cycle({ caps: { team: 900 }, grants: [grantOn('ada'), second] })
  expect(one.caps()).toEqual({ team: 900, ada: 800 })
  const change = { ...raise(ADA, 800, 700), effect: 'lower' as const }
  await one.ledger.recordIntent(intentFor(change, { entry: { kind: 'grant', cap: credits(700) }, at: one.clock.now() }))
  one.foreign('ada', 700)
  one.restart()
  expect(await capsLater(one, 3 * DAY, { caps: { team: 900 } })).toEqual({ team: 900, ada: 500 })
})

const [OURS, UNASKED] = [{ caps: { team: 900, ada: 500 } }, { caps: { team: 900 } }] as const
const GRANTS = [grantOn('ada', { from: NOW + 2 * HOUR, until: NOW + 3 * HOUR })]
const during = { ...UNASKED, grants: GRANTS }
/** Policies one hour after the other: twice before the grant, while it runs, at its end, after it. */
const LIVES: readonly (readonly [string, WorldOptions['caps'], readonly PolicySketch[], number | undefined])[] = [
  ['over nothing', {}, [UNASKED, UNASKED, during, during, UNASKED], undefined],
  ['over a cap of somebody else', { ada: 650 }, [UNASKED, UNASKED, during, during, UNASKED], 650],
  ['over a cap that policy has dropped', {}, [OURS, UNASKED, during, during, UNASKED], 500],
  ['over a cap that goes as it begins', {}, [OURS, OURS, during, during, UNASKED], 500],
  ['over a cap that goes as it ends', {}, [OURS, OURS, { ...OURS, grants: GRANTS }, UNASKED, UNASKED], 500],
  ['over a cap that goes after it', {}, [OURS, OURS, { ...OURS, grants: GRANTS }, OURS, UNASKED], 500],
  ['over what was to have none', {}, [{ caps: { team: 900, ada: 'none' } }, UNASKED, during, during, UNASKED], undefined],
]

test.each(LIVES.flatMap((life) => [false, true].map((dies) => [...life, dies] as const)))(
  'a grant’s write that lands only after its end is cleared again: %s',
  async (_name, caps = {}, policies, before, dies) => {
    const lost = { broken: false }
    const one = await company({ ...UNPRUNED, caps, wrapTransport: answering(writes('ada'), 503, lost) })
    const back = before === undefined ? { team: 900 } : { team: 900, ada: before }
    const [first, second, granted, ended, after] = policies
    await capsLater(one, 0, first)
    await capsLater(one, HOUR, second)
    lost.broken = true
    if (dies) {
      // It died with the first try under way, and looked again when the grant was over.
      const stood = one.caps()['ada']
      const raised = raise(ADA, stood ?? 0, 800)
      const change: typeof raised = stood === undefined ? { ...raised, effect: 'set', from: 'none' } : raised
      await one.ledger.recordIntent(intentFor(change, { entry: { kind: 'grant', cap: credits(800) }, at: one.clock.now() }))
      one.restart()
    } else await capsLater(one, HOUR, granted)
    lost.broken = false
    await capsLater(one, 2 * HOUR, ended)
    expect(one.caps()).toEqual(back)
    await capsLater(one, HOUR, after)
    one.foreign('ada', 800)
    await capsLater(one, HOUR)
    expect(await capsLater(one, HOUR)).toEqual(back)
    expect(await capsLater(one, HOUR)).toEqual(back)
  },
)

describe('a grant that was removed from the policy', () => {
  const policy = { caps: { team: 900, ada: 500 }, protect: ['ada'] }
  const held = async (until: GrantSketch['until'], time: number): Promise<readonly string[]> => {
    const one = await company()
    await one.cycle({ ...policy, grants: [grantOn('ada', { until })] })
    one.restart()
    const { planned } = await later(one, time, policy)
    expect(one.caps()).toEqual({ team: 900, ada: planned.plan.holds.length === 0 ? 500 : 800 })
    return planned.plan.holds.flatMap(({ guards }) => guards)
  }

  test.each([['at an instant', NOW + DAY] as const, ['with the cycle', 'cycleEnd'] as const])(
    'after its end %s, while nobody was looking, has ended all the same and passes the guards',
    async (_name, until) => expect(await held(until, 20 * DAY)).toEqual([]),
  )

  test.each([['at an instant', NOW + DAY] as const, ['with the cycle', 'cycleEnd'] as const])(
    'before its end %s is judged by the guards as any edit is',
    async (_name, until) => expect(await held(until, HOUR)).toEqual(['protected']),
  )
})

test.each([
  ['that somebody else had set', { caps: { ada: 300 } }, {}, { ada: 300 }],
  ['of ours, without pruning', UNPRUNED, { ada: 300 }, { ada: 300 }],
  ['of ours, with pruning', {}, { ada: 300 }, {}],
] as const)('a grant of 0 that the service does not keep leaves at its end what stood there: a cap %s', async (_name, more, ours, left) => {
  const one = await company({ switches: { zeroCap: 'omitted' }, ...more })
  await one.cycle({ caps: { team: 900, ...ours } })
  await capsLater(one, HOUR, { caps: { team: 900 }, grants: [grantOn('ada', { cap: 0 })] })
  expect(one.caps()).toEqual({ team: 900, ada: 300 })
  expect(await capsLater(one, 2 * DAY)).toEqual({ team: 900, ...left })
  expect(await capsLater(one, HOUR)).toEqual({ team: 900, ...left })
})
