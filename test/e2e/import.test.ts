import fc from 'fast-check'
import { expect, test } from 'vitest'
import { run } from '../cli/world.ts'
import { realClock } from '../support/real-clock.ts'
import { startSandbox } from '../support/sandbox.ts'
import { configText, place, workspace, world } from './world.ts'

test('import names the caps that could not be read, keeps the rest for the next run, and exits 4', async () => {
  const at = await world({ sandbox: { people: 4 } })
  const { store } = at.service.sandbox
  const [lost, read] = [store.people().at(-1)?.email ?? '', store.person]
  Object.assign(store, { person: (email: string) => (email === lost ? undefined : read(email)) })
  expect(await at.run('import')).toMatchObject({ code: 4, stdout: expect.stringContaining('# NOT COMPLETE') })
  expect(at.read('capkeeper-import.journal')).toContain('"scope":"ada.lovelace@example.com"')
  expect(await at.run('import', '--journal', at.path('nowhere/journal'))).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /1 cap could not be read; nothing is kept for the next run, because .*nowhere\/journal cannot be written/,
    ),
  })
})

const RATE = { rate: { start: 1000, max: 1000, concurrency: 8 } }

test('a policy that was imported changes nothing when it is planned at once, for any service', async () => {
  const cases = fc.record({
    seed: fc.integer({ min: 1, max: 10_000 }),
    people: fc.integer({ min: 1, max: 12 }),
    groups: fc.integer({ min: 1, max: 3 }),
    capSemantics: fc.constantFrom('layered' as const, 'fan-out' as const),
    capReads: fc.constantFrom('explicit' as const, 'inherited' as const),
    zeroCap: fc.constantFrom('stored' as const, 'omitted' as const),
    caps: fc.array(fc.tuple(fc.nat({ max: 20 }), fc.constantFrom(0, 100, 500, 2147483647)), { maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ caps, ...options }) => {
      const at = await startSandbox({ ...options, clock: realClock(), working: false })
      try {
        const { store } = at.sandbox
        const scopes = ['team', ...store.groups().map(({ id }) => `group:${id}`), ...store.people().map(({ email }) => email)]
        for (const [index, cap] of caps) at.setCap(scopes[index % scopes.length] ?? 'team', cap)
        const { imported, planned } = await importAndPlan(at.url, store.groups())
        expect(imported).toMatchObject({ code: 0 })
        expect(planned.stderr).toBe('')
        expect({ code: planned.code, changes: JSON.parse(planned.stdout).changes }).toEqual({ code: 0, changes: [] })
      } finally {
        await at.close()
      }
    }),
    { numRuns: 10 },
  )
})

async function importAndPlan(url: string, groups: readonly { readonly id: string; readonly name: string }[]) {
  const at = place()
  at.write('key', 'sandbox-admin')
  const config = at.write('config.yaml', configText([workspace('acme', url, RATE)]))
  const shared = { clock: realClock() }
  const named = groups.flatMap(({ id, name }) => ['--group', `${id}=${name}`])
  const imported = await run(['import', '--config', config, '--journal', at.path('journal'), ...named], shared)
  at.write('policies/acme.yaml', imported.stdout)
  const planned = await run(['plan', '--config', config, '--output', 'json', '--detailed-exitcode'], shared)
  return { imported, planned }
}
