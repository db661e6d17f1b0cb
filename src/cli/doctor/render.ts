// The output of `doctor`: a line for each check as it is made, or one JSON document at the end.

import { plain } from '../../core/escape/terminal.ts'
import type { ServiceEvidence } from '../../core/interpret/evidence.ts'
import { compareProblems } from '../../policy/yaml.ts'
import { type Cli, type Paint, painter, type Style } from '../shared/context.ts'
import { documentText } from '../shared/document.ts'
import { EXIT, type ExitCode, inputExit } from '../shared/exit.ts'
import { problemsText } from '../shared/problems.ts'
import { count, padEnd } from '../shared/text.ts'
import { VERSION } from '../shared/version.ts'
import { type Area, CHECK_STATUSES, type Check, type CheckStatus, type Tell } from './check.ts'
import type { KeyReport } from './keys.ts'

/** Facts about one workspace, for the JSON document. */
export interface WorkspaceReport {
  readonly workspace: string
  readonly baseUrl: string
  readonly reached: boolean
  readonly keys: readonly KeyReport[]
  readonly seen: ServiceEvidence
}

export interface Findings {
  readonly checks: readonly Check[]
  /** Reports checks of one area, for one workspace or for all. */
  about(area: Area, workspace?: string): Tell
}

const WORDS: Readonly<Record<CheckStatus, string>> = { ok: 'ok', warning: 'warning', failed: 'failed', not_checked: 'not checked' }
const STYLES: Readonly<Record<CheckStatus, Style>> = { ok: 'green', warning: 'yellow', failed: 'red', not_checked: 'dim' }
const COLUMN = 13

/** Collects checks; with `text` each is printed at once. */
export function collect(output: 'text' | 'json', cli: Cli): Findings {
  const checks: Check[] = []
  const paint = painter(cli.stdout)
  let title = ''
  return {
    checks,
    about: (area, workspace) => (name, finding) => {
      const check: Check = { area, name, ...(workspace !== undefined && { workspace }), ...finding }
      checks.push(check)
      if (output === 'json') return
      const next = workspace === undefined ? area : `${plain(workspace)}: ${area}`
      if (next !== title) cli.stdout.write(`${title === '' ? '' : '\n'}${paint('bold', next)}\n`)
      title = next
      cli.stdout.write(cli.secrets.redact(checkText(check, paint)))
    },
  }
}

function checkText({ status, message, hint, problems = [] }: Check, paint: Paint): string {
  const head = `  ${paint(STYLES[status], padEnd(WORDS[status], COLUMN))}${plain(message)}\n`
  const way = hint === undefined ? '' : `  ${' '.repeat(COLUMN)}→ ${plain(hint)}\n`
  return `${head}${way}${problemsText(problems, paint).replace(/^(?=.)/gm, '    ')}`
}

/** `1 failed, 2 warnings, 17 ok, 3 not checked`. */
export function summary(checks: readonly Check[]): string {
  const { failed, warning, ok, not_checked } = countsOf(checks)
  const parts = [
    failed > 0 && `${failed} failed`,
    warning > 0 && count(warning, 'warning'),
    `${ok} ok`,
    not_checked > 0 && `${not_checked} not checked`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

const countsOf = (checks: readonly Check[]): Readonly<Record<CheckStatus, number>> => {
  const of = (status: CheckStatus): number => checks.filter((check) => check.status === status).length
  return { ok: of('ok'), warning: of('warning'), failed: of('failed'), not_checked: of('not_checked') }
}

/** 65 for configuration and policies that cannot be used, 1 for anything else that failed (product.md, section 3). */
export function exitOf(checks: readonly Check[]): ExitCode {
  const failed = checks.filter(({ status }) => status === 'failed')
  const input = failed.filter(({ area }) => area === 'config' || area === 'policies')
  if (input.length > 0) return inputExit(input.flatMap(({ problems = [] }) => problems))
  return failed.length > 0 ? EXIT.failed : EXIT.done
}

/** `{apiVersion, kind: "Doctor", version, at, result, counts, workspaces[], checks[]}` (choice). */
export function doctorJson(checks: readonly Check[], workspaces: readonly WorkspaceReport[], now: number): string {
  const counts = countsOf(checks)
  const result = CHECK_STATUSES.find((status) => status === 'failed' && counts[status] > 0) ?? (counts.warning > 0 ? 'warning' : 'ok')
  return documentText('Doctor', {
    version: VERSION,
    at: now,
    result,
    counts,
    workspaces: workspaces.map(({ seen, ...rest }) => ({
      ...rest,
      seen: Object.entries(seen).map(([aspect, one]) => ({ aspect, ...one })),
    })),
    checks: checks.map(({ problems, ...check }) => ({ ...check, ...(problems && { problems: problems.toSorted(compareProblems) }) })),
  })
}
