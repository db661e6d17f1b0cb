// Keeps in the ledger what was seen of the deployment, as one value, written only when it is news.
import { type Seen, type Sighting, type WireSighting, withSighting } from '../../core/interpret/seen.ts'
import type { Clock, Ledger } from '../../ports.ts'

/** What was seen of this deployment so far. */
export const seenIn = (ledger: Pick<Ledger, 'fact'>): Seen => ledger.fact('seen') ?? {}

/** Notes what was seen now, when it is news. */
export function noteSeen(ledger: Pick<Ledger, 'fact' | 'saveFact'>, sightings: readonly Sighting[], clock: Pick<Clock, 'now'>): void {
  if (sightings.length === 0) return
  const before = seenIn(ledger)
  const after = sightings.reduce((seen, sighting) => withSighting(seen, sighting, clock.now()), before)
  if (after !== before) ledger.saveFact('seen', after)
}

/** Collects what the client sees in answers, so that the ledger is asked once a cycle and not with each answer. */
export interface SeenKeeper {
  readonly onSeen: (sighting: WireSighting) => void
  /** Notes what came since the last time. */
  keep(): void
}

export function seenKeeper(ledger: Pick<Ledger, 'fact' | 'saveFact'>, clock: Pick<Clock, 'now'>): SeenKeeper {
  const kept = new Map<string, string>()
  const fresh = new Map<string, WireSighting>()
  return {
    onSeen(sighting) {
      if (kept.get(sighting.aspect) === sighting.value) fresh.delete(sighting.aspect)
      else fresh.set(sighting.aspect, sighting)
    },
    keep() {
      if (fresh.size === 0) return
      noteSeen(ledger, [...fresh.values()], clock)
      for (const { aspect, value } of fresh.values()) kept.set(aspect, value)
      fresh.clear()
    },
  }
}
