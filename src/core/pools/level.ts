// Shares credits out by raising one level for everybody: `need` levels the totals of the cycle, `equal` the head-room. Pure arithmetic over
// columns. A higher level never gives a person less, equal people get equal caps, and neither names nor order matter.

/** The people to whom caps are dealt, one place each in every column; whole credits of the cycle. */
export interface Claims {
  /** Known use. */
  readonly use: Float64Array
  /** Use that the pool did not pay for. */
  readonly base: Float64Array
  /** The lowest cap: known use, 1 at least. */
  readonly floor: Float64Array
  /** The highest cap; never below `floor`. */
  readonly most: Float64Array
  /** Expected total of the cycle, for `need`; known use in whole credits for `equal`. */
  readonly expected: Float64Array
  /** The expected pace, by which credits that are left over are shared; 1 for `equal`. */
  readonly weight: Float64Array
}

/** The people that share one level, from place `from` to before `to`. */
export interface Levels {
  readonly from: number
  readonly to: number
  readonly min: number
  /** At this level everybody has their expected use. */
  readonly expectedAt: number
  /** Credits for each level above `expectedAt` and unit of weight. */
  readonly extra: number
  /** The sum of the weights. */
  readonly heaviness: number
}

/** So many levels above `expectedAt` give the person with the least weight one credit. Choice: what stays undealt by it is less than rounding takes. */
const FINENESS = 32
/** Head-room above which nobody is raised: more than any cap. */
const MOST_EXTRA = 2_147_483_648

export function levelsOf({ expected, weight, most }: Claims, from: number, to: number, min: number): Levels {
  let lightest = Number.POSITIVE_INFINITY
  let [highest, heaviness] = [0, 0]
  for (let place = from; place < to; place += 1) {
    lightest = Math.min(lightest, weight[place] ?? 0)
    heaviness += weight[place] ?? 0
    highest = Math.max(highest, expected[place] ?? 0, Math.min(min, most[place] ?? 0))
  }
  return { from, to, min, expectedAt: Math.ceil(highest), extra: 1 / (FINENESS * lightest), heaviness }
}

/** Tolerance for rounding errors below a whole number. */
const DUST = 1e-6

/**
 * The cap at a level, which is a whole number. Everybody is raised to `min` together, then to the same total, each up to their expected use;
 * what is left over is shared by weight. Comparisons, because Math.min is slow until the last optimization.
 */
export function capAt({ expected, weight, floor, most }: Claims, { min, expectedAt, extra }: Levels, place: number, level: number): number {
  const isAbove = level > expectedAt
  let wanted = expected[place] ?? 0
  if (isAbove) wanted += (level - expectedAt) * extra * (weight[place] ?? 0)
  if (wanted < min) wanted = min
  if (!isAbove && wanted > level) wanted = level
  const cap = Math.floor(wanted + DUST)
  const highest = most[place] ?? 0
  const lowest = floor[place] ?? 0
  const within = cap > highest ? highest : cap
  return within < lowest ? lowest : within
}

/** What the pool pays for a person with this cap. */
export function paidAt({ use, base }: Claims, place: number, cap: number): number {
  const used = use[place] ?? 0
  const paid = (cap < used ? used : cap) - (base[place] ?? 0)
  return paid > 0 ? paid : 0
}

/** What caps at a level cost together: `paidAt` of `capAt`, inlined in one loop, because a replay calls it a hundred million times. */
export function costAt(claims: Claims, { from, to, min, expectedAt, extra }: Levels, level: number): number {
  const { use, base, floor, most, expected, weight } = claims
  const above = level > expectedAt ? (level - expectedAt) * extra : 0
  const total = level > expectedAt ? Number.POSITIVE_INFINITY : level
  let cost = 0
  for (let place = from; place < to; place += 1) {
    let cap = (expected[place] ?? 0) + above * (weight[place] ?? 0)
    if (cap < min) cap = min
    if (cap > total) cap = total
    cap = Math.floor(cap + DUST)
    const top = most[place] ?? 0
    if (cap > top) cap = top
    const least = floor[place] ?? 0
    if (cap < least) cap = least
    const used = use[place] ?? 0
    if (cap < used) cap = used
    const paid = cap - (base[place] ?? 0)
    if (paid > 0) cost += paid
  }
  return cost
}

/**
 * The highest whole level, up to `top`, whose cost is within the budget; undefined when not even 0 is. A higher level never costs less.
 * It tries `expectedAt` first: below it and above it the cost rises almost evenly.
 */
export function highestLevel(levels: Levels, cost: (level: number) => number, budget: number, top = topOf(levels)): number | undefined {
  const expectedAt = Math.min(top, levels.expectedAt)
  const atExpected = cost(expectedAt)
  if (atExpected > budget) {
    const atLow = cost(0)
    return atLow > budget ? undefined : between({ low: 0, atLow, high: expectedAt, atHigh: atExpected }, cost, budget)
  }
  const slope = levels.heaviness * levels.extra
  let [low, atLow] = [expectedAt, atExpected]
  for (let times = 1; low < top; times *= 2) {
    const level = Math.min(top, low + Math.max(times, Math.ceil((times * (budget - atLow)) / slope)))
    const at = cost(level)
    if (at > budget) return between({ low, atLow, high: level, atHigh: at }, cost, budget)
    ;[low, atLow] = [level, at]
  }
  return top
}

const topOf = ({ expectedAt }: Levels): number => expectedAt + MOST_EXTRA * FINENESS

interface Bracket {
  readonly low: number
  readonly atLow: number
  readonly high: number
  readonly atHigh: number
}

/** Narrows a bracket to one level, by interpolation and bisection in turn. */
function between({ low, atLow, high, atHigh }: Bracket, cost: (level: number) => number, budget: number): number {
  for (let isLine = true; high - low > 1; isLine = !isLine) {
    const width = high - low
    const line = Math.floor((width * (budget - atLow)) / (atHigh - atLow))
    const level = low + (isLine ? Math.min(width - 1, Math.max(1, line)) : Math.floor(width / 2))
    const at = cost(level)
    if (at <= budget) [low, atLow] = [level, at]
    else [high, atHigh] = [level, at]
  }
  return low
}
