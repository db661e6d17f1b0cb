// `validate`: loads config and policies, and shows all problems of both at once. It never reads a key and uses no network.

import { authoritiesIn } from '../api/way.ts'
import { code, compareProblems, escaped, fitting, markdownText, plain, withCommands } from '../core/escape/text.ts'
import { shortRevision } from '../core/model/policy.ts'
import { hasErrors, type Problem } from '../core/model/problem.ts'
import { type LoadedConfig, loadConfigAside, plainHttpProblems } from '../daemon/config/config.ts'
import type { LoadedPolicies } from '../policy/load/loaded.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, EXIT, inputExit, painter, UsageError } from './shared/context.ts'
import { amountsOf, labelsFor, policyPaths, problemCount, problemsText, readPolicies } from './shared/problems.ts'
import { count, documentText, present } from './shared/text.ts'

export const register = action(COMMANDS.validate, validate)

type Flags = FlagsOf<typeof COMMANDS.validate>

/** Checks the given paths, or those of the flags and the config. Exits 65 on an error. */
async function validate(given: readonly string[], flags: Flags, cli: Cli): Promise<void> {
  const config = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  const paths = given.length > 0 ? given : policyPaths(config.config)
  if (paths.length === 0 && config.file === undefined && !hasErrors(config.problems)) {
    throw new UsageError('nothing to validate: name policy files or folders, or a config file with --config')
  }
  const loaded = paths.length > 0 ? await readPolicies(paths, config, flags, cli) : undefined
  const ofConfig = [
    ...config.problems,
    ...plainHttpProblems(config.config?.workspaces ?? [], 'warning'),
    ...caFileProblems(config),
    ...(loaded ? unknownViewerGroups(loaded, config) : []),
  ]
  const problems = [
    ...ofConfig,
    ...(await peopleFileProblems(config, cli)),
    ...(loaded?.problems ?? []).filter((problem) => isJudged(problem, config)),
  ]
  const file = hasErrors(ofConfig) ? undefined : config.file
  show({ file, workspaces: loaded ? validated(loaded, config) : [], problems }, config, flags, cli)
  cli.finish(hasErrors(problems) ? inputExit(problems) : EXIT.done)
}

/** Only a warning, because the file may exist only where capkeeper runs. Key files, for the same reason, are not checked. Choice. */
function caFileProblems({ config, places }: LoadedConfig): readonly Problem[] {
  const files = new Set(config?.workspaces.flatMap(({ caFile }) => caFile ?? []))
  return [...files].flatMap((file) => {
    const { unread } = authoritiesIn(file)()
    if (unread === undefined) return []
    const hint = 'correct caFile, --ca-file or CAPKEEPER_CA_FILE, unless the file is only where capkeeper runs'
    return [{ severity: 'warning', code: 'CA_INVALID', message: unread, ...places?.get(file), hint } as const]
  })
}

async function peopleFileProblems({ config, places }: LoadedConfig, { clock }: Cli): Promise<readonly Problem[]> {
  const files = (config?.workspaces ?? []).flatMap(({ directory }) => directory ?? [])
  if (files.length === 0) return []
  const { checkPeopleFile } = await import('../daemon/directory/read.ts')
  const found = await Promise.all(files.map((settings) => checkPeopleFile(settings, clock, places?.get(settings.file))))
  return found.flatMap((one) => ('problem' in one ? [one.problem] : []))
}

/** With a broken config the workspaces are not known, so problems about them are dropped. */
const isJudged = (problem: Problem, config: LoadedConfig): boolean =>
  config.file === undefined || config.config !== undefined || !problem.code.startsWith('WORKSPACE_')

/** Groups that `viewers` name in `only` and no policy declares: the daemon shows nobody of them. */
function unknownViewerGroups({ sets }: LoadedPolicies, { config, places }: LoadedConfig): readonly Problem[] {
  return (config?.auth?.viewers ?? []).flatMap(({ only = [], workspaces }, viewer) => {
    const names = workspaces.includes('*') ? [...sets.keys()] : workspaces
    const read = names.flatMap((name) => sets.get(name)?.set ?? [])
    if (read.length < names.length) return []
    const declared = new Set(read.flatMap(({ groups }) => groups.map(({ scope }) => scope.id)))
    return only.flatMap((id, index) => {
      if (declared.has(id)) return []
      const message = `viewers show only the people of group:${id}, and no policy of ${names.join(', ')} declares it`
      const place = places?.get(`viewers[${viewer}].only.groups[${index}]`)
      return [{ severity: 'error', code: 'AUTH', message, hint: 'correct only.groups, or the policies', ...place } as const]
    })
  })
}

