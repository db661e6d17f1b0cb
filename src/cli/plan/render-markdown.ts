// A plan as Markdown for a pull request: a headline about people, then holds, then changes; details are folded. A comment has a bounded length:
// whatever does not fit is counted, never dropped in silence.

import { code, editLine, escaped, fitting, folded, markdownText, row, tableText, withCommands } from '../../core/escape/text.ts'
import type { Change, Effect, Hold, Plan } from '../../core/model/change.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import { capText, count, people, present, rfc3339 } from '../shared/text.ts'
import {
  closingLine,
  heldBy,
  outcomeOf,
  outgoing,
  type PlanView,
  RESULT_WORDS,
  releaseBy,
  releaseText,
  type ShowOptions,
  SIGNS,
  subjectOf,
} from './render.ts'

/** Characters; GitHub takes 65,536 in a comment. */
const MARKDOWN_LIMIT = 60_000
/** Changes shown outside the fold. */
const VISIBLE = 20
/** Changes shown in each hold. */
const HELD_VISIBLE = 5
/** The share of a plan's room that the lines of each kind may take. */
const SHARE = { holds: 0.25, visible: 0.17, changes: 0.35, unknown: 0.09, problems: 0.14 }
/** Characters for the heads of tables, fold marks and the line of what is left out, in each plan. */
const MARKS = 600
/** The order of changes, and of the headline. */
const GRAVEST_FIRST: readonly Effect[] = ['block', 'clear', 'lower', 'raise', 'set']

/** Plans as one Markdown text of at most `MARKDOWN_LIMIT` characters. First of all each has what a reviewer agrees to; they share the rest. */
export function renderPlanMarkdown(views: readonly PlanView[], options: ShowOptions): string {
  const release = options.releaseCommand ?? releaseBy([])
  const frames = views.map((view) => ({ view, approvals: approvalBlock(view.plan), ...frameOf(view) }))
  const taken = frames.reduce((sum, { approvals, head, foot }) => sum + markdownText([head, approvals, foot]).length + 1, 0)
  const sharing = views.filter(({ plan }) => [plan.changes, plan.unknown, plan.problems].some((lines) => lines.length > 0)).length
  const room = Math.max(0, (MARKDOWN_LIMIT - 200 - taken) / Math.max(1, sharing) - MARKS)
  const sections = frames
    // Should not even all heads fit, those that nobody has to agree to are left out.
    .toSorted((a, b) => Number(b.approvals !== '') - Number(a.approvals !== ''))
    .map(({ view, approvals, head, foot }) => markdownText([head, approvals, ...details(view, release, room), foot]))
  const { lines, left } = fitting(sections, MARKDOWN_LIMIT - 200)
  return [...lines, ...(left > 0 ? [`${count(left, 'workspace')} left out for length; \`capkeeper plan\` shows all.\n`] : [])].join('\n')
}

/** The first and the last lines of a plan. */
function frameOf(view: PlanView) {
  const { workspace, id, policyDigest, revision, createdAt } = view.plan
  const nothing = `**Nothing could be read**, so nothing is planned: ${escaped(view.unread ?? '', 600)}`
  const at = revision === '' ? '' : ` at ${escaped(revision)}`
  return {
    head: `### capkeeper: ${escaped(workspace)}\n\n${view.unread === undefined ? headline(view.plan) : nothing}`,
    foot: `${escaped(closingLine(view), 1_000)}\n\n<sub>plan ${id}, policies ${escaped(policyDigest)}${at}, ${rfc3339(createdAt)}</sub>`,
  }
}

function details(view: PlanView, release: (holdId: string) => string, room: number): readonly string[] {
  const { plan } = view
  const missing: string[] = []
  /** The lines that fit; the others are counted under `name`. */
  const some = (name: string, lines: readonly string[], share: number): readonly string[] => {
    const taken = fitting(lines, share * room)
    if (taken.left > 0) missing.push(count(taken.left, name))
    return taken.lines
  }
  const changes = plan.changes.toSorted((a, b) => GRAVEST_FIRST.indexOf(a.effect) - GRAVEST_FIRST.indexOf(b.effect))
  const holds = plan.holds.map((hold) => holdBlock(hold, plan, release))
  const visible = outgoing({ ...plan, changes })
    .slice(0, VISIBLE)
    .map(changeRow)
  const rows = changes.map((change) => detailRow(change, view))
  const unknown = plan.unknown.map(({ scope, message }) => `- ${code(scopeKey(scope))}: ${escaped(message)}`)
  const problems = plan.problems.map((one) => `- ${one.severity}: ${withCommands(subjectOf(one) + one.message)} (${escaped(one.code)})`)
  return [
    ...some('hold', holds, SHARE.holds),
    tableText(['Change', 'Who', 'Cap', 'People', 'Why'], fitting(visible, SHARE.visible * room).lines),
    folded(
      `${count(changes.length, 'change')} with source and cause`,
      tableText(['Change', 'Who', 'Cap', 'Cause', 'Source', 'State'], some('change', rows, SHARE.changes)),
    ),
    folded(`${plan.unknown.length} unknown, so not written`, some('unknown scope', unknown, SHARE.unknown).join('\n')),
    folded(count(plan.problems.length, 'problem'), some('problem', problems, SHARE.problems).join('\n')),
    missing.length > 0 ? `Left out for length: ${missing.join(', ')}; \`capkeeper plan\` shows all.` : '',
  ]
}

