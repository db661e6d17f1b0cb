// Parts of hostile trials: the program as a process with the flags of the image, good and bad services on loopback, and a watch that
// requests /livez all the time. Everything ends with the test file. No request leaves this machine.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Operation } from '../../src/core/model/observed.ts'

import { MAIN, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'

/** The flags of deploy/Dockerfile, read from there because no test compares them here. */
const IMAGE_FLAGS: string = (() => {
  const file = readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8')
  const [, flags] = /NODE_OPTIONS="([^"]+)"/.exec(file) ?? []
  if (flags === undefined) throw new Error('deploy/Dockerfile sets no NODE_OPTIONS')
  return flags
})()

/** The limit of deploy/kubernetes/base/statefulset.yaml. */
export const POD_LIMIT_MIB = 384
/** `npm run hostile`: the built program, and all larger and longer cases. */
export const IS_HEAVY = process.env['CAPKEEPER_HOSTILE'] === 'heavy'
/** The start time of an empty Node on an idle machine. */
const EMPTY_NODE_MS = 50

/** How many times slower this machine is, because it is slow or busy: by the median of five starts. */
function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const beganMs = clock.monotonic()
    spawnSync(process.execPath, ['-e', '0'])
    return clock.monotonic() - beganMs
  })
  return Math.max(1, (times.toSorted((a, b) => a - b)[2] ?? 0) / EMPTY_NODE_MS)
}
const PROGRAM = process.env['CAPKEEPER_HOSTILE_MAIN'] ?? MAIN

const clock = realClock()
const SLOW_AT_FIRST = slowness()
/**
 * The limit for /livez is a second, and longer in proportion on a slow or busy machine. How busy it is now is measured only for an answer
 * that took longer than the second.
 */
export const liveWithinMs = (tookMs: number): number =>
  1_000 * (tookMs < 1_000 ? 1 : Math.max(SLOW_AT_FIRST, slowness(), (loadavg()[0] ?? 0) / availableParallelism()))
export const pause = (ms: number): Promise<void> => clock.sleep(ms)

const endings: (() => unknown)[] = []
/** Call it after all tests of a file. */
export async function endAll(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end()
}
export const atEnd = (end: () => unknown): void => void endings.push(end)

export type Folder = ReturnType<typeof folder>

export function folder(parent = tmpdir()) {
  const path = mkdtempSync(join(parent, 'capkeeper-hostile-'))
  atEnd(() => rmSync(path, { recursive: true, force: true }))
  return {
    path,
    write(name: string, text: string) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
  }
}

// ---- services

export type Answer = (body: Readonly<Record<string, unknown>>, response: ServerResponse, request: IncomingMessage) => void
export type Answers = { readonly [operation in Operation]?: Answer }

export interface Service {
  readonly url: string
  /** The stored cap of the team; setting it is a foreign change. */
  cap: number
  /** How often each operation was requested. */
  readonly asked: Map<string, number>
  close(): Promise<void>
}

const say =
  (value: unknown): Answer =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

export const rosterOf = (people: number, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    userTableStats: Array.from({ length: people }, (_, index) => ({
      email: `person.${index}@example.com`,
      name: `Person ${index}`,
      teamStatus: 'USER_TEAM_STATUS_APPROVED',
      promptCreditsUsed: String(index % 400),
      ...more,
    })),
    billingCycleStart: '2026-11-01T00:00:00Z',
    billingCycleEnd: '2036-12-01T00:00:00Z',
  })

const BALANCE = { promptCreditsPerSeat: 500, numSeats: 20, addOnCreditsAvailable: 1_000_000_000, addOnCreditsUsed: 5 }

/** A service of a team with a cap; `answers` replace the good ones. */
export async function service(answers: Answers = {}, people = 20): Promise<Service> {
  const roster = rosterOf(people)
  const asked = new Map<string, number>()
  const good: Required<Answers> = {
    Analytics: say({ queryResults: [] }),
    UserPageAnalytics: (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(roster),
    CascadeAnalytics: say({ queryResults: [] }),
    GetUsageConfig: (body, response, request) => say(body['team_level'] ? { addOnCreditCap: made.cap } : {})(body, response, request),
    UsageConfig(body, response, request) {
      made.cap = Number(body['set_add_on_credit_cap'])
      say({})(body, response, request)
    },
    GetTeamCreditBalance: say(BALANCE),
  }
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    response.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const operation = (request.url ?? '').split('/').at(-1) ?? ''
      asked.set(operation, (asked.get(operation) ?? 0) + 1)
      const answer = operation in good ? (answers[operation as Operation] ?? good[operation as Operation]) : undefined
      if (answer) answer(JSON.parse(Buffer.concat(chunks).toString()), response, request)
      else response.writeHead(404).end()
    })
  }
  const server = createServer(listener)
  // A kept connection must not close just when it is used again.
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  atEnd(close)
  const made: Service = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cap: 7, asked, close }
  return made
}

