// Findings from a plan, readings, a pause, or policy files, as pure functions. Each is a sentence with its numbers and the way out. It does not
// know what was found before, and it reads and writes nothing.

import type { HistoryEntry, Hold, Pause, PlanProblem } from '../../core/model/change.ts'
import { type ConditionType, type Finding, nameOf } from '../../core/model/condition.ts'
import type { CycleStatus, PolicyStatus } from '../../core/model/events.ts'
import type { CapReading, Observed } from '../../core/model/observed.ts'
import { type Cap, isSameEntry, type Refusal, whileInvalid } from '../../core/model/policy.ts'
import { formatPosition, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey, TEAM } from '../../core/model/scope.ts'
import { count, formatInstant, type Instant } from '../../core/model/units.ts'
import { mayHaveLanded } from '../../core/plan/outcome.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { HoldsShown } from '../../core/plan/snapshot.ts'
import type { PoolNote } from '../../core/pools/deal.ts'
import type { RuleNote } from '../../core/resolve/conditions.ts'
import type { ReadClient } from '../../ports.ts'
import { type DesiredState, grantsFrozen, type WorkspaceState } from '../cycle/state.ts'

export const instant = (at: Instant): string => new Date(at).toISOString()

type More = Omit<Finding, 'type' | 'reason' | 'message' | 'subject'>

export const finding = (type: ConditionType, reason: string, message: string, subject: string, more?: More): Finding => {
  return { type, subject, reason, message, ...more }
}

/** Groups of `viewers` that show nobody: no policy declares them, or nobody is in them. What is not read yet is not known. */
export function viewerFindings(
  ids: readonly string[],
  { policy, usage }: Pick<WorkspaceState, 'policy' | 'usage'>,
  workspace: string,
): readonly Finding[] {
  const declared = new Set(policy.set.groups.map(({ scope }) => scope.id))
  return [...new Set(ids)].flatMap((id) => {
    const isEmpty = usage?.groups.some((group) => group.id === id && group.emails.length === 0)
    const why = declared.has(id) ? isEmpty && 'nobody is in it' : 'no policy declares it'
    if (!why) return []
    const message = `viewers show the people of group:${id} of ${workspace}, and ${why}: readers of that entry see nobody of it; correct only.groups, or the policies`
    return [finding('ViewersNobody', 'VIEWERS_NOBODY', message, `viewers group:${id}`)]
  })
}

/** More problems are only counted: a line must stay readable. */
const MOST_PROBLEMS = 20

/** A policy set with errors. */
export function policyFindings({ valid, digest, problems }: PolicyStatus, workspace: string): readonly Finding[] {
  if (valid) return []
  const texts = problemTexts(problems)
  const first = firstProblem(problems)
  const message = `policies are invalid, ${whileInvalid(digest)}${first === undefined ? '' : `: ${first}`}`
  const fields = texts.length > 0 ? { problems: texts, problemCount: problems.length } : undefined
  return [finding('PolicyInvalid', 'POLICY_INVALID', message, workspace, { version: texts.join('\n'), fields })]
}

/** The first problems as lines. */
export const problemTexts = (problems: readonly Pick<Problem, 'at' | 'message'>[]): readonly string[] =>
  problems.slice(0, MOST_PROBLEMS).map(({ at, message }) => (at ? `${formatPosition(at)}: ${message}` : message))

/** The first problem, and how many more there are; undefined without any. */
export function firstProblem(problems: readonly Pick<Problem, 'at' | 'message'>[]): string | undefined {
  const [first] = problemTexts(problems)
  return first !== undefined && problems.length > 1 ? `${first} (and ${problems.length - 1} more)` : first
}

