// Mail to a real server on loopback: what it is given, and what each way of failing is taken for.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createMailer, openChannels } from '../../../src/daemon/notify/channels.ts'
import { DIRECT_FILES } from '../../../src/files.ts'
import { authority, hasOpenssl } from '../../support/certificates.ts'
import { NOTIFY } from '../../support/notify.ts'
import { realClock } from '../../support/real-clock.ts'
import { type Fault, mailServer } from '../../support/smtp.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const PASSWORD = 'correct horse battery staple'
const message = (subject: string, text: string) => ({
  key: '["person","ada@example.com"]',
  level: 85,
  to: { kind: 'email', address: 'ada@example.com' } as const,
  kind: 'person' as const,
  workspace: 'acme',
  subject,
  text,
  values: {},
})

async function mailing(timeouts?: Parameters<typeof createMailer>[3]) {
  const server = await mailServer()
  const config = { host: '127.0.0.1', port: server.port, tls: 'none', from: 'caps@example.com', user: 'caps' } as const
  return { server, mailer: createMailer(config, realClock(), undefined, timeouts) }
}

describe('a mail', () => {
  it('goes to one address as plain text, from the configured sender, after a login', async () => {
    const { server, mailer } = await mailing()
    expect(await mailer.send(message('90 % of your credits', 'Hello.\n.\nBye'), 'ada@example.com', PASSWORD)).toEqual({ kind: 'sent' })
    expect(server.mails).toMatchObject([{ from: 'caps@example.com', to: 'ada@example.com' }])
    const source = server.mails[0]?.source ?? ''
    expect(source).toContain('Subject: 90 % of your credits')
    expect(source).toContain('Auto-Submitted: auto-generated')
    expect(source).toContain('Content-Type: text/plain')
    expect(source.split('\n\n').at(1)).toContain('Hello.\n.\nBye')
    expect(server.logins).toEqual([`caps ${PASSWORD}`])
  })

  it.each([
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>',
    '"a b"@example.com',
    '',
  ])('is not sent to what is no single address: %j', async (address) => {
    const { server, mailer } = await mailing()
    expect(await mailer.send(message('x', 'y'), address, PASSWORD)).toMatchObject({ kind: 'rejected' })
    expect(server.connections).toBe(0)
  })

  it('shows a subject that looks encoded as it is', async () => {
    const { server, mailer } = await mailing()
    await mailer.send(message('For =?utf-8?q?Eve=E2=80=AE?= only', 'text'), 'ada@example.com', PASSWORD)
    const [, subject = ''] = /^Subject: (.*(?:\n .*)*)/m.exec(server.mails[0]?.source ?? '') ?? []
    const words = [...subject.matchAll(/=\?UTF-8\?Q\?(.*?)\?=/g)].map(([, word = '']) => word)
    expect(words.join('')).toMatch(/=3D=E2=81=A0=3Futf-8=3Fq=3FEve=3DE2=3D80=3DAE=3F=3D_only$/)
    expect(subject.replaceAll(/=\?UTF-8\?Q\?.*?\?=/g, '')).not.toContain('=?')
  })

  it('gets no further header from a subject with line breaks', async () => {
    const { server, mailer } = await mailing()
    await mailer.send(message('hello\r\nBcc: eve@example.com', 'text'), 'ada@example.com', PASSWORD)
    const [head = ''] = server.mails[0]?.source.split('\n\n') ?? []
    expect(head.split('\n').filter((line) => /^bcc/i.test(line))).toEqual([])
  })
})

describe.skipIf(!hasOpenssl)('with STARTTLS (openssl)', () => {
  async function encrypted(names: string, trusts: boolean) {
    const folder = temporaryFolder()
    const own = authority(folder, 'own')
    const server = await mailServer(own.sign(names))
    const trusted = trusts ? own.file : authority(folder, 'other').file
    const config = {
      host: '127.0.0.1',
      port: server.port,
      tls: 'starttls',
      from: 'caps@example.com',
      user: 'caps',
    } as const
    return {
      server,
      sent: await createMailer(config, realClock(), () => ({ value: readFileSync(trusted, 'utf8') })).send(
        message('hello', 'to you'),
        'ada@example.com',
        PASSWORD,
      ),
    }
  }

  it('login and mail go over the encrypted connection alone', async () => {
    const { server, sent } = await encrypted('IP:127.0.0.1', true)
    expect(sent).toEqual({ kind: 'sent' })
    expect(server.mails).toMatchObject([{ to: 'ada@example.com', isEncrypted: true }])
    expect(server.logins).toEqual([`caps ${PASSWORD}`])
    expect(server.inTheClear.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'STARTTLS'])
  })

  it.each([
    ['a certificate of an unknown authority', 'IP:127.0.0.1', false],
    ['a certificate of another host', 'DNS:mail.example.com', true],
  ])('%s is given neither password nor mail', async (_name, names, trusts) => {
    const { server, sent } = await encrypted(names, trusts)
    expect(sent).toMatchObject({ kind: 'refused' })
    expect(server).toMatchObject({ mails: [], logins: [] })
  })
})

