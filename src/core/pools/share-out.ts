// How a deal shares credits out over a table: what everybody should have at the end (`aim`), whether that matters now (`matters`), and what of
// it can be given at once (`give`). Lowers free nothing until a later reading shows the use under the old caps; raises take only what is free
// (count.ts). It never lowers below known use, and never gives less than 1.
import { capAt, costAt, highestLevel, type Levels, levelsOf, paidAt } from './level.ts'
import type { PoolTerms } from './state.ts'
import type { PoolTable } from './table.ts'

/** Somebody whose use is within 15 % of the cap (product.md, section 2, Calm). */
const NEAR = 0.85
/** The deal moved by more than so much of it. */
const MOVED = 0.1
/** What a cap has to gain for a write, and what head-room has to lose; who is near their cap gets what there is. Choices, found by trial. */
const WORTH_RAISING = 0.1
const WORTH_LOWERING = 0.2
/** Nobody is lowered below use and so much of a day's pace (goals.md: found by trial). */
const SLACK_DAYS = 0.9

/** Those with a cap of their own, then the others: each at a level of their own. */
interface Part {
  readonly levels: Levels
  readonly level: number
}

/** What everybody should have at the end. */
export interface Aim {
  readonly parts: readonly Part[]
  /** Credits above everybody's use. */
  readonly left: number
}

/** Fills `target`: user caps and grants of members first, of what `min` of the others leaves, then the others. The table has its claims. */
export function aim(table: PoolTable, terms: PoolTerms, undealt: number): Aim {
  const { size, fixedSize, floor, most, target } = table
  const budget = terms.credits - undealt
  const min = Math.min(terms.min, terms.max ?? terms.credits)
  const lowest = (place: number): number => floor[place] ?? 0
  const [floorOfFirst, floorOfRest] = [costOf(table, 0, fixedSize, lowest), costOf(table, fixedSize, size, lowest)]
  const minOfRest = costOf(table, fixedSize, size, (place) => Math.max(Math.min(min, most[place] ?? 0), lowest(place)))
  const kept = Math.max(floorOfRest, Math.min(minOfRest, budget - floorOfFirst))
  const first = spread(table, { from: 0, to: fixedSize, min: 0 }, budget - kept)
  // What is left by rounding is theirs too: else more credits could give the others less.
  const paid = costOf(table, 0, fixedSize, (place) => target[place] ?? 0)
  const rest = spread(table, { from: fixedSize, to: size, min }, isServed(table) ? budget - paid : kept)
  return { parts: [first, rest], left: budget - floorOfFirst - floorOfRest }
}

const isServed = ({ target, most, fixedSize }: PoolTable): boolean => {
  for (let place = 0; place < fixedSize; place += 1) if (target[place] !== most[place]) return false
  return true
}

/** What the pool pays for these places with such caps. */
function costOf(table: PoolTable, from: number, to: number, capOf: (place: number) => number): number {
  let cost = 0
  for (let place = from; place < to; place += 1) cost += paidAt(table, place, capOf(place))
  return cost
}

/** The highest level that the budget pays for; use itself where it pays for nothing. */
function spread(
  table: PoolTable,
  { from, to, min }: { readonly from: number; readonly to: number; readonly min: number },
  budget: number,
): Part {
  const levels = levelsOf(table, from, to, min)
  if (from === to) return { levels, level: 0 }
  const level = highestLevel(levels, (at) => costAt(table, levels, at), budget) ?? 0
  for (let place = from; place < to; place += 1) table.target[place] = capAt(table, levels, place, level)
  return { levels, level }
}

/** Somebody near their cap would get more, the whole would move, or it has to come down. */
export function matters(table: PoolTable, isOver: boolean): boolean {
  const { size, present, target } = table
  let [moved, total] = [0, 0]
  for (let place = 0; place < size; place += 1) {
    const now = present[place] ?? Number.NaN
    const cap = target[place] ?? 0
    if (Number.isNaN(now) || (isOver && cap < now) || wants(table, place)) return true
    moved += cap > now ? cap - now : now - cap
    total += now
  }
  return moved > MOVED * total
}

