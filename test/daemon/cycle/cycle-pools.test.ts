// Pools from end to end: deals are written and kept in an order that keeps the sum, through crashes and lost answers; guards judge a deal once;
// members join, leave, and have explicit caps.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { DAY, email, HOUR, numbered, type PoolSketch, research } from '../../support/declare.ts'
import { answering, reads, writes } from '../../support/faults.ts'
import { approve, later } from '../../support/living.ts'
import { noon, type PastUse, recordPast } from '../../support/use.ts'
import { type Declared, testWorld } from '../../support/world.ts'

const SEAT = 500
/** Add-on use: what exceeds the seat. */
const spent = (who: string, amount: number, at = noon(19)): PastUse => ({ who, at, credits: SEAT + amount })

describe('a pool', () => {
  test('gives everybody a cap of their own, and a second cycle writes nothing', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    recordPast(one, [spent('ada', 100)])
    const { planned } = await one.cycle({ caps: { team: 50 }, pools: [research(1100, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ team: 50, ada: 600, bob: 500 })
    expect(planned.plan.changes.find(({ to }) => to === 600)?.reason).toMatch(/^pool research: /)
    expect(one.ledger.owned().find(({ cap }) => cap === 600)).toMatchObject({ owner: 'pool' })
    one.forget()
    expect((await later(one, 5 * HOUR)).result).toBe('noop')
    expect(one.writes()).toEqual([])
  })

  test.each(['__proto__', 'constructor'])('called %s is dealt, frozen and shown as any other', async (name) => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const pools = [research(1100, ['ada', 'bob'], { name })]
    await one.cycle({ pools })
    expect(Object.hasOwn(one.state.frozenPools, name)).toBe(false)
    expect(one.state.pools[name]).toMatchObject({ dealtAt: expect.any(Number) })
    expect(one.caps()).toEqual({ ada: 550, bob: 550 })
  })

  test.each<[string, PoolSketch['members'], string]>([
    ['e-mails', { kind: 'emails', emails: [email('zoe')] }, 'no approved person has one of its e-mails'],
    ['a group', { kind: 'groups', ids: ['grp_r'] }, 'no approved person is in group grp_r'],
    [
      'a condition',
      { kind: 'when', when: { email: '*@nowhere.example' } },
      'no approved person meets its condition in two readings that agree',
    ],
  ])('of %s that are nobody says that it has no members', async (_name, members, why) => {
    const one = await testWorld({ people: ['ada'], groups: { grp_r: [] } })
    const { planned } = await one.cycle({ pools: [research(100, members)] })
    expect(planned.plan.problems).toEqual([
      expect.objectContaining({ severity: 'warning', code: 'POOL_NOBODY', message: `pool research: has no members: ${why}` }),
    ])
    const after = await one.cycle({ pools: [research(100, ['ada'])] })
    expect(after.planned.plan.problems.map(({ code }) => code)).not.toContain('POOL_NOBODY')
  })

  test('moves head-room to whom it serves: first the lower, hours later the raise', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const declared: Declared = { pools: [research(1000, ['ada', 'bob'])] }
    await one.cycle(declared)
    expect(one.caps()).toEqual({ ada: 500, bob: 500 })
    recordPast(one, [spent('ada', 480)])
    await later(one, 5 * HOUR)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    const { result, after } = await later(one, 2 * HOUR)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    expect(result).toBe('noop')
    expect(after.scopes.find(({ scope }) => scopeKey(scope) === email('ada'))).toMatchObject({
      state: 'in_sync',
      why: expect.stringMatching(/^a raise to 740 waits until use up to 2026-11-20 17:\d\d UTC shows$/),
    })
    expect(after.plan.problems).toMatchObject([{ code: 'POOL_WAITS', message: expect.stringContaining(`: ${email('ada')} to 740`) }])
    await later(one, 2.5 * HOUR)
    expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  })

  test('reverts a foreign change to the dealt cap, also over a restart', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    await one.cycle({ pools: [research(1000, ['ada', 'bob'])] })
    one.foreign('ada', 9000)
    one.restart()
    await one.cycle()
    expect(one.caps()).toEqual({ ada: 500, bob: 500 })
  })

  test('raises no member while another client has raised one, and lowers that one first', async () => {
    const lost = { broken: true }
    const caps = { ada: 100, bob: 100 }
    const one = await testWorld({ people: ['ada', 'bob'], caps, wrapTransport: answering(writes('bob'), 503, lost) })
    await one.cycle({ pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ ada: 500, bob: 100 })
    one.foreign('ada', 950)
    lost.broken = false
    one.forget()
    await later(one, HOUR)
    expect(one.writes()[0]).toBe('ada 500')
    expect(one.caps()).toEqual({ ada: 500, bob: 100 })
  })

  test('keeps its last deal while use is unknown', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], switches: { plan: 'team' } })
    await one.cycle({ caps: { team: 70 }, pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ team: 70 })
    expect(one.state.frozenPools['research']).toMatch(/balance/)
  })

  test('leaves a member alone whose cap cannot be read, and raises no other', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 100, bob: 100 }, wrapTransport: answering(reads('bob')) })
    await one.cycle({ pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ ada: 100, bob: 100 })
  })
})

