// Which files a list of policy paths means, and their texts. Folders are read recursively; hidden names are skipped, so that of a mounted
// ConfigMap only the visible links count, which lead through `..data`. A link may lead anywhere inside its policy folder and nowhere
// outside; the path itself may be a link to anywhere (git-sync's). What is given back is one state: files that change while they are
// read are read again.
import { isUtf8 } from 'node:buffer'
import { type BigIntStats, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path'
import type { Problem } from '../core/problem.ts'
import type { ProblemCode } from './codes.ts'
import { compareText } from './yaml.ts'

/** A policy file. `shown` is the path as a user would type it, `real` the file behind all links, `roots` the given paths that lead to it. */
export interface PolicyFile {
  readonly shown: string
  readonly real: string
  readonly roots: readonly string[]
}

/** `stamp` differs when a file, a folder's content or a link does; `folders` are the real folders that were looked into. */
export interface Listing {
  readonly files: readonly PolicyFile[]
  readonly folders: readonly string[]
  readonly problems: readonly FileProblem[]
  readonly stamp: string
}

/** A problem with a path; nobody who reads one of `roots` has all of its policies. */
export interface FileProblem {
  readonly problem: Problem
  readonly roots: readonly string[]
}

export interface PolicyText extends PolicyFile {
  readonly text: string
}

export interface ReadFiles {
  readonly texts: readonly PolicyText[]
  readonly problems: readonly FileProblem[]
}

const MAX_FILES = 10_000
const MAX_DEPTH = 32
const MAX_BYTES = 64 * 1024 * 1024
const MAX_READINGS = 5

interface Walk {
  readonly root: string
  readonly realRoot: string
  readonly found: Map<string, { shown: string; roots: string[]; stamp: string }>
  readonly folders: Set<string>
  readonly seen: Set<string>
  readonly problems: FileProblem[]
}

/** Lists the policy files beneath `paths`, each real file once, sorted by the path shown. Never throws. */
export function listPolicyFiles(paths: readonly string[], cwd: string): Listing {
  const found: Walk['found'] = new Map()
  const folders = new Set<string>()
  const problems: FileProblem[] = []
  for (const path of new Set(paths)) listRoot(path, cwd, { found, folders, problems })
  const files = [...found].map(([real, { shown, roots }]) => ({ real, shown, roots })).sort((a, b) => compareText(a.shown, b.shown))
  const stamps = [...found].map(([real, { shown, stamp }]) => `${shown}|${real}|${stamp}`)
  const stamp = [...stamps, ...problems.map(({ problem }) => problem.message)].sort().join('\n')
  return { files, folders: [...folders], problems, stamp }
}

function listRoot(path: string, cwd: string, into: Pick<Walk, 'found' | 'folders' | 'problems'>): void {
  const absolute = resolve(cwd, path)
  const shown = shownPath(path, cwd)
  try {
    const realRoot = realpathSync(absolute)
    const walk = { ...into, root: path, realRoot, seen: new Set<string>() }
    const stats = statSync(realRoot, { bigint: true })
    if (stats.isDirectory()) walkFolder(walk, realRoot, shown, 0)
    else addFile(walk, realRoot, shown === '' ? path : shown, stats)
  } catch (error) {
    into.problems.push(fileProblem([path], shown || path, error))
  }
}

/** Relative to the working directory when beneath it, else as typed; '' for the working directory itself. */
export function shownPath(path: string, cwd: string): string {
  const beneath = relative(cwd, resolve(cwd, path))
  return isOutside(beneath) ? normalize(path) : beneath
}

const isOutside = (way: string): boolean => way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)

function walkFolder(walk: Walk, real: string, shown: string, depth: number): undefined {
  if (walk.seen.has(real)) return
  walk.seen.add(real)
  walk.folders.add(real)
  if (depth > MAX_DEPTH) return complain(walk, shown, 'TOO_LARGE', `folders are nested more than ${MAX_DEPTH} deep`)
  const entries = readdirSync(real, { withFileTypes: true }).sort((a, b) => compareText(a.name, b.name))
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const path = join(shown, entry.name)
    try {
      visitEntry(walk, join(real, entry.name), path, { depth, isLink: entry.isSymbolicLink() })
    } catch (error) {
      if (isPolicyName(entry.name) || !entry.isSymbolicLink()) walk.problems.push(fileProblem([walk.root], path, error))
    }
  }
}

