// `status`: shows the /status of a running daemon. It needs no key and no ledger; a config only gives the daemon's address.

import type { Command } from 'commander'
import { jsonText } from '../../core/escape/terminal.ts'
import { InputError } from '../../core/model/problem.ts'
import type { StatusDocument } from '../../daemon/http/documents/types.ts'
import { addFlags, examples, type OutputFormat, outputOption } from '../shared/args.ts'
import { type Cli, CommandError, EXIT, painter, UsageError } from '../shared/context.ts'
import { askFor, PAGES_TOKEN_WAY, pageAt, pagesToken } from '../shared/remote.ts'

const TIMEOUT_MS = 10_000
const DEFAULT_URL = 'http://127.0.0.1:9464'

interface StatusFlags {
  readonly url?: string
  readonly config?: string
  readonly tokenFile?: string
  readonly output: OutputFormat
}

export function registerStatus(program: Command, cli: Cli): void {
  const command = program
    .command('status')
    .description(
      "Shows a running daemon's state as a table: each workspace with its mode, its last cycle and its scopes by state, and below it what " +
        'needs a person: holds, broken policies, scopes that could not be read or were refused.',
    )
    .option('--url <url>', `address of the daemon (default: where the config lets it listen, else ${DEFAULT_URL})`)
    .option('--token-file <file>', 'file that holds the token of a daemon with auth; or set CAPKEEPER_TOKEN to the token itself')
    .addOption(outputOption(['text', 'json']))
  addFlags(command, ['config'])
    .addHelpText('after', examples('capkeeper status', 'capkeeper status --url https://capkeeper.example --token-file /run/secrets/viewer'))
    .action((flags: StatusFlags) => status(flags, cli))
}

async function status(flags: StatusFlags, cli: Cli): Promise<void> {
  const url = pageAt(flags.url ?? (await configuredUrl(flags, cli)) ?? DEFAULT_URL, '/status', '--url')
  const status = await statusAt(url, pagesToken(flags.tokenFile, cli), cli)
  if (flags.output === 'json') {
    cli.stdout.write(jsonText(status))
  } else {
    const { renderStatusText } = await import('./render.ts')
    cli.stdout.write(renderStatusText(status, painter(cli.stdout)))
  }
  cli.finish(EXIT.done)
}

/** The address at which the daemon listens, from the config; undefined without a config. */
async function configuredUrl({ config: file }: StatusFlags, { env, clock }: Cli): Promise<string | undefined> {
  if (file === undefined && !env['CAPKEEPER_CONFIG']) return undefined
  const { loadConfigAside } = await import('../../daemon/config/load.ts')
  const { config, problems } = await loadConfigAside({ env, flags: { config: file } }, clock)
  if (!config) throw new InputError(problems)
  const { host, port } = config.listen
  if (port === 0) throw new UsageError('the config lets the daemon listen on any free port: name its address with --url')
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${reachable}:${port}`
}

async function statusAt(url: string, token: string | undefined, { clock }: Cli): Promise<StatusDocument> {
  const hint = '; is `capkeeper run` running there, or does it listen elsewhere (--url)?'
  const { value } = await askFor({ url, timeoutMs: TIMEOUT_MS, clock, token }, PAGES_TOKEN_WAY, hint)
  if (Object(value).kind === 'Status') return value as StatusDocument
  throw new CommandError(`${url} did not answer with a capkeeper status; is that a capkeeper daemon?`)
}
