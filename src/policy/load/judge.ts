// Makes one policy set per workspace of the files that were read. It decides the workspace of each document, and which sets are whole. An incomplete set
// is never returned, so that the last good one stays in force. No file, document or workspace name is ever ignored. It looks at no disk.

import { resolve } from 'node:path'
import { compareProblems } from '../../core/escape/text.ts'
import type { Delegated, PolicyRevision, PolicySet } from '../../core/model/policy.ts'
import { hasErrors, type Problem } from '../../core/model/problem.ts'
import { DEFAULT_WORKSPACE } from '../bounds.ts'
import { joinDocuments, nameTaken } from '../join.ts'
import { type ParsedPolicyText, type PolicyDocument, parsePolicyText } from '../parse.ts'
import { didYouMean } from '../suggest.ts'
import { repeated } from '../tree.ts'
import { problemOn, quoted, type Source } from '../yaml.ts'
import { type DelegatedInputs, readDelegated } from './delegated.ts'
import { delegatedLines, digestOfLines, linesOf } from './digest.ts'
import { beyondText, bounded, type FoundFiles, type PolicyText, textsOf } from './files.ts'
import type { LoadedPolicies, LoadOptions, WorkspaceSource } from './loaded.ts'

/** Policies whose revision is not known yet. `from`: the given paths that it reads, and the files that it is made of, as shown. */
export interface Judged extends Omit<LoadedPolicies, 'sets'> {
  readonly sets: ReadonlyMap<string, Omit<PolicyRevision, 'revision'> & { readonly from: From }>
}

interface From {
  readonly paths: ReadonlySet<string>
  readonly files: ReadonlySet<string>
}

interface ParsedFile extends ParsedPolicyText {
  readonly file: PolicyText
  /** The workspaces that read it. */
  readonly readers: readonly string[]
}

type Assigned = ReturnType<typeof nothingAssigned>

interface Homeless {
  readonly document: PolicyDocument
  /** The workspaces that it may belong to. */
  readonly readers: readonly string[]
}

/** What the files that were read come to. */
export function judgePolicies(paths: readonly string[], found: FoundFiles, options: LoadOptions): Judged {
  const cwd = options.cwd ?? process.cwd()
  const { texts, problems: unread } = textsOf(found)
  const ofPlatform = unread.filter(({ home }) => home === undefined)
  const everything = texts.map((file) => ({ ...parseFile(file, options), file, envelope: file.home }))
  const parsed = everything.filter(({ envelope }) => envelope === undefined)
  const single = options.workspaces ? undefined : singleWorkspace(parsed, options.workspace)
  const workspaces = options.workspaces?.map(asSource) ?? [{ name: single ?? DEFAULT_WORKSPACE }]
  const readersOf = readersFinder(workspaces, cwd)
  const files: readonly ParsedFile[] = parsed.map((one) => ({ ...one, readers: readersOf(one.file.roots) }))
  const assigned = assign(files, workspaces, options.workspaces !== undefined)
  for (const { roots, problem } of ofPlatform) {
    const readers = readersOf(roots)
    for (const reader of readers) assigned.incomplete.add(reader)
    tell(assigned, readers, [problem])
  }
  checkNames(files, assigned)
  const joined = joinAll(files, workspaces, assigned, options)
  const { sets, theirs } = addDelegated({ everything, unread, joined, assigned, workspaces, options })
  const problems = new Set([...nothingIn(paths, found), ...[...assigned.told.values()].flatMap((some) => [...some])])
  const digested = withDigests(sets, files, new Map(paths.map((path) => [path, readersOf([path])])))
  const inOrder = (some: Iterable<Problem>) => bounded([...digested.tooMuch, ...[...some].sort(compareProblems)])
  return {
    sets: digested.sets,
    problems: inOrder(problems),
    ofEnvelopes: theirs.length > 0 ? theirs : undefined,
    problemsOf: new Map([...assigned.told].map(([name, told]) => [name, inOrder(told)])),
    files: texts.map(({ shown }) => shown),
    stamp: found.stamp,
    workspace: single,
    kept: options.keepTrees ? { texts, documents: assigned.documents } : undefined,
  }
}

