// What explain says of people in pools: what is dealt, what goes before it, and what it goes before.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, email, NOW, type PolicySketch, roster, rosterRows } from '../../support/declare.ts'
import { explained, lines } from '../../support/explained.ts'

const dealt = (amount: number, more: Partial<PoolMember> = {}): PoolState => ({
  cycle: CYCLE,
  readAt: NOW,
  dealtAt: NOW,
  members: { [email('ada')]: { base: credits(0), use: credits(7), dealt: credits(amount), sent: [], lowered: [], ...more } },
})
const POLICY: PolicySketch = { pools: [{ name: 'research', credits: 100, members: { kind: 'emails', emails: [email('ada')] } }] }
const explainedOf = (policy: PolicySketch, state?: PoolState) =>
  explained(
    'ada',
    { ...POLICY, ...policy },
    { roster: roster({ ada: 'approved', bob: 'approved' }), ...(state && { pools: { research: state } }) },
  )

const DEAL = [
  'pool research: 100 credits for 1 member, by need',
  'used 7, counted at 40',
  'dealt 2026-11-20 12:00 UTC, use read 2026-11-20 12:00 UTC',
]

describe('the chain of a member', () => {
  const inForce = { inForce: { cap: credits(40), at: NOW } }
  test.each<readonly [string, PolicySketch, PoolState | undefined, readonly string[]]>([
    [
      'says what the pool deals before the team’s cap',
      { caps: { team: 500 } },
      dealt(40, inForce),
      [
        '> pool ada 40 at acme.yaml:301:5: what the pool deals',
        'cap team 500 at acme.yaml:1:5: a pool is narrower',
        ...DEAL,
        'ada@example.com: used 7 of it, dealt 40',
      ],
    ],
    [
      'says that their own cap gets what is left',
      { caps: { ada: 90 } },
      dealt(40, { fixed: credits(90), ...inForce }),
      [
        '> pool ada 40 at acme.yaml:301:5: what the pool deals',
        'cap ada 90 at acme.yaml:1:5: pool research deals at most what is left',
        ...DEAL,
        'ada@example.com: used 7 of it, dealt 40, own cap 90, dealt first',
      ],
    ],
    [
      'says that a rule’s cap is dealt first',
      { rules: [{ when: { email: 'ada@*' }, cap: 30 }] },
      dealt(30, { fixed: credits(30), ...inForce }),
      [
        '> rule ada 30 at acme.yaml:201:5: the first rule that matches, and nothing is declared for the person alone',
        'pool ada 30 at acme.yaml:301:5: a cap for the person is dealt first',
        ...DEAL,
        'ada@example.com: used 7 of it, dealt 30, own cap 30, dealt first',
      ],
    ],
    [
      'says what applies until something is dealt',
      { caps: { team: 500 } },
      undefined,
      ['> cap team 500 at acme.yaml:1:5: the narrowest cap declared', 'pool research: nothing is dealt yet'],
    ],
  ])('%s', (_name, policy, state, expected) => {
    const found = explainedOf(policy, state)
    expect([...lines(found), ...(found.pool?.lines ?? [])]).toEqual(expected)
    expect(found.pool?.name).toBe('research')
  })

  test('tells nobody else of the pool', () => {
    const state = { research: dealt(40) }
    expect(explained('bob', POLICY, { roster: roster({ ada: 'approved', bob: 'approved' }), pools: state })).not.toHaveProperty('pool')
    expect(explained('team', POLICY, { roster: roster({ ada: 'approved' }), pools: state })).not.toHaveProperty('pool')
  })
})

test('says of whom it is not known whether they are a member what is missing', () => {
  const policy: PolicySketch = { pools: [{ name: 'research', credits: 100, members: { kind: 'when', when: { role: 'member' } } }] }
  const { pool } = explained('dan', policy, { roster: rosterRows({ ada: { role: 'member' }, dan: {} }) })
  expect(pool).toEqual({
    name: 'research',
    lines: ['pool research: whether its condition holds is not known (role: the roster has no role), so the person stays out of it'],
  })
})

test('a pool that is used up stops its members first', () => {
  const people = roster({ ada: 'approved' })
  const more = { roster: { ...people, people: people.people.map((one) => ({ ...one, used: credits(100) })) }, cycle: CYCLE }
  const state = dealt(100, { use: credits(100) })
  expect(explained('ada', POLICY, { ...more, pools: { research: state } }).stopsFirst).toEqual({
    what: 'pool',
    at: NOW,
    without: 'balance',
  })
})
