// `me`: what is left for the person who asks, from a running daemon behind the proxy that knows them. It needs no key, no config and no ledger.
import type { Command } from 'commander'
import { jsonText, plain } from '../core/escape/text.ts'
import { STOP_TEXT } from '../core/use/first-stop.ts'
import type { MeDocument } from '../daemon/http/documents/types.ts'
import { examples, type OutputFormat, outputOption } from './shared/args.ts'
import { type Cli, EXIT } from './shared/context.ts'
import { askFor, PAGES_TOKEN_WAY, pageAt, pagesToken, refusal } from './shared/remote.ts'

const TIMEOUT_MS = 10_000

interface MeFlags {
  readonly url: string
  readonly tokenFile?: string
  readonly output: OutputFormat
}

export function registerMe(program: Command, cli: Cli): void {
  program
    .command('me')
    .description(
      'Shows what is left for the person who asks, in each workspace: credits used, the cap in force and where it comes from, what stops you ' +
        'first, and temporary caps. The daemon knows you by the address that its proxy names (auth.emailHeader).',
    )
    .requiredOption('--url <url>', 'address of the daemon, or of the proxy before it')
    .option('--token-file <file>', 'file that holds the bearer token that the proxy takes; or set CAPKEEPER_TOKEN to the token itself')
    .addOption(outputOption(['text', 'json']))
    .addHelpText('after', examples('capkeeper me --url https://capkeeper.example --token-file ~/.config/capkeeper/token'))
    .action((flags: MeFlags) => me(flags, cli))
}

async function me({ url, tokenFile, output }: MeFlags, cli: Cli): Promise<void> {
  const at = pageAt(url, '/api/v1/me', '--url')
  const document = await ask(at, pagesToken(tokenFile, cli), cli)
  cli.stdout.write(output === 'json' ? jsonText(document) : textOf(document))
  cli.finish(EXIT.done)
}

async function ask(url: string, token: string | undefined, { clock }: Cli): Promise<MeDocument> {
  const { answer, value } = await askFor({ url, timeoutMs: TIMEOUT_MS, clock, token }, PAGES_TOKEN_WAY)
  if (Object(value).kind === 'Me') return value as MeDocument
  throw refusal({ url, token }, answer, PAGES_TOKEN_WAY)
}

function textOf({ workspaces }: MeDocument): string {
  if (workspaces.length === 0) return 'no workspace lists your address\n'
  return workspaces.map((one) => `${linesOf(one).map(plain).join('\n')}\n`).join('\n')
}

const said = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`)

function linesOf({
  workspace,
  cap,
  left,
  used,
  addOn,
  addOnSource,
  entry,
  stopsFirst,
  grants,
  cycleEnd,
  requestUrl,
}: MeDocument['workspaces'][number]) {
  const until = cycleEnd === undefined ? '' : ` until ${cycleEnd.slice(0, 10)}`
  const head = left === undefined ? `cap ${cap ?? 'not known'}` : `${left} of ${cap} credits left`
  const on = stopsFirst.on === undefined ? '' : `, expected on ${stopsFirst.on}`
  return [
    `${workspace}: ${head}${until}`,
    ...(used === undefined
      ? []
      : [`  used ${used}${addOn === undefined ? '' : `, ${addOn} of it add-on credits (${addOnSource ?? 'estimated'})`}`]),
    ...(entry ? [`  cap from: ${entry.kind}${said(entry.reason)}`] : []),
    `  stops first: ${STOP_TEXT[stopsFirst.what]}${on}`,
    ...(requestUrl === undefined ? [] : [`  ask for more: ${requestUrl}`]),
    ...grants.map((grant) => `  ${grant.kind}: ${grant.cap} until ${grant.until.slice(0, 10)}${said(grant.reason)}`),
  ]
}
