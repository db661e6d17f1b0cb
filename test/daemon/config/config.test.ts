import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { networkProblems } from '../../../src/daemon/config/config.ts'
import { parseConfigText } from '../../../src/daemon/config/file.ts'
import type { ConfigFlags } from '../../../src/daemon/config/settings.ts'
import { parseDuration, parseListen } from '../../../src/daemon/config/values.ts'
import { formatProblems } from '../../../src/policy/yaml.ts'
import { folders, places } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'
import { letter } from '../../support/fuzz.ts'

const folder = folders()
const HEAD = 'apiVersion: capkeeper/v1\nkind: Config\n'
const VIEWERS = `${HEAD}auth: {proxyHeader: X-G, from: [10.0.0.1]}\nviewers: `
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

  it.each([
    [{ baseUrl: 'service.example' }, 'URL'],
    [{ baseUrl: `https://me:${SECRET}@service.example` }, 'URL'],
    [{ listen: 'localhost' }, 'ADDRESS'],
    [{ config: '/nowhere/at/all.yaml' }, 'FILE_UNREADABLE'],
  ])('%j is an error', (flags, code) => {
    const { config, problems } = loadConfig({ env: {}, flags })
    expect(config).toBeUndefined()
    expect(problems.map((problem) => problem.code)).toEqual([code])
    expect(formatProblems(problems)).not.toContain(SECRET)
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

  it.each([
    ['nothing', '', ['1:1 MISSING']],
    ['a policy', 'apiVersion: capkeeper/v1\nkind: CapPolicy\n', ['2:7 KIND']],
    ['no kind', 'apiVersion: capkeeper/v1\n', ['1:1 KIND']],
    ['two documents', `${HEAD}---\n${HEAD}`, ['4:1 KIND']],
    ['no YAML', `${HEAD}listen: [`, ['3:9 YAML_SYNTAX']],
    ['an unknown key', `${HEAD}listn: x`, ['3:1 UNKNOWN_KEY']],
    ['a key twice', `${HEAD}people: hash\npeople: email`, ['4:1 YAML_DUPLICATE_KEY']],
    ['an address without a port', `${HEAD}listen: localhost`, ['3:9 ADDRESS']],
    ['a port beyond all ports', `${HEAD}listen: localhost:70000`, ['3:9 ADDRESS']],
    ['people by name', `${HEAD}people: name`, ['3:9 UNKNOWN_VALUE']],
    ['a currency by its name', `${HEAD}currency: euro`, ['3:11 UNKNOWN_VALUE']],
    ['a price of nothing', `${HEAD}pricePerCredit: 0`, ['3:17 NUMBER']],
    ['a token in its place', `${HEAD}ledgerToken: ${SECRET}`, ['3:1 KEY_REFERENCE']],
    ['auth that lets in nobody', `${HEAD}auth: {}`, ['3:1 AUTH']],
    ['auth by a token in its place', `${HEAD}auth: {token: ${SECRET}}`, ['3:8 KEY_REFERENCE']],
    ['auth by token and proxy', `${HEAD}auth: {token: {env: T}, proxyHeader: X-Groups, from: [10.0.0.0/8]}`, ['3:1 AUTH']],
    ['one header twice', `${HEAD}auth: {proxyHeader: X-A, emailHeader: x-a, from: [::1]}\nviewers: [{self: true}]`, ['3:39 AUTH']],
    ['a proxy from nowhere', `${HEAD}auth: {proxyHeader: X-Groups}`, ['3:1 AUTH']],
    ['a proxy without its header', `${HEAD}auth: {from: [10.0.0.0/8]}`, ['3:1 AUTH']],
    ['a header that is none', `${HEAD}auth: {proxyHeader: "X Groups", from: [10.0.0.1]}`, ['3:21 AUTH']],
    ['links that lead nowhere', `${HEAD}sourceUrl: foo`, ['3:12 URL']],
    ['a network that is none', `${HEAD}auth: {proxyHeader: X-Groups, from: [10.0.0.0/33]}`, ['3:38 AUTH']],
    ['viewers whom nobody tells apart', `${HEAD}viewers: [{groups: [eng], workspaces: [acme]}]`, ['3:1 AUTH']],
    ['viewers of no workspace', `${VIEWERS}[{groups: [eng], workspaces: [acmee]}]\nworkspaces: [{name: acme}]`, ['4:40 AUTH']],
    ['a proxy at no address', `${HEAD}auth: {proxyHeader: X-G, from: []}`, ['3:32 MISSING']],
    [
      'viewers who are nobody, and who see nothing',
      `${VIEWERS}[{self: false, workspaces: [acme]}, {groups: [eng]}]`,
      ['4:11 AUTH', '4:46 AUTH'],
    ],
    ['an unknown key of auth', `${HEAD}auth: {tokn: {env: T}}`, ['3:1 AUTH', '3:8 UNKNOWN_KEY']],
    ['a price in quotes', `${HEAD}pricePerCredit: "1"`, ['3:17 NUMBER']],
    ['an unknown series setting', `${HEAD}metrics: {perUser: some}`, ['3:20 UNKNOWN_VALUE']],
    ['a workspace without a name', `${HEAD}workspaces: [{mode: audit}]`, ['3:14 MISSING']],
    ['a workspace twice', `${HEAD}workspaces: [{name: a}, {name: a}]`, ['3:32 DUPLICATE_NAME']],
    ['an address that is none', workspace('baseUrl: service'), ['5:12 URL']],
    ['an address with a password', workspace(`baseUrl: https://me:${SECRET}@x.example`), ['5:12 URL']],
    ['another protocol', workspace('baseUrl: ftp://x.example'), ['5:12 URL']],
    ['a key in its place', workspace(`keys: {default: ${SECRET}}`), ['5:10 KEY_REFERENCE']],
    ['a key instead of all keys', workspace(`keys: ${SECRET}`), ['5:3 KEY_REFERENCE']],
    ['a key in no place', workspace('keys: {default: {}}'), ['5:10 KEY_REFERENCE']],
    ['a key in two places', workspace('keys: {default: {file: a, env: b}}'), ['5:10 KEY_REFERENCE']],
    ['a key under another name', workspace(`serviceKey: ${SECRET}`), ['5:3 UNKNOWN_KEY']],
    ['a key where its file belongs', workspace(`keys:\n  default:\n    vallue: ${SECRET}`), ['6:5 KEY_REFERENCE', '7:7 UNKNOWN_KEY']],
    ['approvals that come at no time', `${HEAD}approvals: later`, ['3:12 UNKNOWN_VALUE']],
    ['reads of another kind', workspace('capReads: own'), ['5:13 UNKNOWN_VALUE']],
    ['another mode', workspace('mode: dry'), ['5:9 UNKNOWN_VALUE']],
    ['a duration without a unit', workspace('interval: 300'), ['5:13 DURATION']],
    ['a duration of nothing', workspace('interval: 0s'), ['5:13 DURATION']],
    ['a duration too long for a timer', workspace('interval: 40d'), ['5:13 DURATION']],
    ['a prune that is neither', workspace('prune: maybe'), ['5:10 NOT_BOOLEAN']],
    ['an unknown guard', workspace('guards: {maxLowerd: off}'), ['5:12 UNKNOWN_KEY']],
    ['a share that is none', workspace('guards: {maxLowered: few}'), ['5:24 NUMBER']],
    ['a share beyond everybody', workspace('guards: {maxLowered: 120%}'), ['5:24 NUMBER']],
    ['a floor that is not whole', workspace('guards: {maxLowered: {floor: 1.5}}'), ['5:32 NUMBER']],
    ['a switch that is neither', workspace('guards: {emptyPolicy: 20%}'), ['5:25 NOT_BOOLEAN']],
    ['a shrink beyond everybody', workspace('guards: {rosterShrink: 101}'), ['5:26 NUMBER']],
    ['no requests', workspace('rate: {max: 0}'), ['5:15 NUMBER']],
    ['a negative rate', workspace('rate: {max: -1}'), ['5:15 NUMBER']],
    ['a start above max', workspace('rate: {start: 6, max: 5}'), ['5:17 NUMBER']],
    ['a start above the default max', workspace('rate: {start: 11}'), ['5:17 NUMBER']],
    ['no requests in flight', workspace('rate: {concurrency: 0}'), ['5:23 NUMBER']],
  ])('with %s is an error with its place, and no secret in it', (_name, text, expected) => {
    const { config, problems } = load(text)
    expect(config).toBeUndefined()
    expect(places(problems).toSorted()).toEqual(expected)
    expect(problems.every(({ at }) => at?.file === 'conf/c.yaml')).toBe(true)
    expect(formatProblems(problems)).not.toContain(SECRET)
  })

  it('reports all problems at once, with suggestions', () => {
    const { problems } = load(workspace('mode: enforced\nguards: {maxLowerd: off}\ninterval: 5'))
    expect(problems.map(({ hint }) => hint)).toEqual(expect.arrayContaining(['did you mean "enforce"?', 'did you mean "maxLowered"?']))
    expect(problems.length).toBe(3)
  })

  it('never throws, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: letter }), fc.json()), (text) => {
        for (const one of [text, `${HEAD}${text}`, workspace(text)]) formatProblems(parseConfigText('c', one).problems)
      }),
      { numRuns: 80 },
    )
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

  it('do not hold one that was not configured', () => {
    const { problems } = load(two, {}, { workspace: 'betta' })
    expect(problems).toMatchObject([{ code: 'WORKSPACE_UNKNOWN', hint: 'did you mean "beta"?' }])
    expect(load(two, {}, { workspace: 'gamma' }).problems[0]?.hint).toBe('known here: acme, beta')
  })

  it.each([
    ['--base-url', {}, { baseUrl: 'https://c.example' }],
    ['--policies', {}, { policies: ['p'] }],
    ['--service-key-file', {}, { serviceKeyFile: 'k' }],
    ['CAPKEEPER_BASE_URL', { CAPKEEPER_BASE_URL: 'https://c.example' }, {}],
    ['CAPKEEPER_SERVICE_KEY', { CAPKEEPER_SERVICE_KEY: SECRET }, {}],
  ])('need --workspace beside %s', (by, env: Record<string, string>, flags: ConfigFlags) => {
    const { problems } = load(two, env, flags)
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['NEEDS_WORKSPACE', `${by} is for one workspace, and 2 are configured: acme, beta`],
    ])
    expect(load(two, env, { ...flags, workspace: 'acme' }).problems).toEqual([])
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

describe('networkProblems', () => {
  it('name what is missing and how to give it', () => {
    const { config } = loadConfig({ env: {}, flags: {} })
    expect(config && networkProblems(config).map(({ code }) => code)).toEqual(['NO_BASE_URL', 'NO_KEY', 'NO_POLICIES'])
    expect(config && networkProblems(config, { policies: false }).map(({ code }) => code)).toEqual(['NO_BASE_URL', 'NO_KEY'])
  })

  it('are none when all is given', () => {
    const { config } = loadConfig({ env: {}, flags: { baseUrl: 'https://a.example', serviceKeyFile: 'k', policies: ['p'] } })
    expect(config && networkProblems(config)).toEqual([])
  })
})

describe('values', () => {
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
  ])('the duration %s is %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each([
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    [':9464', { host: '0.0.0.0', port: 9464 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['localhost', undefined],
    ['::1:80', undefined],
    ['a:99999', undefined],
  ])('%s listens on %j', (text, listen) => expect(parseListen(text)).toEqual(listen))
})
