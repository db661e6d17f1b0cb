// Finds the commit of a worktree and whether policy files were edited since, from git's own files. No git program is run, because a repository's
// configuration could make it run commands.
import { createHash } from 'node:crypto'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { type Entries, openRepository, type Repository, type TreeEntry } from './git-objects.ts'
import { atOnce, bytesOf, ifFound, linkTextOf, realPathOf, type Steps, statsOf } from './steps.ts'

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

/** A file as it was read: its path behind all links, and its content. */
interface ReadFile {
  readonly real: string
  readonly bytes: Buffer
}

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
  if (gitDir === undefined || commit === '') return false
  const repository = yield* openRepository(gitDir)
  const top = yield* repository.rootOf(commit)
  if (top === undefined) return false
  const real = yield* realPath(worktree)
  const algorithm = commit.length === 64 ? 'sha256' : 'sha1'
  const here = new Map(files.map((file) => [relative(real, file.real).split(sep).join('/'), file.bytes]))
  const within = (path: string): boolean => path !== '..' && !path.startsWith('../') && !path.startsWith('/')
  for (const [path, bytes] of here) {
    if (!within(path)) continue
    const id = (yield* entryAt(repository, top, path.split('/')))?.id
    if (id === 'unread') return false
    if (id === undefined || !blobIds(bytes, algorithm).includes(id)) return true
  }
  for (const root of roots) {
    const path = relative(real, yield* realPath(root))
      .split(sep)
      .join('/')
    for (const one of within(path) ? yield* policyFilesIn(repository, top, path) : []) {
      // A link is compared by its own text, because its target was read as a file.
      if (!one.isLink && !here.has(one.path)) return true
      if (one.isLink && !blobIds(Buffer.from((yield* ifFound(linkTextOf(join(real, one.path)))) ?? ''), algorithm).includes(one.id))
        return true
    }
  }
  return false
}

function* realPath(path: string): Steps<string> {
  return (yield* ifFound(realPathOf(path))) ?? path
}

const UNREAD: TreeEntry = { name: '', isFolder: false, isLink: false, id: 'unread' }

/** The entry at a path of a tree; `unread` as its id when a tree on the way cannot be read. */
function* entryAt(repository: Repository, top: string, path: readonly string[]): Steps<TreeEntry | undefined> {
  let entry: TreeEntry | undefined = { ...UNREAD, isFolder: true, id: top }
  for (const name of path) {
    if (name === '') continue
    if (!entry?.isFolder) return undefined
    const entries: Entries | undefined = yield* repository.entriesOf(entry.id)
    if (!entries) return UNREAD
    entry = entries.get(name)
  }
  return entry
}

const MAX_DEPTH = 32

interface CommittedFile extends Pick<TreeEntry, 'isLink' | 'id'> {
  readonly path: string
}

/** The policy files of a commit within a path; hidden names are skipped, as on the disk. */
function* policyFilesIn(repository: Repository, top: string, path: string): Steps<readonly CommittedFile[]> {
  const start = yield* entryAt(repository, top, path.split('/'))
  return start?.isFolder ? yield* policyFilesOf(repository, start.id, path, 0) : []
}

function* policyFilesOf(repository: Repository, tree: string, at: string, depth: number): Steps<readonly CommittedFile[]> {
  const found: CommittedFile[] = []
  for (const { name, isFolder, isLink, id } of (depth < MAX_DEPTH ? yield* repository.entriesOf(tree) : undefined)?.values() ?? []) {
    if (name.startsWith('.')) continue
    const here = at === '' ? name : `${at}/${name}`
    if (isFolder) found.push(...(yield* policyFilesOf(repository, id, here, depth + 1)))
    else if (/\.ya?ml$/i.test(name)) found.push({ path: here, isLink, id })
  }
  return found
}

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
