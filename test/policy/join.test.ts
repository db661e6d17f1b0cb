import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folders, placesWithFiles, policyText } from './support.ts'

const folder = folders()

/** Loads `files` from a folder that is the working directory. */
function load(files: Readonly<Record<string, string>>, options: Parameters<typeof loadPolicies>[1] = {}) {
  return loadPolicies(['.'], { cwd: folder(files), ...options })
}

const user = (email: string, cap = '5') => `users: [{email: ${email}, cap: ${cap}}]`

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
      'a person twice by an alias',
      { 'a.yaml': policyText('users:\n- &u {email: a@b.c, cap: 5}\n- *u\n- {email: b@b.c, cap: 5}', 'a') },
      ['a.yaml:8:5 DUPLICATE_SCOPE (a.yaml:7:16)'],
    ],
    [
      'the team by an alias, in another document',
      {
        'a.yaml': `${policyText('groups: [{id: g, name: G, cap: &c 5}]\nteam: &t {cap: 5}', 'a')}---\n${policyText('team: {cap: 5}', 'b')}`,
      },
      ['a.yaml:14:3 DUPLICATE_SCOPE (a.yaml:7:3)'],
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
    ['a group without a cap and without a grant', files('groups: [{id: g, name: G}]', '{}'), []],
    ['a group without a cap and with a grant', files('groups: [{id: g, name: G}]', `grants: [{group: g, cap: 5, ${GRANT}}]`), []],
    ['a grant for a group that nothing declares', files('{}', `grants: [{group: g, cap: 5, ${GRANT}}]`), ['b.yaml:6:20 GRANT_GROUP']],
    [
      'groups that nothing declares, beside a cap that is wrong',
      files('users: [{email: a@b.c, cap: 1e3}]', `grants: [{group: g, cap: 5, ${GRANT}}]\nrules: [{name: r, when: {groups: [h]}, cap: 5}]`),
      ['a.yaml:6:31 CAP', 'b.yaml:6:20 GRANT_GROUP', 'b.yaml:7:37 UNDECLARED_GROUP'],
    ],
    [
      'a group that may stand under a key that is wrong',
      files('grups: [{id: g, name: G, cap: 5}]', `grants: [{group: g, cap: 5, ${GRANT}}]`),
      ['a.yaml:6:3 UNKNOWN_KEY'],
    ],
    [
      'a group without a cap whose grant is wrong',
      files('groups: [{id: g, name: G}]', `grants: [{group: g, cap: 1e3, ${GRANT}}]`),
      ['b.yaml:6:28 CAP'],
    ],
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
    [
      'add to none also beside a line that is wrong',
      files(user('a@b.c', 'none'), `grants: [{user: a@b.c, add: 5, ${GRANT}}]\nteam: {cap: 1e3}`),
      ['b.yaml:6:31 GRANT_ADD_BASE (a.yaml:6:31)', 'b.yaml:7:15 CAP'],
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

  it.each<readonly [string, string, readonly string[]]>([
    ['that is over overlaps nothing of now', 'until: 2026-11-10', []],
    ['that still runs does', 'until: 2026-11-30', ['a.yaml:8:12 GRANT_OVERLAP (a.yaml:7:12)']],
    ['that comes does', 'from: 2026-12-01, until: 2026-12-05', ['a.yaml:7:12 GRANT_OVERLAP (a.yaml:8:12)']],
    ['that is over and has a from overlaps nothing of now', 'from: 2026-11-01, until: 2026-11-10', []],
  ])('say that a grant without from begins now: one %s', (_name, times, expected) => {
    const grants = [`{user: a@b.c, cap: 5, ${times}, reason: r}`, '{user: a@b.c, cap: 6, until: 2027-01-01, reason: r}']
    const { problems } = load({ 'a.yaml': policyText(`grants:\n- ${grants.join('\n- ')}`) }, { now: Date.parse('2026-11-21T12:00:00Z') })
    expect(placesWithFiles(problems.filter(({ severity }) => severity === 'error'))).toEqual(expected)
  })

  it('let a grant without from that is over be, also beside one that began before now', () => {
    const grants = [
      '{user: a@b.c, cap: 5, until: 2026-11-10, reason: r}',
      '{user: a@b.c, cap: 6, from: 2026-11-12, until: 2027-01-01, reason: r}',
    ]
    const { problems } = load({ 'a.yaml': policyText(`grants:\n- ${grants.join('\n- ')}`) }, { now: Date.parse('2026-11-21T12:00:00Z') })
    expect(problems).toMatchObject([{ severity: 'warning', code: 'GRANT_ENDED' }])
  })

  it('join protected people and approvals', () => {
    const { sets } = load(
      files(
        'protected: [b@b.c, a@b.c]\napprovals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a]',
        'protected: [A@b.c]\napprovals: [7D1F0C2A9B347D1F0C2A9B347D1F0C2A, 00000000000000000000000000000000]',
      ),
    )
    const set = sets.get('default')?.set
    expect(set?.protectedPeople).toEqual([
      { scope: { kind: 'user', email: 'a@b.c' }, at: { file: 'a.yaml', line: 6, column: 22 } },
      { scope: { kind: 'user', email: 'b@b.c' }, at: { file: 'a.yaml', line: 6, column: 15 } },
    ])
    expect(set?.approvals.map(({ id }) => id)).toEqual(['00000000000000000000000000000000', '7d1f0c2a9b347d1f0c2a9b347d1f0c2a'])
  })

  it('do not report as missing a base that may stand in a broken file, but a group that certainly stands in none', () => {
    const { problems } = load(files('team: {cap: x}', `grants: [{user: a@b.c, add: 5, ${GRANT}}, {group: g, cap: 5, ${GRANT}}]`))
    expect(placesWithFiles(problems)).toEqual(['a.yaml:6:15 CAP', 'b.yaml:6:73 GRANT_GROUP'])
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
