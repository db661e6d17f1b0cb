// Decides when the next request may go to a service whose rate limit nobody knows: it learns the limit by being refused, as rarely as
// it can. Pure: the caller passes monotonic time in and keeps the Pace that comes out. It must never let the rate leave 0.1/s to `max`,
// never save up unused time for a burst, never cut twice for requests that were refused together, and never take a lack of work for a
// limit, or an untried rate for a good one.
//
//   nothing learned             learned before
//         |                           |
//         v                           v        quiet time is over           held: the step doubles
//      [climb]                     [hold] ----------------------> [try] ---------+
//   doubling each                  |   ^  <---------------------  |  ^           |
//   clean second                   |   |    held: a usual rate    |  +-----------+
//         |                        |   |    was gone back to      |
//         | refused        refused |   |                          | refused
//         |                        v   | a probe is answered      |
//         +-------------------> [blocked] <-----------------------+
//                            single probes only
//
// What a refusal says about the next rate is told by `verdictOn`: 0.97 x the goodput since some moment, within bounds.
//   in climb  since the step before: the slow start is no evidence of the limit
//   in try    the first steps: back to the rate tried from; later ones have held, so since the step before, until proven false
//   in hold   since the cycle began, the block included; in a short cycle (chance, or the echo of a burst in a sliding window) not
//             below what is proven, and what still falls goes back up in one step soon: to the usual rate, or halfway
// All intervals run on the busy clock, which stands still while there is nothing to send.
//
// Reached in simulation (goals.md G5; test/bench/pacing.ts prints it): with Retry-After every case is used to 86 % or more, the median
// to 97 %, with 0.4 % refused at most; without it to 85 % (95 %), with 0.8 % refused (1.5 % in windows of 300 s), but for fivefold
// changes every 40 minutes under a sliding window of 300 s: 80 to 85 %, because the window has to pass before a rate shows itself.

/** What the configuration allows, in requests per second (product.md section 4); `max` is at least 0.1. */
export interface RateSettings {
  readonly start: number
  readonly max: number
}

/** What is worth keeping for the next start; plain JSON. */
export interface LearnedRate {
  /** Requests per second. */
  readonly rate: number
  /** True once the service refused a request for being too fast and answered again. */
  readonly limited: boolean
  /** How long a first step has to hold before it is believed. */
  readonly tryMs?: number
}

/** `ok` is every answer that is not a refusal for being too fast, errors included. */
export type Answer = { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly retryAfterMs?: number }

/** The whole state. Opaque to callers: read it with the functions below. */
export interface Pace {
  readonly settings: RateSettings
  readonly rate: number
  readonly phase: Phase
  readonly nextAtMs: number
  /** When the last block began or ended. Refusals of requests sent before it belong to a block that is already known. */
  readonly eraMs: number
  readonly successes: number
  /** How much of the time there was nothing to send. */
  readonly idleMs: number
  /** The end of the last block. */
  readonly cycle: Mark
  readonly step: Mark
  readonly stepBefore: Mark
  /** Ends of blocks and steps of the last 5 minutes and the one before, the newest last. */
  readonly trail: readonly Mark[]
  readonly lesson: Lesson
}

/** A moment to measure goodput from; `atMs` is on the busy clock. */
interface Mark {
  readonly atMs: number
  readonly successes: number
  readonly idleMs: number
}

/** What past refusals taught. */
interface Lesson {
  /** The last rate that held for a whole quiet time; 0 while there is none. */
  readonly proven: number
  /** Returns to the usual rate in a row that ended in a refusal. */
  readonly failedReturns: number
  /** Short cycles in a row, and the highest rate among them. */
  readonly shortCycles: number
  readonly top: number
  /** How long a first step must hold: longer for a service whose refusals come late. */
  readonly tryMs: number
}

type Phase = Climb | Hold | Try | Blocked

interface Climb {
  readonly kind: 'climb'
  /** Set once the climb was refused: it goes on between a rate that held and one that did not. */
  readonly bounds: Bounds | undefined
}

