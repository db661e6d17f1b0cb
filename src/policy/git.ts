// The commit that a folder is checked out at, read from git's own files: no git program is needed, and none could be tricked into
// running anything. Only the checked-out commit is told; whether files were edited after the checkout is not looked at.
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_LINKS = 5

/** The full commit id of the worktree around a real folder, or '' outside one. */
export function commitOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const commit = commitIn(at)
    if (commit !== undefined) return commit
    if (dirname(at) === at) return ''
  }
}

/** Undefined when this folder is not the top of a worktree. */
function commitIn(worktree: string): string | undefined {
  const dotGit = join(worktree, '.git')
  const kind = kindOf(dotGit)
  if (!kind) return undefined
  const gitDir = kind === 'folder' ? dotGit : linkedDir(worktree, dotGit)
  const commit = gitDir && head(gitDir)
  if (commit) return commit
  // git-sync calls its worktrees by their commit, and the repository may not be mounted here.
  return COMMIT.test(basename(worktree)) ? basename(worktree) : ''
}

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

function head(gitDir: string): string | undefined {
  const common = textOf(join(gitDir, 'commondir')).trim()
  const commonDir = common === '' ? gitDir : resolve(gitDir, common)
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
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
