// `edit`: the smallest change to policy files that does the job. The command lines are read here, and the work is done in `run.ts`.
import { InvalidArgumentError } from 'commander'
import { HOLD_ID_DIGITS } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { isEmail, normaliseEmail, parseScope, type Scope } from '../../core/model/scope.ts'
import { credits, MAX_CAP } from '../../core/model/units.ts'
import { readDate, readInstant } from '../../policy/dates.ts'
import type { Edit, Target } from '../../policy/edit/edit.ts'
import { readInteger, readScope } from '../shared/args.ts'
import { action, COMMANDS, type FlagsOf, group } from '../shared/command.ts'
import { type Cli, UsageError } from '../shared/context.ts'

const { cap, grant, protect, approve, remove, tidy } = COMMANDS.edit.commands

const timeOr =
  (word: string) =>
  (text: string): string => {
    const time = text.trim()
    if (time !== word && readDate(time) === undefined && readInstant(time) === undefined)
      throw new InvalidArgumentError(`Write a date (2026-12-15), an RFC 3339 instant or ${word}.`)
    return time
  }

const OWN = { cap: readCap, until: timeOr('cycleEnd'), start: timeOr('none'), email: readEmail, wholeId: readWholeId, target: readTarget }

export type EditFlags = FlagsOf<typeof protect>
export type TidyFlags = FlagsOf<typeof tidy>
type GrantFlags = FlagsOf<typeof grant, typeof OWN>

const run = async (edit: Edit, flags: EditFlags, cli: Cli): Promise<void> => (await import('./run.ts')).editCommand([edit], flags, cli)

export const register = group(COMMANDS.edit, {
  cap: action(
    cap,
    (scope, cap, flags, cli) => {
      const { reason, name, allowZero } = flags
      mustAllowZero(cap, allowZero)
      if (name !== undefined && scope.kind !== 'group') throw new UsageError('--name is the name of a group: write group:ID')
      return run({ kind: 'cap', scope, cap, reason, name }, flags, cli)
    },
    OWN,
  ),
  grant: action(grant, (scope, flags, cli) => run(grantOf(scope, flags), flags, cli), OWN),
  protect: action(protect, (email, flags, cli) => run({ kind: 'protect', email }, flags, cli), OWN),
  approve: action(approve, (id, flags, cli) => run({ kind: 'approve', id }, flags, cli), OWN),
  remove: action(
    remove,
    (target, flags, cli) => {
      if (flags.from !== undefined && target.kind !== 'grant') throw new UsageError('--from names a grant: write grant:SCOPE')
      return run({ kind: 'remove', target: target.kind === 'grant' ? { ...target, from: flags.from } : target }, flags, cli)
    },
    OWN,
  ),
  tidy: action(tidy, async (flags, cli) => (await import('./tidy.ts')).tidyCommand(flags, cli)),
})

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
