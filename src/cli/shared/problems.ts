// Problems of policies and config, and the result of `validate`, as text, JSON and Markdown. Their wording and carets come from `policy`; only
// colours and the frame are added here. Also how people show in output.
import { code, compareProblems, escaped, fitting, formatProblems, plain } from '../../core/escape/text.ts'
import { type PolicyRevision, shortRevision } from '../../core/model/policy.ts'
import { hasErrors, type Problem } from '../../core/model/problem.ts'
import type { LoadedConfig } from '../../daemon/config/config.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels, type PeopleShown } from '../../daemon/http/status/labels.ts'
import { randomSalt, sha256 } from '../../daemon/schedule/system.ts'
import { loadPoliciesAside } from '../../policy/load/load.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import { type Cli, type Paint, painter, unpainted } from './context.ts'
import { count, documentText } from './text.ts'

// Policies as commands load them, with the workspaces that the configuration names. No network package is loaded for it.

/** The policy paths of all workspaces, each once. */
export const policyPaths = (config: Pick<Config, 'workspaces'> | undefined): readonly string[] => [
  ...new Set(config?.workspaces.flatMap(({ policies, envelopes = [] }) => [...policies, ...envelopes.flatMap((one) => one.policies)])),
]

/** Loads the policies at these paths. `workspace` is what `--workspace` says; `asWritten`: see `LoadOptions`. */
export const readPolicies = (
  paths: readonly string[],
  { configured }: LoadedConfig,
  { workspace, asWritten = false }: { readonly workspace?: string; readonly asWritten?: boolean },
  { clock }: Pick<Cli, 'clock'>,
): Promise<LoadedPolicies> =>
  loadPoliciesAside(
    paths,
    {
      workspaces: configured,
      workspace,
      now: clock.now(),
      asWritten: asWritten || undefined,
    },
    clock,
  )

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
  return [...(errors > 0 ? [count(errors, 'error')] : []), ...(warnings > 0 ? [count(warnings, 'warning')] : [])].join(', ')
}

/** What `validate` found in one workspace. */
export interface ValidatedWorkspace {
  readonly workspace: string
  /** What platform declares is; false: what a team declares in its envelope is not. */
  readonly valid: boolean
  readonly policyDigest: string
  readonly revision: string
  readonly documents: number
  /** Caps of team, groups and users. */
  readonly rules: number
  /** Of `spec.rules`. */
  readonly peopleRules: number
  readonly pools: number
  readonly groups: number
  readonly grants: number
  readonly protected: number
  readonly approvals: number
}

export interface Validation {
  /** The config file, when it is valid. */
  readonly file?: string
  readonly workspaces: readonly ValidatedWorkspace[]
  readonly problems: readonly Problem[]
}

/** A line for the config, and one per workspace: `acme: valid: 14 caps (3 groups), 2 grants in 2 documents, policies 9a1b2c3d4e5f`. */
export const validationText = ({ file, workspaces }: Validation): string =>
  [...(file === undefined ? [] : [`${file}: valid`]), ...workspaces.map(summary)].map((line) => `${line}\n`).join('')

function summary(one: ValidatedWorkspace): string {
  const groups = one.groups > 0 ? ` (${count(one.groups, 'group')})` : ''
  const revision = one.revision === '' ? '' : ` at ${shortRevision(one.revision)}`
  const rules = one.peopleRules > 0 ? `, ${count(one.peopleRules, 'rule')}` : ''
  const pools = one.pools > 0 ? `, ${count(one.pools, 'pool')}` : ''
  return `${plain(one.workspace)}: ${one.valid ? 'valid' : 'not valid'}: ${count(one.rules, 'cap')}${groups}${rules}${pools}, ${count(one.grants, 'grant')} in ${count(one.documents, 'document')}, policies ${one.policyDigest}${revision}`
}

/** `{apiVersion, kind: "Validation", valid, workspaces[], problems[]}` (choice). */
export function validationJson({ workspaces, problems }: Validation): string {
  return documentText('Validation', { valid: !hasErrors(problems), workspaces, problems: problems.toSorted(compareProblems) })
}

const MARKDOWN_ROOM = 55_000

/** For a comment on a pull request: the verdict, then every problem with its place; people show as `labels` says. */
export function validationMarkdown(validation: Validation, labels: PeopleLabels): string {
  const problems = validation.problems.toSorted(compareProblems).map(labels.all)
  const verdict = hasErrors(problems) ? `**Not valid: ${problemCount(problems)}.**` : '**Valid.**'
  const { lines, left } = fitting(problems.map(problemItem), MARKDOWN_ROOM)
  const parts = [
    '### capkeeper: validate',
    verdict,
    ...(validation.workspaces.length > 0 ? [validation.workspaces.map((one) => `- ${escaped(summary(one))}`).join('\n')] : []),
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    ...(left > 0 ? [`${count(left, 'problem')} left out for length; \`capkeeper validate\` shows all.`] : []),
  ]
  return `${parts.join('\n\n')}\n`
}

function problemItem(problem: Problem): string {
  const place = problem.at ? `${code(`${problem.at.file}:${problem.at.line}:${problem.at.column}`)} ` : ''
  const hint = problem.hint === undefined ? '' : `; ${escaped(problem.hint)}`
  return `- ${place}**${problem.severity}**: ${escaped(problem.message)}${hint}`
}
