// Caps of the conflict rule from end to end: they are cleared after two agreeing readings of every declared group, never on fewer.
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { HOUR } from '../../support/declare.ts'
import { answering, type Match } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

const COMPANY = { people: 20, groups: { a: ['p001', 'p002'], b: ['p002'] } }
const CONFLICT = { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'max' } as const

describe('a cap of the conflict rule', () => {
  test.each([
    ['no group', 'layered', { team: 500 }, { team: 500 }],
    ['one group', 'layered', { team: 500, 'group:b': 900 }, { team: 500, 'group:b': 900 }],
    ['no group, where caps are copied', 'copied', { team: 500 }, { team: 500, p002: 500 }],
  ] as const)('goes at once when %s is declared any more', async (_row, capSemantics, caps, left) => {
    const copies = capSemantics === 'copied'
    const one = await testWorld({ ...COMPANY, config: { capSemantics }, switches: { capSemantics: copies ? 'fan-out' : 'layered' } })
    await one.cycle({ ...CONFLICT, caps: { team: 500, ...CONFLICT.caps } })
    await one.cycle({ caps }, { usage: false })
    expect(one.caps()).toMatchObject(left)
    await one.cycle()
    expect(one.ledger.owned().map(({ owner }) => owner)).not.toContain('conflict')
    if (!copies) expect(one.caps()).toEqual(left)
  })

  test('is not kept any longer by a clear that failed', async () => {
    const storm = { broken: false }
    const isClear: Match = (_, body) => 'clear_add_on_credit_cap' in body
    const one = await testWorld({ ...COMPANY, wrapTransport: answering(isClear, 503, storm) })
    await one.cycle({ ...CONFLICT, caps: { ...CONFLICT.caps, 'group:c': 100 } })
    storm.broken = true
    await one.cycle({ ...CONFLICT, caps: { 'group:a': 1500, 'group:b': 1500, 'group:c': 100 } })
    storm.broken = false
    const outcome = await later(one, HOUR, undefined, { usage: false })
    expect([outcome.result, one.caps()['p002']]).toEqual(['success', undefined])
  })

  test('stays while one of the groups is unknown to the service', async () => {
    const one = await worldUnder(CONFLICT, COMPANY)
    one.sandbox.store.saveGroup({ id: 'b', name: 'Renamed' })
    one.sandbox.reload()
    for (let round = 0; round < 4; round += 1) await later(one, HOUR)
    expect(one.caps()['p002']).toBe(1500)
  })

  test('is cleared once, also where it equals the cap of a group and another group inherits', async () => {
    const guards = { ...DEFAULT_GUARDS, maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
    const one = await testWorld({ groups: { a: ['bob'], b: ['bob'] }, switches: { capReads: 'inherited' }, config: { guards } })
    await one.cycle({ caps: { 'group:a': 910, 'group:b': 'none' }, onGroupConflict: 'min' })
    await one.cycle()
    one.forget()
    await one.cycle({ caps: { team: 150, 'group:b': 910 }, onGroupConflict: 'min' })
    for (let round = 0; round < 4; round += 1) await one.cycle()
    expect(one.writes().filter((write) => write.startsWith('bob'))).toEqual(['bob none'])
    expect(one.caps()).toEqual({ team: 150, 'group:b': 910 })
    expect(one.ledger.owned().map(({ owner }) => owner)).not.toContain('conflict')
  })
})
