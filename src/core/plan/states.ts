// What is shown beside the changes of a plan: the state of every managed scope, the counts, the problems. Also which scopes a cycle reads and skips.
// It decides no change.

import { editLine } from '../escape/text.ts'
import { approvedIn, TEAM_KEY } from '../interpret/effective.ts'
import {
  type Change,
  type Disposition,
  type Effect,
  holdOf,
  isGone,
  type PlanCounts,
  type PlanProblem,
  type Quarantined,
} from '../model/change.ts'
import type { ScopeState, ScopeStatus } from '../model/events.ts'
import { type CapReading, mayBeSet, type OwnedCap, type Roster } from '../model/observed.ts'
import { type Cap, isSameEntry, type PolicyEntry, UNDECLARED } from '../model/policy.ts'
import { byScope, compareScopes, groupScope, parseScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../model/scope.ts'
import { count, DAY_MS, formatInstant, type Instant, isYounger } from '../model/units.ts'
import type { DesiredCap, Resolution } from '../resolve/desired.ts'
import { CONTEST_MS } from './contested.ts'
import type { Diff } from './diff.ts'
import type { Judged } from './judgement.ts'
import type { weakenings } from './reviewed.ts'
import type { Contest, Snapshot } from './snapshot.ts'

const QUARANTINE_MS = DAY_MS

/**
 * Scopes that are neither read nor written: those the resolution skips, and those with a cap of ours whose person is not approved any more
 * or whose group the service does not know. The caps stay ours.
 */
export function skippedScopes(
  resolution: Resolution,
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  roster: Roster | undefined,
  unknownGroups: readonly string[],
): ReadonlySet<ScopeKey> {
  const skipped = new Set(resolution.skipped.map((one) => scopeKey(one.scope)))
  const approved = roster && new Set(approvedIn(roster).map((one) => one.email))
  const unknown = new Set(unknownGroups.map((id) => scopeKey(groupScope(id))))
  for (const [key, { scope }] of owned) {
    if (scope.kind === 'user' && approved && !approved.has(scope.email)) skipped.add(key)
    if (unknown.has(key)) skipped.add(key)
  }
  return skipped
}

/** The policy entry of each scope, as declared: a plan may have another for it, as for a cap that a grant gives back. */
export function entriesOf({ desired }: Pick<Resolution, 'desired'>): (key: ScopeKey) => PolicyEntry {
  const entries = new Map(desired.map((one) => [scopeKey(one.scope), one.entry]))
  return (key) => entries.get(key) ?? UNDECLARED
}

/**
 * Quarantine ends after 24 h, when the policy entry changes, or when the scope was skipped in between (the person returns). With an unknown
 * age it is over, because another attempt harms nobody. A 0 that the service does not store is not tried again before the policy changes; where
 * it shows later, the readings after the write were old.
 * Whether the service knows a scope is never remembered: the last reading says it. Ledgers of earlier versions did remember it.
 */
export function activeQuarantine(
  entries: readonly Quarantined[],
  resolution: Resolution,
  skipped: ReadonlySet<ScopeKey>,
  now: Instant,
  readings: ReadonlyMap<ScopeKey, CapReading> = new Map(),
): { readonly active: ReadonlyMap<ScopeKey, Quarantined>; readonly over: readonly ScopeKey[] } {
  const askedAt = entriesOf(resolution)
  const active = new Map<ScopeKey, Quarantined>()
  const over: ScopeKey[] = []
  for (const one of entries) {
    const key = scopeKey(one.scope)
    const isYoung = isYounger(one.at, now, QUARANTINE_MS) || one.code === 'ZERO_NOT_STORED'
    if (isYoung && !isRefuted(one, readings) && one.code !== 'SCOPE_UNKNOWN' && isSameEntry(askedAt(key), one.entry) && !skipped.has(key))
      active.set(key, one)
    else over.push(key)
  }
  return { active, over }
}

/** The 0 that reads showed as unset after it was written shows now. */
export const isRefuted = ({ scope, code }: Quarantined, readings: ReadonlyMap<ScopeKey, CapReading>): boolean =>
  code === 'ZERO_NOT_STORED' && readings.get(scopeKey(scope))?.observed === 0

/** Without the desired caps of quarantined scopes. Where the service did not store a 0, the cap from before it takes its place. */
export function withoutQuarantined({ resolution, quarantined }: Snapshot): Resolution {
  if (quarantined.size === 0) return resolution
  const desired = resolution.desired.flatMap((one) => {
    const left = quarantined.get(scopeKey(one.scope))
    if (!left) return one
    return left.restore === undefined ? [] : restored(one, left.restore)
  })
  return { ...resolution, desired }
}

/** Quarantined scopes without a desired cap are skipped as well. */
export function skippedNow({ skipped, quarantined }: Snapshot, { desired }: Resolution): ReadonlySet<ScopeKey> {
  if (quarantined.size === 0) return skipped
  const wanted = byScope(desired)
  return new Set([...skipped, ...[...quarantined.keys()].filter((key) => !wanted.has(key))])
}

const restored = (one: DesiredCap, cap: Cap): DesiredCap => ({
  ...one,
  cap,
  entry: { kind: 'kept', cap },
  origin: { ...one.origin, cap, reason: 'the service does not store a cap of 0 here, so the cap before it stays' },
})

/**
 * Readings of scopes that the service says it does not know, while it knows most of the others: an address that answers nothing but "not
 * found" says nothing about scopes (choice).
 */
export function unknownScopes(read: readonly Scope[], readings: ReadonlyMap<ScopeKey, CapReading>): ReadonlyMap<ScopeKey, CapReading> {
  const all = read.flatMap((scope) => readings.get(scopeKey(scope)) ?? [])
  const unknown = all.filter(({ failure }) => failure?.kind === 'not_found')
  const isAll = unknown.length * 2 > all.filter(({ failure }) => !failure).length + unknown.length
  return byScope(isAll ? [] : unknown)
}

/** Every scope that a sweep reads, each once, in the canonical order: those with a desired cap, those of ours, and the ancestors whose cap they may show. */
export function scopesToRead(
  resolution: Resolution,
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  skipped: ReadonlySet<ScopeKey>,
  groupsOf: (key: ScopeKey) => readonly ScopeKey[] = () => [],
  showsInherited = true,
): readonly Scope[] {
  const scopes = new Map<ScopeKey, Scope>()
  // Guards count people without another cap by the team's, whether it is declared or not.
  scopes.set(TEAM_KEY, TEAM)
  for (const { scope } of resolution.desired) scopes.set(scopeKey(scope), scope)
  // A pool deals only to members whose caps were read.
  const members = resolution.pools.flatMap((pool) => pool.members.map(({ email }) => userScope(email)))
  for (const scope of members) scopes.set(scopeKey(scope), scope)
  for (const [key, one] of owned) if (mayBeSet(one)) scopes.set(key, one.scope)
  // A group may have a cap that no policy declares: members of a pool count at it, and readings of others may show it.
  for (const key of new Set((showsInherited ? [...scopes.keys()] : members.map(scopeKey)).flatMap(groupsOf))) {
    const group = parseScope(key)
    if (group) scopes.set(key, group)
  }
  for (const key of skipped) scopes.delete(key)
  return [...scopes.values()].sort(compareScopes)
}

/** Why an orphan is not cleared. */
export const PRUNE_OFF = 'prune is off'
export const PRUNING_WAITS = 'not cleared while a policy file is broken'

/**
 * One status per scope that is declared or ours, in the canonical order. A cap that keeps a member of a pool from being lifted is neither declared
 * nor in sync, and has no state.
 */
export function scopeStates(
  inputs: Snapshot,
  { declared, inSync }: { readonly declared: ReadonlyMap<ScopeKey, DesiredCap>; readonly inSync: readonly DesiredCap[] },
  result: Diff,
  changes: readonly Change[],
  contested: ReadonlyMap<ScopeKey, Contest>,
): readonly ScopeStatus[] {
  const others = new Map<ScopeKey, ScopeStatus>()
  const put = (scope: Scope, more: Omit<ScopeStatus, 'scope' | 'observed'>): void => {
    const key = scopeKey(scope)
    others.set(key, { ...statusOf(scope, declared.get(key), inputs.readings.get(key), more.state), ...more })
  }
  for (const { scope, message } of result.unknown) put(scope, { state: 'unknown', why: message })
  for (const { scope, why } of inputs.resolution.skipped) put(scope, { state: 'skipped', why })
  for (const { scope, message } of inputs.resolution.rejected) put(scope, { state: 'rejected', why: message })
  for (const one of inputs.quarantined.values()) put(one.scope, { state: isGone(one) ? 'skipped' : 'rejected', why: one.message })
  // The plan has changes for scopes that are still in sync: pins, and rewrites after a team or group write.
  const still = byScope(changes.length > result.differences.length ? result.inSync : [])
  const why = inputs.policyBroken ? PRUNING_WAITS : PRUNE_OFF
  for (const { scope } of result.kept) put(scope, { state: 'drifted', cause: 'orphan', why, ...since(scope, inputs) })
  for (const change of changes) {
    if (others.has(scopeKey(change.scope)) || still.has(scopeKey(change.scope))) continue
    const contest = contested.get(scopeKey(change.scope))
    put(change.scope, { ...stateOf(change.disposition, contest), cause: change.cause, ...since(change.scope, inputs) })
  }
  const states = [...others.values()]
  for (const want of inSync) {
    const key = scopeKey(want.scope)
    if (!others.has(key)) states.push(statusOf(want.scope, want, inputs.readings.get(key), 'in_sync'))
  }
  // In-sync scopes alone are in order already.
  return others.size === 0 ? states : states.sort((a, b) => compareScopes(a.scope, b.scope))
}

function stateOf(disposition: Disposition, contest: Contest | undefined) {
  if (disposition.kind === 'ready') return { state: 'drifted' as const }
  if (disposition.kind !== 'held') return { state: 'drifted' as const, why: disposition.reason }
  const { hold } = disposition
  if (!contest) return { state: 'held' as const, why: `hold ${hold}` }
  const until = formatInstant(contest.at + CONTEST_MS)
  return {
    state: 'contested' as const,
    why: `hold ${hold}: changed by others ${count(contest.changes, 'time')} in 24 h, left alone until ${until}`,
  }
}

const since = (scope: Scope, inputs: Snapshot): { driftSince: Instant } => ({
  driftSince: inputs.driftSince[scopeKey(scope)] ?? inputs.now,
})

/** A status is filled in key by key: there may be tens of thousands, and spreads would cost the most of a plan. */
type Draft = { -readonly [Key in keyof ScopeStatus]: ScopeStatus[Key] }

/** During an outage the last known value is shown, with its age. */
function statusOf(scope: Scope, want: DesiredCap | undefined, reading: CapReading | undefined, state: ScopeState): ScopeStatus {
  const { observed, readAt } = reading?.last ?? reading ?? NOT_READ
  const status: Draft = want ? { scope, state, observed, desired: want.cap } : { scope, state, observed }
  if (want?.origin.at) status.source = want.origin.at
  if (want?.origin.reason !== undefined) status.reason = want.origin.reason
  if (want?.waits !== undefined) status.why = want.waits
  if (readAt !== undefined && (!reading?.failure || reading.last)) status.readAt = readAt
  return status
}

const NOT_READ: { readonly observed: 'unknown'; readonly readAt: undefined } = { observed: 'unknown', readAt: undefined }

/** Weakened rules come first: a reviewer must not miss them. */
export function planProblems(inputs: Snapshot, weakened: ReturnType<typeof weakenings>, judged: Judged): readonly PlanProblem[] {
  const { policy, resolution, quarantined, poolNotes = [] } = inputs
  const { refusals = [], notes = [] } = policy.settled ?? {}
  return [
    ...weakened.map(({ rule, from, to }) => warning('RULES_WEAKENED', `policy weakens ${rule}: ${from} → ${to}`)),
    ...refusals.map(({ code, message, at }) => error(code, `${message}; what was accepted last stays`, { at })),
    ...notes.map(({ message, at }) => warning('ENVELOPE_JOINED', message, { at })),
    ...resolution.rejected.map(({ scope, code, message, at }) => error(code, message, { scope, at })),
    ...[...quarantined.values()].map((one) =>
      isGone(one) ? warning('SCOPE_SKIPPED', one.message, { scope: one.scope }) : error(one.code, one.message, { scope: one.scope }),
    ),
    ...resolution.skipped.map(({ scope, why, at }) => warning('SCOPE_SKIPPED', why, { scope, at })),
    ...resolution.grants.flatMap(({ grant: { scope, at }, note }) =>
      note === undefined ? [] : warning('GRANT_WAITS', `the grant for ${scopeKey(scope)}: ${note}`, { at }),
    ),
    ...[...resolution.ruleNotes, ...poolNotes].map(({ code, message, at }) =>
      (code === 'POOL_BOUNDS' ? error : warning)(code, message, { at }),
    ),
    ...judged.judgement.warnings.map(({ guard, message }) =>
      warning(`GUARD_${guard.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`, message),
    ),
    ...judged.shown.flatMap(approvalProblem),
  ]
}

const problemOf =
  (severity: PlanProblem['severity']) =>
  (code: string, message: string, where: Pick<PlanProblem, 'scope' | 'at'> = {}): PlanProblem => ({ severity, code, message, ...where })
const [warning, error] = [problemOf('warning'), problemOf('error')]

function approvalProblem({ id, state, at, note, releases }: Judged['shown'][number]): readonly PlanProblem[] {
  if (releases.length > 0 || note === undefined) return []
  const code = state === 'pending' ? 'APPROVAL_UNMATCHED' : `APPROVAL_${state.toUpperCase()}`
  const way = state === 'pending' || !at ? '' : `; remove it from spec.approvals: ${editLine('remove', `approval:${id}`)}`
  return at || state === 'pending' ? [warning(code, `approval ${id}: ${note}${way}`, { at })] : []
}

/** How many scopes and changes there are of each kind. */
export function countScopes(changes: readonly Change[], scopes: readonly ScopeStatus[], result: Diff): PlanCounts {
  const open = changes.filter((one) => holdOf(one) === undefined)
  const of = (effect: Effect): number => open.filter((one) => one.effect === effect).length
  // A scope with the cap from before a 0 that was not stored is rejected, though that cap is in sync.
  const rejected = byScope(scopes.filter(({ state }) => state === 'rejected'))
  return {
    set: of('set'),
    raise: of('raise'),
    lower: of('lower'),
    block: of('block'),
    clear: of('clear'),
    held: changes.length - open.length,
    inSync: result.inSync.filter(({ scope }) => !rejected.has(scopeKey(scope))).length,
    unknown: result.unknown.length,
    skipped: scopes.filter(({ state }) => state === 'skipped').length,
    rejected: rejected.size,
  }
}