describe('members', () => {
  test('of a group that joins are dealt after two readings of the group', async () => {
    const one = await testWorld({ people: ['ada', 'bob', 'cleo'], groups: { g: ['ada', 'bob'] } })
    await one.cycle({ pools: [research(900, { kind: 'groups', ids: ['g'] })] })
    expect(one.caps()).toEqual({ ada: 450, bob: 450 })
    one.setMembers('g', ['ada', 'bob', 'cleo'])
    await later(one, HOUR)
    expect(one.caps()).toEqual({ ada: 450, bob: 450 })
    await later(one, HOUR)
    expect(one.caps()).toEqual({ ada: 300, bob: 300, cleo: 300 })
  })

  test('who leave lose the cap, and stay in the sum with their use', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { g: ['ada', 'bob'] } })
    recordPast(one, [spent('bob', 300)])
    await one.cycle({ pools: [research(1300, { kind: 'groups', ids: ['g'] })] })
    expect(one.caps()).toEqual({ ada: 500, bob: 800 })
    one.setMembers('g', ['ada'])
    for (let reading = 0; reading < 2; reading += 1) {
      await later(one, HOUR)
    }
    // What bob used until the cap went may not show yet.
    for (const [hours, ada] of [
      [1, 500],
      [4, 1000],
    ] as const) {
      await later(one, hours * HOUR)
      expect(one.caps()).toEqual({ ada })
    }
  })

  test('with an explicit cap get it first, at most what remains', async () => {
    const one = await testWorld({ people: ['ada', 'bob', 'cleo'] })
    recordPast(one, [spent('cleo', 200)])
    await one.cycle({ caps: { ada: 300, bob: 5000 }, pools: [research(1000, ['ada', 'bob', 'cleo'])] })
    expect(one.caps()).toEqual({ ada: 300, bob: 500, cleo: 200 })
    expect(one.ledger.owned().map(({ cap, owner }) => [cap, owner])).toEqual(
      expect.arrayContaining([
        [300, 'policy'],
        [500, 'pool'],
      ]),
    )
  })

  test('who become protected keep their dealt cap, though policy does not ask for it', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const pools = [research(1000, ['ada', 'bob'])]
    await one.cycle({ caps: { team: 5000 }, pools })
    one.forget()
    const { planned } = await one.cycle({ caps: { team: 5000 }, pools, protect: ['ada'] })
    expect(planned.plan.holds).toEqual([])
    expect(one.caps()).toEqual({ team: 5000, ada: 500, bob: 500 })
    expect(one.writes()).toEqual([])
  })

  test.each([
    ['waits while the credits cannot pay for it', 700, 400],
    ['goes where they can', 580, 580],
  ])('the own cap of a protected member %s', async (_what, own, expected) => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const pools = [research(1000, ['ada', 'bob'], { max: 400 })]
    await one.cycle({ pools })
    await later(one, 5 * HOUR, { caps: { ada: own }, pools, protect: ['ada'] })
    expect(one.caps()).toEqual({ ada: expected, bob: 400 })
  })

  test('whose reading of the dealt cap may be inherited get it explicitly before the team is raised', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { team: 500 }, switches: { capReads: 'inherited' } })
    const sums: number[] = []
    one.onCall = ({ operation }) => {
      const { ada = 'none', bob = 'none' } = one.inForce()
      if (operation === 'UsageConfig') sums.push(Number(ada) + Number(bob))
    }
    await one.cycle({ caps: { team: 900 }, pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ team: 900, ada: 500, bob: 500 })
    expect(Math.max(...sums)).toBe(1000)
  })

  test('who are protected keep their cap', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 700 } })
    await one.cycle({ protect: ['ada'], pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ ada: 700, bob: 300 })
  })
})

