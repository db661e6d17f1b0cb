// Decides when the next request may go to a service whose rate limit is not known. It learns the limit from refusals, and causes as few of
// them as it can. It must never leave the range from 0.1/s to `max`, never save up unused time for a burst, and never take a lack of work for
// a limit or an untried rate for a good one.

import {
  type Answer,
  type Blocked,
  type Bounds,
  busyMs,
  type Climb,
  clamp,
  goodputSince,
  HORIZON_MS,
  type Hold,
  type LearnedRate,
  type Lesson,
  type Mark,
  markAt,
  type Pace,
  type Phase,
  type RateSettings,
  type Try,
  trailed,
  type Verdict,
  within,
} from './pace.ts'

/** The share of the goodput that a rate is set to. */
const KEEP = 0.97
const FIRST_STEP = 0.03
/** A try lasts long enough to show a difference of a few requests, within a minute. */
const TRY_REQUESTS = 40
const SHORTEST_TRY_MS = 20_000
const LONGEST_TRY_MS = 120_000
/** How long a rate stays unchanged after a refusal. */
const QUIET_MIN_MS = 60_000
const QUIET_MAX_MS = 360_000
/** Each refusal must be followed by so many requests without one. */
const REQUESTS_PER_REFUSAL = 300
/** A probe without an answer is given up after this time. */
const PROBE_PATIENCE_MS = 30_000
/** How late a request may be without losing its turn, so that slow timers cost no rate. */
const SLACK_MS = 20
/** Where the limit has no room for two requests close together, a late request makes up for at most a tenth of each gap. */
const LEAST_GAP = 0.9

/** A pace that has sent nothing yet. `learned` may be anything; only a value of `learnedRate` is used. */
export function startPace(settings: RateSettings, nowMs: number, learned?: unknown): Pace {
  const known = readLearned(learned)
  const limited = known?.limited === true
  const rate = within(settings, known?.rate ?? settings.start)
  const mark: Mark = { atMs: nowMs, successes: 0, idleMs: 0 }
  return {
    settings: { start: settings.start, max: settings.max },
    rate,
    phase: limited ? { kind: 'hold', untilMs: nowMs + quietMs(1, rate), back: undefined } : { kind: 'climb', bounds: undefined },
    nextAtMs: nowMs,
    sentAtMs: undefined,
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
      even: false,
    },
  }
}

/** When the next request may go out: monotonic ms, not before `nowMs`. Ask again after every answer, because a probe's answer makes it earlier. */
export const earliestSendAt = (pace: Pace, nowMs: number): number => Math.max(nowMs, pace.nextAtMs)

/** The pace after a request went out at `nowMs`. */
export function sent(pace: Pace, nowMs: number): Pace {
  const slackMs = slack(pace.settings)
  const idleMs = pace.idleMs + Math.max(0, nowMs - slackMs - pace.nextAtMs)
  if (pace.phase.kind === 'blocked') return { ...pace, idleMs, sentAtMs: nowMs, nextAtMs: nowMs + PROBE_PATIENCE_MS }
  const gapMs = 1000 / pace.rate
  const inTurnMs = Math.max(pace.nextAtMs, nowMs - slackMs) + gapMs
  const nextAtMs = pace.lesson.even ? Math.max(inTurnMs, nowMs + LEAST_GAP * gapMs) : inTurnMs
  return { ...pace, idleMs, sentAtMs: nowMs, nextAtMs }
}

/** The pace after the answer, at `nowMs`, to a request sent at `sentAtMs`. Do not call it without an answer. */
export function answered(pace: Pace, nowMs: number, answer: Answer, sentAtMs: number): Pace {
  if (answer.kind === 'refused') return refused(pace, nowMs, answer.retryAfterMs, sentAtMs)
  const counted = { ...pace, successes: pace.successes + 1 }
  if (pace.phase.kind !== 'blocked') return advanced(counted, pace.phase, nowMs)
  return sentAtMs >= pace.eraMs ? resumed(counted, pace.phase, nowMs) : counted
}

/** Requests per second; while blocked, the rate before the block. */
export const currentRate = (pace: Pace): number => pace.rate

