// What a pool takes from one observation, field by field: readings that are old or of another clock, caps that moved, values that may still
// land, who joins and leaves; and what it remembers after a clock that was ahead. How it goes on from there is in pool.test.ts.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { CYCLE, cap, DAY, email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'
import { countOf, LAG_MS, type MemberSketch, type Members, memberOf, type Sight, see, since, stateOf } from './world.ts'

const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * DAY }
const member = (more: MemberSketch = {}) => memberOf({ use: 10, ...more }, NOW - DAY)
const state = (members: Members, more: Parameters<typeof stateOf>[1] = {}) => {
  const people = Object.entries(members).map(([name, one]): [string, MemberSketch] => [name, { use: 10, ...one }])
  return stateOf(Object.fromEntries(people), { readAt: NOW - HOUR, dealtAt: NOW - DAY, ...more }, NOW - DAY)
}
const ada = (found: ReturnType<typeof see>) => found.state?.members[email('ada')]

describe('nothing is dealt', () => {
  const known = state({ ada: { dealt: 40 } })
  const two = state({ ada: {}, bob: {} })
  const unused = { use: undefined }
  test.each<readonly [string, ReturnType<typeof state> | undefined, Sight, string | undefined]>([
    ['while the service names no cycle', undefined, { cycle: null, use: { ada: 5 } }, 'the service names no billing cycle'],
    ['by a reading from the future', known, { use: { ada: 5 }, readAt: NOW + 1 }, 'use was not read since the clock went back'],
    ['by one of over a day ago', known, { use: { ada: 5 }, now: NOW - HOUR + DAY + 1, readAt: NOW - HOUR }, 'use was not read for a day'],
    [
      'where one’s use is unknown',
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
    ['but not for a reading of a day ago', known, { use: { ada: 5 }, now: NOW - HOUR + DAY, readAt: NOW - HOUR }, undefined],
    ['but not by one no newer, of any cycle', known, { use: { ada: 5 }, readAt: NOW - HOUR, cycle: { startAt: 0, endAt: 1 } }, undefined],
  ])('%s', (_name, before, sight, why) => {
    const found = see(before, sight)
    expect(found.frozen).toBe(why)
    expect('frozen' in found).toBe(why !== undefined)
    expect(found.state === undefined).toBe(before === undefined)
  })
})

describe('a new cycle', () => {
  const named = (at: number) =>
    state({ ada: { use: 100, base: 3 }, bob: { use: 0 } }, { later: { startAt: NEXT.startAt, readAt: at }, readAt: at })
  test.each([
    ['does not begin with the old figures for six hours', 6 * HOUR - 1, false],
    ['begins with whatever figures after them', 6 * HOUR, true],
  ])('%s', (_name, after, begins) => {
    const now = NEXT.startAt + after
    expect(see(named(now - HOUR), { now, cycle: NEXT, use: { ada: 100, bob: 0 } }).frozen === undefined).toBe(begins)
  })

  test('begins without the use of people who are not listed, and with nothing dealt', () => {
    const at = NEXT.startAt + DAY
    const { state: begun } = see(named(at - HOUR), { now: at, cycle: NEXT, use: { ada: 1 }, members: ['ada', 'bob'] })
    expect(begun?.members[email('ada')]).toMatchObject({ use: 1, base: 0 })
    expect(begun?.members[email('bob')]?.use).toBeUndefined()
    expect(begun?.dealtAt).toBeUndefined()
    expect(begun?.later).toBeUndefined()
  })

  test('is none where the start of the present one moves by less than a day, as one of the service may', () => {
    const moved = { ...CYCLE, startAt: CYCLE.startAt + 1 - DAY }
    const before = state({ ada: { base: 3 }, bob: member({ left: { at: NOW - DAY } }) })
    const { state: after, frozen } = see(before, { use: { ada: 12 }, cycle: moved })
    expect(frozen).toBeUndefined()
    const ada = member({ base: 3, use: 12 })
    expect(after).toEqual({ ...before, cycle: moved, readAt: NOW, members: { ...before.members, [email('ada')]: ada } })
  })

  test('begins with the second reading that names it, also where its start has moved between them', () => {
    const at = NEXT.startAt + 7 * HOUR
    const cycle = { ...NEXT, startAt: NEXT.startAt + 1000 }
    expect(see(named(at - HOUR), { now: at, cycle, use: { ada: 1, bob: 0 } })).toMatchObject({ state: { cycle } })
  })

  test('is not the next one any more after an older reading of the present one, which changes nothing else', () => {
    const before = state({ ada: {} }, { later: { startAt: NEXT.startAt, readAt: NOW } })
    const { state: after } = see(before, { use: { ada: 90 }, readAt: before.readAt - HOUR })
    expect(after).toEqual(state({ ada: {} }))
  })
})

describe('a cap that is read', () => {
  const had = member({ cap: since(50, NOW - 2 * HOUR) })
  const after = (value: PlainCap, at = NOW - HOUR): ReturnType<typeof ada> =>
    ada(see(state({ ada: had }), { use: { ada: 10 }, readAt: NOW - HOUR, caps: { ada: since(value, at) } }))
  test.each<readonly [string, PlainCap, number, MemberSketch]>([
    ['is in force since it was first read so', 50, NOW - HOUR, { cap: since(50, NOW - 2 * HOUR), lowered: [] }],
    ['is not in force where it is no newer', 40, NOW - 2 * HOUR, { cap: since(50, NOW - 2 * HOUR), lowered: [] }],
    ['is in force since now where it was read in the future', 60, NOW + HOUR, { cap: since(60, NOW), lowered: [] }],
  ])('%s', (_name, value, at, expected) => expect(after(value, at)).toMatchObject(member(expected)))

  test('after one that was read back behind a write counts after it, and the one before both until then', () => {
    const verified = { ada: since(30, NOW - 1.5 * HOUR) }
    const found = see(state({ ada: had }), { use: { ada: 10 }, verified, caps: { ada: since(45, NOW - HOUR) } })
    expect(ada(found)).toEqual(member({ cap: since(45, NOW - HOUR), lowered: [since(50, NOW - 1.5 * HOUR)] }))
  })

  test.each<readonly [string, number, boolean]>([
    ['may still land within a day', NOW - DAY + 1, true],
    ['will not land any more after one', NOW - DAY, false],
  ])('or was sent %s', (_name, at, counts) =>
    expect(ada(see(state({ ada: {} }), { use: { ada: 10 }, sent: { ada: since(90, at) } }))?.sent).toEqual(counts ? [since(90, at)] : []),
  )

  test.each<readonly [string, number, MemberSketch, number]>([
    ['is put back to known use where it is none', 50.5, { cap: 'none' }, 51],
    ['stays as it was dealt where their own cap is below that', 50.5, { cap: 60, fixed: 30 }, 40],
    ['stays as it was dealt where that is in force', 50.5, { cap: 40 }, 40],
    ['stays as it was dealt where it pays for the use', 40, { cap: 60 }, 40],
    ['stays as it was dealt where nothing was read', 50.5, {}, 40],
  ])('above the deal, the cap %s', (_name, use, more, dealt) => {
    const before = state({ ada: { dealt: 40, use, ...more } })
    const own = more.fixed === undefined ? undefined : { ada: more.fixed }
    expect(ada(see(before, { unknown: 'away', members: ['ada'], ...(own && { own }) }))?.dealt).toBe(dealt)
  })
})

describe('who', () => {
  test('joins while use is not known counts from nothing, with nothing known', () => {
    const { state: after } = see(state({ bob: {} }), { unknown: 'away', members: ['ada', 'bob'] })
    expect(after?.members[email('ada')]).toEqual({ base: 0, sent: [], lowered: [] })
  })
  test('leaves without a deal counts on at the cap in force until use under it must have shown', () => {
    const higher = since(70, NOW - HOUR)
    const after = ada(see(state({ ada: { cap: 40, lowered: [higher] } }), { use: { bob: 1 } }))
    expect(after).toEqual(member({ cap: 40, left: { at: NOW, cap: cap(40) }, lowered: [higher, since(40, NOW)] }))
  })
  test('leaves without a deal and without a known cap may have used any number until use must have shown', () => {
    const { state: after } = see(state({ ada: member(), bob: member({ cap: 9 }) }), { use: { bob: 1 } })
    expect(after?.members[email('ada')]).toEqual(member({ left: { at: NOW }, lowered: [since('none', NOW)] }))
    expect(countOf(after, 'ada')).toBeUndefined()
    const later = NOW + LAG_MS + 1
    const { state: settled } = see(after, { use: { ada: 7, bob: 1 }, now: later, caps: { ada: since('none', later) }, members: ['bob'] })
    expect(countOf(settled, 'ada')).toBe(10)
  })
  test('came in unread may have had any cap until they were read, and counts so until use must have shown', () => {
    const after = see(state({ ada: {} }), { use: { ada: 10 }, caps: { ada: since(20, NOW) } })
    expect(ada(after)).toEqual(member({ cap: since(20, NOW), lowered: [since('none', NOW)] }))
  })
  test('comes back goes on from there, and is dealt anew', () => {
    const left = member({ base: 4, dealt: 40, cap: 40, left: { at: NOW - DAY, cap: cap(40) } })
    expect(ada(see(state({ ada: left }), { use: { ada: 10 } }))).toEqual(member({ base: 4, cap: 40 }))
  })

  test.each<readonly [string, MemberSketch, number]>([
    ['left with it counts at it', { dealt: 40, cap: 40, left: { at: NOW, cap: cap(50) } }, 40],
    ['left with an older one counts at that', { dealt: 40, cap: 50, left: { at: NOW, cap: cap(50) } }, 50],
    ['left and was not read may still have it', { dealt: 40, left: { at: NOW } }, 40],
    ['left has it no more where another is in force', { dealt: 40, cap: 90, left: { at: NOW, cap: cap(50) } }, 10],
    ['left has it no more where none is in force', { dealt: 40, cap: 'none', left: { at: NOW, cap: cap('none') } }, 10],
    ['left never had it where nothing was dealt', { cap: 40, left: { at: NOW, cap: cap(40) } }, 10],
  ])('%s', (_name, more, expected) => expect(countOf(state({ ada: more }), 'ada')).toBe(expected))
})

describe('use under lowered caps that shows while the pool is frozen', () => {
  const lowered = { lowered: [since(90, NOW - 4.5 * HOUR)] }
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

  test('has shown whatever cap of somebody who left was lowered', () => {
    const before = state({ ada: lowered, bob: { ...lowered, left: { at: NOW - DAY } } }, { readAt: NOW - 2 * HOUR })
    expect(see(before, { use: { ada: 12 } }).hasShown).toBe(true)
  })

  test('has not, once another cap was lowered meanwhile', () => {
    const caps = { ada: since(50, NOW - HOUR), bob: since(9) }
    const known = frozenAt.state && { ...frozenAt.state, members: { ...frozenAt.state.members, [email('ada')]: member({ cap: 80 }) } }
    const thawed = see(known, { now: NOW + HOUR / 2, use: { ada: 12, bob: 1 }, caps })
    expect(thawed).toMatchObject({ hasShown: false })
    expect(thawed.state?.hasShown).toBeUndefined()
    expect(see(thawed.state, { now: NOW + 3 * HOUR, use: { ada: 12, bob: 1 }, caps }).hasShown).toBe(true)
  })
})

const remembered = (ada: MemberSketch = {}, more: Parameters<typeof stateOf>[1] = {}) =>
  stateOf({ ada, bob: {} }, { readAt: NOW - HOUR, dealtAt: undefined, ...more })
const loweredAt = (at: number) => [since(40, NOW - HOUR), since(40, at)]

/** The same thing noted at an instant, in every place that has one. */
const noted: readonly (readonly [string, (at: number) => ReturnType<typeof remembered>])[] = [
  ['the reading of use', (at) => remembered({}, { readAt: at })],
  ['the last deal', (at) => remembered({}, { dealtAt: at })],
  ['the new cycle', (at) => remembered({}, { later: { startAt: CYCLE.endAt, readAt: at } })],
  ['a cap in force', (at) => remembered({ cap: since(40, at) })],
  ['a lowered cap', (at) => remembered({ lowered: loweredAt(at) })],
  ['that somebody left', (at) => remembered({ left: { at, cap: credits(40), settled: true } })],
]

describe.each(noted)('after a clock that was ahead, %s', (_name, at) => {
  const unread = (before: ReturnType<typeof remembered>) => see(before, { unknown: 'away', members: ['bob'] }).state
  test('counts as noted now where it was noted in the future', () => {
    expect(unread(at(NOW + HOUR))).toStrictEqual(unread(at(NOW)))
    expect(unread(at(NOW))).not.toEqual(unread(at(NOW - HOUR)))
  })
})
