import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PolicySet } from '../../src/core/policy.ts'
import { digestOf, type LoadOptions, loadPolicies } from '../../src/policy/load.ts'
import { printPolicy } from '../../src/policy/print.ts'
import { folders, placesWithFiles, policyText } from './support.ts'

const folder = folders()

/** Loads `files` from a folder that is the working directory. */
function load(files: Readonly<Record<string, string>>, options: LoadOptions = {}) {
  return loadPolicies(['.'], { cwd: folder(files), ...options })
}

/** What a set means, without places and document names. */
const meaning = (set: PolicySet): unknown =>
  JSON.parse(
    JSON.stringify(set, (key, value) => (['at', 'document', 'documents'].includes(key) && typeof value !== 'number' ? undefined : value)),
  )

const user = (email: string, cap = '5') => `users: [{email: ${email}, cap: ${cap}}]`

describe('what is read', () => {
  it('are *.yaml and *.yml in folders of any depth, hidden names left out', () => {
    const { files, problems, sets } = load({
      'b.yml': policyText(user('b@b.c'), 'b'),
      'a.yaml': policyText(user('a@b.c'), 'a'),
      'deep/er/c.yaml': policyText(user('c@b.c'), 'c'),
      '.hidden.yaml': 'x: [',
      '.git/d.yaml': 'x: [',
      'README.md': '# not a policy',
      'cap-policy.schema.json': '{}',
      'empty.yaml': '# nothing yet\n',
    })
    expect({ files, problems }).toEqual({ files: ['a.yaml', 'b.yml', 'deep/er/c.yaml', 'empty.yaml'], problems: [] })
    expect(sets.get('default')?.set.rules.map(({ scope }) => scope)).toMatchObject([
      { email: 'a@b.c' },
      { email: 'b@b.c' },
      { email: 'c@b.c' },
    ])
  })

  it('are named as the user would type them', () => {
    const root = folder({ 'policies/a.yaml': policyText(user('a@b.c', 'x')) })
    const at = (path: string, cwd: string) => loadPolicies([path], { cwd }).problems[0]?.at?.file
    expect(at('policies', root)).toBe('policies/a.yaml')
    expect(at(join(root, 'policies'), root)).toBe('policies/a.yaml')
    expect(at('../policies/', join(root, 'other'))).toBe('../policies/a.yaml')
    expect(at('./policies/a.yaml', root)).toBe('policies/a.yaml')
  })

  it('is read once when two paths lead to it', () => {
    const root = folder({ 'p/a.yaml': policyText(user('a@b.c')) })
    expect(loadPolicies(['p', 'p/a.yaml', './p'], { cwd: root }).problems).toEqual([])
  })

  it.each([
    ['a path that does not exist', ['nowhere'], 'nowhere does not exist'],
    ['a path through a file', ['a.yaml/b'], 'a.yaml/b does not exist: a part of the path is a file'],
  ])('is an error with %s, and nothing is whole', (_name, paths, message) => {
    const { problems, sets } = loadPolicies(paths, { cwd: folder({ 'a.yaml': policyText(user('a@b.c')) }) })
    expect(problems).toEqual([{ severity: 'error', code: 'FILE_UNREADABLE', message }])
    expect(sets.size).toBe(0)
  })

  it('is an error when a file is not UTF-8', () => {
    const root = folder({})
    writeFileSync(join(root, 'a.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]))
    expect(loadPolicies(['.'], { cwd: root }).problems[0]?.message).toBe('a.yaml cannot be read: the text is not UTF-8')
  })

  it('is an empty, whole set when there is no policy at all', () => {
    const { sets, problems, workspace } = load({})
    expect(problems).toEqual([])
    expect(workspace).toBe('default')
    expect(sets.get('default')?.set).toMatchObject({ workspace: 'default', rules: [], documents: [] })
  })
})

describe('links', () => {
  it('of a mounted ConfigMap are followed through ..data, and every policy is read once', () => {
    const root = folder({
      '..2026_11_21/acme.yaml': policyText(user('a@b.c')),
      '..2026_11_21/sub/more.yaml': policyText(user('b@b.c'), 'more'),
    })
    symlinkSync('..2026_11_21', join(root, '..data'))
    symlinkSync('..data/acme.yaml', join(root, 'acme.yaml'))
    symlinkSync('..data/sub', join(root, 'sub'))
    const { files, problems } = loadPolicies(['.'], { cwd: root })
    expect({ files, problems }).toEqual({ files: ['acme.yaml', 'sub/more.yaml'], problems: [] })
  })

  it('of git-sync lead to the worktree, whose commit is the revision', () => {
    const commit = '1234567890abcdef1234567890abcdef12345678'
    const root = folder({
      [`.worktrees/${commit}/policies/a.yaml`]: policyText(user('a@b.c')),
      [`.worktrees/${commit}/.git`]: 'gitdir: /nowhere/at/all\n',
    })
    symlinkSync(`.worktrees/${commit}`, join(root, 'repo'))
    const { files, sets } = loadPolicies(['repo/policies'], { cwd: root })
    expect(files).toEqual(['repo/policies/a.yaml'])
    expect(sets.get('default')?.revision).toBe(commit)
  })

  it('that leave the policy folder are refused', () => {
    const root = folder({ 'p/a.yaml': policyText(user('a@b.c')), 'secret.yaml': 'x: 1', 'other/b.yaml': 'x: 1' })
    symlinkSync('../secret.yaml', join(root, 'p/link.yaml'))
    symlinkSync('../other', join(root, 'p/folder'))
    symlinkSync('../secret.yaml', join(root, 'p/notes.txt'))
    const { problems, files } = loadPolicies(['p'], { cwd: root })
    expect(problems.map(({ code, message }) => `${code} ${message.split(' ')[0]}`)).toEqual([
      'LINK_OUTSIDE p/folder',
      'LINK_OUTSIDE p/link.yaml',
    ])
    expect(files).toEqual(['p/a.yaml'])
  })

  it('in a circle end', () => {
    const root = folder({ 'p/a.yaml': policyText(user('a@b.c')) })
    mkdirSync(join(root, 'p/sub'))
    symlinkSync('..', join(root, 'p/sub/up'))
    expect(loadPolicies(['p'], { cwd: root }).problems).toEqual([])
  })

  it('to nothing are an error when they are named like a policy', () => {
    const root = folder({})
    symlinkSync('gone.yaml', join(root, 'a.yaml'))
    symlinkSync('gone.txt', join(root, 'a.txt'))
    expect(loadPolicies(['.'], { cwd: root }).problems.map(({ message }) => message)).toEqual(['a.yaml does not exist'])
  })
})

describe('rules across documents', () => {
  const files = (a: string, b: string) => ({ 'a.yaml': policyText(a, 'a'), 'b.yaml': policyText(b, 'b') })
  const GRANT = 'until: 2027-06-30, reason: r'
  it.each([
    [
      'one name for two documents',
      { 'a.yaml': policyText('{}', 'x'), 'b.yaml': policyText('{}', 'x') },
      ['b.yaml:4:9 DUPLICATE_NAME (a.yaml:4:9)'],
    ],
    ['the team twice', files('team: {cap: 5}', 'team: {cap: 5}'), ['b.yaml:6:3 DUPLICATE_SCOPE (a.yaml:6:3)']],
    ['a person twice, in another spelling', files(user('A@b.c'), user('" a@B.c "')), ['b.yaml:6:19 DUPLICATE_SCOPE (a.yaml:6:19)']],
    [
      'a person twice in one file',
      { 'a.yaml': policyText('users:\n- {email: a@b.c, cap: 5}\n- {email: a@b.c, cap: 6}', 'a') },
      ['a.yaml:8:13 DUPLICATE_SCOPE (a.yaml:7:13)'],
    ],
    [
      'a group twice',
      files('groups: [{id: g, name: G, cap: 5}]', 'groups: [{id: g, name: H, cap: 5}]'),
      ['b.yaml:6:17 DUPLICATE_SCOPE (a.yaml:6:17)'],
    ],
    [
      'one name for two groups',
      files('groups: [{id: g, name: G, cap: 5}]', 'groups: [{id: h, name: G, cap: 5}]'),
      ['b.yaml:6:17 DUPLICATE_GROUP_NAME (a.yaml:6:17)'],
    ],
    ['different conflict rules', files('onGroupConflict: min', 'onGroupConflict: max'), ['b.yaml:6:20 CONFLICT_RULES (a.yaml:6:20)']],
    ['equal conflict rules', files('onGroupConflict: min', 'onGroupConflict: min'), []],
    ['a group without a cap and without a grant', files('groups: [{id: g, name: G}]', '{}'), ['a.yaml:6:17 MISSING']],
    ['a group without a cap and with a grant', files('groups: [{id: g, name: G}]', `grants: [{group: g, cap: 5, ${GRANT}}]`), []],
    ['a grant for a group that nothing declares', files('{}', `grants: [{group: g, cap: 5, ${GRANT}}]`), ['b.yaml:6:20 GRANT_GROUP']],
    [
      'two open grants for one person',
      files(`grants: [{user: a@b.c, cap: 5, ${GRANT}}]`, `grants: [{user: A@b.c, cap: 6, ${GRANT}}]`),
      ['b.yaml:6:19 GRANT_OVERLAP (a.yaml:6:19)'],
    ],
    [
      'grants that share one day',
      files(
        'grants: [{team: true, cap: 5, until: 2027-01-10, reason: r}]',
        'grants: [{team: true, cap: 5, from: 2027-01-10, until: 2027-01-20, reason: r}]',
      ),
      ['b.yaml:6:13 GRANT_OVERLAP (a.yaml:6:13)'],
    ],
    [
      'grants one after the other',
      files(
        'grants: [{team: true, cap: 5, from: 2027-01-11, until: 2027-01-20, reason: r}]',
        'grants: [{team: true, cap: 5, until: 2027-01-10, reason: r}]',
      ),
      [],
    ],
    [
      'a grant inside a long one that others follow',
      files(
        'grants: [{team: true, cap: 5, from: 2027-01-01, until: 2027-12-31, reason: r}]',
        'grants: [{team: true, cap: 5, from: 2027-02-01, until: 2027-02-10, reason: r}, {team: true, cap: 5, from: 2027-03-01, until: 2027-03-10, reason: r}]',
      ),
      ['b.yaml:6:13 GRANT_OVERLAP (a.yaml:6:13)', 'b.yaml:6:83 GRANT_OVERLAP (a.yaml:6:13)'],
    ],
    [
      'a grant over the start of one until cycleEnd',
      files(
        'grants: [{team: true, cap: 5, from: 2027-01-05, until: cycleEnd, reason: r}]',
        'grants: [{team: true, cap: 5, until: 2027-01-10, reason: r}]',
      ),
      ['a.yaml:6:13 GRANT_OVERLAP (b.yaml:6:13)'],
    ],
    [
      'two until cycleEnd from one day',
      files(
        'grants: [{team: true, cap: 5, from: 2027-01-05, until: cycleEnd, reason: r}]',
        'grants: [{team: true, cap: 6, from: 2027-01-05, until: cycleEnd, reason: r}]',
      ),
      ['b.yaml:6:13 GRANT_OVERLAP (a.yaml:6:13)'],
    ],
    ['add to a cap of the person', files(user('a@b.c'), `grants: [{user: a@b.c, add: 5, ${GRANT}}]`), []],
    [
      'add to none',
      files(user('a@b.c', 'none'), `grants: [{user: a@b.c, add: 5, ${GRANT}}]`),
      ['b.yaml:6:31 GRANT_ADD_BASE (a.yaml:6:31)'],
    ],
    ['add to the cap of the team', files('team: {cap: 5}', `grants: [{user: a@b.c, add: 5, ${GRANT}}]`), []],
    ['add to the cap of some group', files('groups: [{id: g, name: G, cap: 5}]', `grants: [{user: a@b.c, add: 5, ${GRANT}}]`), []],
    [
      'add where only a narrower scope has a cap',
      files(user('a@b.c'), `grants: [{team: true, add: 5, ${GRANT}}]`),
      ['b.yaml:6:30 GRANT_ADD_BASE'],
    ],
    ['add without any cap', files('team: {cap: none}', `grants: [{user: a@b.c, add: 5, ${GRANT}}]`), ['b.yaml:6:31 GRANT_ADD_BASE']],
  ])('report %s', (_name, texts, expected) => {
    const { problems, sets } = load(texts)
    expect(placesWithFiles(problems)).toEqual(expected)
    expect(sets.has('default')).toBe(expected.length === 0)
  })

  it('show the line of the second place', () => {
    const [problem] = load(files(user('a@b.c'), user('a@b.c'))).problems
    expect(problem).toMatchObject({ message: 'a@b.c is declared twice', sourceLine: `  ${user('a@b.c')}`, length: 5 })
  })

  it('join protected people and approvals', () => {
    const { sets } = load(
      files('protected: [b@b.c, a@b.c]\napprovals: [7d1f0c2a9b34]', 'protected: [A@b.c]\napprovals: [7D1F0C2A9B34, 000000000000]'),
    )
    const set = sets.get('default')?.set
    expect(set?.protectedPeople).toEqual([
      { scope: { kind: 'user', email: 'a@b.c' }, at: { file: 'a.yaml', line: 6, column: 22 } },
      { scope: { kind: 'user', email: 'b@b.c' }, at: { file: 'a.yaml', line: 6, column: 15 } },
    ])
    expect(set?.approvals.map(({ id }) => id)).toEqual(['000000000000', '7d1f0c2a9b34'])
  })

  it('do not report as missing what may stand in a broken file', () => {
    const { problems } = load(files('team: {cap: x}', `grants: [{user: a@b.c, add: 5, ${GRANT}}, {group: g, cap: 5, ${GRANT}}]`))
    expect(placesWithFiles(problems)).toEqual(['a.yaml:6:15 CAP'])
  })

  it('let a time zone hold for its own document only', () => {
    const dated = 'grants: [{user: a@b.c, cap: 5, until: 2026-12-15, reason: r}]'
    const { sets } = load({
      'a.yaml': `${policyText(`timezone: Asia/Tokyo\n${dated}`, 'a')}---\n${policyText(dated.replace('a@b.c', 'b@b.c'), 'b')}`,
    })
    expect(sets.get('default')?.set.grants.map(({ until }) => until)).toEqual([
      { kind: 'instant', at: Date.parse('2026-12-15T15:00:00Z') },
      { kind: 'instant', at: Date.parse('2026-12-16T00:00:00Z') },
    ])
  })
})

describe('warnings', () => {
  it.each([
    ['none of a person under a team cap', `team: {cap: 5}\n${user('a@b.c', 'none')}`, ['a.yaml:7:31 NONE_FALLS_BACK (a.yaml:6:15)']],
    [
      'none of a group under a team cap',
      'team: {cap: 5}\ngroups: [{id: g, name: G, cap: none}]',
      ['a.yaml:7:34 NONE_FALLS_BACK (a.yaml:6:15)'],
    ],
    [
      'none of a person where groups have caps',
      `groups: [{id: g, name: G, cap: 9}]\n${user('a@b.c', 'none')}`,
      ['a.yaml:7:31 NONE_FALLS_BACK (a.yaml:6:34)'],
    ],
    ['none under none', `team: {cap: none}\n${user('a@b.c', 'none')}`, []],
    ['none of the team', `team: {cap: none}\n${user('a@b.c')}`, []],
    ['a grant that is over', 'grants: [{user: a@b.c, cap: 5, until: 2026-11-20, reason: r}]', ['a.yaml:6:19 GRANT_ENDED']],
    ['a grant on its last day', 'grants: [{user: a@b.c, cap: 5, until: 2026-11-21, reason: r}]', []],
    [
      'a grant that begins before the cycle of another may have ended',
      'grants:\n- {team: true, cap: 5, from: 2026-12-01, until: cycleEnd, reason: r}\n- {team: true, cap: 5, from: 2026-12-20, until: 2026-12-22, reason: r}',
      ['a.yaml:8:6 GRANT_OVERLAP (a.yaml:7:6)'],
    ],
  ])('tell of %s and leave the set whole', (_name, spec, expected) => {
    const { problems, sets } = load({ 'a.yaml': policyText(spec) }, { now: Date.parse('2026-11-21T12:00:00Z') })
    expect(placesWithFiles(problems)).toEqual(expected)
    expect(problems.every(({ severity }) => severity === 'warning')).toBe(true)
    expect(sets.has('default')).toBe(true)
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
    [
      'nothing when a document does not say which',
      { 'a.yaml': acme, 'p.yaml': plain },
      { workspaces: ['acme', 'beta'] },
      [],
      ['p.yaml:4:9 WORKSPACE_MISSING'],
    ],
    [
      'nothing when a name is not configured',
      { 'a.yaml': acme, 'b.yaml': beta },
      { workspaces: ['acme', 'betta'] },
      [],
      ['b.yaml:6:14 WORKSPACE_UNKNOWN'],
    ],
  ])('are called by %s', (_name, files, options: LoadOptions, names, expected) => {
    const { sets, problems } = load(files, options)
    expect([...sets.keys()]).toEqual(names)
    expect(placesWithFiles(problems)).toEqual(expected)
  })

  it('suggest the configured name', () => {
    expect(load({ 'b.yaml': beta }, { workspaces: ['acme', 'betta'] }).problems[0]?.hint).toBe('did you mean "betta"?')
  })

  it('are whole or not each for itself, when the broken document says whose it is', () => {
    const broken = policyText('workspace: beta\nteam: {cap: x}', 'beta')
    expect([...load({ 'a.yaml': acme, 'b.yaml': broken }, { workspaces: ['acme', 'beta'] }).sets.keys()]).toEqual(['acme'])
  })

  it('are none of them whole when a shared file is not YAML', () => {
    expect(load({ 'a.yaml': acme, 'b.yaml': 'x: [' }, { workspaces: ['acme', 'beta'] }).sets.size).toBe(0)
  })

  const separate = {
    workspaces: [
      { name: 'acme', policies: ['a'] },
      { name: 'beta', policies: ['./b/'] },
    ],
  }
  const loadBoth = (files: Readonly<Record<string, string>>) => loadPolicies(['a', 'b'], { cwd: folder(files), ...separate })

  it('with folders of their own need no name in the documents', () => {
    const { sets, problems } = loadBoth({ 'a/x.yaml': plain, 'b/x.yaml': policyText(user('q@b.c'), 'other') })
    expect(problems).toEqual([])
    expect([...sets].map(([name, { set }]) => [name, set.documents])).toEqual([
      ['acme', ['plain']],
      ['beta', ['other']],
    ])
  })

  it('with folders of their own do not suffer from a broken file of another', () => {
    expect([...loadBoth({ 'a/x.yaml': plain, 'b/x.yaml': 'x: [' }).sets.keys()]).toEqual(['acme'])
  })

  it('do not take documents from folders that they do not read', () => {
    const { problems, sets } = loadBoth({ 'a/x.yaml': beta, 'b/x.yaml': policyText(user('q@b.c'), 'other') })
    expect(placesWithFiles(problems)).toEqual(['a/x.yaml:6:14 WORKSPACE_UNKNOWN'])
    expect([...sets.keys()]).toEqual(['beta'])
  })
})

describe('the digest', () => {
  const digest = (files: Readonly<Record<string, string>>) => load(files).sets.get('default')?.digest
  const base = policyText('team: {cap: 5}\nusers: [{email: a@b.c, cap: 6, reason: r}]', 'x')

  it('has 12 hex digits', () => expect(digest({ 'a.yaml': base })).toMatch(/^[0-9a-f]{12}$/))

  it.each([
    ['another file name', { 'z/y.yml': base }],
    [
      'comments and formatting',
      { 'a.yaml': `# c\n${policyText('users:\n- reason: "r"\n  cap: 6 # six\n  email: A@b.c\nteam:\n  cap: 5', 'x')}` },
    ],
    [
      'two documents',
      { 'a.yaml': policyText('team: {cap: 5}', 'x'), 'b.yaml': policyText('users: [{email: a@b.c, cap: 6, reason: r}]', 'y') },
    ],
  ])('is the same with %s', (_name, files) => expect(digest(files)).toBe(digest({ 'a.yaml': base })))

  it.each([
    ['cap', 'cap: 6', 'cap: 7'],
    ['person', 'a@b.c', 'b@b.c'],
    ['reason', 'reason: r', 'reason: s'],
    ['protected person', 'spec:\n', 'spec:\n  protected: [a@b.c]\n'],
    ['approval', 'spec:\n', 'spec:\n  approvals: [7d1f0c2a9b34]\n'],
    ['conflict rule', 'spec:\n', 'spec:\n  onGroupConflict: max\n'],
  ])('differs with another %s', (_name, from, to) =>
    expect(digest({ 'a.yaml': base.replace(from, to) })).not.toBe(digest({ 'a.yaml': base })),
  )
})

/** Policy sets of any shape that is valid. */
const email = fc.integer({ min: 0, max: 30 }).map((index) => `u${index}@example.com`)
const word = fc.constantFrom(
  'plain',
  'true',
  '12',
  '1e3',
  ': odd',
  '# no comment',
  '"quoted"',
  'two\nlines',
  'null',
  '007',
  "it's",
  '- item',
)
const cap = fc.oneof(fc.integer({ min: 0, max: 2147483647 }), fc.constant('none'))
const ruleOf = fc.record({ cap, reason: fc.option(word, { nil: undefined }) })
const specs = fc.record({
  team: fc.option(ruleOf, { nil: undefined }),
  groups: fc.uniqueArray(fc.record({ id: fc.integer({ min: 0, max: 20 }), rule: ruleOf }), { selector: ({ id }) => id, maxLength: 6 }),
  users: fc.uniqueArray(fc.record({ email, rule: ruleOf }), { selector: (one) => one.email, maxLength: 10 }),
  grants: fc.uniqueArray(
    fc.record({ email, cap: fc.integer({ min: 1, max: 9999 }), until: fc.integer({ min: 1, max: 2_000_000_000_000 }), reason: word }),
    {
      selector: (one) => one.email,
      maxLength: 6,
    },
  ),
  protected: fc.array(email, { maxLength: 3 }),
})
type Spec = typeof specs extends fc.Arbitrary<infer T> ? T : never

function setFrom(spec: Spec): PolicySet {
  const at = { file: 'x', line: 1, column: 1 }
  const rule = (scope: unknown, { cap: value, reason }: { cap: unknown; reason?: string | undefined }) => ({
    scope,
    cap: value,
    ...(reason ? { reason: reason.trim() } : {}),
    at,
    document: 'x',
  })
  return {
    workspace: 'acme',
    rules: [
      ...(spec.team ? [rule({ kind: 'team' }, spec.team)] : []),
      ...spec.groups.map((group) => rule({ kind: 'group', id: `g${group.id}` }, group.rule)),
      ...spec.users.map((one) => rule({ kind: 'user', email: one.email }, one.rule)),
    ],
    groups: spec.groups.map(({ id }) => ({ scope: { kind: 'group', id: `g${id}` }, name: `Group ${id}`, at })),
    grants: spec.grants.map((one) => ({
      scope: { kind: 'user', email: one.email },
      amount: { kind: 'cap', credits: one.cap },
      until: { kind: 'instant', at: one.until },
      reason: one.reason.trim(),
      at,
      document: 'x',
    })),
    protectedPeople: spec.protected.map((one) => ({ scope: { kind: 'user', email: one }, at })),
    approvals: [],
    documents: ['x'],
  } as unknown as PolicySet
}

describe('laws', () => {
  it('a printed set parses back to itself', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const root = folder({ 'a.yaml': printPolicy(setFrom(spec), { name: 'x' }) })
        const first = loadPolicies(['.'], { cwd: root }).sets.get('acme')
        expect(first?.digest).toBe(digestOf(uniquePeople(setFrom(spec))))
        writeFileSync(join(root, 'a.yaml'), printPolicy(first?.set ?? setFrom(spec), { name: 'x' }))
        const second = loadPolicies(['.'], { cwd: root }).sets.get('acme')
        expect(second && meaning(second.set)).toEqual(first && meaning(first.set))
        rmSync(root, { recursive: true, force: true })
      }),
      { numRuns: 60 },
    )
  })

  it('the order of files and of documents never matters', () => {
    fc.assert(
      fc.property(specs, fc.nat({ max: 99 }), (spec, number) => {
        const set = setFrom(spec)
        const isEven = (_item: unknown, index: number) => index % 2 === 0
        const people = set.rules.filter(({ scope }) => scope.kind === 'user')
        const wide = set.rules.filter(({ scope }) => scope.kind !== 'user')
        const one = printPolicy({ ...set, rules: [...wide, ...people.filter(isEven)], grants: [] }, { name: 'one' })
        const two = printPolicy({ ...set, rules: people.filter((rule, index) => !isEven(rule, index)), groups: [] }, { name: 'two' })
        const orders = [{ 'a.yaml': one, 'b.yaml': two }, { [`z${number}.yaml`]: one, 'b.yaml': two }, { 'a.yaml': `${two}---\n${one}` }]
        const loaded = orders.map((files) => load(files).sets.get('acme'))
        expect(loaded[0]).toBeDefined()
        for (const revision of loaded) {
          expect(revision?.digest).toBe(loaded[0]?.digest)
          expect(revision && meaning(revision.set)).toEqual(loaded[0] && meaning(loaded[0].set))
        }
      }),
      { numRuns: 40 },
    )
  })
})

const uniquePeople = (set: PolicySet): PolicySet => ({
  ...set,
  protectedPeople: set.protectedPeople.filter(({ scope }, index, all) => all.findIndex((one) => one.scope.email === scope.email) === index),
})
