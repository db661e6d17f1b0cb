// What a daemon tells of what happened: the writes, foreign changes, holds and pauses of a real ledger, to owners of the groups they touch and to channels.
// And the cycle that ended, as a monthly digest tells it.
import { describe, expect, it, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { endedUse } from '../../../src/daemon/notify/happened.ts'
import { DAY, HOUR, NOW } from '../../support/declare.ts'
import { MINUTE } from '../../support/living.ts'
import { NOTIFY } from '../../support/notify.ts'
import { POLICY, type Town, town } from '../../support/town.ts'
import { testWorld } from '../../support/world.ts'

const EVENTS = ['held', 'applied', 'reverted', 'paused'] as const
const owners = [{ of: { kind: 'group', id: 'grp_r' }, targets: [{ kind: 'email', address: 'lead@example.com' }] }] as const

interface Body {
  readonly about: string
  readonly text: string
  readonly values: { readonly event: string; readonly items: readonly string[]; readonly held: number; readonly revision: string }
}
const bodies = ({ hook }: Town): readonly Body[] => hook.requests.map(({ body }): Body => JSON.parse(body))
const label = (email: string): string => `h${email.length}`

describe('events of a workspace', () => {
  it('are told once each, with people as hashes, to the owner of the group they touch and to the channel', async () => {
    const place = await town({}, { label, settings: { people: [], owners, events: EVENTS, channels: ['chat'] } })
    const { one, mail } = place
    await one.clock.pass(30 * MINUTE)
    // A run that begins in the middle of a cycle tells what was written so far, and the next one the rest.
    const written = bodies(place)
    expect(written.map(({ about, values }) => `${about} ${values.event}`)).toEqual(['event applied', 'event applied'])
    expect(written.flatMap(({ values }) => values.items)).toEqual(['group:grp_r: none → 1000', 'team: none → 1000'])
    one.foreign('group:grp_r', 7)
    await one.clock.pass(HOUR)
    expect(bodies(place).map(({ values }) => values.event)).toEqual(['applied', 'applied', 'reverted'])
    expect(mail.mails.map(({ to }) => to)).toEqual(Array(3).fill('lead@example.com'))
    await one.clock.pass(3 * HOUR)
    expect(bodies(place)).toHaveLength(3)
  })

  it('are told of a hold and of a pause', async () => {
    const place = await town({}, { label, settings: { people: [], events: EVENTS, channels: ['chat'] } })
    const { one, life } = place
    await one.clock.pass(30 * MINUTE)
    life.set({ caps: { ...POLICY.caps, team: 'none' } })
    await one.clock.pass(30 * MINUTE)
    await one.ledger.savePause({ untilAt: one.clock.now() + 4 * HOUR, reason: 'for ada@example.com', pausedAt: one.clock.now() })
    await one.clock.pass(HOUR)
    expect(bodies(place).map(({ values: { event, held } }) => `${event} ${held > 0}`)).toEqual([
      'applied false',
      'applied false',
      'held true',
      'paused true',
    ])
    expect(JSON.stringify(bodies(place))).not.toContain('ada@')
  })
})

const SETTINGS = { ...NOTIFY, people: [], pools: [], digest: 'monthly', owners } as const
const midnight = Math.floor(NOW / DAY) * DAY
const ENDED = { startAt: midnight - 30 * DAY, endAt: midnight }

/** A new cycle began at midnight; before, ada had used 900 credits beyond her seat. */
async function turned({ begunAt = ENDED.endAt } = {}) {
  const one = await testWorld({ groups: { grp_r: ['ada', 'bob'] } })
  const pool = { name: 'research', credits: 2000, members: { kind: 'groups', ids: ['grp_r'] } } as const
  const lab = { ...pool, name: 'lab', members: { kind: 'emails', emails: ['cleo@example.com'] } } as const
  await one.cycle({ caps: { team: 500 }, pools: [pool, lab] })
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
  ])('has pools and their members %s', async (_title, back, expected) => {
    const { one, seen } = await turned()
    const use = { credits: 1000, used: 830 }
    one.ledger.saveFact('days', [{ dayAt: ENDED.endAt - back * DAY, found: 0, reverted: 0, pools: { research: use, lab: use } }])
    const pools = [{ name: 'research', groups: ['grp_r'], members: ['ada@example.com', 'bob@example.com'], ...use }, { name: 'lab' }]
    expect(await seen()).toMatchObject({ pools: expected ? pools : [], people: { length: expected ? 3 : 2 } })
  })

  test('is not told by a daily digest, after half of the next, of one long before, nor where no digest is due', async () => {
    const { one, seen } = await turned()
    expect(await seen({ digest: 'daily' })).toBeUndefined()
    expect(await (await turned({ begunAt: ENDED.endAt + 2 * DAY })).seen()).toBeUndefined()
    const key = '["digest","monthly","group","grp_r","mail lead@example.com"]'
    const sent = { level: 202611, state: 'sent', at: NOW - HOUR, tries: 1 } as const
    one.ledger.saveFact('told', { cycleStartAt: ENDED.endAt, entries: { [key]: sent } })
    expect(await seen()).toBeUndefined()
    one.ledger.saveFact('told', undefined)
    expect(await seen()).toBeDefined()
    await one.clock.pass(16 * DAY)
    expect(await seen()).toBeUndefined()
  })
})
