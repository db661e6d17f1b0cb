// Reading people, groups and the balance: a part that fails keeps its last known good value, is reported, and never stops the others.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { viewOf } from '../../../src/daemon/conditions/view.ts'
import { worldClock } from '../../support/clock.ts'
import { CYCLE, HOUR, NOW } from '../../support/declare.ts'
import { answering, edited, instead, listings, type Match } from '../../support/faults.ts'
import { living, MINUTE, outage, passUntil, SECOND, worldUnder } from '../../support/living.ts'
import { type Declared, testWorld } from '../../support/world.ts'

const DECLARED: Declared = { caps: { team: 500, 'group:a': 900, 'group:b': 800 } }
const COMPANY = { people: ['ada', 'bob', 'cleo'], groups: { a: ['ada'], b: ['bob'] } }

const ofPeople: Match = (operation) => operation === 'UserPageAnalytics'
const ofRoster: Match = (operation, body) => operation === 'UserPageAnalytics' && !('group_name' in body)

describe('a part that fails', () => {
  test.each<readonly [string, string, Match]>([
    ['the roster', 'ROSTER_UNREAD', ofRoster],
    ['the balance', 'BALANCE_UNREAD', (operation) => operation === 'GetTeamCreditBalance'],
    ['the members of a group', 'GROUP_UNREAD', listings('A')],
  ])('%s: the last good value serves, one warning says so, and the others are read', async (_row, code, fails) => {
    const storm = { broken: false }
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(fails, 400, storm) })
    const before = one.state.usage
    storm.broken = true
    one.forget()
    await one.clock.pass(HOUR)
    one.setMembers('b', ['bob', 'cleo'])
    await one.cycle()
    await one.cycle()
    expect(one.begun('UsageUnread').map(({ reason }) => reason)).toEqual([code])
    const after = one.state.usage
    expect(after?.roster.people).toEqual(before?.roster.people)
    expect(after?.groups.map((group) => group.emails.length)).toEqual([1, 2])
    expect(after?.balance).toBeDefined()
  })

  test.each<readonly [string, Match]>([
    ['the roster', ofRoster],
    ['groups', listings()],
    ['both', ofPeople],
  ])('%s, unanswered for ever: caps wait for it no longer than one answer may take, and some', async (_row, hangs) => {
    const hung = { is: false, since: 0 }
    const clock = worldClock()
    const wrapTransport = instead(async (operation, body, _ask, { timeoutMs, signal }) => {
      if (!hung.is || !hangs(operation, body)) return undefined
      hung.since ||= clock.monotonic()
      await clock.sleep(timeoutMs, signal)
      return { kind: 'timeout', message: 'no answer' }
    })
    const { one, set } = await living({ ...COMPANY, clock, wrapTransport, config: { intervalMs: MINUTE } })
    set(DECLARED)
    await one.clock.pass(HOUR)
    hung.is = true
    await passUntil(one, () => hung.since > 0, HOUR, SECOND)
    one.foreign('group:a', 5)
    await passUntil(one, () => one.caps()['group:a'] === 900, HOUR, SECOND)
    expect(clock.monotonic() - hung.since).toBeLessThan(3 * MINUTE)
    expect(one.begun('UsageUnread').length).toBeGreaterThan(0)
  })

  test('a key that may not list people still shows the balance', async () => {
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(ofPeople, 400) })
    expect(viewOf(one.workspace)).toMatchObject({ balance: { seats: expect.any(Number) } })
    expect(viewOf(one.workspace).roster).toBeUndefined()
  })

  test('an outage and its end are reported once each, and a later outage again', async () => {
    const away = { is: false }
    const { one, set } = await living({ ...COMPANY, wrapTransport: outage(away) })
    set(DECLARED)
    await one.clock.pass(HOUR)
    for (let round = 1; round <= 2; round += 1) {
      away.is = true
      one.forget()
      await one.clock.pass(3 * HOUR)
      const told = one.begun('UsageUnread').map(({ subject, reason }) => `${subject} ${reason}`)
      expect(told).toEqual([...new Set(told)])
      expect(one.begun('ServiceUnreachable')).toHaveLength(1)
      expect(
        viewOf(one.workspace)
          .conditions.map(({ type }) => type)
          .sort(),
      ).toEqual(['ServiceUnreachable'])
      away.is = false
      await one.clock.pass(HOUR)
      expect(viewOf(one.workspace).conditions).toEqual([])
      expect(one.ended('ServiceUnreachable', 'CycleFailed')).toHaveLength(1)
    }
  })

  test('for good keeps the caps, and after 24 h the old roster holds everything', async () => {
    const storm = { broken: false }
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(ofPeople, 400, storm) })
    storm.broken = true
    await one.clock.pass(23 * HOUR)
    expect((await one.cycle({ caps: { ...DECLARED.caps, team: 600 } })).result).toBe('success')
    await one.clock.pass(2 * HOUR)
    expect((await one.cycle({ caps: { ...DECLARED.caps, team: 700 } })).result).toBe('held')
    expect(one.caps()).toMatchObject({ team: 600 })
  })
})

describe('special cases', () => {
  test('when no row has a status everybody is approved, with one warning', async () => {
    const one = await testWorld({ wrapTransport: edited(ofPeople, (text) => text.replaceAll(/,"teamStatus":"[A-Z_]+"/g, '')) })
    expect((await one.cycle({ caps: { ada: 500 } })).result).toBe('success')
    await one.cycle()
    expect(one.warned()).toEqual(['STATUSES_ABSENT'])
    expect(one.caps()).toEqual({ ada: 500 })
  })

  test('old figures of use count for six hours of a new cycle', async () => {
    const one = await testWorld({ people: 40 })
    for (const name of ['p001', 'p002', 'p003', 'p004']) one.sandbox.recordUse(`${name}@example.com`, 250_000)
    const caps = { p001: 4000, p002: 4000, p003: 4000, p004: 4000 }
    const lower = { p001: 1900, p002: 1900, p003: 1900, p004: 1900 }
    await one.clock.pass(CYCLE.endAt - NOW - HOUR)
    await one.cycle({ caps })
    await one.clock.pass(2 * HOUR)
    const { planned } = await one.cycle({ caps: lower })
    expect(one.state.usage?.previousCycle?.used['p001@example.com']).toBe(credits(2500))
    expect(planned.plan.holds).toMatchObject([{ guards: ['maxBlocked'], people: 4 }])
    await one.clock.pass(6 * HOUR)
    expect((await one.cycle()).result).toBe('success')
  })
})
