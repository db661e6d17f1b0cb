// A company on replicas: a database, services, a few daemons with links of their own, and the notes of the judge. It reports states;
// faults.ts decides what happens.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/process.ts'
import { type Audit, startAudit } from './audit.ts'
import { type Database, startDatabase } from './database.ts'
import { LOWEST_CAP, type Trouble } from './judge.ts'
import { openNetwork } from './network.ts'
import { openReplica, type Replica } from './replica.ts'
import { type Service, startService } from './service.ts'
import { clock, now } from './time.ts'

/** A foreign change, and when it was reverted. */
interface Probe {
  readonly workspace: string
  readonly at: number
  readonly value: number
}

export type World = Awaited<ReturnType<typeof startWorld>>

export interface WorldOptions {
  readonly replicas: number
  readonly workspaces: number
  /** Gives each replica a network of its own, in which packets can be lost. */
  readonly networks?: boolean
}

export async function startWorld(options: WorldOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-replicas-'))
  const workspaces = Array.from({ length: options.workspaces }, (_, index) => `w${index}`)
  const closing: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).reverse()) await one()
  }
  try {
    const database = await startDatabase()
    closing.push(database.close)
    const replicas: Replica[] = []
    const service = await startService(workspaces, (port) => {
      for (const { place, services, network } of replicas) {
        const last = services.lastSent(port)
        if (last) return { sender: place, sentAt: network.leftAt(last.at, last.openedAt), connectedInMs: last.connectedInMs }
      }
    })
    closing.push(service.close)
    for (let place = 0; place < options.replicas; place += 1) {
      const own = join(folder, String(place))
      const replica = await openReplica({
        ...{ place, folder: own, workspaces, databasePort: database.port, servicePort: service.port, address: database.address },
        ...(options.networks && { network: openNetwork(place) }),
      })
      closing.push(replica.close)
      replica.policies(LOWEST_CAP)
      replicas.push(replica)
    }
    const [first, ...others] = replicas
    await first?.start()
    const audit = await startAudit(database)
    closing.push(audit.close)
    await Promise.all(others.map((one) => one.start()))
    return worldOf({ workspaces, replicas, database, service, audit, close })
  } catch (error) {
    await close()
    throw error
  }
}

interface Parts {
  readonly workspaces: readonly string[]
  readonly replicas: readonly Replica[]
  readonly database: Database
  readonly service: Service
  readonly audit: Audit
  close(): Promise<void>
}

function worldOf(parts: Parts) {
  const { workspaces, replicas, service, audit } = parts
  let cap = LOWEST_CAP
  let value = 1
  const probes: Probe[] = []
  const placeOf = (holder: string): number | undefined => {
    const name = audit.names.get(holder)
    return name === undefined ? undefined : replicas.find((one) => one.isNamed(name))?.place
  }
  const holderOf = (workspace: string): Replica | undefined => {
    const last = audit.given.findLast((one) => one.workspace === workspace)
    if (!last?.holder || last.until < now()) return undefined
    const place = placeOf(last.holder)
    return place === undefined ? undefined : replicas[place]
  }
  const heldBy = (replica: Replica): readonly string[] => workspaces.filter((name) => holderOf(name) === replica)
  return {
    ...parts,
    troubles: [] as Trouble[],
    probes,
    /** The cap that the policies declare now. */
    cap: () => cap,
    /** Publishes policies with a cap higher by one, for these replicas. */
    newPolicies(of = replicas) {
      if (of === replicas || of.length < replicas.length) cap += 1
      for (const one of of) one.policies(cap)
    },
    placeOf,
    holderOf,
    heldBy,
    /** Another client changes the cap. */
    foreign(...names: readonly string[]) {
      for (const workspace of names) {
        value = (value % (LOWEST_CAP - 2)) + 1
        service.foreign(workspace, value)
        probes.push({ workspace, at: now(), value })
      }
    },
    healedAt: (probe: Probe) =>
      service.landings.find(({ workspace, at, value: to }) => workspace === probe.workspace && at > probe.at && (to ?? 0) >= LOWEST_CAP)
        ?.at,
    /** Every workspace is held, evenly spread, and as the policies ask. */
    async settled(withinMs: number) {
      let why = ''
      const look = async (): Promise<boolean> => {
        const counts = replicas.map((one) => heldBy(one).length)
        const caps = workspaces.map((name) => service.capOf(name))
        const ready = await Promise.all(replicas.map(async (one) => (await one.get('/readyz'))?.status))
        const shown = await Promise.all(replicas.map(async (one) => capsShown((await one.get('/status'))?.text)))
        why = `held ${counts.join(' ')}, caps ${caps.join(' ')}, readyz ${ready.join(' ')}, shown ${shown.join(' ')}`
        const isEven = Math.max(...counts) - Math.min(...counts) <= 1 && counts.reduce((sum, one) => sum + one, 0) === workspaces.length
        const areShown = shown.every((one) => one === workspaces.length)
        return isEven && areShown && caps.every((one) => one === cap) && ready.every((one) => one === 200)
      }
      await until('all is kept, evenly', look, withinMs).catch(() => {
        throw new Error(`not settled within ${withinMs / 1000} s: ${why}; ${cap} is asked for`)
      })
    },
    rest: (ms: number) => clock.sleep(ms),
  }
}

/** How many workspaces' caps a status document shows. */
export const capsShown = (status = ''): number => status.match(/"desired": [1-9]\d{3}\b/g)?.length ?? 0
