// G10: what the daemon costs while nothing happens: the built program with the V8 flags of the image, 1,000 scopes and 1,000 people, scraped
// every 15 s. Reads /proc, so it needs Linux.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { mib, percent, publish, type Row, seconds, told, within } from './bench.ts'
import { build, MAIN } from './built.ts'
import { startRemote } from './remote.ts'
import type { Place } from './service.ts'
import { configOf, declaredAt, openFolder, policyOf } from './world.ts'

const SCOPES = 1000
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=40']
const SCRAPE_EVERY_MS = 15_000
const SCRAPES = 2
const INTERVAL_MS = 300_000
const MOST_CPU = 0.005
const MOST_KIB = 160 * 1024
/** Clock ticks of Linux, on every architecture that Node runs on. */
const TICK_MS = 10

type Daemon = ChildProcessByStdio<null, null, Readable>

/** CPU of a process so far, in milliseconds. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

const statusOf = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

async function lineWith(lines: Interface, text: string): Promise<string> {
  const found = Promise.withResolvers<string>()
  const look = (line: string): void => {
    if (line.includes(text)) found.resolve(line)
  }
  lines.on('line', look)
  const line = await found.promise
  lines.off('line', look)
  return line
}

async function measure(daemon: Daemon, pid: number): Promise<readonly Row[]> {
  const lines = createInterface({ input: daemon.stderr })
  const converged = lineWith(lines, '"cycle finished"')
  const address = /http:\S+\/metrics/.exec(await lineWith(lines, '/metrics'))?.[0] ?? ''
  await converged
  const sweeps: number[] = []
  for (let sweep = 0; sweep < 2; sweep += 1) {
    const before = cpuMsOf(pid)
    const swept = lineWith(lines, '"cycle finished"')
    daemon.kill('SIGHUP')
    await swept
    sweeps.push(cpuMsOf(pid) - before)
  }
  await wait(1000)
  const idleFrom = performance.now()
  const before = cpuMsOf(pid)
  for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
    await (await fetch(address)).text()
    await wait(SCRAPE_EVERY_MS)
  }
  const idle = (cpuMsOf(pid) - before) / (performance.now() - idleFrom)
  const all = idle + (sweeps.at(-1) ?? 0) / INTERVAL_MS
  const [now, peak] = [statusOf(pid, 'VmRSS'), statusOf(pid, 'VmHWM')]
  return [
    within('G10', 'idle: share of a core, scrapes included', idle, MOST_CPU, percent),
    told('G10', `the same with a sweep every ${INTERVAL_MS / 60_000} min`, percent(all), all / MOST_CPU),
    told('G10', 'CPU of one sweep, policies and config read again', seconds(sweeps.at(-1) ?? 0)),
    within('G10', 'resident memory between sweeps', now, MOST_KIB, mib),
    told('G10', 'highest resident memory since the start, first convergence included', mib(peak), peak / MOST_KIB),
  ]
}

async function run(): Promise<readonly Row[]> {
  build()
  const service = await startRemote('service.ts', ['1', '1060', '9'])
  const place = await service.ask<Place>('place')
  const config = configOf(place, openFolder(), policyOf(place, declaredAt(place, SCOPES)))
  const daemon = spawn(process.execPath, [...FLAGS, MAIN, 'run', '--config', config, '--log-format', 'json'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    return await measure(daemon, daemon.pid ?? 0)
  } finally {
    daemon.kill('SIGKILL')
    await service.stop()
  }
}

publish(
  `The daemon at rest: ${SCOPES} scopes, ${FLAGS.join(' ')}`,
  existsSync('/proc/self/stat') ? await run() : [told('G10', 'idle: not measured, there is no /proc here', '-')],
)
