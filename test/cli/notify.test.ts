// `notify test` as a user types it: one message to whoever is named, by a real mail server and real webhooks on loopback, and what is said of it.
// And that `notify preview` hashes people with a key that nobody can guess.
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hashLabels } from '../../src/daemon/http/labels.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { listen } from '../api/world.ts'
import { world as at, configText, workspace } from '../e2e/world.ts'
import { folder } from '../policy/support.ts'
import { realClock } from '../support/real-clock.ts'
import { mailServer } from '../support/smtp.ts'
import { run } from './world.ts'

async function world(status = 200) {
  const mail = await mailServer()
  const bodies: unknown[] = []
  const hook = await listen((_request, response, body) => {
    bodies.push(JSON.parse(body))
    response.writeHead(status).end('ok')
  })
  onTestFinished(hook.close)
  const config = `apiVersion: capkeeper/v1
kind: Config
notify:
  email: {host: 127.0.0.1, port: ${mail.port}, tls: none, from: caps@example.com, user: caps, password: {env: SMTP}}
  webhooks:
    - {name: chat, url: {env: HOOK}, format: slack}
    - {name: room, url: {env: HOOK}, format: teams}
    - {name: program, url: {env: HOOK}, format: json}
  people: [1]
workspaces:
- {name: acme, baseUrl: "http://127.0.0.1:9", policies: [p.yaml]}
`
  const place = folder({ 'c.yaml': config })
  const env = { SMTP: 'correct horse', HOOK: `${hook.url}/services/T000/very-secret-path` }
  const test = (...flags: readonly string[]) =>
    run(['notify', 'test', '--config', join(place, 'c.yaml'), ...flags], { env, clock: realClock() })
  return { mail, bodies, test }
}

it('sends one mail to the address that was named, and says which way it went', async () => {
  const { mail, bodies, test } = await world()
  const stdout = `mail to me@example.com by 127.0.0.1:${mail.port} (none, as caps): taken\n`
  expect(await test('--email', 'me@example.com')).toMatchObject({ code: 0, stdout })
  expect(mail.mails).toMatchObject([{ to: 'me@example.com', source: expect.stringContaining('Subject: Test message from capkeeper') }])
  expect([mail.logins, bodies]).toEqual([['caps correct horse'], []])
})

const plain = (text: unknown) => ({ type: 'section', text: { type: 'plain_text', text } })
const TITLE = 'Test message from capkeeper'
it.each([
  ['chat', 'slack', 200, { text: TITLE, blocks: [plain(TITLE), plain(expect.stringContaining('the workspace acme'))] }],
  [
    ...(['room', 'teams', 202] as const),
    {
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard', version: '1.4' } }],
    },
  ],
  ['program', 'json', 200, { apiVersion: 'capkeeper/v1', kind: 'Notification', about: 'test', workspace: 'acme', values: {} }],
])('posts to the webhook %s what takes the format %s', async (name, format, status, body) => {
  const { bodies, test } = await world(status)
  expect(await test('--webhook', name)).toMatchObject({ code: 0, stdout: `webhook ${name} in the format ${format}: taken\n` })
  expect(bodies).toMatchObject([body])
})

it('says what a failure was, without an address or a password', async () => {
  const { mail, test } = await world(404)
  mail.faults = { AUTH: '535 no' }
  const refused = await test('--email', 'me@example.com')
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not sent: the mail server does not accept the user and password (535)'),
  })
  const gone = await test('--webhook', 'chat')
  expect(gone).toMatchObject({ code: 1, stdout: 'webhook chat in the format slack: refused: it answered 404\n' })
  expect(JSON.stringify([refused, gone])).not.toMatch(/very-secret|correct horse/)
})

it('previews hashes that nobody can guess, also where the ledger has no key for them', async () => {
  const {
    service,
    run: command,
    write,
  } = await at({ policy: 'team: {cap: 1}\ngroups: [{id: grp_platform, name: Platform, cap: 1}]', sandbox: { days: 40 } })
  const notify = {
    email: { host: 'h', from: 'a@b.example' },
    people: [1],
    digest: 'daily',
    owners: [{ group: 'grp_platform', email: ['boss@example.com'] }],
  }
  write('config.yaml', configText([workspace('acme', service.url)], { ledger: ':memory:', people: 'hash', notify }))
  service.setCap('team', 1)
  const { stdout } = await command('notify', 'preview', '--output', 'json')
  const shown = new Set(stdout.match(/[0-9a-f]{12}(?=: )/g))
  expect(shown.size).toBeGreaterThan(0)
  const emails = service.sandbox.store.people().map(({ email }) => email)
  expect(emails.filter((email) => shown.has(hashLabels(sha256, '').label(email)))).toEqual([])
})
