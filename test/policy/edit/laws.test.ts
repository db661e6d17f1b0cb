// The laws of `edit` on random files in every style; `npm run bench -- edit` tries twenty thousand.
import { afterAll, expect, test } from 'vitest'
import { openTrial } from './laws.ts'

const CASES = 600

const trial = openTrial()
afterAll(trial.close)

test('random edits of random files change only what they say, are undone byte for byte, and are made once', () => {
  const outcomes = new Map<string, number>()
  for (let seed = 0; seed < CASES; seed += 1) {
    const { kind, outcome, broken } = trial.tryOne(seed)
    expect(broken, `seed ${seed}`).toBe('')
    const name = `${kind} ${outcome}`
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  }
  for (const kind of ['cap', 'grant', 'extend', 'protect', 'approve', 'remove'])
    expect(outcomes.get(`${kind} made`), kind).toBeGreaterThan(5)
  expect(outcomes.get('cap refused')).toBeGreaterThan(0)
})
