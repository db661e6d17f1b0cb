// A plan as text for a terminal and as JSON: the changes, the holds with the commands that release them, the scopes that could not be read, and
// a closing line of counts. Nothing of the plan is left out. Also the words of all renderings of a plan, and the outcomes of its changes.
import { plain } from '../../core/escape/text.ts'
import {
  type Change,
  type ChangeResult,
  DONE,
  EFFECTS,
  type Effect,
  type Hold,
  holdOf,
  type Plan,
  type PlanApproval,
  type PlanProblem,
  type Release,
} from '../../core/model/change.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Preview } from '../../daemon/cycle/preview.ts'
import type { PeopleLabels } from '../../daemon/http/labels.ts'
import { type Cli, type Paint, type Style, unpainted } from '../shared/context.ts'
import { blocksText, capText, count, documentOrList, people, present, tellLine } from '../shared/text.ts'

type Read = Pick<Preview, 'state' | 'warnings'>

/** Why no cap could be read or, if there was none to read, why the roster could not; undefined when something was read. */
export function unreadBecause({ state, warnings }: Read): string | undefined {
  const readings = [...state.readings.values()]
  if (readings.length === 0) return warnings.find(({ reason }) => reason === 'ROSTER_UNREAD')?.message
  const failures = readings.flatMap(({ failure }) => (failure ? [failure.message] : []))
  if (failures.length < readings.length) return undefined
  // After this failure the other scopes were not asked.
  return failures.find((message) => !message.includes(': not asked ')) ?? failures[0]
}

/** Prints the warnings of a preview; first, that nothing could be read. */
export function tellReading(cli: Cli, workspace: string, read: Read): void {
  const why = unreadBecause(read)
  if (why !== undefined) tellLine(cli, `error: ${workspace}: nothing could be read: ${why}`)
  for (const { message } of read.warnings) if (message !== why) tellLine(cli, `${workspace}: ${message}`)
}

/** How a change ended. `satisfied` needed no write of its own, because another write had the same effect, such as the team's where caps are copied. */
type Ending = ChangeResult | 'satisfied'

/** How one change ended; `error` is free of any key. */
export interface Outcome {
  readonly result: Ending
  readonly error?: string
}

/** Identifies one write: a scope may be written twice in a run, for example when a grant ends on the way. */
export const writeKey = ({ scope, to }: Pick<Change, 'scope' | 'to'>): string => `${scopeKey(scope)} ${to}`

/** A plan to show. `outcomes`, by `writeKey`, exist once it was applied; a change without an outcome was not tried. */
export interface PlanView {
  readonly plan: Plan
  readonly outcomes?: ReadonlyMap<string, Outcome>
  /** Problems that came up while it was applied. */
  readonly news?: readonly PlanProblem[]
  /** Why nothing could be read. */
  readonly unread?: string
}

/** How plans show. */
export interface ShowOptions {
  /** The exact command that releases a hold. */
  readonly releaseCommand?: (holdId: string) => string
  readonly paint?: Paint
  /** How many workspaces were asked for: JSON is a list where there are several, also when one of them failed. */
  readonly asked?: number
  /** How people show in Markdown, which is for others. */
  readonly people: PeopleLabels
}

/** `capkeeper approve ID`, with the flags that reach the same ledger; a ledger in memory can only be approved on the spot. */
export const releaseBy =
  (ledgerArgs: readonly string[], inMemory = false): ((holdId: string) => string) =>
  (holdId) =>
    inMemory ? `capkeeper apply --approve ${holdId}` : ['capkeeper approve', holdId, ...ledgerArgs].join(' ')

/** The words before the command that releases a hold. */
export function releaseText({ changes, release }: Hold): string {
  const these = changes.length === 1 ? 'this change' : `these ${changes.length} changes`
  return `To release exactly ${these}${release === 'later' ? ' once anything may be written' : ''}`
}

const isHeld = (change: Change): boolean => holdOf(change) !== undefined

export const outgoing = (plan: Plan): readonly Change[] => plan.changes.filter((change) => !isHeld(change))

export const heldBy = (plan: Plan, hold: Hold): readonly Change[] => plan.changes.filter((change) => holdOf(change) === hold.id)

export const outcomeOf = (view: PlanView, change: Change): Outcome | undefined => view.outcomes?.get(writeKey(change))

export const SIGNS: Readonly<Record<Effect, string>> = { set: '+', raise: '~', lower: '~', block: '!', clear: '-' }

