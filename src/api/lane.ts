// A lane: the requests that wait to go out under one key, by urgency, then in order of arrival, and that key's pace. Only the order is
// decided here; whether the first may go is queue.ts's business.
import type { LearnedRate, Pace, RateSettings } from '../core/pace/pace.ts'
import { learnedRate, startPace } from '../core/pace/pacing.ts'

/** Writes and what decides about them; then the readings of a sweep; then what only measures. */
export const URGENCIES = ['urgent', 'normal', 'late'] as const
export type Urgency = (typeof URGENCIES)[number]

/** A request's right to go out now, as its asker sees it. `wait` is asked again after the next ending. */
export type Permit = { readonly kind: 'go' | 'probe' | 'wait' } | { readonly kind: 'fail'; readonly error: unknown }

export interface Ticket {
  readonly key: { readonly id: number; readonly name: string }
  readonly urgency: Urgency
  /** Goes before others of its urgency: it has waited before. */
  readonly again: boolean
  readonly admit: () => Permit
  /** Told, before anything else is admitted, that the request goes out. */
  readonly onAdmitted: (admission: 'go' | 'probe') => void
  readonly signals: readonly (AbortSignal | undefined)[]
}

export interface Waiter {
  readonly ticket: Ticket
  readonly resolve: (turn: Turn) => void
  readonly reject: (error: unknown) => void
  /** Aborted; dropped when its place is reached. */
  gone: boolean
}

/** The right to send one request now; `end` must be called exactly once. */
export interface Turn {
  readonly admission: 'go' | 'probe'
  /** `undefined`: no answer came, which tells nothing about the rate. */
  end(answer: { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number } | undefined): void
}

export interface Lane {
  /** The configuration's names for the key. */
  readonly names: Set<string>
  readonly waiting: Record<Urgency, Waiter[]>
  pace: Pace
  /** What was last reported as learned. */
  known: LearnedRate
  /** When the lane is looked at again. */
  alarm?: { readonly at: number; readonly cancel: AbortController }
}

/** `learned` is what `learnedRate` gave once; anything else is ignored. */
export function openLane(rate: RateSettings, nowMs: number, learned: unknown): Lane {
  const pace = startPace(rate, nowMs, learned)
  return { names: new Set(), waiting: { urgent: [], normal: [], late: [] }, pace, known: learnedRate(pace) }
}

export function join(lane: Lane, waiter: Waiter): void {
  const line = lane.waiting[waiter.ticket.urgency]
  if (waiter.ticket.again) line.unshift(waiter)
  else line.push(waiter)
}

/** The first that still waits; those who gave up are dropped on the way. */
export function head(lane: Lane): Waiter | undefined {
  for (const urgency of URGENCIES) {
    const line = lane.waiting[urgency]
    while (line[0]?.gone) line.shift()
    if (line[0]) return line[0]
  }
  return undefined
}

/** Takes out the first of the lane. */
export function leave(lane: Lane, first: Waiter): Waiter {
  lane.waiting[first.ticket.urgency].shift()
  return first
}

/** Of the lanes that were not put aside, the one whose first waiter is the most urgent. */
export function nextLane(lanes: Iterable<Lane>, aside: ReadonlySet<Lane>): Lane | undefined {
  let best: { readonly lane: Lane; readonly rank: number } | undefined
  for (const lane of lanes) {
    const first = aside.has(lane) ? undefined : head(lane)
    const rank = first ? URGENCIES.indexOf(first.ticket.urgency) : URGENCIES.length
    if (first && (!best || rank < best.rank)) best = { lane, rank }
  }
  return best?.lane
}
