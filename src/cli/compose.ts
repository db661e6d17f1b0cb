// Builds the real parts of commands: configuration, policies, keys, clients and channels. A command that must not write gets a client without
// write methods: only `connectWriter` makes one with them.

import { createReadClient, createWriteClient, type ServiceReader } from '../api/client.ts'
import { createKeyRing } from '../api/keys.ts'
import type { ClientOptions } from '../api/send.ts'
import { createHttpTransport, type HttpTransport } from '../api/transport/http.ts'
import { createPaces } from '../api/transport/queue.ts'
import { authoritiesIn } from '../api/way.ts'
import type { PolicyRevision } from '../core/model/policy.ts'
import { hasErrors, InputError } from '../core/model/problem.ts'
import { LEASED_WRITE_MS } from '../core/replicas/lease.ts'
import { loadConfigAside, networkProblems } from '../daemon/config/config.ts'
import type { WorkspaceConfig } from '../daemon/config/settings.ts'
import type { Leases } from '../daemon/replicas/leases.ts'
import { systemRandom } from '../daemon/schedule/system.ts'
import { filesOf } from '../files.ts'
import type { NetworkFlags } from './shared/command.ts'
import type { Cli } from './shared/context.ts'
import { waitForRate } from './shared/each.ts'
import { named, policyPaths, problemsBeside, readPolicies, showWarnings } from './shared/problems.ts'
import { VERSION } from './shared/text.ts'

/** The valid configuration and policies of a command. */
export type Setup = Awaited<ReturnType<typeof readSetup>>

export interface WorkspaceSetup {
  readonly config: WorkspaceConfig
  readonly policy: PolicyRevision
}

/**
 * Loads both, and shows the warnings of both. Throws an `InputError` with every problem of both at once, including an address, a key or policies
 * that are missing.
 */
export async function readSetup(cli: Cli, flags: NetworkFlags, show = showWarnings) {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config) throw new InputError(loaded.problems)
  const policies = await readPolicies(policyPaths(loaded.config), loaded, flags, cli)
  const problems = [...loaded.problems, ...problemsBeside(policies)]
  const missing = networkProblems(loaded.config)
  if (hasErrors(problems) || missing.length > 0) throw new InputError([...missing, ...problems])
  const config = named(loaded.config, policies)
  const workspaces = config.workspaces.flatMap((one): readonly WorkspaceSetup[] => {
    const policy = policies.sets.get(one.name)
    return policy ? [{ config: one, policy }] : []
  })
  show(problems, cli)
  return { config, workspaces }
}

/** Hooks into the work of a client. Without `paces` the client keeps its own, which suits a process that opens only one. */
type ClientReports = Partial<Omit<ClientOptions, 'transport' | 'keys' | 'clock' | 'random' | 'rate'>>

/** A connection that can only read. Throws an `InputError` when a key cannot be used. */
export const connectReader = (cli: Cli, config: WorkspaceConfig, reports?: ClientReports): Connection<ServiceReader> =>
  connect(createReadClient, cli, config, reports)

/** A connection that can also set and clear caps, as long as the lease of its workspace lasts. */
export function connectWriter(cli: Cli, config: WorkspaceConfig, { leases, ...reports }: ClientReports & { readonly leases: Leases }) {
  const mayLeave = (timeoutMs: number): boolean => leases.mayLeave(config.name, timeoutMs)
  return connect(createWriteClient, cli, config, { ...(!leases.isSole && { mayLeave, writeTimeoutMs: LEASED_WRITE_MS }), ...reports })
}

type Connection<Client> = ReturnType<typeof connect<Client>>

function connect<Client>(create: (options: ClientOptions) => Client, cli: Cli, config: WorkspaceConfig, reports: ClientReports = {}) {
  const keys = createKeyRing(config.keys, cli)
  const broken = keys.problems().filter((problem) => problem.severity === 'error')
  if (broken.length > 0) throw new InputError(broken.map((problem) => ({ ...problem, message: `${config.name}: ${problem.message}` })))
  cli.secrets.alsoRedact(keys.redact)
  const { caFile } = config
  const authorities = caFile === undefined ? undefined : authoritiesIn(caFile, cli.files)
  const transport = openTransport(cli, config, config.rate.concurrency, authorities)
  const waiting = waitForRate(cli, config.name)
  const client = create({
    transport,
    keys,
    readFiles: () => cli.files.refresh(serviceFiles(config)),
    filesKept() {
      const found = authorities?.()
      return found?.value !== undefined && found.unread !== undefined ? [found.unread] : []
    },
    clock: cli.clock,
    random: systemRandom,
    rate: config.rate,
    paces: createPaces(),
    onRequest: waiting.onRequest,
    givenUp: waiting.givenUp,
    ...reports,
  })
  const close = (): void => {
    waiting.stop()
    transport.close()
  }
  return { client, close, [Symbol.dispose]: close }
}

/** The files that each request needs: of keys, and of authorities. */
export const serviceFiles = ({ keys, caFile }: WorkspaceConfig): readonly string[] => [
  ...filesOf(Object.values(keys)),
  ...(caFile === undefined ? [] : [caFile]),
]

/** Connections to a workspace's service, this many at a time. Throws an `InputError` when the proxy or the CA file cannot be used. */
export function openTransport(
  { env, files }: Cli,
  { baseUrl, caFile }: WorkspaceConfig,
  concurrency: number,
  authorities = caFile === undefined ? undefined : authoritiesIn(caFile, files),
): HttpTransport {
  return createHttpTransport({ baseUrl, userAgent: USER_AGENT, proxyEnv: env, concurrency, authorities })
}

export const USER_AGENT = `capkeeper/${VERSION}`
