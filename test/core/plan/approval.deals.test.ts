// Approvals of a pool's deal: it goes on meaning the deal, whatever its amounts become, until the guards have let the deal through.
import { describe, expect, test } from 'vitest'
import type { Approval, Hold } from '../../../src/core/model/change.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { matchApprovals, releasedChanges } from '../../../src/core/plan/approval.ts'
import type { Difference } from '../../../src/core/plan/snapshot.ts'
import { NOW, scope } from '../../support/declare.ts'

const key = (name: string): ScopeKey => scopeKey(scope(name))
const change = (name: string, from: number, to: number) => ({ scope: scope(name), from: credits(from), to: credits(to) })
const approval = (more: Partial<Approval> = {}): Approval => ({
  id: 'a',
  via: 'command',
  approvedAt: NOW,
  state: 'pending',
  released: [],
  ...more,
})
const ofDeal = (name: string, verified = false) => ({ ...change(name, 60, 50), verified, pool: 'deal' })
const difference = (name: string, pool?: string): Difference => ({
  ...change(name, 60, 40),
  ...{ key: key(name), cause: 'policy', entry: UNDECLARED, healing: false, grantEnd: false },
  ...(pool !== undefined && { pool: { name: 'research', key: pool, isReviewed: false } }),
})

describe('what the approval of a deal releases', () => {
  const differences = [difference('ada', 'deal'), difference('bob', 'deal'), difference('cyd', 'another'), difference('dan')]
  test.each<readonly [string, Approval, readonly string[]]>([
    ['is the whole deal as it is now', approval({ released: [ofDeal('ada')] }), ['ada', 'bob']],
    ['is nothing of what was verified', approval({ released: [ofDeal('ada', true)] }), []],
    ['is nothing once it is spent', approval({ released: [ofDeal('ada')], state: 'spent' }), []],
  ])('%s', (_name, one, expected) => expect([...releasedChanges([one], differences).keys()]).toEqual(expected.map(key)))
})

test('what the approval of single changes releases is no other value, also where nobody says what was overwritten', () =>
  expect([
    ...releasedChanges([approval({ released: [{ ...change('dan', 70, 40), verified: false }] })], [difference('dan')]).keys(),
  ]).toEqual([]))

describe('matching the hold of a deal', () => {
  /** 20 credits are moved. */
  const hold: Hold = { id: 'a', guards: ['maxLowered'], people: 2, changes: [change('ada', 60, 50), change('bob', 30, 40)], message: '' }
  const matching = (
    more: Partial<Approval>,
    shown: Parameters<typeof matchApprovals>[2] = {},
    inDeal = (at: ScopeKey): boolean => at !== '',
  ) =>
    matchApprovals([approval(more)], [hold], shown, { isSeparate: false, poolOf: (at) => (inDeal(at) ? 'deal' : undefined) }).approvals[0]
  const SHOWN = (moved: number) => ({ a: { people: 2, at: NOW, credits: credits(moved) } })

  test('names no deal of a change that is of none, and keeps the deal where one change is of it', () => {
    const one = matching({}, {}, (at) => at === key('bob'))
    expect(one?.credits).toBe(20)
    expect(one?.released.map((each) => each.pool !== undefined)).toEqual([false, true])
    expect(matching({}, {}, () => false)).toEqual(
      approval({ people: 2, released: hold.changes.map((each) => ({ ...each, verified: false })) }),
    )
  })

  test.each<readonly [string, Partial<Approval>, Parameters<typeof matchApprovals>[2], Approval['state'], number]>([
    ['releases a quarter more credits than were shown', {}, SHOWN(16), 'pending', 16],
    ['is void beyond that', {}, SHOWN(15), 'void', 15],
    ['goes by what it moved when it was matched first', { credits: credits(15) }, SHOWN(99), 'void', 15],
    ['releases what was never shown', {}, {}, 'pending', 20],
  ])('%s', (_name, more, shown, state, moved) => expect(matching(more, shown)).toMatchObject({ state, credits: moved }))
})
