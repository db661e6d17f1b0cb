import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { inside } from '../support/inside.ts'
import { configText, place, policyText, service, workspace, world, written } from './world.ts'

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0

const squeezed = (text: string): string => text.replace(/ +/g, ' ')

describe('explain', () => {
  const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: ada.lovelace@example.com, cap: 4000, reason: migration lead}
grants:
  - {user: ada.lovelace@example.com, add: 800, until: 2099-01-01, reason: release week, ticket: OPS-12}
protected: [ada.lovelace@example.com]`

  test('shows the grant, the user cap, the group and the team of a person with file:line, and the winner', async () => {
    const at = await world({ policy: POLICY })
    const { code, stdout, stderr } = await at.run('explain', 'ADA.Lovelace@example.com')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const text = squeezed(stdout)
    expect(text).toContain('ada.lovelace@example.com: policy asks for 4800\n')
    expect(text).toContain('in group:grp_platform (Platform)')
    expect(text).toMatch(/\* wins 4800 \(\+800\) user grant, \w+ policies\/acme\.yaml:11:\d+/)
    expect(text).toContain('release week · OPS-12')
    expect(text).toMatch(/ loses 4000 user cap policies\/acme\.yaml:9:46/)
    expect(text).toMatch(/ loses 1500 group cap policies\/acme\.yaml:7:47/)
    expect(text).toMatch(/ loses 500 team cap policies\/acme\.yaml:5:15/)
    expect(text).toContain('Now: + set none → 4800, cause policy')
    expect(text).toContain('Last write: none by capkeeper.')
    expect(written(at.service)).toEqual([])
  })

  test('shows the readings, the use, the last write, and the hold of the next one', async () => {
    const at = await world({ policy: POLICY })
    at.service.sandbox.recordUse('ada.lovelace@example.com', 60_000)
    await at.run('apply', '--yes')
    at.service.setCap('ada.lovelace@example.com', 9000)
    const { code, stdout } = await at.run('explain', 'ada.lovelace@example.com')
    expect(code).toBe(0)
    const text = squeezed(stdout)
    expect(text).toMatch(/ada\.lovelace@example\.com 9000 read 20/)
    expect(text).toContain('Used beyond the seat in this cycle: 100 credits, 8900 left. Estimated.')
    expect(text).toMatch(/Now: ~ lower 9000 → 4800, cause external \(held by protected, hold [0-9a-f]{32}\)/)
    expect(text).toMatch(/Last write: .* none → 4800, applied, cause policy, release week, policies [0-9a-f]{12}\./)
  })

  test('reads the cap of a person and of the team also where no policy declares one', async () => {
    const at = await world({ policy: 'users: []' })
    at.service.setCap('team', 700)
    const wider = await at.run('explain', 'ada.lovelace@example.com')
    expect(squeezed(wider.stdout)).toContain('In force: 700, set at team.')
    at.service.setCap('ada.lovelace@example.com', 9000)
    const own = await at.run('explain', 'ada.lovelace@example.com')
    expect(squeezed(own.stdout)).toMatch(/ada\.lovelace@example\.com 9000 read 20/)
    expect(own.stdout).toContain('In force: 9000, set at ada.lovelace@example.com.')
    expect(own.stdout).toContain('Now: nothing is asked of this very scope.')
  })

  test('gives JSON, takes a group and the team, and exits 64 for anything else', async () => {
    const at = await world({ policy: POLICY })
    const group = JSON.parse((await at.run('explain', 'group:grp_platform', '--output', 'json')).stdout)
    expect(group).toMatchObject({ kind: 'Explanation', workspace: 'acme', cap: 1500 })
    expect((await at.run('explain', 'team')).stdout).toContain('team: policy asks for 500')
    expect(await at.run('explain', 'somebody')).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringContaining("'somebody' is not a scope: write an e-mail, group:ID or team"),
    })
  })
})

describe('history', () => {
  test('lists the writes newest first, of one scope, since a time, and as JSON', async () => {
    const at = await world({ policy: 'team: {cap: 500}\nusers:\n  - {email: ada.lovelace@example.com, cap: 4000}' })
    expect(await at.run('history')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('there is no ledger at') })
    await at.run('apply', '--yes')
    at.policy(policyText('team: {cap: 600}\nusers:\n  - {email: ada.lovelace@example.com, cap: 4000}'))
    await at.run('apply', '--yes')
    const all = await at.run('history')
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(squeezed(all.stdout).match(/^20.*$/gm)).toEqual([
      expect.stringContaining('~ raise team 500 → 600 policy applied'),
      expect.stringContaining('+ set team none → 500 policy applied'),
      expect.stringContaining('+ set ada.lovelace@example.com none → 4000 policy applied'),
    ])
    const one = JSON.parse((await at.run('history', 'team', '--output', 'json')).stdout)
    expect(one).toMatchObject({
      kind: 'History',
      workspace: 'acme',
      entries: [
        { from: 500, to: 600 },
        { from: 'none', to: 500 },
      ],
    })
    expect((await at.run('history', '--since', '2199-01-01')).stdout).toBe('Nothing was written.\n')
  })
})

describe('validate', () => {
  test('exits 65 with every error at its place: the line, a caret under it, and what to write', async () => {
    const at = place()
    const file = at.write(
      'acme.yaml',
      policyText('teem: {cap: 500}\nusers:\n  - {email: ada@example.com, cap: 1e3}\n  - {email: bob@example.com, cap: -5}'),
    )
    const { code, stdout, stderr } = await inside(['validate', 'acme.yaml'], { cwd: at.folder })
    expect({ code, stdout }).toEqual({ code: 65, stdout: '' })
    const lines = stderr.split('\n')
    for (const [place, text] of [
      ['acme.yaml:5:3', 'teem'],
      ['acme.yaml:7:37', '1e3'],
      ['acme.yaml:8:37', '-5'],
    ] as const) {
      const index = lines.findIndex((line) => line.startsWith(`${place}: error: `))
      expect(index, `${place} in ${stderr}`).toBeGreaterThanOrEqual(0)
      const [source = '', caret = ''] = lines.slice(index + 1)
      expect(source.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe(text)
    }
    expect(stderr).toContain('did you mean')
    expect(stderr.trimEnd().endsWith('3 errors')).toBe(true)
    const json = await inside(['validate', file, '--output', 'json'], { cwd: at.folder })
    expect(json.code).toBe(65)
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'Validation', valid: false, problems: [{ at: { line: 5, column: 3 } }, {}, {}] })
    const markdown = await inside(['validate', file, '--output', 'markdown'], { cwd: at.folder })
    expect(markdown).toMatchObject({ code: 65, stdout: expect.stringContaining('**Not valid: 3 errors.**') })
  })

  test('needs no key and no service, and judges config and policies together', async () => {
    const at = place()
    at.write('policies/a.yaml', policyText('workspace: acmee\nteam: {cap: 500}'))
    const config = at.write(
      'config.yaml',
      JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Config', workspaces: [workspace('acme', 'http://127.0.0.1:1')] }),
    )
    const wrong = await inside(['validate', '--config', config])
    expect(wrong).toMatchObject({ code: 65, stderr: expect.stringMatching(/a\.yaml:5:14: error: .*acmee/) })
    at.write('policies/a.yaml', policyText('workspace: acme\nteam: {cap: 500}'))
    expect(await inside(['validate', '--config', config])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^acme: valid: 1 cap, /m),
    })
  })
})

describe('schema', () => {
  test('prints JSON Schemas that compile, take the example policies, and refuse a misspelt key', async () => {
    const schemaOf = async (kind: string) => JSON.parse((await inside(['schema', kind])).stdout)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const [isPolicy, isConfig] = [ajv.compile(await schemaOf('policy')), ajv.compile(await schemaOf('config'))]
    for (const name of ['acme.yaml', 'temporary.yaml']) {
      const text = readFileSync(join(import.meta.dirname, '../../policies', name), 'utf8')
      for (const document of parseAllDocuments(text)) expect(isPolicy(document.toJS()) || isPolicy.errors).toBe(true)
    }
    const document = { apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'a' } }
    expect(isPolicy({ ...document, spec: { team: { cap: 5 } } })).toBe(true)
    expect(isPolicy({ ...document, spec: { teem: { cap: 5 } } })).toBe(false)
    const config = { apiVersion: 'capkeeper/v1', kind: 'Config' }
    expect(isConfig({ ...config, workspaces: [workspace('acme', 'https://service.example')] }) || isConfig.errors).toBe(true)
    expect(isConfig({ ...config, workspace: [] })).toBe(false)
  })
})

describe('ledger', () => {
  test('backup makes a private copy that check finds whole, and never overwrites a file', async () => {
    const at = await world()
    expect(await at.run('ledger', 'check')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no ledger at') })
    await at.run('apply', '--yes')
    const copy = at.path('copy.db')
    expect(await at.run('ledger', 'backup', copy)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`copied to ${copy}`),
      stderr: '',
    })
    expect(statSync(copy).mode & 0o077).toBe(0)
    const check = await inside(['ledger', 'check', '--ledger', copy])
    expect(check).toMatchObject({ code: 0, stdout: expect.stringMatching(/copy\.db: whole, schema version 4\n/) })
    expect(squeezed(check.stdout)).toContain(`acme ${at.service.url} 1 0 1 0 0`)
    expect(await at.run('ledger', 'backup', copy)).toMatchObject({ code: 1, stdout: '' })
  })

  test.each([['plan'], ['apply', '--yes'], ['history'], ['ledger', 'check'], ['run', '--once']])(
    'that is damaged stops %s, which writes no cap and says so',
    async (...argv) => {
      const at = await world()
      at.write('ledger.db', 'this is no database, and somebody may want it back')
      const ran = await at.run(...argv)
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(/ledger\.db/) })
      expect(at.read('ledger.db')).toBe('this is no database, and somebody may want it back')
      expect(written(at.service)).toEqual([])
    },
  )
})

describe('a workspace that cannot be read', () => {
  test.each([['plan'], ['audit'], ['report'], ['explain', 'team'], ['notify', 'preview']])(
    'keeps no other from %s, which tells of it and exits 4',
    async (...argv) => {
      const at = await world({ policy: 'workspace: acme\nteam: {cap: 512}' })
      at.write('policies/beta.yaml', policyText('workspace: beta\nteam: {cap: 512}', 'beta'))
      const [beta, moved] = [await service(), await service()]
      const notify = { people: [85], email: { host: '127.0.0.1', from: 'caps@example.com', tls: 'none' } }
      const configured = (url: string): void =>
        void at.write('config.yaml', configText([workspace('beta', url), workspace('acme', at.service.url)], { notify }))
      configured(beta.url)
      expect((await at.run('apply', '--yes')).code).toBe(0)
      configured(moved.url)
      const ran = await at.run(...argv)
      expect(ran).toMatchObject({
        code: 4,
        stdout: expect.stringMatching(/\S/),
        stderr: expect.stringMatching(/^error: beta: .* is bound to /m),
      })
      expect(await at.run(...argv, '--workspace', 'beta')).toMatchObject({ code: 1, stdout: '' })
    },
  )
})

describe('completion', () => {
  const bash = async (words: readonly string[]): Promise<string> => {
    const { stdout } = await inside(['completion', 'bash'])
    const line = `${stdout}\nCOMP_WORDS=(capkeeper ${words.join(' ')}); COMP_CWORD=${words.length}; _capkeeper; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', line], { encoding: 'utf8' }).trim()
  }

  test.skipIf(!has('bash'))('completes commands, flags and their values in bash', async () => {
    expect(await bash(['pl'])).toBe('plan')
    expect(await bash(['plan', '--out'])).toBe('--output --out')
    expect(await bash(['plan', '--output', "''"])).toBe('text json markdown')
    expect(await bash(['ledger', 'b'])).toBe('backup')
  })

  test.each(['zsh', 'fish'])('prints a script for %s that names every command', async (shell) => {
    const { code, stdout } = await inside(['completion', shell])
    expect(code).toBe(0)
    for (const command of [
      'run',
      'plan',
      'apply',
      'approve',
      'pause',
      'resume',
      'validate',
      'explain',
      'history',
      'status',
      'schema',
      'ledger',
      'sandbox',
    ]) {
      expect(stdout).toMatch(new RegExp(`\\b${command}\\b`))
    }
  })
})

describe('help', () => {
  test('of the program names every command with its exit codes, and that of each command has an example', async () => {
    const { code, stdout, stderr } = await inside(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('65 invalid policy or config')
    const commands = [...(stdout.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help')
    expect(commands).toEqual(expect.arrayContaining(['run', 'plan', 'apply', 'ledger']))
    const helps = await Promise.all(commands.map((name) => inside([name, '--help'])))
    expect(
      commands.filter((name, index) => !helps[index]?.stdout.includes(`  $ ${name === 'completion' ? 'source <(' : ''}capkeeper ${name}`)),
    ).toEqual([])
  })
})
