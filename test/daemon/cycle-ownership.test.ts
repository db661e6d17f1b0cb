// Whose a cap is, from end to end: what is ours is cleared when nothing asks for it any more, also where it equals the wider cap, and what
// is somebody else's is neither cleared nor taken for ours.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../src/core/scope.ts'
import type { Transport } from '../../src/ports.ts'
import { testWorld, type World } from '../support/world.ts'

const mine = (one: World): readonly string[] => one.ledger.owned().map((cap) => scopeKey(cap.scope))

describe('a cap of ours that equals the wider one', () => {
  test('is cleared when policy turns it into none, and follows the wider cap from then on', async () => {
    const one = await testWorld({ people: 20 })
    await one.cycle({ caps: { team: 500, p001: 500 } })
    await one.cycle({ caps: { team: 500, p001: 'none' } })
    expect(one.caps()).toEqual({ team: 500 })
    await one.cycle({ caps: { team: 1000, p001: 'none' } })
    expect(one.inForce()['p001']).toBe(1000)
  })

  test.each([
    ['turns into none', { team: 500, p001: 'none' }],
    ['is no longer declared', { team: 500 }],
  ] as const)('is cleared by one write and then quiet where reads show what applies, when it %s', async (_row, caps) => {
    const one = await testWorld({ people: 20, switches: { capReads: 'inherited' } })
    await one.cycle({ caps: { team: 500, p001: 500 } })
    one.forget()
    for (let round = 0; round < 4; round += 1) await one.cycle({ caps })
    expect(one.writes()).toEqual(['p001 none'])
    expect(one.caps()).toEqual({ team: 500 })
  })

  test.each([
    ['turns into none', { team: 500, p001: 'none' }],
    ['is no longer declared', { team: 500 }],
  ] as const)('is cleared in the end when the clear was lost, when it %s', async (_row, caps) => {
    const storm = { is: false }
    const lost = (inner: Transport): Transport => ({
      send: async (operation, body, options) =>
        storm.is && operation === 'UsageConfig' ? { kind: 'network', message: 'reset' } : inner.send(operation, body, options),
    })
    const one = await testWorld({ people: 20, wrapTransport: lost })
    await one.cycle({ caps: { team: 500, p001: 500 } })
    storm.is = true
    await one.cycle({ caps })
    expect(mine(one)).toContain('p001@example.com')
    storm.is = false
    await one.cycle()
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })

  test('is cleared in the end when the process died with the clear under way', async () => {
    const storm = { is: false }
    const dying = (inner: Transport): Transport => ({
      send: async (operation, body, options) => {
        if (storm.is && operation === 'UsageConfig') throw new Error('killed')
        return inner.send(operation, body, options)
      },
    })
    const one = await testWorld({ people: 20, wrapTransport: dying })
    await one.cycle({ caps: { team: 500, p001: 500 } })
    storm.is = true
    await expect(one.cycle({ caps: { team: 500, p001: 'none' } })).rejects.toThrow('killed')
    expect(one.ledger.openIntents()).toHaveLength(1)
    storm.is = false
    one.restart()
    await one.cycle()
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500 })
  })
})
