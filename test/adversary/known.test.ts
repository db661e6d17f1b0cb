// The known cases as end-to-end tests: real commands against a real sandbox.
import { expect, test, vi } from 'vitest'
import { knownCases, runKnown } from './known.ts'

// Each case is two or three processes; more at once only wait for each other.
vi.setConfig({ maxConcurrency: 3 })

for (const known of knownCases) {
  test.concurrent(known.name, { timeout: 300_000 }, async () => {
    const { breaches } = await runKnown(known)
    expect(breaches.map((b) => `${b.rule}: ${b.found}`)).toEqual([])
  })
}
