// `edit`: the smallest change to policy files that does the job. The command lines are read here, and the work is done in `run.ts`.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { HOLD_ID_DIGITS } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { isEmail, normaliseEmail, parseScope, type Scope } from '../../core/model/scope.ts'
import { credits, MAX_CAP } from '../../core/model/units.ts'
import { readDate, readInstant } from '../../policy/dates.ts'
import type { Edit, Target } from '../../policy/edit/edit.ts'
import { addExamples, addUsedFlags, type NetworkFlags, readDuration, readInteger, readScope } from '../shared/args.ts'
import { type Cli, UsageError } from '../shared/context.ts'

export interface EditFlags extends NetworkFlags {
  readonly file?: string
  readonly output: 'diff' | 'json'
  readonly check?: true
}

export interface TidyFlags extends EditFlags {
  readonly ended: number
}

const ABOUT =
  'Every other byte of the files stays as it is: comments, order, quotes, indentation, line endings. The edited policies are loaded before ' +
  'anything is written, and must declare exactly what was asked for. A unified diff is printed. No network and no key.'

export function register(group: Command, cli: Cli): void {
  group.description(`Makes the smallest change to policy files that does the job. ${ABOUT}`).usage('<command> [flags]')
  addExamples(
    group,
    'capkeeper edit cap ada@example.com 4000 --policies policies',
    'capkeeper edit grant team --add 500 --until 2026-12-15 --reason "release week"',
  )
  registerCap(group, cli)
  registerGrant(group, cli)
  registerListed(group, cli)
  registerRemove(group, cli)
  registerTidy(group, cli)
}

interface CapFlags extends EditFlags {
  readonly reason?: string
  readonly name?: string
  readonly allowZero?: true
}

function registerCap(group: Command, cli: Cli): void {
  const command = group
    .command('cap')
    .summary('set the cap of a person, a group or the team')
    .description(`Changes the cap of an entry, or appends an entry. ${ABOUT}`)
    .argument('<scope>', 'an e-mail, group:ID or team', readScope)
    .argument('<cap>', 'whole credits per person, or none', readCap)
    .option('--reason <text>', 'why; shown in plans and in the history')
    .option('--name <text>', 'the group_name of a group that is not declared yet')
    .option('--allow-zero', 'says that a cap of 0 is meant')
    .action((scope: Scope, cap: Cap, flags: CapFlags) => {
      const { reason, name, allowZero } = flags
      mustAllowZero(cap, allowZero)
      if (name !== undefined && scope.kind !== 'group') throw new UsageError('--name is the name of a group: write group:ID')
      return run({ kind: 'cap', scope, cap, reason, name }, flags, cli)
    })
  editFlags(
    command,
    'capkeeper edit cap ada@example.com 4000 --reason "migration lead"',
    'capkeeper edit cap group:grp_data 1200 --name Data',
  )
}

interface GrantFlags extends EditFlags {
  readonly cap?: number
  readonly add?: number
  readonly until: string
  readonly from?: string
  readonly reason?: string
  readonly ticket?: string
  readonly extend?: true
  readonly allowZero?: true
}

function registerGrant(group: Command, cli: Cli): void {
  const command = group
    .command('grant')
    .summary('add a temporary cap, or extend one')
    .description(
      `Appends a grant: a temporary cap that ends by itself. With --extend it moves the end of one later, and nothing else. ${ABOUT}`,
    )
    .argument('<scope>', 'an e-mail, group:ID or team', readScope)
    .option('--cap <credits>', 'the cap while it lasts', readInteger(0, MAX_CAP))
    .option('--add <credits>', 'credits on top of the base cap', readInteger(1, MAX_CAP))
    .requiredOption('--until <date>', 'through this day, up to an RFC 3339 instant, or cycleEnd', readUntil)
    .option('--from <date>', 'from this day or instant on; default: now', readStart)
    .option('--reason <text>', 'why; required for a new grant')
    .option('--ticket <text>', 'where it was asked for')
    .option('--extend', 'move the end of the grant that is there later')
    .option('--allow-zero', 'says that a cap of 0 is meant')
    .action((scope: Scope, flags: GrantFlags) => run(grantOf(scope, flags), flags, cli))
  editFlags(
    command,
    'capkeeper edit grant bob@example.com --cap 6000 --until 2026-12-15 --reason "release week" --ticket OPS-12',
    'capkeeper edit grant bob@example.com --extend --until 2026-12-22',
  )
}

function grantOf(scope: Scope, { cap, add, until, from, reason, ticket, extend, allowZero }: GrantFlags): Edit {
  if (extend) {
    if ([cap, add, reason, ticket].some((given) => given !== undefined))
      throw new UsageError('--extend moves the end of a grant, and nothing else: leave --cap, --add, --reason and --ticket out')
    if (until === 'cycleEnd') throw new UsageError('--extend needs a date: the end of a cycle is not known here')
    return { kind: 'extend', scope, until, from }
  }
  if (from === 'none') throw new UsageError('a grant that begins now is added without --from')
  const amount = cap ?? add
  if (amount === undefined || (cap !== undefined && add !== undefined)) throw new UsageError('give one of --cap and --add')
  if (reason === undefined) throw new UsageError('give the --reason: every grant says why')
  if (until === 'cycleEnd' && from === undefined)
    throw new UsageError('--until cycleEnd needs --from: it is the end of the cycle that contains that day')
  mustAllowZero(amount, allowZero)
  const kind = cap === undefined ? 'add' : 'cap'
  return { kind: 'grant', scope, amount: { kind, credits: amount }, from, until, reason, ticket }
}

