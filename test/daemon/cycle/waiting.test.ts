// Lowerings and clears wait for the writes that they depend on, and no change waits for ever.
import { describe, expect, test } from 'vitest'
import { email } from '../../support/declare.ts'
import { answering, either, reads, writes } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('a clear waits for the ancestor’s cap', () => {
  test('while the ancestor is to be cleared as well and cannot be, also where it equals its own ancestor’s', async () => {
    const fault = { broken: false }
    const groups = { a: ['p001'], b: ['p001'] }
    const one = await testWorld({ people: 20, groups, wrapTransport: answering(either(writes('group:a'), writes('group:b')), 503, fault) })
    const wide = { team: 500, 'group:b': 2000 }
    await one.cycle({ caps: { ...wide, 'group:a': 500, p001: 2000 } })
    fault.broken = true
    await one.cycle({ caps: wide })
    expect(one.inForce()['p001']).toBe(2000)
    fault.broken = false
    await later(one, 300_000)
    expect({ mine: one.inForce()['p001'], caps: one.caps() }).toEqual({ mine: 2000, caps: wide })
  })
})

describe('a lower of the team waits for its descendants', () => {
  test.each([
    ['written', writes('p001')],
    ['read', reads('p001')],
  ])('whose own cap could not be %s', async (_row, match) => {
    const fault = { broken: false }
    const one = await worldUnder({ caps: { team: 5000 } }, { people: 3, wrapTransport: answering(match, 503, fault) })
    fault.broken = true
    const { result } = await one.cycle({ caps: { team: 100, p001: 4000, p002: 3000 } })
    expect(result).toBe('partial')
    expect(one.caps()).toEqual({ team: 5000, p002: 3000 })
    fault.broken = false
    await later(one, 300_000)
    expect(one.caps()).toEqual({ team: 100, p001: 4000, p002: 3000 })
  })
})

describe('reverting to a verified cap', () => {
  test.each([
    ['written', writes('p001')],
    ['read', reads('p001')],
  ])('does not wait for a first cap beneath that can never be %s', async (_row, match) => {
    const one = await worldUnder({ caps: { team: 500 } }, { people: 20, wrapTransport: answering(match) })
    await one.cycle({ caps: { team: 500, p001: 4000 } })
    one.foreign('team', 90_000)
    await later(one, 300_000)
    expect(one.caps()).toEqual({ team: 500 })
  })

  test('waits for a descendant’s cap that another client cleared as well, and that could not be restored yet', async () => {
    const fault = { broken: false }
    const one = await worldUnder({ caps: { team: 500, p001: 4000 } }, { people: 20, wrapTransport: answering(writes('p001'), 503, fault) })
    fault.broken = true
    one.foreign('team', 90_000)
    one.foreign('p001', undefined)
    await later(one, 300_000)
    expect(one.caps()).toEqual({ team: 90_000 })
    fault.broken = false
    await later(one, 300_000)
    expect(one.caps()).toEqual({ team: 500, p001: 4000 })
  })
})

test.each(['auto', 'inherited'] as const)(
  'a person’s first cap comes before the lowering of their group, also where the cap that was read of them is gone: capReads %s',
  async (capReads) => {
    const one = await testWorld({
      people: 40,
      // No policy names the group core.
      groups: { core: ['p001'], edge: ['p001'] },
      caps: { team: 1500, 'group:core': 1000, 'group:edge': 1500 },
      switches: { capReads: 'inherited' },
      config: { capReads },
    })
    const onTheWay: (number | 'none' | undefined)[] = []
    one.onCall = ({ operation, body }) => {
      if (operation === 'GetUsageConfig' && body['user_email'] === email('p001')) one.foreign('group:core', undefined)
      if (operation === 'UsageConfig') onTheWay.push(one.inForce()['p001'])
    }
    await one.cycle({ caps: { team: 1500, 'group:edge': 10, p001: 600 } })
    expect([onTheWay, one.caps()]).toEqual([[600, 600], { team: 1500, 'group:edge': 10, p001: 600 }])
  },
)
