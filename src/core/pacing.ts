// Decides when the next request may go to a service that has a rate limit nobody told us: it learns the limit by being refused as rarely
// as it can. Pure: the caller passes monotonic time in and keeps the Pace that comes out. It must never let the rate leave 0.1/s to
// `max`, never save up unused time for a burst, and never cut twice for requests that were refused together.
//
//   nothing learned        learned before
//         |                      |
//         v                      v          quiet time over                held: the step doubles
//      [climb]               [hold] ------------------------> [try] ----------+
//   doubling each            |    ^                           |   ^           |
//   clean second             |    |                           |   +-----------+
//         |                  |    | a probe is answered:      |
//         | refused          |    | new rate from goodput     | refused
//         v                  v    |                           v
//         +--------------> [blocked: single probes] <---------+

/** What the configuration allows, in requests per second. */
export interface RateSettings {
  readonly start: number
  readonly max: number
}

/** What is worth keeping for the next start; plain JSON. */
export interface LearnedRate {
  readonly rate: number
  /** True once the service refused a request for being too fast. */
  readonly limited: boolean
}

export type Answer = { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number }

/** A point to measure goodput from. `atMs` is on the busy clock: monotonic time less the time in which there was nothing to send. */
interface Mark {
  readonly atMs: number
  readonly successes: number
  readonly idleMs: number
}

interface Hold {
  readonly kind: 'hold'
  /** Busy clock. */
  readonly untilMs: number
  /** The rate to go back to then: this one was set low by a cycle too short to be trusted for long. */
  readonly back: number | undefined
}

interface Try {
  readonly kind: 'try'
  readonly step: number
  /** The rate to fall back to. */
  readonly base: number
  /** How far its sends are ahead of those at its base, in ms of the base, up to the last step. */
  readonly excessMs: number
  /** A usual rate that is gone back to; nothing new is tried. */
  readonly back: boolean
}

type Phase = { readonly kind: 'climb' } | Hold | Try | Blocked

interface Blocked extends Verdict {
  readonly kind: 'blocked'
  readonly probes: number
  readonly refusals: number
}

/** What a refusal says about the next rate: KEEP x the goodput since `evidence`, within bounds. */
interface Verdict {
  readonly evidence: Mark
  readonly atLeast: number
  readonly atMost: number
  readonly strikes: number
  readonly failedTries: number
  readonly recover: boolean
}

/** The whole state. Opaque to callers: read it with the functions below. */
export interface Pace {
  readonly settings: RateSettings
  readonly rate: number
  readonly phase: Phase
  /** When the next request may go out. */
  readonly nextAtMs: number
  /** Refusals of requests sent before this are part of a block that is already known. */
  readonly eraMs: number
  readonly successes: number
  readonly idleMs: number
  /** The end of the last block: the cycle's start. */
  readonly cycle: Mark
  /** Ends of blocks, the newest last: the first is the youngest that is older than the horizon. */
  readonly trail: readonly Mark[]
  readonly step: Mark
  readonly stepBefore: Mark
  /** Tries in a row that gained nothing. */
  readonly failedTries: number
  /** The last rate that held for its whole quiet time. */
  readonly base: number
  /** Short cycles in a row. */
  readonly strikes: number
}

export const FLOOR_RATE = 0.1
const CLEAN_MS = 1_000
const KEEP = 0.97
const FIRST_STEP = 0.03
const LARGEST_STEP = 1
const DEEPEST_CUT = 0.25
const PROBE_PATIENCE_MS = 30_000
const LONGEST_WAIT_MS = 3_600_000
const IDLE_SHARE = 0.1
const SHORT_CYCLE_MS = 60_000
const REAL_MS = 12_000
const BACK_OVER = 1.1
const HORIZON_MS = 300_000
const QUIET_MIN = 60_000
const QUIET_MAX = 600_000
const QUIET_GROW = 1.5

/**
 * A pace that has sent nothing yet. `learned` may be anything: what `learnedRate` gave once is taken up, everything else is ignored.
 */
export function startPace(settings: RateSettings, nowMs: number, learned?: unknown): Pace {
  const known = readLearned(learned)
  const mark: Mark = { atMs: nowMs, successes: 0, idleMs: 0 }
  const limited = known?.limited === true
  return {
    settings,
    rate: within(settings, known?.rate ?? settings.start),
    phase: limited ? { kind: 'hold', untilMs: nowMs + quietMs(1, known.rate, 0), back: undefined } : { kind: 'climb' },
    nextAtMs: nowMs,
    eraMs: nowMs,
    successes: 0,
    idleMs: 0,
    cycle: mark,
    trail: [mark],
    step: mark,
    stepBefore: mark,
    failedTries: 0,
    base: limited ? known.rate : 0,
    strikes: 0,
  }
}