/** What is found in each workspace. */
function validated({ sets, problemsOf }: LoadedPolicies, { config, configured }: LoadedConfig) {
  const chosen = configured && new Set(config?.workspaces.map(({ name }) => name))
  return [...sets]
    .filter(([name]) => !chosen || chosen.has(name))
    .map(([workspace, loaded]) => {
      const { set, digest, revision } = loaded
      return {
        workspace,
        /** What platform declares is; false: what a team declares in its envelope is not. */
        valid: !hasErrors(problemsOf.get(workspace) ?? []),
        policyDigest: digest,
        revision,
        ...amountsOf(loaded),
        peopleRules: set.peopleRules.length,
        pools: set.pools.length,
        groups: set.groups.length,
        protected: set.protectedPeople.length,
        approvals: set.approvals.length,
      }
    })
}

type ValidatedWorkspace = ReturnType<typeof validated>[number]

interface Validation {
  /** The config file, when it is valid. */
  readonly file?: string
  readonly workspaces: readonly ValidatedWorkspace[]
  readonly problems: readonly Problem[]
}

/** Text has its problems on stderr, as compilers do. JSON and Markdown are one document on stdout. */
function show(validation: Validation, config: LoadedConfig, { output }: Flags, cli: Cli): void {
  const { file, workspaces } = validation
  const problems = validation.problems.toSorted(compareProblems)
  switch (output) {
    case 'json':
      // `{apiVersion, kind: "Validation", valid, workspaces[], problems[]}` (choice).
      cli.stdout.write(documentText('Validation', { valid: !hasErrors(problems), workspaces, problems }))
      break
    case 'markdown':
      // Without a valid config it is not known whether people may be named.
      cli.stdout.write(validationMarkdown(workspaces, problems.map(labelsFor(config.config?.people ?? 'hash', undefined).all)))
      break
    case 'text':
      cli.stderr.write(problemsText(validation.problems, painter(cli.stderr)))
      cli.stdout.write(
        present(file !== undefined && `${file}: valid`, workspaces.map(summary))
          .map((line) => `${line}\n`)
          .join(''),
      )
  }
}

/** `acme: valid: 14 caps (3 groups), 2 grants in 2 documents, policies 9a1b2c3d4e5f`. */
function summary(one: ValidatedWorkspace): string {
  const groups = one.groups > 0 ? ` (${count(one.groups, 'group')})` : ''
  const revision = one.revision === '' ? '' : ` at ${shortRevision(one.revision)}`
  const rules = one.peopleRules > 0 ? `, ${count(one.peopleRules, 'rule')}` : ''
  const pools = one.pools > 0 ? `, ${count(one.pools, 'pool')}` : ''
  return `${plain(one.workspace)}: ${one.valid ? 'valid' : 'not valid'}: ${count(one.rules, 'cap')}${groups}${rules}${pools}, ${count(one.grants, 'grant')} in ${count(one.documents, 'document')}, policies ${one.policyDigest}${revision}`
}

const MARKDOWN_ROOM = 55_000

/** For a comment on a pull request: the verdict, then every problem with its place. */
function validationMarkdown(workspaces: readonly ValidatedWorkspace[], problems: readonly Problem[]): string {
  const { lines, left } = fitting(problems.map(problemItem), MARKDOWN_ROOM)
  return markdownText([
    '### capkeeper: validate',
    hasErrors(problems) ? `**Not valid: ${problemCount(problems)}.**` : '**Valid.**',
    workspaces.map((one) => `- ${escaped(summary(one))}`).join('\n'),
    lines.join('\n'),
    left > 0 ? `${count(left, 'problem')} left out for length; \`capkeeper validate\` shows all.` : '',
  ])
}

function problemItem(problem: Problem): string {
  const place = problem.at ? `${code(`${problem.at.file}:${problem.at.line}:${problem.at.column}`)} ` : ''
  const hint = problem.hint === undefined ? '' : `; ${withCommands(problem.hint)}`
  return `- ${place}**${problem.severity}**: ${withCommands(problem.message)}${hint}`
}
