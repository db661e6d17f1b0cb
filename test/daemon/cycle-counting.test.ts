// Who is counted, from end to end: only what is really written, nobody hidden behind a scope that cannot be read, that is not managed any
// more, or that shows what it inherits, and an interrupted plan for as long as it is open.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../src/core/scope.ts'
import type { CycleReport } from '../../src/daemon/reconcile.ts'
import { scope } from '../support/declare.ts'
import { testWorld, type World, type WorldOptions } from '../support/world.ts'

const person = (number: number): string => `p${String(number).padStart(3, '0')}`
const capsOf = (count: number, cap: number, from = 1): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [person(from + index), cap]))
const names = (count: number, from = 1): string[] => Object.keys(capsOf(count, 0, from))
const holds = ({ planned }: CycleReport): string[] => planned.plan.holds.map((hold) => hold.guards.join('+'))
const uncapped = (one: World): number => Object.values(one.inForce()).filter((cap) => cap === 'none').length

type Body = Readonly<Record<string, unknown>>

/** A world in which matching requests fail while `broken` is on. */
async function breakable(
  options: WorldOptions,
  match: (operation: string, body: Body) => boolean,
  status = 503,
): Promise<{ one: World; storm: { broken: boolean } }> {
  const storm = { broken: false }
  const one = await testWorld({
    ...options,
    wrapTransport: (inner) => ({
      send: async (operation, body, more) =>
        storm.broken && match(operation, body) ? { status, headers: {}, body: '{"error":"no"}' } : inner.send(operation, body, more),
    }),
  })
  return { one, storm }
}

describe('what is not written does not count', () => {
  test('people who would fall to a cap that is only watched, not healed, are counted as left without one', async () => {
    const one = await testWorld({ people: 40, config: { onDrift: 'alert' } })
    await one.cycle({ caps: { team: 500, ...capsOf(20, 400) } })
    one.foreign('team', undefined)
    await one.cycle()
    const report = await one.cycle({ caps: { team: 500, ...capsOf(12, 400) } })
    expect(holds(report)).toEqual(['maxCleared'])
    expect(report.result).toBe('held')
    expect(uncapped(one)).toBe(20)
  })

  test('somebody protected does not fall to a cap that is only watched', async () => {
    const one = await testWorld({ people: 40, config: { onDrift: 'alert' } })
    await one.cycle({ caps: { team: 500, p001: 400 }, protect: ['p001'] })
    one.foreign('team', 50)
    await one.cycle()
    expect(holds(await one.cycle({ caps: { team: 500 }, protect: ['p001'] }))).toEqual(['protected'])
    expect(one.inForce()['p001']).toBe(400)
  })

  test('a look at a few scopes does not rely on a team cap that is not among them', async () => {
    const { one, storm } = await breakable({ people: 40 }, (operation, body) => operation === 'UsageConfig' && body['team_level'] === true)
    await one.cycle({ caps: capsOf(20, 400) })
    storm.broken = true
    await one.cycle({ caps: { team: 500, ...capsOf(20, 400) } })
    const focus = new Set(names(8, 13).map((name) => scopeKey(scope(name))))
    const report = await one.cycle({ caps: { team: 500, ...capsOf(12, 400) } }, { usage: false, focus })
    expect(report.result).toBe('held')
    expect(holds(report)).toEqual(['maxCleared'])
    expect(uncapped(one)).toBe(20)
  })

  test('a saved plan does not rely on a team cap that is not in it, and what was shown as held stays held', async () => {
    const one = await testWorld({ people: 40 })
    await one.cycle({ caps: capsOf(20, 400) })
    const only = new Set(names(8, 13).map((name) => scopeKey(scope(name))))
    const report = await one.cycle({ caps: { team: 500, ...capsOf(12, 400) } }, { confirm: async () => ({ only }) })
    expect(holds(report)).toEqual(['maxCleared'])
    expect(uncapped(one)).toBe(20)
  })

  test('holds elsewhere stay in sight while a few scopes are looked at', async () => {
    const one = await testWorld({ people: 20 })
    await one.cycle({ caps: { team: 500, ...capsOf(6, 4000) } })
    await one.cycle({ caps: { team: 500, ...capsOf(6, 1000) } })
    one.forget()
    const focus = new Set([scopeKey(scope('p010'))])
    await one.cycle({ caps: { team: 500, ...capsOf(6, 1000), p010: 900 } }, { usage: false, focus })
    expect(one.caps()).toMatchObject({ p001: 4000, p010: 900 })
    expect(one.told('hold-released')).toEqual([])
    expect(one.workspace.shown.planned?.plan.holds).toHaveLength(1)
  })
})
