// Reads caps, a bounded number at a time, and keeps every reading even when it is stopped half-way. It never writes.
import { notAhead } from '../../core/model/age.ts'
import type { ApiErrorKind, CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { ReadClient } from '../../ports.ts'

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
      ...(last && { last: { ...last, readAt: notAhead(last.readAt, now) } }),
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
  return { failed, total, teamFailed, ...(cause !== undefined && { cause }) }
}
