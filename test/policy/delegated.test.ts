// The files of envelopes: whatever a team writes, platform's policy and the files of other teams are read as if it were not there.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = temporaryFolder()
let count = 0

const text = (name: string, spec: string): string => `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const POOL = '{name: p, members: {emails: [Pooled@X.com]}, credits: 9}'
const GROUPS = '[{id: grp_a, name: A}, {id: grp_b, name: B}]'
const PLATFORM = text('platform', `{team: {cap: 500}, groups: ${GROUPS}, protected: [boss@x.com], pools: [${POOL}]}`)
const B = text('b', '{users: [{email: b1@x.com, cap: 900}]}')
const at = { file: 'capkeeper.yaml', line: 1, column: 1 }
const bounds = { workspace: 'acme', maxCap: 3000, sum: 9000, grants: { maxDays: 31, maxAdd: 1000 }, at }

/** Loads a folder with these files; `link` names links with their targets. */
async function load(files: Readonly<Record<string, string>>, link: Readonly<Record<string, string>> = {}) {
  count += 1
  const cwd = join(root, `${count}`)
  for (const [name, body] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), body)
  }
  for (const [name, target] of Object.entries(link)) symlinkSync(target, join(cwd, name))
  const envelopes = ['a', 'b'].map((name) => ({ ...bounds, name, groups: [`grp_${name}`], policies: [`policies/${name}`] }))
  const loaded = await loadPolicies(['policies', 'policies/a', 'policies/b'], {
    cwd,
    workspaces: [{ name: 'acme', policies: ['policies'], envelopes }],
  })
  const revision = loaded.sets.get('acme')
  const isB = ({ envelope }: { readonly envelope: string }): boolean => envelope === 'b'
  return {
    problems: loaded.problems.map(({ code, at: place }) => `${place?.file}:${place?.line} ${code}`),
    set: revision?.set,
    commits: revision?.revision,
    ofB: [revision?.delegated?.files.filter(isB), revision?.delegated?.refused.filter((one) => one.endsWith('of b'))],
    ofA: revision?.delegated?.files.filter((file) => !isB(file)),
    isWhole: loaded.ofEnvelopes?.length ?? 0,
  }
}

const base = { 'policies/platform.yaml': PLATFORM, 'policies/b/b.yaml': B }
const withA = (body: string, link?: Readonly<Record<string, string>>) => load({ ...base, 'policies/a/a.yaml': body }, link)

describe('a file of a team', () => {
  const good = '{users: [{email: a1@x.com, cap: 900}]}'
  const granted = (cap: number, until: string) =>
    text('a', `{grants: [{user: a1@x.com, cap: ${cap}, from: 2026-11-01, until: ${until}, reason: x}]}`)

  it.each<readonly [string, string, string | undefined]>([
    ['says what a team may say', text('a', good), undefined],
    ['does not parse', 'spec: [', '1 YAML_SYNTAX'],
    ['is empty', '', '1 EMPTY_FILE'],
    ['says what only platform may', text('a', '{team: {cap: 5}}'), '4 ENVELOPE_OUTSIDE'],
    ['approves', text('a', '{approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a]}'), '4 ENVELOPE_OUTSIDE'],
    ['is of another workspace', text('a', '{workspace: other}'), '4 ENVELOPE_OUTSIDE'],
    ['has the name of a document of platform', text('platform', good), '3 DUPLICATE_NAME'],
    ['declares a scope twice', text('a', '{users: [{email: a1@x.com, cap: 9}, {email: a1@x.com, cap: 8}]}'), '4 DUPLICATE_SCOPE'],
    ['is above maxCap', text('a', '{users: [{email: a1@x.com, cap: 3001}]}'), '4 ENVELOPE_BOUND'],
    ['names a group of another', text('a', '{groups: [{id: grp_b, name: B, cap: 9}]}'), '4 ENVELOPE_OUTSIDE'],
    ['gives a group another name', text('a', '{groups: [{id: grp_a, name: Everybody, cap: 9}]}'), '4 ENVELOPE_OUTSIDE'],
    ['names a protected person', text('a', '{users: [{email: boss@x.com, cap: 9}]}'), '4 ENVELOPE_OUTSIDE'],
    ['names somebody who is named in a pool', text('a', '{users: [{email: pooled@x.com, cap: 9}]}'), '4 ENVELOPE_OUTSIDE'],
    ['has a grant that is too high', granted(4001, '2026-11-09'), '4 ENVELOPE_BOUND'],
    ['has a grant that is too long', granted(4000, '2026-12-09'), '4 ENVELOPE_BOUND'],
    ['is above sum', text('a', `{users: [${[1, 2, 3, 4].map((n) => `{email: a${n}@x.com, cap: 3000}`).join(', ')}]}`), '4 ENVELOPE_BOUND'],
  ])('that %s', async (_what, body, problem) => {
    const loaded = await withA(body)
    expect(loaded.problems).toEqual(problem === undefined ? [] : [`policies/a/a.yaml:${problem}`])
    expect(loaded.set).toEqual((await load(base)).set)
    expect(loaded.ofB).toEqual((await load(base)).ofB)
  })

  it.each([
    ['group', '{team: {cap: 5000}, groups: [{id: grp_a, name: A, cap: 100}]}', 0],
    ['team', '{team: {cap: 100}, groups: [{id: grp_a, name: A, cap: 5000}]}', 0],
    ['nothing within the bounds', '{team: {cap: 5000}, groups: [{id: grp_a, name: A}]}', 2],
    ['nothing at all', '{groups: [{id: grp_a, name: A}]}', 1],
  ])('may build on what is wider, without knowing who is in the group: %s', async (_what, platform, problems) => {
    const grant = '{user: a2@x.com, add: 9, from: 2026-11-01, until: 2026-11-09, reason: x}'
    const body = text('a', `{users: [{email: a1@x.com, cap: none}], grants: [${grant}]}`)
    const loaded = await load({ 'policies/platform.yaml': text('platform', platform), 'policies/a/a.yaml': body })
    expect(loaded.problems.filter((one) => one.endsWith(' ENVELOPE_BOUND'))).toHaveLength(problems)
  })

  it('may not be a link that leaves its folder; the target stays platform’s', async () => {
    const loaded = await withA(text('a', good), { 'policies/a/out.yaml': '../platform.yaml', 'policies/a/in.yaml': 'a.yaml' })
    expect(loaded.problems).toEqual(['policies/a/out.yaml:1 LINK_OUTSIDE'])
    expect(loaded.set).toEqual((await load(base)).set)
    expect(loaded.ofA?.map(({ file }) => file)).toEqual(['policies/a/a.yaml'])
  })

  it('has its commit in the revision, where its folder has one of its own', async () => {
    const [own, other] = ['a'.repeat(40), 'b'.repeat(40)]
    const heads = { 'policies/.git/HEAD': other, 'policies/a/.git/HEAD': own, 'policies/a/a.yaml': text('a', good) }
    expect((await load({ ...base, ...heads })).commits).toBe(`${own}+${other}`)
  })

  it('changes nothing for platform and for other teams, whatever it holds', async () => {
    const specs = fc.constantFrom(
      good,
      '{team: {cap: 1}}',
      '{users: [{email: b1@x.com, cap: 1}]}',
      '{users: [{email: b1@x.com, cap: 1}, {email: b1@x.com, cap: 2}]}',
      '{groups: [{id: grp_b, name: B}]}',
      '{groups: [{id: grp_b, name: Everybody}]}',
      '{protected: [b1@x.com]}',
      '{',
      '{grants: 5}',
      '{rules: [{name: r, when: {email: "*"}, cap: 1}]}',
      '{pools: [{name: p, members: {groups: [grp_b]}, credits: 1}]}',
      '{onGroupConflict: min}',
    )
    const names = fc.constantFrom('a', 'b', 'platform')
    const document = fc.oneof(
      fc.tuple(names, specs).map(([name, spec]) => text(name, spec)),
      fc.string({ maxLength: 40 }),
    )
    const nothing = await load(base)
    await fc.assert(
      fc.asyncProperty(fc.array(document, { maxLength: 3 }), async (documents) => {
        const loaded = await withA(documents.join('---\n'))
        expect(loaded.set).toEqual(nothing.set)
        expect(loaded.ofB).toEqual(nothing.ofB)
      }),
      { numRuns: 150 },
    )
  })

  it('cannot use up what others may have', async () => {
    const notes = Object.fromEntries(Array.from({ length: 1_990 }, (_, n) => [`policies/a/tickets/${n}.md`, '']))
    expect((await load({ ...base, ...notes })).problems).toEqual([])
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`policies/a/${n}.yaml`, text(`a${n}`, good)]))
    const loaded = await load({ ...base, ...many, 'policies/a/00.yaml': `# ${'x'.repeat(300_000)}` })
    expect(loaded.problems).toContain('policies/a/00.yaml:1 TOO_LARGE')
    expect(loaded.set).toEqual((await load(base)).set)
    expect(loaded.ofB).toEqual((await load(base)).ofB)
  })
})