/**
 * When the next request may go out: monotonic ms, not before `nowMs`. Ask again after every answer: an answered probe moves it to now.
 */
export const earliestSendAt = (pace: Pace, nowMs: number): number => Math.max(nowMs, pace.nextAtMs)

/** The pace after a request went out at `nowMs`. */
export function sent(pace: Pace, nowMs: number): Pace {
  const slackMs = slack(pace.settings)
  const idleMs = pace.idleMs + Math.max(0, nowMs - slackMs - pace.nextAtMs)
  if (pace.phase.kind === 'blocked') return { ...pace, idleMs, nextAtMs: nowMs + PROBE_PATIENCE_MS }
  return { ...pace, idleMs, nextAtMs: Math.max(pace.nextAtMs, nowMs - slackMs) + 1000 / pace.rate }
}

/** The pace after the answer to a request that went out at `sentAtMs`. `ok` is every answer that is not a refusal for being too fast. */
export function answered(pace: Pace, nowMs: number, answer: Answer, sentAtMs: number): Pace {
  if (answer.kind === 'refused') return refused(pace, nowMs, answer.retryAfterMs, sentAtMs)
  const counted = { ...pace, successes: pace.successes + 1 }
  if (pace.phase.kind !== 'blocked') return advanced(counted, nowMs)
  return sentAtMs >= pace.eraMs ? resumed(counted, pace.phase, nowMs) : counted
}

/** Requests per second. */
export const currentRate = (pace: Pace): number => pace.rate

/** What to keep for the next start. */
export const learnedRate = (pace: Pace): LearnedRate => ({
  rate: pace.phase.kind === 'try' ? pace.phase.base : pace.rate,
  limited: pace.phase.kind !== 'climb',
})

function readLearned(learned: unknown): LearnedRate | undefined {
  if (typeof learned !== 'object' || learned === null) return undefined
  if (!('rate' in learned) || !('limited' in learned)) return undefined
  const { rate, limited } = learned
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0 || typeof limited !== 'boolean') return undefined
  return { rate, limited }
}

const within = (settings: RateSettings, rate: number): number => Math.max(FLOOR_RATE, Math.min(settings.max, rate))

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value))

/** How late a request may be without losing its place, so that slow timers cost no rate; never more than floor(max) + 1 in a second. */
const slack = ({ max }: RateSettings): number => Math.min(20, (1000 * (Math.floor(max) + 1 - max)) / max)

const markAt = (pace: Pace, nowMs: number): Mark => ({ atMs: nowMs - pace.idleMs, successes: pace.successes, idleMs: pace.idleMs })

/** Successes per second since the mark; waiting for work does not count. */
function goodputSince(mark: Mark, pace: Pace, nowMs: number): number {
  const ms = nowMs - pace.idleMs - mark.atMs
  return ms > 0 ? (1000 * (pace.successes - mark.successes)) / ms : 0
}

const quietMs = (refusals: number, rate: number, failedTries: number): number =>
  clamp(((refusals * 400) / rate) * 1000, QUIET_MIN, QUIET_MAX / 2) * Math.min(QUIET_GROW ** failedTries, 2)

const tryMs = (rate: number): number => clamp(40_000 / rate, 20_000, 60_000)

const waitMs = (probes: number): number => Math.min(1000 * 1.5 ** probes, LONGEST_WAIT_MS)

function advanced(pace: Pace, nowMs: number): Pace {
  const { phase } = pace
  if (phase.kind === 'blocked') return pace
  if (phase.kind === 'hold') return nowMs - pace.idleMs >= phase.untilMs ? tried(pace, phase, nowMs) : pace
  const sinceStepMs = nowMs - pace.idleMs - pace.step.atMs
  if (sinceStepMs < (phase.kind === 'climb' ? CLEAN_MS : tryMs(pace.rate))) return pace
  // A rate that the work did not use up has not been tried.
  if (pace.idleMs - pace.step.idleMs > IDLE_SHARE * sinceStepMs) return { ...pace, step: markAt(pace, nowMs) }
  if (pace.rate >= pace.settings.max) return pace
  if (phase.kind === 'climb') return faster(pace, nowMs, 2 * pace.rate)
  if (phase.back) return { ...pace, phase: { kind: 'hold', untilMs: nowMs - pace.idleMs + QUIET_MIN, back: undefined } }
  return stepped(pace, nowMs, { ...phase, step: Math.min(LARGEST_STEP, 2 * phase.step), excessMs: excess(pace, phase, nowMs) })
}

function tried(pace: Pace, hold: Hold, nowMs: number): Pace {
  if (pace.rate >= pace.settings.max) return pace
  const begin: Try = { kind: 'try', step: FIRST_STEP, base: pace.rate, excessMs: 0, back: false }
  if (hold.back !== undefined) return stepped({ ...pace, strikes: 0 }, nowMs, { ...begin, step: hold.back / pace.rate - 1, back: true })
  const gained = pace.rate > pace.base * 1.05
  return stepped({ ...pace, base: pace.rate, strikes: 0, failedTries: gained ? 0 : pace.failedTries }, nowMs, begin)
}