/** What to keep for the next start: the proven rate, or a lower one when the limit fell. */
export function learnedRate(pace: Pace): LearnedRate {
  const { phase, rate, settings, lesson } = pace
  const bounds = phase.kind === 'climb' ? phase.bounds : phase.kind === 'blocked' ? phase.verdict.bounds : undefined
  // The very first block may still turn out to be long, and then its bounds say nothing.
  if (bounds && (phase.kind === 'climb' || bounds.refusals > 1))
    return { rate: within(settings, bounds.held), limited: true, tryMs: lesson.tryMs }
  if (phase.kind === 'climb') return { rate, limited: false }
  if (phase.kind === 'blocked' && lesson.proven === 0) return { rate: within(settings, settings.start), limited: false }
  const usual = phase.kind === 'hold' ? within(settings, phase.back ?? rate) : rate
  return { rate: lesson.proven > 0 ? Math.min(usual, lesson.proven) : usual, limited: true, tryMs: lesson.tryMs }
}

/** The same pace with other settings, as after a reload of the configuration; nothing learned is lost. */
export function withSettings(pace: Pace, settings: RateSettings): Pace {
  if (settings.start === pace.settings.start && settings.max === pace.settings.max) return pace
  const rate = within(settings, pace.rate)
  const changed = { ...pace, settings: { start: settings.start, max: settings.max }, rate }
  return { ...changed, nextAtMs: Math.max(pace.nextAtMs, afterLast(pace, rate)) }
}

/** The pace of a key that replaces another: it keeps what was learned and the gap to the last request, but not a block. */
export function succeeding(before: Pace, nowMs: number): Pace {
  const pace = startPace(before.settings, nowMs, learnedRate(before))
  return { ...pace, nextAtMs: Math.max(nowMs, afterLast(before, pace.rate)) }
}

/** When the next request may follow the last one at this rate. */
const afterLast = ({ sentAtMs }: Pace, rate: number): number => (sentAtMs === undefined ? 0 : sentAtMs + 1000 / rate)

/** What was learned, of a value that may be anything. */
export function readLearned(learned: unknown): LearnedRate | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  const { rate, limited } = learned
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0 || typeof limited !== 'boolean') return undefined
  const tryMs = 'tryMs' in learned && typeof learned.tryMs === 'number' && learned.tryMs > 0 ? learned.tryMs : SHORTEST_TRY_MS
  return { rate, limited, tryMs: clamp(tryMs, SHORTEST_TRY_MS, LONGEST_TRY_MS) }
}

/** Less than `SLACK_MS` where that would allow more than floor(max) + 1 requests in a second. */
const slack = ({ max }: RateSettings): number => Math.min(SLACK_MS, (1000 * (Math.floor(max) + 1 - max)) / max)

// How a pace goes on while answers are not refusals: a climb doubles, or closes in on the limit; a held rate is proven, and then a faster one
// is tried. It must never trust a rate that the work did not use up.

/** How long each rate of a climb must hold. */
const CLEAN_MS = 1_000
/** A climb ends when its next step would be smaller; tries find the rest. */
const LEAST_CLIMB = 1.1
const LARGEST_STEP = 1
/** A rate counts as not used up when there was nothing to send for more than this share of the time. */
const IDLE_SHARE = 0.1