/** Holds, quarantined scopes, and approvals, rules and entries of teams that need attention. `loaded`: what was found when the files were read. */
export function planFindings(
  { plan, poolNotes }: Planned,
  { quarantine, resolution }: DesiredState,
  { shown, loaded }: { readonly shown: HoldsShown; readonly loaded: readonly Problem[] },
): readonly Finding[] {
  const since = (id: string): { since?: Instant } => (shown[id] ? { since: shown[id].at } : {})
  const held = plan.holds.map((hold): Finding => ({ ...holdFinding(hold), ...since(hold.id) }))
  const problems = plan.problems.flatMap((problem): readonly Finding[] => {
    const quarantined = problem.scope && quarantine.active.get(scopeKey(problem.scope))
    const type = quarantined ? 'Quarantined' : problemType(problem)
    // Each reading says anew that the service does not know a scope.
    const isDated = quarantined && quarantined.code !== 'SCOPE_UNKNOWN'
    return type ? [{ ...problemFinding(type, problem, plan.workspace), ...(isDated && { since: quarantined.at }) }] : []
  })
  return [...held, ...problems, ...refusedEntries(plan, loaded), ...[...resolution.ruleNotes, ...poolNotes].map(noteFinding)]
}

const noteFinding = ({ code, subject, message, version }: RuleNote | PoolNote): Finding =>
  finding(nameOf(code), code, message, subject, { version })

/** A hold by one of these guards alone has a condition type of its own. */
const HOLD_TYPES: Readonly<Partial<Record<Hold['guards'][number], ConditionType>>> = { contested: 'Contested', breaker: 'BreakerOpen' }

function holdFinding({ id, guards, people, changes, message }: Hold): Finding {
  const [guard, ...others] = guards
  const type = (others.length === 0 && guard && HOLD_TYPES[guard]) || 'Held'
  return finding(type, 'HELD', message, `hold ${id}`, { fields: { hold: id, guards, people, changes: changes.length } })
}

const ENVELOPE_CODES: ReadonlySet<string> = new Set<Refusal['code']>(['ENVELOPE_OUTSIDE', 'ENVELOPE_BOUND'])

/** Entries of teams that are refused because of the members of groups, which only a cycle knows. */
function refusedEntries({ workspace, problems }: Planned['plan'], loaded: readonly Problem[]): readonly Finding[] {
  const known = new Set(loaded.flatMap(({ at }) => (at ? formatPosition(at) : [])))
  const refused = problems.filter(({ code, at, scope }) => ENVELOPE_CODES.has(code) && !scope && at && !known.has(formatPosition(at)))
  const [texts, message] = [problemTexts(refused), firstProblem(refused)]
  if (message === undefined) return []
  return [finding('EnvelopeRefused', 'ENVELOPE', message, workspace, { version: texts.join('\n'), fields: { problems: texts } })]
}

const PROBLEM_TYPES: Readonly<Record<string, ConditionType>> = {
  RULES_WEAKENED: 'RulesWeakened',
  APPROVAL_SPENT: 'ApprovalRemovable',
  APPROVAL_VOID: 'ApprovalRemovable',
  APPROVAL_UNMATCHED: 'ApprovalUnmatched',
}

const problemType = ({ severity, scope, code }: PlanProblem): ConditionType | undefined =>
  severity === 'error' && scope ? 'Rejected' : PROBLEM_TYPES[code]

/** Without a scope the message is the subject: several rules may be weakened, and several approvals removable. */
const problemFinding = (type: ConditionType, { code, message, scope }: PlanProblem, workspace: string): Finding =>
  scope ? finding(type, code, message, scopeKey(scope), { scope }) : finding(type, code, `${workspace}: ${message}`, message)

/** For how long a write that was judged not to have landed may still be recognised as late. Choice. */
export const LATE_MS = 3_600_000

/** The recent writes of a scope. */
type WrittenLately = (scope: Scope) => readonly Pick<HistoryEntry, 'result' | 'unproven' | 'to'>[]

