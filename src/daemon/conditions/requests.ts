// Requests of a workspace by operation since the daemon started, for the page about its health. Bounded and not recorded; the metrics count for
// ever.

import type { CycleEvent, RequestOutcome } from '../../core/model/events.ts'
import type { Instant } from '../../core/model/units.ts'

export interface RequestsOf {
  readonly operation: string
  readonly requests: number
  readonly failed: number
  readonly lastFailure?: { readonly at: Instant; readonly outcome: RequestOutcome }
  /** Of the last requests, in milliseconds. */
  readonly durations: readonly number[]
}

/** So many durations are kept. Choice. */
const MOST_DURATIONS = 100

/** Counts one request. */
export function takeRequest(
  known: Map<string, RequestsOf>,
  { at, operation, outcome, durationMs }: Extract<CycleEvent, { readonly kind: 'request-finished' }>,
): void {
  const before = known.get(operation) ?? { operation, requests: 0, failed: 0, durations: [] }
  const isGood = outcome === 'ok'
  known.set(operation, {
    ...before,
    requests: before.requests + 1,
    failed: before.failed + (isGood ? 0 : 1),
    ...(!isGood && { lastFailure: { at, outcome } }),
    durations: [...before.durations.slice(1 - MOST_DURATIONS), durationMs],
  })
}

/** The median duration; undefined without any request. */
export function medianMs({ durations }: RequestsOf): number | undefined {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}
