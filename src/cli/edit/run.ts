// `edit`: plans the edits, shows them, and writes the files. It reads no key, and uses no network but the ledger's, for `tidy`.
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff'
import { compareProblems, printable } from '../../core/escape/text.ts'
import { hasErrors, InputError, messageOf, type Problem } from '../../core/model/problem.ts'
import { type LoadedConfig, loadConfigAside } from '../../daemon/config/config.ts'
import { groupsShownOf } from '../../daemon/http/auth.ts'
import type { Edit } from '../../policy/edit/edit.ts'
import { type EditedFile, type EditInput, type EditPlan, planEditsAside, type WorkspaceEdit } from '../../policy/edit/plan.ts'
import { ChangedError, writeEdits } from '../../policy/edit/write.ts'
import { type Cli, CommandError, EXIT, inputExit, type Paint, painter, type Style, UsageError } from '../shared/context.ts'
import { policyPaths, problemsText } from '../shared/problems.ts'
import { documentText, tellLine } from '../shared/text.ts'
import type { EditFlags } from './command.ts'

/** Texts with more lines that differ are shown as one change: the shortest way through so many takes seconds to find. */
const MOST_DIFFERENCES = 2_000

/** Makes edits. Exits 2 with `--check` when there is something to do, 64 where a choice is needed, and 65 where an edit is refused. */
export async function editCommand(edits: readonly Edit[], flags: EditFlags, cli: Cli): Promise<void> {
  await makeEdits(edits, { config: await editedConfig(flags, cli), flags, cli })
}

/** The config and the policies that it, or a flag, names. Throws an `InputError`, or a `UsageError` without policies. */
export async function editedConfig(flags: EditFlags, cli: Cli): Promise<LoadedConfig> {
  const config = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (hasErrors(config.problems)) throw new InputError(config.problems)
  if (policyPaths(config.config).length === 0)
    throw new UsageError('no policies to edit: name files or folders with --policies, or a config file with --config')
  return config
}

interface Making {
  readonly config: LoadedConfig
  readonly flags: EditFlags
  readonly cli: Cli
}

/** Plans edits, shows them, and writes them unless `--check` is given. */
export async function makeEdits(edits: readonly WorkspaceEdit[], making: Making): Promise<void> {
  const { flags, cli } = making
  const plan = await planEditsAside(inputOf(edits, making), cli.clock)
  if (plan.kind === 'choice') throw new UsageError(plan.message)
  if (plan.kind === 'refused') return refuse(plan.problems, making)
  const isWritten = plan.files.length > 0 && !flags.check
  const problems = isWritten ? write(plan.files, making) : []
  if (problems.length > 0) return refuse(problems, making)
  show(plan, isWritten, making)
  cli.finish(flags.check && plan.files.length > 0 ? EXIT.pending : EXIT.done)
}

function inputOf(edits: readonly WorkspaceEdit[], { config, flags, cli }: Making): EditInput {
  const { configured } = config
  const only = flags.workspace
  return {
    paths: policyPaths(config.config),
    options: { workspaces: configured, workspace: only, now: cli.clock.now() },
    edits,
    file: flags.file,
    workspace: configured && only !== undefined ? only : undefined,
    named: config.config?.workspaces.flatMap(({ name: workspace, notify }) => [
      ...groupsShownOf(config.config?.auth?.viewers, workspace).map((id) => ({ workspace, id, by: 'an entry of viewers' })),
      ...(notify?.settings.owners ?? []).flatMap(({ of }) =>
        of.kind === 'group' ? { workspace, id: of.id, by: 'an entry of notify.owners' } : [],
      ),
    ]),
  }
}

function refuse(problems: readonly Problem[], { flags, cli }: Making): void {
  if (flags.output === 'json')
    cli.stdout.write(cli.secrets.redact(editJson({ files: [], made: [], nothing: [], warnings: problems }, false)))
  else cli.stderr.write(cli.secrets.redact(problemsText(problems, painter(cli.stderr))))
  cli.finish(inputExit(problems))
}

/** Returns why a file cannot be replaced. */
function write(files: readonly EditedFile[], { flags, cli }: Making): readonly Problem[] {
  try {
    writeEdits(files)
  } catch (error) {
    if (error instanceof InputError) return error.problems
    if (error instanceof ChangedError) throw new CommandError(error.message)
    throw new CommandError(`${files.map(({ shown }) => shown).join(', ')} could not be written: ${messageOf(error)}; the old text stays`)
  }
  if (flags.output === 'diff') for (const { shown } of files) tellLine(cli, `wrote ${shown}`)
  return []
}

type Proven = Extract<EditPlan, { readonly kind: 'proven' }>

function show(plan: Proven, isWritten: boolean, { flags, cli }: Making): void {
  const { files, made, nothing, warnings } = plan
  const { stdout, stderr, secrets } = cli
  if (flags.output === 'json') {
    stdout.write(secrets.redact(editJson(plan, isWritten)))
    return
  }
  const diff = secrets.redact(files.map(diffOf).join(''))
  // A terminal is read by a person, anything else by a program that applies the diff.
  stdout.write(stdout.isTTY === true ? forPeople(diff, painter(stdout)) : diff)
  for (const { subject, because } of made) if (because !== undefined) tellLine(cli, `${subject}: ${because}`)
  for (const why of nothing) tellLine(cli, `nothing to do: ${why}`)
  stderr.write(secrets.redact(problemsText(warnings, painter(stderr))))
}

const COLOURS: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' }

const forPeople = (diff: string, paint: Paint): string =>
  printable(diff.replaceAll('\r\n', '\n'))
    .split('\n')
    .map((line) => {
      const colour = COLOURS[line.charAt(0)]
      return colour ? paint(colour, line) : line
    })
    .join('\n')

/** A unified diff, as git writes it. */
function diffOf({ shown, before, after }: EditedFile): string {
  const [oldFileName, newFileName] = shown.startsWith('/') ? [shown, shown] : [`a/${shown}`, `b/${shown}`]
  const hunks =
    structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MOST_DIFFERENCES })?.hunks ?? whole(before, after)
  return formatPatch({ oldFileName, newFileName, oldHeader: '', newHeader: '', hunks }, FILE_HEADERS_ONLY)
}

/** All of one text in the place of all of the other; neither is ever empty. */
function whole(before: string, after: string): StructuredPatchHunk[] {
  const [old] = structuredPatch('', '', before, '').hunks
  const [now] = structuredPatch('', '', '', after).hunks
  return old && now ? [{ ...old, newStart: now.newStart, newLines: now.newLines, lines: [...old.lines, ...now.lines] }] : []
}

/** `{apiVersion, kind: "Edit", changes, written, edits[], nothing[], files[], problems[]}`. */
const editJson = ({ files, made, nothing, warnings }: Omit<Proven, 'kind'>, isWritten: boolean): string =>
  documentText('Edit', {
    changes: files.length > 0,
    written: isWritten,
    edits: made,
    nothing,
    files: files.map((file) => ({ file: file.shown, diff: diffOf(file) })),
    problems: warnings.toSorted(compareProblems),
  })
