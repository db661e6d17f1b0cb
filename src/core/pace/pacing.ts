// Decides when the next request may go to a service whose rate limit is not known. It learns the limit from refusals, and causes as few of
// them as it can. It must never leave the range from 0.1/s to `max`, never save up unused time for a burst, and never take a lack of work for
// a limit or an untried rate for a good one.
import { advanced } from './advance.ts'
import {
  type Answer,
  clamp,
  type LearnedRate,
  LONGEST_TRY_MS,
  type Mark,
  type Pace,
  quietMs,
  type RateSettings,
  SHORTEST_TRY_MS,
  within,
} from './pace.ts'
import { refused, resumed } from './refusal.ts'

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

function readLearned(learned: unknown): LearnedRate | undefined {
  if (typeof learned !== 'object' || learned === null || !('rate' in learned) || !('limited' in learned)) return undefined
  const { rate, limited } = learned
  if (typeof rate !== 'number' || !Number.isFinite(rate) || rate <= 0 || typeof limited !== 'boolean') return undefined
  const tryMs = 'tryMs' in learned && typeof learned.tryMs === 'number' && learned.tryMs > 0 ? learned.tryMs : SHORTEST_TRY_MS
  return { rate, limited, tryMs: clamp(tryMs, SHORTEST_TRY_MS, LONGEST_TRY_MS) }
}

/** Less than `SLACK_MS` where that would allow more than floor(max) + 1 requests in a second. */
const slack = ({ max }: RateSettings): number => Math.min(SLACK_MS, (1000 * (Math.floor(max) + 1 - max)) / max)