/** A port that treats each connection as told. */
export async function port(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// ---- the daemon

/** The cap of the policies of these trials. */
export const CAP = 400

export type Daemon = Awaited<ReturnType<typeof daemon>>

interface DaemonOptions {
  /** Name and address of each workspace, or more of its settings. */
  readonly workspaces: Readonly<Record<string, string | Readonly<Record<string, unknown>>>>
  readonly settings?: Readonly<Record<string, unknown>>
  readonly config?: Readonly<Record<string, unknown>>
  readonly at?: Folder
  readonly env?: Readonly<Record<string, string>>
  /** A command to run the program with, such as `['prlimit', '--nofile=64']`. */
  readonly under?: readonly string[]
  readonly listen?: string
}

export function daemonFiles({ workspaces, settings, config, at = folder() }: DaemonOptions): Folder {
  at.write('key', 'test-key-0123456789-abcdefghijklmnop\n')
  const list = Object.entries(workspaces).map(([name, own]) => {
    const spec = `  workspace: ${name}\n  team: {cap: ${CAP}}\n`
    at.write(`policies/${name}.yaml`, `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec:\n${spec}`)
    const keys = { default: { file: 'key' } }
    const more = typeof own === 'string' ? { baseUrl: own } : own
    return {
      name,
      keys,
      policies: ['policies'],
      interval: '1s',
      usageInterval: '1s',
      rate: { start: 50, max: 200 },
      guards: { contested: 'off' },
      ...settings,
      ...more,
    }
  })
  at.write('config.yaml', JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Config', ledger: 'ledger.db', ...config, workspaces: list }))
  return at
}

/** Starts it and waits until its pages answer. */
export async function daemon(options: DaemonOptions) {
  const at = daemonFiles(options)
  const [program = '', ...args] = [...(options.under ?? []), process.execPath, PROGRAM, 'run', '--listen', options.listen ?? '127.0.0.1:0']
  const child = spawn(program, [...args, '--config', 'config.yaml'], {
    cwd: at.path,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_OPTIONS: IMAGE_FLAGS, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const over = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  atEnd(async () => {
    child.kill('SIGKILL')
    await over
  })
  const ended = (): string | undefined =>
    child.exitCode === null && child.signalCode === null
      ? undefined
      : `it ended with ${child.exitCode ?? child.signalCode}: ${stderr.slice(-3_000)}`
  const log = () =>
    stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const url = await until('the address of the daemon', () => {
    const why = ended()
    if (why !== undefined) throw new Error(why)
    return log()
      .map(({ page }) => page)
      .find((page) => typeof page === 'string')
  })
  return {
    pid: child.pid ?? 0,
    url: url.replace(/\/$/, ''),
    child,
    stderr: () => stderr,
    /** Undefined while it runs. */
    ended,
    over,
    log,
    /** The log lines of a workspace. */
    said: (workspace: string) => JSON.stringify(log().filter((line) => line['workspace'] === workspace)),
    /** The peak of its memory. */
    peakMiB: () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    async get(path: string, headers: Readonly<Record<string, string>> = {}) {
      const beganMs = clock.monotonic()
      const answer = await fetch(new URL(path, url), { headers: { connection: 'close', ...headers } })
      return { status: answer.status, text: await answer.text(), ms: clock.monotonic() - beganMs }
    },
  }
}

export interface Watch {
  /** Stops the watch; the longest answer time of /livez in ms, Infinity when one failed. */
  stop(): Promise<number>
}

/** How long the main thread of a process had work and waited for a processor, in ms; 0 where the system does not tell. */
function heldUpMs(pid: number): number {
  const path = `/proc/${pid}/task/${pid}/schedstat`
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6 : 0
}

/**
 * Requests /livez all the time. Time during which this process itself was held up, or the daemon waited for a processor that others had, does not
 * count: the longer of both, for they may have been at once.
 */
export function watchLife(of: Daemon): Watch {
  let isOver = false
  let longest = 0
  let lag = 0
  const ticking = (async () => {
    while (!isOver) {
      const beganMs = clock.monotonic()
      await clock.sleep(10)
      lag += clock.monotonic() - beganMs - 10
    }
  })()
  const watching = (async () => {
    while (!isOver) {
      const before = { lag, heldUp: heldUpMs(of.pid) }
      const beganMs = clock.monotonic()
      // A connection that was closed to make room is retried at once, as a probe may do.
      let isAlive = false
      while (!isAlive && clock.monotonic() - beganMs < 30_000) {
        isAlive = await of.get('/livez').then(
          ({ status }) => status === 200,
          () => false,
        )
        if (!isAlive) await clock.sleep(10)
      }
      const notItsMs = isAlive ? Math.max(lag - before.lag, heldUpMs(of.pid) - before.heldUp) : 0
      const ms = isAlive ? clock.monotonic() - beganMs - notItsMs : Number.POSITIVE_INFINITY
      longest = Math.max(longest, ms)
      await clock.sleep(100)
    }
  })()
  return {
    async stop() {
      isOver = true
      await Promise.all([watching, ticking])
      return longest
    },
  }
}

/** Another client changes the cap of a good service, and the daemon reverts it. */
export async function heals(good: Service): Promise<void> {
  good.cap = 9
  await until('the cap to be put back', () => good.cap === CAP)
}
