import { lstatSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { userScope } from '../../src/core/model/scope.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { inside } from '../support/inside.ts'
import { intentFor, raise } from '../support/ledger.ts'
import { capkeeper } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500, reason: builds the build}
users:
  - {email: Ada.Lovelace@Example.com, cap: 4000}
protected: [grace.hopper@example.com]`

test('plan --out takes the place of a link or of a file that others may read, and touches nothing behind it', async () => {
  const at = await world({ policy: POLICY })
  writeFileSync(at.path('theirs'), '{}', { mode: 0o644 })
  symlinkSync(at.path('theirs'), at.path('plan.json'))
  writeFileSync(at.path('open.json'), '{"kind": "Plan"}', { mode: 0o644 })
  for (const name of ['plan.json', 'open.json']) {
    expect(await at.run('plan', '--out', at.path(name))).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(at.read(name)).kind).toBe('Plan')
    expect(lstatSync(at.path(name)).mode.toString(8)).toBe('100600')
  }
  expect(at.read('theirs')).toBe('{}')
})

test.each([true, false])('plan shows what the next start does with a write that a crash left open (it landed: %s)', async (hasLanded) => {
  const at = await world()
  await at.run('apply', '--yes')
  const clock = realClock()
  const store = await openLedger({ file: at.path('ledger.db'), mode: 'write', clock })
  const ledger = await store.workspace('acme', at.service.url)
  const ada = 'ada.lovelace@example.com'
  await ledger.recordIntent(intentFor({ ...raise(userScope(ada), 0, 900), from: 'none' }, { at: clock.now() - 60_000 }))
  await store.close()
  if (hasLanded) at.service.setCap(ada, 900)
  const changes = async (...argv: readonly string[]): Promise<unknown> =>
    JSON.parse((await at.run(...argv, '--output', 'json')).stdout).changes.map(({ scope, to, cause }: Record<string, unknown>) => ({
      scope,
      to,
      cause,
    }))
  const planned = await changes('plan')
  expect(planned).toEqual(hasLanded ? [{ scope: { kind: 'user', email: ada }, to: 'none', cause: 'orphan' }] : [])
  expect(await changes('apply', '--yes')).toEqual(planned)
})

// Most end-to-end tests run their commands inside the test, because starting processes took most of the time of `npm test`.
test('a command as a process prints the same as inside the test, and exits with the same code', async () => {
  const at = await world({ policy: POLICY })
  at.service.setCap('ada.lovelace@example.com', 5000)
  at.write('wrong.yaml', 'kind: 5')
  for (const [argv, code] of [
    [['plan', '--detailed-exitcode', ...at.flags], 2],
    [['validate', 'wrong.yaml'], 65],
    [['aply'], 64],
  ] as const) {
    const asProcess = await capkeeper(argv, { cwd: at.folder })
    const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    const ran = await inside(argv, { cwd: at.folder })
    expect(ran.code).toBe(code)
    expect({ ...asProcess, stdout: timeless(asProcess.stdout) }).toEqual({ ...ran, stdout: timeless(ran.stdout) })
  }
})
