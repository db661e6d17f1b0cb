// The families of limits that rate learning is judged by (docs/development.md, Figures): one set that it was tuned on, and a hold-out set. Every run is two
// hours after a warm-up of half an hour, in which the first climb and its effects in the longest window (300 s) pass. Limits that change do
// so three times in the two hours.
import { allowedBetween, type LimiterSpec, type LimitKind, type LimitStep } from './limits.ts'
import type { ClientSpec, RunSpec } from './run.ts'

export interface Case {
  readonly name: string
  readonly family: string
  readonly retryAfter: boolean
  /** The largest share of requests that may be refused. */
  readonly refusedGoal: number
  readonly run: RunSpec
}

const MINUTE = 60_000

/** The values in which the two sets differ: rates in requests per second, bursts and windows in seconds, factors of a changing limit. */
interface Parameters {
  readonly rates: readonly number[]
  readonly bursts: readonly number[]
  readonly windows: readonly number[]
  readonly factors: readonly number[]
  readonly latencyMs: number
  readonly seed: number
}

export const TUNING: Parameters = {
  rates: [1, 10, 200],
  bursts: [1, 3, 10],
  windows: [10, 60, 300],
  factors: [2, 0.5, 5, 0.2],
  latencyMs: 160,
  seed: 1,
}

export const HOLD_OUT: Parameters = {
  rates: [1.7, 14, 130],
  bursts: [1.5, 6, 9],
  windows: [15, 45, 240],
  factors: [1.6, 0.35, 4, 0.25],
  latencyMs: 70,
  seed: 90_210,
}

/** The same case in `minutes` after an equally long warm-up, for quick tests. */
export function shortened(one: Case, minutes: number): Case {
  return { ...one, run: { ...one.run, warmUpMs: minutes * MINUTE, durationMs: minutes * MINUTE } }
}

/** The number of requests that the run allows, which decides its duration. */
export const requestsOf = ({ run }: Case): number => allowedBetween(run.limiter, 0, run.warmUpMs + run.durationMs)

export function casesOf(parameters: Parameters, durationMs = 120 * MINUTE, warmUpMs = 30 * MINUTE): readonly Case[] {
  const { rates, bursts, windows } = parameters
  const kinds: LimitKind[] = [
    ...bursts.map((burstSeconds): LimitKind => ({ kind: 'bucket', burstSeconds })),
    ...windows.map((seconds): LimitKind => ({ kind: 'fixed', windowMs: 1000 * seconds, offsetMs: 337 * seconds })),
    ...windows.map((seconds): LimitKind => ({ kind: 'sliding', windowMs: 1000 * seconds })),
  ]
  const usual = rates[1] ?? 1
  const make = (limit: LimitKind, rate: number, retryAfter: boolean, { clients = 1, factor }: Odd = {}): Case => {
    const steps = factor === undefined ? [{ fromMs: 0, rate }] : changing(rate, factor, warmUpMs, durationMs)
    const highest = Math.max(...steps.map((step) => step.rate))
    // Eight requests in flight must suffice for the rate, or latency would be the limit.
    const latencyMs = Math.min(parameters.latencyMs, 4000 / highest)
    const client: ClientSpec = { settings: { start: 5, max: Math.max(10, 2 * highest) }, latencyMs }
    const limiter: LimiterSpec = { limit, steps, retryAfter: retryAfter ? 'seconds' : 'none' }
    const long = limit.kind !== 'bucket' && limit.windowMs > MINUTE
    return {
      name: `${describe(limit)}, ${rate}/s${factor === undefined ? '' : ` x ${factor} and back`}${clients > 1 ? `, ${clients} clients` : ''}`,
      family: factor === undefined ? (clients > 1 ? `${limit.kind}, two clients` : limit.kind) : `${limit.kind}, limit changes`,
      retryAfter,
      refusedGoal: retryAfter ? 0.005 : long ? 0.03 : 0.01,
      run: { limiter, clients: Array.from({ length: clients }, () => client), warmUpMs, durationMs, seed: parameters.seed },
    }
  }
  return [true, false].flatMap((retryAfter) =>
    kinds.flatMap((limit) => [
      ...rates.map((rate) => make(limit, rate, retryAfter)),
      make(limit, usual, retryAfter, { clients: 2 }),
      ...parameters.factors.map((factor) => make(limit, usual, retryAfter, { factor })),
    ]),
  )
}

/** How a case differs from one client under a limit that stays. */
interface Odd {
  readonly clients?: number
  readonly factor?: number
}

/** The rate and `factor` times it, in turns of a third of the run. */
function changing(rate: number, factor: number, warmUpMs: number, durationMs: number): readonly LimitStep[] {
  const third = durationMs / 3
  return [
    { fromMs: 0, rate },
    { fromMs: warmUpMs + third / 2, rate: rate * factor },
    { fromMs: warmUpMs + third * 1.5, rate },
    { fromMs: warmUpMs + third * 2.5, rate: rate * factor },
  ]
}

function describe(limit: LimitKind): string {
  if (limit.kind === 'bucket') return `bucket of ${limit.burstSeconds} s`
  return `${limit.kind} window of ${limit.windowMs / 1000} s`
}
