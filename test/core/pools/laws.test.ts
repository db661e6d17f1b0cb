// The laws of pools: what holds in every order of failures, stale readings and late landings, and what a deal is fair about.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import { CYCLE, DAY, HOUR } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { contestedLives, live, lives, names, stateOf as poolOf } from './world.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

/** There for one in five. */
const rare = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const amounts = fc.integer({ min: 0, max: 3000 })
const shares = fc.constantFrom<PoolTerms['share']>('need', 'equal')
const companies = fc
  .record({
    caps: fc.array(fc.oneof({ weight: 3, arbitrary: amounts }, { weight: 1, arbitrary: fc.constant('none' as const) }), {
      minLength: 1,
      maxLength: 5,
    }),
    fixed: fc.array(rare(amounts), { minLength: 5, maxLength: 5 }),
    credits: fc.integer({ min: 5, max: 6000 }),
    share: shares,
    min: fc.nat(100),
  })
  .map(({ caps, fixed, credits: total, share, min }) => ({
    terms: { credits: credits(total), share, min: credits(min) },
    members: names(caps.length).map((email, index) => {
      const own = fixed[index]
      return { email, ...(own !== undefined && { fixed: credits(own) }) }
    }),
    caps,
  }))

describe('in every order of failures, stale readings and late landings', () => {
  test('once the sum of caps and true use is within the credits, it never exceeds them', () => {
    fc.assert(
      fc.property(companies, lives, (company, steps) => {
        const { told } = live(company, steps)
        const within = told.findIndex(({ sum }) => sum <= company.terms.credits)
        if (within < 0) return
        for (const { sum } of told.slice(within)) expect(sum).toBeLessThanOrEqual(company.terms.credits)
      }),
      runs(200),
    )
  })

  test('nobody is lowered below known use or below 1, but for user caps that say so', () => {
    fc.assert(
      fc.property(companies, contestedLives, (company, steps) => {
        const { told } = live(company, steps)
        for (const { email, from, to, knownUse } of told.flatMap(({ writes }) => writes)) {
          const own = company.members.find((member) => member.email === email)?.fixed ?? Number.POSITIVE_INFINITY
          expect(to).toBeGreaterThanOrEqual(Math.min(1, own))
          if (to < from) expect(to).toBeGreaterThanOrEqual(Math.min(knownUse, own))
        }
      }),
      runs(150),
    )
  })
})

/** Members with known use and caps, at a moment within the cycle when everything has settled. */
const AT = CYCLE.startAt + 9 * DAY + 12 * HOUR

interface Sketch {
  readonly use: number
  readonly cap: number | 'none'
  readonly fixed?: number | undefined
}

const sketches = fc.array(
  fc.record({
    use: fc.integer({ min: 0, max: 1000 }),
    cap: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 1500 }) }, { weight: 1, arbitrary: fc.constant('none' as const) }),
    fixed: rare(fc.integer({ min: 0, max: 1500 })),
  }),
  { minLength: 1, maxLength: 12 },
)

const stateOf = (people: readonly (readonly [string, Sketch])[]) =>
  poolOf(Object.fromEntries(people), { readAt: AT, dealtAt: undefined }, CYCLE.startAt)

type PoolState = ReturnType<typeof stateOf>

const termsOf = (total: number, share: PoolTerms['share'], min = 0, max?: number): PoolTerms => ({
  credits: credits(total),
  share,
  min: credits(min),
  ...(max !== undefined && { max: credits(max) }),
})

/** The caps just dealt are in force, and use under all lowered caps has shown. */
const landed = (state: PoolState, readAt: number): PoolState => ({
  ...state,
  readAt,
  members: Object.fromEntries(
    Object.entries(state.members).map(([who, member]) => [
      who,
      { ...member, ...(member.dealt !== undefined && { inForce: { cap: member.dealt, at: readAt } }) },
    ]),
  ),
})

const capsOf = (terms: PoolTerms, state: PoolState): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(dealPool(terms, state, AT, { always: true }).members).map(([email, { dealt }]) => [email, dealt ?? -1]))

const named = (people: readonly Sketch[]): readonly (readonly [string, Sketch])[] =>
  people.map((one, index) => [`p${String(index).padStart(2, '0')}@example.com`, one])

const totals = fc.integer({ min: 1, max: 12_000 })

