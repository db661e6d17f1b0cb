// One daemon of the check as a process, with a folder, policies and two links of its own: one to the database, one to the services.
// Signals, cuts and jumps of its clock affect it alone.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/process.ts'
import { openLink } from './link.ts'
import { machineNetwork, type Network } from './network.ts'
import { clock, now } from './time.ts'

const MAIN = process.env['CAPKEEPER_MAIN'] ?? join(import.meta.dirname, '../../src/main.ts')
/** Moves the wall clock of a process, and leaves the monotonic one alone. */
const FAKETIME = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`).find(existsSync)
export const canMoveClocks = FAKETIME !== undefined

/** A host name that only the replica's proxy knows. */
const SERVICE_HOST = 'http://service.example'

export type Replica = Awaited<ReturnType<typeof openReplica>>

interface ReplicaOptions {
  readonly place: number
  readonly folder: string
  readonly workspaces: readonly string[]
  readonly databasePort: () => number
  readonly servicePort: number
  readonly address: (port: number, host: string) => string
  readonly network?: Network
}

const GUARDS = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxRaise: 'off', contested: 'off', breaker: 'off' }

export async function openReplica(options: ReplicaOptions) {
  const { place, folder, workspaces, network = machineNetwork } = options
  const { machine: host } = network
  const database = await openLink({ target: options.databasePort, isProxy: false, host })
  const services = await openLink({ target: () => options.servicePort, isProxy: true, host })
  mkdirSync(join(folder, 'policies'), { recursive: true })
  const path = (name: string): string => join(folder, name)
  /** Written and then renamed, so that no reader gets half of it. */
  const write = (name: string, text: string): void => {
    writeFileSync(path('new'), text)
    renameSync(path('new'), path(name))
  }
  write('key', 'sandbox-admin\n')
  write('clock', '+0')
  const config = workspaces.map((name) => ({
    ...{ name, baseUrl: `${SERVICE_HOST}/${name}`, allowPlainHttp: true, keys: { default: { file: 'key' } } },
    ...{ policies: [`policies/${name}.yaml`], interval: '1s', usageInterval: '30s', guards: GUARDS, rate: { start: 50, max: 200 } },
  }))
  const whole = {
    apiVersion: 'capkeeper/v1',
    kind: 'Config',
    ledger: options.address(database.port, host),
    people: 'email',
    workspaces: config,
  }
  write('config.yaml', JSON.stringify(whole))
  let child: ChildProcess | undefined
  let url = ''
  const numbers = new Set<number>()
  const lines: { readonly at: number; readonly text: string }[] = []
  const kill = (): void => void child?.kill('SIGKILL')
  process.once('exit', kill)
  return {
    place,
    database,
    services,
    network,
    /** Whether one of its processes has this name in the database; the name contains the process's number. */
    isNamed: (name: string) => numbers.has(Number(name.split(':').at(-1))),
    async start() {
      url = ''
      const env = {
        ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], HTTP_PROXY: `http://${host}:${services.port}` },
        ...(FAKETIME && {
          ...{ LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: path('clock'), FAKETIME_CACHE_DURATION: '1' },
          ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' },
        }),
      }
      const argv = ['--no-warnings', MAIN, 'run', '--listen', `${network.replica}:0`, '--config', path('config.yaml')]
      const [program, all] = network.started(process.execPath, argv)
      const started = spawn(program, all, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
      child = started
      numbers.add(started.pid ?? 0)
      let rest = ''
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        const parts = `${rest}${text}`.split('\n')
        rest = parts.pop() ?? ''
        for (const line of parts) lines.push({ at: now(), text: line })
        const page = parts.map((line) => /"page":"([^"]+)\/"/.exec(line)?.[1]).findLast((one) => one !== undefined)
        if (page !== undefined) url = page
      })
      await until(`replica ${place} answers`, () => url !== '', 60_000)
    },
    signal: (name: NodeJS.Signals) => void child?.kill(name),
    async ended() {
      const running = child
      if (!running || running.exitCode !== null || running.signalCode !== null) return
      await new Promise((done) => running.once('exit', done))
    },
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    /** Undefined: no answer. */
    async get(page: string) {
      const [answered, late] = [new AbortController(), new AbortController()]
      clock.sleep(5_000, answered.signal).then(
        () => late.abort(),
        () => undefined,
      )
      try {
        const answer = await fetch(`${url}${page}`, { signal: late.signal })
        return { status: answer.status, text: await answer.text() }
      } catch {
        return undefined
      } finally {
        answered.abort()
      }
    },
    policies(cap: number) {
      for (const name of workspaces) {
        const text = `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec:\n  workspace: ${name}\n  team: {cap: ${cap}}\n`
        write(`policies/${name}.yaml`, text)
      }
    },
    /** The offset from the machine's clock. */
    moveClock: (ms: number) => write('clock', `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`),
    /** Lines of its log since a time. */
    log: (sinceAt: number) => lines.flatMap(({ at, text }) => (at >= sinceAt ? [text] : [])),
    async close() {
      process.off('exit', kill)
      const running = child
      if (running && running.exitCode === null && running.signalCode === null) {
        const ended = new Promise((done) => running.once('exit', done))
        running.kill('SIGKILL')
        await ended
      }
      await database.close()
      await services.close()
      network.close()
    },
  }
}
