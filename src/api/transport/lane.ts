// A lane: the waiting requests of one key name, by urgency, then in order of arrival. Only the order is decided here; queue.ts decides
// whether the first one may go.

/** Writes and the readings that decide them; then the readings of a sweep; then measurements. */
const URGENCIES = ['urgent', 'normal', 'late'] as const
export type Urgency = (typeof URGENCIES)[number]

/** Whether a request may be sent now, and with which key. After `wait` it is asked again when another request ends. */
export type Permit =
  | { readonly kind: 'go' | 'probe'; readonly keyId: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'fail'; readonly error: unknown }

export interface Ticket {
  /** The configuration's name of the key. */
  readonly keyName: string
  readonly urgency: Urgency
  /** Goes before others of its urgency, because it has waited before. */
  readonly again: boolean
  readonly admit: () => Permit
  /** Called when the request is sent, before any other request is admitted. */
  readonly onAdmitted: (admission: 'go' | 'probe') => void
  readonly signals: readonly (AbortSignal | undefined)[]
}

export interface Waiter {
  readonly ticket: Ticket
  /** Its place in the order of arrival, across all lanes. */
  readonly order: number
  readonly resolve: (turn: Turn) => void
  readonly reject: (error: unknown) => void
  /** Aborted; removed when it comes first. */
  gone: boolean
}

/** The right to send one request now; `end` must be called exactly once. */
export interface Turn {
  readonly admission: 'go' | 'probe'
  /** `undefined`: there was no answer, so nothing is known about the rate. */
  end(answer: { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number } | undefined): void
}

export interface Lane {
  readonly keyName: string
  readonly waiting: Record<Urgency, Waiter[]>
  /** When the lane is served again. */
  alarm?: { readonly at: number; readonly cancel: AbortController }
}

export const openLane = (keyName: string): Lane => ({ keyName, waiting: { urgent: [], normal: [], late: [] } })

export function join(lane: Lane, waiter: Waiter): void {
  const line = lane.waiting[waiter.ticket.urgency]
  if (waiter.ticket.again) line.unshift(waiter)
  else line.push(waiter)
}

/** The first that still waits; aborted ones before it are removed. */
export function head(lane: Lane): Waiter | undefined {
  for (const urgency of URGENCIES) {
    const line = lane.waiting[urgency]
    while (line[0]?.gone) line.shift()
    if (line[0]) return line[0]
  }
  return undefined
}

/** Removes the first of the lane. */
export function leave(lane: Lane, first: Waiter): Waiter {
  lane.waiting[first.ticket.urgency].shift()
  return first
}

/** Of the lanes that are not put aside, the one whose first waiter is the most urgent, then the earliest. */
export function nextLane(lanes: Iterable<Lane>, aside: ReadonlySet<Lane>): Lane | undefined {
  let best: { readonly lane: Lane; readonly rank: number; readonly order: number } | undefined
  for (const lane of lanes) {
    const first = aside.has(lane) ? undefined : head(lane)
    if (!first) continue
    const rank = URGENCIES.indexOf(first.ticket.urgency)
    if (!best || rank < best.rank || (rank === best.rank && first.order < best.order)) best = { lane, rank, order: first.order }
  }
  return best?.lane
}
