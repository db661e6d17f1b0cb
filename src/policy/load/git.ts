// Finds the commit of a worktree from git's own files, and with git's help whether policy files were edited since. Of git only `ls-tree` is run, which
// runs nothing that a repository's configuration names and fetches nothing. Without git the commit alone is known.
import { createHash } from 'node:crypto'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { AT_ONCE, type Disk, ifFound } from './disk.ts'
import type { FoundFile } from './files.ts'

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
export const commitOf = async (folder: string): Promise<string> => (await checkoutOf(AT_ONCE, folder))?.commit ?? ''

/** The worktree around a real folder. */
async function checkoutOf(disk: Disk, folder: string): Promise<Checkout | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const checkout = await checkoutIn(disk, at)
    if (checkout || dirname(at) === at) return checkout
  }
}

/** Undefined when this folder is not the top of a worktree. */
async function checkoutIn(disk: Disk, worktree: string): Promise<Checkout | undefined> {
  const dotGit = join(worktree, '.git')
  const stats = await ifFound(disk.stats(dotGit))
  if (!stats?.isDirectory() && !stats?.isFile()) return undefined
  const gitDir = stats.isDirectory() ? dotGit : await linkedDir(disk, worktree, dotGit)
  const commit = gitDir && (await head(disk, gitDir))
  if (commit) return { worktree, commit, gitDir: await commonDirOf(disk, gitDir) }
  // git-sync names its worktrees by their commit, and the repository may not be mounted here.
  return { worktree, commit: COMMIT.test(basename(worktree)) ? basename(worktree) : '' }
}

type ReadFile = Pick<FoundFile, 'real' | 'bytes'>

/** The commits of the worktrees of the folders, or of the paths where there is none, then `+dirty` when a file was edited since. */
export async function revisionOf(
  disk: Disk,
  folders: readonly string[],
  files: readonly ReadFile[],
  paths: readonly string[],
): Promise<string> {
  const checkouts = new Map<string, Checkout>()
  for (const folder of new Set(folders.length > 0 ? folders : paths)) {
    const checkout = await checkoutOf(disk, folder)
    if (checkout && checkout.commit !== '') checkouts.set(checkout.worktree, checkout)
  }
  const commits = new Set([...checkouts.values()].map(({ commit }) => commit))
  let isDirty = false
  for (const checkout of checkouts.values()) isDirty ||= await isEdited(disk, checkout, files, paths)
  return [...[...commits].sort(), ...(isDirty ? ['dirty'] : [])].join('+')
}

/** Whether policy files differ from the commit: edited, new, or removed from `roots`, staged or not. False when the commit cannot be read. */
async function isEdited(
  disk: Disk,
  { worktree, commit, gitDir }: Checkout,
  files: readonly ReadFile[],
  roots: readonly string[],
): Promise<boolean> {
  if (gitDir === undefined) return false
  const real = await realPath(disk, worktree)
  const here = new Map<string, Buffer>()
  for (const file of files) {
    const path = pathIn(real, file.real)
    if (path !== undefined) here.set(path, file.bytes)
  }
  const within: string[] = []
  for (const root of roots) {
    const path = pathIn(real, await realPath(disk, root))
    if (path !== undefined) within.push(path)
  }
  const linked = [...here.keys()].filter((path) => !within.some((root) => isBelow(path, root)))
  const listed = await ifFound(committedFiles(disk, gitDir, commit, [...within, ...linked]))
  if (!listed) return false
  const algorithm = commit.length === 64 ? 'sha256' : 'sha1'
  for (const [path, bytes] of here) if (!blobIds(bytes, algorithm).includes(listed.get(path)?.id ?? '')) return true
  for (const [path, { isLink, id }] of listed) {
    if (!POLICY_PATH.test(path)) continue
    // A link is compared by its own text, because its target was read as a file.
    if (!isLink && !here.has(path)) return true
    if (isLink && !blobIds(Buffer.from((await ifFound(disk.linkText(join(real, path)))) ?? ''), algorithm).includes(id)) return true
  }
  return false
}

async function realPath(disk: Disk, path: string): Promise<string> {
  return (await ifFound(disk.realPath(path))) ?? path
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
async function committedFiles(disk: Disk, gitDir: string, commit: string, paths: readonly string[]) {
  const given = paths.includes('') ? [] : paths
  const output = await disk.git(gitDir, 'ls-tree', '-r', '-z', '--full-tree', commit, '--', ...given)
  return new Map([...output.matchAll(ENTRY)].map(([, mode, id = '', path = '']) => [path, { isLink: mode === '120000', id }]))
}

const ENTRY = /(\d+) blob ([0-9a-f]+)\t([^\0]*)\0/g

/** The ids that git may give a content: a checkout on Windows may have changed its line ends. */
const blobIds = (content: Buffer, algorithm: 'sha1' | 'sha256'): readonly string[] =>
  (content.includes('\r\n') ? [content, Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')] : [content]).map(
    (bytes) => createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
  )

/** `.git` of a linked worktree is a file that names the folder. */
async function linkedDir(disk: Disk, worktree: string, dotGit: string): Promise<string | undefined> {
  const path = /^gitdir: (.+)$/m.exec(await textOf(disk, dotGit))?.[1]
  return path === undefined ? undefined : resolve(worktree, path.trim())
}

async function commonDirOf(disk: Disk, gitDir: string): Promise<string> {
  const common = (await textOf(disk, join(gitDir, 'commondir'))).trim()
  return common === '' ? gitDir : resolve(gitDir, common)
}

async function head(disk: Disk, gitDir: string): Promise<string | undefined> {
  const commonDir = await commonDirOf(disk, gitDir)
  let value = (await textOf(disk, join(gitDir, 'HEAD'))).trim()
  for (let link = 0; link < MAX_LINKS; link += 1) {
    if (COMMIT.test(value)) return value
    const ref = /^ref: (refs\/[^\0]+)$/.exec(value)?.[1]
    if (ref === undefined || ref.split('/').includes('..')) return undefined
    value =
      (await textOf(disk, join(gitDir, ref))).trim() ||
      (await textOf(disk, join(commonDir, ref))).trim() ||
      (await packed(disk, commonDir, ref))
  }
  return undefined
}

async function packed(disk: Disk, commonDir: string, ref: string): Promise<string> {
  const refs = (await ifFound(disk.bytes(join(commonDir, 'packed-refs'), MAX_REFS_BYTES))) ?? Buffer.alloc(0)
  const end = refs.indexOf(` ${ref}\n`)
  return refs.toString('latin1', refs.lastIndexOf('\n', end) + 1, Math.max(0, end))
}

async function textOf(disk: Disk, path: string): Promise<string> {
  return (await ifFound(disk.bytes(path, MAX_TEXT_BYTES)))?.toString('utf8') ?? ''
}
