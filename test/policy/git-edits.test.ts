import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folder } from './support.ts'

const hasGit = spawnSync('git', ['--version']).status === 0

const policy = (name: string, cap: number): string =>
  `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec:\n  users: [{email: ${name}@example.com, cap: ${cap}}]\n`

type Checkout = ReturnType<typeof checkoutAt>

const names = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', '-c', 'core.autocrlf=false']

/** Some policies and other files, in two commits. */
function commits(root: string, git: Checkout['git'], ...init: readonly string[]): void {
  writeFileSync(join(root, 'README.md'), 'read me\n')
  mkdirSync(join(root, 'policies/deep/er'), { recursive: true })
  git('init', '-q', ...init)
  for (const round of [1, 2]) {
    for (let at = 0; at < 9; at += 1) writeFileSync(join(root, `policies/p${at}.yaml`), policy(`p${at}`, at === 7 ? round : 1))
    writeFileSync(join(root, 'policies/deep/er/q.yml'), policy('q', round))
    git('add', '-A')
    git('commit', '-qm', `round ${round}`)
  }
}

function checkoutAt(root: string) {
  const git = (...argv: readonly string[]): string =>
    execFileSync('git', ['-C', root, ...names, ...argv], { encoding: 'utf8', stdio: 'pipe' }).trim()
  const revision = async (...paths: readonly string[]) =>
    (await loadPolicies(paths.length > 0 ? paths : ['policies'], { cwd: root })).sets.get('default')?.revision
  return { root, git, revision }
}

describe.skipIf(!hasGit)('the revision of a checkout', () => {
  const template = mkdtempSync(join(tmpdir(), 'capkeeper-git-'))
  beforeAll(() => commits(template, checkoutAt(template).git))
  afterAll(() => rmSync(template, { recursive: true, force: true }))

  function prepared(): Checkout & { readonly commit: string } {
    const root = folder({})
    cpSync(template, root, { recursive: true })
    const at = checkoutAt(root)
    return { ...at, commit: at.git('rev-parse', 'HEAD') }
  }

  test('is the commit while no policy file was edited', async () => {
    const at = prepared()
    expect(await at.revision()).toBe(at.commit)
    appendFileSync(join(at.root, 'README.md'), 'more\n')
    writeFileSync(join(at.root, 'policies/notes.txt'), 'not a policy\n')
    writeFileSync(join(at.root, 'policies/.hidden.yaml'), 'not read\n')
    expect(await at.revision()).toBe(at.commit)
  })

  test('is the commit where a link leads to a policy file, until it leads elsewhere', async () => {
    const at = prepared()
    const link = join(at.root, 'policies/current.yaml')
    symlinkSync('p1.yaml', link)
    at.git('add', '-A')
    at.git('commit', '-qm', 'a link')
    const commit = at.git('rev-parse', 'HEAD')
    expect(await at.revision()).toBe(commit)
    rmSync(link)
    expect(await at.revision()).toBe(`${commit}+dirty`)
    symlinkSync('p2.yaml', link)
    expect(await at.revision()).toBe(`${commit}+dirty`)
  })

  test.each<readonly [string, (at: Checkout) => void]>([
    ['was edited', (at) => appendFileSync(join(at.root, 'policies/p7.yaml'), '# a word\n')],
    ['deep below was edited', (at) => appendFileSync(join(at.root, 'policies/deep/er/q.yml'), '# a word\n')],
    ['is new', (at) => writeFileSync(join(at.root, 'policies/new.yaml'), policy('new', 5))],
    ['is gone', (at) => rmSync(join(at.root, 'policies/p3.yaml'))],
  ])('has +dirty when a policy file %s, staged or not, and no more when that is committed', async (_row, edit) => {
    const at = prepared()
    edit(at)
    expect(await at.revision()).toBe(`${at.commit}+dirty`)
    at.git('add', '-A')
    expect(await at.revision()).toBe(`${at.commit}+dirty`)
    at.git('commit', '-qm', 'edited')
    expect(await at.revision()).toBe(at.git('rev-parse', 'HEAD'))
  })

  test('compares only the given paths', async () => {
    const at = prepared()
    appendFileSync(join(at.root, 'policies/p7.yaml'), '# a word\n')
    rmSync(join(at.root, 'policies/p3.yaml'))
    expect(await at.revision('policies/deep')).toBe(at.commit)
    expect(await at.revision('policies/p8.yaml', 'policies/p7.yaml')).toBe(`${at.commit}+dirty`)
  })

  test.each(['policies', 'policies/p1.yaml'])('counts the files of an envelope, below %s or beside it', async (path) => {
    const at = prepared()
    const [team, place] = ['policies/deep', { file: 'capkeeper.yaml', line: 1, column: 1 }]
    const envelope = { name: 'team', workspace: 'acme', policies: [team], groups: [], maxCap: 9, at: place }
    const acme = { name: 'acme', policies: [path], envelopes: [envelope] }
    const workspaces = [acme, { name: 'beside', policies: [team] }]
    const revisions = async () => {
      const { sets } = await loadPolicies([path, team], { cwd: at.root, workspaces })
      return [...sets.values()].map(({ revision }) => revision.replace(at.git('rev-parse', 'HEAD'), 'HEAD'))
    }
    expect(await revisions()).toEqual(['HEAD', 'HEAD'])
    writeFileSync(join(at.root, team, 'broken.yaml'), Buffer.from([0xff]))
    expect(await revisions()).toEqual(['HEAD+dirty', 'HEAD+dirty'])
    at.git('add', '-A')
    at.git('commit', '-qm', 'edited')
    expect(await revisions()).toEqual(['HEAD', 'HEAD'])
    rmSync(join(at.root, team, 'er/q.yml'))
    expect(await revisions()).toEqual(['HEAD+dirty', 'HEAD+dirty'])
  })

  test('is told in a linked worktree as well', async () => {
    const at = prepared()
    const linked = join(folder({}), 'linked')
    at.git('worktree', 'add', '-q', linked, 'HEAD~1')
    const revision = async () => (await loadPolicies(['policies'], { cwd: linked })).sets.get('default')?.revision
    expect(await revision()).toBe(at.git('rev-parse', 'HEAD~1'))
    appendFileSync(join(linked, 'policies/p7.yaml'), '# a word\n')
    expect(await revision()).toBe(`${at.git('rev-parse', 'HEAD~1')}+dirty`)
  })

  test('of SHA-256 that is packed is told as well', async () => {
    const at = checkoutAt(folder({}))
    commits(at.root, at.git, '--object-format=sha256')
    at.git('gc', '-q', '--prune=now')
    const commit = at.git('rev-parse', 'HEAD')
    expect([commit.length, await at.revision()]).toEqual([64, commit])
    appendFileSync(join(at.root, 'policies/p7.yaml'), '# a word\n')
    expect(await at.revision()).toBe(`${commit}+dirty`)
  })
})
