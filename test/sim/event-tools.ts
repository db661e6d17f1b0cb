// Whom an event is about, and how long it may still act: drawn from the company as it is now, and never past the end of the storm.
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import { type Draw, pick } from '../../src/sandbox/company/random.ts'
import { emailOf } from './company.ts'
import type { Life } from './life.ts'

export const someone = (life: Life, draw: Draw): string => {
  const [first, ...rest] = life.company.people.keys()
  return pick(draw, [first ?? emailOf(0), ...rest])
}

export const someGroup = (life: Life, draw: Draw): string => {
  const [first, ...rest] = life.company.groups.keys()
  return pick(draw, [first ?? 'g0', ...rest])
}

export function someScope(life: Life, draw: Draw): ScopeKey {
  const roll = draw()
  if (roll < 0.2) return scopeKey({ kind: 'team' })
  if (roll < 0.45) return scopeKey({ kind: 'group', id: someGroup(life, draw) })
  return scopeKey({ kind: 'user', email: someone(life, draw) })
}

/** Unless the storm is over by then. */
export function later(life: Life, ms: number, act: () => void): void {
  const atMs = life.elapsed() + ms
  if (life.scenario.rounds.some(({ fromMs, calmAtMs }) => fromMs <= atMs && atMs < calmAtMs)) life.clock.later(ms, act)
}

/** How long the storm still lasts. */
export function stormMs({ elapsed, scenario }: Life): number {
  const now = elapsed()
  return Math.max(0, (scenario.rounds.find(({ calmAtMs }) => now < calmAtMs)?.calmAtMs ?? now) - now - 1)
}
