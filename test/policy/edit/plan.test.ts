// Edits of texts that no scene can hold, and their proof: what would be written must declare what was asked for, and nothing else may have changed
// meanwhile. What edit writes, and what it leaves to a person, is in test/scenes/edit-*.txt.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { systemClock } from '../../../src/daemon/schedule/system.ts'
import { planEdits, planEditsAside } from '../../../src/policy/edit/plan.ts'
import { folder, policyText } from '../support.ts'

const NOW = Date.UTC(2026, 10, 20)
const ID = '7d1f0c2a9b347d1f0c2a9b347d1f0c2a'

type Edit = Parameters<typeof planEdits>[0]['edits'][number]

const cap = (email: string, amount: number, reason?: string): Edit => ({
  ...{ kind: 'cap', scope: { kind: 'user', email }, cap: credits(amount) },
  ...(reason !== undefined && { reason }),
})
const grantTo = (until: string, reason = 'release'): Edit => ({
  ...{ kind: 'grant', scope: { kind: 'team' }, amount: { kind: 'cap', credits: 900 }, until, reason },
})

async function planned(text: string, edit: Edit): Promise<ReturnType<typeof planEdits>> {
  const root = folder({ 'a.yaml': text })
  return planEdits({ paths: [root], options: { now: NOW, cwd: root }, edits: [edit] })
}

/** The text after an edit. */
async function edited(text: string, edit: Edit): Promise<string> {
  const plan = await planned(text, edit)
  if (plan.kind !== 'proven') throw new Error(JSON.stringify(plan))
  return plan.files[0]?.after ?? 'nothing'
}

test('an edit keeps the line ends, the mark and the open end of the file', async () => {
  const spec = 'users:\n- email: ada@example.com # lead\n  cap: 500\n  reason: migration'
  const text = `\uFEFF${policyText(spec).trimEnd().replaceAll('\n', '\r\n')}`
  expect(await edited(text, cap('bob@example.com', 5))).toBe(`${text}\r\n  - email: bob@example.com\r\n    cap: 5`)
})

test.each([0, 2, '\t'])('JSON into JSON, indented by %j, and back', async (indent) => {
  const spec = { team: { cap: 5 }, users: [{ email: 'ada@example.com', cap: 7 }], approvals: [] }
  const json = JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name: 'a' }, spec }, null, indent)
  for (const [edit, target] of [
    [cap('bob@example.com', 5, 'a "b"'), { kind: 'scope', scope: { kind: 'user', email: 'bob@example.com' } }],
    [
      { kind: 'cap', scope: { kind: 'group', id: 'g' }, cap: credits(5), name: 'G' },
      { kind: 'scope', scope: { kind: 'group', id: 'g' } },
    ],
    [grantTo('2026-12-15'), { kind: 'grant', scope: { kind: 'team' } }],
    [
      { kind: 'protect', email: 'ada@example.com' },
      { kind: 'protect', email: 'ada@example.com' },
    ],
    [
      { kind: 'approve', id: ID },
      { kind: 'approval', id: ID },
    ],
  ] as const) {
    const text = await edited(json, edit)
    expect(JSON.parse(text)).not.toEqual(JSON.parse(json))
    expect(await edited(text, { kind: 'remove', target })).toBe(json)
  }
})

test('a text that would grow beyond what is read is refused, and a day that does not exist', async () => {
  const large = `${policyText('team: {cap: 5}')}#${'x'.repeat(1024 * 1024 - 130)}\n`
  expect(await planned(large, grantTo('2026-12-15', 'r'.repeat(200)))).toMatchObject({ kind: 'refused', problems: [{ code: 'TOO_LARGE' }] })
  const message = '--from or --until: there is no such day: write a date such as 2026-12-15, or an RFC 3339 instant'
  const team = policyText('team: {cap: 5}\ngrants: [{team: true, cap: 5, until: 2026-12-01, reason: r}]')
  expect(await planned(team, grantTo('2026-02-30'))).toEqual({ kind: 'choice', message })
  const extended: Edit = { kind: 'extend', scope: { kind: 'team' }, until: 'cycleEnd' }
  expect(await planned(team, extended)).toEqual({ kind: 'choice', message: message.replace('--from or ', '') })
})

test('large policies are edited in a thread as small ones are, which ends at its deadline', async () => {
  const root = folder({ 'a.yaml': `${policyText('team: {cap: 5}')}#${'x'.repeat(70_000)}\n` })
  const input = { paths: [root], options: { now: NOW, cwd: root }, edits: [grantTo('2026-12-15')] }
  expect(await planEditsAside(input, systemClock)).toEqual(await planEdits(input))
  const waits: number[] = []
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) }
  const late = await planEditsAside(input, clock)
  expect(late).toMatchObject({ kind: 'refused', problems: [{ code: 'TOO_LARGE', message: 'the policies were not edited in time' }] })
  await planEditsAside({ ...input, edits: [...input.edits, cap('a@example.com', 5)] }, clock)
  expect(waits).toEqual([60_000, 80_000])
})

const OTHER = ['users:', '- {email: bob@example.com, cap: 7}', '- {email: cyd@example.com, cap: 8, reason: r}']
const other = (...spec: readonly string[]): string => policyText(spec.join('\n'), 'other')
const ELSE = 'the edit is refused: the policies of default would declare something else than was asked for'
const MORE = 'the edit is refused: the policies would have 1 more problem'

// The other file stands for a splice that writes too much or too little: it is not what the edit was worked out from.
test.each<readonly [string, string, string]>([
  ['what was asked for', other(...OTHER), 'proven'],
  ['the same in another style', other('users:', '  - cap: 7', '    email: bob@example.com', `  ${OTHER[2]}`), 'proven'],
  ['another cap of somebody else', other(...OTHER).replace('cap: 7', 'cap: 70'), ELSE],
  ['another reason', other(...OTHER).replace('reason: r', 'reason: s'), ELSE],
  ['one entry less', other(...OTHER.slice(0, 2)), ELSE],
  ['one entry more', other(...OTHER, '- {email: dan@example.com, cap: 7}'), ELSE],
  ['another name of a document', policyText(OTHER.join('\n'), 'another'), ELSE],
  ['no document', '# nothing\n', MORE],
  ['a warning more', other(...OTHER, 'grants: [{team: true, cap: 9, until: 2026-10-02, reason: r}]'), MORE],
  ['text that does not load', other(...OTHER, '- x'), MORE],
])('the proof takes or refuses an edit after which the policies declare %s', async (_name, text, said) => {
  const root = folder({ 'a.yaml': policyText('users:\n- {email: ada@example.com, cap: 5}'), 'b.yaml': text })
  const plan = await planEdits({
    paths: [root],
    options: { now: NOW, cwd: root, replaced: new Map([[join(root, 'b.yaml'), other(...OTHER)]]) },
    edits: [cap('ada@example.com', 6)],
  })
  expect(plan.kind === 'refused' ? plan.problems[0] : plan.kind).toEqual(
    said === 'proven' ? said : expect.objectContaining({ code: 'EDIT_UNPROVEN', message: said }),
  )
})
