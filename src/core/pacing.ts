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
  /** How long a faster rate has to hold before it is believed, in ms. */
  readonly tryMs?: number
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
  readonly failedBacks: number
  readonly recover: boolean
  readonly top: number
  readonly tryMs: number
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
  readonly failedBacks: number
  /** The last rate that held for its whole quiet time. */
  readonly base: number
  /** Short cycles in a row. */
  readonly strikes: number
  /** The rate at which they began. */
  readonly top: number
  /** How long a step must hold: longer for a service whose refusals come late. */
  readonly tryMs: number
}

export const FLOOR_RATE = 0.1
const CLEAN_MS = 1_000
const KEEP = 0.97
const FIRST_STEP = 0.03
const LARGEST_STEP = 1
const DEEPEST_CUT = 0.1
const PROBE_PATIENCE_MS = 30_000
const LONGEST_WAIT_MS = 3_600_000
const TRY_MIN = 20_000
const TRY_MAX = 160_000
const IDLE_SHARE = 0.1
const SHORT_CYCLE_MS = 60_000
const REFUSAL_WORTH = 300
const BACK_OVER = 1.1
const HORIZON_MS = 300_000
const QUIET_MIN = 60_000
const QUIET_MAX = 480_000
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
    failedBacks: 0,
    base: limited ? known.rate : 0,
    strikes: 0,
    top: 0,
    tryMs: known?.tryMs ?? TRY_MIN,
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
  tryMs: pace.tryMs,
})

function readLearned(learned: unknown): LearnedRate | undefined {
  if (typeof learned !== 'object' || learned === null) return undefined
  if (!('rate' in learned) || !('limited' in learned)) return undefined
  const { rate, limited } = learned
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0 || typeof limited !== 'boolean') return undefined
  const tryMs = 'tryMs' in learned && typeof learned.tryMs === 'number' ? learned.tryMs : TRY_MIN
  return { rate, limited, tryMs: tryMs >= TRY_MIN && tryMs <= TRY_MAX ? tryMs : TRY_MIN }
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
  clamp(((refusals * REFUSAL_WORTH) / rate) * 1000, QUIET_MIN, QUIET_MAX / 2) * Math.min(QUIET_GROW ** failedTries, 2)

function neededMs(pace: Pace, phase: Try): number {
  const least = clamp(40_000 / pace.rate, TRY_MIN, 60_000)
  if (phase.back) return least
  return Math.max(least, (pace.tryMs * FIRST_STEP) / (pace.rate / phase.base - 1))
}

/** Growing by half each time; a long block is looked at once in an eighth of its age, so that its end is not missed by much. */
const waitMs = (probes: number, blockedMs: number): number =>
  Math.min(1000 * 1.5 ** Math.min(probes, 30), Math.max(30_000, blockedMs / 8), LONGEST_WAIT_MS)

function advanced(pace: Pace, nowMs: number): Pace {
  const { phase } = pace
  if (phase.kind === 'blocked') return pace
  if (phase.kind === 'hold') return nowMs - pace.idleMs >= phase.untilMs ? tried(pace, phase, nowMs) : pace
  const sinceStepMs = nowMs - pace.idleMs - pace.step.atMs
  if (sinceStepMs < (phase.kind === 'climb' ? CLEAN_MS : neededMs(pace, phase))) return pace
  // A rate that the work did not use up has not been tried.
  if (pace.idleMs - pace.step.idleMs > IDLE_SHARE * sinceStepMs) return { ...pace, step: markAt(pace, nowMs) }
  if (pace.rate >= pace.settings.max) return pace
  if (phase.kind === 'climb') return faster(pace, nowMs, 2 * pace.rate)
  if (phase.back) return { ...pace, failedBacks: 0, phase: { kind: 'hold', untilMs: nowMs - pace.idleMs + QUIET_MIN, back: undefined } }
  return stepped(pace, nowMs, { ...phase, step: Math.min(LARGEST_STEP, 2 * phase.step), excessMs: excess(pace, phase, nowMs) })
}

function tried(pace: Pace, hold: Hold, nowMs: number): Pace {
  if (pace.rate >= pace.settings.max) return pace
  const begin: Try = { kind: 'try', step: FIRST_STEP, base: pace.rate, excessMs: 0, back: false }
  if (hold.back !== undefined) return stepped({ ...pace, strikes: 0 }, nowMs, { ...begin, step: hold.back / pace.rate - 1, back: true })
  const gained = pace.rate > pace.base * 1.05
  const lesson = gained ? { failedTries: 0, tryMs: Math.max(TRY_MIN, pace.tryMs / 2) } : {}
  return stepped({ ...pace, base: pace.rate, strikes: 0, ...lesson }, nowMs, begin)
}

