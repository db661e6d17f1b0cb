// Writes events as sentences for a person at a terminal: subject, event, aligned values. JSON or --log-level debug has all fields.
import { plain } from '../../core/escape/terminal.ts'
import type { Change, ChangeResult } from '../../core/model/change.ts'
import { type Condition, type ConditionType, kindOf } from '../../core/model/condition.ts'
import type { CycleEvent } from '../../core/model/events.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import type { Scope } from '../../core/model/scope.ts'

/** How scopes are named: groups by their last known name; workspaces only where there are several. */
export interface Naming {
  readonly groups: ReadonlyMap<string, string>
  readonly showsWorkspace: boolean
}

export type ConditionEvent = Of<'condition'>

type Of<Kind extends CycleEvent['kind']> = Extract<CycleEvent, { readonly kind: Kind }>

/** The least width of a subject, so that values are aligned; the usual line fits into 80 columns. Choice. */
const SUBJECT_WIDTH = 26
const VALUE_WIDTH = 4
const VERB_WIDTH = 9

/** `group Data: somebody else set 1000 → 2500; put back`. One line of printable text. */
export function sentenceOf(event: CycleEvent, naming: Naming): string {
  const about = (scope: Scope): string => subject(nameOf(scope, naming.groups), event.workspace, naming)
  const here = naming.showsWorkspace ? `${event.workspace}: ` : ''
  switch (event.kind) {
    case 'policy-loaded':
      return plain(here + policyText(event))
    case 'request-finished':
      return plain(`${here}${event.operation} ${event.outcome} after ${Math.round(event.durationMs)} ms`)
    case 'rate-learned':
      return plain(`${here}learned a pace of ${Number(event.ratePerSecond.toFixed(2))} requests a second`)
    case 'usage-read':
      return plain(`${here}read ${event.roster ? `${event.roster.people.length} people, ` : ''}${event.groups.length} groups`)
    case 'planned':
      return plain(`${here}plan ${event.plan.id} has ${event.plan.changes.length} changes`)
    case 'change-finished':
      return plain(about(event.change.scope) + changeText(event))
    case 'condition': {
      const { scope, type } = event.condition
      return plain(scope && BY_SCOPE.has(type) ? about(scope) + scopeText(event) : here + conditionText(event))
    }
    case 'bug':
      return plain(`${here}${event.message}`)
    case 'cycle-finished':
      return plain(here + cycleText(event))
  }
}

/** A foreign change and its revert, as one line. */
export const healedSentence = (scope: Scope, foreign: ConditionEvent, naming: Naming): string =>
  plain(`${subject(nameOf(scope, naming.groups), foreign.workspace, naming)}${foreignText(foreign.condition)}; put back`)

/** Conditions whose line begins with the scope. */
const BY_SCOPE: ReadonlySet<ConditionType> = new Set(['ForeignChange', 'Rejected', 'Quarantined'])

function scopeText({ change, condition }: ConditionEvent): string {
  if (change === 'ended') return kindOf(condition.type).ended ?? 'put back'
  if (condition.type === 'ForeignChange') return `${foreignText(condition)}; not put back yet`
  return `left alone: ${condition.message} (${condition.reason})`
}

/** A condition of a workspace, or of a part that is read. */
function conditionText({ change, condition }: ConditionEvent): string {
  const { type, subject, reason, message, fields } = condition
  const { guards, reason: pausedFor } = fields ?? {}
  if (type === 'Paused') return change === 'ended' ? `resumed; it was paused for: ${pausedFor}` : message
  if (guards !== undefined) return change === 'ended' ? `${subject} is gone` : `${subject} by ${[guards].flat().join(', ')}: ${message}`
  return change === 'ended' ? `${kindOf(type).ended} (${subject})` : `${message} (${reason})`
}

function subject(name: string, workspace: string, { showsWorkspace }: Naming): string {
  const text = `${showsWorkspace ? `${workspace} ` : ''}${name}:`
  return `${text.padEnd(SUBJECT_WIDTH - 1)} `
}

function nameOf(scope: Scope, groups: ReadonlyMap<string, string>): string {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'user' ? scope.email : `group ${groups.get(scope.id) ?? scope.id}`
}

const values = (from: unknown, to: unknown): string => `${String(from).padStart(VALUE_WIDTH)} → ${to}`

const foreignText = ({ fields }: Condition): string => `somebody else set ${fields?.['from']} → ${fields?.['to']}`

const DONE: Readonly<Record<Change['effect'], string>> = {
  set: 'set',
  raise: 'raised',
  lower: 'lowered',
  block: 'blocked',
  clear: 'cleared',
}

const WHY: Readonly<Record<Change['cause'], string>> = {
  policy: '',
  external: ', put back',
  expired: ', a grant ended',
  orphan: ', no longer declared',
}

function changeText({ change, result, error }: Of<'change-finished'>): string {
  const { from, to, effect, cause } = change
  const because = error === undefined ? '' : `: ${error}`
  const texts: Readonly<Record<ChangeResult, string>> = {
    applied: `${DONE[effect].padEnd(VERB_WIDTH)}${values(from, to)}${WHY[cause]}`,
    ambiguous: `${'sent'.padEnd(VERB_WIDTH)}${values(from, to)}, and whether it holds is not known${because}`,
    verify_failed: `${'sent'.padEnd(VERB_WIDTH)}${values(from, to)}, but another value was read back${because}`,
    failed: `${'failed'.padEnd(VERB_WIDTH)}${values(from, to)}${because}`,
  }
  return texts[result]
}

function policyText({ policy }: Of<'policy-loaded'>): string {
  const revision = policy.revision === '' ? '' : ` at ${shortRevision(policy.revision)}`
  const [first, ...more] = policy.problems
  const problems = first ? `: ${problemText(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}` : ''
  return `policies ${policy.digest}${revision} loaded${problems}`
}

const problemText = ({ at, message }: Problem): string => (at ? `${formatPosition(at)}: ${message}` : message)

const ENDINGS: Readonly<Record<Of<'cycle-finished'>['result'], string>> = {
  success: 'caps are as declared',
  noop: 'nothing to do',
  partial: 'done in part',
  held: 'the rest is held',
  error: 'failed',
}

function cycleText({ result, message, totalMs }: Of<'cycle-finished'>): string {
  const because = message === undefined ? '' : `: ${message}`
  return `cycle finished in ${(totalMs / 1_000).toFixed(1)} s, ${ENDINGS[result]}${because}`
}
