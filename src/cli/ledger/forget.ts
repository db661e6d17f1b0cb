// `ledger forget EMAIL`: erases the records of a person. While the person has a cap of ours the records are needed to clear it, so the command
// refuses.
import { plain } from '../../core/escape/terminal.ts'
import { parseScope, scopeKey } from '../../core/model/scope.ts'
import type { Ledger } from '../../ports.ts'
import type { NetworkFlags } from '../shared/args.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { withLedger } from '../shared/ledger/access.ts'
import { count } from '../shared/text.ts'

const ALL_DAYS = { fromAt: 0, untilAt: 8_640_000_000_000_000 }

/** Erases one person in one workspace. Exits 1 while a cap of theirs is ours. */
export async function forgetCommand(typed: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const scope = parseScope(typed)
  if (scope?.kind !== 'user') throw new UsageError(`'${typed}' is not an e-mail address`)
  const { email } = scope
  const isKnown = (ledger: Ledger): boolean => ledger.owned().some((one) => scopeKey(one.scope) === scopeKey(scope))
  await withLedger(flags, cli, { mode: 'note', prefers: isKnown }, async ({ workspace, ledger }) => {
    const ours = ledger.owned().find((one) => scopeKey(one.scope) === scopeKey(scope) && one.cap !== 'none')
    if (ours) {
      const way = 'take it out of the policy and let capkeeper clear it first'
      throw new CommandError(`${workspace}: ${email} has a cap of ours (${ours.cap}), which cannot be cleared without its records; ${way}`)
    }
    if (ledger.openIntents().some(({ change }) => scopeKey(change.scope) === scopeKey(scope)))
      throw new CommandError(`${workspace}: a write to ${email} is under way or not settled yet; try again after the next cycle`)
    const [writes, days] = [(await ledger.history({ scope })).length, (await ledger.useOfPerson(email, ALL_DAYS)).length]
    const isOnRoster = ledger.fact('usage')?.roster.people.some((one) => one.email === email) === true
    await ledger.forget(email)
    cli.stdout.write(
      `${plain(`${workspace}: ${email} is forgotten: ${count(writes, 'write')}, ${count(days, 'day')} of use, and all other records of them`)}\n`,
    )
    if (isOnRoster) cli.stderr.write(`${plain(`warning: the service still lists ${email}, so new readings are recorded again`)}\n`)
    cli.finish(EXIT.done)
  })
}
