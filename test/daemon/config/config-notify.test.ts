// `notify` in the config: what it comes to for each workspace, and each mistake at its place.
import { describe, expect, it } from 'vitest'
import { formatProblems } from '../../../src/policy/yaml.ts'
import { folders } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'

const folder = folders()

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

  it.each<[string, string, string]>([
    ['people without a mail server', 'people: [85]', '4:3 NOTIFY_CHANNEL'],
    ['owners by e-mail without a mail server', 'owners: [{group: g, email: [a@b.example]}]', '4:23 NOTIFY_CHANNEL'],
    ['a user without a password', 'email: {host: h, from: a@b.example, user: u}', '4:3 NOTIFY_CHANNEL'],
    ['a password over an open line', 'email: {host: h, from: a@b.example, user: u, password: {env: P}, tls: none}', '4:73 NOTIFY_CHANNEL'],
    ['a threshold above the cap', `${EMAIL}\npeople: [101]`, '5:12 NUMBER'],
    ['no threshold', `${EMAIL}\npeople: []`, '5:11 MISSING'],
    ['a webhook of that name that is not there', 'owners: [{group: g, webhook: chat}]', '4:32 NOTIFY_CHANNEL'],
    ['a webhook twice', 'webhooks: [{name: a, url: {env: A}}, {name: a, url: {env: A}}]', '4:47 DUPLICATE_NAME'],
    ['an address where a reference belongs', 'webhooks: [{name: a, url: "https://hooks.example/s3cr3t"}]', '4:24 KEY_REFERENCE'],
    ['an owner of nothing', `${EMAIL}\nowners: [{email: [a@b.example]}]`, '5:12 NOTIFY_OWNER'],
    ['an owner of both', `${EMAIL}\nowners: [{group: g, pool: p, email: [a@b.example]}]`, '5:23 NOTIFY_OWNER'],
    ['an owner who cannot be reached', 'owners: [{group: g}]', '4:12 NOTIFY_OWNER'],
    ['two addresses in one', `${EMAIL}\nowners: [{group: g, email: ["a@b.example, c@d.example"]}]`, '5:31 EMAIL'],
    ['a workspace that is not there', `${EMAIL}\nowners: [{workspace: acmee, group: g, email: [a@b.example]}]`, '5:24 WORKSPACE_UNKNOWN'],
    ['a time that is none', 'quietHours: {from: 7pm, until: "08:00"}', '4:22 TIME'],
    ['a time zone that is none', 'timezone: Europe/Berlinn', '4:13 TIMEZONE'],
    ['a digest that is none', 'digest: weekly', '4:11 UNKNOWN_VALUE'],
    ['a placeholder that is none', 'templates: {person: {subject: "Hi {nmae}"}}', '4:33 NOTIFY_PLACEHOLDER'],
    ['a placeholder of another message', 'templates: {pool: {text: "{email}"}}', '4:28 NOTIFY_PLACEHOLDER'],
    ['a key that is none', 'digets: daily', '4:3 UNKNOWN_KEY'],
  ])('says where %s is', (_what, notify, expected) => {
    const { problems, config } = load(notify)
    expect(config).toBeUndefined()
    expect(problems.map(({ at, code }) => `${at?.line}:${at?.column} ${code}`)).toEqual([expected])
    expect(formatProblems(problems)).not.toContain('s3cr3t')
  })

  it('asks for the workspace of an owner where there are several', () => {
    const { problems } = load(`${EMAIL}\nowners: [{group: g, email: [a@b.example]}]`, ['a', 'b'])
    expect(problems).toMatchObject([{ code: 'WORKSPACE_MISSING', hint: 'write workspace: a or b' }])
  })

  it('names the nearest placeholder', () => {
    expect(load('templates: {person: {text: "{percnt}"}}').problems).toMatchObject([{ hint: 'did you mean "percent"?' }])
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

  it.each([
    ['without encryption', 'http://x.example/new', 'URL'],
    ['whose host is filled in', 'https://{email}.example/new', 'URL'],
    ['with a value before its path', 'https://x.example?for={email}', 'URL'],
    ['without a path', 'https://x.example', 'URL'],
    ['with a user in it', 'https://me@x.example/new', 'URL'],
    ['with a backslash before its path', 'https://x.example\\@evil.example/', 'URL'],
    ['with a value that nobody knows', 'https://x.example/{emial}', 'NOTIFY_PLACEHOLDER'],
  ])('refuse a link %s', (_row, url, code) => {
    expect(requests(url).problems).toMatchObject([{ code, at: { line: 4, column: 17 } }])
  })
})
