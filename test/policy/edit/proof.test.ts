// The proof of an edit: what would be written must declare what was asked for, and nothing else may have changed meanwhile. The other file stands for
// a splice that writes too much or too little: it is not what the edit was worked out from.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planEdits } from '../../../src/policy/edit/plan.ts'
import { folders, policyText } from '../support.ts'
import { cap, lines, NOW } from './edits.ts'

const folder = folders()
const OTHER = ['users:', '- {email: bob@example.com, cap: 7}', '- {email: cyd@example.com, cap: 8, reason: r}']
const other = (...spec: readonly string[]): string => lines(...spec).replace('name: test', 'name: other')

const ELSE = 'the edit is refused: the policies of default would declare something else than was asked for'
const MORE = 'the edit is refused: the policies would have 1 more problem'

test.each<readonly [string, string, string]>([
  ['what was asked for', other(...OTHER), 'proven'],
  ['the same in another style', other('users:', '  - cap: 7', '    email: bob@example.com', `  ${OTHER[2]}`), 'proven'],
  ['another cap of somebody else', other(OTHER[0] ?? '', '- {email: bob@example.com, cap: 70}', OTHER[2] ?? ''), ELSE],
  ['another reason', other(...OTHER).replace('reason: r', 'reason: s'), ELSE],
  ['one entry less', other(...OTHER.slice(0, 2)), ELSE],
  ['one entry more', other(...OTHER, '- {email: dan@example.com, cap: 7}'), ELSE],
  ['another name of a document', policyText(OTHER.join('\n'), 'another'), ELSE],
  ['no document', '# nothing\n', MORE],
  ['a warning more', other(...OTHER, 'grants: [{team: true, cap: 9, until: 2026-10-02, reason: r}]'), MORE],
  ['text that does not load', other(...OTHER, '- x'), MORE],
])('an edit after which the policies declare %s is proven or refused', (_name, text, said) => {
  const root = folder({ 'a.yaml': lines('users:', '- {email: ada@example.com, cap: 5}'), 'b.yaml': text })
  const plan = planEdits({
    paths: [root],
    options: { now: NOW, cwd: root, replaced: new Map([[join(root, 'b.yaml'), other(...OTHER)]]) },
    edits: [cap('ada@example.com', 6)],
  })
  expect(plan.kind === 'refused' ? plan.problems[0] : plan.kind).toEqual(
    said === 'proven' ? said : expect.objectContaining({ code: 'EDIT_UNPROVEN', message: said }),
  )
})