/** The pace after an answer that was no refusal, while not blocked. */
function advanced(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Pace {
  if (phase.kind === 'hold') return busyMs(pace, nowMs) < phase.untilMs ? pace : heldOut(pace, phase, nowMs)
  const heldMs = busyMs(pace, nowMs) - pace.step.atMs
  if (heldMs < (phase.kind === 'climb' ? CLEAN_MS : neededMs(pace, phase))) return pace
  if (pace.idleMs - pace.step.idleMs > IDLE_SHARE * heldMs) return { ...pace, step: markAt(pace, nowMs) }
  if (phase.kind === 'climb') return climbed(pace, phase.bounds, nowMs)
  if (phase.back || pace.rate >= pace.settings.max) return settled(pace, nowMs)
  const step = Math.min(LARGEST_STEP, 2 * phase.step)
  return stepped(pace, { ...phase, step }, pace.rate * (1 + step), nowMs)
}

/** The rate held, so double it. Below a rate that was refused, go only halfway (geometrically), until that is close. */
function climbed(pace: Pace, bounds: Bounds | undefined, nowMs: number): Pace {
  const { rate, settings } = pace
  if (!bounds) return rate < settings.max ? stepped(pace, { kind: 'climb', bounds }, 2 * rate, nowMs) : pace
  const held = { ...bounds, held: rate }
  const next = within(settings, Math.min(2 * rate, Math.sqrt(rate * bounds.refused)))
  return next < rate * LEAST_CLIMB ? settled(pace, nowMs, held) : stepped(pace, { kind: 'climb', bounds: held }, next, nowMs)
}

/** How long a rate must hold: a faster one for as many extra requests as the first step, which `max` may cut, does in its time. */
function neededMs(pace: Pace, phase: Try): number {
  const leastMs = clamp((1000 * TRY_REQUESTS) / pace.rate, SHORTEST_TRY_MS, QUIET_MIN_MS)
  if (phase.back) return leastMs
  return Math.max(leastMs, (pace.lesson.tryMs * FIRST_STEP) / Math.max(FIRST_STEP, pace.rate / phase.from - 1))
}

/** The quiet time passed without a refusal. */
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

/** After a real gain, the next try may be shorter. */
const learning = (lesson: Lesson, rate: number): Partial<Lesson> =>
  rate > lesson.proven * 1.05 ? { tryMs: Math.max(SHORTEST_TRY_MS, lesson.tryMs / 2) } : {}

/** One step to another rate. */
function stepped(pace: Pace, phase: Phase, rate: number, nowMs: number): Pace {
  const step = markAt(pace, nowMs)
  return { ...pace, phase, rate: within(pace.settings, rate), stepBefore: pace.step, step, trail: trailed(pace.trail, step) }
}

/** A try succeeded. */
function settled(pace: Pace, nowMs: number, bounds?: Bounds): Pace {
  const phase: Hold = { kind: 'hold', untilMs: busyMs(pace, nowMs) + QUIET_MIN_MS, back: undefined, bounds }
  return { ...pace, phase, lesson: { ...pace.lesson, failedReturns: 0 } }
}

// How a pace reacts to refusals: a block, in which single probes look for its end, and then a rate from the measured goodput. It must never
// lower the rate twice for requests that were refused together.

const DEEPEST_CUT = 0.1
const SHORT_CYCLE_MS = 60_000
/** Fewer successes say nothing about a limit: other clients may have used it up before. */
const FEW_SUCCESSES = 5
/** A climb with fewer answers at a rate before its refusal has met a limit without room for two requests close together. */
const SMALL_BURST = 10
/** A climb ends after so many refusals; then the goodput decides. */
const CLIMB_REFUSALS = 5
/** A shorter block was only our own wait before the first probe. */
const SHORT_BLOCK_MS = 2_500
/** Divides a rate that seemed to hold and was then refused: soon, or after it held for `TRY_REQUESTS`. */
const FALSE_RATE = 1.2
const UNLUCKY_RATE = 1.05
const RETURN_MIN_MS = 15_000
const RETURN_MAX_MS = 180_000
const REQUESTS_PER_RETURN = 100
const RETURN_OVER = 1.1
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 3_600_000

/** The pace after a request was refused for being too fast. */
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
 * How long to wait before the next probe: twice as the service says; else a second, growing by half each time up to 30 s, later to an eighth of
 * the block's age. That finds a token bucket's next token at once, and loses little of a window after a long block.
 */
function waitMs(probes: number, blockedMs: number, retryAfterMs: number | undefined): number {
  const grown = Math.min(FIRST_WAIT_MS * 1.5 ** probes, Math.max(30_000, blockedMs / 8))
  const told = retryAfterMs !== undefined && retryAfterMs > 0
  return clamp(told ? Math.max(retryAfterMs, probes < 2 ? 0 : grown) : grown, FIRST_WAIT_MS, LONGEST_WAIT_MS)
}

function verdictOn(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Verdict {
  if (phase.kind === 'hold') {
    const verdict = verdictOnHold(pace, nowMs)
    return { ...verdict, bounds: phase.bounds && narrowed(pace, phase.bounds) }
  }
  if (phase.kind === 'climb') return verdictOnClimb(pace, phase)
  const { rate, stepBefore, lesson } = pace
  const twoHeld = !phase.back && phase.step > 3 * FIRST_STEP
  return {
    evidence: stepBefore,
    atLeast: phase.from,
    atMost: twoHeld ? rate : phase.from,
    mayReturn: phase.back,
    lesson: { ...lesson, failedReturns: lesson.failedReturns + (phase.back ? 1 : 0), shortCycles: 0, top: rate },
  }
}

function verdictOnClimb(pace: Pace, { bounds }: Climb): Verdict {
  const { rate, successes, step, stepBefore, lesson } = pace
  const evidence = bounds?.since ?? stepBefore
  const few = successes - evidence.successes < FEW_SUCCESSES
  const first: Bounds = { held: rate / (step === stepBefore ? FALSE_RATE : 2), refused: rate, refusals: 1, since: stepBefore }
  const unknown: Bounds = { ...first, held: rate, refused: Number.POSITIVE_INFINITY }
  return {
    evidence,
    atLeast: few ? rate : 0,
    atMost: rate,
    mayReturn: false,
    lesson: { ...lesson, shortCycles: 0, top: rate, even: lesson.even || (!few && successes - step.successes < SMALL_BURST) },
    bounds: bounds ? narrowed(pace, bounds) : few ? unknown : first,
  }
}

/** What a climb knows after one more refusal; undefined when it has had `CLIMB_REFUSALS` of them. */
function narrowed({ rate, step, successes }: Pace, before: Bounds): Bounds | undefined {
  if (before.refusals >= CLIMB_REFUSALS) return undefined
  const next = { ...before, refused: rate, refusals: before.refusals + 1 }
  if (rate > before.held) return next
  return { ...next, held: rate / (successes - step.successes < TRY_REQUESTS ? FALSE_RATE : UNLUCKY_RATE) }
}

function verdictOnHold(pace: Pace, nowMs: number): Verdict {
  const { rate, cycle, lesson } = pace
  const cycleMs = busyMs(pace, nowMs) - cycle.atMs
  const short = cycleMs < SHORT_CYCLE_MS
  // A gain that is refused at once was no gain, and the steps that led to it were too short.
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

/** A probe was answered: the block is over. */
function resumed(pace: Pace, { verdict, refusals, probes }: Blocked, nowMs: number): Pace {
  if (verdict.bounds && probes === 0 && nowMs - pace.eraMs < SHORT_BLOCK_MS) return climbsOn(pace, verdict, verdict.bounds, nowMs)
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
    // One short cycle is too little to measure: it is measured together with the next.
    cycle: lesson.shortCycles === 1 ? pace.cycle : mark,
    step: mark,
    stepBefore: mark,
    trail,
    lesson: { ...lesson, top: lesson.shortCycles > 0 ? lesson.top : 0 },
  }
}

/** The climb goes on from the rate that held, or from the goodput when that is higher. */
function climbsOn(pace: Pace, { lesson }: Verdict, bounds: Bounds, nowMs: number): Pace {
  const measured = Math.min(bounds.refused, KEEP * goodputSince(bounds.since, pace, nowMs))
  const rate = within(pace.settings, Math.max(bounds.held, measured))
  const mark = markAt(pace, nowMs)
  const phase: Climb = { kind: 'climb', bounds: { ...bounds, held: rate } }
  const trail = trailed(pace.trail, mark)
  return { ...pace, rate, phase, nextAtMs: nowMs + 1000 / rate, eraMs: nowMs, cycle: mark, step: mark, stepBefore: mark, trail, lesson }
}

/** How long to keep a rate: the longer, the more refusals the last block had. */
const quietMs = (refusals: number, rate: number): number =>
  clamp((1000 * REQUESTS_PER_REFUSAL * refusals) / rate, QUIET_MIN_MS, QUIET_MAX_MS)

/** How long to wait before going back to a usual rate: short, because a low rate loses time; doubled each time that it fails. */
const returnMs = (refusals: number, rate: number, failedReturns: number): number =>
  Math.min(RETURN_MAX_MS, Math.max(RETURN_MIN_MS, (1000 * REQUESTS_PER_RETURN * refusals) / rate) * 2 ** failedReturns)
