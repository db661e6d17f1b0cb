// Where every managed scope stands, for metrics, /status and the page: one state per scope, worked out from the plan. It decides no
// change. Also which scopes a cycle reads, and which it leaves alone.
import type { Change, Quarantined } from './change.ts'
import type { Resolution } from './desired.ts'
import type { Diff } from './diff.ts'
import { isApproved } from './effective.ts'
import type { ScopeStatus } from './events.ts'
import type { CapReading, OwnedCap, Roster } from './observed.ts'
import type { PlanInputs } from './plan.ts'
import { compareScopes, type Scope, type ScopeKey, scopeKey } from './scope.ts'
import type { Instant } from './units.ts'

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
  const unknown = new Set(unknownGroups)
  for (const [key, { scope }] of owned) {
    if (scope.kind === 'user' && approved && !approved.has(scope.email)) skipped.add(key)
    if (scope.kind === 'group' && unknown.has(scope.id)) skipped.add(key)
  }
  return skipped
}

/**
 * Quarantine holds until 24 h have passed, the policy entry changes, or the scope was skipped in between (the person returns). A 0 that
 * is not stored is not tried again before the policy changes.
 */
export function activeQuarantine(
  entries: readonly Quarantined[],
  resolution: Resolution,
  skipped: ReadonlySet<ScopeKey>,
  now: Instant,
): { readonly active: ReadonlyMap<ScopeKey, Quarantined>; readonly over: readonly ScopeKey[] } {
  const entryOf = new Map(resolution.desired.map((one) => [scopeKey(one.scope), one.entry]))
  const active = new Map<ScopeKey, Quarantined>()
  const over: ScopeKey[] = []
  for (const one of entries) {
    const key = scopeKey(one.scope)
    const entry = entryOf.get(key) ?? ''
    const isYoung = now - one.at < QUARANTINE_MS || one.code === 'ZERO_NOT_STORED'
    if (isYoung && entry === one.entry && !skipped.has(key)) active.set(key, one)
    else over.push(key)
  }
  return { active, over }
}

/** Every scope a sweep reads, each once, in the canonical order: what is asked for and what is ours. */
export function scopesToRead(
  resolution: Resolution,
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  leftAlone: { readonly skipped: ReadonlySet<ScopeKey>; readonly quarantined: ReadonlyMap<ScopeKey, Quarantined> },
): readonly Scope[] {
  const scopes = new Map<ScopeKey, Scope>()
  for (const { scope } of resolution.desired) scopes.set(scopeKey(scope), scope)
  for (const [key, { scope, cap }] of owned) if (cap !== 'none') scopes.set(key, scope)
  for (const key of scopes.keys()) if (leftAlone.skipped.has(key) || leftAlone.quarantined.has(key)) scopes.delete(key)
  return [...scopes.values()].sort(compareScopes)
}

/** One status per scope that is declared or ours, in the canonical order. */
export function scopeStates(inputs: PlanInputs, result: Diff, changes: readonly Change[]): readonly ScopeStatus[] {
  const states = new Map<ScopeKey, ScopeStatus>()
  const desired = new Map(inputs.resolution.desired.map((one) => [scopeKey(one.scope), one]))
  const base = (scope: Scope, key: ScopeKey): Pick<ScopeStatus, 'scope' | 'desired' | 'observed' | 'readAt' | 'source' | 'reason'> => {
    const want = desired.get(key)
    const reading = inputs.readings.get(key)
    return {
      scope,
      ...(want && { desired: want.cap, ...(want.origin.at.line > 0 && { source: want.origin.at }) }),
      ...(want?.origin.reason !== undefined && { reason: want.origin.reason }),
      ...readingOf(reading),
    }
  }
  const put = (scope: Scope, more: Omit<ScopeStatus, 'scope' | 'observed'>): void => {
    const key = scopeKey(scope)
    states.set(key, { ...base(scope, key), ...more })
  }
  for (const key of result.inSync) {
    const want = desired.get(key)
    if (want) put(want.scope, { state: 'in_sync' })
  }
  for (const { scope, message } of result.unknown) put(scope, { state: 'unknown', why: message })
  for (const { scope, why } of inputs.resolution.skipped) put(scope, { state: 'skipped', why })
  for (const { scope, message } of inputs.resolution.rejected) put(scope, { state: 'rejected', why: message })
  for (const { scope, message } of inputs.quarantined.values()) put(scope, { state: 'rejected', why: message })
  for (const { scope } of result.kept) put(scope, { state: 'drifted', cause: 'orphan', why: 'prune is off', ...since(scope, inputs) })
  for (const change of changes) {
    const held = change.hold === undefined ? { state: 'drifted' as const } : { state: 'held' as const, why: `hold ${change.hold}` }
    put(change.scope, { ...held, cause: change.cause, ...since(change.scope, inputs) })
  }
  return [...states.values()].sort((a, b) => compareScopes(a.scope, b.scope))
}

const since = (scope: Scope, inputs: PlanInputs): { driftSince: Instant } => ({
  driftSince: inputs.driftSince[scopeKey(scope)] ?? inputs.now,
})

/** During an outage the last value stays, beside its age. */
const readingOf = (reading: CapReading | undefined): Pick<ScopeStatus, 'observed' | 'readAt'> => {
  if (!reading) return { observed: 'unknown' }
  const { observed, readAt } = reading.last ?? reading
  return reading.failure && !reading.last ? { observed } : { observed, readAt }
}
