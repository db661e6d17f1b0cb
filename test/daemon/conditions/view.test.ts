// What a workspace shows after its cycles: states, people and warnings, only known ones, and also while the ledger fails.
import { describe, expect, test } from 'vitest'
import { NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { HOUR, NOW } from '../../support/declare.ts'
import { failingLedger } from '../../support/faults.ts'
import { outage, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('the view', () => {
  test('shows nothing that was never known, and that nothing was burned', async () => {
    const one = await testWorld()
    expect(one.view()).toEqual({
      workspace: 'acme',
      mode: 'enforce',
      scopes: [],
      holds: [],
      approvals: [],
      grants: { pending: 0, active: 0, expiring: 0, ended: 0 },
      groups: [],
      people: [],
      seen: {},
      use: { burned: NOTHING_BURNED },
      conditions: [],
    })
  })

  test('shows people with their cap in force, their estimated use and their band', async () => {
    const one = await testWorld({ groups: { a: ['ada'] } })
    one.sandbox.recordUse('ada@example.com', 140_000)
    await one.cycle({ caps: { team: 500, 'group:a': 1000, cleo: 'none' } })
    const { people, roster, balance, groups } = one.view()
    expect(people).toEqual([
      { email: 'ada@example.com', cap: 1000, used: 900, source: 'estimated', band: '85_to_95' },
      { email: 'bob@example.com', cap: 500, used: 0, source: 'estimated', band: 'under_50' },
      { email: 'cleo@example.com', cap: 500, used: 0, source: 'estimated', band: 'under_50' },
    ])
    expect(roster?.people).toHaveLength(3)
    expect(balance?.creditsPerSeat).toBe(500)
    expect(groups).toMatchObject([{ id: 'a', emails: ['ada@example.com'] }])
  })

  test('shows no person who is not on the roster any more', async () => {
    const one = await worldUnder({ caps: { team: 500 } }, { people: 20 })
    one.setStatus('p001', 'REJECTED')
    one.setStatus('p002', 'PENDING')
    one.removePerson('p003')
    for (const who of ['p001', 'p002', 'p004']) one.sandbox.recordUse(`${who}@example.com`, 140_000)
    await one.clock.pass(HOUR)
    await one.cycle()
    const { people } = one.view()
    expect(people).toHaveLength(17)
    expect(people[0]).toEqual({ email: 'p004@example.com', cap: 500, used: 900, source: 'estimated', band: 'at_cap' })
  })

  test('shows grants by state, holds, drift and the time of the last success', async () => {
    const one = await testWorld({ people: 20, config: { mode: 'audit' } })
    await one.cycle({ caps: { team: 500 }, grants: [{ on: 'p001', cap: 6000, from: NOW + HOUR, until: NOW + 2 * HOUR }] })
    const view = one.view()
    expect(view.grants).toEqual({ pending: 1, active: 0, expiring: 0, ended: 0 })
    expect(view.scopes).toMatchObject([
      { scope: { kind: 'team' }, state: 'drifted', desired: 500, observed: 'none', driftSince: expect.any(Number) },
    ])
    expect(view.lastCycle).toMatchObject({ result: 'noop' })
    expect(view.lastSuccessAt).toBeDefined()
  })

  test('keeps the last values beside their age while the service is away', async () => {
    const away = { is: false }
    const one = await testWorld({
      wrapTransport: outage(away),
    })
    await one.cycle({ caps: { team: 500 } })
    const readAt = one.view().scopes[0]?.readAt
    const { people } = one.view()
    away.is = true
    await one.clock.pass(2 * HOUR)
    expect((await one.cycle()).result).toBe('error')
    const view = one.view()
    expect(view.scopes).toMatchObject([{ state: 'unknown', observed: 500, readAt }])
    expect(view.people.map(({ cap, band }) => ({ cap, band }))).toEqual(people.map(() => ({ cap: 500, band: 'under_50' })))
    expect(view.roster?.people).toHaveLength(3)
    expect(view.roster?.readAt).toBeLessThanOrEqual(NOW + HOUR)
    expect(view.conditions).toMatchObject([
      { type: 'ServiceUnreachable', message: expect.stringContaining('its only cap could not be read') },
    ])
  })

  test('shows a pause as the mode, until it is over', async () => {
    const one = await testWorld()
    await one.ledger.savePause({ untilAt: NOW + HOUR, reason: 'migration', pausedAt: NOW })
    await one.cycle({ caps: { team: 500 } })
    expect(one.view()).toMatchObject({ mode: 'paused', pause: { reason: 'migration' } })
    await one.clock.pass(HOUR)
    expect(one.view().mode).toBe('enforce')
  })

  test('says that copying was seen, once and clearly', async () => {
    const one = await testWorld({ groups: { a: ['ada'] }, switches: { capSemantics: 'fan-out' } })
    await one.cycle({ caps: { ada: 4000, 'group:a': 1500 } })
    const { conditions } = one.view()
    const told = conditions.filter(({ type }) => type === 'CopyingSeen').map(({ message }) => message)
    expect(told).toEqual([expect.stringContaining('copying was seen: after group:a was written (none to 1500), ada@example.com changed')])
    expect(told[0]).toContain('set capSemantics: copied')
  })

  test('is there while the ledger cannot be read', async () => {
    const disk = { broken: false }
    const one = await worldUnder({ caps: { team: 500 } }, { wrapLedger: failingLedger(() => disk.broken) })
    disk.broken = true
    expect(one.view().scopes).toHaveLength(1)
    one.workspace.shown = {}
    expect(one.view().approvals).toEqual([])
  })
})
