// How a deal shares credits out over a table: the final cap of everybody (`aim`), whether a deal matters now (`matters`), and which caps can be
// given at once (`give`). A lowered cap frees nothing until a later reading shows the use under the old one; raises take only what is free
// (figures.ts). It never lowers below known use, and never gives less than 1, but where a cap of their own says so.

import type { PoolTerms } from './state.ts'
import { capAt, costAt, highestLevel, type Levels, levelsOf, type PoolTable, paidAt } from './table.ts'

/** A member is near the cap when their use is within 15 % of it (docs/policies.md, Pools). */
const NEAR = 0.85
/** A deal matters when it moves more than this share of all caps. */
const MOVED = 0.1
/** The least gain and loss of head-room that are worth a write. A member near the cap gets less too. Choices, found by trial. */
const WORTH_RAISING = 0.1
const WORTH_LOWERING = 0.2
/** Nobody is lowered below use plus this share of a day's pace (found by trial). */
const SLACK_DAYS = 0.9

/** Members with a cap of their own are the first part, the others the second: each part has its own level. */
interface Part {
  readonly levels: Levels
  readonly level: number
}

/** Both parts; the final caps are in `PoolTable.target`. */
type Aim = readonly Part[]

/** Fills `target`. User caps and grants of members come first, from what the `min` of the others leaves; then the others. The table has its claims. */
export function aim(table: PoolTable, terms: PoolTerms, undealt: number): Aim {
  const { size, fixedSize, floor, most, target } = table
  const budget = terms.credits - undealt
  const min = Math.min(terms.min, terms.max ?? terms.credits)
  const lowest = (place: number): number => floor[place] ?? 0
  const [floorOfFirst, floorOfRest] = [costOf(table, 0, fixedSize, lowest), costOf(table, fixedSize, size, lowest)]
  const minOfRest = costOf(table, fixedSize, size, (place) => Math.max(Math.min(min, most[place] ?? 0), lowest(place)))
  const kept = Math.max(floorOfRest, Math.min(minOfRest, budget - floorOfFirst))
  const first = spread(table, { from: 0, to: fixedSize, min: 0 }, budget - kept)
  // What rounding leaves goes to the others as well: otherwise more credits could give them less.
  const paid = costOf(table, 0, fixedSize, (place) => target[place] ?? 0)
  const rest = spread(table, { from: fixedSize, to: size, min }, isServed(table) ? budget - paid : kept)
  return [first, rest]
}

const isServed = ({ target, most, fixedSize }: PoolTable): boolean => {
  for (let place = 0; place < fixedSize; place += 1) if (target[place] !== most[place]) return false
  return true
}

/** What the pool pays for the places from `from` to before `to` with such caps. */
function costOf(table: PoolTable, from: number, to: number, capOf: (place: number) => number): number {
  let cost = 0
  for (let place = from; place < to; place += 1) cost += paidAt(table, place, capOf(place))
  return cost
}

/** Fills `target` by the highest level that the budget pays for; 0, which leaves everybody their use, where it pays for none. */
function spread(table: PoolTable, { from, to, min }: Pick<Levels, 'from' | 'to' | 'min'>, budget: number): Part {
  const levels = levelsOf(table, from, to, min)
  if (from === to) return { levels, level: 0 }
  const level = highestLevel(levels, (at) => costAt(table, levels, at), budget) ?? 0
  for (let place = from; place < to; place += 1) table.target[place] = capAt(table, levels, place, level)
  return { levels, level }
}

/** Whether a deal matters: a cap has to change, or those that it would change move by more than a part of all caps. */
export function matters(table: PoolTable, parts: Aim, isOver: boolean): boolean {
  let [moved, total] = [0, 0]
  for (const { levels } of parts) {
    for (let place = levels.from; place < levels.to; place += 1) {
      if (wants(table, place)) return true
      const now = table.present[place] ?? Number.NaN
      const cap = isWorthRaising(table, levels, place) ? (table.target[place] ?? 0) : lowered(table, place, isOver)
      if (Number.isNaN(now) || (cap !== now && (isOver ? cap < now : isOutside(table, levels, place)))) return true
      moved += cap > now ? cap - now : now - cap
      total += now
    }
  }
  return moved > MOVED * total
}

