// Reads caps, a bounded number at a time, and keeps every reading even when it is stopped half-way, with what it shows of how the service
// works. It never writes.

import type { People } from '../../core/interpret/effective.ts'
import {
  addObservation,
  groupsListed,
  type Observation,
  observeReadings,
  type ServiceEvidence,
  type WireObservation,
} from '../../core/interpret/evidence.ts'
import type { ApiErrorKind, CapReading, GroupMembers, OwnedCap } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import { type Instant, notAhead } from '../../core/model/units.ts'
import type { Clock, Ledger, ReadClient } from '../../ports.ts'

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

interface SweepInputs {
  readonly client: ReadClient
  readonly scopes: readonly Scope[]
  readonly concurrency: number
  /** Takes every reading as it arrives. */
  readonly readings: Map<ScopeKey, CapReading>
  readonly onReading?: (reading: CapReading) => void
  readonly signal?: AbortSignal
  /** Goes before other reads: a policy edit must not wait for them. */
  readonly urgent?: boolean
  /** Goes after other reads: the readings are only shown. */
  readonly late?: boolean
}

/** Reads every scope once: team and groups first, then people, neighbours apart. Rejects only when `signal` aborts; readings until then are kept. */
export async function sweep(inputs: SweepInputs): Promise<void> {
  const [ancestors, people] = [inputs.scopes.filter(({ kind }) => kind !== 'user'), inputs.scopes.filter(({ kind }) => kind === 'user')]
  const pending = Iterator.from([...ancestors, ...apart(people)])
  const urgency = inputs.urgent ? 'urgent' : inputs.late ? 'late' : undefined
  const work = async (): Promise<void> => {
    for (const scope of pending) {
      inputs.signal?.throwIfAborted()
      const reading = await inputs.client.readCap(scope, inputs.signal, urgency)
      keepReading(inputs.readings, reading)
      inputs.onReading?.(reading)
    }
  }
  await Promise.all(Array.from({ length: Math.min(inputs.concurrency, inputs.scopes.length) }, work))
}

/**
 * Scopes that cannot be read are often neighbours, and failures in a row look like an outage, which would end the sweep. Steps of the golden
 * section of the length spread neighbours evenly.
 */
function apart<Item>(items: readonly Item[]): readonly Item[] {
  let step = Math.max(1, Math.round(items.length * 0.618))
  while (divisor(step, items.length) > 1) step += 1
  return items.flatMap((_, at) => items[(at * step) % items.length] ?? [])
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Keeps a reading; a failed one carries the last good reading with it. */
export function keepReading(readings: Map<ScopeKey, CapReading>, reading: CapReading): void {
  const key = scopeKey(reading.scope)
  const before = readings.get(key)
  const last = before && (before.observed === 'unknown' ? before.last : { observed: before.observed, readAt: before.readAt })
  readings.set(key, { ...reading, ...(last && { previousAt: last.readAt }), ...(reading.failure && last && { last }) })
}

/** Dates readings from the future to now, so that each is older than the next one: the clock was set back since. */
export function noneAhead(readings: Map<ScopeKey, CapReading>, now: Instant): void {
  for (const [key, reading] of readings) {
    const { last, ...rest } = reading
    if (Math.max(reading.readAt, last?.readAt ?? 0) <= now) continue
    readings.set(key, {
      ...rest,
      readAt: notAhead(rest.readAt, now),
      last: last && { ...last, readAt: notAhead(last.readAt, now) },
    })
  }
}

/** Failures of the key, the service or the network, and not of one scope. */
const SHARED: ReadonlySet<ApiErrorKind> = new Set(['rate_limited', 'auth', 'server', 'timeout', 'network', 'malformed'])

interface ReadQuality {
  readonly failed: number
  readonly total: number
  readonly teamFailed: boolean
  /** The message of the first shared failure. */
  readonly cause?: string
}

/** How good the readings of these scopes are, for the guard `readQuality`. */
export function readQuality(scopes: readonly Scope[], readings: ReadonlyMap<ScopeKey, CapReading>): ReadQuality {
  let failed = 0
  let total = 0
  let cause: string | undefined
  for (const scope of scopes) {
    const reading = readings.get(scopeKey(scope))
    if (!reading) continue
    total += 1
    if (!reading.failure || !SHARED.has(reading.failure.kind)) continue
    failed += 1
    cause ??= reading.failure.message
  }
  const teamFailed = scopes.some((scope) => scope.kind === 'team') && readings.get(scopeKey(TEAM))?.observed === 'unknown'
  return { failed, total, teamFailed, cause }
}
