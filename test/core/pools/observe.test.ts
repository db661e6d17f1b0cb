// What a pool takes from one observation, field by field: readings that are old or of another clock, caps that moved, values that may still
// land, who joins and leaves. How it goes on from there is in pool.test.ts.
import { describe, expect, test } from 'vitest'
import type { Cycle } from '../../../src/core/model/observed.ts'
import { credits } from '../../../src/core/model/units.ts'
import { fullSum } from '../../../src/core/pools/figures.ts'
import { isGone, observePool } from '../../../src/core/pools/observe.ts'
import { openLowers, type PoolMember, type PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, DAY, email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'

const NEXT: Cycle = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * DAY }
const LAG = 2 * HOUR
const since = (value: PlainCap, at = NOW - DAY) => ({ cap: cap(value), at })
const member = (more: Partial<PoolMember> = {}): PoolMember => ({ base: credits(0), use: credits(10), sent: [], lowered: [], ...more })
const state = (members: Readonly<Record<string, PoolMember>>, more: Partial<PoolState> = {}): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW - HOUR, dealtAt: NOW - DAY, ...more },
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), one])),
})

interface Sight extends Partial<Omit<Parameters<typeof observePool>[1], 'use' | 'caps' | 'verified' | 'sent' | 'members'>> {
  /** Default: of the present cycle, as of now. */
  readonly use?: Readonly<Record<string, number>>
  readonly readAt?: number
  readonly cycle?: Cycle | null
  readonly unknown?: string
  readonly caps?: Readonly<Record<string, ReturnType<typeof since>>>
  readonly verified?: Readonly<Record<string, ReturnType<typeof since>>>
  readonly sent?: Readonly<Record<string, readonly ReturnType<typeof since>[]>>
  readonly members?: readonly string[]
}

function see(before: PoolState | undefined, sight: Sight) {
  const { now = NOW, use = {}, cycle = CYCLE } = sight
  const named = <T>(record: Readonly<Record<string, T>> = {}) => new Map(Object.entries(record).map(([name, one]) => [email(name), one]))
  const used = new Map([...named(use)].map(([who, one]) => [who, credits(one)]))
  return observePool(before, {
    now,
    use:
      sight.unknown === undefined
        ? { kind: 'known', readAt: sight.readAt ?? now, used, ...(cycle && { cycle }) }
        : { kind: 'unknown', why: sight.unknown },
    caps: named(sight.caps),
    verified: named(sight.verified),
    sent: named(sight.sent),
    members: (sight.members ?? Object.keys(use)).map((name) => ({ email: email(name) })),
    usageLagMs: LAG,
  })
}
const ada = (found: ReturnType<typeof see>): PoolMember | undefined => found.state?.members[email('ada')]

test.each<readonly [string, ReturnType<typeof since>, number, readonly unknown[]]>([
  ['what was written since and read back was in force before it', since(4000, NOW - HOUR), NOW, [since(4000, NOW)]],
  ['what was written before that changes nothing', since(4000, NOW - 2 * DAY), NOW - DAY, []],
])('of a cap that was read before and is read again, %s', (_row, written, at, lowered) => {
  const before = state({ ada: member({ inForce: since(300) }) })
  const seen = ada(see(before, { use: { ada: 12 }, caps: { ada: since(300, NOW) }, verified: { ada: written } }))
  expect(seen).toMatchObject({ inForce: since(300, at), lowered })
})

describe('nothing is dealt', () => {
  const known = state({ ada: member({ dealt: credits(40) }) })
  const two = state({ ada: member(), bob: member() })
  const unused = { base: credits(0), sent: [], lowered: [] }
  test.each<readonly [string, PoolState | undefined, Sight, string | undefined]>([
    ['while use was never known', undefined, { unknown: 'away' }, 'away'],
    ['while the service names no cycle', undefined, { cycle: null, use: { ada: 5 } }, 'the service names no billing cycle'],
    ['by a reading from the future', known, { use: { ada: 5 }, readAt: NOW + 1 }, 'use was not read since the clock went back'],
    [
      'by a reading of more than a day ago',
      known,
      { use: { ada: 5 }, now: NOW - HOUR + DAY + 1, readAt: NOW - HOUR },
      'use was not read for a day',
    ],
    [
      'where the use of somebody is not known',
      state({ ada: unused }),
      { use: { bob: 5 }, members: ['ada', 'bob'] },
      'the use of a member is not known',
    ],
    [
      'where the use of several is not known',
      two,
      { cycle: CYCLE, use: { ada: 1 }, members: ['ada', 'bob', 'cyd', 'dan'] },
      'the use of 2 members is not known',
    ],
    ['but not for a reading of now', known, { use: { ada: 5 } }, undefined],
    ['but not for a reading of a day ago', known, { use: { ada: 5 }, now: NOW - HOUR + DAY, readAt: NOW - HOUR }, undefined],
    [
      'but not for the use of somebody who left',
      state({ ada: member(), bob: { ...unused, left: { at: NOW } } }),
      { use: { ada: 5 } },
      undefined,
    ],
    [
      'but not by a reading that is no newer, whatever cycle it names',
      known,
      { use: { ada: 5 }, readAt: NOW - HOUR, cycle: { startAt: 0, endAt: 1 } },
      undefined,
    ],
  ])('%s', (_name, before, sight, why) => {
    const found = see(before, sight)
    expect(found.frozen).toBe(why)
    expect('frozen' in found).toBe(why !== undefined)
    expect(found.state === undefined).toBe(before === undefined)
  })
})

