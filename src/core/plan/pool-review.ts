// Which deals of pools have passed the guards. The first deal, one with a changed declaration and one with other members are judged like any
// change; later deals stay within it. A deal is identified by its declaration and members, never by its amounts.

import type { ScopeKey } from '../model/scope.ts'
import type { DealtPools, PoolPeople } from '../resolve/pools.ts'
import type { Difference, PoolReview } from './diff.ts'

/** By the name of the pool. */
export function poolReviews(
  workspace: string,
  pools: readonly PoolPeople[],
  dealt: DealtPools,
  digest: (text: string) => string,
): ReadonlyMap<string, PoolReview> {
  return new Map(
    pools.map(({ pool: { name, credits, share, min, max }, members }) => {
      // A person who is only counted is told from a member: a deal to them as well is another deal.
      const emails = members.map((one) => (one.protected ? `${one.email} counted` : one.email)).sort()
      const key = digest(JSON.stringify([workspace, name, credits, share, min, max ?? null, emails])).slice(0, 32)
      return [name, { name, key, isReviewed: Object.hasOwn(dealt, name) && dealt[name]?.reviewed === key }]
    }),
  )
}

/** The pools, with each deal of which no change is held marked as reviewed. */
export function withReviews(
  pools: DealtPools,
  reviews: ReadonlyMap<string, PoolReview>,
  differences: ReadonlyMap<ScopeKey, Difference>,
  heldKeys: ReadonlySet<ScopeKey>,
): DealtPools {
  const held = new Set([...differences.values()].flatMap(({ key, pool }) => (pool && heldKeys.has(key) ? [pool.name] : [])))
  return Object.fromEntries(
    Object.entries(pools).map(([name, state]) => {
      const review = reviews.get(name)
      const hasPassed = review && state.dealtAt !== undefined && !review.isReviewed && !held.has(name)
      return [name, hasPassed ? { ...state, reviewed: review.key } : state]
    }),
  )
}

/** The credits that a set of changes moves; a first cap moves none. */
export const creditsMoved = (changes: readonly Pick<Difference, 'from' | 'to'>[]): number =>
  changes.reduce((sum, { from, to }) => sum + (from === 'none' || to === 'none' ? 0 : Math.abs(to - from)), 0)
