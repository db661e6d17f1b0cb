// The caps that pools deal on past days, by the deal of the daemon (core/pools): one a day, from the use of the days before, carried on from day
// to day. Use and caps of a day are known on the next one, and every write lands, so columns of numbers are all that is remembered. Before
// the first day members count as without a cap, which that deal sets. It knows nothing of what the members will still want.

import { type Instant, wholeCents } from '../../model/units.ts'
import { poolPace } from '../../pools/pace.ts'
import { aim, give, matters } from '../../pools/share-out.ts'
import { claim, emptyTable, type PoolTable } from '../../pools/table.ts'
import type { PoolPeople } from '../../resolve/pools.ts'
import type { CapsOfDay, ReplayDay } from './caps.ts'
import type { ReplayPeople } from './recorded.ts'

/** Caps as they would be without any deal, and who is in which pool. */
export interface UndealtDay {
  readonly caps: CapsOfDay
  readonly pools: readonly PoolPeople[]
}

/** A pool and the places of its members. */
export interface PoolPlaces {
  readonly name: string
  readonly credits: number
  /** What a member gets at most. */
  readonly max: number
  readonly members: readonly number[]
}

/** Deals day by day. Asked once for each day, in the order of time; an answer is good until the next day. */
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
        askFor(pool, caps)
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

/** A pool from one day to the next. */
interface PoolOnDays {
  readonly name: string
  readonly terms: PoolPeople['pool']
  readonly table: PoolTable
  /** Places of people, by place in the table. */
  readonly rows: Int32Array
  /** What the last deal gave; NaN: nothing yet. */
  readonly dealt: Float64Array
  /** The cap of the day before; infinite without one. */
  readonly inForce: Float64Array
  /** Who is not dealt, with the cap of the day before. */
  readonly undealt: readonly { readonly person: number; readonly cap: number }[]
  /** The cycle that was dealt in. */
  cycleStartAt: Instant | undefined
}

interface Known {
  readonly places: ReadonlyMap<string, number>
  /** The same pool under other grants. */
  readonly before: PoolOnDays | undefined
}

/** Somebody whose own cap is another one now is dealt anew. */
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

/** What the pool knows on the morning of a day, and the deal of it. */
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
  const seen = look(pool, used)
  claim(table, terms, poolPace(usedByThem + seen.used, table.size + pool.undealt.length, cycle, at))
  const aimed = aim(table, terms, undealt)
  const isOver = undealt + seen.counted > terms.credits
  if (isNewCycle || seen.isOpen || matters(table, isOver)) {
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
  /** What the standing deal comes to. */
  readonly counted: number
  /** Somebody is not dealt yet. */
  readonly isOpen: boolean
}

/** Use and caps as of the day before, into the table. */
function look({ table: { use, present, count, size }, rows, dealt, inForce }: PoolOnDays, used: Float64Array): Seen {
  let [all, counted, isOpen] = [0, 0, false]
  for (let row = 0; row < size; row += 1) {
    // To the cent, as a reading has it.
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

/** The deal is in force from now on: its raises are within the credits, and nothing has changed since it was made. */
function askFor({ rows, dealt, inForce }: PoolOnDays, { caps, from }: CapsOfDay): void {
  for (const [row, person] of rows.entries()) {
    const given = dealt[row] ?? Number.NaN
    if (Number.isNaN(given)) continue
    inForce[row] = given
    caps[person] = given
    from[person] = -1
  }
}
