// The laws of `edit`, checked on random files and random edits: the difference is the wanted one, other bytes stay, an edit and its removal give
// the first file back, and an edit made twice is made once. The tests try some hundreds of cases, the bench twenty thousand.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicySet } from '../../../src/core/model/policy.ts'
import { parseScope, type Scope, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import type { Edit, Target } from '../../../src/policy/edit/edit.ts'
import { type EditPlan, planEdits } from '../../../src/policy/edit/plan.ts'
import { linesOf } from '../../../src/policy/load/digest.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { type Random, randomOf } from '../../adversary/random.ts'
import { IDS, type Written, writtenPolicy } from './written.ts'

const NOW = Date.UTC(2026, 10, 20)

export interface Tried {
  /** What was broken, with the case; '' when nothing was. */
  readonly broken: string
  readonly kind: string
  readonly outcome: 'made' | 'nothing' | 'refused' | 'choice' | 'invalid'
}

/** A folder in which cases are tried. */
export function openTrial(): { readonly tryOne: (seed: number) => Promise<Tried>; readonly close: () => void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'capkeeper-edit-')))
  const file = join(folder, 'policy.yaml')
  const plan = async (text: string, edit: Edit, document: string | undefined): Promise<EditPlan> => {
    writeFileSync(file, text)
    return planEdits({
      paths: [file],
      options: { now: NOW, cwd: folder },
      edits: [edit],
      ...(document && { file: `policy.yaml#${document}` }),
    })
  }
  return { tryOne: (seed) => tryCase(randomOf(seed), plan, folder), close: () => rmSync(folder, { recursive: true, force: true }) }
}

type Plan = (text: string, edit: Edit, document: string | undefined) => Promise<EditPlan>

const setIn = async (text: string, folder: string): Promise<PolicySet | undefined> => {
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, text)
  return [...(await loadPolicies([file], { now: NOW, cwd: folder })).sets.values()][0]?.set
}

async function tryCase(random: Random, plan: Plan, folder: string): Promise<Tried> {
  const written = writtenPolicy(random)
  const before = await setIn(written.text, folder)
  const edit = randomEdit(random, written)
  const document = written.documents > 1 ? `d${random.int(0, written.documents - 1)}` : undefined
  const tell = (outcome: Tried['outcome'], broken = ''): Tried => ({
    outcome,
    kind: edit.kind,
    broken: broken === '' ? '' : `${broken}\n${JSON.stringify(edit)} in ${document}\n--- before\n${shown(written.text)}`,
  })
  if (!before) {
    const problems = (await loadPolicies([join(folder, 'policy.yaml')], { now: NOW, cwd: folder })).problems.map(({ message }) => message)
    // A random order may put an alias before its anchor.
    return tell(
      'invalid',
      problems.every((message) => message.includes('has no anchor')) ? '' : `the random file is not valid: ${problems.join('; ')}`,
    )
  }
  const made = await plan(written.text, edit, document)
  if (made.kind !== 'proven') return tell(made.kind, made.kind === 'refused' ? unexpected(made) : '')
  const [changed] = made.files
  if (!changed) return tell('nothing')
  const { after } = changed
  const more = `\n--- after\n${shown(after)}`
  const set = await setIn(after, folder)
  if (!set) return tell('made', `the edited file does not load${more}`)
  const broken =
    wrongDifference(edit, before, set) ??
    (edit.kind === 'remove' ? wrongRemoval(edit.target, written, after) : wrongBytes(edit, written.text, after, before))
  if (broken !== undefined) return tell('made', broken + more)
  const twice = await plan(after, edit, document)
  if (twice.kind !== 'proven' || twice.files.length > 0)
    return tell('made', `made twice, it does more: ${JSON.stringify(twice).slice(0, 300)}${more}`)
  const undone = undoing(edit, before)
  if (!undone) return tell('made')
  const back = await plan(after, { kind: 'remove', target: undone }, document)
  const text = back.kind === 'proven' ? (back.files[0]?.after ?? after) : undefined
  if (text === written.text) return tell('made')
  return tell(
    'made',
    `its removal does not give the first file back${more}\n--- back\n${text === undefined ? JSON.stringify(back) : shown(text)}`,
  )
}

const shown = (text: string): string =>
  text
    .replaceAll('\r', '␍')
    .replaceAll('\uFEFF', '<BOM>')
    .replace(/[ \t]+$/gm, (blanks) => '·'.repeat(blanks.length))

