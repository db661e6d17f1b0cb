// Finds and reads the policy files of a list of paths. Folders are read recursively; hidden names are skipped, so that only the visible links of a
// mounted ConfigMap count, which lead through `..data`. A link must stay within its policy folder, but the path itself may be a link to anywhere
// (git-sync). All texts are of one state: files that change while they are read are read again.
import { isUtf8 } from 'node:buffer'
import { type BigIntStats, constants, type Dirent } from 'node:fs'
import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path'
import type { Problem, ProblemCode } from '../../core/model/problem.ts'
import { compareText } from '../../core/model/scope.ts'
import { FileError, identityOf, readBytes, whyUnread } from '../../files.ts'
import { MAX_PROBLEMS_TOGETHER, MAX_SET_TEXT } from '../bounds.ts'
import { withoutLine } from '../tree.ts'
import { type Place, placeAt, sourceOf } from '../yaml.ts'
import type { Disk } from './disk.ts'

/** Sets are kept in memory and in the ledger, once for each workspace, even when aliases make the files short. */
export function beyondText(said: readonly (readonly string[])[]): Problem | undefined {
  let length = 0
  for (const lines of said) for (const line of lines) length += line.length
  if (length <= MAX_SET_TEXT) return undefined
  const message = `the policies of all workspaces say ${length} characters together, at most ${MAX_SET_TEXT} are kept`
  return { severity: 'error', code: 'TOO_LARGE', message, hint: 'spread the workspaces over several daemons, or shorten the reasons' }
}

/** When not all problems are kept, errors come before warnings, so that invalid policies never look valid. */
export function bounded(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MAX_PROBLEMS_TOGETHER) return problems
  const kept = problems.toSorted((a, b) => compareText(a.severity, b.severity)).slice(0, MAX_PROBLEMS_TOGETHER)
  const message = `${problems.length} problems in all files together; the first ${MAX_PROBLEMS_TOGETHER} are shown`
  return [...kept, { severity: 'error', code: 'TOO_LARGE', message }]
}

/** A policy file. `shown` is the path as a user would type it, `real` the file behind all links, `roots` the given paths that contain it. */
interface PolicyFile {
  readonly shown: string
  readonly real: string
  readonly roots: readonly string[]
}

/** `stamp` changes when a file, a folder's content or a link changes; `folders` are the real folders that were read. */
interface Listing {
  readonly files: readonly PolicyFile[]
  readonly folders: readonly string[]
  readonly problems: readonly FileProblem[]
  readonly stamp: string
  /** Of all files together. */
  readonly bytes: number
}

/** A problem with a path. A workspace that reads one of `roots` does not have all of its policies. */
interface FileProblem {
  readonly problem: Problem
  readonly roots: readonly string[]
  /** The envelope in whose folder it is; absent: platform's. */
  readonly home?: string
}

/** The envelope to which a real path belongs; undefined: platform's. */
export type HomeOf = (real: string) => string | undefined

export interface PolicyText extends PolicyFile {
  readonly text: string
  /** The envelope in whose folder it is; absent: platform's. */
  readonly home?: string
}

export interface FoundFile extends Omit<PolicyText, 'text'> {
  readonly bytes: Buffer
}

/** Policy files as they were at one time. */
export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly problems: readonly FileProblem[]
  readonly stamp: string
}

/** The stamp of files that do not answer, which is a change as well. */
export const STALLED = 'stalled'

const MAX_FILES = 10_000
/** Names in all folders together, hidden ones and other files included. */
const MAX_NAMES = 100_000
const MAX_DEPTH = 32
/** Of one file, and of all policy files together. docs/operations.md, Bounds. */
export const MAX_FILE_BYTES = 1024 * 1024
export const MAX_BYTES_TOGETHER = 16 * 1024 * 1024
const MAX_READINGS = 5

interface Walk {
  readonly disk: Disk
  readonly root: string
  readonly realRoot: string
  readonly found: Map<string, { shown: string; roots: string[]; stamp: string }>
  /** Their entries that matter, by name; undefined where there are too many. A folder is read and counted once, however many paths lead to it. */
  readonly folders: Map<string, readonly Dirent[] | undefined>
  readonly seen: Set<string>
  readonly problems: FileProblem[]
  /** Each envelope has bounds of its own, so that none uses up what others need; '' for platform. */
  readonly spent: Map<string, Spent>
  readonly homeOf: HomeOf
}

interface Spent {
  names: number
  files: number
  bytes: number
}

/** What one envelope may use of names, files and bytes. */
const MAX_OF_ENVELOPE: Spent = { names: 2_000, files: 200, bytes: 256 * 1024 }

function spentAt({ spent, homeOf }: Pick<Walk, 'spent' | 'homeOf'>, real: string): { readonly spent: Spent; readonly most: Spent } {
  const home = homeOf(real)
  const one = spent.get(home ?? '') ?? { names: 0, files: 0, bytes: 0 }
  spent.set(home ?? '', one)
  return { spent: one, most: home === undefined ? { names: MAX_NAMES, files: MAX_FILES, bytes: MAX_BYTES_TOGETHER } : MAX_OF_ENVELOPE }
}

