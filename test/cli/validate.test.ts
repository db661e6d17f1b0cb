import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from './world.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capkeeper-validate-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, ...lines: readonly string[]): string => {
  const path = join(folder, name)
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

const policy = (name: string, ...spec: readonly string[]): readonly string[] => [
  'apiVersion: capkeeper/v1',
  'kind: CapPolicy',
  `metadata: {name: ${name}}`,
  'spec:',
  ...spec.map((line) => `  ${line}`),
]

const good = (): string =>
  file('good.yaml', ...policy('good', 'workspace: acme', 'team: {cap: 500}', 'users:', '  - {email: ada@example.com, cap: 4000}'))
const bad = (): string => file('bad.yaml', ...policy('bad', 'workspace: acme', 'team:', '  cap: 1e3', '  reson: typo'))

describe('validate', () => {
  test('refuses viewers of a group that no policy declares', async () => {
    file('acme.yaml', ...policy('acme', 'workspace: acme', 'groups:', '  - {id: grp_data, name: Data, cap: 500}'))
    const config = (...ids: readonly string[]): string =>
      file(
        'config.yaml',
        'apiVersion: capkeeper/v1',
        'kind: Config',
        'auth: {proxyHeader: X-Forwarded-Groups, from: [10.0.0.0/8]}',
        `viewers: [{groups: [leads], workspaces: [acme], only: {groups: [${ids.join(', ')}]}}]`,
        'workspaces: [{name: acme, baseUrl: https://service.example, policies: [acme.yaml]}]',
      )
    expect(await run(['validate', '--config', config('grp_data')])).toMatchObject({ code: 0 })
    const refused = await run(['validate', '--config', config('grp_data', 'grp_dota')])
    expect(refused.code).toBe(65)
    expect(refused.stderr).toMatch(
      /config\.yaml:4:75: error: viewers show only the people of group:grp_dota, and no policy of acme declares it/,
    )
    expect(refused.stdout).not.toContain('config.yaml: valid')
  })

  test('warns of more scopes than a sweep can read within its interval', async () => {
    const users = Array.from({ length: 31 }, (_, index) => `  - {email: p${index}@example.com, cap: 5}`)
    file('many.yaml', ...policy('many', 'workspace: acme', 'users:', ...users))
    const rate = 'rate: {start: 0.1, max: 0.1}'
    const config = file(
      'config.yaml',
      'apiVersion: capkeeper/v1',
      'kind: Config',
      `workspaces: [{name: acme, policies: [many.yaml], ${rate}}]`,
    )
    const ran = await run(['validate', '--config', config])
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('acme: 31 declared scopes take 5.2 min to read at rate.max 0.1') })
  })

  test('as JSON has everything on stdout', async () => {
    const wrong = await run(['validate', bad(), '--output', 'json'])
    expect(wrong).toMatchObject({ code: 65, stderr: '' })
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      apiVersion: 'capkeeper/v1',
      kind: 'Validation',
      valid: false,
      workspaces: [],
      problems: [
        { severity: 'error', code: 'CAP', at: { line: 7, column: 10 } },
        { severity: 'error', code: 'UNKNOWN_KEY', at: { line: 8, column: 5 } },
      ],
    })
    const right = await run(['validate', good(), '--output', 'json'])
    expect(right.code).toBe(0)
    expect(JSON.parse(right.stdout)).toMatchObject({ valid: true, workspaces: [{ workspace: 'acme', rules: 2 }], problems: [] })
  })

  test('without anything to check is wrong usage', async () => {
    const ran = await run(['validate'])
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain('nothing to validate')
  })

  test('an invalid address in the environment is an error of the input, not missing input', async () => {
    const ran = await run(['validate'], { env: { CAPKEEPER_POLICIES: folder, CAPKEEPER_BASE_URL: 'ftp://service.example' } })
    expect(ran).toMatchObject({ code: 65, stderr: expect.stringContaining('CAPKEEPER_BASE_URL: not an http or https address') })
  })

  test('takes the paths from --policies, from the environment or from the config file', async () => {
    const path = good()
    expect((await run(['validate', '--policies', path])).stdout).toContain('acme: valid')
    expect((await run(['validate'], { env: { CAPKEEPER_POLICIES: path } })).stdout).toContain('acme: valid')
    expect((await run(['validate', path], { env: { CAPKEEPER_POLICIES: '', CAPKEEPER_CONFIG: '' } })).stdout).toContain('acme: valid')
    const config = file(
      'capkeeper.yaml',
      'apiVersion: capkeeper/v1',
      'kind: Config',
      'workspaces:',
      `  - {name: acme, policies: [${path}]}`,
    )
    expect((await run(['validate', '--config', config])).stdout).toMatch(/capkeeper\.yaml: valid\nacme: valid/)
    expect((await run(['validate'], { env: { CAPKEEPER_CONFIG: config } })).stdout).toContain('acme: valid')
  })

  test('warns of a CA file that cannot be used, at its place; key files are not checked', async () => {
    const lines = ['apiVersion: capkeeper/v1', 'kind: Config', 'workspaces:', '  - name: acme', '    keys: {default: {file: nowhere}}']
    const missing = await run(['validate', '--config', file('c.yaml', ...lines, '    caFile: nowhere.pem # private'), good()])
    expect(missing).toMatchObject({ code: 0, stdout: expect.stringContaining('c.yaml: valid') })
    expect(missing.stderr).toMatch(
      /c\.yaml:6:13: warning: the CA file \S+nowhere\.pem does not exist \(ENOENT\)\n {6}caFile: nowhere\.pem # private\n {14}\^{11}\n/,
    )
    const empty = await run(['validate', '--config', file('c.yaml', ...lines, `    caFile: ${file('empty.pem')}`), '--output', 'json'])
    expect(JSON.parse(empty.stdout).problems).toMatchObject([
      { severity: 'warning', code: 'CA_INVALID', message: expect.stringContaining('holds no certificate'), at: { line: 6, column: 13 } },
    ])
    const given = await run(['validate', good()], { env: { CAPKEEPER_CA_FILE: '/nowhere.pem' } })
    expect(given).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: the CA file \/nowhere\.pem does not exist/) })
  })

  test('reports problems of the config and of the policies together, and blames no policy for a broken config', async () => {
    const config = file('capkeeper.yaml', 'apiVersion: capkeeper/v1', 'kind: Config', 'workspaces:', '  - {name: acme, mode: enforced}')
    const ran = await run(['validate', bad(), '--config', config])
    expect(ran.code).toBe(65)
    expect(ran.stderr).toMatch(/capkeeper\.yaml:4:\d+: error: /)
    expect(ran.stderr).toMatch(/bad\.yaml:7:10: error: /)
    expect(ran.stderr).not.toContain('spec.workspace')
  })
})
