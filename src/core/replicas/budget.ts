// The rate of a key that several workspaces use: each workspace has its part, whoever holds it. A workspace is held once, and so all parts
// together never exceed the limit, on however many replicas and while leases move. Parts are equal, so what one of them has learned of
// the service's limit is a good start for the others.
import type { RateSettings } from '../pace/pace.ts'

/** What a workspace may send of its key's rate, which `sharers` workspaces have in all. */
export function dealt<Rate extends RateSettings>(rate: Rate, sharers: number): Rate {
  const parts = Math.max(1, sharers)
  if (parts === 1) return rate
  const max = rate.max / parts
  return { ...rate, max, start: Math.min(rate.start, max) }
}

/** How many workspaces use the same key as each of these; keys by their identity, several for a workspace. */
export function sharersOf(keys: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, number> {
  const users = new Map<string, number>()
  for (const ids of keys.values()) for (const id of ids) users.set(id, (users.get(id) ?? 0) + 1)
  return new Map([...keys].map(([workspace, ids]) => [workspace, Math.max(1, ...[...ids].map((id) => users.get(id) ?? 1))]))
}

/** A key by its identity, and how a workspace calls it. */
export interface Named {
  readonly id: string
  readonly name: string
}

/**
 * What is known of the pace of a workspace's keys when it starts: what it learned itself, and for a key whose limit it has not met, the lowest
 * rate that others were held to with the same key. By the names of `mine`.
 */
export function learnedTogether(
  own: Readonly<Record<string, unknown>>,
  mine: readonly Named[],
  others: readonly { readonly named: readonly Named[]; readonly learned: Readonly<Record<string, unknown>> }[],
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

/** The rate, if the service's limit was met. */
function limitIn(learned: unknown): number | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  return learned.limited === true && typeof learned.rate === 'number' ? learned.rate : undefined
}
