// `status`: shows the /status of a running daemon. It needs no key and no ledger; a config only gives the daemon's address.
import { jsonText, plain } from '../core/escape/text.ts'
import type { ScopeState } from '../core/model/events.ts'
import { formatPosition, InputError } from '../core/model/problem.ts'
import type { Document, WorkspaceStatus } from '../daemon/http/documents/table.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, CommandError, EXIT, type Paint, painter, type Style, UsageError } from './shared/context.ts'
import { askFor, PAGES_TOKEN_WAY, pageAt, pagesToken } from './shared/remote.ts'
import { blocksText, columns, count, people, present, shortTime, span } from './shared/text.ts'

// A running daemon's /status as a table, followed by what needs a person: a pause, broken policies, holds, warnings and scopes that are not in
// sync; then pools.

/** Scopes listed per workspace; /status has more. */
const LISTED = 20
/** Pools in all. */
const MOST_POOLS = 40

function statusText(status: Document<'Status'>, paint: Paint): string {
  const at = Date.parse(status.at)
  const head = present(
    `capkeeper ${plain(status.version)} at ${shortTime(at)}`,
    !status.configValid && paint('red', 'The config file is broken; the last good one is in force.'),
    !status.ledgerWritable && paint('red', 'The ledger cannot be written, so nothing is written to the service.'),
  )
  const rows = status.workspaces.map((one) => cells(one, at))
  return blocksText([head, table(HEADS, rows, paint), ...status.workspaces.map((one) => needs(one, paint)), poolLines(status, paint)])
}

const HEADS = ['WORKSPACE', 'MODE', 'LAST CYCLE', 'IN SYNC', 'DRIFTED', 'HELD', 'OTHER', 'POLICIES']

function cells(one: WorkspaceStatus, at: number): readonly string[] {
  const cycle = one.lastCycle ? `${one.lastCycle.result}, ${span(at - Date.parse(one.lastCycle.finishedAt))} ago` : 'none yet'
  const policies = one.policy ? `${one.policy.digest}${one.policy.valid ? '' : ' (last good)'}` : 'none yet'
  const { in_sync: inSync, drifted, held, ...others } = one.scopes
  const counts = [inSync, drifted, held, Object.values(others).reduce((sum, count) => sum + count, 0)]
  return [plain(one.workspace), one.mode, cycle, ...counts.map(String), policies]
}

const WORST: Readonly<Partial<Record<ScopeState, Style>>> = { rejected: 'red', unknown: 'yellow', held: 'yellow', contested: 'yellow' }

function needs(one: WorkspaceStatus, paint: Paint): readonly string[] {
  const shown = one.attention.slice(0, LISTED)
  const more = one.attention.length - shown.length + one.attentionOmitted
  const lines = present(
    one.pause && paint('yellow', `paused until ${shortTime(Date.parse(one.pause.until))}: ${plain(one.pause.reason)}`),
    one.problems.map(({ severity, at, message }) => plain(`${severity}: ${at ? `${formatPosition(at)}: ` : ''}${message}`)),
    one.held.map((hold) => paint('yellow', plain(`hold ${hold.id} by ${hold.guards.join(', ')}, ${people(hold.people)}: ${hold.message}`))),
    one.lastCycle?.message !== undefined && plain(one.lastCycle.message),
    pastLine(one),
    one.warningTexts.map((warning) => `warning: ${plain(warning)}`),
    columns(shown.map(scopeCells)).map((line, index) => painted(paint, shown[index], line)),
    more > 0 &&
      `and ${count(more, 'more scope', 'more scopes')}; /status lists ${one.attentionOmitted > 0 ? `${one.attention.length - LISTED} of ` : ''}them`,
  )
  return lines.length === 0 ? [] : [paint('bold', plain(one.workspace)), ...lines.map((line) => `  ${line}`)]
}

/** While the past of people is being read. */
function pastLine({ history }: WorkspaceStatus): string | undefined {
  if (!history || (history.left === 0 && history.stopped === undefined)) return undefined
  const { measured, reconstructed, partial, missing } = history.days
  const all = measured + reconstructed + partial + missing
  const share = all === 0 ? 0 : Math.floor((100 * (measured + reconstructed)) / all)
  return `past of people since ${history.from}: ${share} % known, ${history.stopped ?? `${count(history.left, 'request')} left`}`
}

