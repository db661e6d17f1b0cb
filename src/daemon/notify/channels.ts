// Sends messages by mail and by webhooks, and makes the mails. Secrets are read for each message, and must get into no log or error.

import { Readable } from 'node:stream'
import type { Transporter } from 'nodemailer'
import type { Poster } from '../../api/transport/http.ts'
import type { Authorities } from '../../api/way.ts'
import type { Message } from '../../core/notify/due.ts'
import { type NotifySettings, PAYLOADS } from '../../core/notify/settings.ts'
import type { Delivery } from '../../core/notify/told.ts'
import { type Files, filesOf, type LastGood, secretOf, sourceText, type TokenSource } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import type { MailConfig, NotifyConfig, WebhookConfig } from '../config/settings.ts'
import type { PeopleLabels } from '../http/labels.ts'
import { timer } from '../schedule/system.ts'

// Mail over SMTP with nodemailer, which is loaded with the first mail: plain text to one address at a time. Errors of the package may quote the message and
// the server, so only their codes are used.

type Mailer = ReturnType<typeof createMailer>

const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 30_000
/** For a whole mail, because a server that keeps talking never runs into the others. Choice. */
const MAIL_TIMEOUT_MS = 180_000
/** How long a server may keep a connection that was closed. Choice. */
const CLOSE_TIMEOUT_MS = 1_000

/** One address: nothing that could be read as several, or as a header. */
const ADDRESS = /^[^\s@:<>(),;"\\[\]\p{Cc}]+@[^\s@:<>(),;"\\[\]\p{Cc}]+$/u

/** `authorities`: those of the CA file. */
export function createMailer(
  config: MailConfig,
  clock: Pick<Clock, 'sleep'>,
  authorities?: () => Authorities,
  timeouts: Timeouts = { connectMs: CONNECT_TIMEOUT_MS, answerMs: ANSWER_TIMEOUT_MS, mailMs: MAIL_TIMEOUT_MS },
) {
  const closing = new AbortController()
  return {
    /** Never rejects. `signal` cuts it off. */
    async send({ subject, text }: Message, address: string, password: string | undefined, signal?: AbortSignal): Promise<Delivery> {
      if (!ADDRESS.test(address)) return { kind: 'rejected', reason: 'not an address that mail can be sent to' }
      const trusted = authorities?.()
      if (trusted && trusted.value === undefined) return { kind: 'refused', reason: 'the CA file of the mail server cannot be read' }
      let begun = false
      const begin = async function* (mail: Readable): AsyncGenerator<unknown> {
        begun = true
        yield* mail
      }
      const cut = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const late = new AbortController()
      using _limit = timer(clock, timeouts.mailMs, () => late.abort(new Error('too late')))
      try {
        const transport = await transportOf(config, trusted, password, timeouts)
        // The first byte is read once the server has asked for it; before that nothing was sent.
        transport.use('stream', ({ message }, next) => {
          message.processFunc((mail) => Readable.from(begin(mail)))
          next()
        })
        await transport.sendMail({
          from: { name: 'capkeeper', address: config.from },
          to: { name: '', address },
          replyTo: config.replyTo === undefined ? undefined : { name: '', address: config.replyTo },
          subject: encoded(subject),
          text: `${text}\n`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.any([cut, late.signal]),
        })
        return { kind: 'sent' }
      } catch (error) {
        if (!cut.aborted) return deliveryOf(error, begun)
        return begun ? CUT_OFF : { kind: 'refused', reason: 'sending was cut off' }
      }
    },
    /** Closes all connections. */
    close(): void {
      closing.abort(new Error('closed'))
    },
  }
}

/** What looks like an encoded word would be decoded by whoever reads the mail: an invisible character makes nodemailer encode it once more. */
const encoded = (subject: string): string => subject.replaceAll('=?', '=\u2060?')

interface Timeouts {
  readonly connectMs: number
  readonly answerMs: number
  readonly mailMs: number
}

async function transportOf(
  { host, port, tls, user }: MailConfig,
  trusted: Authorities | undefined,
  password: string | undefined,
  { connectMs, answerMs }: Timeouts,
): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { rejectUnauthorized: true, ca: trusted?.value },
    auth: user === undefined ? undefined : { user, pass: password ?? '' },
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: answerMs,
    socketCloseTimeout: CLOSE_TIMEOUT_MS,
    logger: false,
  })
}

const ownValue = (error: object, name: string): unknown => Object.getOwnPropertyDescriptor(error, name)?.value

function textOf(error: object, name: string): string {
  const value = ownValue(error, name)
  return typeof value === 'string' ? value : ''
}