/** What is left to a person is left for a reason that these files have. */
function unexpected({ problems }: Extract<EditPlan, { kind: 'refused' }>): string {
  const codes = problems.map(({ code, message }) => `${code} ${message}`)
  const isExpected =
    /EDIT_BY_HAND .*(declared with the name|comes from the alias|is used elsewhere|without a value|not surely later)|GRANT_OVERLAP|DUPLICATE_|GRANT_GROUP|GRANT_ADD_BASE/
  return codes.some((code) => isExpected.test(code)) ? '' : `refused: ${codes.join('; ')}`
}

const ODD = '\ufeffu|a\u0085b|\u202ev|e\u200d|\u{e0041}w|a\u2028b'
const REASONS = `plain|a: b| # c|- d|{e}|"f"|g'h|tr\tab|ünï 😀|true|12|[x, y]|two\nlines|*z|!t|--- x|~|a:|%d|${ODD}`.split('|')

function randomEdit(random: Random, { entries }: Written): Edit {
  const people = ['ada', 'bob', 'cyd', 'dé', 'new', "o'x", '#z', 'true'].map((name) => `${name}@example.com`)
  const email = (): string => random.pick(people)
  const scope = (): Scope => parseScope(random.pick([email(), email(), 'team', 'group:g1', 'group:3', 'group:new'])) as Scope
  const reason = random.pick(REASONS)
  const cap = credits(random.int(1, 9999))
  const granted = random.pick([...[...entries.keys()].flatMap((name) => (name.startsWith('grant:') ? [name.slice(6)] : [])), email()])
  switch (random.pick(['cap', 'cap', 'grant', 'extend', 'protect', 'approve', 'remove', 'remove'] as const)) {
    case 'cap': {
      const to = scope()
      const name = to.kind === 'group' && to.id === 'new' ? { name: random.pick(['New', 'N: w', '7']) } : {}
      return { kind: 'cap', scope: to, cap: random.chance(0.1) ? credits(0) : cap, ...(random.chance(0.4) && { reason }), ...name }
    }
    case 'grant':
      return {
        kind: 'grant',
        scope: scope(),
        amount: random.chance(0.8) ? { kind: 'cap', credits: cap } : { kind: 'add', credits: cap },
        ...(random.chance(0.3) && { from: '2026-11-25' }),
        until: random.pick(['2026-12-15', '2026-12-15T18:00:00Z']),
        reason,
        ...(random.chance(0.3) && { ticket: random.pick(['OPS-1', '#5', '77']) }),
      }
    case 'extend':
      return { kind: 'extend', scope: parseScope(granted) as Scope, until: '2027-02-01' }
    case 'protect':
      return { kind: 'protect', email: email() }
    case 'approve':
      return { kind: 'approve', id: random.pick(IDS) }
    case 'remove':
      return {
        kind: 'remove',
        target: targetOf(random.pick([...entries.keys(), 'team', email(), `grant:${email()}`, `protect:${email()}`])),
      }
  }
}

function targetOf(name: string): Target {
  if (name.startsWith('grant:')) return { kind: 'grant', scope: parseScope(name.slice(6)) as Scope }
  if (name.startsWith('protect:')) return { kind: 'protect', email: name.slice(8) }
  if (/^[0-9a-f]{32}$/.test(name)) return { kind: 'approval', id: name }
  return { kind: 'scope', scope: parseScope(name) as Scope }
}

/** The declarations that came and went. */
function wrongDifference(edit: Edit, before: PolicySet, after: PolicySet): string | undefined {
  const [old, now] = [linesOf(before), linesOf(after)]
  const gone = old.filter((line) => !now.includes(line))
  const come = now.filter((line) => !old.includes(line))
  const subject =
    'scope' in edit ? scopeKey(edit.scope) : edit.kind === 'protect' ? edit.email : edit.kind === 'approve' ? edit.id : undefined
  const id = subject?.replace('group:', '')
  const strangers = [...gone, ...come].filter(
    (line) => id !== undefined && !line.includes(JSON.stringify(id)) && !line.includes(JSON.stringify(subject)),
  )
  const most = edit.kind === 'remove' ? [2, 0] : edit.kind === 'cap' ? [1, 2] : edit.kind === 'extend' ? [1, 1] : [0, 1]
  if (strangers.length > 0 || gone.length > (most[0] ?? 0) || come.length > (most[1] ?? 0) || gone.length + come.length === 0)
    return `the difference is another: ${JSON.stringify({ gone, come })}`
  if (edit.kind === 'cap' && !come.some((line) => line.startsWith(JSON.stringify(['rule', subject, edit.cap]).slice(0, -1))))
    return `the cap is not there: ${JSON.stringify(come)}`
  if ('reason' in edit && edit.reason !== undefined && !come.some((line) => line.includes(JSON.stringify(edit.reason?.trim()))))
    return `the reason is not there: ${JSON.stringify(come)}`
  return undefined
}

