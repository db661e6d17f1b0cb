// How workspaces share the rate of one key. Each workspace has an equal part, whichever replica holds it. Only one replica holds a workspace at
// a time, so all parts together never exceed the limit, even while leases move. Because parts are equal, the limit that one workspace has
// learned is a good start for the others.
import type { RateSettings } from '../pace/pace.ts'

/** One workspace's part of its key's rate, shared by `sharers` workspaces. */
export function partOfRate<Rate extends RateSettings>(rate: Rate, sharers: number): Rate {
  const parts = Math.max(1, sharers)
  if (parts === 1) return rate
  const max = rate.max / parts
  return { ...rate, max, start: Math.min(rate.start, max) }
}

/** By workspace: how many workspaces use the same key, at the most shared of its keys. `keys`: the identities of each workspace's keys. */
export function sharersOf(keys: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, number> {
  const users = new Map<string, number>()
  for (const ids of keys.values()) for (const id of ids) users.set(id, (users.get(id) ?? 0) + 1)
  return new Map([...keys].map(([workspace, ids]) => [workspace, Math.max(1, ...[...ids].map((id) => users.get(id) ?? 1))]))
}

/** A key's identity, and its name in a workspace. */
export interface NamedKey {
  readonly id: string
  readonly name: string
}

/**
 * What a workspace starts with for each of its keys, by the names of `mine`: what it learned itself, and for a key whose limit it has not met,
 * the lowest limit that other workspaces met with the same key.
 */
export function learnedTogether(
  own: Readonly<Record<string, unknown>>,
  mine: readonly NamedKey[],
  others: readonly { readonly named: readonly NamedKey[]; readonly learned: Readonly<Record<string, unknown>> }[],
): Readonly<Record<string, unknown>> {
  const found = mine.flatMap(({ id, name }) => {
    if (limitIn(own[name]) !== undefined) return []
    const met = others.flatMap(({ named, learned }) =>
      named.flatMap((one) => (one.id === id && limitIn(learned[one.name]) !== undefined ? [learned[one.name]] : [])),
    )
    const [lowest] = met.toSorted((a, b) => (limitIn(a) ?? 0) - (limitIn(b) ?? 0))
    return lowest === undefined ? [] : [[name, lowest] as const]
  })
  return { ...own, ...Object.fromEntries(found) }
}

/** The rate, if the service's limit was met at it. */
function limitIn(learned: unknown): number | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  return learned.limited === true && typeof learned.rate === 'number' ? learned.rate : undefined
}
