// Runs capkeeper's real command lines: inside this process, where starting hundreds of processes would take longer than their work, and in a process of
// their own where a case kills them. Knows nothing of their output.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { begin, serving } from '../support/inside.ts'

/** The sources; under vitest bundled to a few files (test/support/program.ts), which start faster. */
const mainFile = process.env['CAPKEEPER_MAIN'] ?? join(import.meta.dirname, '..', '..', 'src', 'main.ts')

export interface Ended {
  readonly line: string
  /** The exit code; -1 when a signal ended it. */
  readonly code: number
  readonly out: string
  readonly talk: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

const FILES: readonly string[] = ['--config', '--plan', '--out', '--ledger', '--fixture']

/** Files are named relative to the case's folder, which cannot be the folder of this process. */
const inFolder = (folder: string, words: readonly string[]): readonly string[] =>
  words.map((word, index) => (FILES.includes(words[index - 1] ?? '') ? join(folder, word) : word))

const ENV = { NO_COLOR: '1', CAPKEEPER_TRIAL_KEY: 'sandbox-admin' }

/** Runs a command to its end in a folder. */
export async function command(folder: string, words: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await begin(inFolder(folder, words), ENV).ended
  return { line: `capkeeper ${words.join(' ')}`, code, out: stdout, talk: stderr }
}

/** Starts the sandbox. */
export const sandbox = (folder: string, words: readonly string[]) =>
  serving(['sandbox', ...inFolder(folder, words)], /(http:\/\/127\.0\.0\.1:\d+)/, ENV)

const limitMs = 120_000

/** Starts a command in a folder, as a process. The key is in CAPKEEPER_TRIAL_KEY, where the trial's config looks for it. */
export function start(folder: string, words: readonly string[]): Running {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CAPKEEPER_')))
  const env = { ...inherited, NO_COLOR: '1', NODE_NO_WARNINGS: '1', CAPKEEPER_TRIAL_KEY: 'sandbox-admin' }
  const child = spawn(process.execPath, [mainFile, ...words], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let talk = ''
  child.stdout.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  child.stderr.on('data', (part: Buffer) => {
    talk += part.toString('utf8')
  })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  const timer = setTimeout(kill, limitMs)
  const ended = new Promise<Ended>((done) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      process.removeListener('exit', kill)
      done({ line: `capkeeper ${words.join(' ')}`, code: code ?? -1, out, talk })
    })
  })
  return { child, ended }
}
