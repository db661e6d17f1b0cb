// capkeeper as a process: run to its end, started and watched, or on a terminal. Every process that a test starts ends with the test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFailed, onTestFinished } from 'vitest'
import { type Exposition, parseExposition } from './exposition.ts'
import { realClock } from './real-clock.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The program as its sources, as the README starts it. */
export const SOURCE = join(ROOT, 'src/main.ts')
/** The same, bundled to a few files by `program.ts`, which start in half the time; without vitest the sources. */
export const MAIN = process.env['CAPKEEPER_MAIN'] ?? SOURCE
const clock = realClock()

export interface ProcessOptions {
  /** Added to PATH and HOME; no other variable of this process is passed on. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** A program to run instead, with its arguments. */
  readonly command?: readonly [string, ...string[]]
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Running = ReturnType<typeof watched>

/** Starts `capkeeper …argv`; killed when the test is over. */
export function start(argv: readonly string[], options: ProcessOptions = {}) {
  const [program, ...before] = options.command ?? [process.execPath, MAIN]
  return watched(spawn(program, [...before, ...argv], { ...surroundings(options), stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Runs `capkeeper …argv` to its end. */
export async function capkeeper(argv: readonly string[], options: ProcessOptions = {}): Promise<Ran> {
  const running = start(argv, options)
  const { code } = await running.ended
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

const surroundings = ({ env, cwd }: ProcessOptions) => ({
  cwd: cwd ?? ROOT,
  env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
})

function watched(child: ChildProcess) {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  child.stdout?.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  onTestFailed(() => console.log(`${child.spawnargs.slice(1).join(' ')}\n${stdout.join('')}${stderr.join('')}`.slice(-6_000)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended.catch(() => undefined)
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout.join(''),
    stderr: () => stderr.join(''),
    signal: (name: NodeJS.Signals) => void child.kill(name),
    ended,
  }
}

/** `script` of util-linux, which gives a program a terminal; others of that name take other flags. */
export const hasTerminals = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).includes('util-linux')
  } catch {
    return false
  }
})()

interface Screen {
  readonly code: number | null
  /** The output of the terminal, stdout and stderr together, with `\n` at the ends of lines. */
  readonly screen: string
}

/** Runs `capkeeper …argv` on a terminal. Once `question` is shown, `answer` is typed; `dialogue` is several of these in order. */
export async function onTerminal(
  argv: readonly string[],
  options: ProcessOptions & {
    readonly question?: string
    readonly answer?: string
    readonly dialogue?: readonly (readonly [question: string, answer: string])[]
    /** A file for stdout; the screen then shows stderr only. */
    readonly stdout?: string
  } = {},
): Promise<Screen> {
  const words = [process.execPath, MAIN, ...argv].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  const line = [...words, ...(options.stdout === undefined ? [] : [`>${options.stdout}`])].join(' ')
  const around = surroundings({ ...options, env: { TERM: 'xterm', ...options.env } })
  const child = spawn('script', ['-qec', line, '/dev/null'], { ...around, stdio: 'pipe' })
  const running = watched(child)
  const { question, answer = '', dialogue = question === undefined ? [] : [[question, answer] as const] } = options
  let answered = 0
  for (const [asked, reply] of dialogue) {
    await until(`the question ${asked} on ${running.stdout()}`, () => running.stdout().includes(asked, answered))
    answered = running.stdout().indexOf(asked, answered) + asked.length
    child.stdin.write(`${reply}\n`)
  }
  const { code } = await running.ended
  return { code, screen: running.stdout().replaceAll('\r\n', '\n') }
}

/** Between two attempts, at first and at most: a tenth of the time so far, because each attempt costs the program an answer. */
const [SHORTEST_MS, LONGEST_MS] = [20, 500]

/** No test depends on its length: every event comes within it, also on a machine ten times as slow. */
const PATIENCE_MS = 90_000

/** Polls until a value exists; rejects with what was waited for, and the last error, when it takes too long. */
export async function until<T>(what: string, look: () => T | Promise<T>, withinMs = PATIENCE_MS): Promise<NonNullable<T>> {
  const begun = clock.monotonic()
  let failure: unknown
  for (;;) {
    try {
      const found = await look()
      if (found !== undefined && found !== null && found !== false) return found
      failure = undefined
    } catch (error) {
      failure = error
    }
    const waited = clock.monotonic() - begun
    if (waited > withinMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`, { cause: failure })
    await clock.sleep(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, waited / 10)))
  }
}

/** A running daemon and its pages. */
export type DaemonProcess = Awaited<ReturnType<typeof startDaemon>>

/** The limit for a page of the daemon. */
const ANSWER_MS = 30_000

/** Starts `capkeeper run …argv` on a free port, or without `listen` where it chooses itself, and waits until it answers. */
export async function startDaemon(
  argv: readonly string[],
  { listen = ['--listen', '127.0.0.1:0'], ...options }: ProcessOptions & { readonly listen?: readonly string[] } = {},
) {
  const running = start(['run', ...listen, ...argv], options)
  const failed = running.ended.then(({ code }) => {
    throw new Error(`the daemon ended with ${code}: ${running.stderr()}`)
  })
  failed.catch(() => undefined)
  const url = await Promise.race([failed, until('the address of the daemon', () => pageOf(running))])
  const get = async (path: string) => {
    const [answered, late] = [new AbortController(), new AbortController()]
    const tooLate = () => late.abort(new Error(`${path} had no answer in ${ANSWER_MS} ms`))
    clock.sleep(ANSWER_MS, answered.signal).then(tooLate, () => undefined)
    try {
      const answer = await fetch(new URL(path, url), { signal: late.signal })
      return { status: answer.status, text: await answer.text() }
    } finally {
      answered.abort()
    }
  }
  const metrics = async (): Promise<Exposition> => parseExposition((await get('/metrics')).text)
  return {
    ...running,
    url,
    get,
    metrics,
    /** One series; undefined when it does not exist. */
    metric: async (name: string, labels?: Readonly<Record<string, string>>) => (await metrics()).value(name, labels),
    /** Waits until a series has this value. */
    async shows(name: string, value: number, labels?: Readonly<Record<string, string>>, withinMs?: number) {
      let seen: number | undefined
      const found = until(
        `${name} ${JSON.stringify(labels ?? {})} ${value}`,
        async () => {
          seen = (await metrics()).value(name, labels)
          return seen === value
        },
        withinMs,
      )
      await found.catch((error: Error) => {
        throw new Error(`${error.message}; it was ${seen}\n${running.stderr().slice(-3_000)}`, { cause: error.cause })
      })
      return value
    },
    /** The lines of the log so far; lines that are not JSON are left out. */
    log: () => jsonLines(running.stderr()),
  }
}

/** Beside the sandbox, and on a terminal, the daemon prints its address; else its log has it. */
const pageOf = ({ stdout, stderr }: Running): string | undefined =>
  addressIn(stdout(), 'status page') ??
  jsonLines(stderr())
    .map(({ page }) => page)
    .find((page) => typeof page === 'string')

/** The address behind a name that the daemon prints at its start. */
export const addressIn = (text: string, name: string): string | undefined => new RegExp(`^${name}\\s+(http\\S+)`, 'm').exec(text)?.[1]

const jsonLines = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))
