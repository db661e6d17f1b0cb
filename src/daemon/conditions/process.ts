// Findings about the process as a whole: its configuration and its ledger.
import type { Finding } from '../../core/model/condition.ts'
import { InputError } from '../../core/model/problem.ts'
import { formatProblems } from '../../policy/yaml.ts'
import { problemTexts } from './findings.ts'

/** The subject of conditions of the process as a whole. */
const PROCESS = 'capkeeper'

/** A configuration that cannot come into force: it is invalid, or a workspace of it cannot be opened. */
export function configFinding(error: unknown): Finding {
  const found = { type: 'ConfigInvalid', subject: PROCESS, reason: 'CONFIG_INVALID' } as const
  if (!(error instanceof InputError)) return { ...found, message: error instanceof Error ? error.message : String(error) }
  const [first = 'nothing is known of why', ...more] = problemTexts(error.problems)
  const lines = formatProblems(error.problems).split('\n')
  const message = more.length > 0 ? `${first} (and ${error.problems.length - 1} more)` : first
  return { ...found, message, version: lines.join('\n'), fields: { problems: lines } }
}

export const LEDGER_UNWRITABLE: Finding = {
  type: 'LedgerUnwritable',
  subject: PROCESS,
  reason: 'LEDGER_UNWRITABLE',
  message: 'the ledger cannot be written, so no cap is written; look at its disk and its permissions',
}
