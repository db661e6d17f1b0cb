// What each edit writes, and what it leaves to a person, as texts before and after.
import { describe, expect, test } from 'vitest'
import type { Edit } from '../../../src/policy/edit/edit.ts'
import { planEdits } from '../../../src/policy/edit/plan.ts'
import { folders, policyText } from '../support.ts'
import { cap, extend, grant, ID, lines, NOW, of, remove, removeGrant, unprotect } from './edits.ts'

const folder = folders()

function planned(files: Readonly<Record<string, string>>, edits: readonly Edit[], more: object = {}): ReturnType<typeof planEdits> {
  const root = folder(files)
  return planEdits({ paths: [root], options: { now: NOW, cwd: root }, edits, ...more })
}

/** The text of `a.yaml` after an edit, or what was said instead. */
function edited(text: string, edit: Edit): string {
  const plan = planned({ 'a.yaml': text }, [edit])
  if (plan.kind === 'choice') return `choice: ${plan.message}`
  if (plan.kind === 'refused')
    return plan.problems.map(({ code, message, at }) => `${at?.line}:${at?.column} ${code} ${message}`).join('\n')
  return plan.files[0]?.after ?? `nothing: ${plan.nothing.join()}`
}

const GRANTED = ['grants:', '- {team: true, cap: 5, from: 2026-11-25, until: 2026-12-01, reason: r}']
const ADA = ['users:', '- email: ada@example.com # lead', '  cap: 500', '  reason: migration']

const NO_DAY = 'there is no such day: write a date such as 2026-12-15, or an RFC 3339 instant'

