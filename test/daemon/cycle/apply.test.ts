// Writing a plan, as seen on the wire: changes between plan and write, and a ledger that cannot record. The order of writes is in core/plan/wave,
// and the caps in force between them in test/sim.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { SETTINGS } from '../../support/declare.ts'
import { failingLedger, reads, whenAsked, writes } from '../../support/faults.ts'
import { worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('between the plan and a write', () => {
  test('a foreign change before the write is reported once, planned again and reverted', async () => {
    const one = await worldUnder({ caps: { ada: 4000, bob: 700 } }, { switches: { latency: 100 } })
    one.foreign('ada', 5000)
    whenAsked(one, reads('bob'), () => one.foreign('ada', 6000))
    one.forget()
    const confirm = async () => {
      await one.clock.sleep(60_000)
      return {}
    }
    const { result } = await one.cycle(undefined, { confirm })
    expect({ result, writes: one.writes(), cap: one.caps()['ada'] }).toMatchObject({ writes: ['ada 4000'], cap: 4000 })
    expect(one.begun('ForeignChange').map(({ fields }) => fields?.['to'])).toEqual([5000, 6000])
    one.onCall = undefined
    await one.cycle()
    expect(one.begun('ForeignChange')).toHaveLength(2)
    expect(one.caps()).toEqual({ ada: 4000, bob: 700 })
  })

  test.each([
    ['and nothing is held', []],
    ['also where something else is held', ['p001']],
  ])('what comes up that was not shown is left, which is exit 4, %s', async (_name, protect) => {
    const one = await testWorld({ people: 20 })
    const caps = { team: 900, p001: 700, p005: 800 }
    await one.cycle({ caps, protect })
    whenAsked(one, writes('team'), () => one.foreign('p005', 5))
    const { result, message, after } = await one.cycle(
      { caps: { ...caps, team: 1000, ...(protect.length > 0 && { p001: 600 }) }, protect },
      {
        confirm: async ({ plan }) => {
          const shown = new Map(plan.changes.map(({ scope, to }) => [scopeKey(scope), to]))
          return { mayWrite: ({ key, to }) => shown.get(key) === to }
        },
      },
    )
    expect(after.plan.holds).toHaveLength(protect.length)
    expect({ result, message }).toEqual({
      result: 'partial',
      message: expect.stringMatching(/^p005@.* was not in the plan that was agreed to/),
    })
  })

  test('a scope that is as asked by then is not written', async () => {
    const one = await testWorld()
    const confirm = async () => {
      one.foreign('ada', 4000)
      await one.clock.sleep(60_000)
      return {}
    }
    await one.cycle({ caps: { ada: 4000 } }, { confirm })
    expect(one.writes()).toEqual([])
    expect(one.ledger.owned()).toMatchObject([{ cap: 4000 }])
  })

  test('a third value right after our write is verify_failed, and one foreign change', async () => {
    const one = await worldUnder({ caps: { ada: 4000 } })
    whenAsked(one, writes(), () => one.foreign('ada', 123))
    one.forget()
    const { result } = await one.cycle({ caps: { ada: 4500 } })
    expect(result).toBe('error')
    expect(one.told('change-finished')).toMatchObject([{ result: 'verify_failed', error: '4500 was written and 123 was read back' }])
    expect(one.begun('ForeignChange')).toMatchObject([{ fields: { to: 123 } }])
    one.onCall = undefined
    await one.cycle()
    expect(one.caps()).toEqual({ ada: 4500 })
  })
})

describe('a ledger that cannot record', () => {
  test('an intent keeps the write from happening, says so, and recovers', async () => {
    const disk = { broken: true }
    const one = await testWorld({ wrapLedger: failingLedger((method) => disk.broken && method === 'recordIntent') })
    const { result, message, applied } = await one.cycle({ caps: { team: 500, ada: 4000 } })
    expect({ result, message, interrupted: applied?.interrupted }).toMatchObject({ result: 'error', interrupted: 'ledger' })
    expect(message).toContain('the disk is full')
    expect(one.count('UsageConfig')).toBe(0)
    expect(one.begun('LedgerUnwritable')).toHaveLength(1)
    disk.broken = false
    expect((await one.cycle()).result).toBe('success')
    expect(one.ended('LedgerUnwritable')).toHaveLength(1)
    expect(one.caps()).toEqual({ team: 500, ada: 4000 })
  })

  test('an outcome stops the writes and keeps the intent, which the next cycle closes', async () => {
    const disk = { broken: true }
    const wrapLedger = failingLedger((method) => disk.broken && method === 'recordOutcome')
    const one = await testWorld({ config: { rate: { concurrency: 1 } }, wrapLedger })
    const { applied } = await one.cycle({ caps: { ada: 1, bob: 2, cleo: 3 } })
    expect(applied?.interrupted).toBe('ledger')
    expect(one.count('UsageConfig')).toBe(1)
    expect(one.ledger.openIntents()).toHaveLength(1)
    disk.broken = false
    one.restart()
    one.forget()
    await one.cycle()
    expect(one.writes()).toEqual(['bob 2', 'cleo 3'])
    expect(one.ledger.openIntents()).toEqual([])
    expect((await one.ledger.history()).map((entry) => entry.result)).toEqual(['applied', 'applied', 'applied'])
  })

  test('a pause that cannot be read stops the writes as well, with none left in flight', async () => {
    const disk = { broken: false }
    const one = await testWorld({ people: 20, wrapLedger: failingLedger((method) => disk.broken && method === 'pause') })
    const names = Array.from({ length: 20 }, (_, index) => `p0${String(index + 1).padStart(2, '0')}`)
    one.onCall = ({ operation }) => {
      if (operation === 'UsageConfig') disk.broken = true
    }
    const { applied } = await one.cycle({ caps: Object.fromEntries(names.map((name) => [name, 100])) })
    expect(applied?.interrupted).toBe('ledger')
    const sent = one.count('UsageConfig')
    expect(sent).toBeLessThanOrEqual(8)
    await one.clock.pass(60_000)
    expect(one.count('UsageConfig')).toBe(sent)
    expect(one.ledger.openIntents()).toEqual([])
  })
})

test('scopes that the plan depends on are read again when the person took a while to agree', async () => {
  const one = await worldUnder(
    { caps: { team: 500, ada: 200 } },
    { people: ['ada', 'bob'], config: { guards: { ...SETTINGS.guards, maxAffected: 'off', maxCleared: 'off' } } },
  )
  const { after } = await one.cycle(
    { caps: { team: 500 } },
    {
      confirm: async ({ plan }) => {
        one.foreign('team', 5000)
        await one.clock.sleep(75_000)
        const shown = new Set(plan.changes.map((change) => scopeKey(change.scope)))
        return { mayWrite: ({ key }) => shown.has(key) }
      },
    },
  )
  expect(one.caps()).toEqual({ team: 5000, ada: 200 })
  expect(after.plan.changes.map(({ disposition }) => disposition.kind)).toEqual(['deferred', 'excluded'])
})
