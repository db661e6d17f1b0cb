// `approve ID`: records in the ledger that somebody looked at a hold and releases exactly its changes. It asks no service and needs no key.

import type { Command } from 'commander'
import { plain } from '../../core/escape/terminal.ts'
import type { Approval } from '../../core/model/change.ts'
import { asShown, HOLD_ID_DIGITS, type HoldShown } from '../../core/plan/approval.ts'
import type { Ledger } from '../../ports.ts'
import { addLedgerFlags, examples, type NetworkFlags, readHoldId } from '../shared/args.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { tellLine } from '../shared/tell.ts'
import { people, shortTime } from '../shared/text.ts'

export function registerApprove(program: Command, cli: Cli): void {
  const command = program
    .command('approve')
    .summary('release a hold')
    .description(
      'Records the release of a hold in the ledger. The id stands in `capkeeper plan`, in the log and on the status page; it stands for ' +
        'exactly the changes that the hold keeps back. A running daemon takes the approval up in its next cycle, or at once with SIGHUP.',
    )
    .argument('<id>', 'hold id, or its first 8 or more digits', readHoldId)
  addLedgerFlags(command)
    .addHelpText('after', examples('capkeeper approve 7d1f0c2a9b34'))
    .action((id: string, flags: NetworkFlags) => approve(id, flags, cli))
}

/** Holds that the last plan of `apply` or `run` showed, by id. */
const standing = (ledger: Ledger): readonly (readonly [id: string, shown: HoldShown])[] =>
  Object.entries(ledger.fact('holdsShown') ?? {}).filter(([, { goneAt }]) => goneAt === undefined)

/** The whole id. Throws a `CommandError` when no hold that stands, or more than one, begins with what was typed. */
function wholeId(typed: string, ledger: Ledger, workspace: string): string {
  if (typed.length === HOLD_ID_DIGITS) return typed
  const found = standing(ledger).flatMap(([id]) => (id.startsWith(typed) ? [id] : []))
  const [only, ...others] = found
  if (only === undefined)
    throw new CommandError(
      `no hold of ${workspace} that stands in the last plan of apply or run begins with ${typed}; of one that only a plan has shown, type the whole id`,
    )
  if (others.length > 0) throw new CommandError(`${found.length} holds of ${workspace} begin with ${typed}; type more of the id`)
  return only
}

async function approve(typed: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const { withLedger } = await import('../shared/ledger/access.ts')
  const showsHold = (ledger: Ledger): boolean => standing(ledger).some(([id]) => id.startsWith(typed))
  await withLedger(flags, cli, { mode: 'note', prefers: showsHold }, async ({ workspace, ledger }) => {
    const id = wholeId(typed, ledger, workspace)
    const before = ledger.approvals().find((one) => one.id === id)
    if (!showsHold(ledger)) tellLine(cli, `warning: no hold ${id} shows in ${workspace} now; the approval waits for it, for 14 days`)
    cli.finish(EXIT.done)
    // What a policy lists and nothing released yet needs no second step any more.
    if (before?.state === 'pending' && (before.via === 'command' || before.released.length > 0)) {
      cli.stdout.write(`${plain(workspace)}: hold ${id} was approved at ${shortTime(before.approvedAt)} already\n`)
      return
    }
    if (before && before.state !== 'pending')
      cli.stderr.write(`warning: the approval of ${shortTime(before.approvedAt)} is ${before.state}; this is a new one\n`)
    const given: Approval = { id, via: 'command', approvedAt: cli.clock.now(), state: 'pending', released: [] }
    const holdsShown = ledger.fact('holdsShown') ?? {}
    for (const seen of asShown([given], holdsShown)) ledger.saveApproval(seen)
    await ledger.commit()
    const shown = holdsShown[id]
    cli.stdout.write(`${plain(workspace)}: hold ${id} is approved${shown ? ` (${people(shown.people)})` : ''}\n`)
  })
}
