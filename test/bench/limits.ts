// G18: 50,000 people, 500 groups and 20,000 declared scopes, in one workspace and in 100 of one process: CPU and memory of cycles, at a
// quarter, a half and all of it. Each size has a process of its own.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { atMost, exactly, heapKib, median, mib, publish, type Row, seconds, told } from './bench.ts'
import { type Company, instantWorkspace, virtualClock } from './instant.ts'
import { costOf } from './remote.ts'
import { openFolder } from './world.ts'

const FULL: Company = { people: 50_000, groups: 500, scopes: 20_000 }
const SHARES = [0.25, 0.5, 1]
const QUIET_CYCLES = 5
/** Noise of a machine that others use; what grows with the square would be at 4. */
const MOST_GROWTH = 1.25

interface Measured {
  readonly firstMs: number
  readonly quietMs: number
  readonly usageMs: number
  readonly restKib: number
  readonly peakKib: number
  readonly written: number
  readonly writtenLater: number
}

const cpuOf = async (work: () => Promise<unknown>): Promise<number> => (await costOf(work)).cpuMs

async function measure(workspaces: number, share: number): Promise<Measured> {
  const clock = virtualClock()
  const store = await openLedger({ file: join(openFolder().path, 'ledger.db'), mode: 'write', clock })
  const each = (all: number): number => Math.round((all * share) / workspaces)
  const company = { people: each(FULL.people), groups: Math.max(1, each(FULL.groups)), scopes: each(FULL.scopes) }
  const all = await Promise.all(Array.from({ length: workspaces }, (_, index) => instantWorkspace(`w${index}`, company, store, clock)))
  const everyCycle = async (usage: boolean): Promise<void> => {
    clock.pass(300_000)
    for (const one of all) await one.cycle(usage)
  }
  const writes = (): number => all.reduce((sum, { told: events }) => sum + (events.get('change-finished') ?? 0), 0)
  const firstMs = await cpuOf(() => everyCycle(true))
  const written = all.reduce((sum, { caps }) => sum + caps.size, 0)
  const before = writes()
  const quiet: number[] = []
  for (let cycle = 0; cycle < QUIET_CYCLES; cycle += 1) quiet.push(await cpuOf(() => everyCycle(false)))
  const usage: number[] = []
  for (let cycle = 0; cycle < 3; cycle += 1) usage.push(await cpuOf(() => everyCycle(true)))
  const result = {
    firstMs,
    quietMs: median(quiet),
    usageMs: median(usage),
    restKib: heapKib(),
    peakKib: process.resourceUsage().maxRSS,
    written,
    writtenLater: writes() - before,
  }
  await store.close()
  return result
}

const inChild = (workspaces: number, share: number): Promise<Measured> =>
  new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [String(workspaces), String(share)])
    child.on('message', (measured) => resolve(measured as Measured))
    child.on('exit', (code) => code !== 0 && reject(new Error(`measuring ended with ${code}`)))
  })

async function rowsFor(workspaces: number, title: string): Promise<readonly Row[]> {
  const found: Measured[] = []
  for (const share of SHARES) found.push(await inChild(workspaces, share))
  const [quarter, , whole] = found
  if (!quarter || !whole) throw new Error('nothing was measured')
  const grown = (figure: string, of: (one: Measured) => number, show = seconds): Row =>
    atMost('G18', `${title}: ${figure}`, found.map((one) => show(of(one))).join(', '), of(whole) / of(quarter) / 4, MOST_GROWTH)
  return [
    exactly('G18', `${title}: caps set by the first cycle`, whole.written, Math.round(FULL.scopes / workspaces) * workspaces),
    exactly('G18', `${title}: writes after it`, whole.writtenLater, 0),
    grown('CPU of the first cycle', ({ firstMs }) => firstMs),
    grown('CPU of a quiet cycle', ({ quietMs }) => quietMs),
    grown('the same with people and groups', ({ usageMs }) => usageMs),
    grown('heap at rest', ({ restKib }) => restKib, mib),
    told('G18', `${title}: peak resident memory`, found.map(({ peakKib }) => mib(peakKib)).join(', ')),
  ]
}

const [workspaces, share] = process.argv.slice(2)
if (workspaces !== undefined && share !== undefined) process.send?.(await measure(Number(workspaces), Number(share)))
else
  publish(
    'Limits: 50,000 people, 500 groups, 20,000 scopes; a quarter, a half, all of it; the ratio is cost per size, all beside a quarter',
    [...(await rowsFor(1, 'one workspace')), ...(await rowsFor(100, '100 workspaces'))],
  )
