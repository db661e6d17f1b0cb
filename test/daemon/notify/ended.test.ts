// The cycle that ended, as a monthly digest tells it: whose use, under which caps, and what pools had come to.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { endedUse } from '../../../src/daemon/notify/happened.ts'
import { DAY, HOUR, NOW } from '../../support/declare.ts'
import { NOTIFY } from '../../support/notify.ts'
import { testWorld } from '../../support/world.ts'

const SETTINGS = {
  ...NOTIFY,
  ...({ people: [], pools: [], digest: 'monthly' } as const),
  owners: [{ of: { kind: 'group', id: 'grp_r' }, targets: [{ kind: 'email', address: 'boss@example.com' }] }] as const,
}
const midnight = Math.floor(NOW / DAY) * DAY
const ENDED = { startAt: midnight - 30 * DAY, endAt: midnight }

/** A new cycle began at midnight; before, ada had used 900 credits beyond her seat. */
async function turned({ begunAt = ENDED.endAt } = {}) {
  const one = await testWorld({ groups: { grp_r: ['ada', 'bob'] } })
  const pool = { name: 'research', credits: 2000, members: { kind: 'groups', ids: ['grp_r'] } } as const
  await one.cycle({ caps: { team: 500 }, pools: [pool] })
  const { usage } = one.state
  if (!usage) throw new Error('nobody was read')
  const cycle = { startAt: begunAt, endAt: begunAt + 30 * DAY }
  const previousCycle = { cycle: ENDED, used: { 'ada@example.com': credits(1400) } }
  one.state.usage = { ...usage, roster: { ...usage.roster, cycle }, previousCycle }
  const seen = (settings: { readonly digest?: 'daily' } = {}) =>
    endedUse({ state: one.state, clock: one.clock, ledger: one.ledger }, { ...SETTINGS, ...settings })
  return { one, seen }
}

describe('the cycle that ended', () => {
  test('has its final use, and the caps in force before later writes', async () => {
    const { seen } = await turned()
    expect(await seen()).toEqual({
      cycle: ENDED,
      people: [
        { email: 'ada@example.com', cap: 'none', used: 900, source: 'estimated' },
        { email: 'bob@example.com', cap: 'none' },
      ],
      pools: [],
    })
  })

  test.each([
    ['of its last day', 1, true],
    ['of the day before, where nothing was recorded later', 2, true],
    ['of no earlier day', 4, false],
    ['of no day of the next', 0, false],
  ])('has pools %s', async (_title, back, expected) => {
    const { one, seen } = await turned()
    const day = { dayAt: ENDED.endAt - back * DAY, found: 0, reverted: 0, written: 0, failed: 0 }
    one.ledger.saveFact('days', [{ ...day, pools: { research: { credits: 1000, used: 830 } } }])
    const pools = [{ name: 'research', groups: ['grp_r'], credits: 1000, used: 830 }]
    expect((await seen())?.pools).toEqual(expected ? pools : [])
  })

  test('is not told by a daily digest, after half of the next, of one long before, nor where no digest is due', async () => {
    const { one, seen } = await turned()
    expect(await seen({ digest: 'daily' })).toBeUndefined()
    expect(await (await turned({ begunAt: ENDED.endAt + 2 * DAY })).seen()).toBeUndefined()
    const key = '["digest","monthly","group","grp_r","mail boss@example.com"]'
    const sent = { level: 202611, state: 'sent', at: NOW - HOUR, tries: 1 } as const
    one.ledger.saveFact('told', { cycleStartAt: ENDED.endAt, entries: { [key]: sent } })
    expect(await seen()).toBeUndefined()
    one.ledger.saveFact('told', undefined)
    expect(await seen()).toBeDefined()
    await one.clock.pass(16 * DAY)
    expect(await seen()).toBeUndefined()
  })
})