describe('guards', () => {
  const names = numbered(40)
  const caps = Object.fromEntries(names.map((name) => [name, 1000]))
  const declared = (total: number): Declared => ({ pools: [research(total, names)] })

  test('hold a first deal, under an id that no reading changes, and its approval releases the deal as it is then', async () => {
    const one = await testWorld({ people: 40, caps })
    const first = await one.cycle(declared(20_000))
    expect(first.planned.plan.holds).toMatchObject([{ people: 40 }])
    expect(one.caps()).toEqual(caps)
    const id = first.planned.plan.holds[0]?.id ?? ''
    recordPast(
      one,
      names.slice(0, 10).map((name) => spent(name, 450)),
    )
    const second = await later(one, 5 * HOUR)
    expect(second.planned.plan.holds.map((hold) => hold.id)).toEqual([id])
    expect(second.planned.plan.holds[0]?.changes).not.toEqual(first.planned.plan.holds[0]?.changes)
    approve(one, id)
    await one.cycle()
    expect(one.caps()['p020']).toBeLessThan(500)
    expect(Object.values(one.caps()).reduce((sum, cap) => sum + cap, 0)).toBeLessThanOrEqual(20_000)
    await one.cycle()
    expect(one.ledger.approvals().map(({ state }) => state)).toEqual(['spent'])
  })

  test('let later deals move within the reviewed one', async () => {
    const one = await testWorld({ people: 40, caps })
    const held = await one.cycle(declared(20_000))
    approve(one, held.planned.plan.holds[0]?.id)
    await one.cycle()
    recordPast(
      one,
      names.slice(0, 4).map((name) => spent(name, 460)),
    )
    const { planned } = await later(one, 5 * HOUR)
    expect(planned.plan.holds).toEqual([])
    expect(one.writes().length).toBeGreaterThan(10)
  })

  test.each<readonly [string, Declared]>([
    ['other credits', declared(10_000)],
    ['other members', { pools: [research(20_000, names.slice(0, 39)), { ...research(1, ['p040']), name: 'other' }] }],
  ])('judge %s like any change', async (_row, changed) => {
    const one = await testWorld({ people: 40, caps })
    const held = await one.cycle(declared(20_000))
    approve(one, held.planned.plan.holds[0]?.id)
    await one.cycle()
    const { planned } = await one.cycle({
      ...changed,
      pools: changed.pools?.map((each) => ({ ...each, credits: Math.min(each.credits, 10_000) })) ?? [],
    })
    expect(planned.plan.holds).not.toEqual([])
    expect(planned.plan.holds.map(({ id }) => id)).not.toContain(held.planned.plan.holds[0]?.id)
  })

  test('void an approval when the deal has come to move a quarter more credits than shown', async () => {
    const one = await testWorld({ people: 40, caps: Object.fromEntries(names.map((name) => [name, 600])) })
    const { planned } = await one.cycle(declared(20_000))
    const id = planned.plan.holds[0]?.id ?? ''
    approve(one, id)
    for (const name of names) one.foreign(name, 1000)
    expect((await one.cycle()).result).toBe('held')
    expect(one.ledger.approvals()).toMatchObject([{ id, state: 'void' }])
  })
})

test('a process that dies at any write of a deal goes on, and every write keeps the sum', async () => {
  const total = 1500
  for (let diesAt = 1; diesAt <= 6; diesAt += 1) {
    const death = { left: diesAt }
    const one = await testWorld({
      people: ['ada', 'bob', 'cleo'],
      wrapTransport: (inner) => ({
        async send(operation, body, options) {
          if (operation === 'UsageConfig' && --death.left === 0) throw new Error('killed')
          return inner.send(operation, body, options)
        },
      }),
    })
    const sumOf = (): number => ['ada', 'bob', 'cleo'].reduce((sum, name) => sum + (one.caps()[name] ?? 0), 0)
    const sums: number[] = []
    one.onCall = ({ operation }) => {
      if (operation === 'UsageConfig') sums.push(sumOf())
    }
    const declared: Declared = { pools: [research(total, ['ada', 'bob', 'cleo'])] }
    const step = async (): Promise<void> => {
      await one.cycle(declared).catch(() => one.restart())
    }
    await step()
    recordPast(one, [spent('ada', 480)])
    for (let round = 0; round < 4; round += 1) {
      await one.clock.pass(5 * HOUR)
      await step()
    }
    await one.cycle(declared)
    expect(one.caps()['ada']).toBeGreaterThan(500)
    for (const sum of sums) expect(sum).toBeLessThanOrEqual(total)
    expect(one.ledger.fact('pools')?.['research']?.terms?.credits).toBe(credits(total))
  }
})

test('a new cycle is dealt from its start, and only once two readings name it', async () => {
  const one = await testWorld({ people: ['ada', 'bob'] })
  recordPast(one, [spent('ada', 480)])
  await one.cycle({ pools: [research(1000, ['ada', 'bob'])] })
  expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  await later(one, 12 * DAY)
  expect(one.state.frozenPools['research']).toMatch(/named once/)
  expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  await later(one, HOUR)
  expect(one.caps()).toEqual({ ada: 500, bob: 260 })
  await later(one, 5 * HOUR)
  expect(one.caps()).toEqual({ ada: 500, bob: 500 })
})