describe('an edit writes', () => {
  test.each<readonly [string, readonly string[], Edit, readonly string[]]>([
    ['a cap in the place of the old one', ADA, cap('ada@example.com', 700), [...ADA.slice(0, 2), '  cap: 700', ...ADA.slice(3)]],
    [
      'a reason in the quotes that it had',
      ['team: {cap: 5, reason: "old"}'],
      cap('team', 5, { reason: 'say "hi"' }),
      ['team: {cap: 5, reason: "say \\"hi\\""}'],
    ],
    [
      'a reason in the place of a block scalar, whose comment stays',
      ['team:', '  reason: >- # why', '    old', '    text', '  cap: 5'],
      cap('team', 5, { reason: 'new' }),
      ['team:', '  reason: new # why', '  cap: 5'],
    ],
    ['allowZero beside a 0', ['team: {cap: 5}'], cap('team', 0), ['team: {cap: 0, allowZero: true}']],
    ['allowZero as true where it was false', ['team: {cap: 5, allowZero: false}'], cap('team', 0), ['team: {cap: 0, allowZero: true}']],
    [
      'a person behind the last one, as that one is written',
      ADA,
      cap('Bob@example.com', 5, { reason: 'a: b' }),
      [...ADA, '- email: bob@example.com', '  cap: 5', '  reason: "a: b"'],
    ],
    [
      'a person between blank lines where the others have them',
      [...ADA, '', '- email: cyd@example.com', '  cap: 7'],
      cap('bob@example.com', 5),
      [...ADA, '', '- email: cyd@example.com', '  cap: 7', '', '- email: bob@example.com', '  cap: 5'],
    ],
    [
      'a list that is not there, where the manual has it',
      ['team: {cap: 5}', `approvals: [${ID}]`],
      cap('ada@example.com', 5),
      ['team: {cap: 5}', 'users:', '  - email: ada@example.com', '    cap: 5', `approvals: [${ID}]`],
    ],
    ['into empty brackets', ['users: []'], cap('ada@example.com', 5), ['users: [{email: ada@example.com, cap: 5}]']],
    [
      'into a list of several lines, with the comma of the line above',
      ['protected: [', '  ada@example.com # on call', '  ]'],
      { kind: 'protect', email: 'bob@example.com' },
      ['protected: [', '  ada@example.com, # on call', '  bob@example.com', '  ]'],
    ],
    [
      'the cap of a group that was only named',
      ['groups:', '- {id: g, name: G}'],
      cap('group:g', 5),
      ['groups:', '- {id: g, name: G, cap: 5}'],
    ],
    [
      'a new group with its name',
      ['groups:', '- {id: "g", name: "G"}'],
      cap('group:h', 5, { name: 'H' }),
      ['groups:', '- {id: "g", name: "G"}', '- {id: "h", name: "H", cap: 5}'],
    ],
    [
      'a grant with all that it has',
      ['team: {cap: 5}'],
      grant('ada@example.com', { from: '2026-11-25', ticket: 'OPS-12' }),
      [
        'team: {cap: 5}',
        'grants:',
        '  - user: ada@example.com',
        '    cap: 900',
        '    from: 2026-11-25',
        '    until: 2026-12-15',
        '    reason: release',
        '    ticket: OPS-12',
      ],
    ],
    [
      'allowZero beside the 0 of a grant',
      ['grants: [{team: true, cap: 9, until: 2026-11-25, reason: r}]'],
      grant('ada@example.com', { amount: { kind: 'cap', credits: 0 } }),
      [
        'grants: [{team: true, cap: 9, until: 2026-11-25, reason: r}, {user: ada@example.com, cap: 0, allowZero: true, until: 2026-12-15, reason: release}]',
      ],
    ],
    [
      'the end of a grant, and nothing else of it',
      ['grants:', '- {team: true, cap: 5, until: 2026-12-01, reason: r} # soon'],
      extend('team', '2026-12-08'),
      ['grants:', '- {team: true, cap: 5, until: 2026-12-08, reason: r} # soon'],
    ],
    [
      'the end of the grant that has not ended',
      [
        'grants:',
        '- {team: true, cap: 5, until: 2026-11-01, reason: r}',
        '- {team: true, cap: 5, from: 2026-11-10, until: 2026-12-01, reason: r}',
      ],
      extend('team', '2026-12-08'),
      [
        'grants:',
        '- {team: true, cap: 5, until: 2026-11-01, reason: r}',
        '- {team: true, cap: 5, from: 2026-11-10, until: 2026-12-08, reason: r}',
      ],
    ],
    [
      'nothing of an entry that it removes, nor of its comments',
      ['users:', '# free', '', '# his', '- email: bob@example.com', '  cap: 5 # five', '', '- email: ada@example.com', '  cap: 7'],
      remove('bob@example.com'),
      ['users:', '# free', '', '- email: ada@example.com', '  cap: 7'],
    ],
    [
      'only the cap away where a grant names the group',
      ['groups:', '- id: g', '  cap: 5 # five', '  name: G', 'grants:', '- {group: g, cap: 9, until: 2026-12-01, reason: r}'],
      remove('group:g'),
      ['groups:', '- id: g', '  name: G', 'grants:', '- {group: g, cap: 9, until: 2026-12-01, reason: r}'],
    ],
    [
      'only the cap away where the entry begins with it',
      ['groups:', '- cap: 5', '  id: g', '  name: G', 'grants:', '- {group: g, cap: 9, until: 2026-12-01, reason: r}'],
      remove('group:g'),
      ['groups:', '- id: g', '  name: G', 'grants:', '- {group: g, cap: 9, until: 2026-12-01, reason: r}'],
    ],
    [
      'an entry in brackets away with one comma',
      ['protected: [ada@example.com, bob@example.com, cyd@example.com]'],
      unprotect('bob@example.com'),
      ['protected: [ada@example.com, cyd@example.com]'],
    ],
    [
      'the last line in brackets away with the comma above, which is not one of a comment',
      ['protected: [', '  ada@example.com, # one, two', '  bob@example.com # three, four', '  ]'],
      unprotect('bob@example.com'),
      ['protected: [', '  ada@example.com # one, two', '  ]'],
    ],
    [
      'an entry away whose anchor is used in it alone, beside anchors of others',
      [
        'users:',
        '- {email: ada@example.com, cap: &c 5}',
        '- {email: bob@example.com, cap: *c}',
        '- {email: &e cyd@example.com, cap: 5, reason: *e}',
      ],
      remove('cyd@example.com'),
      ['users:', '- {email: ada@example.com, cap: &c 5}', '- {email: bob@example.com, cap: *c}'],
    ],
    [
      'a cap beside anchors of others',
      ['team: {cap: &c 5}', 'users: [{email: ada@example.com, cap: *c}, {email: bob@example.com, cap: 6}]'],
      cap('bob@example.com', 7),
      ['team: {cap: &c 5}', 'users: [{email: ada@example.com, cap: *c}, {email: bob@example.com, cap: 7}]'],
    ],
    [
      'the key away with the last entry',
      ['team: {cap: 5}', 'protected: # nobody', '- ada@example.com', 'users:', '- {email: ada@example.com, cap: 5}'],
      remove('ada@example.com'),
      ['team: {cap: 5}', 'protected: # nobody', '- ada@example.com'],
    ],
    ['the last key of a spec away', ['team:', '  cap: 5'], remove('team'), []],
  ])('%s', (_row, before, edit, after) => {
    const expected = after.length === 0 ? lines('x').replace('spec:\n  x\n', 'spec: {}\n') : lines(...after)
    expect(edited(lines(...before), edit)).toBe(expected)
  })

  test('with the line ends, the mark and the open end of the file', () => {
    const text = `\uFEFF${lines(...ADA)
      .trimEnd()
      .replaceAll('\n', '\r\n')}`
    expect(edited(text, cap('bob@example.com', 5))).toBe(`${text}\r\n  - email: bob@example.com\r\n    cap: 5`)
  })

  test.each([0, 2, '\t'])('JSON into JSON, indented by %j, and back', (indent) => {
    const spec = { team: { cap: 5 }, users: [{ email: 'ada@example.com', cap: 7 }], approvals: [] }
    const json = JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'a' }, spec }, null, indent)
    for (const [edit, target] of [
      [cap('bob@example.com', 5, { reason: 'a "b"' }), { kind: 'scope', scope: of('bob@example.com') }],
      [cap('group:g', 5, { name: 'G' }), { kind: 'scope', scope: of('group:g') }],
      [grant('team', { ticket: '7' }), { kind: 'grant', scope: of('team') }],
      [
        { kind: 'protect', email: 'ada@example.com' },
        { kind: 'protect', email: 'ada@example.com' },
      ],
      [
        { kind: 'approve', id: ID },
        { kind: 'approval', id: ID },
      ],
    ] as const) {
      const text = edited(json, edit)
      expect(JSON.parse(text)).not.toEqual(JSON.parse(json))
      expect(edited(text, { kind: 'remove', target })).toBe(json)
    }
  })

  test('each approval away, wherever it stands', () => {
    const files = {
      'a.yaml': policyText(`approvals: [${ID}]`, 'a'),
      'b.yaml': policyText(`team: {cap: 5}\napprovals:\n- ${ID}\n- ${ID}`, 'b'),
    }
    const plan = planned(files, [{ kind: 'remove', target: { kind: 'approval', id: ID } }])
    expect(plan.kind === 'proven' && plan.files.map(({ shown, after }) => [shown, after])).toEqual([
      ['a.yaml', policyText('approvals: []', 'a')],
      ['b.yaml', policyText('team: {cap: 5}', 'b')],
    ])
  })
})

