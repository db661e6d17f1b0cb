// Events as sentences for a person at a terminal: whom it is about, what happened, with values one under the other. The same facts as the
// fields of log-events.ts; whoever needs all of them takes JSON or --log-level debug.
import { plain } from '../../core/escape/terminal.ts'
import type { Change, ChangeResult } from '../../core/model/change.ts'
import type { CycleEvent } from '../../core/model/events.ts'
import { shortRevision } from '../../core/model/policy.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import type { Scope } from '../../core/model/scope.ts'

/** How scopes are called: groups by the name they were last read with; workspaces only while there are several. */
export interface Naming {
  readonly groups: ReadonlyMap<string, string>
  readonly showsWorkspace: boolean
}

type Of<Kind extends CycleEvent['kind']> = Extract<CycleEvent, { readonly kind: Kind }>

/** Columns that a subject takes at least, so that what follows is aligned; 80 columns hold the usual line. Choice. */
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
    case 'foreign-change':
      return plain(`${about(event.scope)}${foreignText(event)}; not put back yet`)
    case 'held':
      return plain(`${here}hold ${event.hold.id} by ${event.hold.guards.join(', ')}: ${event.hold.message}`)
    case 'hold-released':
      return plain(`${here}hold ${event.id} is gone`)
    case 'rejected':
      return plain(`${about(event.scope)}left alone: ${event.message} (${event.code})`)
    case 'warning':
      return plain(`${here}${event.message} (${event.code})`)
    case 'paused':
      return plain(`${here}paused until ${instant(event.pause.untilAt)}, nothing is written: ${event.pause.reason}`)
    case 'resumed':
      return plain(`${here}resumed; it was paused for: ${event.pause.reason}`)
    case 'cycle-finished':
      return plain(here + cycleText(event))
  }
}

/** A foreign change and the write that put it right, as one line. */
export const healedSentence = (foreign: Of<'foreign-change'>, naming: Naming): string =>
  plain(`${subject(nameOf(foreign.scope, naming.groups), foreign.workspace, naming)}${foreignText(foreign)}; put back`)

function subject(name: string, workspace: string, { showsWorkspace }: Naming): string {
  const text = `${showsWorkspace ? `${workspace} ` : ''}${name}:`
  return `${text.padEnd(SUBJECT_WIDTH - 1)} `
}

function nameOf(scope: Scope, groups: ReadonlyMap<string, string>): string {
  if (scope.kind === 'team') return 'team'
  return scope.kind === 'user' ? scope.email : `group ${groups.get(scope.id) ?? scope.id}`
}

const values = (from: unknown, to: unknown): string => `${String(from).padStart(VALUE_WIDTH)} → ${to}`

const foreignText = ({ verified, observed }: Of<'foreign-change'>): string => `somebody else set ${verified} → ${observed}`

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
  if (policy.valid) return `policies ${policy.digest}${revision} loaded${problems}`
  return `policies are invalid, the last good ones stay in force${problems}`
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

const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
