// Reads caps, a bounded number at a time, and keeps every reading even when it is stopped half-way, with what it shows of how the service
// works. It never writes.

import { addObservation, type Observation, type ServiceEvidence, type WireObservation } from '../../core/interpret/evidence.ts'
import type { ApiErrorKind, CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Instant, notAhead } from '../../core/model/units.ts'
import type { SnapshotFacts } from '../../core/plan/snapshot.ts'
import type { Clock, Ledger, ReadClient } from '../../ports.ts'
import { unlessLedger } from '../ledger/error.ts'

/** What was seen of this deployment so far. */
export const seenIn = (ledger: Pick<Ledger, 'fact'>): ServiceEvidence => ledger.fact('seen') ?? {}

/** What is known once these observations have been made. */
export const learnedFrom = (seen: ServiceEvidence, observations: readonly Observation[], now: Instant): ServiceEvidence =>
  observations.reduce((known, observation) => addObservation(known, observation, now), seen)

/** Records the observations where they are new. */
export function noteSeen(ledger: Pick<Ledger, 'fact' | 'saveFact'>, observations: readonly Observation[], clock: Pick<Clock, 'now'>): void {
  if (observations.length === 0) return
  const before = seenIn(ledger)
  const after = learnedFrom(before, observations, clock.now())
  if (after !== before) ledger.saveFact('seen', after)
}

/** Collects what the client sees and learns, so that the ledger is written once a cycle and not with each answer. */
export function learnedKeeper(ledger: Pick<Ledger, 'fact' | 'saveFact' | 'commit'>, clock: Pick<Clock, 'now'>) {
  const pace: Record<string, unknown> = { ...ledger.fact('pace') }
  const last = new Map<string, WireObservation>()
  const note = (): void => {
    if (JSON.stringify(ledger.fact('pace') ?? {}) !== JSON.stringify(pace)) ledger.saveFact('pace', { ...pace })
    noteSeen(ledger, [...last.values()], clock)
  }
  return {
    /** For the client: `learned` is by key name, and starts with what the ledger has. */
    reports: {
      learned: pace,
      onLearned: (key: string, learned: unknown) => void Object.assign(pace, { [key]: learned }),
      onSeen: (observation: WireObservation) => void last.set(observation.aspect, observation),
    },
    /** Leaves what is new to the next commit. */
    note,
    /** Records what is new. Never rejects with a `LedgerError`. */
    async keep(): Promise<void> {
      try {
        note()
        await ledger.commit()
      } catch (error) {
        unlessLedger(error)
      }
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
  /** `urgent` goes before other reads: a policy edit must not wait for them. `late` goes after them: the readings are only shown. */
  readonly urgency?: 'urgent' | 'late'
}

/** Reads every scope once: team and groups first, then people, neighbours apart. Rejects only when `signal` aborts; readings until then are kept. */
export async function sweep(inputs: SweepInputs): Promise<void> {
  const [ancestors, people] = [inputs.scopes.filter(({ kind }) => kind !== 'user'), inputs.scopes.filter(({ kind }) => kind === 'user')]
  const pending = Iterator.from([...ancestors, ...apart(people)])
  const work = async (): Promise<void> => {
    for (const scope of pending) {
      inputs.signal?.throwIfAborted()
      const reading = await inputs.client.readCap(scope, inputs.signal, inputs.urgency)
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

/** How good the readings of these scopes are, for the guard `readQuality`. */
export function readQuality(scopes: readonly Scope[], readings: ReadonlyMap<ScopeKey, CapReading>): SnapshotFacts['reads'] {
  const read = scopes.flatMap((scope) => readings.get(scopeKey(scope)) ?? [])
  const failures = read.flatMap(({ failure }) => (failure && SHARED.has(failure.kind) ? [failure] : []))
  const teamFailed = read.some(({ scope, observed }) => scope.kind === 'team' && observed === 'unknown')
  return { failed: failures.length, total: read.length, teamFailed, cause: failures[0]?.message }
}
