// The known cases as end-to-end tests: real commands against a real sandbox.
import { expect, test } from 'vitest'
import { knownCases, runKnown } from './known.ts'

for (const known of knownCases) {
  test(known.name, { timeout: 120_000 }, async () => {
    const { breaches } = await runKnown(known)
    expect(breaches.map((b) => `${b.rule}: ${b.found}`)).toEqual([])
  })
}
