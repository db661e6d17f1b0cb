// A daemon over small worlds, whose configuration and policies a test writes: no process, no files.
import { onTestFinished } from 'vitest'
import { InputError, type Problem } from '../../src/core/model/problem.ts'
import { LedgerError } from '../../src/daemon/ledger/error.ts'
import { soleLeases } from '../../src/daemon/replicas/leases.ts'
import { startDaemon } from '../../src/daemon/schedule/daemon.ts'
import { worldClock } from './clock.ts'
import { configOf, workspaceConfig } from './configured.ts'
import type { PolicySketch } from './declare.ts'
import { createWorld, revisionOf, type World, type WorldOptions } from './world.ts'

export const BROKEN: Problem = { severity: 'error', code: 'CAP', message: 'cap is "lots", not a whole number' }

type DaemonParts = Parameters<typeof startDaemon>[0]

/** A daemon over worlds by name, whose files the test writes. */
export interface House {
  daemon: Awaited<ReturnType<typeof startDaemon>>
  /** Stops the daemon, and starts it again as the files are now. */
  restart(): Promise<void>
  readonly clock: ReturnType<typeof worldClock>
  readonly worlds: ReadonlyMap<string, World>
  readonly sets: Map<string, ReturnType<typeof revisionOf>>
  problems: readonly Problem[]
  problemsOf?: ReadonlyMap<string, readonly Problem[]>
  config: ReturnType<typeof configOf> | undefined
  readonly opened: string[]
  readonly closed: string[]
  /** Workspaces that cannot be opened. */
  readonly shut: Set<string>
  readonly refusals: object[]
  readonly faults: { load: boolean; request: boolean }
  /** How often policies were loaded; `busy`: each load waits for it. */
  loads: number
  busy?: Promise<void>
  probe: () => Promise<void>
  /** Of a replica, which holds all workspaces where this does not say otherwise. */
  readonly leases?: Partial<NonNullable<DaemonParts['leases']>>
  /** What the end of a workspace waits for. */
  readonly ending?: (name: string) => Promise<void>
}

export async function house(
  names: readonly string[],
  policies: Readonly<Record<string, PolicySketch>>,
  options: WorldOptions = {},
  more: Pick<House, 'leases' | 'ending'> = {},
): Promise<House> {
  const clock = worldClock()
  const worlds = new Map<string, World>()
  for (const name of [...names, 'gamma']) worlds.set(name, await createWorld({ ...options, clock, name }))
  const made: Omit<House, 'daemon' | 'restart'> = {
    clock,
    worlds,
    sets: new Map(Object.entries(policies).map(([name, declared]) => [name, revisionOf(declared, name)])),
    problems: [],
    config: configOf(...names.map((name) => workspaceConfig(name))),
    opened: [],
    closed: [],
    shut: new Set(),
    refusals: [],
    faults: { load: false, request: false },
    loads: 0,
    probe: async () => undefined,
    ...more,
  }
  const house: House = Object.assign(made, {
    daemon: await startDaemon(partsOf(made)),
    async restart() {
      await clock.until(house.daemon.stop())
      house.daemon = await startDaemon(partsOf(house))
    },
  })
  onTestFinished(async () => {
    await clock.until(house.daemon.stop())
    for (const one of worlds.values()) await one.close()
  })
  return house
}

const partsOf = (house: Omit<House, 'daemon' | 'restart'>): DaemonParts => ({
  clock: house.clock,
  config: house.config ?? configOf(),
  leases: house.leases && { ...soleLeases(), isSole: false, ...house.leases },
  async open(config) {
    const world = house.worlds.get(config.name)
    if (!world || house.shut.has(config.name)) throw new InputError([{ ...BROKEN, code: 'NO_KEY', message: `${config.name}: no key` }])
    house.opened.push(config.name)
    const finish = async () => house.ending?.(config.name)
    const requestFailed = () => house.faults.request
    return { parts: { ...world.workspace, config }, finish, requestFailed, close: () => void house.closed.push(config.name) }
  },
  async loadPolicies() {
    house.loads += 1
    await house.busy
    if (house.faults.load) throw new Error('the disk is gone')
    return { sets: house.sets, problems: house.problems, ...(house.problemsOf && { problemsOf: house.problemsOf }) }
  },
  reloadConfig() {
    if (!house.config) throw new InputError([BROKEN])
    return house.config
  },
  registered: () => undefined,
  async recordsOf({ name }) {
    const { ledger } = house.worlds.get(name)?.workspace ?? {}
    if (!ledger || house.shut.has(name)) throw new LedgerError('LEDGER_AWAY', 'no answer')
    return ledger
  },
  ledgerWritable: () => true,
  probeLedger: () => house.probe(),
  onTransition: ({ change, condition }) => void (change === 'begun' && house.refusals.push(condition)),
})