function parseFile({ shown, text }: PolicyText, { refused, onFile, keepTrees = false }: LoadOptions): ParsedPolicyText {
  onFile?.(shown)
  const refusal = refused?.get(shown)
  if (!refusal) return warnedIfEmpty(parsePolicyText(shown, text, { keepTrees }))
  return { source: { file: shown, text: '', lineStarts: [0] }, documents: [], problems: [refusal], damaged: true }
}

function nothingIn(paths: readonly string[], { files, problems }: FoundFiles): readonly Problem[] {
  if (files.length + problems.length > 0 || paths.length === 0) return []
  const hint = 'policies are in files *.yaml or *.yml whose names do not begin with a dot'
  return [{ severity: 'warning', code: 'EMPTY_FILE', message: `there is no policy file in ${paths.join(', ')}`, hint }]
}

/** It can be read, and there is nothing in it but comments. */
const holdsNothing = ({ documents, damaged }: ParsedPolicyText): boolean => documents.length === 0 && !damaged

function warnedIfEmpty(parsed: ParsedPolicyText): ParsedPolicyText {
  if (!holdsNothing(parsed)) return parsed
  const { file } = parsed.source
  const hint = 'write a policy, or delete the file'
  const at = { file, line: 1, column: 1 }
  return {
    ...parsed,
    problems: [...parsed.problems, { severity: 'warning', code: 'EMPTY_FILE', message: `${file} holds no policy`, hint, at }],
  }
}

const asSource = (workspace: string | WorkspaceSource): WorkspaceSource => (typeof workspace === 'string' ? { name: workspace } : workspace)

/** Without a config file: `--workspace`, else the first name in the policies, else `default`. */
function singleWorkspace(parsed: readonly ParsedPolicyText[], flag: string | undefined): string {
  const named = parsed.flatMap(({ documents }) => documents.flatMap(({ workspace }) => workspace?.value ?? []))
  return flag ?? named[0] ?? DEFAULT_WORKSPACE
}

function readersFinder(workspaces: readonly WorkspaceSource[], cwd: string): (roots: readonly string[]) => readonly string[] {
  const sources = workspaces.map(({ name, policies, envelopes = [] }) => {
    const paths = policies && [policies, ...envelopes.map((one) => one.policies)].flat()
    return { name, roots: paths && new Set(paths.map((path) => resolve(cwd, path))) }
  })
  const everybody = workspaces.map(({ name }) => name)
  return (roots) => {
    const readers = sources.filter((source) => !source.roots || roots.some((root) => source.roots?.has(resolve(cwd, root))))
    return readers.length > 0 ? readers.map(({ name }) => name) : everybody
  }
}

const nothingAssigned = (workspaces: readonly WorkspaceSource[]) => ({
  documents: new Map(workspaces.map(({ name }): [string, PolicyDocument[]] => [name, []])),
  /** Documents of which it is not known to which workspace they belong. */
  homeless: [] as Homeless[],
  /** The workspaces of which whole documents or files are missing. */
  incomplete: new Set<string>(),
  /** Their problems, by workspace: with an error it is not whole. */
  told: new Map(workspaces.map(({ name }): [string, Set<Problem>] => [name, new Set()])),
})

function assign(files: readonly ParsedFile[], workspaces: readonly WorkspaceSource[], configured: boolean): Assigned {
  const assigned = nothingAssigned(workspaces)
  for (const file of files) {
    if (file.damaged) for (const reader of file.readers) assigned.incomplete.add(reader)
    const ofDocuments = new Set(file.documents.flatMap(({ problems }) => problems))
    const ofText = file.problems.filter((problem) => !ofDocuments.has(problem))
    tell(assigned, file.readers, ofText)
    for (const document of file.documents) {
      const { workspace, problem } = workspaceOf(document, file, workspaces, configured)
      tell(assigned, workspace === undefined ? file.readers : [workspace], [...document.problems, ...problem])
      if (workspace === undefined) assigned.homeless.push({ document, readers: file.readers })
      else assigned.documents.get(workspace)?.push(document)
    }
  }
  return assigned
}

function tell({ told }: Assigned, workspaces: readonly string[], problems: readonly Problem[]): void {
  for (const name of workspaces) for (const problem of problems) told.get(name)?.add(problem)
}

