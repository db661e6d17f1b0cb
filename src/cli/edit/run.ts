// `edit`: plans the edits, shows them, and writes the files. It reads no key, and uses no network but the ledger's, for `tidy`.
import { compareProblems, printable } from '../../core/escape/text.ts'
import { hasErrors, InputError, messageOf, type Problem } from '../../core/model/problem.ts'
import { type LoadedConfig, loadConfigAside } from '../../daemon/config/config.ts'
import { type Edit, looksLikeTemplate } from '../../policy/edit/edit.ts'
import { type EditedFile, type EditInput, type EditPlan, planEditsAside, type WorkspaceEdit } from '../../policy/edit/plan.ts'
import { ChangedError, writeEdits } from '../../policy/edit/write.ts'
import { type Cli, CommandError, EXIT, inputExit, type Paint, painter, type Style, UsageError } from '../shared/context.ts'
import { policyPaths, problemsText } from '../shared/problems.ts'
import { documentText, tellLine } from '../shared/text.ts'
import type { EditFlags } from './command.ts'

/** Unchanged lines around a change. */
const CONTEXT = 3

/** More differences than these are told as one: the lines between the first and the last. */
const MOST_STEPS = 1_000

interface Change {
  /** Lines of the old text, from and to, and of the new one. */
  readonly from: number
  readonly to: number
  readonly newFrom: number
  readonly newTo: number
}

/** A unified diff of a file; '' when the texts are the same. `file`: as it is shown, with `/` between folders. */
function unifiedDiff(file: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const changes = changesOf(old, now)
  if (changes.length === 0) return ''
  const name = (side: string): string => nameOf(file.startsWith('/') ? file : `${side}/${file}`)
  return [`--- ${name('a')}\n`, `+++ ${name('b')}\n`, ...hunksOf(changes).map((hunk) => hunkText(hunk, old, now))].join('')
}

/** In quotes where it would not be one line of plain text, as git writes it. */
const nameOf = (file: string): string => (/["\\\p{Cc}]/u.test(file) ? JSON.stringify(file) : file)

/** Each line with its end; the last one may have none. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function changesOf(old: readonly string[], now: readonly string[]): readonly Change[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const middle = { from: head, to: old.length - tail, newFrom: head, newTo: now.length - tail }
  if (middle.from === middle.to && middle.newFrom === middle.newTo) return []
  return shortest(old.slice(middle.from, middle.to), now.slice(middle.newFrom, middle.newTo), head) ?? [middle]
}

/** A way through both texts: the line of the old one that it has come to, and the last of its differences. */
interface Way {
  readonly x: number
  readonly last: Difference | undefined
}

interface Difference extends Change {
  readonly before: Difference | undefined
}

/** Myers' shortest edit script, as the runs of lines that differ; undefined beyond `MOST_STEPS`. */
function shortest(old: readonly string[], now: readonly string[], offset: number): readonly Change[] | undefined {
  let ways = new Map<number, Way>([[1, { x: 0, last: undefined }]])
  for (let step = 0; step <= Math.min(old.length + now.length, MOST_STEPS); step += 1) {
    const next = new Map<number, Way>()
    for (let k = -step; k <= step; k += 2) {
      const [below, above] = [ways.get(k - 1), ways.get(k + 1)]
      const way = above && (k === -step || !below || (k !== step && below.x < above.x)) ? above : below
      if (!way) continue
      let x = way === above ? way.x : way.x + 1
      const [to, newTo] = [x + offset, x - k + offset]
      const one = { from: way.x + offset, to, newFrom: way === above ? newTo - 1 : newTo, newTo }
      const last = step === 0 ? undefined : joined(way.last, one)
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1
      next.set(k, { x, last })
      if (x >= old.length && x - k >= now.length) return inOrder(last)
    }
    ways = next
  }
  return undefined
}

/** One more line that differs, with those directly before it. */
const joined = (last: Difference | undefined, one: Change): Difference =>
  last && last.to === one.from && last.newTo === one.newFrom ? { ...last, to: one.to, newTo: one.newTo } : { ...one, before: last }

const inOrder = (last: Difference | undefined): readonly Change[] => (last ? [...inOrder(last.before), last] : [])

/** Changes whose context would touch are shown together. */
function hunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const hunks: Change[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1)
    if (last && change.from - last.to <= 2 * CONTEXT) hunks.at(-1)?.push(change)
    else hunks.push([change])
  }
  return hunks
}

function hunkText(hunk: readonly Change[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (!first || !last) return ''
  const start = Math.max(0, first.from - CONTEXT)
  const end = Math.min(old.length, last.to + CONTEXT)
  const newStart = first.newFrom - (first.from - start)
  const newEnd = last.newTo + (end - last.to)
  const lines: string[] = []
  let at = start
  for (const { from, to, newFrom, newTo } of hunk) {
    lines.push(...marked(' ', old.slice(at, from)), ...marked('-', old.slice(from, to)), ...marked('+', now.slice(newFrom, newTo)))
    at = to
  }
  lines.push(...marked(' ', old.slice(at, end)))
  return `@@ -${range(start, end)} +${range(newStart, newEnd)} @@\n${lines.join('')}`
}

const marked = (mark: string, lines: readonly string[]): readonly string[] =>
  lines.map((line) => (line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`))

/** Lines count from 1; of none, the line before is named. */
const range = (start: number, end: number): string =>
  end - start === 1 ? `${start + 1}` : `${end > start ? start + 1 : start},${end - start}`

/** Makes edits. Exits 2 with `--check` when there is something to do, 64 where a choice is needed, and 65 where an edit is refused. */
export async function editCommand(edits: readonly Edit[], flags: EditFlags, cli: Cli): Promise<void> {
  for (const edit of edits) refuseTemplates(edit)
  const config = await editedConfig(flags, cli)
  await makeEdits(edits, { config, flags, cli })
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
  if (isWritten) write(plan.files, making)
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
  }
}

/** A file with such a text could not be edited again. */
function refuseTemplates(edit: Edit): void {
  const { reason, ticket, name } = { reason: undefined, ticket: undefined, name: undefined, ...edit }
  const found = [reason, ticket, name].find((text) => text !== undefined && looksLikeTemplate(text))
  if (found !== undefined)
    throw new UsageError('a text with {{ }}, {% %} or <% %> would make the file look like a template; write it in other words')
}

function refuse(problems: readonly Problem[], { flags, cli }: Making): void {
  if (flags.output === 'json')
    cli.stdout.write(cli.secrets.redact(editJson({ files: [], made: [], nothing: [], warnings: problems }, false)))
  else cli.stderr.write(cli.secrets.redact(problemsText(problems, painter(cli.stderr))))
  cli.finish(inputExit(problems))
}

function write(files: readonly EditedFile[], { flags, cli }: Making): void {
  try {
    writeEdits(files)
  } catch (error) {
    if (error instanceof InputError || error instanceof ChangedError)
      throw error instanceof InputError ? error : new CommandError(error.message)
    throw new CommandError(`${files.map(({ shown }) => shown).join(', ')} could not be written: ${messageOf(error)}; the old text stays`)
  }
  if (flags.output === 'diff') for (const { shown } of files) tellLine(cli, `wrote ${shown}`)
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

const diffOf = ({ shown, before, after }: EditedFile): string => unifiedDiff(shown, before, after)

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
