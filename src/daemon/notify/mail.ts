// Mail over SMTP with nodemailer, which is loaded with the first mail: plain text to one address at a time. Errors of the package may quote the message and
// the server, so only their codes are used.
import { PassThrough } from 'node:stream'
import type { Transporter } from 'nodemailer'
import type { Authorities } from '../../api/transport/authorities.ts'
import type { Message } from '../../core/notify/due.ts'
import type { Delivery } from '../../core/notify/told.ts'
import type { MailConfig } from '../config/notify-check.ts'

export interface Mailer {
  /** Never rejects. */
  send(message: Message, address: string, password: string | undefined): Promise<Delivery>
  /** Closes all connections. */
  close(): void
}

const CONNECT_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 30_000

/** One address: nothing that could be read as several, or as a header. */
const ADDRESS = /^[^\s@:<>(),;"\\[\]\p{Cc}]+@[^\s@:<>(),;"\\[\]\p{Cc}]+$/u

/** `authorities`: those of the CA file. */
export function createMailer(
  config: MailConfig,
  authorities?: () => Authorities,
  timeouts = { connectMs: CONNECT_TIMEOUT_MS, answerMs: ANSWER_TIMEOUT_MS },
): Mailer {
  const open = new Set<Transporter>()
  return {
    async send({ subject, text }, address, password) {
      if (!ADDRESS.test(address)) return { kind: 'rejected', reason: 'not an address that mail can be sent to' }
      let transport: Transporter | undefined
      let begun = false
      try {
        transport = await transportOf(config, authorities?.(), password, timeouts)
        open.add(transport)
        // nodemailer reads the text once the server has accepted the sender; before that nothing was sent.
        transport.use('stream', (mail, next) => {
          mail.message.transform(() => {
            begun = true
            return new PassThrough()
          })
          next()
        })
        await transport.sendMail({
          from: { name: 'capkeeper', address: config.from },
          to: { name: '', address },
          replyTo: config.replyTo === undefined ? undefined : { name: '', address: config.replyTo },
          subject,
          text: `${text}\n`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
          disableFileAccess: true,
          disableUrlAccess: true,
        })
        return { kind: 'sent' }
      } catch (error) {
        return deliveryOf(error, begun)
      } finally {
        transport?.close()
        if (transport) open.delete(transport)
      }
    },
    close() {
      for (const transport of open) transport.close()
    },
  }
}

async function transportOf(
  { host, port, tls, user }: MailConfig,
  trusted: Authorities | undefined,
  password: string | undefined,
  { connectMs, answerMs }: { readonly connectMs: number; readonly answerMs: number },
): Promise<Transporter> {
  if (trusted && 'message' in trusted) throw new NoAuthorities()
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { rejectUnauthorized: true, ca: trusted?.pem },
    auth: user === undefined ? undefined : { user, pass: password ?? '' },
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: answerMs,
    logger: false,
  })
}

/** The CA file cannot be read; nothing was sent. */
class NoAuthorities extends Error {
  override readonly name = 'NoAuthorities'
}

const textOf = (error: object, name: string): string => {
  const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value
  return typeof value === 'string' ? value : ''
}

function codeOf(error: object): number | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(error, 'responseCode')?.value
  return typeof value === 'number' ? value : undefined
}

/** `begun`: the text was read. Without a code of the server, a failure before that sent nothing, and a failure after it may have sent the message. */
function deliveryOf(error: unknown, begun: boolean): Delivery {
  if (error instanceof NoAuthorities) return { kind: 'refused', reason: 'the CA file of the mail server cannot be read' }
  const of = error instanceof Error ? error : new Error()
  const [code, original] = [textOf(of, 'code'), textOf(of, 'originalCode')]
  const status = codeOf(of)
  if (code === 'EAUTH') return { kind: 'refused', reason: `the mail server does not accept the user and password${shown(status)}` }
  if (status !== undefined && !begun) return { kind: 'refused', reason: `the mail server accepts no mail now${shown(status)}` }
  if (status !== undefined && status >= 500) return { kind: 'rejected', reason: `the mail server refuses the message${shown(status)}` }
  // A full or greylisting mailbox says nothing about other mailboxes.
  if (status !== undefined && status !== 421 && textOf(of, 'command') === 'RCPT TO') {
    return { kind: 'refused', reason: `the mailbox accepts no message now${shown(status)}`, alone: true }
  }
  if (status !== undefined) return { kind: 'refused', reason: `the mail server cannot take the message now${shown(status)}` }
  const because = [original, code].find((word) => /^[A-Z][A-Z_]{2,40}$/.test(word))
  const told = because === undefined ? '' : ` (${because})`
  if (begun) return { kind: 'unknown', reason: `the mail server gave no answer to the message${told}` }
  return {
    kind: 'refused',
    reason: `${code === 'ETLS' ? 'no encrypted connection to the mail server' : 'the mail server cannot be reached'}${told}`,
  }
}

const shown = (status: number | undefined): string => (status === undefined ? '' : ` (${status})`)
