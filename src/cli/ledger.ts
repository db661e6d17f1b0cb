// `ledger`: `copy FROM TO` moves a ledger between a file, locked meanwhile, and PostgreSQL, refused while a replica keeps a workspace of it, so
// that no daemon writes caps with the old ledger, which stays as it is; `backup` copies a file, `check` looks for damage, `forget` removes a person.

import { plain } from '../core/escape/text.ts'
import { parseScope, scopeKey } from '../core/model/scope.ts'
import { type CopyEnd, copyLedger, countRows } from '../daemon/ledger/sql/copy.ts'
import { action, COMMANDS, group, type NetworkFlags } from './shared/command.ts'
import { type Cli, CommandError, EXIT, UsageError } from './shared/context.ts'
import { interruptible } from './shared/each.ts'
import { backupLedger, checkLedger, withLedger } from './shared/ledger/access.ts'
import { shownLedger } from './shared/ledger/address.ts'
import { mustBeKept, withStore } from './shared/ledger/store.ts'
import { sweepProgress } from './shared/progress.ts'
import { mustBeOwn } from './shared/remote.ts'
import { count } from './shared/text.ts'

const { backup, copy, forget, check } = COMMANDS.ledger.commands

export const register = group(COMMANDS.ledger, {
  backup: action(backup, backupLedger),
  copy: action(copy, copyCommand),
  forget: action(forget, forgetCommand),
  check: action(check, checkLedger),
})

const ALL_DAYS = { fromAt: 0, untilAt: 8_640_000_000_000_000 }

/** Erases one person in one workspace. Exits 1 while a cap of theirs is ours. */
async function forgetCommand(typed: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const scope = parseScope(typed)
  if (scope?.kind !== 'user') throw new UsageError(`'${typed}' is not an e-mail address`)
  const { email } = scope
  await withLedger(flags, cli, { mode: 'note' }, async ({ workspace, ledger }) => {
    const ours = ledger.owned().find((one) => scopeKey(one.scope) === scopeKey(scope) && one.cap !== 'none')
    const roster = ledger.fact('usage')?.roster.people
    const isOnRoster = roster?.some((one) => one.email === email) === true
    if (ours) {
      const away = 'the service does not list them now, and it can be cleared only while it does'
      const way = roster && !isOnRoster ? away : 'take it out of the policy and let capkeeper clear it first'
      throw new CommandError(`${workspace}: ${email} has a cap of ours (${ours.cap}), which cannot be cleared without its records; ${way}`)
    }
    if (ledger.openIntents().some(({ change }) => scopeKey(change.scope) === scopeKey(scope)))
      throw new CommandError(`${workspace}: a write to ${email} is under way or not settled yet; try again after the next cycle`)
    const [writes, days] = [(await ledger.history({ scope })).length, (await ledger.useOfPerson(email, ALL_DAYS)).length]
    await ledger.forget(email)
    cli.stdout.write(
      `${plain(`${workspace}: ${email} is forgotten: ${count(writes, 'write')}, ${count(days, 'day')} of use, and all other records of them`)}\n`,
    )
    if (isOnRoster) cli.stderr.write(`${plain(`warning: the service still lists ${email}, so new readings are recorded again`)}\n`)
    cli.finish(EXIT.done)
  })
}

async function copyCommand(from: string, to: string, _flags: unknown, cli: Cli): Promise<void> {
  for (const one of [from, to]) {
    mustBeOwn(one)
    mustBeKept(one, 'a file or an address')
  }
  if (from === to) throw new UsageError('both names are of the same ledger')
  await mustHaveRecords(from, cli)
  const copied = await interruptible(cli, (signal) =>
    withStore(cli, from, 'write', async (source) => {
      // Before the target is made, because a daemon may hold the source.
      const end = await source.copyEnd()
      return withStore(cli, to, 'write', async (target) => copyBetween(end, await target.copyEnd(), cli, signal))
    }),
  )
  cli.stdout.write(
    `${plain(`${shownLedger(from)}: ${count(copied, 'row')} copied to ${shownLedger(to)}, and every one read back as it was`)}\n`,
  )
  cli.finish(EXIT.done)
}

async function copyBetween(from: CopyEnd, to: CopyEnd, cli: Cli, signal: AbortSignal): Promise<number> {
  using progress = await sweepProgress('copying the ledger', cli.stderr, signal)
  progress.expect({ length: await countRows(from) })
  return await copyLedger(from, to, (rows) => {
    signal.throwIfAborted()
    progress.some(rows.length)
  })
}

/** Checked first, because opening a missing ledger to write would create it. */
async function mustHaveRecords(from: string, cli: Cli): Promise<void> {
  const known = await withStore(cli, from, 'read', (store) => store.workspaces())
  if (known.length === 0) throw new CommandError(`${shownLedger(from)} holds no records, so there is nothing to copy`)
}