export const RESULT_WORDS: Readonly<Record<Ending, string>> = {
  applied: 'applied',
  satisfied: 'already as asked',
  failed: 'failed',
  ambiguous: 'in doubt',
  verify_failed: 'read back differently',
}

/** The scope, before a message that does not name it. */
export const subjectOf = (problem: PlanProblem): string =>
  problem.scope && !problem.message.includes(scopeKey(problem.scope)) ? `${scopeKey(problem.scope)}: ` : ''

/** One plan as the object `{apiVersion, kind: "Plan", …}`; a `PlanList` where several workspaces were asked for. */
export const renderPlanJson = (views: readonly PlanView[], asked = views.length): string =>
  documentOrList('Plan', views.map(planDocument), asked)

/** Caps are numbers or `"none"`; a change without a policy line or a reason has null there (choice). */
function planDocument(view: PlanView) {
  const { id, workspace, createdAt, policyDigest, revision, counts, changes, holds, unknown, problems, approvals } = view.plan
  return {
    ...{ id, workspace, createdAt, policyDigest, revision, counts },
    changes: changes.map((change) => changeDocument(change, view)),
    ...{ holds, unknown, problems },
    approvals: approvals.map(approvalDocument),
  }
}

function changeDocument(change: Change, view: PlanView): Record<string, unknown> {
  const { healing, grantEnd, disposition, released, ...shown } = change
  const outcome = outcomeOf(view, change)
  return {
    ...shown,
    source: change.source ?? null,
    reason: change.reason ?? null,
    ...dispositionFields(change, view.outcomes !== undefined && !outcome),
    ...(healing && { healing }),
    ...(grantEnd && { grantEnd }),
    ...(outcome && { result: outcome.result === 'satisfied' ? 'applied' : outcome.result }),
    ...(outcome?.error !== undefined && { error: outcome.error }),
  }
}

/** Why a change is not written now, and the approval that released it. */
function dispositionFields({ scope, disposition, released }: Change, isUntried: boolean): Record<string, unknown> {
  const by = released && { released: releaseDocument(released) }
  switch (disposition.kind) {
    case 'ready':
      return { ...by, waitsFor: isUntried ? { scope, why: 'not tried: writing stopped before it was its turn' } : undefined }
    case 'held':
      return { hold: disposition.hold }
    case 'deferred':
      return { ...by, waitsFor: { scope: disposition.waitsFor ?? scope, why: disposition.reason } }
    case 'excluded':
      return { ...by, excluded: { code: disposition.code, why: disposition.reason } }
  }
}

/** `by` is the place in the policy, or `command`. */
const releaseDocument = ({ id, via, at }: Release): Record<string, unknown> => ({ id, by: at ? formatPosition(at) : via })

const approvalDocument = ({ id, via, at, state, releases, note }: PlanApproval): Record<string, unknown> => ({
  ...releaseDocument({ id, via, at }),
  state,
  releases,
  ...(note !== undefined && { note }),
})

const STYLES: Readonly<Record<Effect, Style>> = { set: 'green', raise: 'cyan', lower: 'yellow', block: 'red', clear: 'red' }

/** Where the second line of a change begins: under its scope. */
const INDENT = 11
const HOLD_INDENT = 2

/** One plan as text, ending with a line break. */
export function renderPlanText(view: PlanView, options: ShowOptions): string {
  const { plan } = view
  const layout = layoutOf(plan, options)
  // That nothing could be read comes first: what follows is no plan.
  const isUnread = view.unread !== undefined
  const blocks = [
    [heading(plan, layout)],
    isUnread ? [closingLine(view)] : [],
    approvalLines(plan, layout),
    weakenedLines(plan, layout),
    outgoing(plan).flatMap((change) => changeLines(change, view, layout)),
    ...plan.holds.map((hold) => holdLines(hold, view, layout)),
    unknownLines(plan, layout),
    problemLines(plan.problems, layout),
    isUnread ? [] : [closingLine(view)],
  ]
  return blocksText(blocks)
}

/** The result of a plan that was shown before: the changes that did not succeed, and the closing line. Ends with a line break. */
export function renderResultText(view: PlanView, options: ShowOptions): string {
  const layout = layoutOf(view.plan, options)
  const bad = outgoing(view.plan).filter((change) => !hasSucceeded(outcomeOf(view, change)))
  const lines = bad.flatMap((change) => changeLines(change, view, layout))
  return blocksText([lines, problemLines(view.news ?? [], layout), [closingLine(view)]])
}