/** Lists the policy files of `paths`, each real file once, sorted by the path shown. Never throws. */
export async function listing(disk: Disk, paths: readonly string[], cwd: string, homeOf: HomeOf): Promise<Listing> {
  const found: Walk['found'] = new Map()
  const folders: Walk['folders'] = new Map()
  const problems: FileProblem[] = []
  const spent: Walk['spent'] = new Map()
  for (const path of new Set(paths)) await listRoot(path, cwd, { disk, found, folders, problems, spent, homeOf })
  const files = [...found].map(([real, { shown, roots }]) => ({ real, shown, roots })).sort((a, b) => compareText(a.shown, b.shown))
  const stamps = [...found].map(([real, { shown, stamp }]) => `${shown}|${real}|${stamp}`)
  const stamp = [...stamps, ...problems.map(({ problem }) => problem.message)].sort().join('\n')
  return { files, folders: [...folders.keys()], problems, stamp, bytes: [...spent.values()].reduce((sum, { bytes }) => sum + bytes, 0) }
}

async function listRoot(path: string, cwd: string, into: Omit<Walk, 'root' | 'realRoot' | 'seen'>): Promise<void> {
  const absolute = resolve(cwd, path)
  const shown = shownPath(path, cwd)
  try {
    const stats = await into.disk.stats(absolute)
    // A pipe such as /dev/fd/63 has no path behind its link.
    const realRoot = stats.isFile() || stats.isDirectory() ? await into.disk.realPath(absolute) : absolute
    const walk = { ...into, root: path, realRoot, seen: new Set<string>() }
    if (stats.isDirectory()) await walkFolder(walk, realRoot, shown, 0)
    else addFile(walk, realRoot, shown === '' ? path : shown, stats)
  } catch (error) {
    into.problems.push({ ...fileProblem([path], shown || path, error), home: into.homeOf(absolute) })
  }
}

/** Relative to the working directory when it is within it, else as typed; '' for the working directory itself. */
export function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, resolve(cwd, path))
  return isOutside(way) ? normalize(path) : way
}

const isOutside = (way: string): boolean => way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)

async function walkFolder(walk: Walk, real: string, shown: string, depth: number): Promise<undefined> {
  if (walk.seen.has(real)) return
  walk.seen.add(real)
  if (depth > MAX_DEPTH) return complain(walk, real, shown, 'TOO_LARGE', `folders are nested more than ${MAX_DEPTH} deep`)
  if (!walk.folders.has(real)) await readFolder(walk, real)
  const entries = walk.folders.get(real)
  if (!entries) {
    const what = `and the folders before it have more than the ${spentAt(walk, real).most.names} names that are looked at`
    return complain(walk, real, shown, 'TOO_LARGE', what)
  }
  for (const entry of entries) {
    const path = join(shown, entry.name)
    try {
      await visitEntry(walk, join(real, entry.name), path, { depth, isLink: entry.isSymbolicLink() })
    } catch (error) {
      if (isPolicyName(entry.name) || !entry.isSymbolicLink())
        walk.problems.push({ ...fileProblem([walk.root], path, error), home: walk.homeOf(join(real, entry.name)) })
    }
  }
}

async function readFolder(walk: Walk, folder: string): Promise<void> {
  const { spent, most } = spentAt(walk, folder)
  const entries = await walk.disk.entries(folder, most.names - spent.names + 1)
  spent.names += entries.length
  // A folder may have very many other files: they are not even looked at.
  const some = entries.filter((entry) => !entry.name.startsWith('.') && (!entry.isFile() || isPolicyName(entry.name)))
  walk.folders.set(folder, spent.names > most.names ? undefined : some.sort((a, b) => compareText(a.name, b.name)))
}

const isPolicyName = (name: string): boolean => /\.ya?ml$/i.test(name)

async function visitEntry(
  walk: Walk,
  path: string,
  shown: string,
  { depth, isLink }: { depth: number; isLink: boolean },
): Promise<undefined> {
  const real = isLink ? await walk.disk.realPath(path) : path
  const stats = await walk.disk.stats(real)
  if (!stats.isDirectory() && !isPolicyName(path)) return
  const home = walk.homeOf(path)
  const isOut = isLink && isOutside(relative(walk.realRoot, real))
  if (isOut || (isLink && home !== undefined && walk.homeOf(real) !== home)) {
    const what = `is a link that leaves the ${isOut ? 'policy folder' : `folder of envelope ${home}`}: it leads to ${real}`
    return complain(walk, path, shown, 'LINK_OUTSIDE', what, 'copy its target into the folder')
  }
  if (stats.isDirectory()) await walkFolder(walk, real, shown, depth + 1)
  else addFile(walk, real, shown, stats)
}

