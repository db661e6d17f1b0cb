// A plan as text for a terminal: the changes, the holds with the commands that release them, the scopes that could not be read, and a closing
// line of counts. Nothing of the plan is left out.
import { plain } from '../../core/escape/text.ts'
import { type Change, EFFECTS, type Effect, type Hold, type Plan, type PlanProblem, type Release } from '../../core/model/change.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import { type Paint, type Style, unpainted } from '../shared/context.ts'
import { capText, count, padEnd, padStart, people, widthOf, wrap } from '../shared/text.ts'
import {
  DONE,
  hasSucceeded,
  heldBy,
  outcomeOf,
  outgoing,
  type PlanView,
  RESULT_WORDS,
  type ReleaseOptions,
  releaseBy,
  releaseText,
  SIGNS,
  subjectOf,
  tally,
} from './view.ts'

export interface TextOptions extends ReleaseOptions {
  readonly paint?: Paint
  /** Columns to stay within; absent when the text goes to a file or a pipe. */
  readonly width?: number | undefined
}

const STYLES: Readonly<Record<Effect, Style>> = { set: 'green', raise: 'cyan', lower: 'yellow', block: 'red', clear: 'red' }

/** Where the second line of a change begins: under its scope. */
const INDENT = 11
const HOLD_INDENT = 2
const NARROWEST = 50

/** One plan as text, ending with a line break. */
export function renderPlanText(view: PlanView, options: TextOptions = {}): string {
  const { plan } = view
  const layout = layoutOf(plan, options)
  const closing = indented(closingLine(view), layout, '')
  // That nothing could be read comes first: what follows is no plan.
  const isUnread = view.unread !== undefined
  const blocks = [
    [heading(plan, layout)],
    isUnread ? closing : [],
    approvalLines(plan, layout),
    weakenedLines(plan, layout),
    outgoing(plan).flatMap((change) => changeLines(change, view, layout)),
    ...plan.holds.map((hold) => holdLines(hold, view, layout)),
    unknownLines(plan, layout),
    problemLines(plan.problems, layout),
    isUnread ? [] : closing,
  ]
  return blocks
    .filter((block) => block.length > 0)
    .map((block) => `${block.join('\n')}\n`)
    .join('\n')
}

/** The result of a plan that was shown before: the changes that did not succeed, and the closing line. Ends with a line break. */
export function renderResultText(view: PlanView, options: TextOptions = {}): string {
  const layout = layoutOf(view.plan, options)
  const bad = outgoing(view.plan).filter((change) => !hasSucceeded(outcomeOf(view, change)))
  const lines = bad.flatMap((change) => changeLines(change, view, layout))
  const news = problemLines(view.news ?? [], layout)
  const blocks = [lines, news, indented(closingLine(view), layout, '')].filter((block) => block.length > 0)
  return blocks.map((block) => block.map((line) => `${line}\n`).join('')).join('\n')
}

interface Layout {
  readonly paint: Paint
  readonly width: number
  readonly scope: number
  readonly from: number
  readonly to: number
  readonly people: number
  readonly release: (holdId: string) => string
}

function layoutOf(plan: Plan, options: TextOptions): Layout {
  const width = options.width === undefined ? Number.POSITIVE_INFINITY : Math.max(NARROWEST, options.width)
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf))
  const from = widest(plan.changes.map((change) => capText(change.from)))
  const to = widest(plan.changes.map((change) => capText(change.to)))
  const reach = widest(plan.changes.map((change) => people(change.people)))
  // The room that the other columns leave. After a longer scope they go on the next line.
  const room =
    width -
    INDENT -
    (plan.holds.length > 0 ? HOLD_INDENT : 0) -
    2 -
    (from + 3 + to) -
    2 -
    reach -
    2 -
    widest(plan.changes.map((change) => change.cause))
  const scopes = plan.changes.map((change) => widthOf(plain(scopeKey(change.scope)))).filter((one) => one <= Math.max(room, 4))
  return {
    paint: options.paint ?? unpainted,
    width,
    scope: Math.max(4, ...scopes),
    from,
    to,
    people: reach,
    release: options.releaseCommand ?? releaseBy([]),
  }
}

function heading(plan: Plan, { paint }: Layout): string {
  const revision = plan.revision === '' ? '' : ` at ${shortRevision(plan.revision)}`
  return `${paint('bold', plain(plan.workspace))}: plan ${plan.id}, policies ${plan.policyDigest}${plain(revision)}`
}

function changeLines(change: Change, view: PlanView, layout: Layout, indent = 2): readonly string[] {
  const margin = ' '.repeat(indent + INDENT - 2)
  const scope = plain(scopeKey(change.scope))
  const verb = layout.paint(STYLES[change.effect], padEnd(`${SIGNS[change.effect]} ${change.effect}`, INDENT - 2))
  const values = [
    `${padStart(capText(change.from), layout.from)} → ${padEnd(capText(change.to), layout.to)}`,
    padEnd(people(change.people), layout.people),
    change.cause,
  ].join('  ')
  const first = `${' '.repeat(indent)}${verb}`
  const head = widthOf(scope) > layout.scope ? [first + scope, margin + values] : [`${first}${padEnd(scope, layout.scope)}  ${values}`]
  return [...head, ...detailLines(change, layout, margin), ...outcomeLines(change, view, layout, margin)]
}

function detailLines(change: Change, layout: Layout, margin: string): readonly string[] {
  const place = change.source ? plain(formatPosition(change.source)) : 'no longer declared'
  const reason = change.reason === undefined ? '' : ` · ${plain(change.reason)}`
  return indented(place + reason, layout, margin).map((line) => layout.paint('dim', line))
}

