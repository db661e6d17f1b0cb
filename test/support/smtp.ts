// A mail server on loopback that speaks enough of RFC 5321 for a real client: it keeps mails, and refuses, hangs up or stops answering
// where a test says so.
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { createSecureContext, TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Certificate } from './certificates.ts'
import { realClock } from './real-clock.ts'

interface Mail {
  readonly from: string
  readonly to: string
  /** It came over an encrypted connection. */
  readonly isEncrypted: boolean
  /** As received, headers included. */
  readonly source: string
}

/** Its behaviour at a step: another answer than the usual one, no answer, or one that never ends. */
export type Fault = string | 'hang up' | 'silence' | 'talk'

export type MailServer = Awaited<ReturnType<typeof mailServer>>

/** Ends with the test. With a certificate it offers STARTTLS, and login only after it. */
export async function mailServer(certificate?: Certificate) {
  const server = {
    port: 0,
    connections: 0,
    /** Connections that are open now. */
    open: new Set<Socket>(),
    mails: [] as Mail[],
    /** The credentials of clients, decoded. */
    logins: [] as string[],
    /** Everything that was received before the connection was encrypted, or without encryption. */
    inTheClear: [] as string[],
    /** By the first word of a command; `.` is the end of a mail. */
    faults: {} as Partial<Record<'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | '.', Fault>>,
  }
  const { open } = server
  const listener = createServer((socket) => {
    server.connections += 1
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    socket.write('220 test\r\n')
    converse(server, socket, certificate)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  server.port = typeof address === 'object' && address ? address.port : 0
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    listener.close()
  })
  return server
}

const ANSWERS: Readonly<Record<string, string>> = {
  EHLO: '250-test\r\n250-AUTH PLAIN\r\n250 8BITMIME',
  MAIL: '250 fine',
  RCPT: '250 fine',
  DATA: '354 go on',
  '.': '250 taken',
  RSET: '250 fine',
  QUIT: '221 bye',
}

async function talk(socket: Socket): Promise<void> {
  for (const { sleep } = realClock(); !socket.destroyed; await sleep(50)) socket.write('250-and\r\n')
}

/** `offered`: the start of STARTTLS; absent once the connection is encrypted. */
function converse(server: MailServer, socket: Socket, offered: Certificate | undefined): void {
  const state = { from: '', to: '', lines: undefined as string[] | undefined }
  const say = (step: string, usual: string): boolean => {
    const fault = server.faults[step as keyof MailServer['faults']]
    if (fault === 'hang up') socket.destroy()
    else if (fault === 'talk') void talk(socket)
    else if (fault !== 'silence') socket.write(`${fault ?? usual}\r\n`)
    return fault === undefined
  }
  const isEncrypted = socket instanceof TLSSocket
  const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })
  lines.on('line', (line) => {
    if (!isEncrypted) server.inTheClear.push(line)
    if (state.lines) {
      if (line !== '.') state.lines.push(line.replace(/^\.\./, '.'))
      else {
        const source = state.lines.join('\n')
        state.lines = undefined
        if (say('.', ANSWERS['.'] ?? '')) server.mails.push({ from: state.from, to: state.to, isEncrypted, source })
      }
      return
    }
    const step = line.split(' ', 1)[0]?.toUpperCase() ?? ''
    if (step === 'AUTH') {
      server.logins.push(
        Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString('utf8')
          .split('\0')
          .join(' ')
          .trim(),
      )
      say('AUTH', '235 welcome')
      return
    }
    if (step === 'STARTTLS' && offered) {
      if (!say(step, '220 go on')) return
      lines.removeAllListeners('line')
      const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ ...offered }) })
      secure.on('error', () => undefined)
      converse(server, secure, undefined)
      return
    }
    if (step === 'EHLO' && offered) {
      say(step, '250-test\r\n250-STARTTLS\r\n250 8BITMIME')
      return
    }
    if (step === 'MAIL') state.from = /<(.*)>/.exec(line)?.[1] ?? ''
    if (step === 'RCPT') state.to = /<(.*)>/.exec(line)?.[1] ?? ''
    if (say(step, ANSWERS[step] ?? '500 what') && step === 'DATA') state.lines = []
    if (step === 'QUIT') socket.end()
  })
}
