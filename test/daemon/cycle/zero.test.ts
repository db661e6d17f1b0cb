// A cap of 0 on services that store it, read it back as unset, or refuse it: kept, or rejected once and the old cap restored.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { later } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('a cap of 0', () => {
  test.each([
    ['asks for none there', { team: 500, p001: 'none' }],
    ['drops the scope', { team: 500 }],
  ] as const)('that does not show and may be set is cleared once policy %s, and only once', async (_row, caps) => {
    const one = await testWorld({ people: 20, switches: { zeroCap: 'omitted' } })
    await one.cycle({ caps: { team: 500, p001: 0 } })
    expect(one.caps()).toEqual({ team: 500, p001: 0 })
    const { planned, result } = await one.cycle({ caps })
    expect(result).toBe('success')
    expect(planned.plan.changes).toMatchObject([
      { action: 'clear', from: 'none', to: 'none', reason: expect.stringContaining('may be set') },
    ])
    expect(one.caps()).toEqual({ team: 500 })
    one.forget()
    expect((await later(one, 3_600_000)).result).toBe('noop')
    expect(one.writes()).toEqual([])
  })

  test('that reads back as unset gives the number back that it has replaced, ours or not, in the same cycle', async () => {
    const one = await testWorld({ people: 20, switches: { zeroCap: 'omitted' }, caps: { p001: 300 } })
    await one.cycle({ caps: { team: 500, p002: 700 } })
    one.forget()
    const { result, message } = await one.cycle({ caps: { team: 500, p001: 0, p002: 0 } })
    expect(result).toBe('error')
    expect(message).toContain('that stood there was written back')
    expect(one.writes().toSorted()).toEqual(['p001 0', 'p001 300', 'p002 0', 'p002 700'])
    expect(one.caps()).toEqual({ team: 500, p001: 300, p002: 700 })
    expect(one.ledger.openIntents()).toEqual([])
    const ours = one.ledger.owned().map(({ scope, cap }) => `${scopeKey(scope)} ${cap}`)
    expect(ours.toSorted()).toEqual(['p001@example.com 300', 'p002@example.com 700', 'team 500'])
    one.forget()
    expect((await one.cycle()).result).toBe('noop')
    expect(one.writes()).toEqual([])
  })

  test('that reads back as unset is not tried again after a day either', async () => {
    const one = await testWorld({ people: 20, switches: { zeroCap: 'omitted' } })
    await one.cycle({ caps: { p001: 0 } })
    one.forget()
    await later(one, 48 * 3_600_000)
    expect(one.count('UsageConfig')).toBe(0)
  })
})
