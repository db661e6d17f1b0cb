// What `run` does: reads the configuration, starts the daemon and its HTTP side, follows files and signals until it is stopped. Nothing
// about caps is decided here.
import { InputError } from '../core/problem.ts'
import { type Config, type LoadedConfig, loadConfig, networkProblems } from '../daemon/config.ts'
import { type Daemon, startDaemon } from '../daemon/daemon.ts'
import { type Server, startServer } from '../daemon/server.ts'
import { contentSecurityPolicy, renderPage } from '../page/page.ts'
import { watchPaths } from '../policy/watch.ts'
import type { RunFlags } from './commands/run.ts'
import { named, openStore, readPolicies } from './compose.ts'
import type { Cli } from './context.ts'
import { type Embedded, onSandbox, startBeside, withSandboxKey } from './embedded.ts'
import { EXIT } from './exit.ts'
import { createHost, type Host, loadForDaemon, openWorkspace } from './host.ts'
import { VERSION } from './version.ts'

/** How the daemon reads its configuration, the first time and again. */
export interface Reader {
  /** Throws an `InputError` with everything that is wrong or missing. */
  read(): { readonly loaded: LoadedConfig; readonly config: Config }
}

/** Runs the daemon until it is stopped, or one cycle with --once. */
export async function runCommand(flags: RunFlags, outer: Cli): Promise<void> {
  const cli = flags.sandbox ? { ...outer, env: withSandboxKey(outer.env) } : outer
  const embedded = flags.sandbox ? await startBeside(cli, flags.sandboxPort) : undefined
  const reader: Reader = { read: () => readConfig(flags, cli, embedded) }
  try {
    if (flags.once) await (await import('./once.ts')).runOnce(flags, cli, reader, embedded)
    else await serve(flags, cli, reader, embedded)
  } finally {
    await embedded?.close()
  }
}

function readConfig(flags: RunFlags, cli: Cli, embedded: Embedded | undefined): ReturnType<Reader['read']> {
  const loaded = loadConfig(embedded ? withoutService(flags, cli) : { env: cli.env, flags })
  if (!loaded.config) throw new InputError(loaded.problems)
  const keepsLedger = loaded.file !== undefined || (flags.ledger ?? cli.env['CAPKEEPER_LEDGER'] ?? '') !== ''
  const config = embedded ? besideSandbox(loaded.config, { isQuick: loaded.file === undefined, keepsLedger }, embedded.url) : loaded.config
  const missing = networkProblems(config)
  if (missing.length > 0) throw new InputError(missing)
  return { loaded, config: named(config, readPolicies(loaded, config, cli, flags.workspace)) }
}

/** With --sandbox the address and the key of another service must not matter. */
function withoutService({ baseUrl: _, serviceKeyFile: __, ...flags }: RunFlags, cli: Cli): Parameters<typeof loadConfig>[0] {
  const env = { ...cli.env, CAPKEEPER_BASE_URL: undefined, CAPKEEPER_SERVICE_KEY: undefined, CAPKEEPER_SERVICE_KEY_FILE: undefined }
  return { env, flags }
}

/** Without a config file and without --ledger nothing is left behind, because the embedded service forgets its caps as well. */
const besideSandbox = (config: Config, how: { readonly isQuick: boolean; readonly keepsLedger: boolean }, url: string): Config => ({
  ...config,
  ledger: how.keepsLedger ? config.ledger : ':memory:',
  workspaces: config.workspaces.map((one) => onSandbox(one, url, how.isQuick)),
})

async function serve(flags: RunFlags, cli: Cli, reader: Reader, embedded: Embedded | undefined): Promise<void> {
  let { loaded, config } = reader.read()
  const store = openStore(cli, config, 'write')
  const host = await createHost({ cli, flags, config, store, isEmbedded: embedded !== undefined })
  const daemon = startDaemon({
    clock: cli.clock,
    config,
    open: (one) => openWorkspace(one, host),
    loadPolicies: () => loadForDaemon(loaded, config, host),
    reloadConfig() {
      const next = reread(reader, host)
      if (next) ({ loaded, config } = next)
      return next?.config
    },
    registered: (name, present) => (present ? host.metrics.registerWorkspace(name) : host.metrics.removeWorkspace(name)),
  })
  try {
    const server = await listen(config, daemon, host)
    announce(server, cli, embedded)
    await untilStopped(daemon, host, { file: loaded.file, config, embedded })
    await server.close()
  } finally {
    await daemon.stop()
    host.saveAll()
    store.close()
  }
  host.logger.info({}, 'stopped')
  cli.finish(EXIT.done)
}

function reread(reader: Reader, host: Host): ReturnType<Reader['read']> | undefined {
  try {
    const next = reader.read()
    host.logger.info({}, 'configuration loaded')
    return next
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    host.complain(error.problems, 'configuration is invalid, the last good one stays in force')
    return undefined
  }
}

const listen = (config: Config, daemon: Daemon, host: Host): Promise<Server> =>
  startServer({
    ...config.listen,
    version: VERSION,
    clock: host.cli.clock,
    metrics: host.metrics,
    page: { render: renderPage, contentSecurityPolicy },
    people: host.people,
    views: daemon.views,
    health: daemon.health,
    ready: daemon.ready,
    onError: (error) => host.logger.error({ error: error.message }, 'a page could not be made'),
  })

/** Where to look; on stderr, because stdout carries no answer here. */
function announce(server: Server, cli: Cli, embedded: Embedded | undefined): void {
  const lines = [`status page  ${server.url}/`, `metrics      ${server.url}/metrics`]
  if (embedded) lines.push(`sandbox      ${embedded.url}  (key: sandbox-admin)`)
  cli.stderr.write(`${lines.join('\n')}\n`)
}

/** Follows files and signals; resolves when the daemon was asked to stop and has stopped. */
async function untilStopped(
  daemon: Daemon,
  host: Host,
  { file, config, embedded }: { readonly file: string | undefined; readonly config: Config; readonly embedded: Embedded | undefined },
): Promise<void> {
  const { cli, logger } = host
  const stopped = Promise.withResolvers<void>()
  let asked = false
  const paths = [...new Set(config.workspaces.flatMap((one) => one.policies))]
  const watchers = [watchPaths(paths, cli.clock, daemon.policiesChanged)]
  if (file !== undefined) watchers.push(watchPaths([file], cli.clock, daemon.configChanged))
  const foreign = embedded?.sandbox.foreignWriter({ everySeconds: FOREIGN_EVERY_S, say: (line) => logger.info({}, `sandbox: ${line}`) })
  const offHangup = cli.signals.on('hangup', () => {
    daemon.configChanged()
    daemon.policiesChanged()
    daemon.hurry()
  })
  const offInterrupt = cli.signals.on('interrupt', () => {
    if (asked) cli.signals.exit(EXIT.failed)
    asked = true
    logger.info({}, 'stopping; a write in flight may finish')
    daemon.stop().then(stopped.resolve, stopped.reject)
  })
  await stopped.promise
  for (const watcher of watchers) watcher.close()
  foreign?.stop()
  offHangup()
  offInterrupt()
}

/** How often somebody else edits a cap of the embedded service. */
const FOREIGN_EVERY_S = 20
