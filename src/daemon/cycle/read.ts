// Reads the caps in force, a bounded number at a time, and keeps what it learns even when it is stopped half-way. It never writes.
import { notAhead } from '../../core/model/age.ts'
import type { ApiErrorKind, CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { ReadClient } from '../../ports.ts'

export interface SweepInputs {
  readonly client: ReadClient
  readonly scopes: readonly Scope[]
  readonly concurrency: number
  /** Every reading lands here as it arrives. */
  readonly readings: Map<ScopeKey, CapReading>
  readonly onReading?: (reading: CapReading) => void
  readonly signal?: AbortSignal
  /** Ahead of other reads: a policy edit must not wait for them. */
  readonly urgent?: boolean
  /** Behind other reads: it is only to be shown. */
  readonly late?: boolean
}

/** Reads every scope once: what is wider first, then people, neighbours apart. Rejects only when `signal` aborts; what was read by then is kept. */
export async function sweep(inputs: SweepInputs): Promise<void> {
  const [wide, people] = [inputs.scopes.filter(({ kind }) => kind !== 'user'), inputs.scopes.filter(({ kind }) => kind === 'user')]
  const pending = Iterator.from([...wide, ...apart(people)])
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
 * What cannot be read often stands side by side, and failures in a row look like an outage, or a lost permission: then nothing behind them
 * would be read. Steps of the golden section of the length part neighbours evenly.
 */
function apart<Item>(items: readonly Item[]): readonly Item[] {
  let step = Math.max(1, Math.round(items.length * 0.618))
  while (divisor(step, items.length) > 1) step += 1
  return items.flatMap((_, at) => items[(at * step) % items.length] ?? [])
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Files a reading; a failed one keeps what was read last beside it. */
export function keepReading(readings: Map<ScopeKey, CapReading>, reading: CapReading): void {
  const key = scopeKey(reading.scope)
  const before = readings.get(key)
  const last = before && (before.observed === 'unknown' ? before.last : { observed: before.observed, readAt: before.readAt })
  readings.set(key, { ...reading, ...(last && { previousAt: last.readAt }), ...(reading.failure && last && { last }) })
}

/** What a clock stamped that went back since counts as read now: it is older than whatever comes next. */
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

/** Causes that speak about the key, the service or the way to it, not about one scope. */
const SHARED: ReadonlySet<ApiErrorKind> = new Set(['rate_limited', 'auth', 'server', 'timeout', 'network', 'malformed'])

export interface ReadQuality {
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
