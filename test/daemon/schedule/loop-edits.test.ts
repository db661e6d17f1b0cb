// An edit of the policy reaches the service at once, also in the middle of a long sweep, and costs no more than what changed.
import { describe, expect, test } from 'vitest'
import { capsOf, living, MINUTE, outage, passUntil, SECOND } from '../../support/living.ts'

describe('an edit of the policy', () => {
  test('is written within a second and a round trip, and only the changed scopes are read', async () => {
    const { one, set } = await living({ people: 50, rate: 10 })
    set({ caps: capsOf(50) })
    await one.clock.pass(4 * MINUTE)
    one.forget()
    set({ caps: { ...capsOf(50), p007: 2000 } })
    await one.clock.pass(1.2 * SECOND)
    expect(one.writes()).toEqual(['p007 2000'])
    expect(new Set(one.reads())).toEqual(new Set(['p007']))
  })

  test('in the middle of a sweep of 1,000 scopes is written first, and the sweep goes on without repeating readings', async () => {
    const { one, set } = await living({ people: 1000, rate: 10 })
    for (const [name, cap] of Object.entries(capsOf(1000))) one.foreign(name, cap)
    set({ caps: capsOf(1000) })
    await one.clock.pass(50 * SECOND)
    expect(Math.abs(one.reads().length - 450)).toBeLessThan(150)
    set({ caps: { ...capsOf(1000), p999: 2000 } })
    const took = await passUntil(one, () => one.writes().length > 0, 10 * SECOND)
    expect(took).toBeLessThanOrEqual(SECOND + 100)
    expect(one.writes()).toEqual(['p999 2000'])
    await one.clock.pass(70 * SECOND)
    // What was in flight when the edit came is read again, and so is the edited scope: before the write and after it.
    expect(one.reads().length).toBeLessThanOrEqual(1001 + 8 + 3)
    expect(new Set(one.reads()).size).toBe(1001)
    expect(one.told('cycle-finished').map((event) => event.result)).toEqual(['success', 'noop'])
  })

  test('while another is being written lets the write in flight finish, drops the rest and goes on with the newest, then with the rest', async () => {
    const { one, set } = await living({ people: 40, rate: 10, config: { rate: { concurrency: 1 } } })
    set({ caps: capsOf(40) })
    await one.clock.pass(20 * SECOND)
    one.forget()
    set({ caps: { ...capsOf(40), ...capsOf(20, 3000) } })
    await passUntil(one, () => one.writes().length >= 3, 30 * SECOND)
    set({ caps: { ...capsOf(40), ...capsOf(20, 3000), p007: 4000, p035: 4000 } })
    await one.clock.pass(60 * SECOND)
    expect(one.caps()).toEqual({ ...capsOf(40), ...capsOf(20, 3000), p007: 4000, p035: 4000 })
    expect(one.writes().slice(3, 6)).toEqual(['p007 4000', 'p035 4000', 'p004 3000'])
    expect(one.reads().filter((name) => name === 'p010')).toHaveLength(2)
    expect(one.ledger.openIntents()).toEqual([])
    expect(one.begun('ForeignChange')).toEqual([])
  })

  test('that only moves lines or adds a comment costs nothing', async () => {
    const { one, set } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    one.forget()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    expect(one.calls).toEqual([])
  })

  test('that releases a hold takes effect at once', async () => {
    const { one, set } = await living({ people: 20 })
    set({ caps: capsOf(10) })
    await one.clock.pass(MINUTE)
    set({ caps: capsOf(10, 500) })
    await one.clock.pass(SECOND)
    set({ caps: capsOf(10, 500), approvalIds: [one.workspace.shown.planned?.plan.holds[0]?.id ?? 'none'] })
    await one.clock.pass(SECOND)
    expect(one.caps()).toEqual(capsOf(10, 500))
  })

  test('that breaks while an orphan is being read prunes nothing, though it was asked for by then', async () => {
    const { one, set } = await living({ people: 20, rate: 10, config: { rate: { concurrency: 1 } } })
    set({ caps: capsOf(10) })
    await one.clock.pass(MINUTE)
    one.forget()
    set({ caps: capsOf(7) })
    await passUntil(one, () => one.reads().length > 0, 10 * SECOND)
    set({}, false)
    await one.clock.pass(MINUTE)
    expect([one.reads(), one.writes()]).toEqual([['p008', 'p009', 'p010'], []])
    set({ caps: capsOf(7) })
    await one.clock.pass(10 * MINUTE)
    expect(one.writes()).toEqual(['p008 none', 'p009 none', 'p010 none'])
  })

  test('that breaks while orphans are being cleared lets the write in flight finish; the others go once the set is whole again', async () => {
    const { one, set } = await living({ people: 20, rate: 10, config: { rate: { concurrency: 1 } } })
    set({ caps: { team: 1000, ...capsOf(20) } })
    await one.clock.pass(MINUTE)
    one.forget()
    set({ caps: { team: 1000, ...capsOf(12) } })
    await passUntil(one, () => one.writes().length > 0, 20 * SECOND)
    set({}, false)
    await one.clock.pass(6 * MINUTE)
    expect(one.writes()).toEqual(['p013 none'])
    set({ caps: { team: 1000, ...capsOf(12) } })
    await one.clock.pass(6 * MINUTE)
    expect(one.writes()).toEqual([13, 14, 15, 16, 17, 18, 19, 20].map((number) => `p0${number} none`))
  })

  test('that declares a new group reads its members first', async () => {
    const { one, set } = await living({ people: 20, groups: { a: ['p001', 'p002'], b: ['p002'] } })
    set({ caps: { 'group:a': 900 }, onGroupConflict: 'max' })
    await one.clock.pass(MINUTE)
    set({ caps: { 'group:a': 900, 'group:b': 1200 }, onGroupConflict: 'max' })
    await one.clock.pass(SECOND)
    expect(one.caps()).toEqual({ 'group:a': 900, 'group:b': 1200, p002: 1200 })
  })

  test('while the service is away is tried again soon, not only after the interval', async () => {
    const away = { is: false }
    const { one, set } = await living({ wrapTransport: outage(away) })
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    away.is = true
    set({ caps: { team: 600 } })
    await one.clock.pass(5 * SECOND)
    away.is = false
    await one.clock.pass(40 * SECOND)
    expect(one.caps()).toEqual({ team: 600 })
  })
})