describe('there is nothing to do', () => {
  test.each<readonly [string, readonly string[], Edit, string]>([
    ['for a cap that is there', ADA, cap('ada@example.com', 500), 'ada@example.com has the cap 500 already (a.yaml:7:5)'],
    [
      'for a grant that is there',
      ['grants:', '- {team: true, cap: 900, until: 2026-12-15T24:00:00Z, reason: release}'].map((line) => line.replace('T24:00:00Z', '')),
      grant('team'),
      'team has this grant already (a.yaml:7:6)',
    ],
    [
      'for a person who is protected',
      ['protected: [Ada@example.com]'],
      { kind: 'protect', email: 'ada@example.com' },
      'ada@example.com is in protected already (a.yaml:6:15)',
    ],
    ['for an end that is there', GRANTED, extend('team', '2026-12-01'), 'the grant of team ends then already (a.yaml:7:51)'],
    ['for a grant that is not there', ADA, removeGrant('team'), 'team has no grant'],
    ['for a grant of another day', GRANTED, removeGrant('team', { from: '2026-11-26' }), 'team has no such grant'],
    [
      'for a group without a cap that a pool names',
      ['groups: [{id: g, name: G}]', 'pools: [{name: q, members: {groups: [g]}, credits: 9}]'],
      remove('group:g'),
      'group:g has no cap, and the pool q names it',
    ],
    ['where nothing is to be removed', ADA, remove('bob@example.com'), 'bob@example.com has no entry'],
    [
      'for a group without a cap that others name',
      ['groups: [{id: g, name: G}]', 'rules: [{name: r, when: {groups: [g]}, cap: 5}]'],
      remove('group:g'),
      'group:g has no cap, and the rule r names it',
    ],
  ])('%s', (_row, before, edit, why) => {
    expect(edited(lines(...before), edit)).toBe(`nothing: ${why}`)
  })
})

