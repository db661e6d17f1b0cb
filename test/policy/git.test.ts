import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readAs } from '../../src/files.ts'
import { loadPolicies, loadPoliciesAside } from '../../src/policy/load/load.ts'
import { realClock } from '../support/real-clock.ts'
import { folder, policyText } from './support.ts'

const A = 'a'.repeat(40)
const B = 'b'.repeat(40)
const POLICY = policyText('team: {cap: 5}')

/** The revision of the policies in a folder, known at once and beside the process alike; '' when there is none. */
async function revisionOf(path: string, isSlow = false): Promise<string> {
  const at = { cwd: path }
  readAs('daemon')
  onTestFinished(() => readAs('command'))
  const beside = await loadPoliciesAside(['.'], at, realClock())
  if (!isSlow) expect(beside).toEqual(await loadPolicies(['.'], at))
  return beside.sets.get('default')?.revision ?? ''
}

describe('the revision of policies', () => {
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
  ])('is the commit of %s', async (_name, files, expected) => {
    const root = folder({ ...files, 'policies/deep/a.yaml': POLICY })
    expect(await revisionOf(join(root, 'policies/deep'))).toBe(expected)
  })

  it('follows the file that a linked worktree has, to its own head and the common branches', async () => {
    const root = folder({
      'main/.git/HEAD': `${B}\n`,
      'main/.git/refs/heads/topic': `${A}\n`,
      'main/.git/worktrees/topic/HEAD': 'ref: refs/heads/topic\n',
      'main/.git/worktrees/topic/commondir': '../..\n',
      'topic/.git': 'gitdir: ../main/.git/worktrees/topic\n',
      'topic/policies/a.yaml': POLICY,
      'main/a.yaml': POLICY,
    })
    expect(await revisionOf(join(root, 'topic/policies'))).toBe(A)
    expect(await revisionOf(join(root, 'main'))).toBe(B)
  })

  it('takes the name of a git-sync worktree whose repository is not mounted', async () => {
    const root = folder({ [`${A}/.git`]: 'gitdir: /nowhere/.git/worktrees/x\n', [`${A}/policies/a.yaml`]: POLICY })
    expect(await revisionOf(join(root, A, 'policies'))).toBe(A)
  })
})

describe("git's own files that are not what they should be", () => {
  const HEAD = { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${A}\n`, 'a.yaml': POLICY }
  it.skipIf(spawnSync('mkfifo', ['--version']).status !== 0).each([
    ['.git', ''],
    ['.git/HEAD', ''],
    ['.git/refs/heads/main', ''],
    ['.git/commondir', A],
  ])('hold nothing up: a pipe in place of %s (needs mkfifo)', async (path, expected) => {
    const root = folder(path === '.git' ? { 'a.yaml': POLICY } : HEAD)
    mkdirSync(dirname(join(root, path)), { recursive: true })
    rmSync(join(root, path), { force: true })
    execFileSync('mkfifo', [join(root, path)])
    // With the last one git is given up after two seconds.
    expect(await revisionOf(root, path === '.git/commondir')).toBe(expected)
  })
})