describe('a new cycle', () => {
  const named = (use: number, at: number): PoolState =>
    state(
      { ada: member({ use: credits(use), base: credits(3) }), bob: member({ use: credits(0) }) },
      { later: { startAt: NEXT.startAt, readAt: at }, readAt: at },
    )
  const begins = (was: number, is: number, after: number): boolean => {
    const at = NEXT.startAt + after
    return see(named(was, at - HOUR), { now: at, cycle: NEXT, use: { ada: is, bob: 0 } }).frozen === undefined
  }
  test.each<readonly [string, number, number, number, boolean]>([
    ['does not begin with more than half of the old figures', 100, 51, 2 * HOUR, false],
    ['begins with half of them', 100, 50, 2 * HOUR, true],
    ['begins with any use where nobody had used anything', 0, 5, 2 * HOUR, true],
    ['does not begin with the old figures for six hours', 100, 100, 6 * HOUR - 1, false],
    ['begins with whatever figures after them', 100, 100, 6 * HOUR, true],
  ])('%s', (_name, was, is, after, expected) => expect(begins(was, is, after)).toBe(expected))

  test('begins without the use of people who are not listed, and with nothing dealt', () => {
    const at = NEXT.startAt + DAY
    const { state: begun } = see(named(100, at - HOUR), { now: at, cycle: NEXT, use: { ada: 1 }, members: ['ada', 'bob'] })
    expect(begun?.members[email('ada')]).toMatchObject({ use: 1, base: 0 })
    expect(begun?.members[email('bob')]?.use).toBeUndefined()
    expect(begun?.dealtAt).toBeUndefined()
    expect(begun?.later).toBeUndefined()
  })

  test.each([-1, 1, 1 - DAY, DAY - 1])('is none where the start of the present one moves by %i ms, as one of the service may', (ms) => {
    const moved = { ...CYCLE, startAt: CYCLE.startAt + ms }
    const before = state({ ada: member({ base: credits(3) }), bob: member({ left: { at: NOW - DAY } }) })
    const { state: after, frozen } = see(before, { use: { ada: 12 }, cycle: moved })
    expect(frozen).toBeUndefined()
    const ada = member({ base: credits(3), use: credits(12) })
    expect(after).toEqual({ ...before, cycle: moved, readAt: NOW, members: { ...before.members, [email('ada')]: ada } })
  })

  test('begins with the second reading that names it, also where its start has moved between them', () => {
    const at = NEXT.startAt + 7 * HOUR
    const cycle = { ...NEXT, startAt: NEXT.startAt + 1000 }
    expect(see(named(100, at - HOUR), { now: at, cycle, use: { ada: 1, bob: 0 } })).toMatchObject({ state: { cycle } })
  })

  test('is not the next one any more after an older reading of the present one, which changes nothing else', () => {
    const before = state({ ada: member() }, { later: { startAt: NEXT.startAt, readAt: NOW } })
    const { state: after } = see(before, { use: { ada: 90 }, readAt: before.readAt - HOUR })
    expect(after).toEqual(state({ ada: member() }))
  })
})