/** `begun`: some of the mail was sent. Without a code of the server, a failure after that may have sent the message. */
function deliveryOf(error: unknown, begun: boolean): Delivery {
  const of = error instanceof Error ? error : new Error()
  const [code, original, command] = [textOf(of, 'code'), textOf(of, 'originalCode'), textOf(of, 'command')]
  const answered = ownValue(of, 'responseCode')
  const status = typeof answered === 'number' ? answered : undefined
  if (code === 'EAUTH') return { kind: 'refused', reason: `the mail server does not accept the user and password${shown(status)}` }
  const isOfMessage = begun || command === 'RCPT TO' || command === 'DATA'
  if (status !== undefined && !isOfMessage) return { kind: 'refused', reason: `the mail server accepts no mail now${shown(status)}` }
  if (status !== undefined && status >= 500) return { kind: 'rejected', reason: `the mail server refuses the message${shown(status)}` }
  // A full or greylisting mailbox says nothing about other mailboxes.
  if (status !== undefined && status !== 421 && command === 'RCPT TO') {
    return { kind: 'refused', reason: `the mailbox accepts no message now${shown(status)}`, alone: true }
  }
  if (status !== undefined) return { kind: 'refused', reason: `the mail server cannot take the message now${shown(status)}` }
  const because = [original, code === 'EABORT' ? 'ETIMEDOUT' : code].find((word) => /^[A-Z][A-Z_]{2,40}$/.test(word))
  const told = because === undefined ? '' : ` (${because})`
  if (begun) return { kind: 'unknown', reason: `the mail server gave no answer to the message${told}` }
  return {
    kind: 'refused',
    reason: `${code === 'ETLS' ? 'no encrypted connection to the mail server' : 'the mail server cannot be reached'}${told}`,
  }
}

const shown = (status: number | undefined): string => (status === undefined ? '' : ` (${status})`)

export type Channels = ReturnType<typeof openChannels>

/** Channels and settings of one workspace. */
export interface Notifier extends Pick<Channels, 'send' | 'kept'>, Pick<PeopleLabels, 'label' | 'all'> {
  readonly settings: NotifySettings
}

interface ChannelParts {
  readonly config: NotifyConfig
  readonly mailer: Mailer | undefined
  /** Those of the mail server's CA file. */
  readonly authorities?: () => Authorities
  readonly poster: Poster
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with every secret before it is used, so that it can be redacted. */
  readonly onSecret: (secret: string) => void
  readonly files: Files
}

type Secret = LastGood<string>

const TIMEOUT_MS = 15_000

export function openChannels({ config, mailer, authorities, poster, env, onSecret, files }: ChannelParts) {
  const last = new Map<TokenSource, string>()
  const secret = async (source: TokenSource, what: string): Promise<Secret> => {
    await files.refresh(filesOf([source]))
    const { secret: found, why } = secretOf(source, env, files)
    if (found === undefined) return { value: last.get(source), unread: `${what}: ${sourceText(source)} ${why}` }
    last.set(source, found)
    onSecret(found)
    return { value: found }
  }
  const passwordOf = (source: TokenSource) => secret(source, 'the password of the mail server')
  const urlOf = ({ name, url }: WebhookConfig) => secret(url, `the address of the webhook ${name}`)
  return {
    /** Sends one message. Never rejects. One that `signal` cuts off may have arrived. */
    async send(message: Message, signal: AbortSignal): Promise<Delivery> {
      const { to } = message
      if (to.kind === 'email') {
        if (!mailer) return { kind: 'refused', reason: 'no mail server is configured' }
        const { password, caFile } = config.mail ?? {}
        const found = password && (await passwordOf(password))
        if (caFile !== undefined) await files.refresh([caFile])
        if (found && found.value === undefined) return { kind: 'refused', reason: found.unread ?? '' }
        return mailer.send(message, to.address, found?.value, signal)
      }
      const webhook = config.webhooks.find(({ name }) => name === to.name)
      if (!webhook) return { kind: 'refused', reason: 'no such webhook' }
      return post(poster, await urlOf(webhook), PAYLOADS[webhook.format](message), signal)
    },
    /** Why files that were good cannot be read any more. Never rejects. */
    async kept(): Promise<readonly string[]> {
      const { password, caFile } = config.mail ?? {}
      if (caFile !== undefined) await files.refresh([caFile])
      const trusted = authorities?.()
      const all = await Promise.all([...(password ? [passwordOf(password)] : []), ...config.webhooks.map(urlOf)])
      return [...all, ...(trusted ? [trusted] : [])].flatMap(({ value, unread }) =>
        value === undefined || unread === undefined ? [] : unread,
      )
    },
    close(): void {
      mailer?.close()
      poster.close()
    },
  }
}

const CUT_OFF: Delivery = { kind: 'unknown', reason: 'sending was cut off before the answer' }

/** Posts a body. */
async function post(poster: Poster, { value: url, unread = '' }: Secret, body: unknown, signal: AbortSignal): Promise<Delivery> {
  if (url === undefined) return { kind: 'refused', reason: unread }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return { kind: 'refused', reason: 'its address is no web address' }
  try {
    const answer = await poster.post(url, body, { timeoutMs: TIMEOUT_MS, signal })
    if ('status' in answer) return judged(answer.status)
    return { kind: answer.unsent ? 'refused' : 'unknown', reason: answer.message }
  } catch (error) {
    if (signal.aborted) return CUT_OFF
    throw error
  }
}

/** `refused` is tried again, `rejected` is not. */
function judged(status: number): Delivery {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const reason = `it answered ${status}`
  return { kind: status === 408 || status === 429 || status >= 500 ? 'refused' : 'rejected', reason }
}
