// The caps that pools would have dealt on past days, by the daemon's own rules (core/pools): once a day, from the use of the days before. Use
// and caps of a day are known on the next one, and every write lands, so columns of numbers are enough to remember. Members count as without a
// cap until the first deal. Later demand is not known here.

import { type Instant, wholeCents } from '../../model/units.ts'
import { poolPace } from '../../pools/pace.ts'
import { aim, give, matters } from '../../pools/share-out.ts'
import { claim, emptyTable, type PoolTable } from '../../pools/table.ts'
import type { PoolPeople } from '../../resolve/pools.ts'
import type { CapsOfDay, ReplayDay } from './caps.ts'
import type { ReplayPeople } from './recorded.ts'

/** Caps without any deal, and the members of pools. */
export interface UndealtDay {
  readonly caps: CapsOfDay
  readonly pools: readonly PoolPeople[]
}

/** A pool and the places of its members. */
export interface PoolPlaces {
  readonly name: string
  readonly credits: number
  /** The most that a member gets. */
  readonly max: number
  readonly members: readonly number[]
}

/** Deals day by day. Call it once for each day, in the order of time; a result is valid until the next day. */
export function poolDealer(people: ReplayPeople) {
  const places = new Map(people.emails.map((email, place) => [email, place]))
  let known: { readonly undealt: UndealtDay; readonly caps: CapsOfDay; readonly pools: readonly PoolOnDays[] } | undefined
  const take = (undealt: UndealtDay) => {
    const before = new Map(known?.pools.map((pool) => [pool.name, pool]))
    const pools = undealt.pools.map((one) => poolOnDays(one, undealt, { places, before: before.get(one.pool.name) }))
    known = { undealt, pools, caps: { caps: undealt.caps.caps.slice(), from: undealt.caps.from.slice() } }
    return known
  }
  return {
    capsOn(day: ReplayDay, undealt: UndealtDay): CapsOfDay {
      if (undealt.pools.length === 0) return undealt.caps
      const { caps, pools } = known?.undealt === undealt ? known : take(undealt)
      for (const pool of pools) {
        dealOn(pool, day)
        putInForce(pool, caps)
      }
      return caps
    },
    placesIn: (pools: readonly PoolPeople[]): readonly PoolPlaces[] =>
      pools.map((one) => ({
        name: one.pool.name,
        credits: one.pool.credits,
        max: one.pool.max ?? one.pool.credits,
        members: one.members.flatMap(({ email }) => places.get(email) ?? []),
      })),
  }
}

/** The state of a pool from one day to the next. */
interface PoolOnDays {
  readonly name: string
  readonly terms: PoolPeople['pool']
  readonly table: PoolTable
  /** By place in the table: the place of the person. */
  readonly rows: Int32Array
  /** The last deal; NaN: nothing yet. */
  readonly dealt: Float64Array
  /** The cap of the day before; infinite without one. */
  readonly inForce: Float64Array
  /** Members who are not dealt, with the cap of the day before. */
  readonly undealt: readonly { readonly person: number; readonly cap: number }[]
  /** The cycle of the last deal. */
  cycleStartAt: Instant | undefined
}

interface Known {
  readonly places: ReadonlyMap<string, number>
  /** The same pool before the grants in force changed. */
  readonly before: PoolOnDays | undefined
}

