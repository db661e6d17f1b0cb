// Works out edits and proves them: the edited texts are loaded as all texts are, and must declare exactly what was asked for, with no more problems
// than before. Of small policies it does so on the calling thread, of others in a thread with bounds, as they are loaded. It writes nothing.
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { InputError, type Problem } from '../../core/model/problem.ts'
import { compareText } from '../../core/model/scope.ts'
import type { Clock } from '../../ports.ts'
import { READING_DEADLINE_MS, SMALL_BYTES, SMALL_FILES, THREAD_MEMORY_MIB } from '../bounds.ts'
import { nameOf } from '../join.ts'
import { AT_ONCE } from '../load/disk.ts'
import { listing, MAX_BYTES_TOGETHER, MAX_FILE_BYTES, type PolicyText } from '../load/files.ts'
import { loadPolicies } from '../load/load.ts'
import type { KeptTexts, LoadedPolicies, LoadOptions } from '../load/loaded.ts'
import { type PolicyDocument, parsePolicyText } from '../parse.ts'
import { type Edit, foreignTo, subjectOf } from './edit.ts'
import { type Change, ChoiceError, type Place, placesIn } from './entries.ts'
import { spliced } from './layout.ts'
import { type NamedGroup, stepOf } from './step.ts'

/** What is edited, where. `edits` are made one after the other. */
export interface EditInput {
  readonly paths: readonly string[]
  readonly options: LoadOptions
  readonly edits: readonly WorkspaceEdit[]
  /** As `--file` names it. */
  readonly file?: string
  /** Only documents of this workspace. */
  readonly workspace?: string
  /** Groups that the config names: they stay declared. */
  readonly named?: readonly NamedGroup[]
}

/** `workspace`: only in its documents. `because`: why, for those who did not ask. */
export type WorkspaceEdit = Edit & { readonly workspace?: string; readonly because?: string }

/** A file whose text changes. */
export interface EditedFile {
  readonly shown: string
  readonly real: string
  readonly before: string
  readonly after: string
}

/** One edit that changes something. */
export interface MadeEdit {
  readonly subject: string
  readonly workspace: string
  readonly file: string
  readonly because?: string
}

/** `refused`: exit code 65; `choice`: wrong usage; `nothing`: why edits change nothing. */
export type EditPlan =
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'choice'; readonly message: string }
  | {
      readonly kind: 'proven'
      readonly files: readonly EditedFile[]
      readonly made: readonly MadeEdit[]
      readonly nothing: readonly string[]
      /** New warnings that say what was asked for means. */
      readonly warnings: readonly Problem[]
    }

/** Works out edits and proves them. Never rejects for bad input. */
export async function planEdits(input: EditInput): Promise<EditPlan> {
  try {
    return await proven(input)
  } catch (error) {
    if (error instanceof InputError) return { kind: 'refused', problems: error.problems }
    if (error instanceof ChoiceError) return { kind: 'choice', message: error.message }
    throw error
  }
}

/** The texts are loaded twice, before the edit and after it. */
const LOADS = 2

/** `planEdits` that never ends the process, with the deadline of loading for each time that texts are read. Never throws for bad input. */
export async function planEditsAside(input: EditInput, clock: Clock): Promise<EditPlan> {
  const cwd = input.options.cwd ?? process.cwd()
  const { bytes, files } = await listing(AT_ONCE, input.paths, cwd, () => undefined)
  if (bytes <= SMALL_BYTES && files.length <= SMALL_FILES) return planEdits(input)
  const { beside, runAside } = await import('../load/aside.ts')
  const outcome = await runAside<EditPlan>({
    file: beside(import.meta.url, 'plan-thread'),
    data: { ...input, options: { ...input.options, cwd } },
    clock,
    // Each edit reads the text that the one before it wrote.
    deadlineMs: (LOADS + input.edits.length) * READING_DEADLINE_MS,
    memory: { ...THREAD_MEMORY_MIB, maxOldGenerationSizeMb: LOADS * THREAD_MEMORY_MIB.maxOldGenerationSizeMb },
  })
  if (outcome.kind === 'answer') return outcome.answer
  const why = {
    memory: 'need more memory to be edited than is given',
    time: 'were not edited in time',
    error: `cannot be edited: ${outcome.message}`,
  }[outcome.kind]
  const code = outcome.kind === 'error' ? 'EDIT_UNPROVEN' : 'TOO_LARGE'
  const hint = 'edit them by hand, or split the files'
  return { kind: 'refused', problems: [{ severity: 'error', code, message: `the policies ${why}`, hint }] }
}

async function proven(input: EditInput): Promise<EditPlan> {
  const worked = await workOut(input)
  const { files, made, nothing } = worked
  // An edit that says that it changes something and leaves every text as it was is refused as well.
  return { kind: 'proven', files, made, nothing, warnings: made.length > 0 ? await prove(input, worked) : [] }
}