/** Caps that another client changed and that are not reverted yet, and writes of ours that landed late. */
export const foreignFindings = (
  planned: Planned,
  readings: WorkspaceState['readings'],
  writtenLately: WrittenLately,
): readonly Finding[] => [
  ...planned.plan.changes.flatMap(({ cause, scope, from, to }) => {
    if (cause !== 'external') return []
    const isLate = writtenLately(scope).some((one) => one.result === 'failed' && mayHaveLanded(one) && one.to === from)
    if (isLate) return [lateFinding(scope, to, from)]
    const key = scopeKey(scope)
    return [foreignFinding(scope, planned.owned.get(key)?.cap ?? to, from, readings.get(key))]
  }),
  ...acceptedFindings(planned, readings, writtenLately),
]

/**
 * Foreign changes that the plan accepts, so that no change shows them: another client lowered a member of a pool while the sum is above the
 * credits or nothing is dealt to the member, and a revert would be a raise.
 */
function acceptedFindings(
  { diff, desired, owned }: Planned,
  readings: WorkspaceState['readings'],
  writtenLately: WrittenLately,
): readonly Finding[] {
  return diff.adopted.flatMap(({ scope, cap }) => {
    const key = scopeKey(scope)
    const [asked, before, reading] = [desired.get(key), owned.get(key), readings.get(key)]
    if (!asked || !before || before.cap === cap || !reading) return []
    if (asked.origin.kind !== 'pool' && !isSameEntry(asked.entry, before.entry)) return []
    // Without an explicit cap the value is inherited.
    if ('cap' in asked.entry && asked.entry.cap === 'none') return []
    const isOurs = reading.readAt <= before.verifiedAt || writtenLately(scope).some(({ to }) => to === cap)
    return isOurs ? [] : [foreignFinding(scope, before.cap, cap, reading)]
  })
}

function lateFinding(scope: Scope, desired: Cap, observed: Observed): Finding {
  const key = scopeKey(scope)
  const message = `${key}: a write of ${observed} that had not landed when it was last read has landed since; ${desired} is put back`
  return finding('LateWrite', 'LATE_WRITE', message, key, { version: String(observed), scope, fields: { desired, observed } })
}

/** A foreign change; with another value it is another one. */
export function foreignFinding(scope: Scope, verified: Cap, observed: Observed, reading?: CapReading): Finding {
  const key = scopeKey(scope)
  const message = `${key}: somebody else set ${verified} → ${observed}; not put back yet`
  const fields = { from: verified, to: observed, ...unseen(reading) }
  return finding('ForeignChange', 'FOREIGN_CHANGE', message, key, { version: String(observed), scope, fields })
}

/** The time between the last reading and the one that found it. */
const unseen = (reading: CapReading | undefined): { readonly unseenSeconds?: number } =>
  reading?.previousAt === undefined ? {} : { unseenSeconds: Math.max(0, reading.readAt - reading.previousAt) / 1000 }

export function pauseFindings(pause: Pause | undefined, workspace: string): readonly Finding[] {
  if (!pause) return []
  const { untilAt, pausedAt, reason } = pause
  const message = `paused until ${formatInstant(untilAt)}, nothing is written: ${reason}`
  const fields = { until: instant(untilAt), reason }
  return [finding('Paused', 'PAUSED', message, workspace, { since: pausedAt, version: instant(pausedAt), fields })]
}

/** What the readings of a cycle say of the service as a whole: nothing while any of them worked. */
export function serviceFindings(scopes: readonly Scope[], readings: WorkspaceState['readings'], workspace: string): readonly Finding[] {
  const team = readings.get(scopeKey(TEAM))?.failure
  if (team?.lacksFeature) return [finding('NoCaps', 'NO_CAPS', `${workspace}: ${NO_CAPS}: ${team.message}`, workspace)]
  const failures = scopes.flatMap((scope) => readings.get(scopeKey(scope))?.failure ?? [])
  const [first] = failures
  if (!first || failures.length < scopes.length) return []
  if (failures.every(({ kind }) => kind === 'auth')) {
    const message = `${workspace}: no cap can be read with this key, so nothing is known and nothing is written: ${first.message}`
    return [finding('KeyRefused', 'READS_REFUSED', message, 'reads of caps')]
  }
  const none = scopes.length === 1 ? 'its only cap could not be read' : `none of ${scopes.length} caps could be read`
  const message = `${workspace}: ${none}, so nothing is written: ${first.message}`
  return [finding('ServiceUnreachable', 'SERVICE_UNREACHABLE', message, workspace)]
}