describe('a cap that is read', () => {
  const had = member({ inForce: since(50, NOW - 2 * HOUR) })
  const after = (value: PlainCap, at = NOW - HOUR): PoolMember | undefined =>
    ada(see(state({ ada: had }), { use: { ada: 10 }, readAt: NOW - HOUR, caps: { ada: since(value, at) } }))
  test.each<readonly [string, PlainCap, number, Partial<PoolMember>]>([
    ['is in force', 60, NOW - HOUR, { inForce: since(60, NOW - HOUR), lowered: [] }],
    ['counts on at its old value where it fell', 40, NOW - HOUR, { inForce: since(40, NOW - HOUR), lowered: [since(50, NOW - HOUR)] }],
    ['did not fall when it became none', 'none', NOW - HOUR, { inForce: since('none', NOW - HOUR), lowered: [] }],
    ['is in force since it was first read so', 50, NOW - HOUR, { inForce: since(50, NOW - 2 * HOUR), lowered: [] }],
    ['is not in force where it is no newer', 40, NOW - 2 * HOUR, { inForce: since(50, NOW - 2 * HOUR), lowered: [] }],
    ['is in force since now where it was read in the future', 60, NOW + HOUR, { inForce: since(60, NOW), lowered: [] }],
    ['is in force since it was read, just now', 60, NOW, { inForce: since(60, NOW), lowered: [] }],
  ])('%s', (_name, value, at, expected) => expect(after(value, at)).toMatchObject(expected))

  test.each<readonly [string, number, boolean]>([
    ['may still land within a day', NOW - DAY + 1, true],
    ['will not land any more after one', NOW - DAY, false],
  ])('or was sent %s', (_name, at, counts) =>
    expect(ada(see(state({ ada: member() }), { use: { ada: 10 }, sent: { ada: [since(90, at)] } }))?.sent).toEqual(
      counts ? [since(90, at)] : [],
    ),
  )

  test.each<readonly [string, number, Partial<PoolMember>, number]>([
    ['is put back to known use where more was used', 50.5, { inForce: since(60) }, 51],
    ['is put back to what it is where that is below use', 50.5, { inForce: since(45) }, 45],
    ['is put back to known use where it is none', 50.5, { inForce: since('none') }, 51],
    ['is put back to a cap of their own at most', 50.5, { inForce: since(60), fixed: credits(42) }, 42],
    ['stays as it was dealt where their own cap is below that', 50.5, { inForce: since(60), fixed: credits(30) }, 40],
    ['stays as it was dealt where that is in force', 50.5, { inForce: since(40) }, 40],
    ['stays as it was dealt where less is in force', 50.5, { inForce: since(9) }, 40],
    ['stays as it was dealt where it pays for the use', 40, { inForce: since(60) }, 40],
    ['stays as it was dealt where nothing was read', 50.5, {}, 40],
  ])('above the deal, the cap %s', (_name, use, more, dealt) => {
    const { fixed } = more
    const before = state({ ada: member({ dealt: credits(40), use: credits(use), ...more }) })
    const members = [{ email: email('ada'), ...(fixed !== undefined && { fixed }) }]
    const observation = {
      now: NOW,
      use: { kind: 'unknown', why: 'away' },
      caps: new Map(),
      sent: new Map(),
      members,
      usageLagMs: LAG,
    } as const
    expect(observePool(before, observation).state?.members[email('ada')]?.dealt).toBe(dealt)
  })
})

