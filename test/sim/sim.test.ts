// The bounded simulation that runs with every test: a few fixed seeds, one day each. The long run is `npm run sim`.
import { expect, it } from 'vitest'
import { uncheckedIn } from './figures.ts'
import { EVENT_KINDS } from './lives/events/kinds.ts'
import { drawScenario, FAULT_KINDS, NO_CUT } from './lives/scenario.ts'
import { runSeed } from './run.ts'

// Chosen so that together they give every invariant a case; `npm run sim -- --seed N --days 1` shows which ones another seed lacks.
const SEEDS = [2, 247, 995, 1100, 1581] as const
const digests = new Map<number, string>()
const checks: Record<string, number> = {}

it.each(SEEDS)('a day full of faults and changes violates no invariant: seed %i', async (seed) => {
  const { violations, checked, writes, digest } = await runSeed({ seed, days: 1 })
  digests.set(seed, digest)
  for (const [name, times] of Object.entries(checked)) checks[name] = (checks[name] ?? 0) + times
  expect(violations).toEqual([])
  expect(writes).toBeGreaterThan(0)
  expect(checked['every write has an intent before it and an outcome after']).toBeGreaterThanOrEqual(writes)
})

it('every invariant has judged a case in these days', () => {
  expect(uncheckedIn(checks)).toEqual([])
})

it('the same seed gives the same trace, byte for byte', async () => {
  // The fastest seed.
  const seed = 1100
  const first = digests.get(seed) ?? (await runSeed({ seed, days: 1 })).digest
  expect((await runSeed({ seed, days: 1 })).digest).toBe(first)
})

it('leaving out one kind of fault or event changes no other', () => {
  const whole = drawScenario(5, 3)
  const without = drawScenario(5, 3, { ...NO_CUT, without: new Set(['foreign-write', 'slow']) })
  expect(without.events).toEqual(whole.events.filter(({ kind }) => kind !== 'foreign-write'))
  expect(without.faults).toEqual(whole.faults.filter(({ kind }) => kind !== 'slow'))
})

it('a hundred seeds have every kind of fault and event', () => {
  const scenarios = Array.from({ length: 100 }, (_, index) => drawScenario(index + 1, 2))
  const kinds = new Set(scenarios.flatMap(({ faults, events }) => [...faults.map(({ kind }) => kind), ...events.map(({ kind }) => kind)]))
  expect([...FAULT_KINDS, ...EVENT_KINDS.map(({ kind }) => kind)].filter((kind) => !kinds.has(kind))).toEqual([])
})
