// `approve ID`: records in the ledger that a person releases exactly the changes of a hold. It needs no network and no key.
import { plain } from '../core/escape/text.ts'
import { type Approval, HOLD_ID_DIGITS } from '../core/model/change.ts'
import { asShown } from '../core/plan/approval.ts'
import type { HoldShown } from '../core/plan/snapshot.ts'
import type { Ledger } from '../ports.ts'
import { action, COMMANDS, type NetworkFlags } from './shared/command.ts'
import { type Cli, CommandError, EXIT } from './shared/context.ts'
import { people, shortTime, tellLine } from './shared/text.ts'

export const register = action(COMMANDS.approve, approve)

/** The holds in the last plan of `apply` or `run`, by id. */
const currentHolds = (ledger: Ledger): readonly (readonly [id: string, shown: HoldShown])[] =>
  Object.entries(ledger.fact('holdsShown') ?? {}).filter(([, { goneAt }]) => goneAt === undefined)

/** The whole id. Throws a `CommandError` unless exactly one hold in the last plan begins with the typed digits. */
function wholeId(typed: string, ledger: Ledger, workspace: string): string {
  if (typed.length === HOLD_ID_DIGITS) return typed
  const found = currentHolds(ledger).flatMap(([id]) => (id.startsWith(typed) ? [id] : []))
  const [only, ...others] = found
  if (only === undefined)
    throw new CommandError(
      `no hold of ${workspace} in the last plan of apply or run begins with ${typed}; for a hold that only \`plan\` has shown, type the whole id`,
    )
  if (others.length > 0) throw new CommandError(`${found.length} holds of ${workspace} begin with ${typed}; type more of the id`)
  return only
}

async function approve(typed: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const { withLedger } = await import('./shared/ledger/access.ts')
  const hasHold = (ledger: Ledger): boolean => currentHolds(ledger).some(([id]) => id.startsWith(typed))
  await withLedger(flags, cli, { mode: 'note', prefers: hasHold }, async ({ workspace, ledger }) => {
    const id = wholeId(typed, ledger, workspace)
    const before = ledger.approvals().find((one) => one.id === id)
    if (!hasHold(ledger)) tellLine(cli, `warning: ${workspace} has no hold ${id} now; the approval waits for it for 14 days`)
    cli.finish(EXIT.done)
    // An approval from a policy that has released nothing yet is replaced: the command needs no second step.
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
