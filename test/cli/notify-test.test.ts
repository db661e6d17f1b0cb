// `notify test` as a user types it: one message to whoever is named, by a real mail server and real webhooks on loopback, and what is said of it.
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../api/world.ts'
import { folders } from '../policy/support.ts'
import { realClock } from '../support/real-clock.ts'
import { mailServer } from '../support/smtp.ts'
import { run } from './world.ts'

const folder = folders()
const SECRET = '/services/T000/very-secret-path'

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
  const at = folder({ 'c.yaml': config })
  const test = (...flags: readonly string[]) =>
    run(['notify', 'test', '--config', join(at, 'c.yaml'), ...flags], {
      env: { SMTP: 'correct horse', HOOK: `${hook.url}${SECRET}` },
      clock: realClock(),
    })
  return { mail, bodies, test }
}

describe('notify test', () => {
  it('sends one mail to the address that was named, and says which way it went', async () => {
    const { mail, bodies, test } = await world()
    const { code, stdout } = await test('--email', 'me@example.com')
    expect(stdout).toBe(`mail to me@example.com by 127.0.0.1:${mail.port} (none, as caps): taken\n`)
    expect(code).toBe(0)
    expect(mail.mails).toMatchObject([{ to: 'me@example.com', source: expect.stringContaining('Subject: Test message from capkeeper') }])
    expect(mail.logins).toEqual(['caps correct horse'])
    expect(bodies).toEqual([])
  })

  it('posts what Slack takes: blocks of plain text, and a text for notifications', async () => {
    const { bodies, test } = await world()
    expect(await test('--webhook', 'chat')).toMatchObject({ code: 0, stdout: 'webhook chat in the format slack: taken\n' })
    expect(bodies).toMatchObject([
      {
        text: 'Test message from capkeeper',
        blocks: [
          { type: 'section', text: { type: 'plain_text', text: 'Test message from capkeeper' } },
          { type: 'section', text: { type: 'plain_text', text: expect.stringContaining('the workspace acme') } },
        ],
      },
    ])
  })

  it('posts what Teams takes from Workflows: a message with one adaptive card', async () => {
    const { bodies, test } = await world(202)
    expect(await test('--webhook', 'room')).toMatchObject({ code: 0 })
    expect(bodies).toMatchObject([
      {
        type: 'message',
        attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard', version: '1.4' } }],
      },
    ])
  })

  it('posts JSON about a test', async () => {
    const { bodies, test } = await world()
    await test('--webhook', 'program')
    expect(bodies).toMatchObject([{ apiVersion: 'capkeeper/v1', kind: 'Notification', about: 'test', workspace: 'acme', values: {} }])
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

  it.each<readonly [string, readonly string[], number, string]>([
    ['nobody was named', [], 64, 'name who gets the message: --email ADDRESS, or --webhook NAME'],
    ['two were named', ['--email', 'a@b.example', '--webhook', 'chat'], 64, 'name who gets the message'],
    ['an unknown webhook was named', ['--webhook', 'chats'], 64, 'the config has no webhook chats; it has chat, room, program'],
    ['no address was named', ['--email', 'me'], 1, 'not an address that mail can be sent to'],
  ])('sends nothing where %s', async (_name, flags, code, words) => {
    const { mail, bodies, test } = await world()
    const ran = await test(...flags)
    expect(ran.code).toBe(code)
    expect(ran.stdout + ran.stderr).toContain(words)
    expect([mail.mails, bodies]).toEqual([[], []])
  })
})
