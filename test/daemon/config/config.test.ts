import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'
import { SETTINGS } from '../../support/declare.ts'

type ConfigFlags = Parameters<typeof loadConfig>[0]['flags']
const HEAD = 'apiVersion: capkeeper/v1\nkind: Config\n'
const SECRET = 'sk-very-secret-key-0123456789'

/** Loads `text` as conf/c.yaml of a working directory. */
function load(text: string, env: Readonly<Record<string, string>> = {}, flags: ConfigFlags = {}) {
  return loadConfig({ env, flags: { config: 'conf/c.yaml', ...flags }, cwd: folder({ 'conf/c.yaml': text }) })
}

const FRESH = {
  baseUrl: '',
  keys: {},
  policies: [],
  mode: 'enforce',
  capSemantics: 'layered',
  capReads: 'auto',
  approvals: 'separate',
  intervalMs: 300_000,
  usageIntervalMs: 900_000,
  usageLagMs: 12_600_000,
  historyDays: 180,
  onDrift: 'heal',
  prune: true,
  undeclaredUsers: 'ignore',
  guards: SETTINGS.guards,
  rate: { start: 5, max: 10, concurrency: 8 },
}

describe('without a config file', () => {
  it('everything but address and key has a default', () => {
    expect(loadConfig({ env: {}, flags: {} })).toEqual({
      config: {
        listen: { host: '127.0.0.1', port: 9464 },
        people: 'email',
        ledger: './capkeeper.db',
        approvals: 'separate',
        metrics: { perUser: 'off', userLabel: 'hash' },
        workspaces: [{ name: 'default', ...FRESH }],
      },
      problems: [],
    })
  })

  it('the environment makes one workspace', () => {
    const env = {
      CAPKEEPER_BASE_URL: 'https://service.example/_route/api_server/api/v1/',
      CAPKEEPER_SERVICE_KEY: SECRET,
      CAPKEEPER_POLICIES: '/a:/b,c',
      CAPKEEPER_LEDGER: 'x.db',
      CAPKEEPER_CONFIG: '',
    }
    const loaded = loadConfig({ env, flags: {} })
    expect(loaded.config).toMatchObject({
      ledger: 'x.db',
      workspaces: [
        {
          name: 'default',
          baseUrl: 'https://service.example/_route/api_server',
          keys: { default: { env: 'CAPKEEPER_SERVICE_KEY' } },
          policies: ['/a', '/b', 'c'],
        },
      ],
    })
    expect(JSON.stringify(loaded)).not.toContain(SECRET)
  })

  it('flags win over the environment', () => {
    const env = {
      CAPKEEPER_BASE_URL: 'https://env.example',
      CAPKEEPER_SERVICE_KEY_FILE: '/env',
      CAPKEEPER_POLICIES: '/env',
      CAPKEEPER_LEDGER: '/env',
    }
    const flags = {
      baseUrl: 'https://flag.example',
      serviceKeyFile: 'flag',
      policies: ['flag'],
      ledger: ':memory:',
      workspace: 'acme',
      listen: '0.0.0.0:0',
    }
    expect(loadConfig({ env, flags }).config).toMatchObject({
      listen: { host: '0.0.0.0', port: 0 },
      people: 'hash',
      ledger: ':memory:',
      workspaces: [{ name: 'acme', baseUrl: 'https://flag.example', keys: { default: { file: 'flag' } }, policies: ['flag'] }],
    })
  })
})

describe('a config file', () => {
  it('may say nothing but what it is', () => expect(load(HEAD).config?.workspaces).toEqual([{ name: 'default', ...FRESH }]))

  it('is found by flag, then by environment', () => {
    const root = folder({ 'a.yaml': `${HEAD}ledger: a`, 'b.yaml': `${HEAD}ledger: b` })
    const env = { CAPKEEPER_CONFIG: join(root, 'b.yaml') }
    expect(loadConfig({ env, flags: {} }).config?.ledger).toBe(join(root, 'b'))
    expect(loadConfig({ env, flags: { config: join(root, 'a.yaml') } }).config?.ledger).toBe(join(root, 'a'))
  })
})

describe('several workspaces', () => {
  const two = `${HEAD}workspaces:\n- {name: acme, baseUrl: https://a.example, keys: {default: {file: /k}, billingWrite: {file: /w}}}\n- {name: beta, baseUrl: https://b.example}\n`

  it('are all there', () => {
    const { config, configured } = load(two)
    expect(config?.workspaces.map(({ name }) => name)).toEqual(['acme', 'beta'])
    expect(configured).toEqual(config?.workspaces)
  })

  it('are narrowed to one by --workspace, and all stay known', () => {
    const { config, configured } = load(two, {}, { workspace: 'beta', baseUrl: 'https://c.example' })
    expect(config?.workspaces.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([['beta', 'https://c.example']])
    expect(configured?.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([
      ['acme', 'https://a.example'],
      ['beta', 'https://c.example'],
    ])
  })

  it('may name the variable of the key themselves', () => {
    const named = two.replace('{file: /k}', '{env: CAPKEEPER_SERVICE_KEY}')
    const { config, problems } = load(named, { CAPKEEPER_SERVICE_KEY: SECRET })
    expect(problems).toEqual([])
    expect(config?.workspaces.map(({ keys }) => keys.default)).toEqual([{ env: 'CAPKEEPER_SERVICE_KEY' }, undefined])
  })

  it('are not quoted in problems by a part of a long line, which may be a secret without its name', () => {
    const loaded = load(`${HEAD}workspaces:\n  - {name: acme, serviceKey: "${'0 '.repeat(1_500)}hush" oops, x: y}\n`)
    expect(loaded.problems.length).toBeGreaterThan(0)
    expect(JSON.stringify(loaded)).not.toContain('hush')
  })

  it('get a given key in the place of the default one only', () => {
    expect(load(two, {}, { workspace: 'acme', serviceKeyFile: '/new' }).config?.workspaces[0]?.keys).toEqual({
      default: { file: '/new' },
      billingWrite: { file: '/w' },
    })
  })
})
