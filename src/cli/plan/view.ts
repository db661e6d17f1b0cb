// Shared by all renderings of a plan: the plan, the outcomes of its changes, and the words for both. Also the plan as JSON.
import {
  type Change,
  type ChangeResult,
  type Effect,
  type Hold,
  holdOf,
  type Plan,
  type PlanApproval,
  type PlanProblem,
  type Release,
} from '../../core/model/change.ts'
import { formatPosition } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Preview } from '../../daemon/cycle/preview.ts'
import type { Cli } from '../shared/context.ts'
import { documentOrList, tellLine } from '../shared/text.ts'

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

export interface ReleaseOptions {
  /** The exact command that releases a hold. */
  readonly releaseCommand?: (holdId: string) => string
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

/** The past tense, for what was applied. */
export const DONE: Readonly<Record<Effect, string>> = { set: 'set', raise: 'raised', lower: 'lowered', block: 'blocked', clear: 'cleared' }

/** Whether the scope now has the cap that was planned. */
export const hasSucceeded = (outcome: Outcome | undefined): boolean => outcome?.result === 'applied' || outcome?.result === 'satisfied'

export const RESULT_WORDS: Readonly<Record<Ending, string>> = {
  applied: 'applied',
  satisfied: 'already as asked',
  failed: 'failed',
  ambiguous: 'in doubt',
  verify_failed: 'read back differently',
}

/** How often each key occurs. */
export function tally<K extends string>(keys: Iterable<K>): ReadonlyMap<K, number> {
  const counts = new Map<K, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
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
