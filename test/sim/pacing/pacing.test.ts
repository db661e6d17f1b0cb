// How well unknown limits are used (docs/development.md, Figures), on the families of cases.ts, in the set that the pace was not tuned on.
// test/bench/pacing.ts runs every case of both sets at full length.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Case, casesOf, HOLD_OUT, requestsOf, shortened } from './cases.ts'
import { type RunResult, type RunSpec, runPacing, useOfFirst } from './run.ts'

const LEAST_USE = 0.85
const LEAST_MEDIAN = 0.9
const MANY_REQUESTS = 150_000
/** All runs take about five seconds of an idle core. */
const HOOK_MS = 120_000

interface Row {
  readonly one: Case
  readonly result: RunResult
}

/** Steady fast limits have shorter runs; changing ones run only in the bench. */
const rowsOf = (): readonly Row[] =>
  casesOf(HOLD_OUT)
    .filter((one) => requestsOf(one) < MANY_REQUESTS || (one.retryAfter && !one.family.includes('changes')))
    .map((one) => (requestsOf(one) < MANY_REQUESTS ? one : shortened(one, 8)))
    .map((one) => ({ one, result: runPacing(one.run) }))

const named = ({ one, result }: Row): string =>
  `${one.retryAfter ? 'with' : 'no'} Retry-After, ${one.name}: use ${result.use.toFixed(3)}, refused ${result.refused.toFixed(4)}`

describe('unknown rate limits, the hold-out set', () => {
  let rows: readonly Row[] = []
  beforeAll(() => {
    rows = rowsOf()
  }, HOOK_MS)

  it('are used to 85 % at least in every case', () => {
    expect(rows.length).toBeGreaterThan(80)
    expect(rows.filter(({ result }) => result.use < LEAST_USE).map(named)).toEqual([])
  })

  it('cause no more refusals than the goal allows', () => {
    expect(rows.filter(({ one, result }) => result.refused > one.refusedGoal).map(named)).toEqual([])
  })

  it.each([true, false])('are used to 90 % at least in the median (Retry-After given: %s)', (retryAfter) => {
    const uses = rows
      .filter(({ one }) => one.retryAfter === retryAfter)
      .map(({ result }) => result.use)
      .sort((a, b) => a - b)
    expect(uses[Math.floor(uses.length / 2)]).toBeGreaterThanOrEqual(LEAST_MEDIAN)
  })
})

/** The worst of ten seeds over the first 400 requests at 20/s. */
const worst = (burst: number, timerLateMs: number): number => {
  const limit = { kind: 'bucket', burstSeconds: burst / 20 } as const
  const clients = [{ settings: { start: 5, max: 60 }, latencyMs: 4, latencyJitter: 0.5, timerLateMs }]
  const limiter = { limit, steps: [{ fromMs: 0, rate: 20 }], retryAfter: 'none' } as const
  return Math.min(...Array.from({ length: 10 }, (_, index) => useOfFirst({ limiter, clients, seed: 1_000 + 7_919 * index }, 400)))
}

it.each([
  { burst: 20, timerLateMs: 4, least: 0.9 },
  { burst: 20, timerLateMs: 15, least: 0.9 },
  { burst: 3, timerLateMs: 4, least: 0.7 },
  { burst: 1, timerLateMs: 4, least: 0.7 },
  { burst: 1, timerLateMs: 15, least: 0.65 },
  { burst: 1, timerLateMs: 30, least: 0.6 },
])(
  'requests that arrive unevenly, because timers are late and latency varies, use a bucket of $burst requests to $least from the start, with timers up to $timerLateMs ms late',
  ({ burst, timerLateMs, least }) => expect(worst(burst, timerLateMs)).toBeGreaterThanOrEqual(least),
)

describe('little work', () => {
  const limited: RunSpec = {
    limiter: { limit: { kind: 'fixed', windowMs: 60_000 }, steps: [{ fromMs: 0, rate: 8 }], retryAfter: 'seconds' },
    clients: [{ settings: { start: 5, max: 40 }, latencyMs: 80, demand: 3 }],
    warmUpMs: 60_000,
    durationMs: 3_600_000,
    seed: 7,
  }

  it('is neither refused nor mistaken for a limit', () => {
    const result = runPacing(limited)
    expect(result.refusals).toBe(0)
    expect(result.successes[0]).toBeGreaterThan(3 * 3600 - 10)
    expect(result.learned).toEqual([{ rate: 5, limited: false }])
  })

  it('does not lower the rate that was learned under load', () => {
    const [known] = runPacing({ ...limited, clients: [{ settings: { start: 5, max: 40 }, latencyMs: 80 }] }).learned
    const clients = [{ settings: { start: 5, max: 40 }, latencyMs: 80, demand: 0.5, ...(known ? { learned: known } : {}) }]
    const [later] = runPacing({ ...limited, clients }).learned
    expect(known?.rate).toBeGreaterThan(7)
    expect(later?.rate).toBe(known?.rate)
  })
})

describe('a restart', () => {
  const first: RunSpec = {
    limiter: { limit: { kind: 'bucket', burstSeconds: 2 }, steps: [{ fromMs: 0, rate: 12 }], retryAfter: 'none' },
    clients: [{ settings: { start: 5, max: 60 }, latencyMs: 60 }],
    warmUpMs: 0,
    durationMs: 1_800_000,
    seed: 11,
  }

  it('continues at the learned rate at once, without a climb and its refusals', () => {
    const [known] = runPacing(first).learned
    const learned = known ? { learned: known } : {}
    const again = runPacing({ ...first, durationMs: 60_000, clients: [{ settings: { start: 5, max: 60 }, latencyMs: 60, ...learned }] })
    expect(known?.limited).toBe(true)
    expect(again.use).toBeGreaterThan(0.9)
    expect(again.refusals).toBe(0)
  })
})
