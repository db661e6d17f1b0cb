// Which faults affect a request, and how answers are damaged. Every kind draws from a stream of its own.
import { pick, stream } from '../../../src/sandbox/company/company.ts'
import type { FaultKind, Scenario } from '../lives/scenario.ts'

export type Weather = ReturnType<typeof createWeather>

export function createWeather({ seed, faults }: Scenario, elapsed: () => number) {
  const counts = new Map<FaultKind, number>()
  const streams = new Map(faults.map(({ kind }) => [kind, stream(seed, `weather/${kind}`)]))
  let pending = [...faults].sort((a, b) => a.fromMs - b.fromMs)
  let active: typeof pending = []
  const onNow = (): typeof pending => {
    const now = elapsed()
    if (active.some((one) => one.untilMs <= now)) active = active.filter((one) => one.untilMs > now)
    while (pending[0] && pending[0].fromMs <= now) {
      const [next, ...rest] = pending
      if (next && next.untilMs > now) active = [...active, next]
      pending = rest
    }
    return active
  }
  const met = (kind: FaultKind, isMet: boolean): boolean => {
    if (isMet) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return isMet
  }
  const draw = (kind: FaultKind): number => streams.get(kind)?.() ?? 0
  return {
    counts,
    /** Draws details of a kind of fault. */
    draw,
    /** Draws the faults of one request. */
    strike(): ReadonlySet<FaultKind> {
      const struck = onNow().filter(({ kind, rate }) => kind !== 'disk-full' && draw(kind) < rate)
      return new Set(struck.map(({ kind }) => kind))
    },
    /** Whether a fault is among these, which counts it as met. */
    meets: (struck: ReadonlySet<FaultKind>, kind: FaultKind) => met(kind, struck.has(kind)),
    isOn(kind: FaultKind) {
      const isOn = onNow().some((one) => one.kind === kind)
      return met(kind, isOn)
    },
  }
}

export const HTML = '<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>'

/** Answers that are valid JSON without a meaning. */
const ODD_BODIES = [
  'null',
  '[]',
  '"ok"',
  '17',
  '{"addOnCreditCap":"12abc"}',
  '{"addOnCreditCap":-5}',
  '{"addOnCreditCap":1.5}',
  '{"addOnCreditCap":{}}',
  '{"addOnCreditCap":true}',
] as const

export const oddBody = (roll: number): string => pick(() => roll, ODD_BODIES)

export const cutShort = (body: string, roll: number): string => body.slice(0, Math.floor(body.length * roll * 0.95))