const faster = (pace: Pace, nowMs: number, rate: number): Pace => ({
  ...pace,
  rate: within(pace.settings, rate),
  stepBefore: pace.step,
  step: markAt(pace, nowMs),
})

const excess = (pace: Pace, phase: Try, nowMs: number): number =>
  phase.excessMs + (pace.rate / phase.base - 1) * (nowMs - pace.idleMs - pace.step.atMs)

const stepped = (pace: Pace, nowMs: number, phase: Try): Pace => ({ ...faster(pace, nowMs, pace.rate * (1 + phase.step)), phase })

function refused(pace: Pace, nowMs: number, retryAfterMs: number | undefined, sentAtMs: number): Pace {
  const { phase } = pace
  if (phase.kind === 'blocked') {
    const probes = sentAtMs >= pace.eraMs ? phase.probes + 1 : phase.probes
    const blocked = { ...phase, probes, refusals: phase.refusals + 1 }
    const nextAtMs = nowMs + probeWait(probes, retryAfterMs)
    return { ...pace, phase: blocked, nextAtMs: probes > phase.probes ? nextAtMs : Math.max(pace.nextAtMs, nextAtMs) }
  }
  if (sentAtMs < pace.eraMs) return pace
  const blocked: Blocked = { kind: 'blocked', probes: 0, refusals: 1, ...verdict(pace, phase, nowMs) }
  return { ...pace, phase: blocked, eraMs: nowMs, nextAtMs: nowMs + probeWait(0, retryAfterMs) }
}

function verdict(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Verdict {
  const { rate, failedTries } = pace
  if (phase.kind === 'climb') return { evidence: pace.stepBefore, atLeast: 0, atMost: rate, strikes: 0, failedTries, recover: false }
  if (phase.kind === 'try') {
    const real = !phase.back && excess(pace, phase, nowMs) >= REAL_MS
    const kept = !phase.back && phase.step > 3 * FIRST_STEP ? phase.base * (1 + FIRST_STEP) : phase.base
    return {
      evidence: pace.stepBefore,
      atLeast: kept,
      atMost: real ? rate : kept,
      strikes: 0,
      failedTries: failedTries + 1,
      recover: phase.base < pace.base,
    }
  }
  const cycleMs = nowMs - pace.idleMs - pace.cycle.atMs
  const strikes = cycleMs < SHORT_CYCLE_MS ? pace.strikes + 1 : 0
  const atLeast = strikes === 1 ? Math.min(rate, pace.base * KEEP) : rate * DEEPEST_CUT
  return { evidence: pace.cycle, atLeast, atMost: rate, strikes, failedTries, recover: cycleMs < HORIZON_MS }
}

function probeWait(probes: number, retryAfterMs: number | undefined): number {
  const grown = waitMs(probes)
  if (retryAfterMs === undefined || !(retryAfterMs > 0)) return grown
  return Math.min(LONGEST_WAIT_MS, Math.max(retryAfterMs, probes < 2 ? 0 : grown))
}

function resumed(pace: Pace, blocked: Blocked, nowMs: number): Pace {
  const { evidence, atLeast, atMost, strikes, failedTries } = blocked
  const rate = within(pace.settings, clamp(KEEP * goodputSince(evidence, pace, nowMs), atLeast, atMost))
  const mark = markAt(pace, nowMs)
  const trail = trailed(pace.trail, mark)
  const usual = within(pace.settings, KEEP * goodputSince(trail[0] ?? mark, pace, nowMs))
  const halfway = Math.min(pace.rate * KEEP, Math.max(usual, Math.sqrt(pace.rate * rate)))
  const back = blocked.recover && halfway > rate * BACK_OVER ? halfway : undefined
  const quiet =
    back === undefined
      ? quietMs(blocked.refusals, rate, failedTries)
      : clamp((100_000 * blocked.refusals) / back, 15_000, 120_000) * Math.min(2 ** failedTries, 8)
  return {
    ...pace,
    rate,
    phase: { kind: 'hold', untilMs: mark.atMs + quiet, back },
    nextAtMs: nowMs + 1000 / rate,
    eraMs: nowMs,
    cycle: strikes === 1 ? pace.cycle : mark,
    trail,
    step: mark,
    stepBefore: mark,
    strikes,
    failedTries,
  }
}

function trailed(trail: readonly Mark[], mark: Mark): readonly Mark[] {
  const all = [...trail, mark]
  const old = all.findLastIndex((one) => mark.atMs - one.atMs >= HORIZON_MS)
  return all.slice(Math.max(0, old, all.length - 16))
}
