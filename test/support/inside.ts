// Runs a command line inside this process, as `main` does: real files, real network, real time, with captured streams. For tests of a
// command's output. Signals, terminals, crashes and closed pipes need a process: `process.ts` starts one.
import { PassThrough, Readable } from 'node:stream'
import { runCli } from '../../src/cli/program.ts'
import { createSecrets, type Signals } from '../../src/cli/shared/context.ts'
import type { Clock } from '../../src/ports.ts'
import type { ProcessOptions, Ran } from './process.ts'
import { realClock } from './real-clock.ts'

export const NO_SIGNALS: Signals = { on: () => () => undefined, exit: () => undefined }

export interface Begun {
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly ended: Promise<Ran & { readonly code: number }>
}

/** Starts one; it finds its files from this process's own folder. */
export function begin(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  signals: Signals = NO_SIGNALS,
  clock: Clock = realClock(),
): Begun {
  const [stdout, stderr] = [kept(), kept()]
  const secrets = createSecrets()
  for (const name of ['CAPKEEPER_SERVICE_KEY', 'PGPASSWORD']) secrets.add(env[name] ?? '')
  const world = { stdin: Readable.from([]), stdout: stdout.stream, stderr: stderr.stream, env, clock, secrets, signals }
  const ended = runCli(argv, world).then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() }))
  return { stdout: stdout.stream, stderr: stderr.stream, ended }
}

/** Decoded at the end: a chunk may end within a letter. */
function kept(): { readonly stream: PassThrough; readonly text: () => string } {
  const pieces: Buffer[] = []
  const stream = new PassThrough().on('data', (piece: Buffer) => pieces.push(piece))
  return {
    stream,
    text: () => {
      for (let rest: unknown = stream.read(); rest !== null; rest = stream.read()) if (rest instanceof Buffer) pieces.push(rest)
      return Buffer.concat(pieces).toString('utf8')
    },
  }
}

/** Starts a service. Its address is what it first says like this; `end` interrupts it, and waits until it is over. */
export async function serving(
  argv: readonly string[],
  said: RegExp,
  env: Readonly<Record<string, string>> = {},
  clock?: Clock,
): Promise<{ readonly url: string; end(): Promise<unknown> }> {
  const stopped = Promise.withResolvers<void>()
  const on: Signals['on'] = (kind, handler) => {
    if (kind === 'interrupt') stopped.promise.then(handler)
    return () => undefined
  }
  const { stdout, stderr, ended } = begin(argv, env, { on, exit: () => undefined }, clock)
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    for (const stream of [stdout, stderr])
      stream.on('data', (piece: Buffer) => {
        text += piece.toString()
        const [, found] = said.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
    ended.then(({ stderr: why }) => reject(new Error(`${argv[0]} has ended: ${why}`)))
  })
  const end = (): Promise<unknown> => {
    stopped.resolve()
    return ended
  }
  return { url, end }
}

const here = process.cwd()
let users = 0
let folder = here
let turn: Promise<unknown> = Promise.resolve()

/** Runs `capkeeper …argv` to its end in `cwd`. Commands in one folder may run side by side; another folder waits for them. */
export async function inside(
  argv: readonly string[],
  { env = {}, cwd = here, clock }: Omit<ProcessOptions, 'command'> & { readonly clock?: Clock } = {},
): Promise<Ran> {
  while (users > 0 && folder !== cwd) await turn
  users += 1
  folder = cwd
  process.chdir(cwd)
  const { ended } = begin(argv, { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env }, NO_SIGNALS, clock)
  const over = ended.finally(() => {
    users -= 1
    if (users === 0) process.chdir(here)
  })
  turn = Promise.allSettled([turn, over])
  return over
}