/** `**3 people with less, 12 people with more.** 5 changes.` People are summed over changes, so a person may count twice. */
function headline(plan: Plan): string {
  const going = outgoing(plan)
  const reach = (effect: Effect): number =>
    going.filter((change) => change.effect === effect).reduce((sum, change) => sum + change.people, 0)
  const said = GRAVEST_FIRST.flatMap((effect) => {
    const some = going.some((change) => change.effect === effect)
    return some ? [WHAT_HAPPENS[effect](reach(effect))] : []
  })
  const who = said.length > 0 ? said.join(', ') : plan.counts.held > 0 ? 'Nothing goes out' : 'Nothing changes'
  const held = plan.counts.held > 0 ? ` **${count(plan.counts.held, 'change')} held by a guard.**` : ''
  return `**${who}.** ${count(going.length, 'change')}.${held}`
}

const WHAT_HAPPENS: Readonly<Record<Effect, (amount: number) => string>> = {
  block: (amount) => `${people(amount)} with a cap of 0, or one at or below what somebody used`,
  clear: (amount) => `${people(amount)} without a cap at this scope any more`,
  lower: (amount) => `${people(amount)} with less`,
  raise: (amount) => `${people(amount)} with more`,
  set: (amount) => `${people(amount)} with a first cap`,
}

function holdBlock(hold: Hold, plan: Plan, release: (holdId: string) => string): string {
  const held = heldBy(plan, hold)
  const way = `${code(release(hold.id))}, or add ${code(hold.id)} to ${code('spec.approvals')}: ${code(editLine('approve', hold.id))}`
  return present(
    '> [!WARNING]',
    `> **Hold ${code(hold.id)} by ${hold.guards.join(', ')}**: ${count(hold.changes.length, 'change')}, ${people(hold.people)}`,
    '>',
    `> ${withCommands(hold.message, 600)}`,
    '>',
    held.slice(0, HELD_VISIBLE).map((change) => `> - ${verbCell(change)} ${code(scopeKey(change.scope))} ${capCell(change)}`),
    held.length > HELD_VISIBLE && `> - and ${held.length - HELD_VISIBLE} more`,
    hold.release !== 'never' && ['>', `> ${releaseText(hold)}: ${way}.`],
  ).join('\n')
}

/** Releases and weakened rules come first, because they are what a reviewer agrees to. */
function approvalBlock({ approvals, problems }: Plan): string {
  const weakened = problems.filter(({ code: name }) => name === 'RULES_WEAKENED').map(({ message }) => `> - ${escaped(message)}`)
  const released = approvals.map(({ id, at, releases, note, state }) => {
    const place = at ? ` at ${code(formatPosition(at))}` : ''
    const what = releases.map((one) => `${code(scopeKey(one.scope))} ${capText(one.from)} → **${capText(one.to)}**`)
    const more = what.length > HELD_VISIBLE ? [`and ${what.length - HELD_VISIBLE} more`] : []
    const text =
      what.length > 0 ? `releases ${[...what.slice(0, HELD_VISIBLE), ...more].join(', ')}` : `releases nothing: ${escaped(note ?? state)}`
    return `> - approval ${code(id)}${place} ${text}`
  })
  const lines = [...released, ...weakened]
  return lines.length === 0 ? '' : ['> [!CAUTION]', '> **Approvals and weakened rules in this plan**', '>', ...lines].join('\n')
}

const verbCell = (change: Change): string => `${escaped(SIGNS[change.effect])} ${change.effect}`

const capCell = (change: Change): string => `${capText(change.from)} → **${capText(change.to)}**`

const changeRow = (change: Change): string =>
  row([verbCell(change), code(scopeKey(change.scope)), capCell(change), people(change.people), whyCell(change)])

const whyCell = (change: Change): string => (change.reason === undefined ? change.cause : `${escaped(change.reason)} (${change.cause})`)

function detailRow(change: Change, view: PlanView): string {
  const source = change.source ? code(formatPosition(change.source)) : 'no longer declared'
  return row([verbCell(change), code(scopeKey(change.scope)), capCell(change), change.cause, source, stateCell(change, view)])
}

function stateCell(change: Change, view: PlanView): string {
  const { disposition, released } = change
  if (disposition.kind === 'held') return `held, ${code(disposition.hold)}`
  const outcome = outcomeOf(view, change)
  const by = released ? `, released by ${code(released.id)}` : ''
  if (!outcome && disposition.kind === 'deferred') return `waits: ${escaped(disposition.reason)}${by}`
  if (!outcome && disposition.kind === 'excluded') return `not written: ${escaped(disposition.reason)}${by}`
  if (!outcome) return (view.outcomes ? 'not tried' : 'goes out') + by
  return outcome.error === undefined ? RESULT_WORDS[outcome.result] : `${RESULT_WORDS[outcome.result]}: ${escaped(outcome.error)}`
}
