// The members of a pool to whom caps are dealt, as columns of numbers: what a deal reads and writes. Columns are fast enough for a replay of years.
// The daemon fills them from the ledger's state, a replay from its own days. It decides nothing.
import { credits, MAX_CAP } from '../model/units.ts'
import { finiteCount, fullCount, isDealt, ownPace, type PoolPace, poolPace } from './figures.ts'
import type { PoolMember, PoolState, PoolTerms } from './state.ts'

// Shares credits out by raising one level for everybody: `need` levels the totals of the cycle, `equal` the head-room. Pure arithmetic over
// columns. A higher level never gives a person less, equal people get equal caps, and neither names nor order matter.

type Claims = Pick<PoolTable, 'use' | 'base' | 'floor' | 'most' | 'expected' | 'weight'>

/** The people that share one level, from place `from` to before `to`. */
export type Levels = ReturnType<typeof levelsOf>

/** So many levels above `expectedAt` give the person with the least weight one credit. Choice: what stays undealt by it is less than rounding takes. */
const FINENESS = 32
/** Head-room above which nobody is raised: more than any cap. */
const MOST_EXTRA = 2_147_483_648

export function levelsOf({ expected, weight, most }: Claims, from: number, to: number, min: number) {
  let lightest = Number.POSITIVE_INFINITY
  let [highest, heaviness] = [0, 0]
  for (let place = from; place < to; place += 1) {
    lightest = Math.min(lightest, weight[place] ?? 0)
    heaviness += weight[place] ?? 0
    highest = Math.max(highest, expected[place] ?? 0, Math.min(min, most[place] ?? 0))
  }
  // At the level `expectedAt` everybody has their expected use; above it each level gives `extra` credits for each unit of weight.
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
    return atLow > budget ? undefined : between([0, atLow], [expectedAt, atExpected], cost, budget)
  }
  const slope = levels.heaviness * levels.extra
  let [low, atLow] = [expectedAt, atExpected]
  for (let times = 1; low < top; times *= 2) {
    const level = Math.min(top, low + Math.max(times, Math.ceil((times * (budget - atLow)) / slope)))
    const at = cost(level)
    if (at > budget) return between([low, atLow], [level, at], cost, budget)
    ;[low, atLow] = [level, at]
  }
  return top
}

const topOf = ({ expectedAt }: Levels): number => expectedAt + MOST_EXTRA * FINENESS

/** A level and its cost. */
type Looked = readonly [level: number, cost: number]

/** Narrows a bracket to one level, by interpolation and bisection in turn. */
function between([low, atLow]: Looked, [high, atHigh]: Looked, cost: (level: number) => number, budget: number): number {
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

export type PoolTable = Readonly<ReturnType<typeof emptyTable>>

/** One place for each member in every column, members with a cap of their own first. */
export function emptyTable(size: number, fixedSize: number) {
  const column = (): Float64Array => new Float64Array(size)
  return {
    size,
    /** How many members have a user cap or a user grant. */
    fixedSize,
    // The claims, in whole credits of the cycle.
    /** Known use. */
    use: column(),
    /** Use that the pool did not pay for. */
    base: column(),
    /** The lowest cap: known use, 1 at least, but no more than `most`. */
    floor: column(),
    /** The highest cap; never below `floor`. */
    most: column(),
    /** Expected total of the cycle, for `need`; known use in whole credits for `equal`. */
    expected: column(),
    /** The expected pace, by which credits that are left over are shared; 1 for `equal`. */
    weight: column(),
    /** The user cap or user grant. */
    fixed: column().fill(Number.NaN),
    /** The cap by the last deal or by a reading; NaN without one, or while none is set. */
    present: column(),
    /** 1 where the cap in force was read, even if none is set. */
    isRead: new Uint8Array(size),
    /** What the member counts for in the sum, with lowered caps at their old value. */
    count: column(),
    /** Credits a working day. */
    pace: column(),
    /** The final caps, from `aim`. */
    target: column(),
    /** The caps to give now, from `give`. */
    given: column(),
  }
}

/** Fills in the claims of members: their pace, and what follows from it and their use. */
export function claim(table: PoolTable, { share, max, credits: most }: PoolTerms, average: PoolPace): void {
  const { use, floor, expected, weight, pace, fixed, fixedSize } = table
  for (let place = 0; place < table.size; place += 1) {
    const used = use[place] ?? 0
    const least = Math.max(1, Math.ceil(used))
    const own = ownPace(average, used)
    pace[place] = own
    if (place < fixedSize) {
      // Members get at most their own cap, even where it is below their use.
      const cap = fixed[place] ?? 0
      floor[place] = Math.min(least, cap)
      table.most[place] = cap
      expected[place] = Math.min(Math.ceil(used), cap)
      weight[place] = 1
      continue
    }
    floor[place] = least
    table.most[place] = Math.max(least, Math.min(max ?? most, MAX_CAP))
    expected[place] = share === 'equal' ? Math.ceil(used) : used + own * average.daysLeft
    weight[place] = share === 'equal' ? 1 : own
  }
}

/** The table of a state, with the claims filled in; e-mails by place, and the count of all who are not dealt. */
export function layOut(terms: PoolTerms, state: PoolState) {
  const all = Object.entries(state.members)
  const staying = all.filter(([, { left }]) => !left)
  const used = staying.reduce((sum, [, { use = 0 }]) => sum + use, 0)
  const dealt = staying.filter(([, member]) => isDealt(member))
  const first = dealt.filter(([, { fixed }]) => fixed !== undefined)
  const named = [...first, ...dealt.filter(([, { fixed }]) => fixed === undefined)]
  const table = emptyTable(named.length, first.length)
  for (const [place, [, member]] of named.entries()) {
    const { use = credits(0), base, fixed, inForce } = member
    table.use[place] = use
    table.base[place] = base
    table.present[place] = presentCap(member)
    table.isRead[place] = inForce === undefined ? 0 : 1
    table.count[place] = fullCount(member)
    if (fixed !== undefined) table.fixed[place] = fixed
  }
  claim(table, terms, poolPace(used, staying.length, state.cycle, state.readAt))
  const undealt = all.reduce((sum, [, member]) => (isDealt(member) ? sum : sum + soonCount(member)), 0)
  return { emails: named.map(([email]) => email), table, undealt }
}

/** A protected member who is to get a first cap of their own counts at that cap already, so that nothing of it is dealt to others. */
function soonCount(member: PoolMember): number {
  const { base, fixed = 0, inForce, left } = member
  return !left && inForce?.cap === 'none' ? Math.max(finiteCount(member), fixed - base) : finiteCount(member)
}

/** NaN where no cap is known or set. */
const presentCap = ({ dealt, inForce }: PoolMember): number => Number(dealt ?? inForce?.cap)