const isPolicyName = (name: string): boolean => /\.ya?ml$/i.test(name)

function visitEntry(walk: Walk, path: string, shown: string, { depth, isLink }: { depth: number; isLink: boolean }): undefined {
  const real = isLink ? realpathSync(path) : path
  const stats = statSync(real, { bigint: true })
  if (!stats.isDirectory() && !isPolicyName(path)) return
  if (isLink && isOutside(relative(walk.realRoot, real))) {
    return complain(
      walk,
      shown,
      'LINK_OUTSIDE',
      `is a link that leaves the policy folder: it leads to ${real}`,
      'copy what it leads to into the folder',
    )
  }
  if (stats.isDirectory()) walkFolder(walk, real, shown, depth + 1)
  else addFile(walk, real, shown, stats)
}

function addFile(walk: Walk, real: string, shown: string, stats: BigIntStats): undefined {
  if (!stats.isFile()) return complain(walk, shown, 'FILE_UNREADABLE', 'is not a regular file')
  if (stats.size > MAX_BYTES) return complain(walk, shown, 'TOO_LARGE', `has ${stats.size} bytes, at most ${MAX_BYTES} are read`)
  const known = walk.found.get(real)
  if (known) {
    if (!known.roots.includes(walk.root)) known.roots.push(walk.root)
    return
  }
  if (walk.found.size >= MAX_FILES) {
    if (walk.found.size === MAX_FILES) complain(walk, shown, 'TOO_LARGE', `is one file more than the ${MAX_FILES} that are read`)
    return
  }
  const stamp = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':')
  walk.found.set(real, { shown, roots: [walk.root], stamp })
}

function complain(walk: Walk, shown: string, code: ProblemCode, what: string, hint?: string): undefined {
  const problem: Problem = { severity: 'error', code, message: `${shown} ${what}`, ...(hint === undefined ? {} : { hint }) }
  walk.problems.push({ problem, roots: [walk.root] })
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ELOOP: 'is a link that leads back to itself',
  ENOTDIR: 'does not exist: a part of the path is a file',
}

function fileProblem(roots: readonly string[], shown: string, error: unknown): FileProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const reason = (code && REASONS[code]) ?? `cannot be read: ${code ?? (error instanceof Error ? error.message : String(error))}`
  return { problem: { severity: 'error', code: 'FILE_UNREADABLE', message: `${shown} ${reason}` }, roots }
}

/** Reads the policy files beneath `paths`, all of one state. Never throws. */
export function readPolicyFiles(paths: readonly string[], cwd: string): ReadFiles {
  let before = listPolicyFiles(paths, cwd)
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const read = readListed(before)
    const after = listPolicyFiles(paths, cwd)
    if (after.stamp === before.stamp) return read
    before = after
  }
  const message = `the policy files changed during each of ${MAX_READINGS} readings; they are read again when they rest`
  return { texts: [], problems: [{ problem: { severity: 'error', code: 'FILE_UNREADABLE', message }, roots: [...paths] }] }
}

function readListed(listing: Listing): ReadFiles {
  const texts: PolicyText[] = []
  const problems = [...listing.problems]
  for (const file of listing.files) {
    try {
      texts.push({ ...file, text: decode(readFileSync(file.real)) })
    } catch (error) {
      problems.push(fileProblem(file.roots, file.shown, error))
    }
  }
  return { texts, problems }
}

class NotUtf8Error extends Error {
  readonly code = 'the text is not UTF-8'
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new NotUtf8Error()
  return bytes.toString('utf8')
}

/** Reads one text file that is given by name, such as the config. */
export function readTextFile(path: string, cwd: string): { readonly text: string } | { readonly problem: Problem } {
  const shown = shownPath(path, cwd) || path
  try {
    const absolute = resolve(cwd, path)
    const { size } = statSync(absolute)
    if (size > MAX_BYTES)
      return { problem: { severity: 'error', code: 'TOO_LARGE', message: `${shown} has ${size} bytes, at most ${MAX_BYTES} are read` } }
    return { text: decode(readFileSync(absolute)) }
  } catch (error) {
    return { problem: fileProblem([], shown, error).problem }
  }
}