describe('who', () => {
  test('joins while use is not known counts from nothing, with nothing known', () => {
    const { state: after } = see(state({ bob: member() }), { unknown: 'away', members: ['ada', 'bob'] })
    expect(after?.members[email('ada')]).toEqual({ base: 0, sent: [], lowered: [] })
  })
  test('leaves keeps what was dealt, and the cap that was in force then', () => {
    const before = state({ ada: member({ dealt: credits(40), inForce: since(40), protected: true, fixed: credits(9) }) })
    const after = ada(see(before, { use: { bob: 1 } }))
    expect(after).toEqual(member({ dealt: credits(40), inForce: since(40), left: { at: NOW, cap: cap(40) } }))
  })
  test('leaves without a known cap keeps none', () => {
    const after = ada(see(state({ ada: member({ dealt: credits(40) }) }), { use: { bob: 1 } }))
    expect(after).toEqual(member({ dealt: credits(40), left: { at: NOW } }))
  })
  test('leaves without a deal counts on at the cap in force until use under it must have shown', () => {
    const after = ada(see(state({ ada: member({ inForce: since(40) }) }), { use: { bob: 1 } }))
    expect(after).toEqual(member({ inForce: since(40), left: { at: NOW, cap: cap(40) }, lowered: [since(40, NOW)] }))
  })
  test('leaves without a deal and without a known cap may have used any number until use must have shown', () => {
    const { state: after } = see(state({ ada: member(), bob: member({ inForce: since(9) }) }), { use: { bob: 1 } })
    expect(after?.members[email('ada')]).toEqual(member({ left: { at: NOW }, lowered: [since('none', NOW)] }))
    expect(after && fullSum(after)).toBe(Number.POSITIVE_INFINITY)
    const later = NOW + LAG + 1
    const { state: settled } = see(after, { use: { ada: 7, bob: 1 }, now: later, caps: { ada: since('none', later) }, members: ['bob'] })
    expect(settled && fullSum(settled)).toBe(10 + 10)
  })
  test('came in unread may have had any cap until they were read, and counts so until use must have shown', () => {
    const after = see(state({ ada: member() }), { use: { ada: 10 }, caps: { ada: since(20, NOW) } })
    expect(ada(after)).toEqual(member({ inForce: since(20, NOW), lowered: [since('none', NOW)] }))
  })
  test('left before stays as they left', () => {
    const left = member({ dealt: credits(40), inForce: since(40), left: { at: NOW - DAY, cap: cap(40) } })
    expect(ada(see(state({ ada: left }), { use: { bob: 1 } }))).toEqual(left)
  })
  test('comes back goes on from there, and is dealt anew', () => {
    const left = member({ base: credits(4), dealt: credits(40), inForce: since(40), left: { at: NOW - DAY, cap: cap(40) } })
    expect(ada(see(state({ ada: left }), { use: { ada: 10 } }))).toEqual(member({ base: credits(4), inForce: since(40) }))
  })

  test.each<readonly [string, Partial<PoolMember>, boolean]>([
    ['is there has the pool’s cap', { dealt: credits(40), inForce: since(90) }, false],
    ['left with it still has it', { dealt: credits(40), inForce: since(40), left: { at: NOW, cap: cap(50) } }, false],
    ['left with an older one still has it', { dealt: credits(40), inForce: since(50), left: { at: NOW, cap: cap(50) } }, false],
    ['left and was not read may still have it', { dealt: credits(40), left: { at: NOW } }, false],
    ['left has it no more where another is in force', { dealt: credits(40), inForce: since(90), left: { at: NOW, cap: cap(50) } }, true],
    [
      'left has it no more where none is in force',
      { dealt: credits(40), inForce: since('none'), left: { at: NOW, cap: cap('none') } },
      true,
    ],
    [
      'left has it no more once that is settled',
      { dealt: credits(40), inForce: since(40), left: { at: NOW, cap: cap(40), settled: true } },
      true,
    ],
    ['left never had it where nothing was dealt', { inForce: since(40), left: { at: NOW, cap: cap(40) } }, true],
  ])('%s', (_name, more, gone) => expect(isGone(member(more))).toBe(gone))
})

describe('use under lowered caps that shows while the pool is frozen', () => {
  const lowered = { lowered: [since(90, NOW - 3 * HOUR)] }
  const frozenAt = see(state({ ada: member(lowered) }, { readAt: NOW - 2 * HOUR }), { use: { ada: 12 }, members: ['ada', 'bob'] })

  test('has shown for the first observation that finds it dealt again, and for no later one', () => {
    expect(frozenAt).toMatchObject({ frozen: 'the use of a member is not known', hasShown: true, state: { hasShown: true } })
    const again = see(frozenAt.state, { use: { ada: 12 }, members: ['ada', 'bob'] })
    expect(again).toEqual(frozenAt)
    const thawed = see(again.state, { now: NOW + HOUR, use: { ada: 12, bob: 1 } })
    expect(thawed.hasShown).toBe(true)
    expect(thawed.state?.hasShown).toBeUndefined()
    expect(see(thawed.state, { now: NOW + 2 * HOUR, use: { ada: 12, bob: 1 } }).hasShown).toBe(false)
  })

  test('has not, once another cap was lowered meanwhile', () => {
    const caps = { ada: since(50, NOW - HOUR), bob: since(9) }
    const known = {
      ...frozenAt.state,
      members: { ...frozenAt.state?.members, [email('ada')]: member({ inForce: since(80) }) },
    } as PoolState
    const thawed = see(known, { now: NOW + HOUR / 2, use: { ada: 12, bob: 1 }, caps })
    expect(thawed).toMatchObject({ hasShown: false })
    expect(thawed.state?.hasShown).toBeUndefined()
    expect(see(thawed.state, { now: NOW + 3 * HOUR, use: { ada: 12, bob: 1 }, caps }).hasShown).toBe(true)
  })
})

test('raises wait for use under lowered caps of present members only', () => {
  const ada = member({ lowered: [since(300)], left: { at: NOW } })
  expect(openLowers(state({ ada, bob: member({ lowered: [since(500)] }), cyd: member() }))).toEqual([since(500)])
})
