// What commands that look back read of the ledger: use by day, people and groups of today, caps of ours and what was written. All of it in
// this one place, and nothing is written. A ledger that does not exist, or that knows nothing of a workspace, is told apart from an empty one.

import type { HistoryEntry } from '../../../core/model/change.ts'
import type { JournalEntry } from '../../../core/model/journal.ts'
import type { Cycle, OwnedCap } from '../../../core/model/observed.ts'
import type { Credits, Instant } from '../../../core/model/units.ts'
import type { RecordedDays } from '../../../core/use/replay/recorded.ts'
import { openLedger } from '../../../daemon/ledger/ledger.ts'
import type { Ledger, UsageFacts } from '../../../ports.ts'
import { type Cli, CommandError, UsageError } from '../context.ts'
import { isLedgerUrl } from '../remote.ts'

export interface RecordedUse {
  readonly workspace: string
  readonly recorded: RecordedDays
  readonly usage?: UsageFacts
  /** What everybody has used in the cycle of the last reading, by e-mail. */
  readonly highest: ReadonlyMap<string, Credits>
  readonly owned: readonly OwnedCap[]
  readonly history: readonly HistoryEntry[]
  /** What others were seen to write, among other things. */
  readonly journal: readonly JournalEntry[]
}

export interface RecordedLedger {
  readonly workspaces: readonly RecordedUse[]
  /** What people are hashed with; absent until a daemon has made it. */
  readonly salt?: string
}

/** Days before this are not in any ledger. */
const EVER = { fromAt: 0, untilAt: 8.64e15 }

/** Reads these workspaces; throws a `CommandError` when the ledger knows none of them, and a `LedgerError` when it cannot be read. */
export async function readRecordedUse(cli: Cli, file: string, names: readonly string[]): Promise<RecordedLedger> {
  if (isLedgerUrl(file)) {
    throw new UsageError(
      `${file} is the address of a daemon, which hands out no use by day; name the ledger itself, or a copy of it (\`capkeeper ledger backup FILE\`), with --ledger`,
    )
  }
  const store = await openLedger({ file, mode: 'read', clock: cli.clock })
  try {
    const known = (await store.workspaces()).flatMap((one) => (one.current ? [one.workspace] : []))
    const found = names.filter((name) => known.includes(name))
    if (found.length === 0) throw nothingKnown(file, names, known)
    let salt: string | undefined
    const workspaces: RecordedUse[] = []
    for (const workspace of found) {
      const ledger = await store.workspace(workspace, undefined)
      const usage = ledger.fact('usage')
      salt ??= ledger.fact('peopleSalt')
      workspaces.push({
        workspace,
        recorded: await daysOf(ledger),
        ...(usage && { usage }),
        highest: await ledger.highestUse(),
        owned: ledger.owned(),
        history: await ledger.history(),
        journal: ledger.fact('journal') ?? [],
      })
    }
    return { workspaces, ...(salt !== undefined && { salt }) }
  } finally {
    await store.close()
  }
}

/** Measured days where the service tells them, as far back as those that readings added up to; else these. */
async function daysOf(ledger: Ledger): Promise<RecordedDays> {
  const estimated = await ledger.useByDay(EVER, 'estimated')
  const asked = ledger.fact('addOnAsked')
  if (!asked?.hasRows) return estimated
  const measured = await ledger.useByDay(EVER, 'measured')
  const [from, since] = [measured.days[0]?.dayAt, estimated.days[0]?.dayAt]
  return from !== undefined && from <= (since ?? from) ? measured : estimated
}

/** How to get days, wherever there are none. */
export const HOW_TO_GET_DAYS =
  'days are recorded while a daemon runs (`capkeeper run`, mode: audit is enough): start one and ask again in a week or more'

function nothingKnown(file: string, names: readonly string[], known: readonly string[]): CommandError {
  if (known.length === 0) return new CommandError(`${file} has no records; ${HOW_TO_GET_DAYS}, or name another ledger with --ledger`)
  return new CommandError(
    `${file} knows nothing of ${names.join(', ')}; it knows ${known.join(', ')}: choose with --workspace, or name another ledger with --ledger`,
  )
}

/** The billing cycle of the last reading, and what is certain of the one before. */
export function cyclesKnown({
  usage,
}: RecordedUse): { readonly current: Cycle; readonly previous?: Cycle; readonly readAt: Instant } | undefined {
  const current = usage?.roster.cycle ?? usage?.balance?.cycle
  if (!usage || !current) return undefined
  const previous = usage.previousCycle?.cycle
  return { current, readAt: usage.roster.readAt, ...(previous && previous.endAt <= current.startAt && { previous }) }
}
