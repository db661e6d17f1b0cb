// The level up to which a pool shares out: what it gives at a level, what that costs, and that the highest one that can be paid is found.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_CAP } from '../../../src/core/model/units.ts'
import { type Claims, capAt, costAt, highestLevel, type Levels, levelsOf, paidAt } from '../../../src/core/pools/level.ts'

interface Person {
  readonly use?: number
  readonly base?: number
  readonly expected: number
  readonly weight?: number
  readonly most?: number
}

const claimsOf = (people: readonly Person[]): Claims => {
  const column = (figureOf: (person: Person) => number): Float64Array => Float64Array.from(people, figureOf)
  const floorOf = ({ use = 0 }: Person): number => Math.max(1, Math.ceil(use))
  return {
    use: column(({ use = 0 }) => use),
    base: column(({ base = 0 }) => base),
    floor: column(floorOf),
    most: column((person) => Math.max(person.most ?? MAX_CAP, floorOf(person))),
    expected: column(({ expected }) => expected),
    weight: column(({ weight = 1 }) => weight),
  }
}

/** Somebody is expected to use 10 in all, and somebody twice as fast 30. */
const TWO = claimsOf([{ expected: 10 }, { expected: 30, weight: 2 }])
const capsAt = (claims: Claims, level: number, min = 0): readonly number[] => {
  const levels = levelsOf(claims, 0, claims.use.length, min)
  return [...claims.use].map((_, place) => capAt(claims, levels, place, level))
}

describe('at a level', () => {
  test.each<readonly [string, Claims, number, number, readonly number[]]>([
    ['everybody gets 1 at least', TWO, 0, 0, [1, 1]],
    ['everybody gets the same, as long as that is expected of all', TWO, 7, 0, [7, 7]],
    ['nobody gets more than what is expected of them', TWO, 20, 0, [10, 20]],
    ['everybody gets what is expected of them', TWO, 30, 0, [10, 30]],
    ['what is left over goes by weight, in whole credits', TWO, 30 + 32 * 3, 0, [13, 36]],
    ['a part of a credit is not given', TWO, 30 + 32 * 3 - 1, 0, [12, 35]],
    ['everybody is lifted to the least together', TWO, 12, 15, [12, 12]],
    ['a person expected to use less than the least gets the least', TWO, 20, 15, [15, 20]],
    ['what is expected may be in parts of a credit', claimsOf([{ expected: 9.6 }]), 10, 0, [9]],
    ['nobody gets less than their use', claimsOf([{ expected: 12, use: 8.2 }, { expected: 12 }]), 5, 0, [9, 5]],
    ['nobody gets more than their most', claimsOf([{ expected: 12, most: 7 }, { expected: 12 }]), 9, 0, [7, 9]],
    ['nobody gets more than their most, whatever the least', claimsOf([{ expected: 1, most: 7 }, { expected: 1 }]), 9, 9, [7, 9]],
  ])('%s', (_name, claims, level, min, caps) => expect(capsAt(claims, level, min)).toEqual(caps))

  test.each<readonly [string, Person, number, number]>([
    ['the cap', { expected: 0, use: 5 }, 9, 9],
    ['use, where the cap is below it', { expected: 0, use: 5 }, 3, 5],
    ['only what exceeds the use that others paid for', { expected: 0, use: 5, base: 2 }, 9, 7],
    ['nothing, where others paid for more', { expected: 0, use: 5, base: 20 }, 9, 0],
  ])('the pool pays %s', (_name, person, cap, paid) => expect(paidAt(claimsOf([person]), 0, cap)).toBe(paid))

  test('everybody has what is expected of them, or the least where that is more and they may have it', () => {
    expect(levelsOf(TWO, 0, 2, 0)).toEqual({ from: 0, to: 2, min: 0, expectedAt: 30, extra: 1 / 32, heaviness: 3 })
    expect(levelsOf(TWO, 1, 2, 0)).toMatchObject({ expectedAt: 30, extra: 1 / 64, heaviness: 2 })
    expect(levelsOf(claimsOf([{ expected: 3.2, most: 9 }, { expected: 2 }]), 0, 1, 20).expectedAt).toBe(9)
    expect(levelsOf(claimsOf([{ expected: 3.2, most: 9 }, { expected: 2 }]), 0, 1, 2).expectedAt).toBe(4)
    expect(levelsOf(claimsOf([{ expected: 3.2, most: 2 }]), 0, 1, 9).expectedAt).toBe(4)
  })
})

