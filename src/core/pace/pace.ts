// The state of a pace, and what is measured with it: rates in requests per second, and goodput between two moments of the busy clock, which
// stops while there is nothing to send. Values and arithmetic only; pacing.ts decides.

/** What the configuration allows, in requests per second (docs/configuration.md); `max` is at least 0.1. */
export interface RateSettings {
  readonly start: number
  readonly max: number
}

/** What the ledger keeps for the next start; plain JSON. */
export interface LearnedRate {
  /** Requests per second. */
  readonly rate: number
  /** The service refused a request for being too fast, and answered again later. */
  readonly limited: boolean
  /** How long a first step must hold before it is trusted. */
  readonly tryMs?: number
}

/** `ok` is every answer that is not a refusal for being too fast, errors included. */
export type Answer = { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number }

/** The whole state. Opaque to callers, who use pacing.ts. */
export interface Pace {
  readonly settings: RateSettings
  readonly rate: number
  readonly phase: Phase
  readonly nextAtMs: number
  /** When the last request went out. */
  readonly sentAtMs: number | undefined
  /** When the last block began or ended. Refusals of requests sent earlier belong to a block that is already known. */
  readonly eraMs: number
  readonly successes: number
  /** The total time with nothing to send. */
  readonly idleMs: number
  /** The end of the last block. */
  readonly cycle: Mark
  readonly step: Mark
  readonly stepBefore: Mark
  /** Ends of blocks and steps of the last 5 minutes and the last one before them, the newest last. */
  readonly trail: readonly Mark[]
  readonly lesson: Lesson
}

/** A moment to measure goodput from; `atMs` is on the busy clock. */
export type Mark = ReturnType<typeof markAt>

/** What past refusals taught. */
export interface Lesson {
  /** The last rate that held for a whole quiet time; 0 before there is one. */
  readonly proven: number
  /** How many returns to the usual rate in a row ended in a refusal. */
  readonly failedReturns: number
  /** Short cycles in a row, and the highest rate among them. */
  readonly shortCycles: number
  readonly top: number
  /** How long a first step must hold: longer for a service whose refusals come late. */
  readonly tryMs: number
  /** The limit has no room for two requests close together, so lateness is made up for slowly. */
  readonly even: boolean
}

/**
 * ```
 *   nothing learned             learned before
 *         |                           |
 *         v                           v        quiet time is over           held: the step doubles
 *      [climb] -- close to it ---> [hold] ----------------------> [try] ---------+
 *   doubling each                  |   ^  <---------------------  |  ^           |
 *   clean second                   |   |    held: a usual rate    |  +-----------+
 *         | ^                      |   |    was gone back to      |
 *         | | refused; the first   |   |                          | refused
 *         v | probe is answered    v   | a probe is answered      |
 *         +-------------------> [blocked] <-----------------------+
 *                            single probes only
 * ```
 * A refusal sets the next rate to 0.97 x the goodput since some moment, within bounds (`verdictOn` in pacing.ts):
 * - in a climb: since the step before, because the slow start is no evidence of the limit. When the first probe is answered, the block was
 *   only our own waiting: the climb goes on between the rate that held and the one that was refused.
 * - in a try: the first steps go back to the rate that the try began from; later steps have held, so the measure is since the step before.
 * - in hold: since the cycle began, the block included. A short cycle may be chance, or the echo of a burst in a sliding window: then not
 *   below the proven rate, and a lower rate soon goes back up in one step, to the usual rate or halfway.
 *
 * All intervals run on the busy clock.
 */
export type Phase = Climb | Hold | Try | Blocked

export interface Climb {
  readonly kind: 'climb'
  /** Set once the climb was refused: it goes on between a rate that held and one that did not. */
  readonly bounds: Bounds | undefined
}

/** What a climb knows of a limit that recovers at once after a refusal, such as a small token bucket. */
export interface Bounds {
  /** The highest rate that was not refused while it was tried. */
  readonly held: number
  /** The lowest rate that was refused. */
  readonly refused: number
  /** How many refusals the climb has had. */
  readonly refusals: number
  /** Goodput is measured from here. */
  readonly since: Mark
}

export interface Hold {
  readonly kind: 'hold'
  readonly untilMs: number
  /** The rate to go back to then, when this one was set low by a cycle that says little about the long run. */
  readonly back: number | undefined
  /** Kept from the climb until the rate is proven. */
  readonly bounds?: Bounds
}

export interface Try {
  readonly kind: 'try'
  /** The last step up, relative. */
  readonly step: number
  /** The rate before the try. */
  readonly from: number
  /** This is the one step back to the usual rate. */
  readonly back: boolean
}

export interface Blocked {
  readonly kind: 'blocked'
  readonly probes: number
  readonly refusals: number
  readonly verdict: Verdict
}

/** The next rate: KEEP x the goodput since `evidence`, within bounds. */
export interface Verdict {
  readonly evidence: Mark
  readonly atLeast: number
  readonly atMost: number
  readonly mayReturn: boolean
  readonly lesson: Lesson
  /** Where the climb goes on if the first probe is answered. */
  readonly bounds?: Bounds | undefined
}

const FLOOR_RATE = 0.1
export const HORIZON_MS = 300_000
const TRAIL_LENGTH = 32

export const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value))

export const within = (settings: RateSettings, rate: number): number =>
  Math.max(Math.min(FLOOR_RATE, settings.max), Math.min(settings.max, rate))

export const busyMs = (pace: Pace, nowMs: number): number => nowMs - pace.idleMs

export const markAt = ({ successes, idleMs }: Pick<Pace, 'successes' | 'idleMs'>, nowMs: number) => ({
  atMs: nowMs - idleMs,
  successes,
  idleMs,
})

/** Successes per second since the mark. */
export function goodputSince(mark: Mark, pace: Pace, nowMs: number): number {
  const ms = busyMs(pace, nowMs) - mark.atMs
  return ms > 0 ? (1000 * (pace.successes - mark.successes)) / ms : 0
}

/** The marks with one more: those within the horizon, and the youngest beyond it. */
export function trailed(trail: readonly Mark[], mark: Mark): readonly Mark[] {
  const all = [...trail, mark]
  const old = all.findLastIndex((one) => mark.atMs - one.atMs >= HORIZON_MS)
  return all.slice(Math.max(0, old, all.length - TRAIL_LENGTH))
}
