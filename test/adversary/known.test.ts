// The known cases of holds, approvals and passes as end-to-end tests: real commands on a real sandbox, in this process. The other cases
// take minutes: `npm run adversary -- --known ''` runs all of them, as processes.
import { expect, test, vi } from 'vitest'
import { inside } from './inside.ts'
import { guardCases } from './known/guards.ts'
import { passCases } from './known/passes.ts'
import { runKnown } from './known.ts'

// Each case waits at times; more cases at once only wait for each other.
vi.setConfig({ maxConcurrency: 2 })

for (const known of [...guardCases, ...passCases]) {
  test.concurrent(known.name, { timeout: 300_000 }, async () => {
    const { breaches } = await runKnown(known, inside)
    expect(breaches.map((b) => `${b.rule}: ${b.found}`)).toEqual([])
  })
}
