// Deployments that copy a team or group cap to each member: handled with `capSemantics: copied`, recognised and held with `layered`. Reads that
// show inherited caps are the other deviation, and must never look like foreign changes.
import { describe, expect, test } from 'vitest'
import { email, HOUR, keysOf, type PolicySketch, SETTINGS, short } from '../../support/declare.ts'
import { answering, cutShort, reads, writes } from '../../support/faults.ts'
import { approve, expectNothing, later, MINUTE, worldUnder } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY: WorldOptions = {
  people: ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'],
  groups: { a: ['ada', 'bob'], b: ['cleo'] },
}
const POLICY: PolicySketch = { caps: { team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, dan: 700, eve: 'none' } }
const RESOLVED = { ada: 4000, bob: 1500, cleo: 900, dan: 700, eve: 500, fay: 500 }
const COPIES = { capSemantics: 'fan-out' } as const

describe('capSemantics: copied', () => {
  test.each([
    ['on a service that copies', 'fan-out', 'explicit'],
    ['on a service that keeps layers', 'layered', 'explicit'],
    ['on a service that copies and shows what applies', 'fan-out', 'inherited'],
    ['on a service that keeps layers and shows what applies', 'layered', 'inherited'],
  ] as const)('%s: everybody gets their resolved cap, and then nothing is written', async (_row, capSemantics, capReads) => {
    const one = await testWorld({ ...COMPANY, switches: { capSemantics, capReads }, config: { capSemantics: 'copied' } })
    expect((await one.cycle(POLICY)).result).toBe('success')
    expect(one.inForce()).toEqual(RESOLVED)
    await expectNothing(one)
    expect(one.count('GetUsageConfig')).toBe(3 + 6)
    expect(one.begun('ForeignChange')).toEqual([])
  })

  test('copies of an earlier team cap are ours after a restart, and after the team has another cap', async () => {
    const config = { capSemantics: 'copied', onDrift: 'alert' } as const
    const one = await worldUnder(POLICY, { ...COMPANY, config })
    await one.cycle({ caps: { ...POLICY.caps, team: 400 } })
    one.foreign('dan', 400)
    one.restart()
    await one.cycle({ caps: { ...POLICY.caps, team: 600 } })
    expect(one.inForce()['dan']).toBe(700)
    expect(one.begun('ForeignChange')).toEqual([])
  })

  test('caps that the clear of an orphaned group overwrites are restored, without a foreign change', async () => {
    const one = await worldUnder(POLICY, { ...COMPANY, switches: COPIES, config: { capSemantics: 'copied', onDrift: 'alert' } })
    const { 'group:b': _, ...caps } = POLICY.caps ?? {}
    await one.cycle({ caps: { ...caps, cleo: 900 } })
    expect(one.inForce()['cleo']).toBe(900)
    expect(one.begun('ForeignChange')).toEqual([])
  })

  test('a focused cycle succeeds only if all descendants that its write may have moved could be read', async () => {
    const away = { broken: false }
    const wrapTransport = answering(reads('ada'), 503, away)
    const one = await worldUnder(POLICY, { ...COMPANY, switches: COPIES, config: { capSemantics: 'copied' }, wrapTransport })
    away.broken = true
    const focus = keysOf('team')
    const report = await one.cycle({ caps: { ...POLICY.caps, team: 600 } }, { focus })
    expect(report).toMatchObject({ result: 'partial', message: expect.stringContaining(email('ada')) })
  })

  test.each<readonly [string, (one: World) => unknown]>([
    ['nothing has happened since', () => undefined],
    ['the wall clock has gone back since they were read', (one) => one.clock.jumpWall(-HOUR)],
    ['what was read of somebody is not believed any more', (one) => [...keysOf('ada')].map((key) => one.state.readings.delete(key))],
  ])('an edit that is looked at alone restores all own caps, also of descendants that were read already, where %s', async (_, happen) => {
    const one = await worldUnder(POLICY, { ...COMPANY, switches: COPIES, config: { capSemantics: 'copied' } })
    happen(one)
    const focus = keysOf('team', 'eve', 'fay')
    expect((await one.cycle({ caps: { ...POLICY.caps, team: 600 } }, { focus })).result).toBe('success')
    expect(one.inForce()).toEqual({ ...RESOLVED, eve: 600, fay: 600 })
  })

  test('a newcomer gets their own cap with the next reading of the roster', async () => {
    const one = await worldUnder(POLICY, { ...COMPANY, switches: COPIES, config: { capSemantics: 'copied' } })
    one.addPerson('gus')
    await one.cycle()
    expect(one.caps()).toMatchObject({ gus: 500 })
  })

  test('a held lowering is not undone upwards by a team write that reaches the same people', async () => {
    const people = Array.from({ length: 20 }, (_, index) => `q${index + 10}`)
    const one = await testWorld({ people, groups: { a: people.slice(0, 10) }, switches: COPIES, config: { capSemantics: 'copied' } })
    await one.cycle({ caps: { team: 1000, 'group:a': 500 } })
    const { result, planned } = await one.cycle({ caps: { team: 2000, 'group:a': 400 } })
    expect(result).toBe('held')
    expect(one.inForce()).toMatchObject({ q10: 500, q19: 500, q20: 2000 })
    expect(one.caps()).toMatchObject({ team: 1000, 'group:a': 500 })
    for (const { id } of planned.plan.holds) approve(one, id)
    await one.cycle()
    expect(one.caps()).toMatchObject({ team: 2000, 'group:a': 400, q10: 400, q20: 2000 })
  })

  test.each([
    ['a stop', false],
    ['a crash', true],
  ])('%s between the team’s write and its repairs is repaired by the next cycle, without a foreign change', async (_row, dies) => {
    const one = await worldUnder(POLICY, { ...COMPANY, switches: COPIES, config: { capSemantics: 'copied' } })
    const readSince = one.clock.now()
    await one.clock.pass(1)
    const { applied } = await cutShort(one, writes(), { caps: { ...POLICY.caps, team: 600 } }, { dies })
    expect([applied?.interrupted, one.ledger.openIntents().length]).toEqual(['stopped', dies ? 1 : 0])
    if (dies) one.restart()
    one.forget()
    await one.cycle(undefined, dies ? {} : { readSince })
    expect(one.inForce()).toEqual({ ...RESOLVED, eve: 600, fay: 600 })
    expect(one.begun('ForeignChange')).toEqual([])
  })
})