/** Somebody near the cap would get more, by a part of their head-room at least; or all of a cap of their own. */
function wants(table: PoolTable, place: number): boolean {
  const now = table.present[place] ?? Number.NaN
  const use = table.use[place] ?? 0
  const cap = table.target[place] ?? 0
  if (isOwn(table, place, cap)) return cap > now
  return use >= NEAR * now && isHelped(table, place, cap) && cap - now >= WORTH_RAISING * (now - use)
}

/** All of the cap that policy declares for them: the service is to have just that, whatever it helps. */
const isOwn = ({ fixed, fixedSize }: PoolTable, place: number, cap: number): boolean => place < fixedSize && cap === fixed[place]

/** What only lifts the cap to use helps nobody; so nobody rises above `max` either, whatever they used. */
const isHelped = (table: PoolTable, place: number, cap: number): boolean =>
  cap > (table.present[place] ?? 0) && (cap > Math.ceil(table.use[place] ?? 0) || isOwn(table, place, cap))

export interface Room {
  /** Credits that nobody counts at. */
  readonly room: number
  /** The sum of the deal is above the credits. */
  readonly isOver: boolean
  /** Nobody is lowered. */
  readonly raisesOnly?: boolean
}

/** Fills `given`: raises as far as the room allows, each part to the same level; the others are lowered or stay. NaN: nothing is dealt. */
export function give(table: PoolTable, { parts }: Aim, { room, isOver, raisesOnly = false }: Room): void {
  table.given.fill(Number.NaN)
  let free = room
  for (const part of parts) {
    for (let place = part.levels.from; place < part.levels.to; place += 1) {
      if (table.isRead[place] === 0) continue
      const cap = raisesOnly ? (table.present[place] ?? 0) : lowered(table, place, isOver)
      // Somebody at 0 to whom nothing can be given yet is not dealt: no deal writes less than 1.
      if (cap >= 1) table.given[place] = cap
    }
    free -= raiseWithin(table, part, free)
  }
}

/** The highest common level whose raises the room pays for; none while the sum is above. Up to what somebody counts at a raise costs nothing. */
function raiseWithin(table: PoolTable, { levels, level: top }: Part, room: number): number {
  const raised: number[] = []
  for (let place = levels.from; place < levels.to; place += 1) if (isRaised(table, place)) raised.push(place)
  if (raised.length === 0) return 0
  const cost = (at: number): number => {
    let sum = 0
    for (const place of raised) {
      const more = paidAt(table, place, capAt(table, levels, place, at)) - (table.count[place] ?? 0)
      if (more > 0) sum += more
    }
    return sum
  }
  const level = highestLevel(levels, cost, room, top)
  if (level === undefined) return 0
  for (const place of raised) {
    const cap = capAt(table, levels, place, level)
    if (isHelped(table, place, cap)) table.given[place] = cap
  }
  return cost(level)
}

/** Near the cap, or more by a tenth. */
function isRaised(table: PoolTable, place: number): boolean {
  if (table.isRead[place] === 0) return false
  if (wants(table, place)) return true
  const now = table.present[place] ?? Number.NaN
  const cap = table.target[place] ?? 0
  return cap > now * (1 + WORTH_RAISING) && isHelped(table, place, cap)
}

/** The target, where it is lower; while the sum holds, not below use and most of a day's pace. Who gets nothing more keeps what is there. */
function lowered({ present, target, use, pace, fixedSize }: PoolTable, place: number, isOver: boolean): number {
  const now = present[place] ?? Number.NaN
  const cap = target[place] ?? 0
  if (Number.isNaN(now)) return cap
  if (cap >= now) return now
  if (isOver || place < fixedSize) return cap
  const used = use[place] ?? 0
  if (now - cap < WORTH_LOWERING * (now - used)) return now
  return Math.min(now, Math.max(cap, Math.ceil(used + SLACK_DAYS * (pace[place] ?? 0))))
}
