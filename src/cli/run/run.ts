// `run`: reads the configuration, starts the daemon and its HTTP server, and follows files and signals until it is stopped. Nothing about caps
// is decided here.
import { createConsole } from '../../console/routes.ts'
import { hasErrors, InputError } from '../../core/model/problem.ts'
import { logTransition } from '../../daemon/conditions/log.ts'
import { configFileOf, type LoadedConfig, loadConfigAside, networkProblems } from '../../daemon/config/config.ts'
import type { Config, WorkspaceConfig } from '../../daemon/config/settings.ts'
import { parseListen } from '../../daemon/config/values.ts'
import { createGate, ledgerGate } from '../../daemon/http/auth.ts'
import { createLibrary, elsewhereSource, sourceOf } from '../../daemon/http/documents/make.ts'
import type { Health, WorkspaceSource } from '../../daemon/http/documents/types.ts'
import { ListenError, type Server, startServer } from '../../daemon/http/server.ts'
import { ledgerPieces, type SharedWorkspace } from '../../daemon/ledger/share.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import { type Comparisons, createComparisons } from '../../daemon/replay/comparisons.ts'
import { type Daemon, startDaemon } from '../../daemon/schedule/daemon.ts'
import { randomSalt, sha256 } from '../../daemon/schedule/system.ts'
import { filesOf, keepFiles, readAs } from '../../files.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import { stampBefore, type Watcher, watchPaths } from '../../policy/load/watch.ts'
import type { Clock } from '../../ports.ts'
import { LEFT_ALONE } from '../../sandbox/sandbox.ts'
import { type Embedded, onSandbox, startBeside, withSandboxKey } from '../sandbox/embedded.ts'
import { type Cli, EXIT, UsageError } from '../shared/context.ts'
import { openForDaemon } from '../shared/ledger/replica.ts'
import { named, policyPaths, problemsBeside, readPolicies } from '../shared/problems.ts'
import { VERSION } from '../shared/text.ts'
import { awaitLedger } from './await-ledger.ts'
import type { RunFlags } from './command.ts'
import { createEnding, type Ending } from './ending.ts'
import { bound, createHost, forgetOldHistory, type Host, openWorkspace, tellErrors } from './host.ts'

/** Runs the daemon until it is stopped, or one cycle with --once. */
export async function runCommand(flags: RunFlags, outer: Cli): Promise<void> {
  if (flags.listen !== undefined && !parseListen(flags.listen)) {
    throw new UsageError(`--listen '${flags.listen}' is not an address: write host:port, such as 127.0.0.1:9464`)
  }
  const other = (['baseUrl', 'serviceKeyFile'] as const).filter((name) => flags.sandbox && flags[name] !== undefined)
  if (other.length > 0) {
    const named = other.map((name) => (name === 'baseUrl' ? '--base-url' : '--service-key-file')).join(' and ')
    throw new UsageError(
      `${named} cannot be used with --sandbox, which is the service itself: leave out one or the other (with npm start, set CAPKEEPER_BASE_URL)`,
    )
  }
  const files = keepFiles(outer.clock)
  const cli = { ...outer, files, ...(flags.sandbox && { env: withSandboxKey(outer.env) }) }
  await using opened = new AsyncDisposableStack()
  const embedded = flags.sandbox ? await startBeside(cli, flags.sandboxPort) : undefined
  opened.defer(async () => embedded?.close())
  const reader = createReader(flags, cli, embedded)
  readAs('daemon')
  opened.defer(() => readAs('command'))
  if (flags.once) return await (await import('./once.ts')).runOnce(flags, cli, reader, embedded)
  await serve(flags, cli, reader, embedded)
  cli.finish(EXIT.done)
}

/** With --sandbox, the address and the key of another service in the environment are ignored. */
const IGNORED = { CAPKEEPER_BASE_URL: undefined, CAPKEEPER_SERVICE_KEY: undefined, CAPKEEPER_SERVICE_KEY_FILE: undefined }

export type Reader = ReturnType<typeof createReader>