/** What a climb knows of a limit that lets go at once after a refusal, such as a small token bucket. */
interface Bounds {
  /** The highest rate that was not refused while it was tried. */
  readonly held: number
  /** The lowest rate that was refused. */
  readonly refused: number
  /** How often it was refused. */
  readonly refusals: number
  /** Where goodput is measured from. */
  readonly since: Mark
}

interface Hold {
  readonly kind: 'hold'
  readonly untilMs: number
  /** The rate to go back to then, when this one was set low by a cycle that says little about the long run. */
  readonly back: number | undefined
  /** Kept from the climb until the rate is proven. */
  readonly bounds?: Bounds
}

interface Try {
  readonly kind: 'try'
  /** The last step up, relative. */
  readonly step: number
  /** The rate it began from. */
  readonly from: number
  /** True for the one step back to the usual rate. */
  readonly back: boolean
}

interface Blocked {
  readonly kind: 'blocked'
  readonly probes: number
  readonly refusals: number
  readonly verdict: Verdict
}

/** The next rate: KEEP x the goodput since `evidence`, within bounds. */
interface Verdict {
  readonly evidence: Mark
  readonly atLeast: number
  readonly atMost: number
  readonly mayReturn: boolean
  readonly lesson: Lesson
  /** Where the climb goes on if the first probe is answered. */
  readonly bounds?: Bounds
}

export const FLOOR_RATE = 0.1
const CLEAN_MS = 1_000
/** How long a rate between the one that held and the one that did not is tried in a climb. */
const TRIAL_MS = 1_000
/** A climb ends when the next step would be less than this. */
const CLOSE = 1.1
/** Refusals that a climb may cost. */
const MOST_REFUSALS = 5
const QUICK_MS = 2_500
const EVEN = 0.9
const DROP = 1.2
const SMALL = 1.05
const KEEP = 0.97
const DEEPEST_CUT = 0.1
const FIRST_STEP = 0.03
const LARGEST_STEP = 1
const SHORTEST_TRY_MS = 20_000
const LONGEST_TRY_MS = 120_000
/** A try is long enough to show a difference of a few requests, within a minute. */
const TRY_REQUESTS = 40
const IDLE_SHARE = 0.1
const SHORT_CYCLE_MS = 60_000
const HORIZON_MS = 300_000
const TRAIL_LENGTH = 32
/** Fewer successes say nothing about a limit: others may have used it up before we began. */
const FEW_SUCCESSES = 5
const QUIET_MIN_MS = 60_000
const QUIET_MAX_MS = 360_000
/** Requests without a refusal that each refusal has to be followed by. */
const REQUESTS_PER_REFUSAL = 300
const RETURN_MIN_MS = 15_000
const RETURN_MAX_MS = 180_000
const REQUESTS_PER_RETURN = 100
const RETURN_OVER = 1.1
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 3_600_000
/** An unanswered probe is given up after this long. */
const PROBE_PATIENCE_MS = 30_000
const SLACK_MS = 20

/** A pace that has sent nothing yet. `learned` may be anything: what `learnedRate` gave is taken up, everything else is ignored. */
export function startPace(settings: RateSettings, nowMs: number, learned?: unknown): Pace {
  const known = readLearned(learned)
  const limited = known?.limited === true
  const rate = within(settings, known?.rate ?? settings.start)
  const mark: Mark = { atMs: nowMs, successes: 0, idleMs: 0 }
  return {
    settings,
    rate,
    phase: limited ? { kind: 'hold', untilMs: nowMs + quietMs(1, rate), back: undefined } : { kind: 'climb', bounds: undefined },
    nextAtMs: nowMs,
    eraMs: nowMs,
    successes: 0,
    idleMs: 0,
    cycle: mark,
    step: mark,
    stepBefore: mark,
    trail: [mark],
    lesson: {
      proven: limited ? rate : 0,
      failedReturns: 0,
      shortCycles: 0,
      top: 0,
      tryMs: known?.tryMs ?? SHORTEST_TRY_MS,
    },
  }
}

