// The flags that commands share, the parsers of flag values, and the help on exit codes. A flag wins over the environment, and the environment
// over the config file. There is no flag for the service key, because everybody on the machine can see a command line.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { shellWord } from '../../core/escape/text.ts'
import { parseScope, type Scope } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { readDate } from '../../policy/dates.ts'
import { EXIT, UsageError } from './context.ts'
import { shownLedger } from './ledger/address.ts'

/** The commands that read the ledger of a running daemon too. */
export const READS_DAEMONS = 'plan, explain, audit and edit tidy'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_FORMATS = ['json', 'pretty'] as const
type LogFormat = (typeof LOG_FORMATS)[number]

/** The flags of every network command (docs/commands.md). A flag that is not given is absent: the config file or a default decides. */
export interface NetworkFlags {
  readonly config?: string
  readonly policies?: readonly string[]
  readonly baseUrl?: string
  readonly serviceKeyFile?: string
  readonly caFile?: string
  readonly allowPlainHttp?: true
  readonly ledger?: string
  readonly ledgerTokenFile?: string
  readonly workspace?: string
  readonly logLevel?: LogLevel
  readonly logFormat?: LogFormat
}

const collect = (path: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), path]

/** Only names the variable. `daemon/config/config.ts` reads it, so that its problems say whether the flag or the variable is wrong. */
function withVariable(flags: string, description: string): Option {
  const [name = ''] = flags.slice(2).split(' ')
  return new Option(flags, `${description} (env: CAPKEEPER_${name.toUpperCase().replaceAll('-', '_')})`)
}

const FLAGS = {
  config: () => withVariable('--config <file>', 'configuration file; everything but the URL and the key has a default'),
  policies: () =>
    withVariable('--policies <path>', 'policy file or folder, read recursively; may be given several times').argParser(collect),
  baseUrl: () => withVariable('--base-url <url>', 'address of the service; a path prefix and a trailing /api/v1 are fine'),
  serviceKeyFile: () =>
    withVariable('--service-key-file <file>', 'file that holds the service key; or set CAPKEEPER_SERVICE_KEY to the key itself'),
  caFile: () => withVariable('--ca-file <file>', 'CA certificates (PEM) to check the service against, in place of the usual ones'),
  allowPlainHttp: () => withVariable('--allow-plain-http', 'allow http:// to another machine, where the key travels unencrypted'),
  ledger: () =>
    withVariable(
      '--ledger <file>',
      `the durable record, a file or postgres://user@host/name; :memory: for none; ${READS_DAEMONS} also take the address of a running daemon; default ./capkeeper.db`,
    ),
  ledgerTokenFile: () =>
    new Option(
      '--ledger-token-file <file>',
      'file that holds the token for the ledger of a running daemon; or set CAPKEEPER_LEDGER_TOKEN to the token itself',
    ),
  workspace: () => new Option('--workspace <name>', 'only this workspace; default: all of the config, or the one the policies name'),
  oneWorkspace: () => new Option('--workspace <name>', 'which workspace; needed only where there are several'),
  logLevel: () => new Option('--log-level <level>', 'least important line shown; default info').choices(LOG_LEVELS),
  logFormat: () => new Option('--log-format <format>', 'default pretty on a terminal, else json').choices(LOG_FORMATS),
} as const

type SharedFlag = keyof typeof FLAGS

/** Adds shared flags to a command, in the order named. */
export function addFlags(command: Command, names: readonly SharedFlag[]): Command {
  for (const name of names) command.addOption(FLAGS[name]())
  return command
}

/** Of those, what every network command takes (docs/commands.md). */
const { ledgerTokenFile: _token, oneWorkspace: _one, ...NETWORK } = FLAGS

/** Adds the flags that every network command takes, and `more`. */
export function addNetworkFlags(command: Command, ...more: readonly SharedFlag[]): Command {
  for (const make of Object.values(NETWORK)) command.addOption(make())
  return addFlags(command, more)
}

/**
 * Adds the flags that a command without network uses. It accepts the other flags of network commands and ignores them, so that the same flags
 * fit `validate`, `plan` and `approve` (choice).
 */
export function addUsedFlags(command: Command, used: readonly SharedFlag[]): Command {
  addFlags(command, used)
  const shown = new Set(command.options.map(({ long }) => long))
  for (const make of Object.values(NETWORK)) if (!shown.has(make().long)) command.addOption(make().hideHelp())
  return command
}

/** Adds the flags of a command that works on one workspace of the ledger; the policies only give its name. */
export const addLedgerFlags = (command: Command): Command => addUsedFlags(command, ['config', 'policies', 'ledger', 'oneWorkspace'])

export type OutputFormat = 'text' | 'json' | 'markdown'

/** The flags of a command that prints in one of several forms. */
export interface ShowFlags<Format extends string = OutputFormat> extends NetworkFlags {
  readonly output: Format
}

