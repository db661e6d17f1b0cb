// The parts that all workspaces of a daemon share: log, metrics, ledger, labels for people. Also opens a workspace with real parts.

import { createPaces, type Paces } from '../../api/transport/queue.ts'
import { formatProblems } from '../../core/escape/text.ts'
import type { Emit } from '../../core/model/events.ts'
import { hasErrors, messageOf } from '../../core/model/problem.ts'
import { DAY_MS, HOUR_MS } from '../../core/model/units.ts'
import { partOfRate } from '../../core/replicas/lease.ts'
import { chronicleOf } from '../../daemon/conditions/journal.ts'
import { createLogger, eventLog } from '../../daemon/conditions/log.ts'
import type { Config, WorkspaceConfig } from '../../daemon/config/settings.ts'
import { learnedKeeper } from '../../daemon/cycle/read.ts'
import { readPeopleFile } from '../../daemon/directory/read.ts'
import { groupsShownOf } from '../../daemon/http/auth.ts'
import { createLive } from '../../daemon/http/events.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels } from '../../daemon/http/labels.ts'
import { createMetrics } from '../../daemon/http/metrics/metrics.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { type Leases, leaseOf, soleLeases } from '../../daemon/replicas/leases.ts'
import type { OpenedWorkspace } from '../../daemon/schedule/runners.ts'
import { randomSalt, sha256, systemRandom } from '../../daemon/schedule/system.ts'
import { commitOf } from '../../policy/load/git.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import type { Ledger } from '../../ports.ts'
import { connectWriter, serviceFiles } from '../compose.ts'
import { openNotify } from '../notify.ts'
import { SANDBOX_IDENTITY } from '../sandbox/embedded.ts'
import type { NetworkFlags } from '../shared/command.ts'
import { type Cli, hasColours } from '../shared/context.ts'
import { sharersIn } from '../shared/ledger/replica.ts'
import { ledgerOf } from '../shared/ledger/store.ts'
import { PACKAGE_FOLDER, VERSION } from '../shared/text.ts'

export type Host = Awaited<ReturnType<typeof createHost>>

export interface HostOptions {
  readonly cli: Cli
  readonly flags: NetworkFlags & { readonly rebind?: boolean }
  readonly config: Config
  readonly store: LedgerStore
  readonly isEmbedded: boolean
  /** Absent: this process holds all workspaces. */
  readonly leases?: Leases
}

export async function createHost({ cli, flags, config, store, isEmbedded, leases = soleLeases() }: HostOptions) {
  const logger = await createLogger({
    level: flags.logLevel ?? 'info',
    format: flags.logFormat ?? (cli.stderr.isTTY === true ? 'pretty' : 'json'),
    clock: cli.clock,
    destination: cli.stderr,
    redact: cli.secrets.redact,
    colour: hasColours(cli.stderr),
  })
  const salt = await saltOf(store, config, { isEmbedded, rebind: flags.rebind })
  const hashed = hashLabels(sha256, salt)
  const inForce = { config }
  const people = chosenLabels(() => (inForce.config.people === 'email' ? EMAIL_LABELS : hashed))
  const revision = await commitOf(PACKAGE_FOLDER)
  const metrics = createMetrics({
    version: VERSION,
    revision,
    clock: cli.clock,
    people,
    users: {
      get perUser() {
        return inForce.config.metrics.perUser
      },
      userLabel: (email) => (inForce.config.metrics.userLabel === 'email' ? EMAIL_LABELS : hashed).label(email),
    },
  })
  const log = eventLog(logger)
  const live = createLive(cli.clock, randomSalt())
  const atEnd = new DisposableStack()
  atEnd.defer(() => live.close())
  const paces = new Map<string, Paces>()
  return {
    ...{ cli, store, logger, metrics, flags, isEmbedded, leases, people },
    /** Changes, for open pages. */
    live,
    /** Labels as hashes, whatever the config shows. */
    hashed,
    /** The salt of people's hashes. */
    salt,
    /** Other workspaces with the same key. */
    sharers: sharersIn(cli, () => inForce.config),
    /** The paces of a workspace's keys: they outlive its client, which a reload makes anew. */
    pacesOf({ name, baseUrl }: WorkspaceConfig): Paces {
      // Another address is another service.
      const id = JSON.stringify([name, baseUrl])
      const own = paces.get(id) ?? createPaces()
      paces.set(id, own)
      return own
    },
    /** The configuration in force. */
    config: () => inForce.config,
    /** The workspaces that the process began with. */
    first: config.workspaces,
    /** Applies the settings of another configuration that concern the whole process. `listen`, `ledger` and `ledgerToken` need a restart, which is logged. */
    use(next: Config): void {
      const before = inForce.config
      if (JSON.stringify(next) === JSON.stringify(before)) return
      logger.info({}, 'configuration loaded')
      const isOther = (name: 'listen' | 'ledger' | 'ledgerToken', { [name]: was }: Config): boolean =>
        JSON.stringify(next[name]) !== JSON.stringify(was)
      // One that went back to what the process began with waits for nothing.
      const waiting = (['listen', 'ledger', 'ledgerToken'] as const).filter((name) => isOther(name, before) && isOther(name, config))
      if (waiting.length > 0) logger.warn({ settings: waiting }, 'settings that changed take effect with the next start')
      inForce.config = next
    },
    emit(event: Parameters<Emit>[0]): void {
      log(event)
      metrics.onEvent(event)
      live.onEvent(event)
    },
    ...writableProbe(store, cli),
    atEnd,
  }
}