/** Apart from the proof, so that the trees of the texts before are gone when the texts after are loaded. */
async function workOut(input: EditInput) {
  const { kept, ...before } = await loadPolicies(input.paths, { ...input.options, keepTrees: true, asWritten: true })
  if (before.sets.size === 0) throw new InputError(unloaded(before.problems, kept?.texts ?? []))
  const desk = openDesk(input, kept ?? { texts: [], documents: new Map() })
  const ended = input.edits.flatMap((edit) => makeOne(edit, desk, before))
  const files = desk.changed()
  refuseLarge(files, desk.texts)
  refuseForeign(files)
  return {
    before,
    wanted: desk.wanted(),
    files,
    made: ended.filter((one) => typeof one !== 'string'),
    nothing: ended.filter((one) => typeof one === 'string'),
  }
}

/** Why a set does not load. A file with errors that a program fills in or encrypts is told as such. */
function unloaded(problems: readonly Problem[], texts: readonly PolicyText[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const files = new Set(errors.map(({ at }) => at?.file))
  const foreign = texts.flatMap(({ shown, text }) => (files.has(shown) ? (foreignTo(shown, text) ?? []) : []))
  const told = new Set(foreign.map(({ at }) => at?.file))
  return [...foreign, ...errors.filter(({ at }) => !told.has(at?.file))]
}

/** An address or id may stand in several lists: its removal is made until it stands in none. */
function makeOne(edit: WorkspaceEdit, desk: Desk, before: LoadedPolicies): readonly (MadeEdit | string)[] {
  const made: MadeEdit[] = []
  for (;;) {
    const step = stepOf(edit, { ...mayHold(edit, desk.around(edit.workspace)), loaded: before.sets, now: desk.now, named: desk.named })
    if ('nothing' in step) return made.length > 0 ? made : [step.nothing]
    const { place } = step
    const foreign = foreignTo(place.file.shown, place.file.text)
    if (foreign) throw new InputError([foreign])
    if (!before.sets.has(place.workspace))
      throw new InputError(unloaded(before.problemsOf.get(place.workspace) ?? before.problems, desk.texts))
    desk.apply(place, step)
    made.push({ subject: subjectOf(edit), workspace: place.workspace, file: place.file.shown, because: edit.because })
    if (edit.kind !== 'remove' || !('email' in edit.target || 'id' in edit.target)) return made
  }
}

/** Protected people and approvals are platform's to say, never a team's in its envelope. */
function mayHold({ kind }: Edit, around: ReturnType<Desk['around']>): ReturnType<Desk['around']> {
  if (kind !== 'protect' && kind !== 'approve') return around
  const ofPlatform = ({ document }: Place): boolean => document.envelope === undefined
  const places = around.places.filter(ofPlatform)
  if (places.length === 0 && around.places.length > 0)
    throw new ChoiceError('protected people and approvals may not stand in a file of an envelope; choose one of platform’s with --file')
  return { places, all: around.all.filter(ofPlatform) }
}

/** The texts as edited so far. */
type Desk = ReturnType<typeof openDesk>

function openDesk({ options, file: wantedFile, workspace: only, named = [] }: EditInput, { texts, documents }: KeptTexts) {
  const cwd = options.cwd ?? process.cwd()
  const files = new Map(texts.map((file) => [file.shown, file]))
  const now = new Map(texts.map((file) => [file.shown, file.text]))
  const stale = new Set<string>()
  let places: readonly Place[] = [...documents].flatMap(([workspace, some]) =>
    some.flatMap((document) => {
      const [file, { root }] = [files.get(document.file), document]
      return file && root ? [{ workspace, file, document: { ...document, root }, wanted: meaningOf(document) }] : []
    }),
  )
  /** Documents keep their names and their order when a text is edited. */
  const refreshed = (place: Place): Place => {
    if (!stale.has(place.file.shown)) return place
    const text = now.get(place.file.shown) ?? ''
    const { documents } = parsePolicyText(place.file.shown, text, { keepTrees: true })
    const document = documents.find(({ name }) => name.value === place.document.name.value)
    if (!document?.root || meaningOf(document) !== place.wanted) throw new InputError([somethingElse(place.workspace)])
    return { ...place, file: { ...place.file, text }, document: { ...document, root: document.root } }
  }
  return {
    texts,
    named,
    now: options.now ?? 0,
    around(workspace: string | undefined) {
      places = places.map(refreshed)
      stale.clear()
      const all = places.filter((place) => (workspace ?? only ?? place.workspace) === place.workspace)
      return { all, places: placesIn(wantedFile, all, (place, path) => isSameFile(place.file, resolve(cwd, path), cwd)) }
    },
    apply(place: Place, { splices, wanted }: Change): void {
      const { shown, text } = place.file
      const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
      now.set(shown, mark + spliced(text.slice(mark.length), splices))
      stale.add(shown)
      places = places.map((one) => (one === place ? { ...one, wanted: meaningOf(one.document, wanted) } : one))
    },
    /** What the documents of each workspace are to say. */
    wanted: () =>
      new Map([...Map.groupBy(places, ({ workspace }) => workspace)].map(([name, some]) => [name, some.map(({ wanted }) => wanted)])),
    changed: (): readonly EditedFile[] =>
      texts.flatMap(({ shown, real, text: before }) => {
        const after = now.get(shown) ?? before
        return after === before ? [] : [{ shown, real, before, after }]
      }),
  }
}

function isSameFile({ shown, real }: PolicyText, path: string, cwd: string): boolean {
  if (resolve(cwd, shown) === path) return true
  try {
    return realpathSync(path) === real
  } catch {
    return false
  }
}

/** Loads the edited texts; returns the new warnings that are what was asked for. Throws an `InputError` unless exactly that was declared. */
async function prove(input: EditInput, { before, wanted, files }: Awaited<ReturnType<typeof workOut>>): Promise<readonly Problem[]> {
  const replaced = new Map(files.map(({ real, after }) => [real, after]))
  const { kept, ...after } = await loadPolicies(input.paths, { ...input.options, replaced, asWritten: true, keepTrees: true })
  const fresh = newProblems(before.problems, after.problems)
  const meant = fresh.filter((problem) => isMeant(problem, input.edits))
  const others = fresh.filter((problem) => !meant.includes(problem))
  if (others.length > 0)
    throw new InputError([
      unproven(`the edit is refused: the policies would have ${others.length} more ${others.length === 1 ? 'problem' : 'problems'}`),
      ...others,
    ])
  const differing = [...new Set([...before.sets.keys(), ...after.sets.keys()])].find((name) => {
    const got = (kept?.documents.get(name) ?? []).map((document) => meaningOf(document))
    return !before.sets.has(name) || !after.sets.has(name) || !isDeepStrictEqual(got, wanted.get(name) ?? [])
  })
  if (differing !== undefined) throw new InputError([somethingElse(differing)])
  return meant
}

const somethingElse = (workspace: string): Problem =>
  unproven(`the edit is refused: the policies of ${workspace} would declare something else than was asked for`)

/** What a document says: the order of keys makes no difference, and an empty list says nothing. */
const meaningOf = ({ file, name, root }: PolicyDocument, value: unknown = root?.value): string =>
  `${file} ${name.value} ${JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one
    const said = Object.entries(one).filter(([, it]) => !Array.isArray(it) || it.length > 0)
    return Object.fromEntries(said.toSorted(([a], [b]) => compareText(a, b)))
  })}`

const unproven = (message: string): Problem => ({
  severity: 'error',
  code: 'EDIT_UNPROVEN',
  message,
  hint: 'nothing was written; make the change by hand',
})

/** Problems of which there are more than before, by code; places move with the text. */
function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const kind = ({ severity, code }: Problem): string => `${severity} ${code}`
  const old = Map.groupBy(before, kind)
  return [...Map.groupBy(after, kind)].flatMap(([key, problems]) => {
    const known = old.get(key) ?? []
    if (problems.length <= known.length) return []
    const messages = new Set(known.map(({ message }) => message))
    const fresh = problems.filter(({ message }) => !messages.has(message))
    return fresh.length > 0 ? fresh : problems.slice(known.length)
  })
}