interface Home {
  readonly workspace?: string
  /** Why it is not known; none where that was reported with the document. */
  readonly problem: readonly Problem[]
}

/** The workspace of a document. */
function workspaceOf(document: PolicyDocument, file: ParsedFile, workspaces: readonly WorkspaceSource[], configured: boolean): Home {
  const { readers, source } = file
  const [only, ...others] = readers
  const { value, at } = document.workspace ?? { value: undefined, at: document.name.at }
  const homeless = (code: 'WORKSPACE_MISSING' | 'WORKSPACE_UNKNOWN', message: string, hint: string): Home => ({
    problem: [problemOn(source, at, 'error', code, message, { hint })],
  })
  if (value === undefined) {
    if (only !== undefined && others.length === 0) return { workspace: only, problem: [] }
    if (document.workspace) return { problem: [] }
    const message = `spec.workspace is missing, and ${readers.length} workspaces read this file`
    return homeless('WORKSPACE_MISSING', message, `write one of ${readers.join(', ')}`)
  }
  if (readers.includes(value)) return { workspace: value, problem: [] }
  const names = workspaces.map(({ name }) => name)
  if (names.includes(value)) {
    const message = `spec.workspace is ${quoted(value)}, whose policies do not include this file`
    return homeless('WORKSPACE_UNKNOWN', message, `add its path to the policies of ${value} in the config, or move it`)
  }
  const hint = configured
    ? didYouMean(value, names)
    : `this run is for the workspace ${names.join()}: choose another with --workspace, or list both in a config file`
  return homeless('WORKSPACE_UNKNOWN', `spec.workspace is ${quoted(value)}, and there is no such workspace`, hint)
}

/** The documents that a workspace reads must have different names. */
function checkNames(files: readonly ParsedFile[], assigned: Assigned): void {
  const reported = new Map<PolicyDocument, Problem>()
  const read = files.flatMap(({ documents, readers, source }) =>
    documents.flatMap((document) => readers.map((reader) => ({ document, reader, source }))),
  )
  const nameFor = ({ document: { name }, reader }: (typeof read)[number]) => (name.value === '' ? undefined : `${reader}\0${name.value}`)
  for (const { one, first } of repeated(read, nameFor)) {
    const problem = reported.get(one.document) ?? nameTaken(one.document, one.source, first.document.name.at)
    reported.set(one.document, problem)
    tell(assigned, [one.reader], [problem])
  }
}

/** The columns that policies may name, where a config says so. */
function columnsOf(workspaces: readonly WorkspaceSource[], readers: readonly string[]): { readonly columns?: readonly string[] } {
  const configured = workspaces.filter(({ name, policies }) => readers.includes(name) && policies !== undefined)
  return configured.length === 0 ? {} : { columns: configured.flatMap(({ directory }) => directory?.columns ?? []) }
}

function joinAll(
  files: readonly ParsedFile[],
  workspaces: readonly WorkspaceSource[],
  assigned: Assigned,
  { now }: LoadOptions,
): ReadonlyMap<string, Joint> {
  const sources: ReadonlyMap<string, Source> = new Map(files.map(({ source }) => [source.file, source]))
  const sets = new Map<string, Joint>()
  const copied = new Set(workspaces.flatMap(({ name, capSemantics }) => (capSemantics === 'copied' ? [name] : [])))
  /** Joins documents of one workspace; `readers` are those that it may be. */
  const join = (workspace: string, documents: readonly PolicyDocument[], readers: readonly string[], others: readonly PolicyDocument[]) => {
    const joined = joinDocuments({
      workspace,
      documents,
      others,
      sources,
      incomplete: readers.some((name) => assigned.incomplete.has(name)),
      copied: readers.every((name) => copied.has(name)),
      ...columnsOf(workspaces, readers),
      now,
    })
    tell(assigned, readers, joined.problems)
    return joined
  }
  for (const { name } of workspaces) {
    const documents = assigned.documents.get(name) ?? []
    const others = assigned.homeless.flatMap(({ document, readers }) => (readers.includes(name) ? [document] : []))
    const { set } = join(name, documents, [name], others)
    const isWhole = others.length === 0 && !assigned.incomplete.has(name) && !hasErrors([...(assigned.told.get(name) ?? [])])
    if (isWhole) sets.set(name, { set, files: documents.map(({ file }) => file) })
  }
  // Documents that name the same workspace belong together, whichever it is.
  for (const group of Map.groupBy(assigned.homeless, ({ document }) => document.workspace?.value ?? document).values()) {
    const documents = group.map(({ document }) => document)
    const readers = [...new Set(group.flatMap((one) => one.readers))]
    const others = files.flatMap((file) => file.documents).filter((document) => !documents.includes(document))
    join(documents[0]?.workspace?.value ?? '', documents, readers, others)
  }
  return sets
}

