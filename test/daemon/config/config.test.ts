import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'

type ConfigFlags = Parameters<typeof loadConfig>[0]['flags']
const HEAD = 'apiVersion: capkeeper/v1\nkind: Config\n'
const SECRET = 'sk-very-secret-key-0123456789'

/** Loads `text` as conf/c.yaml of a working directory. */
function load(text: string, env: Readonly<Record<string, string>> = {}, flags: ConfigFlags = {}) {
  return loadConfig({ file: 'conf/c.yaml', env, flags, cwd: folder({ 'conf/c.yaml': text }) })
}

const workspace = (lines: string): string => `${HEAD}workspaces:\n- name: acme\n  ${lines.replaceAll('\n', '\n  ')}\n`
const acme = (lines: string) => load(workspace(lines)).config?.workspaces[0]
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
  guards: DEFAULT_GUARDS,
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
  it('is read whole, its paths relative to its folder', () => {
    const { config, problems, file } = load(`${HEAD}listen: 0.0.0.0:9999
people: email
ledger: ./data/x.db
approvals: together
metrics: {perUser: top, userLabel: email}
ledgerToken: {file: token}
pricePerCredit: 0.04
currency: EUR
workspaces:
  - name: acme
    baseUrl: https://service.example/api/v1
    keys:
      default: {file: /var/run/key}
      billingWrite: {file: write-key}
      teamsRead: {env: TEAMS_KEY}
    policies: [/policies, more]
    mode: audit
    capSemantics: copied
    capReads: explicit
    interval: 90s
    usageInterval: 1h30m
    usageLag: 4h
    history: 90d
    onDrift: alert
    prune: false
    undeclaredUsers: report
    guards: {emptyPolicy: off, protected: false, semantics: on, rosterShrink: 30%, maxAffected: off, maxLowered: 20 %, maxBlocked: {percent: 1}, maxCleared: {percent: 7, floor: 9}, maxRaise: 50%, breaker: off, contested: {times: 5}}
    rate: {start: 0.5, max: 2, concurrency: 1}
`)
    expect(problems).toEqual([])
    expect(file).toBe('conf/c.yaml')
    expect(config).toEqual({
      listen: { host: '0.0.0.0', port: 9999 },
      people: 'email',
      ledger: 'conf/data/x.db',
      approvals: 'together',
      metrics: { perUser: 'top', userLabel: 'email' },
      ledgerToken: { file: 'conf/token' },
      pricePerCredit: 0.04,
      currency: 'EUR',
      workspaces: [
        {
          name: 'acme',
          baseUrl: 'https://service.example',
          keys: { default: { file: '/var/run/key' }, billingWrite: { file: 'conf/write-key' }, teamsRead: { env: 'TEAMS_KEY' } },
          policies: ['/policies', 'conf/more'],
          mode: 'audit',
          capSemantics: 'copied',
          capReads: 'explicit',
          approvals: 'together',
          intervalMs: 90_000,
          usageIntervalMs: 5_400_000,
          usageLagMs: 14_400_000,
          historyDays: 90,
          onDrift: 'alert',
          prune: false,
          undeclaredUsers: 'report',
          guards: {
            ...DEFAULT_GUARDS,
            emptyPolicy: false,
            protected: false,
            semantics: true,
            rosterShrink: 30,
            maxAffected: 'off',
            maxLowered: { percent: 20, floor: 3 },
            maxBlocked: { percent: 1, floor: 3 },
            maxCleared: { percent: 7, floor: 9 },
            maxRaise: 50,
            breaker: 'off',
            contested: 5,
          },
          rate: { start: 0.5, max: 2, concurrency: 1 },
        },
      ],
    })
  })

  it('may say nothing but what it is', () => expect(load(HEAD).config?.workspaces).toEqual([{ name: 'default', ...FRESH }]))

  it('is found by flag, then by environment', () => {
    const root = folder({ 'a.yaml': `${HEAD}ledger: a`, 'b.yaml': `${HEAD}ledger: b` })
    const env = { CAPKEEPER_CONFIG: join(root, 'b.yaml') }
    expect(loadConfig({ env, flags: {} }).config?.ledger).toBe(join(root, 'b'))
    expect(loadConfig({ env, flags: { config: join(root, 'a.yaml') } }).config?.ledger).toBe(join(root, 'a'))
  })

  it('keeps a ledger in memory where it is', () => expect(load(`${HEAD}ledger: ":memory:"`).config?.ledger).toBe(':memory:'))

  it.each([
    ['on loopback', '127.0.0.1:9464', 'email'],
    ['on the other loopback', '"[::1]:9464"', 'email'],
    ['on localhost', 'localhost:9464', 'email'],
    ['elsewhere', '0.0.0.0:9464', 'hash'],
    ['on all addresses', '":9464"', 'hash'],
  ])('shows people %s by %s as %s', (_name, listen, people) => expect(load(`${HEAD}listen: ${listen}`).config?.people).toBe(people))

  it.each(['off', 'false'])('shows no series per person with perUser: %s, as Helm writes it', (word) =>
    expect(load(`${HEAD}metrics: {perUser: ${word}}`).config?.metrics.perUser).toBe('off'),
  )

  it('starts no faster than max', () => expect(acme('rate: {max: 2}')?.rate).toEqual({ start: 2, max: 2, concurrency: 8 }))
})

test('envelopes belong to their workspace, with their place', () => {
  const envelopes = 'envelopes: [{name: a, workspace: acme, policies: [p/a], groups: [grp_a], maxCap: 3000}]'
  const [acme, beta] =
    load(`${HEAD}${envelopes}\nworkspaces: [{name: acme, policies: [p]}, {name: beta, policies: [q]}]`).config?.workspaces ?? []
  const at = { file: 'conf/c.yaml', line: 3 }
  expect(acme?.envelopes).toMatchObject([{ name: 'a', workspace: 'acme', policies: ['conf/p/a'], groups: ['grp_a'], maxCap: 3000, at }])
  expect(beta).not.toHaveProperty('envelopes')
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

  it('get a given key in the place of the default one only', () => {
    expect(load(two, {}, { workspace: 'acme', serviceKeyFile: '/new' }).config?.workspaces[0]?.keys).toEqual({
      default: { file: '/new' },
      billingWrite: { file: '/w' },
    })
  })
})

describe('values', () => {
  it.each([
    [' https://host/ ', 'https://host'],
    ['https://host/api/v1/', 'https://host'],
    ['https://host/_route/api_server', 'https://host/_route/api_server'],
    ['https://host/_route/api_server/api/v1//', 'https://host/_route/api_server'],
    ['HTTPS://Host:443/x/', 'https://host/x'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
  ])('the address "%s" is %s', (text, url) => expect(acme(`baseUrl: "${text}"`)?.baseUrl).toBe(url))

  it.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['5', undefined],
    ['m', undefined],
    ['5 m', undefined],
    ['-5m', undefined],
    ['1.5h', undefined],
  ])('the duration %s is %s', (text, ms) => expect(acme(`interval: ${text}`)?.intervalMs).toBe(ms))

  it.each([
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    [':9464', { host: '0.0.0.0', port: 9464 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['localhost', undefined],
    ['::1:80', undefined],
    ['a:99999', undefined],
  ])('%s listens on %j', (text, listen) => expect(load(`${HEAD}listen: "${text}"`).config?.listen).toEqual(listen))
})