/** When the next request may go out: monotonic ms, not before `nowMs`. Ask again after every answer: a probe's answer brings it forward. */
export const earliestSendAt = (pace: Pace, nowMs: number): number => Math.max(nowMs, pace.nextAtMs)

/** The pace after a request went out at `nowMs`. */
export function sent(pace: Pace, nowMs: number): Pace {
  const slackMs = slack(pace.settings)
  const idleMs = pace.idleMs + Math.max(0, nowMs - slackMs - pace.nextAtMs)
  if (pace.phase.kind === 'blocked') return { ...pace, idleMs, nextAtMs: nowMs + PROBE_PATIENCE_MS }
  const gapMs = 1000 / pace.rate
  const isFree = pace.phase.kind === 'climb' && !pace.phase.bounds
  return { ...pace, idleMs, nextAtMs: Math.max(Math.max(pace.nextAtMs, nowMs - slackMs) + gapMs, isFree ? 0 : nowMs + EVEN * gapMs) }
}

/** The pace after the answer, at `nowMs`, to a request that went out at `sentAtMs`. No answer at all: do not call. */
export function answered(pace: Pace, nowMs: number, answer: Answer, sentAtMs: number): Pace {
  if (answer.kind === 'refused') return refused(pace, nowMs, answer.retryAfterMs, sentAtMs)
  const counted = { ...pace, successes: pace.successes + 1 }
  if (pace.phase.kind !== 'blocked') return advanced(counted, pace.phase, nowMs)
  return sentAtMs >= pace.eraMs ? resumed(counted, pace.phase, nowMs) : counted
}

/** Requests per second; while blocked, those before the block. */
export const currentRate = (pace: Pace): number => pace.rate

/** What to keep for the next start: the rate that is proven, or a lower one when the limit fell. */
export function learnedRate(pace: Pace): LearnedRate {
  const { phase, rate, settings, lesson } = pace
  if (phase.kind === 'climb') {
    return phase.bounds ? { rate: phase.bounds.held, limited: true, tryMs: lesson.tryMs } : { rate, limited: false }
  }
  if (phase.kind === 'blocked' && phase.verdict.bounds) return { rate: Math.min(rate, phase.verdict.bounds.held), limited: true, tryMs: lesson.tryMs }
  if (phase.kind === 'blocked' && lesson.proven === 0) return { rate: within(settings, settings.start), limited: false }
  const usual = phase.kind === 'hold' ? (phase.back ?? rate) : rate
  return { rate: lesson.proven > 0 ? Math.min(usual, lesson.proven) : usual, limited: true, tryMs: lesson.tryMs }
}

function readLearned(learned: unknown): LearnedRate | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  const { rate, limited } = learned
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0 || typeof limited !== 'boolean') return undefined
  const tryMs = 'tryMs' in learned && typeof learned.tryMs === 'number' && learned.tryMs > 0 ? learned.tryMs : SHORTEST_TRY_MS
  return { rate, limited, tryMs: clamp(tryMs, SHORTEST_TRY_MS, LONGEST_TRY_MS) }
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value))

const within = (settings: RateSettings, rate: number): number => Math.max(FLOOR_RATE, Math.min(settings.max, rate))

/** How late a request may be without losing its place, so that slow timers cost no rate; never more than floor(max) + 1 in a second. */
const slack = ({ max }: RateSettings): number => Math.min(SLACK_MS, (1000 * (Math.floor(max) + 1 - max)) / max)

const busyMs = (pace: Pace, nowMs: number): number => nowMs - pace.idleMs

const markAt = (pace: Pace, nowMs: number): Mark => ({ atMs: busyMs(pace, nowMs), successes: pace.successes, idleMs: pace.idleMs })

/** Successes per second since the mark. */
function goodputSince(mark: Mark, pace: Pace, nowMs: number): number {
  const ms = busyMs(pace, nowMs) - mark.atMs
  return ms > 0 ? (1000 * (pace.successes - mark.successes)) / ms : 0
}