test('copying seen while capSemantics is layered stops team and group writes, says so once with evidence, and repairs the damage without a foreign change', async () => {
  const one = await worldUnder({ caps: { ada: 4000 } }, { ...COMPANY, switches: COPIES })
  const first = await one.cycle({ caps: { ada: 4000, 'group:a': 1500, team: 500 } })
  expect(one.ledger.fact('seen')?.caps).toMatchObject({
    value: 'copied',
    evidence: expect.stringContaining('ada@example.com changed from 4000 to 1500'),
  })
  expect(first.result).toBe('held')
  expect(one.writes()).toEqual(['ada 4000', 'group:a 1500', 'ada 4000'])
  one.calls.length = 0
  const second = await one.cycle()
  expect(one.writes()).toEqual([])
  expect(second.result).toBe('held')
  expect(second.planned.plan.holds).toMatchObject([{ guards: ['semantics'] }])
  expect(one.begun('ForeignChange')).toEqual([])
  const third = await one.cycle()
  expect(third.result).toBe('held')
  expect(one.begun('Held', 'Contested', 'BreakerOpen')).toHaveLength(1)
  expect(one.writes()).toEqual([])
})

test('reads that show inherited caps show one after a clear, which is in sync and not written again', async () => {
  const one = await worldUnder({ caps: { team: 500, p001: 4000 } }, { people: 20, switches: { capReads: 'inherited' } })
  await one.cycle({ caps: { team: 500, p001: 'none' } })
  await expectNothing(one)
  expect(one.ledger.fact('seen')?.reads?.value).toBe('inherited')
})

test('copying is not seen in a value that we wrote there ourselves after a stop', async () => {
  const asked: PolicySketch = { caps: { ada: 4000, team: 500 } }
  const one = await worldUnder({ caps: { ada: 4000 } }, { people: ['ada', 'bob'] })
  await cutShort(one, writes('team'), asked)
  await later(one, 60_000, { caps: { ada: 500, team: 500 } })
  await one.cycle()
  expect(one.ledger.fact('seen')?.caps?.value).not.toBe('copied')
  expect(one.caps()).toEqual({ ada: 500, team: 500 })
})

test('a released team write waits for the people of another hold, because it would carry out the held change', async () => {
  const one = await testWorld({ people: 20, switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } })
  await one.cycle({ caps: { team: 500 } })
  const wanted = { caps: { team: 400, p001: 0, p002: 0, p003: 0, p004: 0 } }
  const { holds } = (await one.cycle(wanted)).planned.plan
  const [team, blocked, lowered] = holds.toSorted((a, b) => a.people - b.people).map(({ id }) => [id])
  expect(holds.map(({ people }) => people).toSorted((a, b) => a - b)).toEqual([0, 4, 16])
  const { after, result } = await one.cycle(wanted, { approve: team ?? [] })
  expect(result).toBe('held')
  expect(one.caps()).toMatchObject({ team: 500, p001: 500, p005: 500 })
  expect(after.plan.changes.find(({ scope }) => scope.kind === 'team')?.disposition).toMatchObject({
    kind: 'deferred',
    waitsFor: { email: 'p001@example.com' },
  })
  await one.cycle(wanted, { approve: blocked ?? [] })
  expect(one.caps()).toMatchObject({ team: 500, p001: 0, p005: 500 })
  expect((await one.cycle(wanted, { approve: lowered ?? [] })).result).toBe('success')
  expect(one.caps()).toMatchObject({ team: 400, p001: 0, p004: 0, p005: 400, p020: 400 })
})

const COPIED: WorldOptions = {
  people: ['ada', 'bob', 'cleo', 'dan'],
  groups: { a: ['ada', 'bob'], b: ['ada'] },
  switches: { capSemantics: 'fan-out', capReads: 'inherited' },
  config: { capSemantics: 'copied', capReads: 'inherited', onDrift: 'alert', guards: { ...SETTINGS.guards, maxCleared: 'off' } },
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
  const guards = { ...SETTINGS.guards, maxLowered: { percent: 1, floor: 1 } }
  const one = await testWorld({ ...COPIED, config: { ...COPIED.config, onDrift: 'heal', guards } })
  const policy: PolicySketch = { caps: { team: 500, 'group:a': 900, ada: 4000 } }
  const edited: PolicySketch = { caps: { ...policy.caps, team: 400 } }
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
  const edited: PolicySketch = { caps: { team: 600, ada: 4000, bob: 900 } }
  const mayWrite = ({ key, to }: { key: string; to: unknown }): boolean =>
    key === 'team' ? to === 600 : key === email('bob') && to === 900
  await one.cycle(edited, { confirm: async () => ({ mayWrite }) })
  expect(one.caps()).toMatchObject({ team: 600, ada: 600, bob: 900 })
})
