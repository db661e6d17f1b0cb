// How a pace goes on while answers are not refusals: a climb doubles, or closes in on the limit; a held rate is proven, and then a faster one
// is tried. It must never trust a rate that the work did not use up.
import {
  type Blocked,
  type Bounds,
  busyMs,
  clamp,
  FIRST_STEP,
  type Hold,
  type Lesson,
  markAt,
  type Pace,
  type Phase,
  QUIET_MIN_MS,
  SHORTEST_TRY_MS,
  settled,
  stepped,
  TRY_REQUESTS,
  type Try,
  within,
} from './pace.ts'

/** How long each rate of a climb must hold. */
const CLEAN_MS = 1_000
/** A climb ends when its next step would be smaller; tries find the rest. */
const LEAST_CLIMB = 1.1
const LARGEST_STEP = 1
/** A rate counts as not used up when there was nothing to send for more than this share of the time. */
const IDLE_SHARE = 0.1

/** The pace after an answer that was no refusal, while not blocked. */
export function advanced(pace: Pace, phase: Exclude<Phase, Blocked>, nowMs: number): Pace {
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

/** How long a rate must hold. A faster rate must hold for as many extra requests as the first step does in its time. */
function neededMs(pace: Pace, phase: Try): number {
  const leastMs = clamp((1000 * TRY_REQUESTS) / pace.rate, SHORTEST_TRY_MS, QUIET_MIN_MS)
  if (phase.back) return leastMs
  return Math.max(leastMs, (pace.lesson.tryMs * FIRST_STEP) / (pace.rate / phase.from - 1))
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
