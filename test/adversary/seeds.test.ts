// A few random cases of the adversary; `npm run adversary` tries thousands.
import { expect, test } from 'vitest'
import { runCase, tell } from './case.ts'

const seeds: readonly (readonly [number, string])[] = [
  [1, 'converge'],
  [2, 'guards'],
  [3, 'killed'],
  [4, 'saved'],
  [5, 'broken'],
]

for (const [seed, kind] of seeds) {
  test.concurrent(`seed ${seed} of kind ${kind} keeps to the contract`, { timeout: 300_000 }, async () => {
    const result = await runCase(seed, kind)
    expect(result.breaches.length === 0 ? '' : tell(result)).toBe('')
  })
}
