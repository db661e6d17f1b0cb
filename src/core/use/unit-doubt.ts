// Two figures of the same thing that differ by a factor of about 100 were most likely counted in credits and in cents. It only reports that; which
// of the two is wrong is not known.
import type { Credits } from '../model/units.ts'

/** Two figures of the same thing; either may be missing. */
export interface FigurePair {
  /** Their name for people, such as `add-on credits`. */
  readonly of: string
  readonly first: { readonly name: string; readonly credits: Credits | undefined }
  readonly second: { readonly name: string; readonly credits: Credits | undefined }
}

/** A probable unit error, worded for one log line. */
interface UnitDoubt {
  readonly of: string
  /** The larger divided by the smaller. */
  readonly factor: number
  readonly message: string
}

/** Smaller figures are not compared: one of the two may only be a little late. Choice. */
const FEWEST_CREDITS = 10
/** A factor in this range is taken for 100. Choice. */
const FACTORS = { low: 70, high: 140 }

/** The pairs that differ by a factor of 70 to 140, both 10 credits or more. Choice. */
export function unitDoubt(pairs: readonly FigurePair[]): readonly UnitDoubt[] {
  return pairs.flatMap(({ of, first, second }) => {
    const [a, b] = [first.credits, second.credits]
    if (a === undefined || b === undefined || Math.min(a, b) < FEWEST_CREDITS) return []
    const factor = Math.max(a, b) / Math.min(a, b)
    if (factor < FACTORS.low || factor > FACTORS.high) return []
    const message = `${of}: ${first.name} says ${Math.round(a)}, ${second.name} says ${Math.round(b)} credits, a factor of ${Math.round(factor)}; one of them is probably in cents`
    return [{ of, factor, message }]
  })
}
