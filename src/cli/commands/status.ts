// `status`: asks a running daemon for its /status and shows it. It needs no key, no ledger and no config.
import type { Command } from 'commander'
import type { StatusDocument } from '../../daemon/status-document.ts'
import { examples, type OutputFormat, outputOption } from '../args.ts'
import { type Cli, CommandError, painter, UsageError } from '../context.ts'
import { EXIT } from '../exit.ts'

const TIMEOUT_MS = 10_000

interface StatusFlags {
  readonly url: string
  readonly output: OutputFormat
}

export function registerStatus(program: Command, cli: Cli): void {
  program
    .command('status')
    .summary('state of a running daemon')
    .description(
      "Shows a running daemon's state as a table: each workspace with its mode, its last cycle and its scopes by state, and below it what " +
        'needs a person: holds, broken policies, scopes that could not be read or were refused.',
    )
    .option('--url <url>', 'address of the daemon', 'http://127.0.0.1:9464')
    .addOption(outputOption(['text', 'json']))
    .addHelpText('after', examples('capkeeper status --url http://127.0.0.1:9464'))
    .action((flags: StatusFlags) => status(flags, cli))
}

async function status(flags: StatusFlags, cli: Cli): Promise<void> {
  const url = statusUrl(flags.url)
  const text = await download(url)
  if (flags.output === 'json') {
    cli.stdout.write(`${JSON.stringify(readStatus(text, url), undefined, 2)}\n`)
  } else {
    const { renderStatusText } = await import('../render-status.ts')
    cli.stdout.write(renderStatusText(readStatus(text, url), painter(cli.stdout)))
  }
  cli.finish(EXIT.done)
}

function statusUrl(text: string): string {
  const base = URL.parse(text)
  if (!base || !/^https?:$/.test(base.protocol)) throw new UsageError(`--url is '${text}'; write an address such as http://127.0.0.1:9464`)
  if (!base.pathname.endsWith('/status')) base.pathname = `${base.pathname.replace(/\/+$/, '')}/status`
  return base.href
}

async function download(url: string): Promise<string> {
  let answer: Response
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), headers: { accept: 'application/json' } })
  } catch (error) {
    throw new CommandError(
      `no daemon answers at ${url} (${causeOf(error)}); is \`capkeeper run\` running there, or does it listen elsewhere (--url)?`,
    )
  }
  if (!answer.ok) throw new CommandError(`${url} answered ${answer.status}; is that a capkeeper daemon?`)
  return await answer.text()
}

/** fetch says only "fetch failed"; why stands in its cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && cause.code !== undefined ? String(cause.code) : cause.message
}

function readStatus(text: string, url: string): StatusDocument {
  try {
    const document: unknown = JSON.parse(text)
    if (typeof document === 'object' && document !== null && 'kind' in document && document.kind === 'Status')
      return document as StatusDocument
  } catch {
    // Falls through to the message below.
  }
  throw new CommandError(`${url} did not answer with a capkeeper status; is that a capkeeper daemon?`)
}