const person = fc.record({
  use: fc.integer({ min: 0, max: 2000 }).map((cents) => cents / 2),
  base: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(600) }),
  expected: fc.integer({ min: 0, max: 4000 }).map((halves) => halves / 2),
  weight: fc.constantFrom(1, 0.7, 3, 41.5),
  most: fc.oneof(fc.constant(MAX_CAP), fc.integer({ min: 1, max: 3000 })),
})
const people = fc.array(person, { minLength: 1, maxLength: 12 }).map(claimsOf)

/** Claims with a level of theirs, what they cost at any, and how often that was asked. */
function counted(claims: Claims, min: number) {
  const levels = levelsOf(claims, 0, claims.use.length, min)
  const seen = { looks: 0 }
  const cost = (level: number): number => {
    seen.looks += 1
    return costAt(claims, levels, level)
  }
  return { levels, cost, seen }
}

const within = (levels: Levels, part: number): number => Math.floor((levels.expectedAt + 2000) * part)

describe('laws', () => {
  test('all together cost what the pool pays for each', () => {
    fc.assert(
      fc.property(people, fc.nat(300), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), (claims, min, part, from) => {
        const to = claims.use.length
        const levels = levelsOf(claims, Math.min(from, to), to, min)
        const level = within(levels, part)
        let cost = 0
        for (let place = levels.from; place < to; place += 1) cost += paidAt(claims, place, capAt(claims, levels, place, level))
        expect(costAt(claims, levels, level)).toBe(cost)
      }),
    )
  })

  test('a higher level never gives anybody less', () => {
    fc.assert(
      fc.property(people, fc.nat(300), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(200), (claims, min, part, more) => {
        const levels = levelsOf(claims, 0, claims.use.length, min)
        const level = within(levels, part)
        for (const place of claims.use.keys()) {
          expect(capAt(claims, levels, place, level + more)).toBeGreaterThanOrEqual(capAt(claims, levels, place, level))
        }
      }),
    )
  })

  test('the highest level is found that the budget pays for, and none where it does not even pay for use', () => {
    fc.assert(
      fc.property(people, fc.nat(300), fc.integer({ min: -5, max: 30_000 }), fc.option(fc.nat(5000)), (claims, min, budget, top) => {
        const { levels, cost, seen } = counted(claims, min)
        const level = top === null ? highestLevel(levels, cost, budget) : highestLevel(levels, cost, budget, top)
        expect(seen.looks).toBeLessThanOrEqual(120)
        if (level === undefined) expect(cost(0)).toBeGreaterThan(budget)
        else {
          expect(cost(level)).toBeLessThanOrEqual(budget)
          if (top === null || level < top) {
            if (cost(level + 1) <= budget)
              expect([...claims.use].map((_, place) => capAt(claims, levels, place, level))).toEqual([...claims.most])
          } else expect(level).toBe(top)
        }
      }),
    )
  })

  test('where the budget pays for the least alone, everybody gets that', () => {
    const { levels, cost } = counted(TWO, 0)
    expect([highestLevel(levels, cost, 2), highestLevel(levels, cost, 1), highestLevel(levels, cost, 4)]).toEqual([1, undefined, 2])
  })

  test('with unlimited credits everybody gets their most', () => {
    fc.assert(
      fc.property(people, fc.nat(300), (claims, min) => {
        const { levels, cost } = counted(claims, min)
        const level = highestLevel(levels, cost, Number.POSITIVE_INFINITY) ?? 0
        for (const [place, most] of claims.most.entries()) expect(capAt(claims, levels, place, level)).toBe(most)
      }),
    )
  })

  // A replay asks for the cost of a level a hundred million times.
  test.each([0.2, 0.5, 0.9, 1.1, 2, 20])('it is found in few steps on average, with %f times what is expected', (part) => {
    const more = fc.record({ use: fc.nat(1000), days: fc.integer({ min: 1, max: 20 }), weight: fc.integer({ min: 1, max: 60 }) })
    const pools = fc.sample(fc.array(more, { minLength: 1, maxLength: 12 }), { numRuns: 200, seed: 1 })
    const looks = pools.map((all) => {
      const claims = claimsOf(all.map(({ use, days, weight }) => ({ use, weight, expected: use + days * weight })))
      const { levels, cost, seen } = counted(claims, 0)
      const [least, expected] = [cost(0), cost(levels.expectedAt)]
      const budget = part < 1 ? least + part * (expected - least) : part * expected
      seen.looks = 0
      highestLevel(levels, cost, budget)
      return seen.looks
    })
    expect(looks.reduce((sum, one) => sum + one, 0) / looks.length).toBeLessThanOrEqual(part < 1 ? 10 : 7)
  })
})
