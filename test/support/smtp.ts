// A mail server on loopback that speaks enough of RFC 5321 for a real client: it keeps what it was given, and refuses, hangs up or falls
// silent where a test says so.
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface Mail {
  readonly from: string
  readonly to: string
  /** As it came, headers included. */
  readonly source: string
}

/** What it does at a step: an answer in place of the usual one, or no answer. */
export type Fault = string | 'hang up' | 'silence'

export interface MailServer {
  readonly port: number
  readonly mails: Mail[]
  /** What clients said of themselves, decoded. */
  readonly logins: string[]
  /** By the first word of a command; `.` is the end of a mail. */
  faults: Partial<Record<'EHLO' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | '.', Fault>>
  connections: number
}

/** Ends with the test. */
export async function mailServer(): Promise<MailServer> {
  const server: MailServer & { port: number } = { port: 0, mails: [], logins: [], faults: {}, connections: 0 }
  const open = new Set<Socket>()
  const listener = createServer((socket) => {
    server.connections += 1
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    converse(server, socket)
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

function converse(server: MailServer, socket: Socket): void {
  const state = { from: '', to: '', lines: undefined as string[] | undefined }
  const say = (step: string, usual: string): boolean => {
    const fault = server.faults[step as keyof MailServer['faults']]
    if (fault === 'hang up') socket.destroy()
    else if (fault !== 'silence') socket.write(`${fault ?? usual}\r\n`)
    return fault === undefined
  }
  socket.write('220 test\r\n')
  createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    if (state.lines) {
      if (line !== '.') state.lines.push(line.replace(/^\.\./, '.'))
      else {
        const source = state.lines.join('\n')
        state.lines = undefined
        if (say('.', ANSWERS['.'] ?? '')) server.mails.push({ from: state.from, to: state.to, source })
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
    if (step === 'MAIL') state.from = /<(.*)>/.exec(line)?.[1] ?? ''
    if (step === 'RCPT') state.to = /<(.*)>/.exec(line)?.[1] ?? ''
    if (say(step, ANSWERS[step] ?? '500 what') && step === 'DATA') state.lines = []
    if (step === 'QUIT') socket.end()
  })
}
