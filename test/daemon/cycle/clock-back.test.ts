// A wall clock that was a month ahead and is set back: whatever it dated still ends in time.
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, SETTINGS } from '../../support/declare.ts'
import { answering, type Match, reads } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld, type WorldOptions } from '../../support/world.ts'

const ahead = 30 * DAY

describe('on a clock that was a month ahead', () => {
  test('a pause lasts as long as it was meant to, and no longer', async () => {
    const one = await testWorld({ people: ['ada'] })
    const pausedAt = one.clock.now() + ahead
    await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
    await one.cycle({ caps: { ada: 500 } })
    await later(one, 3 * HOUR)
    expect(one.caps()).toEqual({})
    await later(one, 2 * HOUR)
    expect(one.caps()).toEqual({ ada: 500 })
  })

  test('a plan that is not through counts from where it began for a day', async () => {
    const one = await worldUnder({ caps: { team: 100, p001: 700 }, protect: ['p001'] }, { people: 100 })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 500, p001: 600 }, protect: ['p001'] })
    expect(one.caps()).toEqual({ team: 500, p001: 700 })
    one.clock.jumpWall(-ahead)
    await later(one, 3 * DAY)
    await one.cycle({ caps: { team: 150, p001: 600 }, protect: ['p001'] })
    expect(one.caps()['team']).toBe(500)
  })

  test('a person who cannot be read defers a team write for a day', async () => {
    const bad = { broken: false }
    const one = await testWorld({
      people: 10,
      wrapTransport: answering(reads('p001'), 500, bad),
      config: { guards: { ...SETTINGS.guards, maxAffected: 'off', maxLowered: 'off', readQuality: 'off' } },
    })
    await one.cycle({ caps: { team: 1000 } })
    bad.broken = true
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 1000, p001: 700 } })
    one.clock.jumpWall(-ahead)
    await one.cycle({ caps: { team: 600, p001: 700 } })
    expect(one.caps()['team']).toBe(1000)
    await later(one, 1.1 * DAY)
    await one.cycle()
    expect(one.caps()['team']).toBe(600)
  })

  /** Read by the clock of then, and not any more. */
  const unreadForADay = async (match: Match, more: WorldOptions = {}) => {
    const bad = { broken: false }
    const one = await testWorld({ people: 10, ...more, wrapTransport: answering(match, 500, bad) })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 500 } })
    bad.broken = true
    one.clock.jumpWall(-ahead)
    await one.clock.pass(1.1 * DAY)
    return { one, bad }
  }

  test('a roster that cannot be read any more serves for a day at most', async () => {
    const { one, bad } = await unreadForADay((operation) => operation === 'UserPageAnalytics')
    await one.cycle({ caps: { team: 600 } })
    expect(one.caps()['team']).toBe(500)
    bad.broken = false
    await one.cycle()
    expect(one.caps()['team']).toBe(600)
  })

  test('a balance that cannot be read any more counts for a day at most', async () => {
    const { one } = await unreadForADay((operation) => operation === 'GetTeamCreditBalance', { addOn: 10 })
    await one.cycle({ caps: { team: 600 } })
    expect(one.caps()['team']).toBe(600)
  })

  test('the descendants of a team write are checked once, also when an earlier write has a later time', async () => {
    const one = await worldUnder({ caps: { team: 500, p001: 900 } }, { people: 12, caps: { team: 500, p001: 900 } })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 600, p001: 900 } })
    one.clock.jumpWall(-ahead)
    await one.cycle({ caps: { team: 700, p001: 900 } })
    await one.clock.pass(25 * HOUR)
    one.forget()
    await one.cycle()
    expect(one.reads().toSorted()).toEqual(['p001', 'team'])
  })
})