/** Reads the configuration and its policies, at the start and after changes. */
function createReader(flags: RunFlags, cli: Cli, embedded: Embedded | undefined) {
  const env = embedded ? { ...cli.env, ...IGNORED } : cli.env
  const file = configFileOf({ env, flags })
  const configured = new WeakMap<Config, LoadedConfig['configured'] & object>()
  // Without a config file and --ledger the ledger is in memory, because the embedded service forgets its caps as well.
  const keepsLedger = file !== undefined || (flags.ledger ?? cli.env['CAPKEEPER_LEDGER'] ?? '') !== ''
  const beside = ({ ledger, workspaces, ...config }: Config, url: string): Config => ({
    ...{ ...config, ledger: keepsLedger ? ledger : ':memory:' },
    workspaces: workspaces.map((one) => onSandbox(one, url, file === undefined)),
  })
  const reader = {
    /** The config file, if any. */
    file,
    /** The files as they were last read, also in vain. */
    stamps: {} as { config?: string; policies?: string },
    /** The last known name of the only workspace, for when broken policies hide it. */
    name: undefined as string | undefined,
    /** The address of the pages, which stays until the process ends. */
    listening: undefined as Config['listen'] | undefined,
    /** All workspaces of the file that a configuration was read from. */
    configured,
    /** Throws an `InputError` with everything that is wrong or missing. */
    async read(): Promise<Config> {
      if (file !== undefined) reader.stamps.config = await stampBefore([file], cli.clock)
      const loaded = await loadConfigAside({ env, flags, listening: reader.listening }, cli.clock)
      if (!loaded.config) throw new InputError(loaded.problems)
      const config = embedded ? beside(loaded.config, embedded.url) : loaded.config
      const missing = networkProblems(config)
      if (missing.length > 0) throw new InputError(missing)
      if (loaded.configured) {
        configured.set(config, loaded.configured)
        return config
      }
      // Policies name the workspace where the config lists none. Else nothing waits for them, however long they take to read.
      const policies = await reader.policies(config)
      if (!hasErrors(problemsBeside(policies))) reader.name = policies.workspace
      return named(config, { workspace: reader.name ?? policies.workspace })
    },
    async policies(config: Config): Promise<LoadedPolicies> {
      const policies = await readPolicies(policyPaths(config), { configured: configured.get(config) }, flags, cli)
      reader.stamps.policies = policies.stamp
      return policies
    },
  }
  return reader
}

interface Running {
  daemon?: Daemon
  /** Why there is no daemon yet. */
  readonly why?: () => string
}

/** Serves until an interrupt. */
async function serve(flags: RunFlags, cli: Cli, reader: Reader, embedded: Embedded | undefined): Promise<void> {
  using ending = createEnding(cli)
  let config = await reader.read()
  const running: Running = {}
  const complaints: { log?: (message: string) => void } = {}
  const store = await awaitLedger({
    cli,
    flags,
    stop: ending.stop,
    open: () => openForDaemon(cli, config, (message) => complaints.log?.(message)),
    config,
    isEmbedded: embedded !== undefined,
    async listen(host, why) {
      const waiting = await listen(config, { why }, host, false)
      announce(waiting, host, embedded)
      return waiting
    },
  })
  if (!store) return
  await using opened = new AsyncDisposableStack()
  opened.defer(() => store.close())
  let following: ReturnType<typeof followFiles> | undefined
  if (reader.name === undefined) config = await withKnownName(config, reader, store)
  const host = await createHost({ cli, flags, config, store, leases: store.held, isEmbedded: embedded !== undefined })
  complaints.log = (error) => host.logger.error({ error }, 'a lease could not be used as it should')
  opened.use(host.atEnd)
  // Listen first, so that an address in use is an error before any write.
  const isQuick = embedded !== undefined && flags.listen === undefined && reader.file === undefined
  const server = await listen(config, running, host, isQuick)
  opened.defer(() => server.close())
  reader.listening = config.listen
  if (ending.stop.aborted) return
  const daemon = await startDaemon({
    clock: cli.clock,
    config,
    leases: store.held,
    open: (one) => openWorkspace(one, host),
    async loadPolicies(one) {
      const policies = await reader.policies(one)
      tellErrors(policies, host)
      return policies
    },
    reloadConfig: reader.read,
    onTransition: (transition) => logTransition(host.logger, transition),
    onConfig(next) {
      config = next
      host.use(next)
      void following?.then(({ follow }) => follow())
    },
    registered: (name, present) => (present ? host.metrics.registerWorkspace(name) : host.metrics.removeWorkspace(name)),
    onSeen: (name) => host.live.changed(name),
    ledgerWritable: host.ledgerWritable,
    probeLedger: host.probeLedger,
    pauses: store.pauses,
    recordsOf: (one) => recordsOf(one, host),
  })
  running.daemon = daemon
  opened.defer(() => daemon.stop())
  const aging = new AbortController()
  opened.defer(() => aging.abort())
  void forgetOldHistory(host, aging.signal)
  announce(server, host, embedded)
  following = followFiles(daemon, cli, reader, () => config)
  ending.onReload(() => void daemon.configChanged().then(() => daemon.hurry()))
  void readRefusedAgain(daemon, cli.clock, aging.signal)
  await untilStopped(daemon, host, embedded, ending)
  // Files that take long to look at do not keep the process.
  void following.then(({ close }) => close())
  await server.close()
  host.logger.info({}, 'stopped')
}

