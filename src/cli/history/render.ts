// The writes of capkeeper, newest first: time, scope, caps, result, reason and policy revision.

import { plain } from '../../core/escape/terminal.ts'
import type { HistoryEntry } from '../../core/model/change.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import { RESULT_WORDS, SIGNS } from '../plan/view.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { capText, columns, documentText, rfc3339, shortTime } from '../shared/text.ts'

/** One line per write, and one below it with the reason, the source and the revision. */
export function renderHistoryText(entries: readonly HistoryEntry[], paint: Paint = unpainted): string {
  if (entries.length === 0) return 'Nothing was written.\n'
  const heads = columns(entries.map(headCells))
  const lines = entries.flatMap((entry, index) => {
    const error = entry.error === undefined ? [] : [paint('red', `    ${plain(entry.error)}`)]
    return [heads[index] ?? '', paint('dim', `    ${detail(entry)}`), ...error]
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
  return [place, entry.reason, `policies ${entry.digest}${revision}`, `plan ${entry.planId}`]
    .flatMap((part) => (part === undefined || part === '' ? [] : [plain(part)]))
    .join(' · ')
}

/** One write in JSON, here and in `explain`: instants are RFC 3339, caps numbers or `"none"`. */
export const historyDocument = ({ at, digest, ...entry }: HistoryEntry): Readonly<Record<string, unknown>> => ({
  at: rfc3339(at),
  ...entry,
  policyDigest: digest,
})

/** `{apiVersion, kind: "History", workspace, entries[]}`. */
export const renderHistoryJson = (workspace: string, entries: readonly HistoryEntry[]): string =>
  documentText('History', { workspace, entries: entries.map(historyDocument) })
