// Contested scopes from end to end: a foreign change is reverted twice, left alone the third time within a day, and reverted again later.
import { describe, expect, test } from 'vitest'
import { HOUR, NOW } from '../../support/declare.ts'
import { later, MINUTE, worldUnder } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const POLICY = { caps: { team: 500, ada: 1000 } }

const stateOf = (one: World, name: string): string | undefined =>
  one.workspace.shown.planned?.scopes.find(({ scope }) => scope.kind === 'user' && scope.email.startsWith(name))?.state

/** Somebody sets a cap, and a cycle comes by. */
async function quarrel(one: World, times: number, cap = 9000): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    one.foreign('ada', cap)
    await later(one, 5 * MINUTE)
  }
}

describe('a scope that another client keeps changing', () => {
  test('does not keep floodgates open: the team cap is put right although the cap that is left alone is missing', async () => {
    const one = await worldUnder(POLICY)
    for (let round = 0; round < 3; round += 1) {
      one.foreign('ada', undefined)
      await later(one, 5 * MINUTE)
    }
    expect(stateOf(one, 'ada')).toBe('contested')
    one.foreign('team', 90_000)
    await later(one, 5 * MINUTE)
    expect(one.caps()).toEqual({ team: 500 })
  })

  test('is in sync when the other one gives up, and left alone when they come back within the day', async () => {
    const one = await worldUnder(POLICY)
    await quarrel(one, 2)
    expect(one.caps()['ada']).toBe(1000)
    await one.clock.pass(20 * HOUR)
    await quarrel(one, 1)
    one.foreign('ada', 1000)
    await one.cycle()
    expect(stateOf(one, 'ada')).toBe('in_sync')
    // The reverts themselves are too old to count by then.
    await one.clock.pass(6 * HOUR)
    one.foreign('ada', 9000)
    await one.cycle()
    expect(stateOf(one, 'ada')).toBe('contested')
  })

  test('is never left alone where our own team writes overwrite it', async () => {
    const one = await testWorld({ config: { capSemantics: 'copied' }, switches: { capSemantics: 'fan-out' } })
    for (const team of [500, 600, 500, 600, 500]) await later(one, 5 * MINUTE, { caps: { team, ada: 1000 } })
    expect(one.caps()).toMatchObject({ team: 500, ada: 1000, bob: 500 })
    expect(one.ledger.fact('contested')).toBeUndefined()
  })
})

describe('onDrift: alert', () => {
  const alert: WorldOptions = { config: { onDrift: 'alert' }, people: 20, groups: { a: ['p001', 'p002'] } }
  const caps = { team: 500, 'group:a': 800, p003: 1000 }

  test('shows foreign changes as drift with their cause, and never writes', async () => {
    const one = await worldUnder({ caps }, alert)
    one.foreign('p003', 9000)
    one.foreign('group:a', 9)
    one.foreign('team', undefined)
    one.forget()
    for (let round = 0; round < 5; round += 1) await later(one, 5 * MINUTE)
    expect(one.writes()).toEqual([])
    expect(one.begun('ForeignChange')).toHaveLength(3)
    const shown = one.workspace.shown.planned
    expect(shown?.scopes.map(({ state, cause }) => `${state} ${cause}`)).toEqual(Array.from({ length: 3 }, () => 'drifted external'))
    expect(shown?.plan.holds).toEqual([])
    expect(one.workspace.shown.lastCycle?.result).toBe('noop')
    one.restart()
    await later(one, HOUR)
    expect(one.workspace.shown.planned?.scopes.map(({ driftSince }) => driftSince)).toEqual(
      shown?.scopes.map(({ driftSince }) => driftSince),
    )
  })

  test('still writes changes of policy, and foreign changes only where policy changed', async () => {
    const one = await worldUnder({ caps }, alert)
    one.foreign('p003', 9000)
    one.foreign('group:a', 9)
    await one.cycle({ caps: { ...caps, team: 600, 'group:a': 850, p004: 700 } })
    expect(one.caps()).toEqual({ team: 600, 'group:a': 850, p003: 9000, p004: 700 })
  })

  test('leaves a grant’s foreign value alone while it runs, and gives the base back at its end', async () => {
    const one = await worldUnder({ caps, grants: [{ on: 'p003', cap: 4000, until: NOW + HOUR }] }, alert)
    one.foreign('p003', 50)
    await one.cycle()
    expect(one.caps()['p003']).toBe(50)
    await later(one, 2 * HOUR)
    expect(one.caps()['p003']).toBe(1000)
  })

  test('where caps are copied shows foreign changes, and restores only what our own team and group writes overwrote', async () => {
    const one = await testWorld({ ...alert, config: { onDrift: 'alert', capSemantics: 'copied' }, switches: { capSemantics: 'fan-out' } })
    await one.cycle({ caps })
    await one.cycle()
    one.foreign('p003', 9000)
    one.forget()
    await one.cycle()
    expect(one.writes()).toEqual([])
    expect(one.caps()['p003']).toBe(9000)
    await one.cycle({ caps: { ...caps, team: 600 } })
    expect(one.caps()).toMatchObject({ team: 600, p001: 800, p003: 1000, p010: 600 })
  })
})
