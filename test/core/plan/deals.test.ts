// The deal of a pool as one change: which deals are the same, how a plan holds one and an approval releases it, whatever its amounts become.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { CYCLE, cap, email, NOW, type PlainCap, type PoolSketch, scope } from '../../support/declare.ts'
import { lines, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

type Approval = NonNullable<PlanSketch['approvals']>[number]

const amount = (value: number) => cap(value) as Exclude<ReturnType<typeof cap>, 'none'>
const memberAt = (inForce: number) => ({ base: amount(0), inForce: { cap: amount(inForce), at: NOW }, sent: [], lowered: [] })
/** A pool that deals so much to each by name. */
const dealing = (
  dealt: Readonly<Record<string, number>>,
  pool: Partial<PoolSketch> = {},
  more: PlanSketch & { reviewed?: string } = {},
): PlanSketch => {
  const emails = Object.keys(dealt).map(email)
  const members = Object.entries(dealt).map(([name, to]) => [email(name), { ...memberAt(to), dealt: amount(to) }])
  const { reviewed, ...sketch } = more
  const name = pool.name ?? 'research'
  const { credits = 100, share = 'need', min = 0, max } = pool
  return {
    people: ['ada', 'bob', 'cyd'],
    pools: [{ name, credits: 100, members: { kind: 'emails', emails }, ...pool }],
    dealt: {
      [name]: {
        cycle: CYCLE,
        readAt: NOW,
        dealtAt: NOW,
        terms: { credits: amount(credits), share, min: amount(min), ...(max !== undefined && { max: amount(max) }) },
        members: Object.fromEntries(members),
        ...(reviewed !== undefined && { reviewed }),
      },
    },
    caps: { cyd: 5 },
    observed: { ada: 60, bob: 60, cyd: 9 },
    guards: { maxAffected: 'off', maxLowered: { percent: 10, floor: 0 } },
    ...sketch,
  }
}
const BOTH = { ada: 50, bob: 50 }
const KEY = planInputs(dealing(BOTH)).poolReviews.get('research')?.key ?? ''
const dealOf = (sketch: PlanSketch) =>
  planOf(sketch).plan.holds.find(({ changes }) => changes[0]?.scope.kind === 'user' && changes.length > 1)

const keyOf = (sketch: PlanSketch) => [...planInputs(sketch).poolReviews.values()].map(({ key }) => key).join()

describe('a deal', () => {
  test.each<readonly [string, PlanSketch]>([
    ['other credits', dealing(BOTH, { credits: 101 })],
    ['another share', dealing(BOTH, { share: 'equal' })],
    ['another least', dealing(BOTH, { min: 1 })],
    ['another most', dealing(BOTH, { max: 50 })],
    ['another name', dealing(BOTH, { name: 'design' })],
    ['another member', dealing({ ...BOTH, cyd: 50 })],
    ['one member less', dealing({ ada: 50 })],
    ['a member who is only counted', dealing(BOTH, {}, { protect: ['bob'] })],
  ])('is another one with %s', (_name, other) => expect(keyOf(other)).not.toBe(KEY))

  test('is known by 32 hex digits, whatever the order of its members', () => {
    expect(KEY).toMatch(/^[0-9a-f]{32}$/)
    expect(keyOf(dealing({ bob: 50, ada: 50 }))).toBe(KEY)
  })

  test('is held as one, under an id that does not move with the amounts', () => {
    const [deal, other] = planOf(dealing(BOTH)).plan.holds
    expect(planOf(dealing(BOTH)).plan.holds.map(({ changes }) => changes.length)).toEqual([2, 1])
    const later = dealing({ ada: 40, bob: 40 })
    expect(planOf(later).plan.holds.map(({ id }) => id)).toEqual([deal?.id, other?.id])
    expect(planOf(dealing(BOTH, { credits: 99 })).plan.holds[0]?.id).not.toBe(deal?.id)
    expect(planOf({ ...later, approve: [deal?.id ?? ''] }).plan.holds.map(({ changes }) => changes.length)).toEqual([1])
  })

  test.each<readonly [string, string, boolean]>([
    ['goes out once just that one was reviewed', KEY, true],
    ['is held while another one was reviewed', 'another', false],
  ])('%s, and everything else is judged as ever', (_name, reviewed, isOut) =>
    expect(lines(planOf(dealing(BOTH, {}, { reviewed })))).toEqual([
      `ada lower 60>50 policy${isOut ? '' : ' held:maxLowered'}`,
      `bob lower 60>50 policy${isOut ? '' : ' held:maxLowered'}`,
      'cyd lower 9>5 policy held:maxLowered',
    ]),
  )
})

const LENIENT: PlanSketch = { guards: { maxAffected: 'off', maxLowered: 'off' } }
const LOWERED: PlanSketch = { guards: { maxAffected: 'off', maxLowered: { percent: 0, floor: 0 } } }
const heldIds = (sketch: PlanSketch) => planOf(sketch).plan.holds.map(({ id }) => id)
const undealt = dealing(BOTH)
const stateOf = ({ dealt }: PlanSketch) => dealt?.['research'] ?? { cycle: CYCLE, readAt: NOW, members: {} }
const lenient = (more: Partial<ReturnType<typeof stateOf>>): PlanSketch => {
  const sketch = dealing(BOTH, {}, LENIENT)
  return { ...sketch, dealt: { research: { ...stateOf(sketch), ...more } } }
}
/** Bob is in the pool and has no deal of it yet. */
const withoutBob = (inForce?: number) => {
  const { [email('bob')]: _, ...members } = stateOf(undealt).members
  const { inForce: _inForce, ...unread } = memberAt(0)
  const bob = inForce === undefined ? unread : memberAt(inForce)
  return lenient({ members: { ...members, [email('bob')]: bob } })
}
const leaver = (at: number) => {
  const left = { base: amount(0), dealt: amount(50), sent: [], lowered: [], left: { at, settled: true } }
  return lenient({ members: { ...stateOf(undealt).members, [email('dan')]: left } })
}
/** Bob was lowered to 20, and use under his old cap may not show yet. */
const loweredFrom = (old: number, more: PlanSketch = LENIENT): PlanSketch => {
  const deal = dealing({ ada: 40, bob: 20 }, {}, { ...more, observed: { ada: 60, bob: 20, cyd: 9 } })
  const bob = { ...memberAt(20), dealt: amount(20), lowered: [{ cap: amount(old), at: NOW }] }
  const state = stateOf(deal)
  return { ...deal, dealt: { research: { ...state, members: { ...state.members, [email('bob')]: bob } } } }
}
const unread: PlanSketch = { ...dealing(BOTH, {}, LENIENT), observed: { ada: 60, bob: 'unknown', cyd: 9 } }
test.each<readonly [string, PlanSketch, readonly string[]]>([
  ['that the guards let it through', dealing(BOTH, {}, LENIENT), [KEY]],
  ['it also where something else is held', { ...dealing(BOTH, {}, LENIENT), protect: ['cyd'] }, [KEY]],
  ['it also where another one was reviewed before', dealing(BOTH, {}, { ...LENIENT, reviewed: 'another' }), [KEY]],
  ['nothing while a part of it is held', dealing(BOTH), []],
  [
    'nothing before anything was dealt',
    { ...undealt, ...LENIENT, dealt: { research: { cycle: CYCLE, readAt: NOW, members: undealt.dealt?.['research']?.members ?? {} } } },
    [],
  ],
  [
    'nothing while the last deal was of other credits, as while the pool is frozen',
    dealing(BOTH, { credits: 101 }, { ...LENIENT, dealt: undealt.dealt ?? {} }),
    [],
  ],
  ['nothing while the cap of a member was never read, so that nothing was dealt there', withoutBob(), []],
  ['it also while a member at 0 waits for credits', withoutBob(0), [KEY]],
  ['nothing while nothing was dealt since somebody left', leaver(NOW + 1), []],
  ['it once a deal was made since', leaver(NOW), [KEY]],
  ['nothing while the sum is above the credits, so that raises follow', loweredFrom(80), []],
  ['nothing while a raise waits for use under a lowered cap', loweredFrom(60), []],
  ['it also then, where a person approved it', { ...loweredFrom(60, LOWERED), approve: heldIds(loweredFrom(60, LOWERED)) }, [KEY]],
  ['nothing while the cap of a member cannot be read, so that its change was not judged', unread, []],
  ['nothing new of one that was let through before', dealing(BOTH, {}, { ...LENIENT, reviewed: KEY }), []],
  ['nothing new of a pool that policy declares no more', { ...dealing(BOTH, {}, { reviewed: 'before' }), pools: [] }, []],
])('what is remembered of a deal after a plan is %s', (_name, sketch, expected) => {
  const { passedDeals, plan } = planOf(sketch)
  if (sketch.protect) expect(plan.holds).toHaveLength(1)
  expect(passedDeals.map(({ key }) => key)).toEqual(expected)
})

test('a deal does not wait for a cap that nothing waits for any more', () =>
  expect(planOf(unread, { givenUp: new Set([scopeKey(scope('bob'))]) }).passedDeals.map(({ key }) => key)).toEqual([KEY]))

describe('the approval of a deal', () => {
  const ID = dealOf(dealing(BOTH))?.id ?? ''
  const given = (more: Partial<Approval> = {}): Approval => ({
    id: ID,
    via: 'command',
    approvedAt: NOW,
    state: 'pending',
    released: [],
    ...more,
  })
  const change = (name: string, from: PlainCap, to: PlainCap) => ({ scope: scope(name), from: cap(from), to: cap(to), verified: false })
  const ofDeal = { ...change('ada', 60, 50), pool: KEY }

  test('names the deal of each change, and goes on meaning the deal until the guards let it through', () => {
    const approved = planOf({ ...dealing(BOTH), approve: planOf(dealing(BOTH)).plan.holds.map(({ id }) => id) })
    expect(approved.approvals.map(({ released, credits }) => [credits, ...released.map(({ pool }) => pool)])).toEqual([
      [20, KEY, KEY],
      [undefined, undefined],
    ])
    const later = (reviewed?: string, dealt: Readonly<Record<string, number>> = { ada: 48, bob: 47 }) =>
      planOf({ ...dealing(dealt, {}, reviewed === undefined ? {} : { reviewed }), approvals: approved.approvals })
    expect([later().plan.holds, later().approvals[0]?.state]).toEqual([[], 'pending'])
    expect(later(undefined, { ada: 47, bob: 47 }).approvals[0]?.state).toBe('void')
    expect([later('another'), later(KEY)].map(({ approvals }) => approvals[0]?.state)).toEqual(['pending', 'spent'])
  })

  test.each<readonly [string, Partial<Approval>, number]>([
    ['releases the whole deal as it is now', { released: [ofDeal] }, 2],
    ['releases nothing of what was verified', { released: [{ ...ofDeal, verified: true }] }, 0],
    ['releases nothing once it is spent', { released: [ofDeal], state: 'spent' }, 0],
    ['of single changes releases no other value', { released: [change('ada', 70, 40)] }, 0],
  ])('%s', (_name, one, expected) => {
    const { changes } = planOf({ ...dealing({ ada: 40, bob: 40 }), approvals: [given({ id: 'a', ...one })] }).plan
    expect(changes.filter(({ released }) => released !== undefined)).toHaveLength(expected)
  })

  test.each<readonly [string, number, Approval['state']]>([
    ['stays while one of two people was not reached', 2, 'pending'],
    ['is void where the deal has come to reach two people and one was shown', 1, 'void'],
  ])('%s', (_name, people, state) => {
    const approval = given({ id: 'a', people, credits: amount(20), released: [ofDeal] })
    expect(planOf({ ...dealing(BOTH), approvals: [approval] }).approvals[0]?.state).toBe(state)
  })

  const limit = { percent: 0, floor: 0 }
  const BLOCKING = { maxAffected: 'off', maxLowered: limit, maxBlocked: limit } as const
  const shown = (credits: number): PlanSketch => ({ holdsShown: { [ID]: { people: 2, at: NOW, credits: amount(credits) } } })
  test.each<readonly [string, Partial<Approval>, PlanSketch, Approval['state'], number]>([
    ['releases a quarter more credits than were shown', {}, shown(16), 'pending', 16],
    ['is void beyond that', {}, shown(15), 'void', 15],
    ['goes by what it moved when it was matched first', { people: 2, credits: amount(15) }, shown(99), 'void', 15],
    ['counts raises and what is taken', {}, { observed: { ada: 55, bob: 45 }, facts: { creditsRemaining: 0 } }, 'pending', 10],
    ['counts nothing for a first cap', {}, { observed: { ada: 60, bob: 'none' }, used: { bob: 60 }, guards: BLOCKING }, 'pending', 10],
  ])('%s', (_name, one, sketch, state, credits) =>
    expect(planOf({ ...dealing(BOTH), ...sketch, approvals: [given(one)] }).approvals).toMatchObject([{ state, credits }]),
  )
})