describe('what fails', () => {
  const cases: readonly [string, string, Fault, 'refused' | 'rejected' | 'unknown'][] = [
    ['a login that is refused', 'AUTH', '535 no', 'refused'],
    ['a server that hangs up on the greeting', 'EHLO', 'hang up', 'refused'],
    ['a sender that cannot be taken now', 'MAIL', '451 later', 'refused'],
    ['a sender that is not allowed, which is no fault of the message', 'MAIL', '550 no', 'refused'],
    ['a server that hangs up on the sender', 'MAIL', 'hang up', 'refused'],
    ['a server that hangs up on the receiver', 'RCPT', 'hang up', 'refused'],
    ['a server that never lets the mail begin', 'DATA', 'silence', 'refused'],
    ['a server that does not want the mail to begin', 'DATA', '554 no', 'rejected'],
    ['a receiver that does not exist', 'RCPT', '550 unknown', 'rejected'],
    ['a mail that is refused for good', '.', '554 spam', 'rejected'],
    ['a mail that cannot be taken now', '.', '452 full', 'refused'],
    ['a server that hangs up after the mail', '.', 'hang up', 'unknown'],
    ['a server that never answers to the mail', '.', 'silence', 'unknown'],
    ['a server that talks without end instead of asking for the mail', 'RCPT', 'talk', 'refused'],
    ['a server that talks without end about the mail', '.', 'talk', 'unknown'],
  ]

  it.each(cases)('%s', async (_name, step, fault, kind) => {
    const { server, mailer } = await mailing({ connectMs: 300, answerMs: 300, mailMs: 900 })
    server.faults = { [step]: fault }
    const delivery = await mailer.send(message('subject', 'text'), 'ada@example.com', PASSWORD)
    expect(delivery).toMatchObject({ kind })
    expect(JSON.stringify(delivery)).not.toMatch(new RegExp(`${PASSWORD}|ada@|spam|later|${Buffer.from(PASSWORD).toString('base64')}`))
    expect(server.mails).toEqual([])
  })

  it.each([
    ['RCPT', { kind: 'refused', reason: 'sending was cut off' }],
    ['.', { kind: 'unknown', reason: 'sending was cut off before the answer' }],
  ] as const)('a mail that is cut off while the server is silent at %s is given up with its connection', async (step, delivery) => {
    const { server, mailer } = await mailing()
    server.faults = { [step]: 'silence' }
    const cut = new AbortController()
    const sending = mailer.send(message('subject', 'text'), 'ada@example.com', PASSWORD, cut.signal)
    await vi.waitFor(() => expect(server.inTheClear.at(-1)?.split(':')[0]).toBe(step === '.' ? '.' : 'RCPT TO'))
    cut.abort()
    expect(await sending).toEqual(delivery)
    await vi.waitFor(() => expect(server.open.size).toBe(0))
    expect((await mailer.send(message('subject', 'text'), 'ada@example.com', PASSWORD, cut.signal)).kind).toBe('refused')
  })

  it.each([
    ['a mailbox that is full keeps no other mail back', '452 full', { alone: true }],
    ['a server that goes away at the mailbox is the server’s trouble', '421 closing', {}],
  ])('%s', async (_name, fault, more) => {
    const { server, mailer } = await mailing()
    server.faults = { RCPT: fault }
    const delivery = await mailer.send(message('subject', 'text'), 'ada@example.com', PASSWORD)
    expect(delivery).toEqual({ kind: 'refused', reason: expect.stringContaining(`(${fault.slice(0, 3)})`), ...more })
  })

  it('the last good password is used while its file cannot be read, which is told', async () => {
    const server = await mailServer()
    const folder = temporaryFolder()
    const file = join(folder, 'password')
    writeFileSync(file, PASSWORD)
    const mail = { host: '127.0.0.1', port: server.port, tls: 'none', from: 'caps@example.com', user: 'caps', password: { file } } as const
    const channels = openChannels({
      config: { settings: NOTIFY, mail, webhooks: [] },
      mailer: createMailer(mail, realClock()),
      poster: { post: () => Promise.reject(new Error('no webhook is configured')), close: () => undefined },
      env: {},
      onSecret: () => undefined,
      files: DIRECT_FILES,
    })
    const send = () => channels.send(message('subject', 'text'), new AbortController().signal)
    rmSync(file)
    const why = `the password of the mail server: ${file} does not exist (ENOENT)`
    expect([await send(), await channels.kept()]).toEqual([{ kind: 'refused', reason: why }, []])
    writeFileSync(file, PASSWORD)
    expect([await send(), await channels.kept()]).toEqual([{ kind: 'sent' }, []])
    rmSync(file)
    expect([await send(), await channels.kept()]).toEqual([{ kind: 'sent' }, [why]])
    channels.close()
  })

  it('a server that is not there', async () => {
    const config = { host: '127.0.0.1', port: 1, tls: 'none', from: 'caps@example.com' } as const
    expect(await createMailer(config, realClock()).send(message('a', 'b'), 'ada@example.com', undefined)).toEqual({
      kind: 'refused',
      reason: 'the mail server cannot be reached (ECONNREFUSED)',
    })
  })

  it('a server without encryption, where it is asked for', async () => {
    const server = await mailServer()
    const config = { host: '127.0.0.1', port: server.port, tls: 'starttls', from: 'caps@example.com', user: 'caps' } as const
    expect(await createMailer(config, realClock()).send(message('a', 'b'), 'ada@example.com', PASSWORD)).toMatchObject({ kind: 'refused' })
    expect(server.logins).toEqual([])
  })
})
