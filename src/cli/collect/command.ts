// `collect`: reads the past use of people into the ledger. Its client has no write method.
import { type Command, InvalidArgumentError } from 'commander'
import { parseScope } from '../../core/model/scope.ts'
import { DAY_MS, type Instant, midnight } from '../../core/model/units.ts'
import type { Days } from '../../core/use/history.ts'
import { addNetworkFlags, examples, outputOption, readDay, readInteger, type ShowFlags } from '../shared/args.ts'
import { type Cli, UsageError } from '../shared/context.ts'
import { dayText } from '../shared/text.ts'

export interface CollectFlags extends ShowFlags<'text' | 'json'> {
  readonly days?: number
  readonly since?: Instant
  readonly until?: Instant
  readonly person?: string
}

/** The most days that a ledger keeps. */
const MOST_DAYS = 400
const DAYS = 180

export function registerCollect(program: Command, cli: Cli): void {
  const command = program
    .command('collect')
    .description(
      'Reads what people used on past days: first the team and the groups, then each person, newest days first. It first says how many ' +
        'requests that takes and how long. It can be stopped and started again at any time, also beside a running daemon, and reads only ' +
        'what is still missing. Nothing is written to the service. Exits 4 when some days could not be read, and 1 when none could.',
    )
    .option('--days <n>', `how many days back; default ${DAYS}`, readInteger(1, MOST_DAYS))
    .option('--since <date>', 'the first day, such as 2026-06-01', readDay)
    .option('--until <date>', 'the last day; default yesterday', readDay)
    .option('--person <email>', 'only this person, also one who was forgotten', readPerson)
    .addOption(outputOption(['text', 'json']))
  addNetworkFlags(command)
    .addHelpText('after', examples('capkeeper collect --config capkeeper.yaml', 'capkeeper collect --since 2026-06-01 --output json'))
    .action(async (flags: CollectFlags) => {
      const wanted = daysOf(flags, cli.clock.now())
      await (await import('./run.ts')).collectCommand(flags, wanted, cli)
    })
}

function readPerson(text: string): string {
  const scope = parseScope(text)
  if (scope?.kind !== 'user') throw new InvalidArgumentError('Write an e-mail address.')
  return scope.email
}

/** The days that the flags ask for; the present day is left out, because it is not over. Throws a `UsageError`. */
export function daysOf({ days, since, until }: Pick<CollectFlags, 'days' | 'since' | 'until'>, now: Instant): Days {
  const today = midnight(now)
  const earliest = today - MOST_DAYS * DAY_MS
  if (days !== undefined && since !== undefined) throw new UsageError('--days and --since both say where to begin; give one of them')
  for (const [flag, day] of [['--since', since] as const, ['--until', until] as const]) {
    if (day === undefined) continue
    if (day > today) throw new UsageError(`${flag} ${dayText(day)} is in the future; today is ${dayText(today)}`)
    if (day >= earliest) continue
    const first = `the first day is ${dayText(earliest)}`
    throw new UsageError(`${flag} ${dayText(day)} is more than ${MOST_DAYS} days ago, and no ledger keeps more; ${first}`)
  }
  if (since === today) throw new UsageError(`--since ${dayText(since)} is today, which is not over; the last day is yesterday`)
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError(`--since ${dayText(since)} is after --until ${dayText(until)}; swap them`)
  const untilAt = Math.min(today, until === undefined ? today : until + DAY_MS)
  const fromAt = since ?? untilAt - (days ?? DAYS) * DAY_MS
  return { fromAt: Math.max(fromAt, earliest), untilAt }
}
