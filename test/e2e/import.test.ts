import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { run } from '../cli/world.ts'
import { realClock } from '../support/real-clock.ts'
import { startSandbox } from '../support/sandbox.ts'
import { configText, place, type World, workspace, world } from './world.ts'

const GROUPS = ['--group', 'grp_platform=Platform', '--group', 'grp_payments=Payments']
const journalIn = (at: World): string => at.path('capkeeper-import.journal')

describe('import', () => {
  test('says that groups must be named, as the service lists none', async () => {
    const at = await world({ sandbox: { people: 3, groups: 1 } })
    const { stderr, stdout } = await at.run('import')
    expect(stderr).toContain('name each one with --group ID=NAME')
    expect(stdout).toContain('spec:\n')
    at.write('policies/acme.yaml', stdout)
    expect(loadPolicies([at.path('policies')], {}).problems).toEqual([])
  })

  test.each([
    ['an id without a name', ['--group', 'grp_platform'], 64, 'ID=NAME'],
    ['a group given twice', ['--group', 'a=A', '--group', 'a=B'], 64, 'given twice'],
    ['a name given twice', ['--group', 'a=A', '--group', 'b=A'], 64, 'given twice'],
    ['a name that the service does not know', ['--group', 'grp_platform=Nobody'], 1, 'grp_platform (Nobody) could not be listed'],
    ['an id that the service does not know', ['--group', 'grp_none=Platform'], 1, 'check --group'],
  ])('refuses %s without an answer', async (_name, flags, code, message) => {
    const at = await world({ sandbox: { people: 3, groups: 2 } })
    const ran = await at.run('import', ...flags)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain(message)
  })

  test.each([
    ['a policy', 'policies/acme.yaml'],
    ['a folder', 'policies'],
  ])('leaves %s alone that is named as its journal by mistake, and asks the service nothing', async (_name, file) => {
    const at = await world({ sandbox: { people: 3, groups: 1 } })
    at.write('policies/acme.yaml', 'kind: CapPolicy\n')
    const ran = await at.run('import', '--journal', at.path(file))
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain(`${file} is not a journal of import: name another file with --journal\n`)
    expect(readFileSync(at.path('policies/acme.yaml'), 'utf8')).toBe('kind: CapPolicy\n')
    expect(at.service.calls.log).toEqual([])
  })

  test('continues an interrupted run, unless that was of another service or too long ago', async () => {
    const at = await world({ sandbox: { people: 6, groups: 2 } })
    const line = (scope: string, more: Readonly<Record<string, unknown>> = {}) =>
      JSON.stringify({ workspace: 'acme', baseUrl: at.service.url, scope, cap: 321, readAt: Date.now(), ...more })
    const lines = [
      line('team'),
      line('ada.lovelace@example.com'),
      line('grace.hopper@example.com', { baseUrl: 'http://other' }),
      line('group:grp_platform', { readAt: Date.now() - 3_700_000 }),
      line('group:grp_payments', { cap: -1 }),
      'null',
      line('alan.turing@example.com').slice(0, -20),
    ]
    writeFileSync(journalIn(at), lines.join('\n'))
    const { code, stdout, stderr } = await at.run('import', ...GROUPS)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^continuing the last run: 2 of \d caps are read\n$/),
    })
    expect(stdout.match(/cap: 321/g)).toHaveLength(2)
    const asked = at.service.calls.log
      .filter(({ operation }) => operation === 'GetUsageConfig')
      .map(({ body }) => body['user_email'] ?? body['group_id'])
    expect(asked).toContain('grace.hopper@example.com')
    expect(asked).toEqual(expect.arrayContaining(['grp_platform', 'grp_payments']))
    expect(asked).not.toContain('ada.lovelace@example.com')
    expect(existsSync(journalIn(at))).toBe(false)
  })

  test('names the caps that could not be read, keeps the rest for the next run, and exits 4', async () => {
    const at = await world({
      sandbox: { people: 12, groups: 1, seed: 3, faults: { '5xx': 0.55 } },
      settings: { rate: { start: 500, max: 500, concurrency: 8 } },
    })
    let ran = await at.run('import')
    for (let attempt = 0; ran.code === 1 && attempt < 10; attempt += 1) ran = await at.run('import')
    expect([0, 4]).toContain(ran.code)
    if (ran.code === 4) {
      expect(ran.stdout).toContain('# NOT COMPLETE')
      expect(readFileSync(journalIn(at), 'utf8')).toContain('"scope"')
    }
  })
})

const RATE = { rate: { start: 1000, max: 1000, concurrency: 8 } }

describe('a policy that was imported', () => {
  test('changes nothing when it is planned at once, for any service', async () => {
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
})

const folder = () => place()

async function importAndPlan(url: string, groups: readonly { readonly id: string; readonly name: string }[]) {
  const at = folder()
  at.write('key', 'sandbox-admin')
  const config = at.write('config.yaml', configText([workspace('acme', url, RATE)]))
  const shared = { clock: realClock() }
  const named = groups.flatMap(({ id, name }) => ['--group', `${id}=${name}`])
  const imported = await run(['import', '--config', config, '--journal', at.path('journal'), ...named], shared)
  at.write('policies/acme.yaml', imported.stdout)
  const planned = await run(['plan', '--config', config, '--output', 'json', '--detailed-exitcode'], shared)
  return { imported, planned }
}
