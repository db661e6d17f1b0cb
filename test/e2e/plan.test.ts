import { lstatSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { capkeeper } from '../support/process.ts'
import { world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500, reason: builds the build}
users:
  - {email: Ada.Lovelace@Example.com, cap: 4000}
protected: [grace.hopper@example.com]`

test('plan --out takes the place of a link or of a file that others may read, and touches nothing behind it', async () => {
  const at = await world({ policy: POLICY })
  writeFileSync(at.path('theirs'), 'theirs', { mode: 0o644 })
  symlinkSync(at.path('theirs'), at.path('plan.json'))
  writeFileSync(at.path('open.json'), 'old', { mode: 0o644 })
  for (const name of ['plan.json', 'open.json']) {
    expect(await at.run('plan', '--out', at.path(name))).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(at.read(name)).kind).toBe('Plan')
    expect(lstatSync(at.path(name)).mode.toString(8)).toBe('100600')
  }
  expect(at.read('theirs')).toBe('theirs')
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
