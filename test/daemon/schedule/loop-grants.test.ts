// Grants start and end at their instants on the wall clock, whatever else is going on, and not at all while the clocks disagree.
import { describe, expect, test } from 'vitest'
import { worldClock } from '../../support/clock.ts'
import { CYCLE, DAY, HOUR, NOW, type PolicySketch } from '../../support/declare.ts'
import { serviceClock } from '../../support/faults.ts'
import { capsOf, living, loopOver, MINUTE, outage, passUntil, SECOND } from '../../support/living.ts'

describe('grants', () => {
  const declared: PolicySketch = {
    caps: { team: 500, ada: 1000 },
    grants: [{ on: 'ada', cap: 6000, from: NOW + 7 * MINUTE, until: NOW + 22 * MINUTE }],
  }

  test('start and end at their instants', async () => {
    const { one, set } = await living()
    // Between the looks at the wall clock, one a minute.
    const [from, until] = [NOW + 7 * MINUTE + 20 * SECOND, NOW + 22 * MINUTE + 20 * SECOND]
    set({ ...declared, grants: [{ on: 'ada', cap: 6000, from, until }] })
    await one.clock.pass(7 * MINUTE + 19 * SECOND)
    expect(one.caps()['ada']).toBe(1000)
    await one.clock.pass(2 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    await one.clock.pass(15 * MINUTE - 3 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    await one.clock.pass(3 * SECOND)
    expect(one.caps()['ada']).toBe(1000)
    expect(one.begun('ForeignChange')).toEqual([])
  })

  test('start in the middle of a sweep, which then goes on', async () => {
    const { one, set } = await living({ people: 600, rate: 4 })
    for (const [name, cap] of Object.entries(capsOf(600))) one.foreign(name, cap)
    set({ caps: capsOf(600), grants: [{ on: 'p001', cap: 6000, from: NOW + MINUTE, until: NOW + DAY }] })
    await one.clock.pass(MINUTE + 2 * SECOND)
    expect(one.caps()['p001']).toBe(6000)
    await one.clock.pass(3 * MINUTE)
    expect(one.reads().length).toBeLessThanOrEqual(600 + 8 + 3)
    expect(one.told('cycle-finished')).toHaveLength(2)
  })

  test.each([false, true])(
    'that start while a cycle writes come before what is left of it, also in the cycle of an edit: %s',
    async (isEdit) => {
      const { one, set } = await living({ people: 30, rate: 2, config: { rate: { concurrency: 1 } } })
      if (isEdit) set({})
      await one.clock.pass(isEdit ? 10 * SECOND : 0)
      set({ caps: capsOf(30), grants: [{ on: 'p030', cap: 6000, from: NOW + 40 * SECOND, until: NOW + DAY }] })
      await one.clock.pass(90 * SECOND)
      expect(one.writes().filter((write) => /^p0(30|29)/.test(write))).toEqual(['p030 6000', 'p029 1000'])
    },
  )

  test('end in one cycle, and ask for no other beside the sweeps', async () => {
    const { one, set } = await living({ caps: { bob: 300 } })
    set({ caps: { ada: 1000 }, grants: [{ on: 'bob', cap: 6000, from: NOW, until: NOW + HOUR }] })
    await one.clock.pass(HOUR - SECOND)
    one.forget()
    const before = one.told('cycle-finished').length
    await one.clock.pass(HOUR)
    expect(one.caps()).toEqual({ ada: 1000, bob: 300 })
    const sweeps = one.reads().filter((name) => name === 'ada').length
    expect(one.told('cycle-finished').length - before).toBe(sweeps + 1)
  })

  test('until cycleEnd end with the cycle', async () => {
    const clock = worldClock(CYCLE.endAt - 3 * HOUR)
    const { one, set } = await living({ people: 20, clock, config: { intervalMs: DAY, usageIntervalMs: DAY } })
    set({ caps: { p001: 1000 }, grants: [{ on: 'p001', cap: 6000, from: NOW - DAY, until: 'cycleEnd' }] })
    await one.clock.pass(3 * HOUR - MINUTE)
    expect(one.caps()).toEqual({ p001: 6000 })
    await one.clock.pass(MINUTE + SECOND)
    expect(one.caps()).toEqual({ p001: 1000 })
  })

  test('end after a restart that slept over their end', async () => {
    const { one, set, stop } = await living()
    set(declared)
    await one.clock.pass(10 * MINUTE)
    await stop()
    await one.clock.pass(DAY)
    one.restart()
    loopOver(one, declared)
    await one.clock.pass(SECOND)
    expect(one.caps()['ada']).toBe(1000)
  })
})

describe('clocks', () => {
  const declared: PolicySketch = {
    caps: { team: 500, ada: 1000 },
    grants: [{ on: 'ada', cap: 6000, from: NOW + 7 * HOUR, until: NOW + 22 * HOUR }],
  }

  test('a wall clock that jumps forwards starts a grant within a minute and makes no sweep of its own', async () => {
    const { one, set } = await living()
    set(declared)
    await one.clock.pass(MINUTE)
    one.forget()
    one.clock.jumpWall(8 * HOUR)
    await one.clock.pass(61 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    expect(one.reads()).not.toContain('team')
  })

  test('a wall clock that jumps while the service is away makes one cycle more, and the grant starts once there are answers', async () => {
    const away = { is: false }
    const { one, set } = await living({ wrapTransport: outage(away) })
    set(declared)
    await one.clock.pass(MINUTE)
    away.is = true
    one.clock.jumpWall(8 * HOUR)
    one.forget()
    await one.clock.pass(20 * MINUTE)
    expect(one.told('cycle-finished').length).toBeLessThanOrEqual(20)
    away.is = false
    await one.clock.pass(10 * MINUTE)
    expect(one.caps()['ada']).toBe(6000)
  })

  test('a wall clock that jumps backwards neither repeats nor delays a sweep', async () => {
    const { one, set } = await living()
    set(declared)
    await one.clock.pass(MINUTE)
    one.clock.jumpWall(-3 * HOUR)
    one.forget()
    await one.clock.pass(20 * MINUTE)
    expect(one.reads().filter((name) => name === 'team')).toHaveLength(4)
    one.foreign('ada', 9000)
    await one.clock.pass(6 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
  })

  test('a backward jump with an answer outstanding leaves no intent open once time has caught up', async () => {
    const { one, set } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    one.onCall = ({ operation }) => void (operation === 'UsageConfig' && one.clock.jumpWall(-HOUR))
    set({ caps: { team: 600 } })
    await one.clock.pass(SECOND)
    one.onCall = undefined
    await one.clock.pass(2 * HOUR)
    expect(one.caps()).toEqual({ team: 600 })
    expect(one.ledger.openIntents()).toEqual([])
  })

  test('more than five minutes between the service’s clock and ours freeze grants, until they agree again', async () => {
    const skew = { ms: 6 * MINUTE }
    const { one, set } = await living({ wrapTransport: serviceClock(skew), config: { intervalMs: HOUR / 2, usageIntervalMs: 12 * HOUR } })
    set(declared)
    await one.clock.pass(8 * HOUR)
    expect(one.caps()['ada']).toBe(1000)
    expect(one.view().clockSkewMs).toBeGreaterThan(5 * MINUTE)
    skew.ms = 0
    await one.clock.pass(36 * MINUTE)
    expect(one.caps()['ada']).toBe(6000)
    skew.ms = -DAY
    await one.clock.pass(20 * HOUR)
    expect(one.caps()['ada']).toBe(6000)
    skew.ms = 0
    await one.clock.pass(36 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
  })

  test('our own wall clock gone wrong neither starts nor ends a grant', async () => {
    const skew = { ms: 0 }
    const { one, set } = await living({ wrapTransport: serviceClock(skew) })
    set(declared)
    await one.clock.pass(MINUTE)
    one.clock.jumpWall(8 * HOUR)
    skew.ms = -8 * HOUR
    await one.clock.pass(10 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
  })
  describe('that a cycle finds out of step, or in step again', () => {
    /** Nothing else names the scopes of these grants. */
    const onlyGrants: PolicySketch = {
      caps: { team: 500 },
      grants: [
        { on: 'ada', cap: 6000, from: NOW + HOUR, until: NOW + DAY },
        { on: 'bob', cap: 7000, until: NOW + HOUR },
      ],
    }
    const withCleo: PolicySketch = { ...onlyGrants, caps: { team: 500, cleo: 900 } }
    const out = 6 * MINUTE

    async function withSkew(ms: number, policy = onlyGrants) {
      const skew = { ms }
      const config = { intervalMs: HOUR / 2, usageIntervalMs: 12 * HOUR }
      const { one, set } = await living({ wrapTransport: serviceClock(skew), config })
      set(policy)
      await one.clock.pass(MINUTE)
      return { one, set, skew }
    }

    test('start and end what they held back at once, in a sweep', async () => {
      const { one, skew } = await withSkew(0)
      skew.ms = out
      await one.clock.pass(2 * HOUR)
      expect(one.caps()).toEqual({ team: 500, bob: 7000 })
      skew.ms = 0
      await passUntil(one, () => one.ended('ClockSkew').length > 0, HOUR)
      await one.clock.pass(SECOND)
      expect(one.caps()).toEqual({ team: 500, ada: 6000 })
    })

    test('start and end what they held back at once, in the cycle of an edit', async () => {
      const { one, set, skew } = await withSkew(0)
      skew.ms = out
      await one.clock.pass(2 * HOUR)
      skew.ms = 0
      set(withCleo)
      await one.clock.pass(2 * SECOND)
      expect(one.caps()).toEqual({ team: 500, ada: 6000, cleo: 900 })
    })

    test('start and end nothing where the difference shows in the reading that would do it', async () => {
      const { one, skew } = await withSkew(0)
      await one.clock.pass(58 * MINUTE)
      skew.ms = out
      await one.clock.pass(10 * MINUTE)
      expect(one.caps()).toEqual({ team: 500, bob: 7000 })
    })

    test.each(['set_add_on_credit_cap', 'user_email'])(
      'start and end nothing where the difference shows in an answer to a request with %s',
      async (field) => {
        const { one, set, skew } = await withSkew(0)
        await one.clock.pass(58 * MINUTE)
        one.onCall = ({ body }) => {
          if (field in body) skew.ms = out
        }
        set(withCleo)
        await one.clock.pass(10 * MINUTE)
        expect(one.caps()).toEqual({ team: 500, bob: 7000, cleo: 900 })
      },
    )

    test('end nothing once an earlier write of the same cycle shows the difference', async () => {
      const { one, skew } = await withSkew(0)
      one.onCall = ({ operation }) => {
        if (operation === 'UsageConfig') skew.ms = out
      }
      await one.clock.pass(2 * HOUR)
      expect(one.caps()).toEqual({ team: 500, ada: 6000, bob: 7000 })
      expect(one.told('cycle-finished').map(({ result }) => result)).not.toContain('partial')
      one.onCall = undefined
      skew.ms = 0
      await one.clock.pass(HOUR)
      expect(one.caps()).toEqual({ team: 500, ada: 6000 })
    })
  })
})