function outcomeLines(change: Change, view: PlanView, layout: Layout, margin: string): readonly string[] {
  const outcome = outcomeOf(view, change)
  if (!outcome)
    return dispositionLines(change, view)
      .flatMap((text) => indented(text, layout, margin))
      .map((line) => layout.paint('yellow', line))
  const text = outcome.error === undefined ? RESULT_WORDS[outcome.result] : `${RESULT_WORDS[outcome.result]}: ${plain(outcome.error)}`
  return indented(text, layout, margin).map((line) => layout.paint(hasSucceeded(outcome) ? 'green' : 'red', line))
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
    const lines = one.releases.map(({ scope, from, to }) => `${plain(scopeKey(scope))}  ${capText(from)} → ${capText(to)}`)
    return [
      ...indented(`A${approvalName(one).slice(1)} ${plain(title)}`, layout, '').map((line) => layout.paint('yellow', line)),
      ...lines.flatMap((line) => indented(line, layout, '  ')),
    ]
  })
}

const isWeakened = ({ code }: PlanProblem): boolean => code === 'RULES_WEAKENED'

const weakenedLines = ({ problems }: Plan, layout: Layout): readonly string[] =>
  problems.filter(isWeakened).flatMap(({ message }) => indented(plain(message), layout, '').map((line) => layout.paint('red', line)))

const indented = (text: string, layout: Layout, margin: string): readonly string[] =>
  (layout.width === Number.POSITIVE_INFINITY ? [text] : wrap(text, layout.width - margin.length)).map((line) => margin + line)

function holdLines(hold: Hold, view: PlanView, layout: Layout): readonly string[] {
  const title = `Hold ${hold.id} by ${hold.guards.join(', ')}: ${count(hold.changes.length, 'change')}, ${people(hold.people)}`
  return [
    ...indented(title, layout, '').map((line) => layout.paint('yellow', line)),
    ...indented(plain(hold.message), layout, '  '),
    ...heldBy(view.plan, hold).flatMap((change) => changeLines(change, view, layout, 2 + HOLD_INDENT)),
    ...(hold.release === 'never' ? [] : [`  ${releaseText(hold)}: ${layout.paint('bold', layout.release(hold.id))}`]),
  ]
}

/** Scopes with the same cause are listed together, so that an outage is told once. */
function unknownLines(plan: Plan, layout: Layout): readonly string[] {
  if (plan.unknown.length === 0) return []
  const lines = [...Map.groupBy(plan.unknown, (one) => one.message)].flatMap(([message, scopes]) => {
    const [first, ...more] = scopes.map(({ scope }) => plain(scopeKey(scope)))
    if (more.length === 0) return indented(`? ${first}: ${plain(message)}`, layout, '  ')
    const named = [first, ...more.slice(0, UNKNOWN_NAMED - 1)].join(', ')
    const rest = scopes.length > UNKNOWN_NAMED ? ` and ${scopes.length - UNKNOWN_NAMED} more` : ''
    return [
      ...indented(`? ${count(scopes.length, 'scope')}: ${plain(message)}`, layout, '  '),
      ...indented(`${named}${rest}`, layout, '    '),
    ]
  })
  return [layout.paint('yellow', 'Unknown, so not written:'), ...lines]
}

/** How many scopes of one cause are named. */
const UNKNOWN_NAMED = 5

function problemLines(problems: readonly PlanProblem[], layout: Layout): readonly string[] {
  const told = problems.filter((one) => !isWeakened(one) && one.code !== 'APPROVAL_UNMATCHED')
  return told.flatMap((problem) => {
    const place = problem.at ? ` at ${formatPosition(problem.at)}` : ''
    const text = indented(plain(`${problem.severity}: ${subjectOf(problem)}${problem.message} (${problem.code}${place})`), layout, '')
    return text.map((line) => layout.paint(problem.severity === 'error' ? 'red' : 'yellow', line))
  })
}

/** `Plan: 3 to set, 1 to raise. 2 held, 1 unknown. 42 scopes are in sync.` */
export function closingLine(view: PlanView): string {
  const { counts } = view.plan
  const rest = ([['held'], ['unknown'], ['rejected'], ['skipped']] as const).flatMap(([name]) =>
    counts[name] > 0 ? [`${counts[name]} ${name}`] : [],
  )
  const sync = counts.inSync > 0 ? `${count(counts.inSync, 'scope')} ${counts.inSync === 1 ? 'is' : 'are'} in sync.` : ''
  const going = EFFECTS.some((effect) => counts[effect] > 0)
  const isPartial = counts.unknown > 0 && !going && counts.held === 0
  const read = isPartial ? 'No changes in what could be read.' : plannedCounts(view.plan)
  const isUnread = view.unread !== undefined || (isPartial && counts.inSync === 0)
  const planned = isUnread ? 'Nothing could be read, so nothing is planned.' : read
  const parts = [view.outcomes ? appliedCounts(view) : planned, rest.length > 0 ? `${rest.join(', ')}.` : '', sync]
  return parts.filter((part) => part !== '').join(' ')
}

function plannedCounts({ counts }: Plan): string {
  const parts = EFFECTS.flatMap((effect) => (counts[effect] > 0 ? [`${counts[effect]} to ${effect}`] : []))
  if (parts.length > 0) return `Plan: ${parts.join(', ')}.`
  return counts.held > 0 ? 'Plan: nothing to write.' : 'No changes.'
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