function addFile(walk: Walk, real: string, shown: string, stats: BigIntStats): undefined {
  const refuse = (what: string, hint?: string): undefined => complain(walk, real, shown, 'TOO_LARGE', what, hint)
  if (!stats.isFile()) return complain(walk, real, shown, 'NOT_A_FILE', 'is not a regular file')
  if (stats.size > MAX_FILE_BYTES)
    return refuse(`has ${stats.size} bytes, at most ${MAX_FILE_BYTES} are read`, 'split it into several files')
  const known = walk.found.get(real)
  if (known) {
    if (!known.roots.includes(walk.root)) known.roots.push(walk.root)
    return
  }
  const { spent, most } = spentAt(walk, real)
  if (spent.files >= most.files) {
    spent.files += 1
    return spent.files > most.files + 1 ? undefined : refuse(`is one file more than the ${most.files} that are read`)
  }
  spent.bytes += Number(stats.size)
  if (spent.bytes > most.bytes)
    return refuse(`and the policy files before it have more than the ${most.bytes} bytes that are read together`)
  spent.files += 1
  walk.found.set(real, { shown, roots: [walk.root], stamp: identityOf(stats) })
}

function complain(walk: Walk, real: string, shown: string, code: ProblemCode, what: string, hint?: string): undefined {
  // An envelope's folder is reached from its own path, and from a folder above it.
  if (walk.problems.some(({ problem, home }) => home !== undefined && problem.code === code && problem.at?.file === shown)) return
  const at = { file: shown, line: 1, column: 1 }
  const problem: Problem = { severity: 'error', code, message: `${shown} ${what}`, at, hint }
  walk.problems.push({ problem, roots: [walk.root], home: walk.homeOf(real) })
}

function fileProblem(roots: readonly string[], shown: string, error: unknown): FileProblem {
  const place =
    error instanceof FileError ? { code: error.code, at: { file: shown, line: 1, column: 1 } } : { code: 'FILE_UNREADABLE' as const }
  return { problem: { severity: 'error', message: `${shown} ${whyUnread(error)}`, ...place }, roots }
}

/** Reads the policy files of `paths`, all of one state. Never throws. */
export async function readPolicyFiles(disk: Disk, paths: readonly string[], cwd: string, homeOf: HomeOf): Promise<FoundFiles> {
  let before = await listing(disk, paths, cwd, homeOf)
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const read = await readListed(disk, before, homeOf)
    const after = await listing(disk, paths, cwd, homeOf)
    if (after.stamp === before.stamp) return { ...read, stamp: after.stamp }
    before = after
  }
  const message = `the policy files changed during each of ${MAX_READINGS} readings; they are read again when they rest`
  return { files: [], problems: [{ problem: { severity: 'error', code: 'FILE_UNREADABLE', message }, roots: [...paths] }], stamp: '' }
}

async function readListed(disk: Disk, listing: Listing, homeOf: HomeOf): Promise<Omit<FoundFiles, 'stamp'>> {
  const files: FoundFile[] = []
  const problems = [...listing.problems]
  for (const file of listing.files) {
    const home = homeOf(file.real)
    try {
      const bytes = await disk.bytes(file.real, MAX_FILE_BYTES, constants.O_NOFOLLOW)
      files.push({ ...file, bytes, home })
    } catch (error) {
      problems.push({ ...fileProblem(file.roots, file.shown, error), home })
    }
  }
  return { files, problems }
}

/** What the files say, and what is no text. */
export function textsOf({ files, problems }: Omit<FoundFiles, 'stamp'>) {
  const texts: PolicyText[] = []
  const found = [...problems]
  for (const { bytes, ...file } of files) {
    const read = decoded(file.shown, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if ('text' in read) texts.push({ ...file, ...read })
    else found.push({ ...read, roots: file.roots, home: file.home })
  }
  return { texts, problems: found }
}

function decoded(shown: string, bytes: Buffer): { readonly text: string } | { readonly problem: Problem } {
  const refuse = (why: string, place: Place) => {
    const message = `${shown} cannot be read: ${why}: save it as UTF-8`
    return { problem: { severity: 'error', code: 'FILE_UNREADABLE', message, ...place } as const }
  }
  // The first letter of a file is ASCII, so that one of its two bytes is 0.
  const mark = bytes.subarray(0, 2).toString('hex')
  if (mark === 'fffe' || mark === 'feff' || (bytes.length > 1 && (bytes[0] === 0) !== (bytes[1] === 0)))
    return refuse('the text is UTF-16', { at: { file: shown, line: 1, column: 1 } })
  const text = bytes.toString('utf8')
  if (isUtf8(bytes)) return { text }
  const at = text.indexOf('\uFFFD')
  return refuse('the text is not UTF-8 here, as one in Latin-1 or Windows-1252', placeAt(sourceOf(shown, text), [at, at + 1]))
}

/** Reads a text file that is given by name, such as the config, whose lines may hold secrets. A pipe may be given, too, and the bound applies to it. */
export function readTextFile(
  path: string,
  cwd: string,
  read: (path: string) => Buffer = (absolute) => readBytes(absolute, MAX_FILE_BYTES),
): { readonly text: string } | { readonly problem: Problem } {
  const shown = shownPath(path, cwd) || path
  try {
    const found = decoded(shown, read(resolve(cwd, path)))
    return 'text' in found ? found : { problem: withoutLine(found.problem) }
  } catch (error) {
    return { problem: fileProblem([], shown, error).problem }
  }
}