/** The pool's state after the grants in force changed. A member whose own cap changed is dealt again. */
function poolOnDays({ pool, members }: PoolPeople, { caps }: UndealtDay, { places, before }: Known): PoolOnDays {
  const here = members.flatMap((member) => {
    const person = places.get(member.email)
    return person === undefined ? [] : [{ ...member, person }]
  })
  const dealt = here.filter((one) => !one.protected)
  const named = [...dealt.filter(({ fixed }) => fixed !== undefined), ...dealt.filter(({ fixed }) => fixed === undefined)]
  const table = emptyTable(named.length, dealt.filter(({ fixed }) => fixed !== undefined).length)
  table.isRead.fill(1)
  const after: PoolOnDays = {
    name: pool.name,
    terms: pool,
    table,
    rows: Int32Array.from(named, ({ person }) => person),
    dealt: new Float64Array(named.length).fill(Number.NaN),
    inForce: new Float64Array(named.length).fill(Number.POSITIVE_INFINITY),
    undealt: here.flatMap((one) => (one.protected ? [{ person: one.person, cap: caps.caps[one.person] ?? Number.POSITIVE_INFINITY }] : [])),
    cycleStartAt: before?.cycleStartAt,
  }
  const rowsBefore = new Map(before && Array.from(before.rows, (person, row) => [person, row] as const))
  for (const [row, { person, fixed }] of named.entries()) {
    if (fixed !== undefined) table.fixed[row] = fixed
    const rowBefore = rowsBefore.get(person)
    if (!before || rowBefore === undefined) continue
    after.inForce[row] = before.inForce[rowBefore] ?? Number.POSITIVE_INFINITY
    if (Object.is(table.fixed[row], before.table.fixed[rowBefore])) after.dealt[row] = before.dealt[rowBefore] ?? Number.NaN
  }
  return after
}

/** Deals, if that matters, with what is known on the morning of a day. */
function dealOn(pool: PoolOnDays, { at, cycle, used }: ReplayDay): void {
  const { terms, table, dealt } = pool
  const isNewCycle = pool.cycleStartAt !== cycle.startAt
  let [usedByThem, undealt, standing] = [0, 0, 0]
  for (const { person, cap } of pool.undealt) {
    const use = wholeCents(used[person] ?? 0)
    usedByThem += use
    undealt += Number.isFinite(cap) ? Math.max(use, cap) : use
    standing += Math.max(use, cap)
  }
  const seen = fillIn(pool, used)
  claim(table, terms, poolPace(usedByThem + seen.used, table.size + pool.undealt.length, cycle, at))
  const aimed = aim(table, terms, undealt)
  const isOver = undealt + seen.counted > terms.credits
  if (isNewCycle || seen.isOpen || matters(table, aimed, isOver)) {
    pool.cycleStartAt = cycle.startAt
    give(table, aimed, { room: terms.credits - standing - seen.counted, isOver })
    for (let row = 0; row < table.size; row += 1) {
      const cap = table.given[row] ?? Number.NaN
      if (!Number.isNaN(cap)) dealt[row] = cap
    }
  }
}

interface Seen {
  readonly used: number
  /** The sum that members count for. */
  readonly counted: number
  /** A member has no deal yet. */
  readonly isOpen: boolean
}

/** Fills use and caps as of the day before into the table. */
function fillIn({ table: { use, present, count, size }, rows, dealt, inForce }: PoolOnDays, used: Float64Array): Seen {
  let [all, counted, isOpen] = [0, 0, false]
  for (let row = 0; row < size; row += 1) {
    // To the cent, as in a reading.
    const own = Math.round((used[rows[row] ?? 0] ?? 0) * 100) / 100
    const cap = inForce[row] ?? 0
    const most = Math.max(own, cap)
    all += own
    use[row] = own
    present[row] = cap === Number.POSITIVE_INFINITY ? Number.NaN : cap
    count[row] = most
    counted += most
    if (Number.isNaN(dealt[row]) && cap !== 0) isOpen = true
  }
  return { used: all, counted, isOpen }
}

/** Puts the deal in force at once: its raises are within the credits, and nothing has changed since it was made. */
function putInForce({ rows, dealt, inForce }: PoolOnDays, { caps, from }: CapsOfDay): void {
  for (const [row, person] of rows.entries()) {
    const given = dealt[row] ?? Number.NaN
    if (Number.isNaN(given)) continue
    inForce[row] = given
    caps[person] = given
    from[person] = -1
  }
}