/** Labels that change with the configuration. */
const chosenLabels = (chosen: () => PeopleLabels): PeopleLabels => ({
  get shown() {
    return chosen().shown
  },
  label: (email) => chosen().label(email),
  text: (text) => chosen().text(text),
  all: (value) => chosen().all(value),
})

const PROBE_EVERY_MS = 30_000
/** After a failure. */
const PROBE_AGAIN_MS = 2_000

function writableProbe(store: LedgerStore, { clock }: Cli) {
  let triedAt = Number.NEGATIVE_INFINITY
  let writable = true
  return {
    /** Whether the ledger could be written when it was last tried. */
    ledgerWritable: () => writable,
    /** Tries to write the ledger, every 30 s at most, or every 2 s after a failure. */
    async probeLedger(): Promise<void> {
      if (clock.monotonic() - triedAt < (writable ? PROBE_EVERY_MS : PROBE_AGAIN_MS)) return
      triedAt = clock.monotonic()
      writable = await store.probe().then(
        () => true,
        () => false,
      )
    },
  }
}

/** Deletes history older than 400 days once a day, until the signal aborts. It begins an hour after the start, when a wrong clock has been set. */
export async function forgetOldHistory({ store, cli, logger }: Host, signal: AbortSignal): Promise<void> {
  await cli.clock.sleep(HOUR_MS, signal).catch(() => undefined)
  while (!signal.aborted) {
    try {
      const gone = await store.prune(cli.clock.now())
      if (gone > 0) logger.info({ entries: gone }, 'old history forgotten')
    } catch (error) {
      logger.error({ error: messageOf(error) }, 'old history could not be forgotten')
    }
    await cli.clock.sleep(DAY_MS, signal).catch(() => undefined)
  }
}

/** The salt is kept in the ledger, so that hashes of people stay the same after a restart. */
async function saltOf(store: LedgerStore, config: Config, how: Binding): Promise<string> {
  // A database keeps it outside the workspaces, so no lease is needed.
  if (store.leases) return store.leases.common('peopleSalt', randomSalt)
  const ledger = await firstOpened(store, config, how)
  const known = ledger?.fact('peopleSalt')
  if (known !== undefined) return known
  const salt = randomSalt()
  ledger?.saveFact('peopleSalt', salt)
  await ledger?.commit()
  return salt
}

