// Keeps what was seen of the deployment in the ledger, as one value that is written only when it changes.
import type { People } from '../../core/interpret/effective.ts'
import {
  addObservation,
  groupsListed,
  type Observation,
  observeReadings,
  type ServiceEvidence,
  type WireObservation,
} from '../../core/interpret/evidence.ts'
import type { CapReading, GroupMembers, OwnedCap } from '../../core/model/observed.ts'
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Clock, Ledger } from '../../ports.ts'

/** What was seen of this deployment so far. */
export const seenIn = (ledger: Pick<Ledger, 'fact'>): ServiceEvidence => ledger.fact('seen') ?? {}

/** The scopes that a sweep has read. */
interface SweptScopes {
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly quarantine: { readonly active: ReadonlyMap<ScopeKey, unknown> }
  readonly people: People
  readonly inputs: { readonly groups: readonly GroupMembers[] }
}

/**
 * What the readings of a sweep prove. A scope where a number of ours is gone proves nothing: another client may have set a 0, which may read as
 * unset here.
 */
export function observeSweep(
  seen: ServiceEvidence,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  { owned, quarantine, people, inputs }: SweptScopes,
): readonly Observation[] {
  const mayBeZero = (key: ScopeKey): boolean => {
    const ours = owned.get(key)?.cap
    return ours === 0 || quarantine.active.has(key) || (typeof ours === 'number' && seen.zero?.value !== 'stored')
  }
  return observeReadings(seen, readings, mayBeZero, groupsListed(people, inputs.groups))
}

/** Records the observations where they are new. */
export function noteSeen(ledger: Pick<Ledger, 'fact' | 'saveFact'>, observations: readonly Observation[], clock: Pick<Clock, 'now'>): void {
  if (observations.length === 0) return
  const before = seenIn(ledger)
  const after = observations.reduce((seen, observation) => addObservation(seen, observation, clock.now()), before)
  if (after !== before) ledger.saveFact('seen', after)
}

/** Collects what the client sees in answers, so that the ledger is written once a cycle and not with each answer. */
export interface SeenKeeper {
  readonly onSeen: (observation: WireObservation) => void
  /** Records the observations since the last call. */
  keep(): void
}

export function seenKeeper(ledger: Pick<Ledger, 'fact' | 'saveFact'>, clock: Pick<Clock, 'now'>): SeenKeeper {
  const kept = new Map<string, string>()
  const fresh = new Map<string, WireObservation>()
  return {
    onSeen(observation) {
      if (kept.get(observation.aspect) === observation.value) fresh.delete(observation.aspect)
      else fresh.set(observation.aspect, observation)
    },
    keep() {
      if (fresh.size === 0) return
      noteSeen(ledger, [...fresh.values()], clock)
      for (const { aspect, value } of fresh.values()) kept.set(aspect, value)
      fresh.clear()
    },
  }
}
