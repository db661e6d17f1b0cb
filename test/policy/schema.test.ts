import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { CONFIG_SCHEMA, POLICY_SCHEMA } from '../../src/cli/schema.ts'
import { parseConfigText } from '../../src/daemon/config/file.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { policyText } from './support.ts'

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true })
const isPolicy = ajv.compile(POLICY_SCHEMA)
const isConfig = ajv.compile(CONFIG_SCHEMA)
const valuesOf = (text: string): readonly unknown[] => parseAllDocuments(text).map((document) => document.toJS())

describe('the example policies', () => {
  const loaded = loadPolicies(['policies'], { now: Date.parse('2026-11-21T00:00:00Z') })

  it('are valid without a warning, as a whole', () => {
    expect(loaded.problems).toEqual([])
    const set = loaded.sets.get('default')?.set
    expect(set?.documents).toEqual(['acme-caps', 'acme-cycle-grants', 'acme-grants'])
    expect(new Set(set?.rules.map(({ scope }) => scope.kind))).toEqual(new Set(['team', 'group', 'user']))
    expect(new Set(set?.grants.map(({ until }) => until.kind))).toEqual(new Set(['instant', 'cycleEnd']))
    expect(new Set(set?.grants.map(({ amount }) => amount.kind))).toEqual(new Set(['cap', 'add']))
  })

  it('fit the published schema, which they name', () => {
    for (const file of loaded.files) {
      const text = readFileSync(file, 'utf8')
      expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./cap-policy.schema.json')
      for (const value of valuesOf(text)) expect(isPolicy(value) || isPolicy.errors).toBe(true)
    }
  })

  it('lie beside the schema as it is now', () => {
    expect(JSON.parse(readFileSync('policies/cap-policy.schema.json', 'utf8'))).toEqual(POLICY_SCHEMA)
  })
})

const UNTIL = 'until: 2027-01-31, reason: r'

describe('the policy schema and the parser', () => {
  it.each([
    ['a team cap', 'team: {cap: 500}'],
    ['none', 'team: {cap: none}'],
    ['a 0 that is meant', 'team: {cap: 0, allowZero: true}'],
    ['lists without items', 'users:\ngroups: []'],
    [
      'ids that look like numbers',
      'groups: [{id: 7, name: 8, cap: 5}]\napprovals: [12345678901234567890123456789012, 7d1f0c2a9b347d1f0c2a9b347d1f0c2a]',
    ],
    [
      'grants',
      `grants: [{user: a@b.c, cap: 5, ${UNTIL}}, {group: g, add: 5, ${UNTIL}}, {team: true, cap: 5, from: 2027-01-01, until: cycleEnd, reason: r}]`,
    ],
    ['an instant', 'grants: [{user: a@b.c, cap: 5, until: 2027-01-31T10:00:00+01:00, reason: r, ticket: 12}]'],
  ])('both take %s', (_name, spec) => {
    const text = policyText(spec)
    expect(parsePolicyText('p.yaml', text).problems).toEqual([])
    for (const value of valuesOf(text)) expect(isPolicy(value) || isPolicy.errors).toBe(true)
  })
})

describe('the config schema and the parser', () => {
  const config = (lines: string): string => `apiVersion: capkeeper/v1\nkind: Config\n${lines}\n`
  const workspace = (line: string): string => config(`workspaces:\n- name: acme\n  ${line}`)

  it.each([
    ['nothing but its kind', config('')],
    [
      'all settings',
      config(
        'listen: 0.0.0.0:9464\npeople: hash\nledger: ./x.db\nmetrics: {perUser: top, userLabel: email}\npricePerCredit: 0.04\nworkspaces: []',
      ),
    ],
    [
      'a workspace',
      workspace(
        'baseUrl: https://service.example/api/v1\n  keys: {default: {file: /k}, billingWrite: {env: K}}\n  interval: 90s\n  policies: [/p]',
      ),
    ],
    [
      'guards',
      workspace(
        'guards: {emptyPolicy: off, maxLowered: 20%, maxBlocked: {percent: 1, floor: 2}, rosterShrink: 30, maxRaise: off, contested: {times: 5}}',
      ),
    ],
    ['rates', workspace('rate: {start: 0.5, max: 2, concurrency: 1}')],
  ])('both take %s', (_name, text) => {
    expect(parseConfigText('c.yaml', text).problems).toEqual([])
    for (const value of valuesOf(text)) expect(isConfig(value) || isConfig.errors).toBe(true)
  })
})