/** `--output`, with the formats that this command knows; the first is the default. */
export const outputOption = (formats: readonly string[]): Option =>
  new Option('--output <format>', 'form of the answer').choices(formats).default(formats[0])

/** Shows example command lines under a command's flags. */
export const addExamples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)

const KEY_FLAGS = ['--service-key', '--key', '--api-key', '--token']

/** Refuses a key on the command line, without repeating it. Throws a `UsageError`. */
export function refuseKeyFlags(argv: readonly string[]): void {
  for (const word of argv) {
    if (word === '--') return
    const flag = word.split('=')[0] ?? ''
    if (!KEY_FLAGS.includes(flag)) continue
    throw new UsageError(
      `there is no flag ${flag}: a key on the command line is seen by everybody on this machine. ` +
        'Put it into a file and name it with --service-key-file FILE, or set CAPKEEPER_SERVICE_KEY',
    )
  }
}

/** An empty value most likely comes from an unset variable of a script, and no command guesses what was meant. Throws a `UsageError`. */
export function refuseEmpty(command: Command): void {
  const flag = command.options.find((option) => [command.getOptionValue(option.attributeName())].flat().includes(''))
  if (flag) throw new UsageError(`${flag.long} is empty: give it a value, or leave it out`)
  const at = command.args.indexOf('')
  const argument = command.registeredArguments[Math.min(at, command.registeredArguments.length - 1)]
  if (argument && at >= 0) throw new UsageError(`the argument ${argument.name()} is empty: give it a value, or leave it out`)
}

const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `90s`, `30m`, `4h`, `7d`, `2w`, or several joined (`1h30m`): milliseconds, or undefined. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (DURATION_UNITS[unit ?? ''] ?? 0),
    0,
  )
}

/** Reads a duration flag. */
export function readDuration(text: string): number {
  const ms = durationMs(text.trim())
  if (ms === undefined) throw new InvalidArgumentError('Write a duration such as 30m, 4h or 7d.')
  return ms
}

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads a point in the past: a duration back from now, a date (its start in UTC) or an RFC 3339 instant. */
export function readSince(text: string): (now: Instant) => Instant {
  const back = durationMs(text.trim())
  if (back !== undefined) return (now) => now - back
  const at = isDate(text.trim()) ? Date.parse(text.trim().replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a duration (7d), a date (2026-11-01) or an RFC 3339 instant.')
  return () => at
}

const isDate = (text: string): boolean => (DATE_ONLY.test(text) || DATE_TIME.test(text)) && readDate(text.slice(0, 10)) !== undefined

/** Reads a day, by its start in UTC. */
export function readDay(text: string): Instant {
  const day = text.trim()
  if (!DATE_ONLY.test(day) || !isDate(day)) throw new InvalidArgumentError('Write a date such as 2026-11-01.')
  return Date.parse(day)
}

/** Reads a whole number between two bounds; `orElse` says what else may stand there. */
export const readInteger =
  (least: number, most: number, orElse = '') =>
  (text: string): number => {
    const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}${orElse}.`)
    return value
  }

/** Reads a hold id: 32 hex digits as plans print it, or its first 8 or more. */
export function readHoldId(text: string): string {
  const id = text.trim().toLowerCase()
  if (!/^[0-9a-f]{8,32}$/.test(id))
    throw new InvalidArgumentError('A hold id has 32 hex digits, as `capkeeper plan` prints it; its first 8 or more are enough.')
  return id
}

/** The flags that a suggested command must repeat to use the same ledger, such as `['--ledger', 'x.db']`. */
export const ledgerArgs = (flags: NetworkFlags): readonly string[] => [
  ...(flags.config === undefined ? [] : ['--config', shellWord(flags.config)]),
  ...(flags.ledger === undefined ? [] : ['--ledger', shellWord(shownLedger(flags.ledger))]),
]

/** The flags that a suggested command must repeat to use the same ledger, policies and workspace. */
export const sameArgs = (flags: NetworkFlags): readonly string[] => [
  ...ledgerArgs(flags),
  ...(flags.policies ?? []).flatMap((path) => ['--policies', shellWord(path)]),
  ...(flags.workspace === undefined ? [] : ['--workspace', shellWord(flags.workspace)]),
]

/** The end of the program's help. */
export const EXIT_HELP = `
Exit codes:
  ${EXIT.done} done, ${EXIT.failed} failed, ${EXIT.pending} changes pending, ${EXIT.held} held by a guard, ${EXIT.partial} applied in part,
  ${EXIT.usage} wrong usage, ${EXIT.input} invalid policy or config

Start with \`capkeeper validate policies/\` and \`capkeeper plan\`.`

/** Reads a scope; throws what is shown as wrong usage. */
export function readScope(text: string): Scope {
  const scope = parseScope(text)
  if (!scope) throw new InvalidArgumentError('Write an e-mail, group:ID or team.')
  return scope
}
