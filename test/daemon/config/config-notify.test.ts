// `notify` in the config: what it comes to for each workspace, and each mistake at its place.
import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../../src/policy/yaml.ts'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'

function load(notify: string, workspaces: readonly string[] = ['acme']) {
  const lines = notify
    .trim()
    .split('\n')
    .map((line) => `  ${line}\n`)
  const text = `apiVersion: capkeeper/v1\nkind: Config\nnotify:\n${lines.join('')}workspaces:\n${workspaces.map((name) => `- {name: ${name}}\n`).join('')}`
  return loadConfig({ file: 'conf/c.yaml', env: {}, flags: {}, cwd: folder({ 'conf/c.yaml': text }) })
}

const EMAIL = 'email: {host: mail.example, from: caps@example.com}'

describe('notify', () => {
  it('has a default for everything but the mail server and the receivers', () => {
    const [acme] = load(`${EMAIL}\npeople: [100, 85, 85]`).config?.workspaces ?? []
    expect(acme?.notify).toMatchObject({
      mail: { host: 'mail.example', port: 587, tls: 'starttls', from: 'caps@example.com' },
      webhooks: [],
      settings: { people: [85, 100], pools: [80], owners: [], digest: 'off', timezone: 'UTC' },
    })
  })

  it('is absent without the key, and sends no message when it is empty', () => {
    const channels = load(
      'events: [held, applied, held]\nwebhooks: [{name: ops, url: {env: OPS}}, {name: chat, url: {env: CHAT}}]\nowners: [{group: grp_r, webhook: chat}]',
    )
    expect(channels.config?.workspaces[0]?.notify?.settings).toMatchObject({ events: ['held', 'applied'], channels: ['ops'] })
    expect(load('digest: off').config?.workspaces[0]?.notify?.settings).toMatchObject({ people: [], digest: 'off', owners: [] })
    const text = 'apiVersion: capkeeper/v1\nkind: Config\n'
    expect(
      loadConfig({ file: 'c.yaml', env: {}, flags: {}, cwd: folder({ 'c.yaml': text }) }).config?.workspaces[0]?.notify,
    ).toBeUndefined()
  })

  it('gives each workspace its own owners, and secrets as references relative to the file', () => {
    const { config, problems } = load(
      'webhooks: [{name: chat, url: {file: chat-url}, format: teams}]\nowners:\n- {workspace: a, group: g, webhook: chat}\n- {workspace: b, pool: p, webhook: chat}\nquietHours: {from: "19:30", until: "08:00"}',
      ['a', 'b'],
    )
    expect(formatProblems(problems)).toBe('')
    const [a, b] = config?.workspaces ?? []
    expect(a?.notify?.settings.owners).toEqual([{ of: { kind: 'group', id: 'g' }, targets: [{ kind: 'webhook', name: 'chat' }] }])
    expect(b?.notify?.settings.owners).toMatchObject([{ of: { kind: 'pool', name: 'p' } }])
    expect(a?.notify?.webhooks).toEqual([{ name: 'chat', url: { file: expect.stringMatching(/conf\/chat-url$/) }, format: 'teams' }])
    expect(a?.notify?.settings.quietHours).toEqual({ fromMinute: 19 * 60 + 30, untilMinute: 480 })
  })
})

describe('requests', () => {
  const requests = (url: string) =>
    loadConfig({
      file: 'c.yaml',
      env: {},
      flags: {},
      cwd: folder({ 'c.yaml': `apiVersion: capkeeper/v1\nkind: Config\nnotify: {${EMAIL}}\nrequests: {url: '${url}'}\n` }),
    })

  it('say where people ask for more, on the pages and in messages', () => {
    const url = 'https://git.example/new?for={email}&cap={cap}&used={used}'
    const { config, problems } = requests(` ${url} `)
    expect(problems).toEqual([])
    expect([config?.requests?.url, config?.workspaces[0]?.notify?.settings.requestUrl]).toEqual([url, url])
  })
})