/** The marks with one more: those within the horizon, and the youngest beyond it. */
function trailed(trail: readonly Mark[], mark: Mark): readonly Mark[] {
  const all = [...trail, mark]
  const old = all.findLastIndex((one) => mark.atMs - one.atMs >= HORIZON_MS)
  return all.slice(Math.max(0, old, all.length - TRAIL_LENGTH))
}

// ---- Without refusals: hold, then try faster ----

function advanced(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Pace {
  if (phase.kind === 'hold') return busyMs(pace, nowMs) < phase.untilMs ? pace : heldOut(pace, phase, nowMs)
  const heldMs = busyMs(pace, nowMs) - pace.step.atMs
  if (heldMs < (phase.kind === 'climb' ? (phase.bounds ? TRIAL_MS : CLEAN_MS) : neededMs(pace, phase))) return pace
  // A rate that the work did not use up has not been tried.
  if (pace.idleMs - pace.step.idleMs > IDLE_SHARE * heldMs) return { ...pace, step: markAt(pace, nowMs) }
  if (phase.kind === 'climb' && phase.bounds) return climbedBetween(pace, phase.bounds, nowMs)
  if (phase.kind === 'climb') return pace.rate < pace.settings.max ? stepped(pace, phase, 2 * pace.rate, nowMs) : pace
  if (phase.back || pace.rate >= pace.settings.max) return settled(pace, nowMs)
  const step = Math.min(LARGEST_STEP, 2 * phase.step)
  return stepped(pace, { ...phase, step }, pace.rate * (1 + step), nowMs)
}

/** The rate held: halfway to the refused one, until they are close. */
function climbedBetween(pace: Pace, bounds: Bounds, nowMs: number): Pace {
  const next = within(pace.settings, Math.min(2 * pace.rate, Math.sqrt(pace.rate * bounds.refused)))
  if (next < pace.rate * CLOSE) return settled(pace, nowMs, { ...bounds, held: pace.rate })
  return stepped(pace, { kind: 'climb', bounds: { ...bounds, held: pace.rate } }, next, nowMs)
}

/** A faster rate has to hold for as many requests more than before as the first step has in its time. */
function neededMs(pace: Pace, phase: Try): number {
  const leastMs = clamp((1000 * TRY_REQUESTS) / pace.rate, SHORTEST_TRY_MS, QUIET_MIN_MS)
  if (phase.back) return leastMs
  return Math.max(leastMs, (pace.lesson.tryMs * FIRST_STEP) / (pace.rate / phase.from - 1))
}

function stepped(pace: Pace, phase: Phase, rate: number, nowMs: number): Pace {
  const step = markAt(pace, nowMs)
  return { ...pace, phase, rate: within(pace.settings, rate), stepBefore: pace.step, step, trail: trailed(pace.trail, step) }
}

/** A try that ended well. */
function settled(pace: Pace, nowMs: number, bounds?: Bounds): Pace {
  const phase: Hold = { kind: 'hold', untilMs: busyMs(pace, nowMs) + QUIET_MIN_MS, back: undefined, ...(bounds && { bounds }) }
  return { ...pace, phase, lesson: { ...pace.lesson, failedReturns: 0 } }
}

/** The quiet time went by without a refusal. */
function heldOut(pace: Pace, hold: Hold, nowMs: number): Pace {
  const { rate, lesson } = pace
  if (hold.back !== undefined) {
    const phase: Try = { kind: 'try', step: hold.back / rate - 1, from: rate, back: true }
    return stepped({ ...pace, lesson: { ...lesson, shortCycles: 0 } }, phase, hold.back, nowMs)
  }
  const proven = { ...lesson, proven: rate, shortCycles: 0, ...learning(lesson, rate) }
  if (rate >= pace.settings.max) return lesson.proven === rate ? pace : { ...pace, lesson: proven }
  return stepped({ ...pace, lesson: proven }, { kind: 'try', step: FIRST_STEP, from: rate, back: false }, rate * (1 + FIRST_STEP), nowMs)
}

/** A gain was real: be quicker next time. */
const learning = (lesson: Lesson, rate: number): Partial<Lesson> =>
  rate > lesson.proven * 1.05 ? { tryMs: Math.max(SHORTEST_TRY_MS, lesson.tryMs / 2) } : {}

// ---- Refused: stop, probe, go on with what the goodput says ----

function refused(pace: Pace, nowMs: number, retryAfterMs: number | undefined, sentAtMs: number): Pace {
  const { phase } = pace
  if (phase.kind !== 'blocked') {
    if (sentAtMs < pace.eraMs) return pace
    const blocked: Blocked = { kind: 'blocked', probes: 0, refusals: 1, verdict: verdictOn(pace, phase, nowMs) }
    return { ...pace, phase: blocked, eraMs: nowMs, nextAtMs: nowMs + waitMs(0, 0, retryAfterMs) }
  }
  const isProbe = sentAtMs >= pace.eraMs
  const probes = phase.probes + (isProbe ? 1 : 0)
  const nextAtMs = nowMs + waitMs(probes, nowMs - pace.eraMs, retryAfterMs)
  return {
    ...pace,
    phase: { ...phase, probes, refusals: phase.refusals + 1 },
    nextAtMs: isProbe ? nextAtMs : Math.max(pace.nextAtMs, nextAtMs),
  }
}

/**
 * How long to wait before the next probe: as the service says, twice; else a second, growing by half each time up to 30 s, later to an
 * eighth of the block's age. That finds a token bucket's next token at once, and misses little of a window after a long block.
 */
function waitMs(probes: number, blockedMs: number, retryAfterMs: number | undefined): number {
  const grown = Math.min(FIRST_WAIT_MS * 1.5 ** probes, Math.max(30_000, blockedMs / 8))
  const told = retryAfterMs !== undefined && retryAfterMs > 0
  return clamp(told ? Math.max(retryAfterMs, probes < 2 ? 0 : grown) : grown, FIRST_WAIT_MS, LONGEST_WAIT_MS)
}

function verdictOn(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Verdict {
  if (phase.kind === 'hold') {
    const verdict = verdictOnHold(pace, nowMs)
    return phase.bounds && phase.bounds.refusals < MOST_REFUSALS ? { ...verdict, bounds: boundsOn(pace, phase.bounds) } : verdict
  }
  const { rate, stepBefore, lesson } = pace
  const plain = { evidence: stepBefore, atMost: rate, mayReturn: false }
  if (phase.kind === 'climb') {
    const few = pace.successes - (phase.bounds?.since ?? stepBefore).successes < FEW_SUCCESSES
    const bounds = phase.bounds || !few ? boundsOn(pace, phase.bounds) : { held: rate, refused: Number.POSITIVE_INFINITY, refusals: 1, since: stepBefore }
    return {
      ...plain,
      evidence: phase.bounds?.since ?? stepBefore,
      atLeast: few ? rate : 0,
      lesson: { ...lesson, shortCycles: 0, top: rate },
      bounds,
    }
  }
  const twoHeld = !phase.back && phase.step > 3 * FIRST_STEP
  return {
    ...plain,
    atLeast: phase.from,
    atMost: twoHeld ? rate : phase.from,
    mayReturn: phase.back,
    lesson: { ...lesson, failedReturns: lesson.failedReturns + (phase.back ? 1 : 0), shortCycles: 0, top: rate },
  }
}

function verdictOnHold(pace: Pace, nowMs: number): Verdict {
  const { rate, cycle, lesson } = pace
  const cycleMs = busyMs(pace, nowMs) - cycle.atMs
  const short = cycleMs < SHORT_CYCLE_MS
  // A gain that is refused at once was none, and the steps that led to it were too short.
  const falseGain = short && lesson.proven > 0 && rate > lesson.proven * (1 + FIRST_STEP)
  const shortCycles = short && !falseGain ? lesson.shortCycles + 1 : 0
  const floor = falseGain ? lesson.proven : shortCycles === 1 ? lesson.proven * KEEP : 0
  return {
    evidence: cycle,
    atLeast: Math.min(rate, Math.max(floor, rate * DEEPEST_CUT)),
    atMost: rate,
    mayReturn: cycleMs < HORIZON_MS,
    lesson: {
      ...lesson,
      shortCycles,
      top: short ? Math.max(rate, lesson.top) : rate,
      tryMs: falseGain ? Math.min(LONGEST_TRY_MS, 2 * lesson.tryMs) : lesson.tryMs,
    },
  }
}

/** What is known after a refusal of the present rate in a climb. */
function boundsOn({ rate, stepBefore, step, successes }: Pace, before: Bounds | undefined): Bounds {
  if (!before) return { held: step === stepBefore ? rate / DROP : rate / 2, refused: rate, refusals: 1, since: stepBefore }
  const refusals = before.refusals + 1
  if (rate > before.held) return { ...before, refused: rate, refusals }
  const lasted = successes - step.successes >= TRY_REQUESTS
  return { ...before, held: rate / (lasted ? SMALL : DROP), refused: rate, refusals }
}

/** A limit that lets go at once says nothing by the length of the block: the climb goes on from the rate that held. */
function climbsOn(pace: Pace, bounds: Bounds, nowMs: number): Pace {
  const measured = KEEP * goodputSince(bounds.since, pace, nowMs)
  const rate = within(pace.settings, Math.min(bounds.refused, Math.max(bounds.held, measured)))
  const mark = markAt(pace, nowMs)
  const again = { ...pace, rate, nextAtMs: nowMs + 1000 / rate, eraMs: nowMs, cycle: mark, step: mark, stepBefore: mark, trail: trailed(pace.trail, mark) }
  if (bounds.refusals > MOST_REFUSALS) return settled(again, nowMs)
  return { ...again, phase: { kind: 'climb', bounds: { ...bounds, held: rate } } }
}

/** A probe was answered: the block is over. */
function resumed(pace: Pace, blocked: Blocked, nowMs: number): Pace {
  const { verdict, refusals, probes } = blocked
  if (verdict.bounds && probes === 0 && nowMs - pace.eraMs < QUICK_MS) return climbsOn(pace, verdict.bounds, nowMs)
  const { evidence, atLeast, atMost, lesson } = verdict
  const rate = within(pace.settings, clamp(KEEP * goodputSince(evidence, pace, nowMs), atLeast, atMost))
  const mark = markAt(pace, nowMs)
  const trail = trailed(pace.trail, mark)
  const usual = KEEP * goodputSince(trail[0] ?? mark, pace, nowMs)
  const halfway = Math.min(lesson.top * KEEP, Math.max(usual, Math.sqrt(lesson.top * rate)))
  const back = verdict.mayReturn && halfway > rate * RETURN_OVER ? within(pace.settings, halfway) : undefined
  const waitingMs = back === undefined ? quietMs(refusals, rate) : returnMs(refusals, back, lesson.failedReturns)
  return {
    ...pace,
    rate,
    phase: { kind: 'hold', untilMs: mark.atMs + waitingMs, back },
    nextAtMs: nowMs + 1000 / rate,
    eraMs: nowMs,
    // One short cycle alone is too little to measure: the next one is measured together with it.
    cycle: lesson.shortCycles === 1 ? pace.cycle : mark,
    step: mark,
    stepBefore: mark,
    trail,
    lesson: { ...lesson, top: lesson.shortCycles > 0 ? lesson.top : 0 },
  }
}

/** How long to leave a rate alone: the longer, the more refusals the last block cost. */
const quietMs = (refusals: number, rate: number): number =>
  clamp((1000 * REQUESTS_PER_REFUSAL * refusals) / rate, QUIET_MIN_MS, QUIET_MAX_MS)

/** How long to wait before going back to a usual rate: short, because every second at too low a rate is lost; doubling when it fails. */
const returnMs = (refusals: number, rate: number, failedReturns: number): number =>
  Math.min(RETURN_MAX_MS, Math.max(RETURN_MIN_MS, (1000 * REQUESTS_PER_RETURN * refusals) / rate) * 2 ** failedReturns)
