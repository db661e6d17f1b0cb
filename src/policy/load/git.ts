// Finds the commit of a worktree from git's own files, and with git's help whether policy files were edited since. Of git only `ls-tree` is run, which
// runs nothing that a repository's configuration names and fetches nothing. Without git the commit alone is known.
import { createHash } from 'node:crypto'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { FoundFile } from './files.ts'
import { atOnce, bytesOf, ifFound, linkTextOf, outputOf, realPathOf, type Steps, statsOf } from './steps.ts'

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_LINKS = 5
/** `packed-refs` of large repositories has some MiB. */
const MAX_REFS_BYTES = 16 * 1024 * 1024
const MAX_TEXT_BYTES = 4_096

/** A worktree and its commit, '' when that is not known. */
interface Checkout {
  readonly worktree: string
  readonly commit: string
  /** The folder of its objects; absent when the repository is not available. */
  readonly gitDir?: string
}

/** The full commit id of the worktree around a real folder, or '' outside one. */
export const commitOf = (folder: string): string => atOnce(checkoutOf(folder))?.commit ?? ''

/** The worktree around a real folder. */
function* checkoutOf(folder: string): Steps<Checkout | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const checkout = yield* checkoutIn(at)
    if (checkout || dirname(at) === at) return checkout
  }
}

/** Undefined when this folder is not the top of a worktree. */
function* checkoutIn(worktree: string): Steps<Checkout | undefined> {
  const dotGit = join(worktree, '.git')
  const stats = yield* ifFound(statsOf(dotGit))
  if (!stats?.isDirectory() && !stats?.isFile()) return undefined
  const gitDir = stats.isDirectory() ? dotGit : yield* linkedDir(worktree, dotGit)
  const commit = gitDir && (yield* head(gitDir))
  if (commit) return { worktree, commit, gitDir: yield* commonDirOf(gitDir) }
  // git-sync names its worktrees by their commit, and the repository may not be mounted here.
  return { worktree, commit: COMMIT.test(basename(worktree)) ? basename(worktree) : '' }
}

type ReadFile = Pick<FoundFile, 'real' | 'bytes'>

/** The commits of the worktrees of the folders, or of the paths where there is none, then `+dirty` when a file was edited since. */
export function* revisionOf(folders: readonly string[], files: readonly ReadFile[], paths: readonly string[]): Steps<string> {
  const checkouts = new Map<string, Checkout>()
  for (const folder of new Set(folders.length > 0 ? folders : paths)) {
    const checkout = yield* checkoutOf(folder)
    if (checkout && checkout.commit !== '') checkouts.set(checkout.worktree, checkout)
  }
  const commits = new Set([...checkouts.values()].map(({ commit }) => commit))
  let isDirty = false
  for (const checkout of checkouts.values()) isDirty ||= yield* isEdited(checkout, files, paths)
  return [...[...commits].sort(), ...(isDirty ? ['dirty'] : [])].join('+')
}

/** Whether policy files differ from the commit: edited, new, or removed from `roots`, staged or not. False when the commit cannot be read. */
function* isEdited({ worktree, commit, gitDir }: Checkout, files: readonly ReadFile[], roots: readonly string[]): Steps<boolean> {
  if (gitDir === undefined) return false
  const real = yield* realPath(worktree)
  const here = new Map<string, Buffer>()
  for (const file of files) {
    const path = pathIn(real, file.real)
    if (path !== undefined) here.set(path, file.bytes)
  }
  const within: string[] = []
  for (const root of roots) {
    const path = pathIn(real, yield* realPath(root))
    if (path !== undefined) within.push(path)
  }
  const linked = [...here.keys()].filter((path) => !within.some((root) => isBelow(path, root)))
  const listed = yield* ifFound(committedFiles(gitDir, commit, [...within, ...linked]))
  if (!listed) return false
  const algorithm = commit.length === 64 ? 'sha256' : 'sha1'
  for (const [path, bytes] of here) if (!blobIds(bytes, algorithm).includes(listed.get(path)?.id ?? '')) return true
  for (const [path, { isLink, id }] of listed) {
    if (!POLICY_PATH.test(path)) continue
    // A link is compared by its own text, because its target was read as a file.
    if (!isLink && !here.has(path)) return true
    if (isLink && !blobIds(Buffer.from((yield* ifFound(linkTextOf(join(real, path)))) ?? ''), algorithm).includes(id)) return true
  }
  return false
}

