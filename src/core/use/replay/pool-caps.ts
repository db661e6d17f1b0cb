// The caps that pools deal on past days, by the deal of the daemon (core/pools): one a day, from the use of the days before, its state carried
// on. Before the first day members count as without a cap, which that deal sets. It knows nothing of what the members will still want.

import type { Cap } from '../../model/policy.ts'
import { type Credits, credits, type Instant, wholeCents } from '../../model/units.ts'
import { capToAsk } from '../../pools/ask.ts'
import { dealPool } from '../../pools/deal.ts'
import { observePool } from '../../pools/observe.ts'
import type { CapSince, PoolState } from '../../pools/state.ts'
import type { PoolPeople } from '../../resolve/pools.ts'
import type { CapsOfDay, ReplayDay } from './caps.ts'
import { DAY_MS, type ReplayPeople } from './recorded.ts'

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

/** A new cycle counts from the second reading that names it, 10 min later at least. */
const BETWEEN_READINGS_MS = 900_000

/** Deals day by day. Asked once for each day, in the order of time. */
export function poolDealer(people: ReplayPeople) {
  const places = new Map(people.emails.map((email, place) => [email, place]))
  const states = new Map<string, PoolState>()
  let before: DayBefore | undefined
  const placesOf = ({ members }: PoolPeople): readonly number[] => members.flatMap(({ email }) => places.get(email) ?? [])
  return {
    capsOn(day: ReplayDay, { caps: undealt, pools }: UndealtDay): CapsOfDay {
      if (pools.length === 0) return undealt
      const caps = { caps: undealt.caps.slice(), from: undealt.from.slice() }
      for (const one of pools) {
        const state = dealtOn(day, one, { before, undealt, places, state: states.get(one.pool.name) })
        if (!state) continue
        states.set(one.pool.name, state)
        for (const { email } of one.members) {
          const [cap, place] = [capToAsk(one.pool, state, email), places.get(email)]
          if (cap === undefined || place === undefined) continue
          caps.caps[place] = cap
          caps.from[place] = -1
        }
      }
      before = { at: day.at, caps: caps.caps }
      return caps
    },
    placesIn: (pools: readonly PoolPeople[]): readonly PoolPlaces[] =>
      pools.map((one) => ({
        name: one.pool.name,
        credits: one.pool.credits,
        max: one.pool.max ?? one.pool.credits,
        members: placesOf(one),
      })),
  }
}

interface DayBefore {
  readonly at: Instant
  readonly caps: Float64Array
}

interface Known {
  /** Absent on the first day. */
  readonly before: DayBefore | undefined
  readonly undealt: CapsOfDay
  readonly places: ReadonlyMap<string, number>
  readonly state: PoolState | undefined
}

/** The pool after the deal of a day; undefined while there is nothing to deal on. */
function dealtOn(day: ReplayDay, { pool, members }: PoolPeople, { before, undealt, places, state }: Known): PoolState | undefined {
  const used = new Map<string, Credits>()
  const caps = new Map<string, CapSince>()
  for (const { email, protected: isProtected } of members) {
    const place = places.get(email)
    if (place === undefined) continue
    used.set(email, wholeCents(day.used[place] ?? 0))
    const cap = before ? before.caps[place] : isProtected ? undealt.caps[place] : undefined
    caps.set(email, { cap: capOf(cap), at: before?.at ?? day.at - DAY_MS })
  }
  const observe = (from: PoolState | undefined, now: Instant) =>
    observePool(from, {
      now,
      use: { kind: 'known', readAt: now, cycle: day.cycle, used },
      caps,
      sent: new Map(),
      members,
      // Use of yesterday shows today, and no later.
      usageLagMs: DAY_MS,
    })
  const isNewCycle = state !== undefined && state.cycle.startAt !== day.cycle.startAt
  const seen = isNewCycle ? observe(state, day.at - BETWEEN_READINGS_MS).state : state
  const observed = observe(seen, day.at)
  return observed.state && observed.frozen === undefined ? dealPool(pool, observed.state, day.at).state : observed.state
}

const capOf = (cap: number | undefined): Cap => (cap === undefined || cap === Number.POSITIVE_INFINITY ? 'none' : credits(cap))
