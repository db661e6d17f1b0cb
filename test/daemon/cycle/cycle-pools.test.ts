// Pools from end to end: deals are written and kept in an order that keeps the sum, through crashes and lost answers; guards judge a deal once;
// members join, leave, and have explicit caps.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { CYCLE, DAY, email, HOUR, keysOf, NOW, numbered, type PolicySketch, research, SETTINGS, short } from '../../support/declare.ts'
import { answering, instead, whenAsked, writes } from '../../support/faults.ts'
import { approve, expectNothing, later, worldUnder } from '../../support/living.ts'
import { noon, type PastUse, recordPast } from '../../support/use.ts'
import { testWorld } from '../../support/world.ts'

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
    await expectNothing(one, 5 * HOUR)
  })

  test.each(['__proto__', 'constructor'])('called %s is dealt, frozen and shown as any other', async (name) => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const pools = [research(1100, ['ada', 'bob'], { name })]
    await one.cycle({ pools })
    expect(Object.hasOwn(one.state.frozenPools, name)).toBe(false)
    expect(one.state.pools[name]).toMatchObject({ dealtAt: expect.any(Number) })
    expect(one.caps()).toEqual({ ada: 550, bob: 550 })
  })

  test('moves head-room to whom it serves: first the lower, hours later the raise', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    const declared: PolicySketch = { pools: [research(1000, ['ada', 'bob'])] }
    await one.cycle(declared)
    expect(one.caps()).toEqual({ ada: 500, bob: 500 })
    recordPast(one, [spent('ada', 480)])
    await later(one, 5 * HOUR)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    const { result, after } = await later(one, 2 * HOUR)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    expect(result).toBe('noop')
    expect(after.scopes.find(({ scope }) => short(scope) === 'ada')).toMatchObject({
      state: 'in_sync',
      why: expect.stringMatching(/^a raise to 740 waits until use up to 2026-11-20 17:\d\d UTC shows$/),
    })
    expect(after.plan.problems).toMatchObject([{ code: 'POOL_WAITS', message: expect.stringContaining(`: ${email('ada')} to 740`) }])
    await later(one, 2.5 * HOUR)
    expect(one.caps()).toEqual({ ada: 740, bob: 260 })
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

  test('raises no further member once a reading before a write shows that another client has raised one', async () => {
    const lost = { broken: true }
    const people = ['ada', 'bob', 'cleo']
    const config = { rate: { start: 5, max: 10, concurrency: 1 }, guards: { ...SETTINGS.guards, breaker: 'off' } } as const
    const caps = { ada: 100, bob: 100, cleo: 100 }
    const one = await testWorld({ people, caps, config, wrapTransport: answering(writes(), 503, lost) })
    await one.cycle({ pools: [research(1500, people)] })
    expect(one.caps()).toEqual(caps)
    one.foreign('ada', 1400)
    lost.broken = false
    one.forget()
    await later(one, HOUR / 30, undefined, { slice: new Set() })
    expect(one.writes()[0]).toBe('ada 500')
    expect(one.caps()).toEqual({ ...caps, ada: 500 })
  })

  test('raises no member before the others are read again, where sweeps were missed', async () => {
    const one = await testWorld({ people: ['ada', 'bob'] })
    await one.cycle({ pools: [research(1000, ['ada', 'bob'])] })
    recordPast(one, [spent('ada', 480)])
    await later(one, 5 * HOUR)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    one.foreign('bob', 900)
    await later(one, 4.5 * HOUR, undefined, { focus: keysOf('ada') })
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    await later(one, 4.5 * HOUR)
    expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  })

  test('keeps its last deal while use is unknown', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], switches: { plan: 'team' } })
    await one.cycle({ caps: { team: 70 }, pools: [research(1000, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ team: 70 })
    expect(one.state.frozenPools['research']).toMatch(/balance/)
  })

  test('is not forgotten while a file is broken', async () => {
    const one = await worldUnder({ pools: [research(1000, ['ada', 'bob'])] }, { people: ['ada', 'bob'] })
    one.state.policyValid = false
    await one.cycle({})
    expect(one.ledger.fact('pools')).toMatchObject({ research: { members: { [email('ada')]: { dealt: 500 } } } })
  })
})

