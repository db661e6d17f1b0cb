// `history`: the writes of capkeeper, from the ledger alone. It needs no network and works beside a running daemon.
import { plain } from '../core/escape/text.ts'
import type { HistoryEntry } from '../core/model/change.ts'
import { shortRevision } from '../core/model/policy.ts'
import { formatPosition } from '../core/model/problem.ts'
import { type Scope, scopeKey } from '../core/model/scope.ts'
import { RESULT_WORDS, SIGNS } from './plan/render.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, EXIT, type Paint, painter } from './shared/context.ts'
import { capText, columns, documentText, present, rfc3339, shortTime } from './shared/text.ts'

// The writes of capkeeper, newest first: time, scope, caps, result, reason and policy revision.

/** One line per write, and one below it with the reason, the source and the revision. */
function historyText(entries: readonly HistoryEntry[], paint: Paint): string {
  if (entries.length === 0) return 'Nothing was written.\n'
  const heads = columns(entries.map(headCells))
  const lines = entries.flatMap((entry, index) => {
    const { error } = entry
    return present(heads[index], paint('dim', `    ${detail(entry)}`), error !== undefined && paint('red', `    ${plain(error)}`))
  })
  return `${lines.join('\n')}\n`
}

const headCells = (entry: HistoryEntry): readonly string[] => [
  shortTime(entry.at),
  `${SIGNS[entry.effect]} ${entry.effect}`,
  plain(scopeKey(entry.scope)),
  `${capText(entry.from)} → ${capText(entry.to)}`,
  entry.cause,
  RESULT_WORDS[entry.result],
]

function detail(entry: HistoryEntry): string {
  const revision = entry.revision === '' ? '' : ` at ${shortRevision(entry.revision)}`
  const place = entry.source ? formatPosition(entry.source) : 'no longer declared'
  return present(place, entry.reason || undefined, `policies ${entry.digest}${revision}`, `plan ${entry.planId}`)
    .map(plain)
    .join(' · ')
}

/** One write in JSON, here and in `explain`: instants are RFC 3339, caps numbers or `"none"`. */
export const historyDocument = ({ at, digest, ...entry }: HistoryEntry): Readonly<Record<string, unknown>> => ({
  at: rfc3339(at),
  ...entry,
  policyDigest: digest,
})

export const register = action(COMMANDS.history, history)

async function history(scope: Scope | undefined, flags: FlagsOf<typeof COMMANDS.history>, cli: Cli): Promise<void> {
  const { withLedger } = await import('./shared/ledger/access.ts')
  await withLedger(flags, cli, { mode: 'read' }, async ({ workspace, ledger }) => {
    const found = await ledger.history({ scope, sinceAt: flags.since?.(cli.clock.now()), limit: flags.limit + 1 })
    const entries = found.slice(0, flags.limit)
    // `{apiVersion, kind: "History", workspace, entries[]}`.
    const document = (): string => documentText('History', { workspace, entries: entries.map(historyDocument) })
    cli.stdout.write(flags.output === 'json' ? document() : historyText(entries, painter(cli.stdout)))
    if (found.length > entries.length) cli.stderr.write('there are older entries; --limit shows more\n')
    cli.finish(EXIT.done)
  })
}
