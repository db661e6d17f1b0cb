// What a daemon tells of what happened: the writes, foreign changes, holds and pauses of a real ledger, to owners of the groups they touch and to channels.
import { describe, expect, it } from 'vitest'
import { HOUR } from '../../support/declare.ts'
import { MINUTE } from '../../support/living.ts'
import { POLICY, type Town, town } from '../../support/town.ts'

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