test('members who become protected keep their dealt cap, though policy does not ask for it', async () => {
  const one = await testWorld({ people: ['ada', 'bob'] })
  const pools = [research(1000, ['ada', 'bob'])]
  await one.cycle({ caps: { team: 5000 }, pools })
  one.forget()
  const { planned } = await one.cycle({ caps: { team: 5000 }, pools, protect: ['ada'] })
  expect(planned.plan.holds).toEqual([])
  expect(one.caps()).toEqual({ team: 5000, ada: 500, bob: 500 })
  expect(one.writes()).toEqual([])
})

describe('guards', () => {
  const names = numbered(40)
  const caps = Object.fromEntries(names.map((name) => [name, 1000]))
  const declared = (total: number): PolicySketch => ({ pools: [research(total, names)] })

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
})

test('a process that dies at any write of a deal goes on, and every write keeps the sum', async () => {
  const total = 1500
  for (let diesAt = 1; diesAt <= 6; diesAt += 1) {
    const death = { left: diesAt }
    const one = await testWorld({
      people: ['ada', 'bob', 'cleo'],
      wrapTransport: instead((operation) => {
        if (operation === 'UsageConfig' && --death.left === 0) throw new Error('killed')
        return undefined
      }),
    })
    const sumOf = (): number => ['ada', 'bob', 'cleo'].reduce((sum, name) => sum + (one.caps()[name] ?? 0), 0)
    const sums: number[] = []
    whenAsked(one, writes(), () => sums.push(sumOf()))
    const declared: PolicySketch = { pools: [research(total, ['ada', 'bob', 'cleo'])] }
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
  // Nor are other terms dealt until then.
  await later(one, 12 * DAY, { pools: [research(900, ['ada', 'bob'])] })
  // The figures are of the cycle before.
  expect(one.view().pools).toMatchObject([{ frozen: expect.stringContaining('named once'), figures: undefined }])
  expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  await later(one, HOUR, { pools: [research(1000, ['ada', 'bob'])] })
  expect(one.caps()).toEqual({ ada: 500, bob: 260 })
  await later(one, 5 * HOUR)
  expect(one.caps()).toEqual({ ada: 500, bob: 500 })
})

const BALANCE = { creditsPerSeat: credits(500), seats: 2, addOnAvailable: credits(9_000), addOnUsed: credits(9_000), readAt: NOW }

test.each([
  ['what was measured, where all of it has an owner', 100, 0, 3_964, 100],
  ['what was measured and all that nobody owns, where the rest of their use can hold it', 100, 50, 3_964, 150],
  ['no more of it than the rest of their use can hold', 100, 3_000, 800, 300],
  ['what was measured, where that is more than an estimate', 400, 3_000, 800, 400],
  ['what nobody owns, where nothing was measured of them', undefined, 3_464, 3_964, 3_464],
  ['what was measured, where no row of the roster carries use', 100, 0, undefined, 100],
])('the use of a member that counts is %s, also after a restart', async (_name, own, others, used, expected) => {
  const one = await testWorld({ people: ['ada', 'bob'] })
  await one.cycle({})
  const { roster, groups = [] } = one.state.usage ?? expect.unreachable()
  const usedBy = (who: string) => used && { used: credits(who === email('ada') ? used : 9_500) }
  const people = roster.people.map(({ used: _, ...row }) => ({ ...row, ...usedBy(row.email) }))
  const measured = { [email('bob')]: credits(9_000), ...(own !== undefined && { [email('ada')]: credits(own) }) }
  one.ledger.saveFact('usage', { roster: { ...roster, people }, groups, balance: BALANCE })
  one.ledger.saveFact('addOn', {
    readAt: NOW,
    cycles: [{ startAt: CYCLE.startAt, people: measured, others: credits(others) }],
    unassignable: [],
  })
  one.restart()
  await one.cycle({ pools: [research(20_000, ['ada', 'bob'])] }, { alone: false })
  // The roster was read later.
  expect(one.state.pools['research']).toMatchObject({ readAt: NOW, members: { [email('ada')]: { use: expected } } })
})
