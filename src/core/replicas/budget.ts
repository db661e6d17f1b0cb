// The rate of a key that several workspaces use: each workspace has its part, whoever holds it. A workspace is held once, and so all parts
// together never exceed the limit, on however many replicas and while leases move.
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
