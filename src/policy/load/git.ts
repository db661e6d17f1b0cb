// Finds the commit of a worktree and whether policy files were edited since, from git's own files. No git program is run, because a repository's
// configuration could make it run commands.
import { createHash } from 'node:crypto'
import { readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { readText } from '../../files.ts'
import { openRepository, type Repository, type TreeEntry } from './git-objects.ts'

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_LINKS = 5
/** `packed-refs` of large repositories has some MiB. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** A worktree and its commit, '' when that is not known. */
interface Checkout {
  readonly worktree: string
  readonly commit: string
  /** The folder of its objects; absent when the repository is not available. */
  readonly gitDir?: string
}

/** The full commit id of the worktree around a real folder, or '' outside one. */
export const commitOf = (folder: string): string => checkoutOf(folder)?.commit ?? ''

/** The worktree around a real folder. */
function checkoutOf(folder: string): Checkout | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const checkout = checkoutIn(at)
    if (checkout || dirname(at) === at) return checkout
  }
}

/** Undefined when this folder is not the top of a worktree. */
function checkoutIn(worktree: string): Checkout | undefined {
  const dotGit = join(worktree, '.git')
  const kind = kindOf(dotGit)
  if (!kind) return undefined
  const gitDir = kind === 'folder' ? dotGit : linkedDir(worktree, dotGit)
  const commit = gitDir && head(gitDir)
  if (commit) return { worktree, commit, gitDir: commonDirOf(gitDir) }
  // git-sync names its worktrees by their commit, and the repository may not be mounted here.
  return { worktree, commit: COMMIT.test(basename(worktree)) ? basename(worktree) : '' }
}

/** A file as it was read: its path behind all links, and its text. */
interface ReadFile {
  readonly real: string
  readonly text: string
}

/** The commits of the worktrees of the folders, or of the paths where there is none, then `+dirty` when a file was edited since. */
export function revisionOf(folders: readonly string[], files: readonly ReadFile[], paths: readonly string[]): string {
  const checkouts = new Map<string, Checkout>()
  for (const folder of new Set(folders.length > 0 ? folders : paths)) {
    const checkout = checkoutOf(folder)
    if (checkout && checkout.commit !== '') checkouts.set(checkout.worktree, checkout)
  }
  const commits = new Set([...checkouts.values()].map(({ commit }) => commit))
  const isDirty = [...checkouts.values()].some((checkout) => isEdited(checkout, files, paths))
  return [...[...commits].sort(), ...(isDirty ? ['dirty'] : [])].join('+')
}

/** Whether policy files differ from the commit: edited, new, or removed from `roots`, staged or not. False when the commit cannot be read. */
function isEdited({ worktree, commit, gitDir }: Checkout, files: readonly ReadFile[], roots: readonly string[]): boolean {
  if (gitDir === undefined || commit === '') return false
  const repository = openRepository(gitDir)
  const top = repository.rootOf(commit)
  if (top === undefined) return false
  const real = realPath(worktree)
  const algorithm = commit.length === 64 ? 'sha256' : 'sha1'
  const here = new Map(files.map((file) => [relative(real, file.real).split(sep).join('/'), file.text]))
  const within = (path: string): boolean => path !== '..' && !path.startsWith('../') && !path.startsWith('/')
  for (const [path, text] of here) {
    if (!within(path)) continue
    const id = entryAt(repository, top, path.split('/'))?.id
    if (id === 'unread') return false
    if (id === undefined || !blobIds(text, algorithm).includes(id)) return true
  }
  const committed = roots.flatMap((root) => {
    const path = relative(real, realPath(root)).split(sep).join('/')
    return within(path) ? policyFilesIn(repository, top, path) : []
  })
  // A link is compared by its own text, because its target was read as a file.
  const isLinked = ({ path, id }: CommittedFile): boolean => blobIds(linkText(join(real, path)) ?? '', algorithm).includes(id)
  return committed.some((one) => (one.isLink ? !isLinked(one) : !here.has(one.path)))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function linkText(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const UNREAD: TreeEntry = { name: '', isFolder: false, isLink: false, id: 'unread' }

/** The entry at a path of a tree; `unread` as its id when a tree on the way cannot be read. */
function entryAt(repository: Repository, top: string, path: readonly string[]): TreeEntry | undefined {
  let entry: TreeEntry | undefined = { ...UNREAD, isFolder: true, id: top }
  for (const name of path) {
    if (name === '') continue
    if (!entry?.isFolder) return undefined
    const entries = repository.entriesOf(entry.id)
    if (!entries) return UNREAD
    entry = entries.find((one) => one.name === name)
  }
  return entry
}

const MAX_DEPTH = 32

interface CommittedFile extends Pick<TreeEntry, 'isLink' | 'id'> {
  readonly path: string
}

/** The policy files of a commit within a path; hidden names are skipped, as on the disk. */
function policyFilesIn(repository: Repository, top: string, path: string): readonly CommittedFile[] {
  const found: CommittedFile[] = []
  const visit = (tree: string, at: string, depth: number): void => {
    for (const { name, isFolder, isLink, id } of (depth < MAX_DEPTH && repository.entriesOf(tree)) || []) {
      if (name.startsWith('.')) continue
      const here = at === '' ? name : `${at}/${name}`
      if (isFolder) visit(id, here, depth + 1)
      else if (/\.ya?ml$/i.test(name)) found.push({ path: here, isLink, id })
    }
  }
  const start = entryAt(repository, top, path.split('/'))
  if (start?.isFolder) visit(start.id, path, 0)
  return found
}

/** The ids that git may give a text: a checkout on Windows may have changed its line ends. */
const blobIds = (text: string, algorithm: 'sha1' | 'sha256'): readonly string[] =>
  (text.includes('\r\n') ? [text, text.replaceAll('\r\n', '\n')] : [text]).map((one) => {
    const bytes = Buffer.from(one)
    return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  })

function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    const stats = statSync(path)
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : undefined
  } catch {
    return undefined
  }
}

/** `.git` of a linked worktree is a file that names the folder. */
function linkedDir(worktree: string, dotGit: string): string | undefined {
  const path = /^gitdir: (.+)$/m.exec(textOf(dotGit))?.[1]
  return path === undefined ? undefined : resolve(worktree, path.trim())
}

function commonDirOf(gitDir: string): string {
  const common = textOf(join(gitDir, 'commondir')).trim()
  return common === '' ? gitDir : resolve(gitDir, common)
}

function head(gitDir: string): string | undefined {
  const commonDir = commonDirOf(gitDir)
  let value = textOf(join(gitDir, 'HEAD')).trim()
  for (let link = 0; link < MAX_LINKS; link += 1) {
    if (COMMIT.test(value)) return value
    const ref = /^ref: (refs\/[^\0]+)$/.exec(value)?.[1]
    if (ref === undefined || ref.split('/').includes('..')) return undefined
    value = textOf(join(gitDir, ref)).trim() || textOf(join(commonDir, ref)).trim() || packed(commonDir, ref)
  }
  return undefined
}

function packed(commonDir: string, ref: string): string {
  const line = textOf(join(commonDir, 'packed-refs'))
    .split('\n')
    .find((entry) => entry.endsWith(` ${ref}`))
  return line?.split(' ')[0] ?? ''
}

function textOf(path: string): string {
  try {
    return readText(path, MAX_TEXT_BYTES)
  } catch {
    return ''
  }
}
