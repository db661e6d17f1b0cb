// The level up to which a pool shares out is found, and with few looks: a replay asks for the cost of a level a hundred million times.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { capAt, costAt, highestLevel, levelsOf, paidAt } from '../../../src/core/pools/table.ts'

const person = fc.record({ use: fc.nat(1000), days: fc.integer({ min: 1, max: 20 }), weight: fc.integer({ min: 1, max: 60 }) })
const pools = fc.array(person, { minLength: 1, maxLength: 12 }).map((people) => {
  const column = (figureOf: (one: (typeof people)[number]) => number) => Float64Array.from(people, figureOf)
  const claims = {
    ...{ use: column(({ use }) => use), base: column(() => 0), floor: column(({ use }) => Math.max(1, use)) },
    ...{ most: column(() => 1e9), expected: column((one) => one.use + one.days * one.weight), weight: column((one) => one.weight) },
  }
  const levels = levelsOf(claims, 0, people.length, 0)
  const seen = { looks: 0 }
  const cost = (level: number): number => {
    seen.looks += 1
    return costAt(claims, levels, level)
  }
  return { levels, cost, seen }
})

test('a level costs what the pool pays for the caps at it', () => {
  const claim = fc.tuple(
    fc.nat(2000),
    fc.nat(1000),
    fc.integer({ min: 1, max: 1200 }),
    fc.nat(2000),
    fc.nat(3000),
    fc.integer({ min: 1, max: 200 }),
  )
  fc.assert(
    fc.property(fc.array(claim, { minLength: 1, maxLength: 5 }), fc.nat(200), fc.nat(6000), (people, min, level) => {
      const column = (figureOf: (one: (typeof people)[number]) => number) => Float64Array.from(people, figureOf)
      const claims = {
        ...{ use: column(([halves]) => halves / 2), base: column(([, base]) => base), floor: column(([, , floor]) => floor) },
        ...{ most: column(([, , floor, more]) => floor + more), expected: column((one) => one[4]), weight: column((one) => one[5]) },
      }
      const levels = levelsOf(claims, 0, people.length, min)
      const paid = people.reduce((sum, _, place) => sum + paidAt(claims, place, capAt(claims, levels, place, level)), 0)
      expect(costAt(claims, levels, level)).toBe(paid)
    }),
  )
})

test('the highest level is found that the budget pays for, and none where it does not even pay for use', () => {
  fc.assert(
    fc.property(pools, fc.integer({ min: -5, max: 30_000 }), fc.option(fc.nat(5000), { nil: undefined }), (pool, budget, top) => {
      const level = highestLevel(pool.levels, pool.cost, budget, top)
      expect(pool.seen.looks).toBeLessThanOrEqual(120)
      if (level === undefined) expect(pool.cost(0)).toBeGreaterThan(budget)
      else {
        expect(pool.cost(level)).toBeLessThanOrEqual(budget)
        if (level !== top) expect(pool.cost(level + 1)).toBeGreaterThan(budget)
      }
    }),
  )
})

test.each([0.2, 20])('it is found in few steps on average, with %f times what is expected', (part) => {
  const looks = fc.sample(pools, { numRuns: 200, seed: 1 }).map(({ levels, cost, seen }) => {
    const [least, expected] = [cost(0), cost(levels.expectedAt)]
    seen.looks = 0
    highestLevel(levels, cost, part < 1 ? least + part * (expected - least) : part * expected)
    return seen.looks
  })
  expect(looks.reduce((sum, one) => sum + one, 0) / looks.length).toBeLessThanOrEqual(part < 1 ? 10 : 7)
})