type Layout = ReturnType<typeof layoutOf>

function layoutOf(plan: Plan, options: ShowOptions) {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(({ length }) => length))
  return {
    from: widest(plan.changes.map((change) => capText(change.from))),
    to: widest(plan.changes.map((change) => capText(change.to))),
    people: widest(plan.changes.map((change) => people(change.people))),
    scope: widest(plan.changes.map((change) => plain(scopeKey(change.scope)))),
    paint: options.paint ?? unpainted,
    release: options.releaseCommand ?? releaseBy([]),
  }
}

function heading(plan: Plan, { paint }: Layout): string {
  const revision = plan.revision === '' ? '' : ` at ${shortRevision(plan.revision)}`
  return `${paint('bold', plain(plan.workspace))}: plan ${plan.id}, policies ${plan.policyDigest}${plain(revision)}`
}

function changeLines(change: Change, view: PlanView, layout: Layout, indent = 2): readonly string[] {
  const margin = ' '.repeat(indent + INDENT - 2)
  const parts = [
    layout.paint(STYLES[change.effect], `${SIGNS[change.effect]} ${change.effect}`.padEnd(INDENT - 2)) +
      plain(scopeKey(change.scope)).padEnd(layout.scope),
    `${capText(change.from).padStart(layout.from)} → ${capText(change.to).padEnd(layout.to)}`,
    people(change.people).padEnd(layout.people),
    change.cause,
  ]
  return [`${' '.repeat(indent)}${parts.join('  ')}`, detailLine(change, layout, margin), ...outcomeLines(change, view, layout, margin)]
}

function detailLine(change: Change, layout: Layout, margin: string): string {
  const place = change.source ? plain(formatPosition(change.source)) : 'no longer declared'
  const reason = change.reason === undefined ? '' : ` · ${plain(change.reason)}`
  return layout.paint('dim', margin + place + reason)
}

function outcomeLines(change: Change, view: PlanView, layout: Layout, margin: string): readonly string[] {
  const outcome = outcomeOf(view, change)
  if (!outcome) return dispositionLines(change, view).map((text) => layout.paint('yellow', margin + text))
  const text = outcome.error === undefined ? RESULT_WORDS[outcome.result] : `${RESULT_WORDS[outcome.result]}: ${plain(outcome.error)}`
  return [layout.paint(hasSucceeded(outcome) ? 'green' : 'red', margin + text)]
}

/** Why a change is not written, and the approval that released it. */
function dispositionLines({ disposition, released }: Change, view: PlanView): readonly string[] {
  const by = released ? [`released by ${approvalName(released)}`] : []
  if (disposition.kind === 'deferred') return [...by, `waits: ${plain(disposition.reason)}`]
  if (disposition.kind === 'excluded') return [...by, `not written: ${plain(disposition.reason)}`]
  return disposition.kind === 'ready' && view.outcomes ? [...by, 'not tried'] : by
}

const approvalName = ({ id, at }: Release): string => (at ? `approval ${id} at ${plain(formatPosition(at))}` : `approval ${id}`)

/** The changes that approvals release come first, so that no reviewer misses them. */
function approvalLines({ approvals }: Plan, layout: Layout): readonly string[] {
  return approvals.flatMap((one) => {
    const title =
      one.releases.length > 0 ? `releases ${count(one.releases.length, 'change')}:` : `releases nothing: ${one.note ?? one.state}`
    const lines = one.releases.map(({ scope, from, to }) => `  ${plain(scopeKey(scope))}  ${capText(from)} → ${capText(to)}`)
    return [layout.paint('yellow', `A${approvalName(one).slice(1)} ${plain(title)}`), ...lines]
  })
}

const isWeakened = ({ code }: PlanProblem): boolean => code === 'RULES_WEAKENED'

const weakenedLines = ({ problems }: Plan, layout: Layout): readonly string[] =>
  problems.filter(isWeakened).map(({ message }) => layout.paint('red', plain(message)))

function holdLines(hold: Hold, view: PlanView, layout: Layout): readonly string[] {
  const title = `Hold ${hold.id} by ${hold.guards.join(', ')}: ${count(hold.changes.length, 'change')}, ${people(hold.people)}`
  return present(
    layout.paint('yellow', title),
    `  ${plain(hold.message)}`,
    heldBy(view.plan, hold).flatMap((change) => changeLines(change, view, layout, 2 + HOLD_INDENT)),
    hold.release !== 'never' && `  ${releaseText(hold)}: ${layout.paint('bold', layout.release(hold.id))}`,
  )
}