interface Delegating {
  readonly everything: readonly (ParsedPolicyText & { readonly file: PolicyText; readonly envelope: string | undefined })[]
  readonly unread: DelegatedInputs['unread']
  readonly joined: ReadonlyMap<string, Joint>
  readonly assigned: Assigned
  readonly workspaces: readonly WorkspaceSource[]
  readonly options: LoadOptions
}

/** Reads the files of envelopes beside the sets of platform, which they do not change; `theirs` are their problems. */
function addDelegated({ everything, unread, joined, assigned, workspaces, options }: Delegating) {
  const sets = new Map(joined)
  const theirs: Problem[] = []
  for (const { name, envelopes = [] } of workspaces) {
    if (envelopes.length === 0) continue
    const isOwn = (home: string | undefined): boolean => envelopes.some((one) => one.name === home)
    const documents = assigned.documents.get(name) ?? []
    const files = everything.flatMap(({ envelope, ...one }) => (envelope !== undefined && isOwn(envelope) ? [{ ...one, envelope }] : []))
    const joint = joined.get(name)
    const { set } = joint ?? joinDocuments({ workspace: name, documents, sources: new Map(), incomplete: true })
    const { now } = options
    const inputs = { envelopes, files, unread: unread.filter(({ home }) => isOwn(home)), documents, set, now }
    const { delegated, problems } = readDelegated(inputs)
    if (joint) sets.set(name, { ...joint, delegated })
    // Bounds cannot be judged without the whole policy of platform.
    const told = joint ? problems : problems.filter(({ code }) => !code.startsWith('ENVELOPE_'))
    theirs.push(...told)
    tell(assigned, [name], told)
    if (!options.asWritten) continue
    documents.push(...files.flatMap((file) => file.documents.map((document) => ({ ...document, envelope: file.envelope }))))
    if (joint)
      sets.set(name, {
        ...joint,
        delegated,
        ofPlatform: set,
        set: joinDocuments({ workspace: name, documents, sources: new Map(), incomplete: true }).set,
      })
  }
  return { sets, theirs }
}

interface Joint {
  readonly set: PolicySet
  /** Where `set` has what teams write as well. */
  readonly ofPlatform?: PolicySet
  readonly files: readonly string[]
  readonly delegated?: Delegated
}

/** The sets with digest, unless they are too large together. */
function withDigests(
  sets: ReadonlyMap<string, Joint>,
  all: readonly ParsedFile[],
  readersAt: ReadonlyMap<string, readonly string[]>,
): Pick<Judged, 'sets'> & { readonly tooMuch: readonly Problem[] } {
  const said = [...sets].map(([name, one]) => ({
    name,
    ...one,
    lines: [...linesOf(one.ofPlatform ?? one.set), ...delegatedLines(one.delegated)],
  }))
  const problem = beyondText(said.map(({ lines }) => lines))
  if (problem) return { sets: new Map(), tooMuch: [problem] }
  const digested = said.map(({ name, set, files, lines, delegated }) => {
    const empty = all.filter((one) => one.readers.includes(name) && holdsNothing(one)).map(({ file }) => file.shown)
    const from: From = {
      paths: new Set([...readersAt].flatMap(([path, readers]) => (readers.includes(name) ? [path] : []))),
      files: new Set([...files, ...(delegated?.files ?? []).map(({ file }) => file)]),
    }
    return [name, { set, digest: digestOfLines(lines), delegated, empty: empty.length > 0 ? empty : undefined, from }] as const
  })
  return { sets: new Map(digested), tooMuch: [] }
}