function faster(pace: Pace, nowMs: number, rate: number): Pace {
  const step = markAt(pace, nowMs)
  return { ...pace, rate: within(pace.settings, rate), stepBefore: pace.step, step, trail: trailed(pace.trail, step) }
}

const excess = (pace: Pace, phase: Try, nowMs: number): number =>
  phase.excessMs + (pace.rate / phase.base - 1) * (nowMs - pace.idleMs - pace.step.atMs)

const stepped = (pace: Pace, nowMs: number, phase: Try): Pace => ({ ...faster(pace, nowMs, pace.rate * (1 + phase.step)), phase })

function refused(pace: Pace, nowMs: number, retryAfterMs: number | undefined, sentAtMs: number): Pace {
  const { phase } = pace
  if (phase.kind === 'blocked') {
    const probes = sentAtMs >= pace.eraMs ? phase.probes + 1 : phase.probes
    const blocked = { ...phase, probes, refusals: phase.refusals + 1 }
    const nextAtMs = nowMs + probeWait(probes, nowMs - pace.eraMs, retryAfterMs)
    return { ...pace, phase: blocked, nextAtMs: probes > phase.probes ? nextAtMs : Math.max(pace.nextAtMs, nextAtMs) }
  }
  if (sentAtMs < pace.eraMs) return pace
  const blocked: Blocked = { kind: 'blocked', probes: 0, refusals: 1, ...verdict(pace, phase, nowMs) }
  return { ...pace, phase: blocked, eraMs: nowMs, nextAtMs: nowMs + probeWait(0, 0, retryAfterMs) }
}

function verdict(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Verdict {
  const { rate, failedTries, failedBacks, tryMs, stepBefore, cycle, base } = pace
  const plain = { evidence: stepBefore, strikes: 0, recover: false, failedTries, failedBacks, tryMs, top: rate }
  if (phase.kind === 'climb') return { ...plain, atLeast: 0, atMost: rate }
  if (phase.kind === 'try') {
    if (phase.back) return { ...plain, atLeast: phase.base, atMost: phase.base, recover: true, failedBacks: failedBacks + 1 }
    return { ...plain, atLeast: phase.base, atMost: phase.step > 3 * FIRST_STEP ? rate : phase.base, failedTries: failedTries + 1 }
  }
  const cycleMs = nowMs - pace.idleMs - cycle.atMs
  const short = cycleMs < SHORT_CYCLE_MS
  const promoted = short && rate > base * (1 + FIRST_STEP) && base > 0
  const strikes = short ? pace.strikes + 1 : 0
  const floor = promoted ? base : strikes === 1 ? base * KEEP : 0
  return {
    evidence: cycle,
    atLeast: Math.min(rate, Math.max(floor, rate * DEEPEST_CUT)),
    atMost: rate,
    strikes: promoted ? 0 : strikes,
    failedTries,
    failedBacks,
    recover: cycleMs < HORIZON_MS,
    top: short ? Math.max(rate, pace.top) : rate,
    tryMs: promoted ? Math.min(TRY_MAX, 2 * tryMs) : tryMs,
  }
}

function probeWait(probes: number, blockedMs: number, retryAfterMs: number | undefined): number {
  const grown = waitMs(probes, blockedMs)
  if (retryAfterMs === undefined || !(retryAfterMs > 0)) return grown
  return Math.min(LONGEST_WAIT_MS, Math.max(retryAfterMs, probes < 2 ? 0 : grown))
}

function resumed(pace: Pace, blocked: Blocked, nowMs: number): Pace {
  const { evidence, atLeast, atMost, strikes, failedTries, failedBacks, top, tryMs } = blocked
  const rate = within(pace.settings, clamp(KEEP * goodputSince(evidence, pace, nowMs), atLeast, atMost))
  const mark = markAt(pace, nowMs)
  const trail = trailed(pace.trail, mark)
  const usual = within(pace.settings, KEEP * goodputSince(trail[0] ?? mark, pace, nowMs))
  const halfway = Math.min(top * KEEP, Math.max(usual, Math.sqrt(top * rate)))
  const back = blocked.recover && halfway > rate * BACK_OVER ? halfway : undefined
  const quiet =
    back === undefined
      ? quietMs(blocked.refusals, rate, failedTries)
      : clamp((100_000 * blocked.refusals) / back, 15_000, 120_000) * 2 ** Math.min(failedBacks, 4)
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
    failedBacks,
    tryMs,
    top: strikes > 0 ? top : 0,
  }
}

function trailed(trail: readonly Mark[], mark: Mark): readonly Mark[] {
  const all = [...trail, mark]
  const old = all.findLastIndex((one) => mark.atMs - one.atMs >= HORIZON_MS)
  return all.slice(Math.max(0, old, all.length - 32))
}
