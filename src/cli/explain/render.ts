// Renders an explanation of `core/plan/explain.ts`: the declarations with file:line and the winner, observed caps, use, the last write, and why
// a write waits.

import { editLine } from '../../core/escape/shell.ts'
import { plain } from '../../core/escape/terminal.ts'
import type { Change } from '../../core/model/change.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import { type Rhythm, type RhythmBound, rhythmBoundText, rhythmText } from '../../core/pace/rhythm.ts'
import type { ExplainedCandidate, Explanation } from '../../core/plan/explain.ts'
import { historyDocument } from '../history/render.ts'
import { RESULT_WORDS, SIGNS } from '../plan/view.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { documentOrList } from '../shared/document.ts'
import { amountText, capText, columns, shortTime } from '../shared/text.ts'

/** How often a daemon reads the scope; only a bound where the use by day is not known. */
type Reading = Rhythm | RhythmBound

const readingText = (reading: Reading): string => ('everyMs' in reading ? rhythmText(reading) : rhythmBoundText(reading))

/** One explanation as text. */
export function renderExplainText(one: Explanation, rhythm: Reading | undefined, paint: Paint = unpainted): string {
  const blocks = [
    [headline(one, paint), ...statusLines(one)],
    block('Declared:', chainLines(one, paint), 'nothing in the policies bears on this scope'),
    block('Observed:', columns(one.observed.map(({ scope, reading }) => observedCells(scope, reading))), 'nothing was read'),
    [...inForce(one), ...useLine(one)],
    (one.pool?.lines ?? []).map((line, index) => `${index === 0 ? '' : '  '}${plain(line)}`),
    presentLines(one, paint),
    [lastWrite(one), ...ownedLine(one), ...readLine(one, rhythm)],
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')
}

const block = (title: string, lines: readonly string[], empty: string): readonly string[] => [
  title,
  ...(lines.length > 0 ? lines : [empty]).map((line) => `  ${line}`),
]

function headline(one: Explanation, paint: Paint): string {
  const asks = one.cap === undefined ? 'policy asks for no cap here' : `policy asks for ${capText(one.cap)}`
  return `${paint('bold', plain(scopeKey(one.scope)))}: ${asks}`
}

function statusLines({ scope, chain, person, groups, skipped, rejected, nearest }: Explanation): readonly string[] {
  const isNamed = chain.some(({ candidate }) => scopeKey(candidate.scope) === scopeKey(scope))
  const status = person ? [`${person.status}${person.disabled ? ', access switched off' : ''}`] : []
  const member = groups.length > 0 ? [`in ${groups.map((group) => `group:${group.id} (${group.name})`).join(', ')}`] : []
  return [
    ...(scope.kind === 'group' && !isNamed ? ['  no policy sets a cap for this group'] : []),
    ...(status.length + member.length > 0 ? [`  ${plain([...status, ...member].join(', '))}`] : []),
    ...(nearest !== undefined && !skipped ? [`  did you mean ${plain(nearest)}?`] : []),
    ...(skipped ? [`  skipped, neither read nor written: ${plain(skipped.why)}`] : []),
    ...(rejected ? [`  rejected: ${plain(rejected.message)} (${rejected.code})`] : []),
  ]
}

/** Cells in columns, the winner marked. */
function chainLines({ chain }: Explanation, paint: Paint): readonly string[] {
  const lines = columns(chain.map((entry) => [entry.wins ? '* wins' : '  loses', ...candidateCells(entry), plain(entry.why)]))
  return chain.flatMap((entry, index) => {
    const { reason, ticket } = entry.candidate
    const note = [reason, ticket].flatMap((text) => (text === undefined ? [] : [plain(text)])).join(' · ')
    const line = lines[index] ?? ''
    return [entry.wins ? paint('green', line) : line, ...(note === '' ? [] : [paint('dim', `           ${note}`)])]
  })
}

function candidateCells({ candidate, state }: ExplainedCandidate): readonly string[] {
  const amount = candidate.add === undefined ? capText(candidate.cap) : `${capText(candidate.cap)} (+${candidate.add})`
  const what = whatOf(candidate)
  return [
    amount,
    `${what}${state === undefined ? '' : `, ${state}`}`,
    candidate.at ? plain(formatPosition(candidate.at)) : 'no longer declared',
  ]
}

function whatOf({ kind, rule, pool, scope }: ExplainedCandidate['candidate']): string {
  if (kind === 'rule') return `rule ${plain(rule ?? '')}`
  return kind === 'pool' ? `pool ${plain(pool ?? '')}` : `${scope.kind} ${kind}`
}

function observedCells(scope: Scope, reading: Explanation['observed'][number]['reading']): readonly string[] {
  const key = plain(scopeKey(scope))
  if (!reading) return [key, 'not read']
  const failure = reading.failure ? `: ${plain(reading.failure.message)}` : ''
  return [key, capText(reading.observed), `read ${shortTime(reading.readAt)}${failure}`]
}

function inForce({ inForce: now }: Explanation): readonly string[] {
  if (!now) return []
  if (now.cap === 'unknown') return ['In force: not known.']
  return [`In force: ${capText(now.cap)}${now.from === undefined ? '' : `, set at ${plain(now.from)}`}.`]
}

function useLine({ use }: Explanation): readonly string[] {
  if (!use) return []
  const left =
    use.headRoom === undefined
      ? ''
      : use.headRoom < 0
        ? `, ${amountText(-use.headRoom)} over the cap`
        : `, ${amountText(use.headRoom)} left`
  const amount = `${amountText(use.used)} credits`
  switch (use.source) {
    case 'measured':
      return [`Add-on credits used in this cycle: ${amount}${left}. Measured.`]
    case 'estimated':
      return [`Used beyond the seat in this cycle: ${amount}${left}. Estimated.`]
    case 'upperBound':
      return [`Used beyond the seat in this cycle: ${amount} at most (what a seat includes is not known)${left}.`]
  }
}

function presentLines(one: Explanation, paint: Paint): readonly string[] {
  const { scope, observed, change, hold, problems, desired, skipped } = one
  const own = observed.find((each) => scopeKey(each.scope) === scopeKey(scope))
  const isRead = own?.reading !== undefined && own.reading.failure === undefined
  const held = hold ? ` (held by ${hold.guards.join(', ')}, hold ${hold.id})` : ''
  const now = change
    ? [`Now: ${SIGNS[change.effect]} ${change.effect} ${capText(change.from)} → ${capText(change.to)}, cause ${change.cause}${held}`]
    : [
        desired
          ? isRead
            ? 'Now: nothing to write.'
            : 'Now: not known; its cap could not be read.'
          : skipped
            ? 'Now: nothing; it is skipped.'
            : 'Now: nothing is asked of this very scope.',
      ]
  return [
    ...now,
    ...(hold ? [paint('yellow', `  ${plain(hold.message)}`)] : []),
    ...(desired?.waits === undefined ? [] : [paint('yellow', `  ${plain(desired.waits)}`)]),
    ...(change && WAITS.has(change.disposition.kind) ? [paint('yellow', `  ${plain(whyNotNow(change))}`)] : []),
    ...problems.map((problem) => `  ${problem.severity}: ${plain(problem.message)} (${problem.code})`),
    ...editLines(one),
  ]
}

/** The line to type for another cap. An address that nobody has, and a group that is not declared, may be misspelt. */
function editLines({ scope, cap, chain, person }: Explanation): readonly string[] {
  const isKnown =
    scope.kind === 'team' ||
    (person !== undefined && person.status !== 'off-roster') ||
    chain.some(({ candidate }) => scopeKey(candidate.scope) === scopeKey(scope))
  return cap === undefined || !isKnown ? [] : [plain(`To change it in the policies: ${editLine('cap', scopeKey(scope), capText(cap))}`)]
}

const WAITS: ReadonlySet<string> = new Set(['deferred', 'excluded'])

function whyNotNow({ disposition }: Change): string {
  if (disposition.kind === 'deferred') return `waits: ${disposition.reason}`
  return disposition.kind === 'excluded' ? `not written: ${disposition.reason}` : ''
}

function lastWrite({ lastWrite: last }: Explanation): string {
  if (!last) return 'Last write: none by capkeeper.'
  const reason = last.reason === undefined ? '' : `, ${plain(last.reason)}`
  const revision = last.revision === '' ? '' : ` at ${plain(shortRevision(last.revision))}`
  const caps = `${capText(last.from)} → ${capText(last.to)}`
  return `Last write: ${shortTime(last.at)} ${caps}, ${RESULT_WORDS[last.result]}, cause ${last.cause}${reason}, policies ${last.digest}${revision}.`
}

const ownedLine = ({ owned }: Explanation): readonly string[] =>
  owned ? [`The ledger holds ${capText(owned.cap)} as ours (${owned.owner}), verified ${shortTime(owned.verifiedAt)}.`] : []

const readLine = ({ scope }: Explanation, rhythm: Reading | undefined): readonly string[] =>
  rhythm ? [`By a daemon ${rhythm.key === scopeKey(scope) ? '' : `${plain(rhythm.key)} is `}${readingText(rhythm)}.`] : []

/** The explanation of a scope in one workspace. */
export interface Explained {
  readonly workspace: string
  readonly explanation: Explanation
  readonly reading: Reading | undefined
}

/** `{apiVersion, kind: "Explanation", …}`; an `ExplanationList` where several workspaces were asked for. */
export const renderExplainJson = (all: readonly Explained[], asked = all.length): string =>
  documentOrList('Explanation', all.map(explanationDocument), asked)

/** A block for each workspace, named where there are several. */
export const renderExplainTexts = (all: readonly Explained[], paint: Paint = unpainted): string =>
  all
    .map(({ workspace, explanation, reading }) => {
      const name = all.length > 1 ? `${paint('bold', plain(workspace))}\n` : ''
      return `${name}${renderExplainText(explanation, reading, paint)}`
    })
    .join('\n')

function explanationDocument({ workspace, explanation, reading }: Explained) {
  const { lastWrite: last, ...rest } = explanation
  return {
    workspace,
    ...rest,
    ...(last && { lastWrite: historyDocument(last) }),
    ...(reading && { reading: readingDocument(reading) }),
  }
}

/** As in the documents of `/api/v1`; without `everySeconds` where only the bound is known. */
function readingDocument(reading: Reading) {
  const atLeastMs = 'everyMs' in reading ? reading.sliced?.atLeastEveryMs : reading.atLeastEveryMs
  return {
    scope: reading.key,
    ...('everyMs' in reading && { everySeconds: Math.round(reading.everyMs / 1000) }),
    ...(atLeastMs !== undefined && { atLeastEverySeconds: Math.round(atLeastMs / 1000) }),
    why: readingText(reading),
  }
}