/** Only the comments of the entry go, all of them, and nothing is written. */
function wrongRemoval(target: Target, { text, entries }: Written, after: string): string | undefined {
  const name =
    target.kind === 'scope'
      ? scopeKey(target.scope)
      : target.kind === 'protect'
        ? `protect:${target.email}`
        : target.kind === 'grant'
          ? `grant:${scopeKey(target.scope)}`
          : target.id
  const owned = entries.get(name) ?? []
  const comments = [...text.matchAll(/#c\d+\./g)].map(([one]) => one)
  const wrong = comments.filter((one) => owned.includes(one) === after.includes(one))
  // A group that others name keeps its entry, and with it the comments of its other keys.
  const isKept = name.startsWith('group:') && wrong.every((one) => owned.includes(one)) && after.includes(name.slice(6))
  if (wrong.length > 0 && !isKept) return `comments: ${wrong.join(' ')} of ${owned.join(' ')}`
  return isSubsequence(after.replace('spec: {}', 'spec:').replaceAll(' []', ''), text) ? undefined : 'a removal wrote something'
}

function isSubsequence(short: string, long: string): boolean {
  let at = 0
  for (const letter of long) if (short.startsWith(letter, at)) at += letter.length
  return at === short.length
}

/** A changed number or day is all that differs; an insertion takes nothing away. */
function wrongBytes(edit: Edit, before: string, after: string, set: PolicySet): string | undefined {
  const hidden = (text: string): number => text.match(/[\p{Cf}\p{Zl}\x7f-\x9f]/gu)?.length ?? 0
  if (hidden(after) > hidden(before)) return 'characters came that nobody sees'
  const old = 'scope' in edit ? set.rules.find(({ scope }) => scopeKey(scope) === scopeKey(edit.scope)) : undefined
  const isReplaced = edit.kind === 'extend' || (edit.kind === 'cap' && old !== undefined)
  if (!isReplaced) return isSubsequence(before, after) ? undefined : 'an insertion took something away'
  if (edit.kind === 'cap' && edit.reason !== undefined) return undefined
  let head = 0
  while (before[head] === after[head] && head < before.length) head += 1
  let tail = 0
  while (before.at(-1 - tail) === after.at(-1 - tail) && tail < Math.min(before.length, after.length) - head) tail += 1
  const [from, to] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  // `allowZero` comes beside a 0.
  const rest =
    edit.kind === 'cap' && edit.cap === 0
      ? isSubsequence(from.replace(/^\d+/, '0'), to) && /^0[\s\S]*allowZero"?: true,?$/.test(to.trim())
      : /^[\d-]*$/.test(to.trim())
  return rest && (edit.kind !== 'cap' || edit.cap === 0 || /^[\d-]*$/.test(from.trim()))
    ? undefined
    : `more changed than a value: ${JSON.stringify([from, to])}`
}

/** What removes the entry that was appended. */
function undoing(edit: Edit, before: PolicySet): Target | undefined {
  switch (edit.kind) {
    case 'cap':
      return before.rules.some(({ scope }) => scopeKey(scope) === scopeKey(edit.scope)) ||
        before.groups.some(({ scope }) => scopeKey(scope) === scopeKey(edit.scope))
        ? undefined
        : { kind: 'scope', scope: edit.scope }
    case 'grant':
      return before.grants.some(({ scope }) => scopeKey(scope) === scopeKey(edit.scope)) ? undefined : { kind: 'grant', scope: edit.scope }
    case 'protect':
      return { kind: 'protect', email: edit.email }
    case 'approve':
      return { kind: 'approval', id: edit.id }
    default:
      return undefined
  }
}
