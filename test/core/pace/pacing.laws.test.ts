import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answered, currentRate, earliestSendAt, learnedRate, sent, startPace } from '../../../src/core/pace/pacing.ts'
import { runs } from '../../support/fuzz.ts'
import { begin, drive, OK, REFUSED } from '../../support/pacing.ts'

// ---- Laws, whatever happens ----

/** One move of a client with up to eight requests in flight: wait, then send when allowed, or take an answer. */
interface Move {
  readonly waitMs: number
  readonly answer: 'none' | 'ok' | 'refused' | 'told'
  readonly retryAfterMs: number
  readonly which: number
}

const moves = fc.array(
  fc.record<Move>({
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 90_000 })),
    answer: fc.constantFrom('none', 'ok', 'ok', 'ok', 'refused', 'told'),
    retryAfterMs: fc.oneof(fc.double(), fc.integer({ min: -5, max: 400_000 })),
    which: fc.nat(7),
  }),
  { maxLength: 400 },
)

const settingsOf = fc.record({ start: fc.double({ min: 0.1, max: 60, noNaN: true }), max: fc.double({ min: 0.1, max: 40, noNaN: true }) })

interface Walk {
  readonly sends: number[]
  readonly paces: ReturnType<typeof sent>[]
}

function walk(settings: Parameters<typeof begin>[0], list: readonly Move[], eager: boolean): Walk {
  let pace = startPace(settings, 0)
  let nowMs = 0
  const inFlight: number[] = []
  const record: Walk = { sends: [], paces: [pace] }
  for (const move of list) {
    const dueMs = earliestSendAt(pace, nowMs)
    nowMs = eager && move.answer === 'none' ? dueMs : nowMs + move.waitMs
    if (inFlight.length < 8 && earliestSendAt(pace, nowMs) === nowMs) {
      pace = sent(pace, nowMs)
      inFlight.push(nowMs)
      record.sends.push(nowMs)
    }
    const sentAtMs = inFlight[move.which]
    if (move.answer !== 'none' && sentAtMs !== undefined) {
      inFlight.splice(move.which, 1)
      pace = answered(pace, nowMs, toAnswer(move), sentAtMs)
    }
    record.paces.push(pace)
  }
  return record
}

const toAnswer = (move: Move): Parameters<typeof answered>[2] =>
  move.answer === 'told' ? { kind: 'refused', retryAfterMs: move.retryAfterMs } : move.answer === 'refused' ? REFUSED : OK

describe('whatever happens', () => {
  it('keeps the rate between the floor and max, and what is learned too', () => {
    fc.assert(
      fc.property(settingsOf, moves, fc.boolean(), (settings, list, eager) => {
        for (const pace of walk(settings, list, eager).paces) {
          for (const rate of [currentRate(pace), learnedRate(pace).rate]) {
            expect(rate).toBeGreaterThanOrEqual(0.1)
            expect(rate).toBeLessThanOrEqual(settings.max)
          }
        }
      }),
      runs(150),
    )
  })

  it('never sends more than max + 1 requests in any second', () => {
    fc.assert(
      fc.property(settingsOf, moves, fc.boolean(), (settings, list, eager) => {
        const { sends } = walk(settings, list, eager)
        sends.forEach((from, index) => {
          const within = sends.slice(index).filter((at) => at < from + 1_000).length
          expect(within).toBeLessThanOrEqual(settings.max + 1)
        })
      }),
      runs(150),
    )
  })

  it('sends single probes only while it is blocked', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 5, max: 20_000 }), { minLength: 1, maxLength: 20 }), (latencies) => {
        const { pace, nowMs } = drive(begin({ start: 5, max: 40 }), 5_000)
        let blocked = answered(pace, nowMs, REFUSED, nowMs)
        let now = nowMs
        for (const latencyMs of latencies) {
          const probeAt = earliestSendAt(blocked, now)
          expect(probeAt - now).toBeGreaterThanOrEqual(1_000)
          const probing = sent(blocked, probeAt)
          expect(earliestSendAt(probing, probeAt)).toBeGreaterThan(probeAt + latencyMs)
          now = probeAt + latencyMs
          blocked = answered(probing, now, REFUSED, probeAt)
        }
      }),
    )
  })
})