describe('a person is left', () => {
  test.each<readonly [string, readonly string[], Edit, string]>([
    [
      'an entry that comes by an alias',
      ['users: [{email: &a ada@example.com, cap: 5}]', 'protected: [*a]'],
      unprotect('ada@example.com'),
      '7:15 EDIT_BY_HAND spec.protected[0] comes from the alias *a',
    ],
    [
      'a list whose anchor others use',
      ['protected: &p [ada@example.com]', 'pools: [{name: q, members: {emails: *p}, credits: 9}]'],
      { kind: 'protect', email: 'bob@example.com' },
      '6:17 EDIT_BY_HAND the anchor &p here is used elsewhere',
    ],
    [
      'a cap that comes by an alias',
      ['team: {cap: &c 5}', 'users: [{email: ada@example.com, cap: *c}]'],
      cap('ada@example.com', 7),
      '7:41 EDIT_BY_HAND spec.users[0].cap comes from the alias *c',
    ],
    [
      'a cap whose anchor others use',
      ['team: {cap: &c 5}', 'users: [{email: ada@example.com, cap: *c}]'],
      cap('team', 7),
      '6:18 EDIT_BY_HAND the anchor &c here is used elsewhere',
    ],
    [
      'an entry with an anchor that others use',
      ['users:', '- {email: ada@example.com, cap: &c 5}', '- {email: bob@example.com, cap: *c}'],
      remove('ada@example.com'),
      '7:38 EDIT_BY_HAND the anchor &c here is used elsewhere',
    ],
    ['a template', ['team: {cap: 5} # {{ .Values.cap }}'], cap('team', 7), '6:20 EDIT_BY_HAND a.yaml is a template here'],
    ['a template in other marks', ['team: {cap: 5} # {% if true %}'], cap('team', 7), '6:20 EDIT_BY_HAND a.yaml is a template here'],
    ['a template of a third kind', ['team: {cap: 5} # <% include %>'], cap('team', 7), '6:20 EDIT_BY_HAND a.yaml is a template here'],
    [
      'what sops encrypts',
      ['team: {cap: 5, reason: "ENC[AES256_GCM,data:x,iv:y]"}'],
      cap('team', 7),
      '6:27 EDIT_BY_HAND a.yaml is encrypted here',
    ],
    [
      'a template that does not even load',
      ['team: {cap: {{ .Values.cap }}}'],
      cap('team', 7),
      '6:15 EDIT_BY_HAND a.yaml is a template here',
    ],
    ['a set that does not load', ['team: {cap: 5, colour: red}'], cap('team', 7), '6:18 UNKNOWN_KEY unknown key "colour" in spec.team'],
    [
      'a merge',
      ['team: {<<: {cap: 5}}'],
      cap('team', 7),
      '6:9 MISSING spec.team has no cap\n6:10 UNKNOWN_KEY unknown key "<<" in spec.team',
    ],
    [
      'a grant that overlaps another',
      ['grants:', '- {team: true, cap: 5, until: 2026-12-01, reason: r}'],
      grant('team', { from: '2026-11-30' }),
      'undefined:undefined EDIT_UNPROVEN the edit is refused: the policies would have 1 more problem\n8:6 GRANT_OVERLAP two grants for the team overlap in time',
    ],
    [
      'an end that is not later',
      ['grants:', '- {team: true, cap: 5, until: 2026-12-01, reason: r}'],
      extend('team', '2026-11-30'),
      '7:33 EDIT_BY_HAND the grant of team ends at 2026-12-01, and 2026-11-30 is not surely later',
    ],
    [
      'a grant that is over before it is written',
      ['team: {cap: 5}'],
      grant('team', { until: '2026-11-01' }),
      'undefined:undefined EDIT_UNPROVEN the edit is refused: the policies would have 1 more problem\n8:7 GRANT_ENDED the grant for the team ended at 2026-11-02T00:00:00Z',
    ],
    [
      'a base that a grant adds to',
      ['users: [{email: ada@example.com, cap: 5}]', 'grants: [{user: ada@example.com, add: 5, until: 2026-12-01, reason: r}]'],
      remove('ada@example.com'),
      'undefined:undefined EDIT_UNPROVEN the edit is refused: the policies would have 1 more problem\n7:41 GRANT_ADD_BASE add has nothing to add to: no cap is declared for ada@example.com or its ancestors',
    ],
    [
      'a group under another name',
      ['groups: [{id: g, name: G, cap: 5}]'],
      cap('group:g', 5, { name: 'H' }),
      '6:26 EDIT_BY_HAND group:g is declared with the name G, not H',
    ],
    [
      'a null that was written out',
      ['protected: ~'],
      { kind: 'protect', email: 'ada@example.com' },
      '6:12 EDIT_BY_HAND spec.protected is written without a value',
    ],
  ])('%s', (_row, before, edit, said) => {
    expect(edited(lines(...before), edit)).toBe(said)
  })

  test('a file of sops, which has a key of its own', () => {
    for (const key of ['sops', '"sops"']) {
      const said = edited(`\uFEFF${lines('team: {cap: 5}')}${key}:\n  mac: x\n`, cap('team', 7))
      expect(said).toBe('7:1 EDIT_BY_HAND a.yaml is encrypted here')
    }
  })

  test.each<readonly [string, Edit, string]>([
    ['the day of an end', grant('team', { until: '2026-02-30' }), `--from or --until: ${NO_DAY}`],
    ['the day of a beginning', grant('team', { from: '2026-02-30' }), `--from or --until: ${NO_DAY}`],
    ['the day of a later end', extend('team', 'cycleEnd'), `--until: ${NO_DAY}`],
    ['the grant to extend', extend('group:g', '2026-12-08'), 'group:g has no grant to extend'],
    ['the day of the grant to extend', extend('team', '2026-12-08', { from: '2026-11-26' }), 'team has no such grant to extend'],
  ])('%s', (_row, edit, said) => {
    expect(edited(lines(...GRANTED), edit)).toBe(`choice: ${said}`)
  })

  test('a grant for the days of another one, unless it is the same', () => {
    const same = { amount: { kind: 'cap', credits: 5 }, from: '2026-11-25', until: '2026-12-01', reason: 'r' }
    expect(edited(lines(...GRANTED), grant('team', same))).toBe('nothing: team has this grant already (a.yaml:7:6)')
    for (const other of [{ reason: 's' }, { ticket: 'T' }, { from: '2026-11-26' }, { amount: { kind: 'cap', credits: 6 } }])
      expect(edited(lines(...GRANTED), grant('team', { ...same, ...other }))).toContain('GRANT_OVERLAP')
  })

  test('the choice of several grants, and of a name', () => {
    const two = lines(
      'grants:',
      '- {team: true, cap: 5, until: 2026-11-25, reason: r}',
      '- {team: true, cap: 5, from: 2026-12-01, until: 2026-12-02, reason: r}',
    )
    expect(edited(two, removeGrant('team'))).toBe('choice: team has 2 grants (a.yaml:7:6, a.yaml:8:6); name one with --from DATE or none')
    expect(edited(two, removeGrant('team', { from: 'none' }))).toBe(
      lines('grants:', '- {team: true, cap: 5, from: 2026-12-01, until: 2026-12-02, reason: r}'),
    )
    expect(edited(two, removeGrant('team', { from: '2026-12-01' }))).toBe(
      lines('grants:', '- {team: true, cap: 5, until: 2026-11-25, reason: r}'),
    )
    expect(edited(lines('team: {cap: 5}'), cap('group:g', 5))).toBe('choice: group:g is not declared yet: give its group_name with --name')
  })
})
