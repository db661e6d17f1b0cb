// Where edits go, and what is proven of them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Edit } from '../../../src/policy/edit/edit.ts'
import { planEdits } from '../../../src/policy/edit/plan.ts'
import { folders, policyText } from '../support.ts'
import { cap, extend, grant, ID, lines, NOW } from './edits.ts'

const folder = folders()

function planned(files: Readonly<Record<string, string>>, edits: readonly Edit[], more: object = {}): ReturnType<typeof planEdits> {
  const root = folder(files)
  return planEdits({ paths: [root], options: { now: NOW, cwd: root }, edits, ...more })
}

describe('an edit goes to', () => {
  const files = {
    'a.yaml': policyText('users: [{email: ada@example.com, cap: 5}]', 'a'),
    'b.yaml': `${policyText('team: {cap: 5}', 'b')}---\n${policyText('groups: [{id: g, name: G, cap: 5}]', 'c')}`,
  }
  const goal = (edit: Edit, more: object = {}): unknown => {
    const plan = planned(files, [edit], more)
    return plan.kind === 'proven' ? plan.made.map(({ file }) => file) : plan.kind === 'choice' ? plan.message : plan.problems
  }

  test.each<readonly [string, Edit, object, unknown]>([
    ['the document that declares the scope', grant('ada@example.com'), {}, ['a.yaml']],
    ['the document that declares the person, to protect them', { kind: 'protect', email: 'ada@example.com' }, {}, ['a.yaml']],
    ['a document that is chosen', cap('bob@example.com', 5), { file: 'a.yaml' }, ['a.yaml']],
    ['one of several documents of a file', cap('bob@example.com', 5), { file: 'b.yaml#c' }, ['b.yaml']],
    [
      'none where several may hold it',
      cap('bob@example.com', 5),
      {},
      '3 documents may hold it; choose one with --file: a.yaml, b.yaml#b, b.yaml#c',
    ],
    [
      'none where the file has several',
      cap('bob@example.com', 5),
      { file: 'b.yaml' },
      '2 documents may hold it; choose one with --file: b.yaml#b, b.yaml#c',
    ],
    [
      'none where no such file is loaded',
      cap('bob@example.com', 5),
      { file: 'd.yaml' },
      '--file d.yaml is no file that is loaded with a policy; there are a.yaml, b.yaml#b, b.yaml#c',
    ],
  ])('%s', (_row, edit, more, expected) => {
    expect(goal(edit, more)).toEqual(expected)
  })

  test.each<readonly [string, string, Edit]>([
    ['the approval that is there already', `approvals: [${ID}]`, { kind: 'approve', id: ID }],
    ['the person who is protected already', 'protected: [cyd@example.com]', { kind: 'protect', email: 'cyd@example.com' }],
    ['the person', 'users: [{email: cyd@example.com, cap: 5}]', cap('cyd@example.com', 7)],
    ['the grant that is to end later', 'grants: [{group: g, cap: 9, until: 2026-12-01, reason: r}]', extend('group:g', '2026-12-08')],
    [
      'another grant of the person',
      'grants: [{user: cyd@example.com, cap: 9, until: 2026-12-01, reason: r}]',
      grant('cyd@example.com', { from: '2026-12-10' }),
    ],
    ['the group without a cap', 'groups: [{id: h, name: H}]', cap('group:h', 5)],
  ])('the document that has %s', (_row, spec, edit) => {
    const plan = planned({ ...files, 'd.yaml': policyText(spec, 'd') }, [edit])
    expect(plan.kind === 'proven' && [...plan.files.map(({ shown }) => shown), ...plan.nothing].join()).toContain('d.yaml')
  })

  test('the workspace that is chosen, and another one that is broken does not stop it', () => {
    const spec = (name: string, more: string) => policyText(`workspace: ${name}\n${more}`, name)
    const root = folder({
      'x.yaml': spec('x', 'team: {cap: 5}'),
      'y.yaml': spec('y', 'team: {cap: 5}'),
      'z.yaml': spec('z', 'team: {cap: 5.0}'),
    })
    const made = (more: object) =>
      planEdits({ paths: [root], options: { now: NOW, cwd: root, workspaces: ['x', 'y', 'z'] }, edits: [cap('team', 7)], ...more })
    expect(made({})).toMatchObject({ kind: 'choice' })
    expect(made({ workspace: 'y' })).toMatchObject({ kind: 'proven', files: [{ shown: 'y.yaml' }] })
    expect(made({ workspace: 'z' })).toMatchObject({ kind: 'refused', problems: [{ code: 'CAP', at: { file: 'z.yaml' } }] })
  })
})

test('who asks for none is told what it means, and a new team cap says what it does to others', () => {
  const none = planned({ 'a.yaml': lines('team: {cap: 5}', 'users: [{email: ada@example.com, cap: 5}]') }, [cap('ada@example.com', 'none')])
  expect(none).toMatchObject({ kind: 'proven', warnings: [{ code: 'NONE_FALLS_BACK' }] })
  const team = planned({ 'a.yaml': lines('users: [{email: ada@example.com, cap: none}]') }, [cap('team', 5)])
  expect(team).toMatchObject({ kind: 'refused', problems: [{ code: 'EDIT_UNPROVEN' }, { code: 'NONE_FALLS_BACK' }] })
})

test('a text that would grow beyond what is read is refused', () => {
  const root = folder({})
  writeFileSync(join(root, 'a.yaml'), `${lines('team: {cap: 5}')}#${'x'.repeat(1024 * 1024 - 130)}\n`)
  const plan = planEdits({ paths: [root], options: { now: NOW, cwd: root }, edits: [grant('team', { reason: 'r'.repeat(200) })] })
  expect(plan).toMatchObject({ kind: 'refused', problems: [{ code: 'TOO_LARGE' }] })
})
