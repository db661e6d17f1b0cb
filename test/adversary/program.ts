// Runs capkeeper's real commands as processes, as users do. Knows nothing of their output.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

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

/** How a case runs commands and its sandbox: as processes, or inside this one (inside.ts). */
export interface Programs {
  readonly command: (folder: string, words: readonly string[]) => Promise<Ended>
  /** Started, with its address; closed with the case. */
  readonly sandbox: (folder: string, words: readonly string[]) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>
}

const limitMs = 120_000

/** Starts a command in a folder. The key is in CAPKEEPER_TRIAL_KEY, where the trial's config looks for it. */
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

async function sandbox(folder: string, words: readonly string[]): ReturnType<Programs['sandbox']> {
  const child = spawn(process.execPath, [mainFile, 'sandbox', ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  const close = async (): Promise<void> => {
    process.removeListener('exit', kill)
    const ended = new Promise<void>((done) => child.once('exit', () => done()))
    kill()
    await ended
  }
  return { url: await addressOf(child), close }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let said = ''
  return await new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`the sandbox did not start: ${said}`)), 60_000)
    const look = (part: Buffer): void => {
      said += part.toString('utf8')
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)
      if (!found) return
      clearTimeout(timer)
      done(found[0])
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', (part: Buffer) => {
      said += part.toString('utf8')
    })
    child.once('exit', () => fail(new Error(`the sandbox ended: ${said}`)))
  })
}

/** Each command is a process of its own, as users run it. */
export const processes: Programs = { command: (folder, words) => start(folder, words).ended, sandbox }
