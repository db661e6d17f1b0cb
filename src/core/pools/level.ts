// Shares credits out by raising one level for everybody: `need` levels the totals of the cycle, `equal` the head-room. Pure arithmetic. A
// higher level never gives anybody less, equal people get equal caps, and names and order change nothing.
import { MAX_CAP } from '../model/units.ts'

/** One person to whom caps are dealt, in whole credits of the cycle. */
export interface Claim {
  readonly email: string
  /** Nobody gets less: known use, 1 at least. */
  readonly floor: number
  readonly min: number
  /** The highest cap; never below `floor`. */
  readonly max: number
  /** Nobody is raised above it, whatever they used. */
  readonly top: number
  /** Known use. */
  readonly use: number
  /** Expected total of the cycle, for `need`; known use in whole credits for `equal`. */
  readonly expected: number
  /** How fast they are expected to use, for what is left over: 1 for `equal`. */
  readonly weight: number
  /** Credits a working day. */
  readonly pace: number
  /** Paid for by somebody else. */
  readonly base: number
}

/** The cap of a claim at a level between 0 and 3. */
export type Levels = (claim: Claim, level: number) => number

const within = (claim: Claim, cap: number): number => Math.max(claim.floor, Math.min(claim.max, MAX_CAP, Math.floor(cap + 1e-6)))

/**
 * Up to 1 everybody is lifted to `min` together; up to 2 to the same total, each to the expected one at most; up to 3 what is left over goes
 * above it by weight.
 */
export function levelsOf(claims: readonly Claim[], most: number): Levels {
  const lowest = claims.reduce((value, claim) => Math.max(value, Math.min(claim.min, claim.max)), 0)
  const highest = claims.reduce((value, claim) => Math.max(value, claim.expected), lowest)
  const lightest = claims.reduce((value, claim) => Math.min(value, claim.weight), Number.POSITIVE_INFINITY)
  return (claim, level) => {
    if (level <= 1) return within(claim, Math.min(claim.min, level * lowest))
    const total = Math.min(claim.expected, (level - 1) * highest)
    const extra = level <= 2 ? 0 : ((level - 2) * most * claim.weight) / lightest
    return within(claim, Math.max(claim.min, total + extra))
  }
}

/** The highest level at which `cost` is at most `budget`; undefined when not even the lowest is. `cost` never falls with the level. */
export function highestLevel(cost: (level: number) => number, budget: number, top = 3): number | undefined {
  if (cost(0) > budget) return undefined
  if (cost(top) <= budget) return top
  let [low, high] = [0, top]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (cost(middle) <= budget) low = middle
    else high = middle
  }
  return low
}
