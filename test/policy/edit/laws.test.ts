// The laws of `edit` on random files in every style; `npm run bench -- edit` tries twenty thousand.
import { expect, onTestFinished, test } from 'vitest'
import { runs } from '../../support/fuzz.ts'
import { openTrial } from './laws.ts'

test('random edits of random files change only what they say, are undone byte for byte, and are made once', async () => {
  const trial = openTrial()
  onTestFinished(trial.close)
  const cases = runs(600).numRuns
  const outcomes = new Map<string, number>()
  for (let seed = 0; seed < cases; seed += 1) {
    const { kind, outcome, broken } = await trial.tryOne(seed)
    expect(broken, `seed ${seed}`).toBe('')
    const name = `${kind} ${outcome}`
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  }
  for (const kind of ['cap', 'grant', 'extend', 'protect', 'approve', 'remove'])
    expect(outcomes.get(`${kind} made`) ?? 0, kind).toBeGreaterThan(cases / 120)
  expect(outcomes.get('cap refused')).toBeGreaterThan(0)
})
