// `run`: the daemon. With --sandbox it runs beside an embedded service, with --once it runs a single cycle.
import type { Command } from 'commander'
import { addExamples, addNetworkFlags, type NetworkFlags, readInteger } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface RunFlags extends NetworkFlags {
  readonly sandbox?: boolean
  readonly sandboxPort?: number
  readonly once?: boolean
  readonly listen?: string
  readonly rebind?: boolean
}

export function register(command: Command, cli: Cli): void {
  command
    .description(
      'Reconciles every workspace for ever: reads caps on an interval, writes those that differ unless a guard holds them, follows changes ' +
        'of policy and config files, and serves /metrics, /status, /livez, /readyz and a status page. SIGHUP reads everything again and reconciles ' +
        'at once; SIGTERM lets the write in flight finish and exits 0.',
    )
    .option('--sandbox', 'start the embedded service beside it and enforce on that (default policies: ./policies, no ledger file)')
    .option('--sandbox-port <port>', 'port of the embedded service (default: 8787, or a free one)', readInteger(0, 65_535))
    .option('--once', 'one cycle, then exit with the codes of `apply`')
    .option(
      '--listen <address>',
      'host:port of the HTTP endpoints (default: the config, else 127.0.0.1:9464; with --sandbox a free port when that is taken)',
    )
    .option('--rebind', 'a workspace has moved to another base URL: bind the ledger to the new one')
    .action(async (flags: RunFlags) => (await import('./run.ts')).runCommand(flags, cli))
  addNetworkFlags(command)
  addExamples(command, 'capkeeper run --config /etc/capkeeper/config.yaml', 'capkeeper run --sandbox', 'capkeeper run --once')
}