/** `none` falls back to an ancestor's cap: who asks for `none` is told so. */
const isMeant = ({ code, message }: Problem, edits: readonly Edit[]): boolean =>
  code === 'NONE_FALLS_BACK' &&
  edits.some((edit) => edit.kind === 'cap' && edit.cap === 'none' && message.includes(` ${nameOf(edit.scope)}:`))

/** What is written must be edited again. */
function refuseForeign(files: readonly EditedFile[]): void {
  if (files.some(({ shown, after }) => foreignTo(shown, after)))
    throw new ChoiceError(
      'a text with {{ }}, {% %} or <% %> would make the file look like a template, and ENC[ like an encrypted one; write it in other words',
    )
}

/** What is written must be read again. `texts`: of all files, as they were. */
function refuseLarge(files: readonly EditedFile[], texts: readonly PolicyText[]): void {
  const refuse = (message: string): never => {
    throw new InputError([{ severity: 'error', code: 'TOO_LARGE', message, hint: 'split it into several files first' }])
  }
  for (const { shown, after } of files) {
    const size = Buffer.byteLength(after)
    if (size > MAX_FILE_BYTES) refuse(`${shown} would have ${size} bytes, at most ${MAX_FILE_BYTES} are read`)
  }
  const before = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const together = files.reduce((sum, file) => sum + Buffer.byteLength(file.after) - Buffer.byteLength(file.before), before)
  if (together > MAX_BYTES_TOGETHER)
    refuse(`the policy files would have ${together} bytes together, at most ${MAX_BYTES_TOGETHER} are read`)
}
