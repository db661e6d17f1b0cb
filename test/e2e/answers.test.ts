import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { inside } from '../support/inside.ts'
import { place, policyText, workspace, world, written } from './world.ts'

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

describe('validate', () => {
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
  test('that is damaged stops every command, which writes no cap and says so', async () => {
    const at = await world()
    at.write('ledger.db', 'this is no database, and somebody may want it back')
    for (const argv of [['plan'], ['apply', '--yes'], ['history'], ['ledger', 'check'], ['run', '--once']])
      expect(await at.run(...argv)).toMatchObject({ code: 1, stderr: expect.stringMatching(/ledger\.db/) })
    expect(at.read('ledger.db')).toBe('this is no database, and somebody may want it back')
    expect(written(at.service)).toEqual([])
  })
})
