// Where every managed scope stands, for metrics, /status and the page: one state per scope, worked out from the plan. It decides no
// change. Also which scopes a cycle reads, and which it leaves alone.

import { isApproved, TEAM_KEY } from '../interpret/effective.ts'
import { isYounger } from '../model/age.ts'
import { type Change, type Disposition, isGone, type Quarantined } from '../model/change.ts'
import { isSameEntry, type PolicyEntry, UNDECLARED } from '../model/entry.ts'
import type { ScopeState, ScopeStatus } from '../model/events.ts'
import { type CapReading, mayBeSet, type OwnedCap, type Roster } from '../model/observed.ts'
import { byScope, compareScopes, groupScope, parseScope, type Scope, type ScopeKey, scopeKey, TEAM, userScope } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import type { Resolution } from '../resolve/resolution.ts'
import { CONTEST_MS, type Contest } from './contested.ts'
import type { Diff } from './diff.ts'

export const QUARANTINE_MS = 24 * 3_600_000

/**
 * Scopes that are neither read nor written: those the resolution skips, and caps of ours on people who are not approved any more or whose
 * group the service does not know. They stay ours.
 */
export function skippedScopes(
  resolution: Resolution,
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  roster: Roster | undefined,
  unknownGroups: readonly string[],
): ReadonlySet<ScopeKey> {
  const skipped = new Set(resolution.skipped.map((one) => scopeKey(one.scope)))
  const approved = roster && new Set(roster.people.filter((one) => isApproved(one, roster)).map((one) => one.email))
  const unknown = new Set(unknownGroups.map((id) => scopeKey(groupScope(id))))
  for (const [key, { scope }] of owned) {
    if (scope.kind === 'user' && approved && !approved.has(scope.email)) skipped.add(key)
    if (unknown.has(key)) skipped.add(key)
  }
  return skipped
}

/** What policy asks of each scope, whatever a plan makes of it, such as a pin or a cap that is given back. */
export function entriesOf({ desired }: Pick<Resolution, 'desired'>): (key: ScopeKey) => PolicyEntry {
  const entries = new Map(desired.map((one) => [scopeKey(one.scope), one.entry]))
  return (key) => entries.get(key) ?? UNDECLARED
}

/**
 * Quarantine holds until 24 h have passed, the policy entry changes, or the scope was skipped in between (the person returns). Of unknown age
 * it is over, for trying again harms nobody. A 0 that is not stored is not tried again before the policy changes.
 */
export function activeQuarantine(
  entries: readonly Quarantined[],
  resolution: Resolution,
  skipped: ReadonlySet<ScopeKey>,
  now: Instant,
): { readonly active: ReadonlyMap<ScopeKey, Quarantined>; readonly over: readonly ScopeKey[] } {
  const askedAt = entriesOf(resolution)
  const active = new Map<ScopeKey, Quarantined>()
  const over: ScopeKey[] = []
  for (const one of entries) {
    const key = scopeKey(one.scope)
    const isYoung = isYounger(one.at, now, QUARANTINE_MS) || one.code === 'ZERO_NOT_STORED'
    if (isYoung && isSameEntry(askedAt(key), one.entry) && !skipped.has(key)) active.set(key, one)
    else over.push(key)
  }
  return { active, over }
}

/** Every scope a sweep reads, each once, in the canonical order: what is asked for, what is ours, and what those may show in their place. */
export function scopesToRead(
  resolution: Resolution,
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  leftAlone: { readonly skipped: ReadonlySet<ScopeKey>; readonly quarantined: ReadonlyMap<ScopeKey, Quarantined> },
  mayShow: (key: ScopeKey) => readonly ScopeKey[] = () => [],
): readonly Scope[] {
  const scopes = new Map<ScopeKey, Scope>()
  // Whoever has no cap of their own falls to the team's, declared or not: guards count by it.
  scopes.set(TEAM_KEY, TEAM)
  for (const { scope } of resolution.desired) scopes.set(scopeKey(scope), scope)
  // A pool deals only to people whose caps it knows.
  for (const { members } of resolution.pools) for (const { email } of members) scopes.set(scopeKey(userScope(email)), userScope(email))
  for (const [key, one] of owned) if (mayBeSet(one)) scopes.set(key, one.scope)
  // A group may have a cap that nobody declares.
  for (const key of new Set([...scopes.keys()].flatMap(mayShow))) {
    const group = parseScope(key)
    if (group) scopes.set(key, group)
  }
  // What is set at the team or a group decides about people, also while nothing is written there.
  const isRead = (key: ScopeKey, one: Quarantined): boolean =>
    scopes.get(key)?.kind !== 'user' && one.code !== 'SCOPE_UNKNOWN' ? true : one.restore !== undefined
  for (const [key, one] of leftAlone.quarantined) if (!isRead(key, one)) scopes.delete(key)
  for (const key of leftAlone.skipped) scopes.delete(key)
  return [...scopes.values()].sort(compareScopes)
}

