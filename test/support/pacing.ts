// One client that sends as fast as its pace allows, on a clock of its own.
import type { Answer, Pace, RateSettings } from '../../src/core/pace/pace.ts'
import { answered, earliestSendAt, sent, startPace } from '../../src/core/pace/pacing.ts'

export const OK: Answer = { kind: 'ok' }
export const REFUSED: Answer = { kind: 'refused' }
export const LATENCY_MS = 10

export interface Run {
  readonly pace: Pace
  readonly nowMs: number
}

interface Refusal {
  readonly refusedMs?: number
  readonly probedMs?: number
  readonly retryAfterMs?: number
}

/** Sends as fast as the pace allows until `untilMs`, one at a time; `decide` answers. */
export function drive(run: Run, untilMs: number, decide: (sentAtMs: number) => Answer = () => OK): Run {
  let { pace, nowMs } = run
  for (let turn = 0; turn < 1_000_000; turn += 1) {
    const at = earliestSendAt(pace, nowMs)
    if (at > untilMs) break
    pace = answered(sent(pace, at), at + LATENCY_MS, decide(at), at)
    nowMs = at
  }
  return { pace, nowMs: untilMs }
}

export const begin = (settings: RateSettings, learned?: unknown): Run => ({ pace: startPace(settings, 0, learned), nowMs: 0 })

/** The next request is refused, and the first probe after that answered, each after the given time. */
export function refuse(run: Run, { refusedMs = LATENCY_MS, probedMs = LATENCY_MS, retryAfterMs }: Refusal = {}): Run {
  const at = earliestSendAt(run.pace, run.nowMs)
  const blocked = answered(sent(run.pace, at), at + refusedMs, { kind: 'refused', retryAfterMs }, at)
  const probeAt = earliestSendAt(blocked, at + refusedMs)
  return { pace: answered(sent(blocked, probeAt), probeAt + probedMs, OK, probeAt), nowMs: probeAt + probedMs }
}

/** The same for so long, and what is answered is answered at once. */
export const refuseFor = (run: Run, retryAfterMs: number): Run => refuse(run, { refusedMs: 0, probedMs: 0, retryAfterMs })