/** Scopes with the same cause are listed together, so that an outage is told once. */
function unknownLines(plan: Plan, layout: Layout): readonly string[] {
  if (plan.unknown.length === 0) return []
  const lines = [...Map.groupBy(plan.unknown, (one) => one.message)].flatMap(([message, scopes]) => {
    const [first, ...more] = scopes.map(({ scope }) => plain(scopeKey(scope)))
    if (more.length === 0) return [`  ? ${first}: ${plain(message)}`]
    const named = [first, ...more.slice(0, UNKNOWN_NAMED - 1)].join(', ')
    const rest = scopes.length > UNKNOWN_NAMED ? ` and ${scopes.length - UNKNOWN_NAMED} more` : ''
    return [`  ? ${count(scopes.length, 'scope')}: ${plain(message)}`, `    ${named}${rest}`]
  })
  return [layout.paint('yellow', 'Unknown, so not written:'), ...lines]
}

/** How many scopes of one cause are named. */
const UNKNOWN_NAMED = 5

function problemLines(problems: readonly PlanProblem[], layout: Layout): readonly string[] {
  const told = problems.filter((one) => !isWeakened(one) && one.code !== 'APPROVAL_UNMATCHED')
  return told.map((problem) => {
    const place = problem.at ? ` at ${formatPosition(problem.at)}` : ''
    const text = plain(`${problem.severity}: ${subjectOf(problem)}${problem.message} (${problem.code}${place})`)
    return layout.paint(problem.severity === 'error' ? 'red' : 'yellow', text)
  })
}

/** `Plan: 3 to set, 1 to raise. 2 held, 1 unknown. 42 scopes are in sync.` */
export function closingLine(view: PlanView): string {
  const { counts } = view.plan
  const rest = (['held', 'unknown', 'rejected', 'skipped'] as const).filter((name) => counts[name] > 0)
  const sync = counts.inSync > 0 && `${count(counts.inSync, 'scope')} ${counts.inSync === 1 ? 'is' : 'are'} in sync.`
  const going = EFFECTS.some((effect) => counts[effect] > 0)
  const isPartial = counts.unknown > 0 && !going && counts.held === 0
  const read = isPartial ? 'No changes in what could be read.' : plannedCounts(view.plan)
  const isUnread = view.unread !== undefined || (isPartial && counts.inSync === 0)
  const planned = isUnread ? 'Nothing could be read, so nothing is planned.' : read
  const others = rest.length > 0 && `${rest.map((name) => `${counts[name]} ${name}`).join(', ')}.`
  return present(view.outcomes ? appliedCounts(view) : planned, others, sync).join(' ')
}

function plannedCounts({ counts }: Plan): string {
  const parts = EFFECTS.flatMap((effect) => (counts[effect] > 0 ? [`${counts[effect]} to ${effect}`] : []))
  if (parts.length > 0) return `Plan: ${parts.join(', ')}.`
  return counts.held > 0 ? 'Plan: nothing to write.' : 'No changes.'
}

/** Whether the scope now has the cap that was planned. */
const hasSucceeded = (outcome: Outcome | undefined): boolean => outcome?.result === 'applied' || outcome?.result === 'satisfied'

/** How often each key occurs. */
function tally<K extends string>(keys: Iterable<K>): ReadonlyMap<K, number> {
  const counts = new Map<K, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function appliedCounts(view: PlanView): string {
  const changes = outgoing(view.plan)
  const done = tally(changes.flatMap((change) => (outcomeOf(view, change)?.result === 'applied' ? [change.effect] : [])))
  const other = tally(changes.flatMap((change) => unfinished(view, change)))
  const parts = [
    ...EFFECTS.flatMap((effect) => (done.has(effect) ? [`${done.get(effect)} ${DONE[effect]}`] : [])),
    ...[...other].map(([word, amount]) => `${amount} ${word}`),
  ]
  return parts.length > 0 ? `Applied: ${parts.join(', ')}.` : 'Nothing was written.'
}

function unfinished(view: PlanView, change: Change): readonly string[] {
  const outcome = outcomeOf(view, change)
  if (!outcome) return [change.disposition.kind === 'ready' ? 'not tried' : 'waiting']
  return outcome.result === 'applied' ? [] : [RESULT_WORDS[outcome.result]]
}