/** Why an orphan stays. */
export const PRUNE_OFF = 'prune is off'
export const PRUNING_WAITS = 'not cleared while a policy file is broken'

/** Of a plan's inputs, what says where scopes stand. */
export interface StateInputs {
  readonly resolution: Resolution
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly quarantined: ReadonlyMap<ScopeKey, Quarantined>
  readonly driftSince: Readonly<Record<ScopeKey, Instant>>
  /** Orphans stay because a policy file is broken, not because `prune` is off. */
  readonly policyBroken?: boolean
  readonly now: Instant
  /** An instant for people to read. */
  readonly instantText: (at: Instant) => string
}

/** What is declared, and what of it is as asked for; what members of pools keep is not, and has no state. */
export interface DeclaredCaps {
  readonly declared: ReadonlyMap<ScopeKey, DesiredCap>
  readonly inSync: readonly DesiredCap[]
}

/** One status per scope that is declared or ours, in the canonical order. */
export function scopeStates(
  inputs: StateInputs,
  { declared, inSync }: DeclaredCaps,
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
  // More is written than differs where a wide write would overwrite or lift what is in sync; that is in sync until then.
  const still = byScope(changes.length > result.differences.length ? result.inSync : [])
  const why = inputs.policyBroken ? PRUNING_WAITS : PRUNE_OFF
  for (const { scope } of result.kept) put(scope, { state: 'drifted', cause: 'orphan', why, ...since(scope, inputs) })
  for (const change of changes) {
    if (others.has(scopeKey(change.scope)) || still.has(scopeKey(change.scope))) continue
    const contest = contested.get(scopeKey(change.scope))
    put(change.scope, { ...stateOf(change.disposition, contest, inputs), cause: change.cause, ...since(change.scope, inputs) })
  }
  const states = [...others.values()]
  for (const want of inSync) {
    const key = scopeKey(want.scope)
    if (!others.has(key)) states.push(statusOf(want.scope, want, inputs.readings.get(key), 'in_sync'))
  }
  // What is in sync comes in order already.
  return others.size === 0 ? states : states.sort((a, b) => compareScopes(a.scope, b.scope))
}

function stateOf(disposition: Disposition, contest: Contest | undefined, { instantText }: StateInputs) {
  if (disposition.kind === 'ready') return { state: 'drifted' as const }
  if (disposition.kind !== 'held') return { state: 'drifted' as const, why: disposition.reason }
  const { hold } = disposition
  if (!contest) return { state: 'held' as const, why: `hold ${hold}` }
  const until = instantText(contest.at + CONTEST_MS)
  return { state: 'contested' as const, why: `hold ${hold}: changed by others ${contest.changes} times in 24 h, left alone until ${until}` }
}

const since = (scope: Scope, inputs: StateInputs): { driftSince: Instant } => ({
  driftSince: inputs.driftSince[scopeKey(scope)] ?? inputs.now,
})

/** A status while it is put together. Filled in key by key: there may be tens of thousands, and copies of copies would cost the most. */
type Draft = { -readonly [Key in keyof ScopeStatus]: ScopeStatus[Key] }

/** During an outage the last value stays, beside its age. */
function statusOf(scope: Scope, want: DesiredCap | undefined, reading: CapReading | undefined, state: ScopeState): ScopeStatus {
  const { observed, readAt } = reading?.last ?? reading ?? NOT_READ
  const status: Draft = want ? { scope, state, observed, desired: want.cap } : { scope, state, observed }
  if (want && want.origin.at.line > 0) status.source = want.origin.at
  if (want?.origin.reason !== undefined) status.reason = want.origin.reason
  if (want?.waits !== undefined) status.why = want.waits
  if (readAt !== undefined && (!reading?.failure || reading.last)) status.readAt = readAt
  return status
}

const NOT_READ: { readonly observed: 'unknown'; readonly readAt: undefined } = { observed: 'unknown', readAt: undefined }
