import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commitOf } from '../../src/policy/load/git.ts'
import { folders } from './support.ts'

const folder = folders()
const A = 'a'.repeat(40)
const B = 'b'.repeat(40)

describe('commitOf', () => {
  it.each([
    ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${A}\n` }, A],
    ['a detached head', { '.git/HEAD': `${A}\n` }, A],
    ['a SHA-256 repository', { '.git/HEAD': `${'c'.repeat(64)}\n` }, 'c'.repeat(64)],
    [
      'a packed branch',
      { '.git/HEAD': 'ref: refs/heads/main\n', '.git/packed-refs': `# pack-refs\n${B} refs/heads/other\n${A} refs/heads/main\n^${B}\n` },
      A,
    ],
    [
      'a packed branch that has moved on since',
      { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${A}\n`, '.git/packed-refs': `${B} refs/heads/main\n` },
      A,
    ],
    ['a branch without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }, ''],
    ['a reference that leaves the folder', { '.git/HEAD': 'ref: refs/../../secret\n', secret: A }, ''],
    ['garbage', { '.git/HEAD': 'what\n' }, ''],
  ])('knows the commit of %s', (_name, files, expected) => {
    const root = folder({ ...files, 'policies/deep/a.yaml': '' })
    expect(commitOf(join(root, 'policies/deep'))).toBe(expected)
  })

  it('follows the file that a linked worktree has, to its own head and the common branches', () => {
    const root = folder({
      'main/.git/HEAD': `${B}\n`,
      'main/.git/refs/heads/topic': `${A}\n`,
      'main/.git/worktrees/topic/HEAD': 'ref: refs/heads/topic\n',
      'main/.git/worktrees/topic/commondir': '../..\n',
      'topic/.git': 'gitdir: ../main/.git/worktrees/topic\n',
      'topic/policies/a.yaml': '',
    })
    expect(commitOf(join(root, 'topic/policies'))).toBe(A)
    expect(commitOf(join(root, 'main'))).toBe(B)
  })

  it('takes the name of a git-sync worktree whose repository is not mounted', () => {
    const root = folder({ [`${A}/.git`]: 'gitdir: /nowhere/.git/worktrees/x\n', [`${A}/policies/a.yaml`]: '' })
    expect(commitOf(join(root, A, 'policies'))).toBe(A)
  })
})
