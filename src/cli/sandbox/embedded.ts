// The embedded service of `sandbox` and of `run --sandbox`.
import { DAY_MS } from '../../core/model/units.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { codeIn } from '../../files.ts'
import { startSandboxServer } from '../../sandbox/http/server.ts'
import { createSandbox, SANDBOX_KEYS, type SandboxOptions } from '../../sandbox/sandbox.ts'
import { type Cli, CommandError } from '../shared/context.ts'

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

/** Starts the service. Rejects with a `CommandError` when the port is taken, an `InputError` when the data file cannot be used. */
export async function startEmbedded(options: SandboxOptions, at: EmbeddedAt) {
  const sandbox = createSandbox(options)
  try {
    const server = await startSandboxServer({ sandbox, ...at })
    return {
      url: server.url,
      sandbox,
      async close(): Promise<void> {
        await server.close()
        sandbox.close()
      },
    }
  } catch (error) {
    sandbox.close()
    throw listenFailure(error, at)
  }
}

function listenFailure(error: unknown, { host, port, flag = '--port' }: EmbeddedAt): unknown {
  const code = codeIn(error)
  if (code === undefined) return error
  if (code === 'EADDRINUSE') return new CommandError(`${host}:${port} is in use; choose another port with ${flag}`)
  return new CommandError(`the sandbox cannot listen on ${host}:${port} (${code})`)
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
