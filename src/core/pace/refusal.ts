// How a pace reacts to refusals: a block, in which single probes look for its end, and then a rate from the measured goodput. It must never
// lower the rate twice for requests that were refused together.
import {
  type Blocked,
  type Bounds,
  busyMs,
  type Climb,
  clamp,
  FIRST_STEP,
  goodputSince,
  HORIZON_MS,
  KEEP,
  LONGEST_TRY_MS,
  markAt,
  type Pace,
  type Phase,
  quietMs,
  TRY_REQUESTS,
  trailed,
  type Verdict,
  within,
} from './pace.ts'

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
export function refused(pace: Pace, nowMs: number, retryAfterMs: number | undefined, sentAtMs: number): Pace {
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
export function resumed(pace: Pace, { verdict, refusals, probes }: Blocked, nowMs: number): Pace {
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

/** How long to wait before going back to a usual rate: short, because a low rate loses time; doubled each time that it fails. */
const returnMs = (refusals: number, rate: number, failedReturns: number): number =>
  Math.min(RETURN_MAX_MS, Math.max(RETURN_MIN_MS, (1000 * REQUESTS_PER_RETURN * refusals) / rate) * 2 ** failedReturns)