/** Any workspace will do, because all keep the same salt. Throws the first error when none can be opened; undefined without workspaces. */
async function firstOpened(store: LedgerStore, { workspaces }: Config, how: Binding): Promise<Ledger | undefined> {
  const failures: unknown[] = []
  for (const one of workspaces) {
    try {
      return await bound(store, one, how)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return undefined
}

type Binding = Pick<HostOptions, 'isEmbedded'> & { readonly rebind?: boolean }

/** The embedded service has one identity, although its port may differ from start to start. */
export const bound = (store: LedgerStore, config: WorkspaceConfig, { isEmbedded, rebind }: Binding): Promise<Ledger> =>
  ledgerOf(store, isEmbedded ? { ...config, baseUrl: SANDBOX_IDENTITY } : config, rebind)

/** The settings with the workspace's part of the key's rate, computed at each request because the configuration may change. */
function withPart(config: WorkspaceConfig, sharers: Host['sharers']): WorkspaceConfig {
  const part = (): WorkspaceConfig['rate'] => partOfRate(config.rate, sharers.count(config.name))
  const rate = {
    concurrency: config.rate.concurrency,
    get start() {
      return part().start
    },
    get max() {
      return part().max
    },
  }
  return { ...config, rate }
}

/** Opens one workspace with its ledger and its client. */
export async function openWorkspace(config: WorkspaceConfig, host: Host): Promise<OpenedWorkspace> {
  const { cli, emit, logger } = host
  const about = { workspace: config.name, address: config.baseUrl }
  await cli.files.refresh([config, ...host.config().workspaces].flatMap(serviceFiles))
  let first: 'waiting' | 'answered' | 'failed' = 'waiting'
  // Only what the process began with: a configuration that is read later may still be refused, and then changes nothing.
  const isFirst = host.first.some(({ name, baseUrl }) => name === config.name && baseUrl === config.baseUrl)
  const ledger = await bound(host.store, config, { isEmbedded: host.isEmbedded, rebind: host.flags.rebind && isFirst })
  // Nothing else is logged until the first answer, which may take minutes.
  logger.info(about, 'asking the service')
  // Every workspace keeps the salt, because commands open one workspace and must show the same hashes.
  if (ledger.fact('peopleSalt') !== host.salt) ledger.saveFact('peopleSalt', host.salt)
  const learning = learnedKeeper(ledger, cli.clock)
  const chronicle = chronicleOf(ledger)
  const tell: Emit = (event) => {
    chronicle.onEvent(event)
    emit(event)
  }
  const lease = leaseOf(host.leases, config.name)
  const connection = connectWriter(cli, withPart(config, host.sharers), {
    ...{ leases: host.leases, ...learning.reports },
    // A value of its own: what is borrowed is not saved as this workspace's.
    learned: await host.sharers.learned(config, learning.reports.learned, host.store),
    paces: host.pacesOf(config),
    knownAt: () => ledger.fact('usage')?.roster.readAt,
    onRequest({ message, retryAfterMs: _, ...event }) {
      if (first === 'waiting') {
        first = event.outcome === 'ok' ? 'answered' : 'failed'
        if (first === 'failed') logger.warn({ ...about, error: message }, 'the first request failed; it is tried again')
      }
      tell({ kind: 'request-finished', workspace: config.name, at: cli.clock.now(), ...event })
    },
  })
  const reader = config.keys.billingRead ? 'billingRead' : 'default'
  const channels = openNotify(cli, config)
  return {
    parts: {
      ...{ config, client: connection.client, ledger, clock: cli.clock, random: systemRandom, digest: sha256, readPeopleFile, lease },
      ratePerSecond: () => connection.client.ratePerSecond(reader),
      groupsShown: () => groupsShownOf(host.config().auth?.viewers, config.name),
      // Saved once a cycle, because a disk write for each request would be slower than the service.
      chronicle,
      emit(event) {
        tell(event)
        if (event.kind !== 'cycle-finished') return
        chronicle.keep()
        void learning.keep()
      },
      notifier:
        channels && config.notify
          ? { settings: config.notify.settings, label: host.people.label, all: host.people.all, ...channels }
          : undefined,
    },
    requestFailed: () => first === 'failed',
    async finish() {
      chronicle.keep()
      await learning.keep()
    },
    close() {
      connection.close()
      channels?.close()
    },
  }
}

/** Logs the problems of policies with their places, also those of envelopes, which stop nobody else. */
export function tellErrors({ problems }: LoadedPolicies, { logger }: Host): void {
  if (hasErrors(problems)) logger.error({ problems: formatProblems(problems).split('\n') }, 'policies have errors')
}