const NO_CAPS = 'caps are refused for good, whatever the key, so none is kept; use and reports go on. Another plan of the service has caps'

/** Keys, certificates and secrets of channels that were good and can no longer be read. */
export const fileFindings = (kept: readonly string[], workspace: string): readonly Finding[] =>
  kept.map((message) => finding('FileUnread', 'FILE_UNREADABLE', `${workspace}: ${message}; the last good one is used`, message))

/** Why the service takes no writes: because of the key, or of something else that holds for every write. */
export function refusalFindings(refusal: string | undefined, isKey: boolean): readonly Finding[] {
  if (refusal === undefined) return []
  return [finding(isKey ? 'KeyRefused' : 'WritesRefused', 'WRITES_REFUSED', `nothing can be written: ${refusal}`, 'writes')]
}

/** A cycle that failed or is incomplete; `ledgerFailed`: because it could not be recorded. */
export function cycleFindings(
  { result, message = 'nothing is known of why' }: Pick<CycleStatus, 'result' | 'message'>,
  ledgerFailed: boolean,
  workspace: string,
): readonly Finding[] {
  const unwritable = `${workspace}: the ledger cannot be written, so no cap is written: ${message}`
  return [
    ...(ledgerFailed ? [finding('LedgerUnwritable', 'LEDGER_UNWRITABLE', unwritable, workspace)] : []),
    ...(result === 'error' ? [finding('CycleFailed', 'CYCLE_FAILED', message, workspace)] : []),
    ...(result === 'partial' ? [finding('CycleIncomplete', 'CYCLE_INCOMPLETE', message, workspace)] : []),
  ]
}

/** Clocks that differ, and copied caps that were seen. */
export function deploymentFindings(
  client: Pick<ReadClient, 'clockSkewMs'>,
  copying: { readonly evidence: string; readonly at: Instant } | undefined,
  workspace: string,
): readonly Finding[] {
  const seconds = Math.round((client.clockSkewMs() ?? 0) / 1000)
  const skew = `the service's clock differs by ${seconds} s; grants neither start nor end until the clocks agree`
  const copied = copying && `copying was seen: ${copying.evidence}; set capSemantics: copied`
  return [
    ...(grantsFrozen(client) ? [finding('ClockSkew', 'CLOCK_SKEW', skew, workspace)] : []),
    ...(copying && copied ? [finding('CopyingSeen', 'COPYING_SEEN', copied, workspace, { since: copying.at })] : []),
  ]
}

/** A roster that is doubted. */
export function rosterFindings(usage: WorkspaceState['usage'], workspace: string): readonly Finding[] {
  const doubted = usage?.doubted
  if (!doubted) return []
  const message = `the roster is doubted since ${formatInstant(doubted.since)}; the last good one serves`
  return [finding('RosterDoubted', 'ROSTER_DOUBTED', message, workspace, { since: doubted.since })]
}

/** The subject of findings about runs. */
export const RUNS = 'runs of agents'

/** A part of use that could not be read. */
export const unread = (reason: string, part: string, message: string): Finding => finding('UsageUnread', reason, message, part)

/** Malformed rows of an answer that were set aside, if any. */
export function malformedRows(of: string, rows = 0): readonly Finding[] {
  const message = `${count(rows, 'row')} of ${of} made no sense and ${rows === 1 ? 'was' : 'were'} set aside`
  return rows === 0 ? [] : [finding('MalformedRows', 'MALFORMED_ROWS', message, of)]
}