describe('a deal', () => {
  test('gives equal members equal caps', () => {
    fc.assert(
      fc.property(sketches, totals, shares, (people, total, share) => {
        const twice = named([...people, ...people])
        const caps = capsOf(termsOf(total, share), stateOf(twice))
        for (const [index, [email]] of twice.slice(0, people.length).entries()) {
          expect(caps[email]).toBe(caps[twice[index + people.length]?.[0] ?? ''])
        }
      }),
    )
  })

  test('does not depend on names or order', () => {
    fc.assert(
      fc.property(sketches, totals, shares, (people, total, share) => {
        const caps = capsOf(termsOf(total, share), stateOf(named(people)))
        const renamed = named(people).map(([email, one]) => [`x${email.split('').toReversed().join('')}`, one] as const)
        const others = capsOf(termsOf(total, share), stateOf(renamed.toReversed()))
        for (const [index, [email]] of named(people).entries()) expect(others[renamed[index]?.[0] ?? '']).toBe(caps[email])
      }),
    )
  })

  test('gives nobody less for more credits', () => {
    fc.assert(
      fc.property(sketches, totals, fc.nat(3000), fc.nat(200), shares, (people, total, more, min, share) => {
        const fresh = named(people.map((one) => ({ ...one, cap: 'none' as const })))
        const few = capsOf(termsOf(total, share, min), stateOf(fresh))
        const many = capsOf(termsOf(total + more, share, min), stateOf(fresh))
        for (const [email] of fresh) expect(many[email]).toBeGreaterThanOrEqual(few[email] ?? 0)
      }),
    )
  })

  test('keeps within the credits wherever use leaves room', () => {
    fc.assert(
      fc.property(sketches, totals, shares, (people, total, share) => {
        const list = named(people)
        const caps = capsOf(termsOf(total, share), stateOf(list))
        const floors = people.reduce((sum, { use }) => sum + Math.max(1, use), 0)
        const sum = list.reduce((so, [email, { use }]) => so + Math.max(use, caps[email] ?? 0), 0)
        const before = people.reduce((so, { use, cap }) => so + Math.max(use, cap === 'none' ? Number.POSITIVE_INFINITY : cap), 0)
        expect(sum).toBeLessThanOrEqual(Math.max(total, floors))
        if (before > total)
          for (const [email, { cap }] of list) expect(caps[email]).toBeLessThanOrEqual(cap === 'none' ? Number.POSITIVE_INFINITY : cap)
      }),
    )
  })
})

const bounded = fc.record({
  people: sketches,
  total: totals,
  share: shares,
  min: fc.nat(100),
  over: fc.nat(900),
})

/** The first deal lowers; the second gives the raises that it pays for. */
const CALM_AFTER = 1

const capOf = ({ members }: PoolState, who: string): number => members[who]?.dealt ?? Number.NaN

describe('a pool whose use does not move', () => {
  test('is calm after the raises that its lowered caps pay for, for ever', () => {
    fc.assert(
      fc.property(bounded, ({ people, total, share, min, over }) => {
        const terms = termsOf(total, share, min, min + over)
        let state = stateOf(named(people))
        let last = 0
        for (let index = 0; index < 12; index += 1) {
          const after = dealPool(terms, landed({ ...state, readAt: AT }, AT), AT + index, { always: true })
          const before = Object.values(state.members).map(({ dealt }) => dealt)
          if (JSON.stringify(before) !== JSON.stringify(Object.values(after.members).map(({ dealt }) => dealt))) last = index
          state = after
        }
        expect(last).toBeLessThanOrEqual(CALM_AFTER)
      }),
      runs(300),
    )
  })

  test('has every cap between `min` and `max` once it was dealt, but for use', () => {
    fc.assert(
      fc.property(bounded, ({ people, total, share, min, over }) => {
        const list = named(people.map(({ fixed: _, ...one }) => one))
        const max = min + over
        const terms = termsOf(total, share, min, max)
        const first = dealPool(terms, stateOf(list), AT)
        for (const [who, { use, cap }] of list) {
          const most = Math.max(1, max, Math.ceil(use))
          expect(capOf(first, who)).toBeLessThanOrEqual(most)
          // A cap is not lowered below use, and one that is below it is not raised to it.
          if (typeof cap === 'number') expect(capOf(first, who)).toBeGreaterThanOrEqual(Math.min(cap, Math.max(1, use)))
        }
      }),
    )
  })

  test('corrects a cap above `max` also long after the first deal', () => {
    fc.assert(
      fc.property(bounded, fc.integer({ min: 1, max: 900 }), ({ people, share, min, over }, more) => {
        const max = min + over
        const list = named(people.map(({ use, cap }) => ({ use, cap: cap === 'none' ? 1 : cap })))
        const terms = termsOf(2_000_000, share, min, max)
        const first = dealPool(terms, stateOf(list), AT - 9 * HOUR)
        const [[who] = ['']] = list
        const above = Math.max(1, max, Math.ceil(first.members[who]?.use ?? 0))
        const members = { ...first.members, [who]: { ...first.members[who], dealt: credits(above + more) } as PoolState['members'][string] }
        expect(capOf(dealPool(terms, landed({ ...first, members }, AT), AT), who)).toBe(above)
      }),
    )
  })

  test.each<readonly [string, readonly Sketch[], number, number, readonly number[]]>([
    ['use above `max`', [{ cap: 700, use: 600 }], 1200, 500, [600]],
    [
      'use above `max` and above the cap',
      [
        { cap: 400, use: 600 },
        { cap: 560, use: 480 },
      ],
      1200,
      500,
      [400, 500],
    ],
    ['a cap a little above `max`', [{ cap: 373, use: 0 }], 1550, 300, [300]],
    ['a cap far above `max`', [{ cap: 3730, use: 0 }], 1550, 300, [300]],
  ])('has %s and is written once', (_name, people, total, max, expected) => {
    const terms = termsOf(total, 'need', 0, max)
    let state = stateOf(named(people))
    for (let round = 0; AT + round * 5 * HOUR < CYCLE.endAt; round += 1) {
      state = dealPool(terms, landed(state, AT + round * 5 * HOUR), AT + round * 5 * HOUR)
      expect(Object.values(state.members).map(({ dealt }) => dealt)).toEqual(expected)
    }
  })
})
