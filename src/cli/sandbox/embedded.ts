// The embedded service of `sandbox` and of `run --sandbox`.
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { InputError } from '../../core/model/problem.ts'
import { DAY_MS } from '../../core/model/units.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { type Lock, MEMORY, takeLock } from '../../daemon/ledger/sqlite/database.ts'
import { codeIn } from '../../files.ts'
import { startSandboxServer } from '../../sandbox/http/server.ts'
import { createSandbox, SANDBOX_KEYS, type SandboxOptions } from '../../sandbox/sandbox.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'

export type Embedded = Awaited<ReturnType<typeof startEmbedded>>

const SANDBOX_PORT = 8787
/** A ledger is bound to this name, because the port may differ from start to start. */
export const SANDBOX_IDENTITY = 'sandbox:'
const ADMIN_KEY = SANDBOX_KEYS[0]?.secret ?? ''
/** A variable that only this process sees. */
const KEY_NAME = 'CAPKEEPER_SANDBOX_KEY'

/** `flag` is the flag that sets the port; default `--port`. */
interface EmbeddedAt {
  readonly host: string
  readonly port: number
  readonly flag?: string
}

/**
 * Starts the service. Rejects with a `CommandError` when the port is taken, a `UsageError` when the address is wrong, an `InputError` when the data
 * file cannot be used; and leaves no file then that was not there before.
 */
export async function startEmbedded(options: SandboxOptions, at: EmbeddedAt) {
  await requireFree(at)
  const { data = MEMORY } = options
  const made = [`${data}.lock`].filter((file) => !existsSync(file))
  let isServing = false
  await using opened = new AsyncDisposableStack()
  opened.adopt(lockData(data), (lock) => lock?.release())
  // A company that was seeded would be the one of the next start.
  if (!existsSync(data)) made.push(data, `${data}-wal`, `${data}-shm`)
  opened.defer(() => {
    for (const file of isServing ? [] : made) rmSync(file, { force: true })
  })
  const sandbox = opened.adopt(createSandbox(options), (one) => one.close())
  const listening = startSandboxServer({ sandbox, ...at }).catch((error: unknown) => Promise.reject(listenFailure(error, at)))
  const server = opened.adopt(await listening, (one) => one.close())
  isServing = true
  const held = opened.move()
  return { url: server.url, sandbox, close: () => held.disposeAsync() }
}

/** Keeps a second sandbox from growing the same company, which would write every row twice. Any other fault of the file is reported when it is opened. */
function lockData(data: string): Lock | undefined {
  try {
    return data === MEMORY ? undefined : takeLock(data)
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'LEDGER_LOCKED') return undefined
    const message = `sandbox data ${data} is in use by another sandbox; stop that one first, or name another file with --data`
    throw new InputError([{ severity: 'error', code: 'SANDBOX_DATA_IN_USE', message }])
  }
}

const NO_ADDRESS = 'is no address of this machine; choose another with --host'

const listenFailures = (flag: string): Readonly<Record<string, string>> => ({
  EADDRINUSE: `is in use; choose another port with ${flag}`,
  EACCES: `may not be listened on by you; choose a port above 1023 with ${flag}`,
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
})

/** Tries the address, before anything is made: listens and stops again. */
async function requireFree(at: EmbeddedAt): Promise<void> {
  const { host, port } = at
  const probe = createServer()
  try {
    await once(probe.listen({ host, port }), 'listening')
  } catch (error) {
    throw listenFailure(error, at)
  }
  await once(probe.close(), 'close')
}

function listenFailure(error: unknown, { host, port, flag = '--port' }: EmbeddedAt): unknown {
  const code = codeIn(error)
  if (code === undefined) return error
  const message = `${host}:${port} ${listenFailures(flag)[code] ?? `cannot be listened on (${code})`}`
  // The command line is right, and may succeed a minute later.
  return code === 'EADDRINUSE' ? new CommandError(message) : new UsageError(message)
}

/** The service of the quick start: the use of the last day passes in two and a half minutes, and never a day that the daemon's clock has not seen. */
export async function startBeside(cli: Cli, port: number | undefined): Promise<Embedded> {
  const options = { clock: cli.clock, speed: QUICK_START_SPEED, behindMs: DAY_MS }
  const host = '127.0.0.1'
  if (port !== undefined) return startEmbedded(options, { host, port, flag: '--sandbox-port' })
  return startEmbedded(options, { host, port: SANDBOX_PORT }).catch((error: unknown) => {
    if (error instanceof CommandError) return startEmbedded(options, { host, port: 0 })
    throw error
  })
}

const QUICK_START_SPEED = 600

/** A workspace's settings for the embedded service. In the quick start, without a config file, caps are read more often. */
export function onSandbox(config: WorkspaceConfig, url: string, quick: boolean): WorkspaceConfig {
  // The other client edits caps all day, and each edit should be seen reverted: no scope may become contested.
  // The past of everybody is there within a minute, because the service is on the same machine.
  const rate = { start: 50, max: 200, concurrency: config.rate.concurrency }
  const past = { historyDays: 90, rate }
  const pace = quick
    ? { intervalMs: 10_000, usageIntervalMs: 10_000, ...past, guards: { ...config.guards, contested: 'off' as const } }
    : {}
  const policies = config.policies.length > 0 ? config.policies : ['policies']
  const { caFile: _, ...rest } = config
  return { ...rest, ...pace, baseUrl: url, keys: { default: { env: KEY_NAME } }, policies }
}

/** The environment with the key of the embedded service in it. */
export const withSandboxKey = (env: Cli['env']): Cli['env'] => ({ ...env, [KEY_NAME]: ADMIN_KEY })
