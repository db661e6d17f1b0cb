// The readers of what is typed, what no command line may have, and the help on exit codes. There is no flag for the service key, because everybody on
// the machine can see a command line.
import { type Command, InvalidArgumentError } from 'commander'
import { parseScope, type Scope } from '../../core/model/scope.ts'
import { type Instant, lengthMs } from '../../core/model/units.ts'
import { readDate } from '../../policy/dates.ts'
import { EXIT, UsageError } from './context.ts'

/** The commands that read the ledger of a running daemon too. */
export const READS_DAEMONS = 'plan, explain, audit and edit tidy'

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

/** `90s`, `30m`, `4h`, `7d`, `2w`, or several joined (`1h30m`): milliseconds, or undefined. */
const durationMs = (text: string): number | undefined => (/^(\d{1,6}[smhdw])+$/.test(text) ? lengthMs(text) : undefined)

/** Reads a duration flag. */
export function readDuration(text: string): number {
  const ms = durationMs(text.trim())
  if (ms === undefined) throw new InvalidArgumentError('Write a duration such as 30m, 4h or 7d.')
  return ms
}

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads a point in the past: a duration back from now, a date (its start in UTC) or an RFC 3339 instant. */
function readSince(text: string): (now: Instant) => Instant {
  const back = durationMs(text.trim())
  if (back !== undefined) return (now) => now - back
  const at = isDate(text.trim()) ? Date.parse(text.trim().replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a duration (7d), a date (2026-11-01) or an RFC 3339 instant.')
  return () => at
}

const isDate = (text: string): boolean => (DATE_ONLY.test(text) || DATE_TIME.test(text)) && readDate(text.slice(0, 10)) !== undefined

/** Reads a day, by its start in UTC. */
function readDay(text: string): Instant {
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
function readHoldId(text: string): string {
  const id = text.trim().toLowerCase()
  if (!/^[0-9a-f]{8,32}$/.test(id))
    throw new InvalidArgumentError('A hold id has 32 hex digits, as `capkeeper plan` prints it; its first 8 or more are enough.')
  return id
}

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

/** The readers that commands.yaml may name, beside those of a command itself. */
export const READERS = { scope: readScope, duration: readDuration, since: readSince, day: readDay, holdId: readHoldId }