const mustAllowZero = (cap: Cap | number, allowed: true | undefined): void => {
  if (cap === 0 && !allowed) throw new UsageError('a cap of 0 needs --allow-zero, because a service may read a stored 0 back as "no cap"')
}

function registerListed(group: Command, cli: Cli): void {
  const protect = group
    .command('protect')
    .summary('add a protected person')
    .description(`Adds a person whose cap capkeeper never lowers, blocks or clears. ${ABOUT}`)
    .argument('<email>', 'the person', readEmail)
    .action((email: string, flags: EditFlags) => run({ kind: 'protect', email }, flags, cli))
  editFlags(protect, 'capkeeper edit protect oncall@example.com')
  const approve = group
    .command('approve')
    .summary('release a hold by review')
    .description(`Adds the id of a hold to approvals, so that the review of the policies releases it. ${ABOUT}`)
    .argument('<id>', 'the whole hold id, as `capkeeper plan` prints it', readWholeId)
    .action((id: string, flags: EditFlags) => run({ kind: 'approve', id }, flags, cli))
  editFlags(approve, 'capkeeper edit approve 7d1f0c2a9b347d1f0c2a9b347d1f0c2a')
}

function registerRemove(group: Command, cli: Cli): void {
  const command = group
    .command('remove')
    .summary('remove an entry')
    .description(
      `Removes exactly that entry, with the comment above it or on its line. A group that a grant, a rule, a pool or an envelope names loses its cap only. ${ABOUT}`,
    )
    .argument('<entry>', 'an e-mail, group:ID, team, protect:EMAIL, approval:ID or grant:SCOPE', readTarget)
    .option('--from <date>', 'of several grants, the one that begins then; none: the one without from', readStart)
    .action((target: Target, flags: EditFlags & Pick<GrantFlags, 'from'>) => {
      if (flags.from !== undefined && target.kind !== 'grant') throw new UsageError('--from names a grant: write grant:SCOPE')
      return run({ kind: 'remove', target: target.kind === 'grant' ? { ...target, from: flags.from } : target }, flags, cli)
    })
  editFlags(command, 'capkeeper edit remove grant:bob@example.com', 'capkeeper edit remove protect:oncall@example.com')
}

const TWO_WEEKS = '14d'

function registerTidy(group: Command, cli: Cli): void {
  const command = group
    .command('tidy')
    .summary('remove what is over')
    .description(
      'Removes grants whose end the ledger shows verified, and approvals that are spent or void in every workspace that reads the document; ' +
        `each with its reason. The ledger is read, also from a running daemon. ${ABOUT}`,
    )
    .addOption(
      new Option('--ended <duration>', 'grants whose end was verified that long ago')
        .argParser(readDuration)
        .default(readDuration(TWO_WEEKS), TWO_WEEKS),
    )
    .action(async (flags: TidyFlags) => (await import('./tidy.ts')).tidyCommand(flags, cli))
  outputFlags(addUsedFlags(command, ['config', 'policies', 'ledger', 'ledgerTokenFile', 'workspace']))
  addExamples(
    command,
    'capkeeper edit tidy --ledger http://127.0.0.1:9464 --check',
    'capkeeper edit tidy --ledger ./capkeeper.db --ended 30d',
  )
}

function editFlags(command: Command, ...examples: readonly string[]): void {
  outputFlags(addUsedFlags(command, ['config', 'policies', 'workspace']))
  addExamples(command, ...examples)
}

const outputFlags = (command: Command): Command =>
  command
    .option('--file <file>', 'the document to edit, where several may hold it; FILE#NAME for one of several in a file')
    .addOption(new Option('--output <format>', 'form of the answer').choices(['diff', 'json']).default('diff'))
    .option('--check', 'write nothing, and exit with 2 when there is something to do')

const run = async (edit: Edit, flags: EditFlags, cli: Cli): Promise<void> => (await import('./run.ts')).editCommand([edit], flags, cli)

function readCap(text: string): Cap {
  return text === 'none' ? text : credits(readInteger(0, MAX_CAP, ', or none')(text))
}

function readEmail(text: string): string {
  const email = normaliseEmail(text)
  if (!isEmail(email)) throw new InvalidArgumentError('Write an e-mail such as name@example.com.')
  return email
}

function readWholeId(text: string): string {
  const id = text.trim().toLowerCase()
  if (!/^[0-9a-f]+$/.test(id) || id.length !== HOLD_ID_DIGITS)
    throw new InvalidArgumentError(`The whole id of ${HOLD_ID_DIGITS} hex digits is needed, as \`capkeeper plan\` prints it.`)
  return id
}

function readFrom(text: string): string {
  const time = text.trim()
  if (readDate(time) === undefined && readInstant(time) === undefined)
    throw new InvalidArgumentError('Write a date (2026-12-15) or an RFC 3339 instant.')
  return time
}

const readStart = (text: string): string => (text.trim() === 'none' ? 'none' : readFrom(text))

const readUntil = (text: string): string => (text.trim() === 'cycleEnd' ? 'cycleEnd' : readFrom(text))

function readTarget(text: string): Target {
  const [, kind = '', rest = ''] = /^(protect|approval|grant):(.*)$/s.exec(text.trim()) ?? []
  switch (kind) {
    case 'protect':
      return { kind, email: readEmail(rest) }
    case 'approval':
      return { kind, id: readWholeId(rest) }
    case 'grant':
      return { kind, scope: readScope(rest) }
    default: {
      const scope = parseScope(text)
      if (!scope) throw new InvalidArgumentError('Write an e-mail, group:ID, team, protect:EMAIL, approval:ID or grant:SCOPE.')
      return { kind: 'scope', scope }
    }
  }
}
