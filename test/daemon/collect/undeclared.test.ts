// `undeclaredUsers: report` in a running workspace: what it reads and when, what it shows, and that it never writes.
import { describe, expect, test } from 'vitest'
import { type Living, living, MINUTE, passUntil, person } from '../../support/living.ts'
import type { World, WorldOptions } from '../../support/world.ts'

const REPORT: WorldOptions = { people: 20, config: { undeclaredUsers: 'report' }, caps: { p002: 900, p003: 40, p004: 500 } }
const POLICY = { caps: { team: 500, p001: 1000 } }

const undeclared = (one: World): readonly string[] =>
  one
    .view()
    .scopes.filter(({ state }) => state === 'undeclared')
    .map(({ scope, observed }) => `${scope.kind === 'user' ? scope.email.slice(0, 4) : scope.kind} ${observed}`)

/** A workspace that has looked at everybody once. */
async function looked(options: WorldOptions = REPORT): Promise<Living> {
  const life = await living(options)
  life.set(POLICY)
  await life.one.clock.pass(15 * MINUTE)
  return life
}

describe('caps of people that no policy declares', () => {
  test('are found, shown beside the others with their value, and never written', async () => {
    const { one } = await looked()
    expect(undeclared(one)).toEqual(['p002 900', 'p003 40'])
    const found = one.view().scopes.find(({ state }) => state === 'undeclared')
    expect(found).toMatchObject({ why: 'no policy declares it, and it is not ours; it is never written' })
    expect(found?.desired).toBeUndefined()
    await one.clock.pass(60 * MINUTE)
    expect(one.writes().toSorted()).toEqual(['p001 1000', 'team 500'])
    expect(one.caps()).toMatchObject({ p002: 900, p003: 40, p004: 500 })
  })

  test('cost one read of each such person in every usage interval, spread over it', async () => {
    const { one } = await looked()
    one.forget()
    await one.clock.pass(60 * MINUTE)
    const reads = one.reads().filter((name) => name !== 'team' && name !== 'p001')
    expect(reads.length).toBeGreaterThanOrEqual(19 * 3)
    expect(reads.length).toBeLessThanOrEqual(19 * 5)
    const times = one.calls
      .filter(({ operation, body }) => operation === 'GetUsageConfig' && body['user_email'] !== undefined)
      .map(({ at }) => at)
    expect(Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)))).toBeLessThan(8 * MINUTE)
  })

  test('are not read without the setting', async () => {
    const { one } = await looked({ ...REPORT, config: {} })
    one.forget()
    await one.clock.pass(60 * MINUTE)
    expect(new Set(one.reads())).toEqual(new Set(['team', 'p001']))
    expect(undeclared(one)).toEqual([])
  })

  test('wait for a grant that starts while they are read, also where the pace is slow', async () => {
    const { one, set } = await living({ ...REPORT, people: 200, rate: 0.05 })
    set(POLICY)
    const isReading = () => one.reads().some((name) => name !== 'team' && name !== 'p001')
    await passUntil(one, isReading, 30 * MINUTE, 1000)
    const fromAt = one.clock.now() + 30_000
    set({ ...POLICY, grants: [{ on: 'p001', cap: 3000, from: fromAt, until: fromAt + 60 * MINUTE }] })
    const tookMs = await passUntil(one, () => one.caps()['p001'] === 3000, 30 * MINUTE, 1000)
    expect(tookMs).toBeLessThan(30_000 + 65_000)
  })

  test('wait for an edit of the policy, which is in force within a second', async () => {
    const { one, set } = await looked({ ...REPORT, rate: 2 })
    await one.clock.pass(15 * MINUTE)
    set({ caps: { ...POLICY.caps, p001: 2000 } })
    await one.clock.pass(3000)
    expect(one.caps()['p001']).toBe(2000)
  })

  test('are not shown any more once policy declares them, they are cleared, or the person is gone', async () => {
    const { one, set } = await looked()
    set({ caps: { ...POLICY.caps, p002: 900 } })
    await one.clock.pass(1000)
    expect(undeclared(one)).toEqual(['p003 40'])
    one.foreign('p003', undefined)
    one.foreign('p009', 7)
    await one.clock.pass(30 * MINUTE)
    expect(undeclared(one)).toEqual(['p009 7'])
    one.removePerson('p009')
    await one.clock.pass(30 * MINUTE)
    expect(undeclared(one)).toEqual([])
  })

  test('are told from inherited caps where reads show them, also when policy does not mention the team', async () => {
    const life = await living({ ...REPORT, switches: { capReads: 'inherited' }, caps: { team: 600, p002: 900 } })
    life.set({ caps: { [person(1)]: 1000 } })
    await life.one.clock.pass(20 * MINUTE)
    expect(undeclared(life.one)).toEqual(['p002 900'])
  })

  test('are read in audit mode as well', async () => {
    const { one } = await looked({ ...REPORT, config: { undeclaredUsers: 'report', mode: 'audit' }, caps: { team: 500, p002: 900 } })
    expect(undeclared(one)).toEqual(['p002 900'])
  })
})