/** When broken policies hide the workspace's name at the start, the name comes from the ledger. */
async function withKnownName(config: Config, reader: Reader, store: LedgerStore): Promise<Config> {
  const [only, ...others] = (await store.workspaces()).filter((one) => one.current)
  if (reader.file !== undefined || !only || others.length > 0) return config
  reader.name = only.workspace
  return reader.read()
}

/** Watches the config file, and the policies of the configuration in force. */
async function followFiles(daemon: Daemon, cli: Cli, { file, stamps, configured }: Reader, config: () => Config) {
  // Without a config file the policies also name the workspace, so a change of them is a change of the configuration.
  const policiesChanged = (): void | Promise<void> => (file === undefined ? daemon.configChanged() : daemon.policiesChanged())
  const watchPolicies = (paths: readonly string[]): Promise<Watcher> => {
    const envelopes = configured.get(config())?.flatMap((one) => one.envelopes ?? [])
    return watchPaths(paths, cli.clock, policiesChanged, { since: () => stamps.policies, envelopes })
  }
  let paths = policyPaths(config())
  const configWatch = file === undefined ? undefined : watchPaths([file], cli.clock, daemon.configChanged, { since: () => stamps.config })
  let policies = await watchPolicies(paths)
  const configWatcher = await configWatch
  let [closed, turn] = [false, Promise.resolve()]
  async function watchOthers(): Promise<void> {
    const next = policyPaths(config())
    if (closed || next.join('\n') === paths.join('\n')) return
    paths = next
    const watcher = await watchPolicies(paths)
    if (closed) return watcher.close()
    policies.close()
    policies = watcher
  }
  return {
    /** Another configuration is in force. */
    follow(): void {
      turn = turn.then(watchOthers)
    },
    close() {
      closed = true
      policies.close()
      configWatcher?.close()
    },
  }
}

/** What a refused configuration lacked, such as the file of a key, may have come without an edit of it. Choice. */
const REFUSED_AGAIN_MS = 10_000

async function readRefusedAgain(daemon: Daemon, clock: Clock, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(REFUSED_AGAIN_MS, ended).catch(() => undefined)
    if (!ended.aborted && !daemon.health().configValid) await daemon.configChanged()
  }
}

/** With `orElsewhere` a free port is taken when the address is in use, because the user did not choose it. */
async function listen(config: Config, running: Readonly<Running>, host: Host, orElsewhere: boolean): Promise<Server> {
  const { host: name, port } = config.listen
  try {
    return await listenOn(config, running, host)
  } catch (error) {
    if (!orElsewhere || !(error instanceof ListenError) || !error.isTaken) throw error
    host.cli.stdout.write(`${name}:${port} is in use, so the pages take a free port (--listen chooses one)\n`)
    return listenOn({ ...config, listen: { host: name, port: 0 } }, running, host)
  }
}

const healthOf = ({ daemon }: Readonly<Running>, host: Host): Health =>
  daemon?.health() ?? { configValid: true, ledgerWritable: host.ledgerWritable() }

const refresh = ({ daemon }: Readonly<Running>, host: Host): Promise<void> => daemon?.refresh() ?? host.probeLedger()