function* realPath(path: string): Steps<string> {
  return (yield* ifFound(realPathOf(path))) ?? path
}

/** A path as git writes it; undefined outside the worktree. */
function pathIn(worktree: string, path: string): string | undefined {
  const inside = relative(worktree, path).split(sep).join('/')
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? undefined : inside
}

const isBelow = (path: string, root: string): boolean => root === '' || path === root || path.startsWith(`${root}/`)

/** Files of policies; hidden names are skipped, as on the disk. */
const POLICY_PATH = /^(?!(.*\/)?\.).*\.ya?ml$/i

/** The files of a commit at some paths. Throws where git is missing, or has not got the commit. */
function* committedFiles(gitDir: string, commit: string, paths: readonly string[]) {
  const given = paths.includes('') ? [] : paths
  const output = yield* outputOf(gitDir, 'git', [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-z', '--full-tree', commit, '--', ...given], GIT)
  return new Map([...output.matchAll(ENTRY)].map(([, mode, id = '', path = '']) => [path, { isLink: mode === '120000', id }]))
}

const ENTRY = /(\d+) blob ([0-9a-f]+)\t([^\0]*)\0/g
const GIT = { GIT_NO_LAZY_FETCH: '1', GIT_LITERAL_PATHSPECS: '1' }

/** The ids that git may give a content: a checkout on Windows may have changed its line ends. */
const blobIds = (content: Buffer, algorithm: 'sha1' | 'sha256'): readonly string[] =>
  (content.includes('\r\n') ? [content, Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')] : [content]).map(
    (bytes) => createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
  )

/** `.git` of a linked worktree is a file that names the folder. */
function* linkedDir(worktree: string, dotGit: string): Steps<string | undefined> {
  const path = /^gitdir: (.+)$/m.exec(yield* textOf(dotGit))?.[1]
  return path === undefined ? undefined : resolve(worktree, path.trim())
}

function* commonDirOf(gitDir: string): Steps<string> {
  const common = (yield* textOf(join(gitDir, 'commondir'))).trim()
  return common === '' ? gitDir : resolve(gitDir, common)
}

function* head(gitDir: string): Steps<string | undefined> {
  const commonDir = yield* commonDirOf(gitDir)
  let value = (yield* textOf(join(gitDir, 'HEAD'))).trim()
  for (let link = 0; link < MAX_LINKS; link += 1) {
    if (COMMIT.test(value)) return value
    const ref = /^ref: (refs\/[^\0]+)$/.exec(value)?.[1]
    if (ref === undefined || ref.split('/').includes('..')) return undefined
    value = (yield* textOf(join(gitDir, ref))).trim() || (yield* textOf(join(commonDir, ref))).trim() || (yield* packed(commonDir, ref))
  }
  return undefined
}

function* packed(commonDir: string, ref: string): Steps<string> {
  const refs = (yield* ifFound(bytesOf(join(commonDir, 'packed-refs'), MAX_REFS_BYTES))) ?? Buffer.alloc(0)
  const end = refs.indexOf(` ${ref}\n`)
  return refs.toString('latin1', refs.lastIndexOf('\n', end) + 1, Math.max(0, end))
}

function* textOf(path: string): Steps<string> {
  return (yield* ifFound(bytesOf(path, MAX_TEXT_BYTES)))?.toString('utf8') ?? ''
}