/** Lines of a table. */
function poolLines({ workspaces }: Document<'Status'>, paint: Paint): readonly string[] {
  const rows = workspaces.flatMap(({ workspace, pools }) =>
    pools.map((pool) => [
      plain(workspace),
      plain(pool.name),
      number(pool.credits),
      pool.used === undefined ? '?' : `${number(pool.used)} (${Math.round((100 * pool.used) / Math.max(1, pool.credits))} %)`,
      pool.dealt === undefined ? '?' : number(pool.dealt),
      pool.people === undefined ? '?' : number(pool.people),
      pool.exhaustion === undefined ? '' : shortTime(Date.parse(pool.exhaustion)),
      pool.dealtAt === undefined ? 'nothing dealt yet' : shortTime(Date.parse(pool.dealtAt)),
      pool.frozen === undefined ? '' : `the last deal stays: ${plain(pool.frozen)}`,
    ]),
  )
  const omitted = workspaces.reduce((sum, { poolsOmitted }) => sum + poolsOmitted, 0)
  const head = ['WORKSPACE', 'POOL', 'CREDITS', 'USED', 'COUNTED AT', 'PEOPLE', 'USED UP', 'DEALT', '']
  const more = Math.max(0, rows.length - MOST_POOLS) + omitted
  return rows.length === 0 ? [] : present(table(head, rows.slice(0, MOST_POOLS), paint), more > 0 && `and ${more} more pools`)
}

function table(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): readonly string[] {
  const [title = '', ...lines] = columns([head, ...rows])
  return [paint('bold', title), ...lines]
}

const number = (value: number): string => Math.round(value).toLocaleString('en-US')

type ScopeEntry = WorkspaceStatus['attention'][number]

const scopeCells = (entry: ScopeEntry): readonly string[] => [
  entry.state,
  plain(entry.scope),
  entry.desired === undefined ? `${entry.observed}` : `${entry.observed} → ${entry.desired}`,
  entry.cause ?? '',
  plain(entry.why ?? entry.reason ?? ''),
]

function painted(paint: Paint, entry: ScopeEntry | undefined, line: string): string {
  const style = entry && WORST[entry.state]
  return style ? paint(style, line) : line
}

const TIMEOUT_MS = 10_000
const DEFAULT_URL = 'http://127.0.0.1:9464'

type StatusFlags = FlagsOf<typeof COMMANDS.status>

export const register = action(COMMANDS.status, status)

async function status(flags: StatusFlags, cli: Cli): Promise<void> {
  const url = pageAt(flags.url ?? (await configuredUrl(flags, cli)) ?? DEFAULT_URL, '/status', '--url')
  const hint = '; is `capkeeper run` running there, or does it listen elsewhere (--url)?'
  const question = { url, timeoutMs: TIMEOUT_MS, clock: cli.clock, token: pagesToken(flags.tokenFile, cli) }
  const { value } = await askFor(question, PAGES_TOKEN_WAY, hint)
  if (Object(value).kind !== 'Status') throw new CommandError(`${url} did not answer with a capkeeper status; is that a capkeeper daemon?`)
  cli.stdout.write(flags.output === 'json' ? jsonText(value) : statusText(value as Document<'Status'>, painter(cli.stdout)))
  cli.finish(EXIT.done)
}

/** The address at which the daemon listens, from the config; undefined without a config. */
async function configuredUrl({ config: file }: StatusFlags, { env, clock }: Cli): Promise<string | undefined> {
  if (file === undefined && !env['CAPKEEPER_CONFIG']) return undefined
  const { loadConfigAside } = await import('../daemon/config/config.ts')
  const { config, problems } = await loadConfigAside({ env, flags: { config: file } }, clock)
  if (!config) throw new InputError(problems)
  const { host, port } = config.listen
  if (port === 0) throw new UsageError('the config lets the daemon listen on any free port: name its address with --url')
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${reachable}:${port}`
}