/** The workspaces of this replica, and those of others. */
function sourcesOf({ daemon }: Readonly<Running>, host: Host): readonly WorkspaceSource[] {
  const version = (name: string) => () => host.live.version(name)
  const own = (daemon?.workspaces() ?? []).map((workspace) => sourceOf(workspace, version(workspace.config.name)))
  // Records of other replicas change without an event here, so they expire.
  const age = (): number => Math.floor(host.cli.clock.now() / ELSEWHERE_MS)
  const others = (daemon?.elsewhere() ?? []).map((one) => elsewhereSource(one, age, () => recordsOf(one.settings, host), host.cli.clock))
  return others.length === 0 ? own : [...own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const ELSEWHERE_MS = 2_000

const recordsOf = (config: WorkspaceConfig, { store, isEmbedded }: Host) => bound(store, config, { isEmbedded, rebind: false })

/** Comparisons of past cycles; their threads end with the daemon. */
function comparisonsOf(config: Config, host: Host): Comparisons {
  const comparisons = createComparisons({
    clock: host.cli.clock,
    ledger: () => host.store.share?.() ?? { file: config.ledger },
    env: host.cli.env,
    prices: () => host.config(),
    onMade: (name) => host.live.changed(name),
  })
  host.atEnd.defer(comparisons.close)
  return comparisons
}

/** The ledgers of all workspaces: of this replica from memory, of others from the database. */
async function* ledgersOf({ daemon }: Readonly<Running>, { store, leases, config }: Host): AsyncGenerator<SharedWorkspace> {
  const own = daemon?.ledgers() ?? []
  yield* own
  if (leases.isSole) return
  const isOwn = new Set(own.map(({ workspace }) => workspace))
  const known = new Map(
    (await store.workspaces()).flatMap(({ workspace, baseUrl, current }) => (current ? [[workspace, baseUrl] as const] : [])),
  )
  for (const { name } of config().workspaces) {
    const baseUrl = known.get(name)
    // A workspace that was never bound has no records.
    if (isOwn.has(name) || baseUrl === undefined || baseUrl === '') continue
    yield { workspace: name, baseUrl, ledger: await store.workspace(name, undefined) }
  }
}

/** The log tells of it: a token is of no workspace. */
const unread =
  ({ logger }: Host) =>
  (message: string): void =>
    logger.error({ error: message }, 'a token cannot be read')

async function listenOn(config: Config, running: Readonly<Running>, host: Host): Promise<Server> {
  const { files } = host.cli
  const readTokens = (): Promise<void> => files.refresh(filesOf([host.config().auth?.token, config.ledgerToken]))
  await readTokens()
  return startServer({
    ...config.listen,
    clock: host.cli.clock,
    metrics: host.metrics,
    console: createConsole(),
    documents: createLibrary({
      sources: () => sourcesOf(running, host),
      daemon: () => ({ version: VERSION, ...healthOf(running, host) }),
      people: host.people,
      hashed: host.hashed,
      clock: host.cli.clock,
      refresh: () => refresh(running, host),
      sourceUrl: () => host.config().sourceUrl,
      requestUrl: () => host.config().requests?.url,
      comparisons: comparisonsOf(config, host),
    }),
    people: host.people,
    live: host.live,
    views: () => running.daemon?.views() ?? [],
    health: () => healthOf(running, host),
    refresh: () => refresh(running, host),
    gate: createGate({ settings: () => host.config().auth, env: host.cli.env, onUnread: unread(host), files }),
    readTokens,
    isChecked: () => host.config().auth,
    ledgerGate: ledgerGate({ host: config.listen.host, token: config.ledgerToken, env: host.cli.env, onUnread: unread(host), files }),
    ledgerHasToken: config.ledgerToken !== undefined,
    ledger: () => ledgerPieces({ workspaces: ledgersOf(running, host), now: host.cli.clock.now(), key: randomSalt(), digest: sha256 }),
    ready: () => running.daemon?.ready() ?? { ready: false, reasons: [running.why?.() ?? 'starting'] },
    onError: (error) => host.logger.error({ error: error.message }, 'a page could not be made'),
  })
}

/** Prints the addresses: plain lines on a terminal, otherwise a line of the log. */
function announce({ url }: Server, { cli, logger }: Host, embedded: Embedded | undefined): void {
  if (!embedded && cli.stderr.isTTY !== true) {
    logger.info({ page: `${url}/`, metrics: `${url}/metrics` }, 'listening')
    return
  }
  const lines = [`status page  ${url}/`, `metrics      ${url}/metrics`]
  if (embedded) lines.push(`sandbox      ${embedded.url}  (key: sandbox-admin)`)
  cli.stdout.write(`${lines.join('\n')}\n`)
}

/** Resolves when the daemon was asked to stop and has stopped. */
async function untilStopped(daemon: Daemon, { logger }: Host, embedded: Embedded | undefined, ending: Ending): Promise<void> {
  const say = (line: string): void => logger.info({}, `sandbox: ${line}`)
  const foreign = embedded?.sandbox.foreignWriter({ everySeconds: FOREIGN_EVERY_S, say, leaveAlone: LEFT_ALONE })
  await ending.asked
  logger.info({}, 'stopping; a write in flight may finish')
  await daemon.stop()
  foreign?.stop()
}

/** How often another client edits a cap of the embedded service. */
const FOREIGN_EVERY_S = 12
