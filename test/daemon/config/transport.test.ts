import { describe, expect, it } from 'vitest'
import { networkProblems } from '../../../src/daemon/config/config.ts'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'

type ConfigFlags = Parameters<typeof loadConfig>[0]['flags']

function load(lines: string, env: Readonly<Record<string, string>> = {}, flags: ConfigFlags = {}) {
  const text = `apiVersion: capkeeper/v1\nkind: Config\nworkspaces:\n- name: acme\n  baseUrl: https://a.example\n${lines}`
  return loadConfig({ file: 'conf/c.yaml', env, flags, cwd: folder({ 'conf/c.yaml': text }) })
}

const refused = (baseUrl: string, env: Readonly<Record<string, string>> = {}, flags: ConfigFlags = {}): readonly string[] => {
  const { config } = loadConfig({ env, flags: { baseUrl, serviceKeyFile: 'k', policies: ['p'], ...flags } })
  return config ? networkProblems(config).map(({ code }) => code) : ['no config']
}

describe('plain http', () => {
  it.each(['http://127.0.0.1:8787', 'http://127.9.8.7', 'http://localhost:1/prefix', 'http://[::1]:8787/api/v1', 'http://127.1'])(
    'is fine on this machine: %s',
    (url) => expect(refused(url)).toEqual([]),
  )

  it.each([
    'http://service.example',
    'http://10.0.0.1',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://0.0.0.0',
    'http://[::]',
  ])('to any other machine is refused: %s', (url) => expect(refused(url)).toEqual(['PLAIN_HTTP']))

  it('says what would happen and what to do', () => {
    const { config } = loadConfig({
      env: {},
      flags: { baseUrl: 'http://a.example', serviceKeyFile: 'k', policies: ['p'], workspace: 'acme' },
    })
    expect(config && networkProblems(config)[0]).toMatchObject({
      message: 'acme: http://a.example would carry the service key unencrypted to another machine',
      hint: expect.stringContaining('--allow-plain-http'),
    })
  })

  it.each([
    ['the flag', {}, { allowPlainHttp: true }],
    ['the environment', { CAPKEEPER_ALLOW_PLAIN_HTTP: 'true' }, {}],
  ] as const)('is allowed by %s', (_by, env, flags) => expect(refused('http://a.example', env, flags)).toEqual([]))

  it('is allowed by the config, for the one workspace that says so', () => {
    const keys = 'keys: {default: {file: k}}\n  policies: [p]'
    const { config } = load(`  ${keys}\n- name: beta\n  baseUrl: http://b.example\n  allowPlainHttp: true\n  ${keys}
- name: gamma\n  baseUrl: http://c.example\n  allowPlainHttp: false\n  ${keys}\n`)
    expect(config && networkProblems(config).map(({ message }) => message.slice(0, 8))).toEqual(['gamma: h'])
  })

  it('is not allowed by a word that is neither true nor false', () => {
    expect(load('', { CAPKEEPER_ALLOW_PLAIN_HTTP: 'yes' }).problems).toMatchObject([
      { code: 'NOT_BOOLEAN', message: 'CAPKEEPER_ALLOW_PLAIN_HTTP is "yes", not true or false' },
    ])
    expect(refused('http://a.example', { CAPKEEPER_ALLOW_PLAIN_HTTP: 'false' })).toEqual(['PLAIN_HTTP'])
  })
})

describe('the CA file', () => {
  const lines = '  caFile: tls/ca.pem\n- name: beta\n'
  const files = (...args: Parameters<typeof load>) => load(...args).config?.workspaces.map(({ caFile }) => caFile)

  it('of the environment, and before it of the flag, is for all workspaces', () => {
    expect(files(lines, { CAPKEEPER_CA_FILE: 'env.pem' })).toEqual(['env.pem', 'env.pem'])
    expect(files(lines, { CAPKEEPER_CA_FILE: 'env.pem' }, { caFile: 'flag.pem' })).toEqual(['flag.pem', 'flag.pem'])
  })
})