/** Whether a member near the cap would get more, by a part of their head-room at least, or all of their own cap. */
function wants(table: PoolTable, place: number): boolean {
  const now = table.present[place] ?? Number.NaN
  const use = table.use[place] ?? 0
  const cap = table.target[place] ?? 0
  if (isOwn(table, place, cap)) return cap > now
  return use >= NEAR * now && isHelped(table, place, cap) && cap - now >= WORTH_RAISING * (now - use)
}

/** The present cap is above what the member may get at most, or below `min`. */
function isOutside({ present, most }: PoolTable, { min }: Levels, place: number): boolean {
  const now = present[place] ?? Number.NaN
  return now > (most[place] ?? 0) || now < Math.min(min, most[place] ?? 0)
}

/** All of the cap that policy declares for the member: the service must show exactly that, even where it does not help. */
const isOwn = ({ fixed, fixedSize }: PoolTable, place: number, cap: number): boolean => place < fixedSize && cap === fixed[place]

/** A raise up to use only helps nobody. So nobody rises above `max` either, whatever they used. */
const isHelped = (table: PoolTable, place: number, cap: number): boolean =>
  cap > (table.present[place] ?? 0) && (cap > Math.ceil(table.use[place] ?? 0) || isOwn(table, place, cap))

interface Room {
  /** Credits that are not counted for anybody. */
  readonly room: number
  /** The sum of the deal is above the credits. */
  readonly isOver: boolean
  /** Nobody is lowered. */
  readonly raisesOnly?: boolean
}

/** Fills `given`: raises as far as the room allows, each part to one level; other caps are lowered or stay. NaN: nothing is given. */
export function give(table: PoolTable, parts: Aim, { room, isOver, raisesOnly = false }: Room): void {
  table.given.fill(Number.NaN)
  let free = room
  for (const part of parts) {
    for (let place = part.levels.from; place < part.levels.to; place += 1) {
      if (table.isRead[place] === 0) continue
      const cap = raisesOnly ? (table.present[place] ?? 0) : lowered(table, place, isOver)
      // A member at 0 who cannot be raised yet is not dealt: no deal writes less than 1, but where policy declares 0 for the member.
      if (cap >= 1 || isOwn(table, place, cap)) table.given[place] = cap
    }
    free -= raiseWithin(table, part, free)
  }
}

/** Gives the highest common level whose raises the room pays for; none while the sum is above. A raise up to what a member counts for costs nothing. */
function raiseWithin(table: PoolTable, { levels, level: top }: Part, room: number): number {
  const raised: number[] = []
  for (let place = levels.from; place < levels.to; place += 1) if (isRaised(table, levels, place)) raised.push(place)
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

const isRaised = (table: PoolTable, levels: Levels, place: number): boolean =>
  isWorthRaising(table, levels, place) || (table.isRead[place] !== 0 && wants(table, place))

/** Whether the member is below `min`, or would get a tenth more. */
function isWorthRaising(table: PoolTable, levels: Levels, place: number): boolean {
  const now = table.present[place] ?? Number.NaN
  const cap = table.target[place] ?? 0
  return table.isRead[place] !== 0 && (cap > now * (1 + WORTH_RAISING) || isOutside(table, levels, place)) && isHelped(table, place, cap)
}

/**
 * The target, where it is lower; while the sum is within the credits, not below use and most of a day's pace, as far as the most that the
 * member may get. A small difference is no reason to lower, except to that most.
 */
function lowered({ present, target, use, pace, most, fixedSize }: PoolTable, place: number, isOver: boolean): number {
  const now = present[place] ?? Number.NaN
  const cap = target[place] ?? 0
  if (Number.isNaN(now)) return cap
  if (cap >= now) return now
  if (isOver || place < fixedSize) return cap
  const used = use[place] ?? 0
  const highest = most[place] ?? 0
  const kept = Math.max(cap, Math.min(now, highest, Math.ceil(used + SLACK_DAYS * (pace[place] ?? 0))))
  const within = Math.min(now, highest)
  return within - kept < WORTH_LOWERING * (now - used) ? within : kept
}
