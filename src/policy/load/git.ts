// Finds the commit of a worktree from git's own files. It runs no program.
import { basename, dirname, join, resolve } from 'node:path'
import { AT_ONCE, type Disk, ifFound } from './disk.ts'

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_LINKS = 5
/** `packed-refs` of large repositories has some MiB. */
const MAX_REFS_BYTES = 16 * 1024 * 1024
const MAX_TEXT_BYTES = 4_096

/** The full commit id of the worktree around a real folder, or '' outside one. */
export const commitOf = (folder: string): Promise<string> => commitAround(AT_ONCE, folder)

async function commitAround(disk: Disk, folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const commit = await commitIn(disk, at)
    if (commit !== undefined) return commit
    if (dirname(at) === at) return ''
  }
}

/** Undefined when this folder is not the top of a worktree; '' when its commit is not known. */
async function commitIn(disk: Disk, worktree: string): Promise<string | undefined> {
  const dotGit = join(worktree, '.git')
  const stats = await ifFound(disk.stats(dotGit))
  if (!stats?.isDirectory() && !stats?.isFile()) return undefined
  const gitDir = stats.isDirectory() ? dotGit : await linkedDir(disk, worktree, dotGit)
  const commit = gitDir && (await head(disk, gitDir))
  // git-sync names its worktrees by their commit, and the repository may not be mounted here.
  return commit || (COMMIT.test(basename(worktree)) ? basename(worktree) : '')
}

/** The commits of the worktrees of the folders, or of the paths where there is none. */
export async function revisionOf(disk: Disk, folders: readonly string[], paths: readonly string[]): Promise<string> {
  const commits = new Set<string>()
  for (const folder of new Set(folders.length > 0 ? folders : paths)) {
    const commit = await commitAround(disk, folder)
    if (commit !== '') commits.add(commit)
  }
  return [...commits].sort().join('+')
}

/** `.git` of a linked worktree is a file that names the folder. */
async function linkedDir(disk: Disk, worktree: string, dotGit: string): Promise<string | undefined> {
  const path = /^gitdir: (.+)$/m.exec(await textOf(disk, dotGit))?.[1]
  return path === undefined ? undefined : resolve(worktree, path.trim())
}

async function head(disk: Disk, gitDir: string): Promise<string | undefined> {
  const common = (await textOf(disk, join(gitDir, 'commondir'))).trim()
  const commonDir = common === '' ? gitDir : resolve(gitDir, common)
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
