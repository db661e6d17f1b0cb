import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { loadConfig } from '../support/config.ts'
import { folder, hasErrors, placesWithFiles, policyText } from './support.ts'

type LoadOptions = Parameters<typeof loadPolicies>[1]

/** Loads `files` from a folder that is the working directory. */
async function load(files: Readonly<Record<string, string>>, options: LoadOptions = {}) {
  return loadPolicies(['.'], { cwd: folder(files), ...options })
}

const user = (email: string, cap = '5') => `users: [{email: ${email}, cap: ${cap}}]`

describe('what is read', () => {
  it('are *.yaml and *.yml in folders of any depth, hidden names left out', async () => {
    const { files, problems, sets } = await load({
      'b.yml': policyText(user('b@b.c'), 'b'),
      'a.yaml': policyText(user('a@b.c'), 'a'),
      'deep/er/c.yaml': policyText(user('c@b.c'), 'c'),
      '.hidden.yaml': 'x: [',
      '.git/d.yaml': 'x: [',
      'README.md': '# not a policy',
      'cap-policy.schema.json': '{}',
      'empty.yaml': '# nothing yet\n',
    })
    expect(files).toEqual(['a.yaml', 'b.yml', 'deep/er/c.yaml', 'empty.yaml'])
    expect(problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual(['warning: empty.yaml holds no policy'])
    expect(sets.get('default')?.set.rules.map(({ scope }) => scope)).toMatchObject([
      { email: 'a@b.c' },
      { email: 'b@b.c' },
      { email: 'c@b.c' },
    ])
  })

  it('are named as the user would type them', async () => {
    const root = folder({ 'policies/a.yaml': policyText(user('a@b.c', 'x')) })
    const at = async (path: string, cwd: string) => (await loadPolicies([path], { cwd })).problems[0]?.at?.file
    expect(await at('policies', root)).toBe('policies/a.yaml')
    expect(await at(join(root, 'policies'), root)).toBe('policies/a.yaml')
    expect(await at('../policies/', join(root, 'other'))).toBe('../policies/a.yaml')
    expect(await at('./policies/a.yaml', root)).toBe('policies/a.yaml')
  })

  it('is read once when two paths lead to it', async () => {
    const root = folder({ 'p/a.yaml': policyText(user('a@b.c')) })
    expect((await loadPolicies(['p', 'p/a.yaml', './p'], { cwd: root })).problems).toEqual([])
  })

  it.each([
    ['a path that does not exist', ['nowhere'], 'nowhere does not exist'],
    ['a path through a file', ['a.yaml/b'], 'a.yaml/b does not exist: a part of the path is a file'],
  ])('is an error with %s, and nothing is whole', async (_name, paths, message) => {
    const { problems, sets } = await loadPolicies(paths, { cwd: folder({ 'a.yaml': policyText(user('a@b.c')) }) })
    expect(problems).toEqual([{ severity: 'error', code: 'FILE_UNREADABLE', message }])
    expect(sets.size).toBe(0)
  })

  it('is an error when a file is not UTF-8', async () => {
    const root = folder({})
    writeFileSync(join(root, 'a.yaml'), Buffer.concat([Buffer.from('# a text\na: b\u00e9'), Buffer.from([0xff, 0xfe, 0x63])]))
    const [problem] = (await loadPolicies(['.'], { cwd: root })).problems
    expect(problem).toMatchObject({ at: { file: 'a.yaml', line: 2, column: 6 }, length: 1, sourceLine: 'a: b\u00e9\uFFFD\uFFFDc' })
    expect(problem?.message).toBe('a.yaml cannot be read: the text is not UTF-8 here, as one in Latin-1 or Windows-1252: save it as UTF-8')
  })

  it.each([
    ['with a mark', Buffer.from('\ufeffa: b', 'utf16le')],
    ['with a mark, its bytes swapped', Buffer.from('\ufeffa: b', 'utf16le').swap16()],
    ['without a mark', Buffer.from('a: b', 'utf16le')],
    ['without a mark, its bytes swapped', Buffer.from('a: b', 'utf16le').swap16()],
  ])('is an error that says so when a file is UTF-16, %s, and so is a config', async (_row, bytes) => {
    const root = folder({})
    writeFileSync(join(root, 'a.yaml'), bytes)
    const said = { message: 'a.yaml cannot be read: the text is UTF-16: save it as UTF-8', at: { file: 'a.yaml', line: 1, column: 1 } }
    expect((await loadPolicies(['.'], { cwd: root })).problems).toMatchObject([said])
    expect(loadConfig({ env: {}, flags: { config: 'a.yaml' }, cwd: root }).problems).toMatchObject([said])
  })

  it('is an empty, whole set when there is no policy at all, with a warning', async () => {
    const { sets, problems, workspace } = await load({})
    expect(problems).toMatchObject([
      { severity: 'warning', code: 'EMPTY_FILE', message: expect.stringMatching(/^there is no policy file in /) },
    ])
    expect(workspace).toBe('default')
    expect(sets.get('default')?.set).toMatchObject({ workspace: 'default', rules: [], documents: [] })
  })
})

describe('links', () => {
  it('of a mounted ConfigMap are followed through ..data, and every policy is read once', async () => {
    const root = folder({
      '..2026_11_21/acme.yaml': policyText(user('a@b.c')),
      '..2026_11_21/sub/more.yaml': policyText(user('b@b.c'), 'more'),
    })
    symlinkSync('..2026_11_21', join(root, '..data'))
    symlinkSync('..data/acme.yaml', join(root, 'acme.yaml'))
    symlinkSync('..data/sub', join(root, 'sub'))
    const { files, problems } = await loadPolicies(['.'], { cwd: root })
    expect({ files, problems }).toEqual({ files: ['acme.yaml', 'sub/more.yaml'], problems: [] })
  })

  it('of git-sync lead to the worktree, whose commit is the revision', async () => {
    const commit = '1234567890abcdef1234567890abcdef12345678'
    const root = folder({
      [`.worktrees/${commit}/policies/a.yaml`]: policyText(user('a@b.c')),
      [`.worktrees/${commit}/.git`]: 'gitdir: /nowhere/at/all\n',
    })
    symlinkSync(`.worktrees/${commit}`, join(root, 'repo'))
    const { files, sets } = await loadPolicies(['repo/policies'], { cwd: root })
    expect(files).toEqual(['repo/policies/a.yaml'])
    expect(sets.get('default')?.revision).toBe(commit)
  })

  it('to nothing are an error when they are named like a policy', async () => {
    const root = folder({})
    symlinkSync('gone.yaml', join(root, 'a.yaml'))
    symlinkSync('gone.txt', join(root, 'a.txt'))
    expect((await loadPolicies(['.'], { cwd: root })).problems.map(({ message }) => message)).toEqual(['a.yaml does not exist'])
  })
})

describe('workspaces', () => {
  const acme = policyText(`workspace: acme\n${user('a@b.c')}`, 'acme')
  const beta = policyText(`workspace: beta\n${user('a@b.c')}`, 'beta')
  const plain = policyText(user('p@b.c'), 'plain')

  it.each([
    ['--workspace', { 'p.yaml': plain }, { workspace: 'given' }, ['given'], []],
    ['the one name in the policies', { 'a.yaml': acme, 'p.yaml': plain }, {}, ['acme'], []],
    ['default', { 'p.yaml': plain }, {}, ['default'], []],
    ['nothing when the policies name two', { 'a.yaml': acme, 'b.yaml': beta }, {}, [], ['b.yaml:6:14 WORKSPACE_UNKNOWN']],
    ['nothing when --workspace and the policies differ', { 'a.yaml': acme }, { workspace: 'other' }, [], ['a.yaml:6:14 WORKSPACE_UNKNOWN']],
    ['the only configured one', { 'a.yaml': acme, 'p.yaml': plain }, { workspaces: ['acme'] }, ['acme'], []],
    ['all configured ones', { 'a.yaml': acme, 'b.yaml': beta }, { workspaces: ['acme', 'beta', 'gamma'] }, ['acme', 'beta', 'gamma'], []],
    ['nothing where unnamed', { 'a.yaml': acme, 'p.yaml': plain }, { workspaces: ['acme', 'beta'] }, [], ['p.yaml:4:9 WORKSPACE_MISSING']],
    ['nothing where unknown', { 'a.yaml': acme, 'b.yaml': beta }, { workspaces: ['acme', 'betta'] }, [], ['b.yaml:6:14 WORKSPACE_UNKNOWN']],
  ])('are called by %s', async (_name, files, options: LoadOptions, names, expected) => {
    const { sets, problems, problemsOf } = await load(files, options)
    expect([...sets.keys()]).toEqual(names)
    expect(placesWithFiles(problems)).toEqual(expected)
    expect([...new Set([...problemsOf.values()].flat())]).toEqual(problems)
    for (const [name, theirs] of problemsOf) expect(hasErrors(theirs), name).toBe(!sets.has(name))
  })

  it('are whole or not each for itself, when the broken document says whose it is', async () => {
    const broken = policyText('workspace: beta\nteam: {cap: x}', 'beta')
    expect([...(await load({ 'a.yaml': acme, 'b.yaml': broken }, { workspaces: ['acme', 'beta'] })).sets.keys()]).toEqual(['acme'])
  })

  it('are none of them whole when a shared file is not YAML', async () => {
    expect((await load({ 'a.yaml': acme, 'b.yaml': 'x: [' }, { workspaces: ['acme', 'beta'] })).sets.size).toBe(0)
  })

  const separate = {
    workspaces: [
      { name: 'acme', policies: ['a'] },
      { name: 'beta', policies: ['./b/'] },
    ],
  }
  const loadBoth = (files: Readonly<Record<string, string>>) => loadPolicies(['a', 'b'], { cwd: folder(files), ...separate })

  it('with folders of their own need no name in the documents', async () => {
    const { sets, problems } = await loadBoth({ 'a/x.yaml': plain, 'b/x.yaml': policyText(user('q@b.c'), 'other') })
    expect(problems).toEqual([])
    expect([...sets].map(([name, { set }]) => [name, set.documents])).toEqual([
      ['acme', ['plain']],
      ['beta', ['other']],
    ])
  })

  it('with folders of their own do not suffer from a broken file of another', async () => {
    expect([...(await loadBoth({ 'a/x.yaml': plain, 'b/x.yaml': 'x: [' })).sets.keys()]).toEqual(['acme'])
  })

  it.each([
    ['a folder of their own', { 'a/x.yaml': policyText('team: {cap: 1e3}'), 'b/x.yaml': policyText('team: {cap: x}', 'other') }],
    [
      'a file they share',
      {
        'a/x.yaml': policyText('workspace: acme\nteam: {cap: 1e3}', 'acme'),
        'shared/y.yaml': policyText('workspace: beta\nteam: {cap: x}', 'beta'),
      },
    ],
  ])('hear of what is wrong with their own documents alone, in %s', async (_name, files) => {
    const workspaces = separate.workspaces.map(({ name, policies }) => ({ name, policies: [...policies, 'shared'] }))
    const { problemsOf, problems } = await loadPolicies(['a', 'b', 'shared'], {
      cwd: folder({ 'b/.keep': '', 'shared/.keep': '', ...files }),
      workspaces,
    })
    const messages = (of: Parameters<typeof hasErrors>[0] = []) => of.map(({ message }) => message.split(',')[0])
    expect(messages(problemsOf.get('acme'))).toEqual(['spec.team.cap is 1e3'])
    expect(messages(problemsOf.get('beta'))).toEqual(['spec.team.cap is x'])
    expect(problems).toHaveLength(2)
  })

  it('do not take documents from folders that they do not read', async () => {
    const { problems, sets } = await loadBoth({ 'a/x.yaml': beta, 'b/x.yaml': policyText(user('q@b.c'), 'other') })
    expect(placesWithFiles(problems)).toEqual(['a/x.yaml:6:14 WORKSPACE_UNKNOWN'])
    expect([...sets.keys()]).toEqual(['beta'])
  })
})

describe('the digest', () => {
  const digest = async (files: Readonly<Record<string, string>>) => (await load(files)).sets.get('default')?.digest
  const base = policyText('team: {cap: 5}\nusers: [{email: a@b.c, cap: 6, reason: r}]', 'x')

  it('has 12 hex digits', async () => expect(await digest({ 'a.yaml': base })).toMatch(/^[0-9a-f]{12}$/))

  it.each([
    ['another file name', { 'z/y.yml': base }],
    ['other formatting', { 'a.yaml': `# c\n${policyText('users:\n- reason: "r"\n  cap: 6 # six\n  email: A@b.c\nteam:\n  cap: 5', 'x')}` }],
    ['two files', { 'a.yaml': policyText('team: {cap: 5}', 'x'), 'b.yaml': policyText('users: [{email: a@b.c, cap: 6, reason: r}]', 'y') }],
  ])('is the same with %s', async (_name, files) => expect(await digest(files)).toBe(await digest({ 'a.yaml': base })))

  it.each([
    ['cap', 'cap: 6', 'cap: 7'],
    ['person', 'a@b.c', 'b@b.c'],
    ['reason', 'reason: r', 'reason: s'],
    ['protected person', 'spec:\n', 'spec:\n  protected: [a@b.c]\n'],
    ['approval', 'spec:\n', 'spec:\n  approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a]\n'],
    ['conflict rule', 'spec:\n', 'spec:\n  onGroupConflict: max\n'],
  ])('differs with another %s', async (_name, from, to) =>
    expect(await digest({ 'a.yaml': base.replace(from, to) })).not.toBe(await digest({ 'a.yaml': base })),
  )
})
