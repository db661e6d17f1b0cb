// Problems of policies and config as text. Their wording and carets come from `policy`; only colours and the frame are added here. Also how
// people show in output.

import { formatProblems } from '../../core/escape/text.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Problem } from '../../core/model/problem.ts'
import type { LoadedConfig } from '../../daemon/config/config.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels, type PeopleShown } from '../../daemon/http/labels.ts'
import { randomSalt, sha256 } from '../../daemon/schedule/system.ts'
import { loadPoliciesAside } from '../../policy/load/load.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import { type Cli, type Paint, painter, unpainted } from './context.ts'
import { count, present } from './text.ts'

// Policies as commands load them, with the workspaces that the configuration names. No network package is loaded for it.

/** The policy paths of all workspaces, each once. */
export const policyPaths = (config: Pick<Config, 'workspaces'> | undefined): readonly string[] => [
  ...new Set(config?.workspaces.flatMap(({ policies, envelopes = [] }) => [...policies, ...envelopes.flatMap((one) => one.policies)])),
]

/** Loads the policies at these paths. `workspace` is what `--workspace` says; `asWritten`: see `LoadOptions`. */
export const readPolicies = (
  paths: readonly string[],
  { configured }: Pick<LoadedConfig, 'configured'>,
  { workspace, asWritten = false }: { readonly workspace?: string; readonly asWritten?: boolean },
  { clock }: Pick<Cli, 'clock'>,
): Promise<LoadedPolicies> =>
  loadPoliciesAside(paths, { workspaces: configured, workspace, now: clock.now(), asWritten: asWritten || undefined }, clock)

/** How much a workspace declares, teams in their envelopes included. */
export function amountsOf({ set, delegated }: PolicyRevision): Readonly<Record<'documents' | 'rules' | 'grants', number>> {
  const ofTeams = delegated?.files.flatMap(({ documents = [] }) => documents) ?? []
  return {
    documents: set.documents.length + ofTeams.length,
    rules: set.rules.length + ofTeams.flatMap(({ rules }) => rules).length,
    grants: set.grants.length + ofTeams.flatMap(({ grants }) => grants).length,
  }
}

/** The problems for commands that go on beside a team's faults: errors of envelopes are warnings. */
export function problemsBeside({ problems, ofEnvelopes = [] }: LoadedPolicies): readonly Problem[] {
  const theirs = new Set(ofEnvelopes)
  return problems.map((problem) => (theirs.has(problem) ? { ...problem, severity: 'warning' } : problem))
}

/** Without a config file the workspace has the name that the flag or the policies give. */
export function named(config: Config, { workspace }: Pick<LoadedPolicies, 'workspace'>): Config {
  const [only] = config.workspaces
  if (workspace === undefined || !only || config.workspaces.length > 1) return config
  return { ...config, workspaces: [{ ...only, name: workspace }] }
}

/** Hashes stay the same while the ledger keeps their salt; without a salt they differ in each run. */
export const labelsFor = (shown: PeopleShown, salt: string | undefined): PeopleLabels =>
  shown === 'hash' ? hashLabels(sha256, salt ?? randomSalt()) : EMAIL_LABELS

/** Every problem with its line and caret, then their number; '' when there are none. */
export function problemsText(problems: readonly Problem[], paint: Paint = unpainted): string {
  if (problems.length === 0) return ''
  const lines = formatProblems(problems).split('\n')
  return `${lines.map((line) => painted(line, paint)).join('\n')}\n${problemCount(problems)}\n`
}

/** Warnings of policies and config, on stderr. */
export function showWarnings(warnings: readonly Problem[], cli: Cli): void {
  if (warnings.length > 0) cli.stderr.write(problemsText(warnings, painter(cli.stderr)))
}

function painted(line: string, paint: Paint): string {
  if (/^ {2}[ \t]*\^+$/.test(line)) return paint('red', line)
  return line.replace(
    /^((?:\S.*?:\d+:\d+: )?)(error|warning):/,
    (_match, place: string, severity: string) => paint('bold', place) + paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`),
  )
}

/** `2 errors, 1 warning`. */
export function problemCount(problems: readonly Problem[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const warnings = problems.length - errors
  return present(errors > 0 && count(errors, 'error'), warnings > 0 && count(warnings, 'warning')).join(', ')
}
