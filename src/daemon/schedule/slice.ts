// Chooses the scopes that the next sweep reads: all while that fits into the interval; else as many as fit, in the order of
// core/pace/rhythm.ts, so that a change that a reading shows is still reverted within the interval. It reads nothing itself.

import { type CapAt, effectiveCap } from '../../core/interpret/effective.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Credits, DAY_MS, type Instant } from '../../core/model/units.ts'
import { nextReadings, paceOf, readingIntervals, type Slicing, sweepRate, watchedScopes } from '../../core/pace/rhythm.ts'
import type { Ledger, RecordsReader } from '../../ports.ts'
import { type DesiredState, desiredState, type WorkspaceState } from '../cycle/state.ts'
import type { Reading, Workspace } from '../workspace.ts'

/** A person's pace is their use over this many days. Choice. */
const PACE_DAYS = 14

/** The slice of the next sweep; undefined: a whole sweep, as also while a scope was never read. Rejects with a `LedgerError`. */
export async function chooseReadings(workspace: Workspace, state: WorkspaceState): Promise<Reading | undefined> {
  const { config, ledger, clock } = workspace
  const { readsPerSecond, count } = sweepRate(workspace.ratePerSecond?.() ?? 0, config.intervalMs)
  if (count < 1 || state.readings.size <= count) return undefined
  const desired = desiredState(state, workspace)
  const scopes = desired.toRead
  if (scopes.length <= count || scopes.some((scope) => !state.readings.has(scopeKey(scope)))) return undefined
  const before = workspace.reading?.useWhenRead ?? new Map<string, Credits>()
  const slicing = await slicingOf({ desired, readings: state.readings, ledger, readsPerSecond, now: clock.now(), useWhenRead: before })
  const { watched, intervals } = slicing
  // Open intents come first, because only a reading closes them.
  const open = ledger.openIntents().map(({ change }) => scopeKey(change.scope))
  const slice = new Set([...open, ...nextReadings(watched, count, intervals)])
  const useWhenRead = new Map(before)
  const declared = declaredIn(desired)
  for (const person of desired.people.approved) {
    const { from } = effectiveCap(person, declared)
    if ((from !== undefined && slice.has(from)) || !before.has(person.email)) useWhenRead.set(person.email, person.use)
  }
  return { ...slicing, slice, useWhenRead }
}

/** Declared caps, by scope. */
export function declaredIn({ resolution }: Pick<DesiredState, 'resolution'>): CapAt {
  const caps = new Map(resolution.desired.map((one) => [scopeKey(one.scope), one.cap]))
  return (key) => caps.get(key)
}

interface SlicingInputs {
  readonly desired: DesiredState
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly ledger: Pick<RecordsReader, 'writtenLately'> & Pick<Ledger, 'useByPerson'>
  readonly readsPerSecond: number
  readonly now: Instant
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}

/** The figures by which a slice is chosen. Rejects with a `LedgerError`. */
export async function slicingOf({ desired, readings, ledger, readsPerSecond, now, useWhenRead }: SlicingInputs): Promise<Slicing> {
  const used = await ledger.useByPerson({ fromAt: now - PACE_DAYS * DAY_MS, untilAt: now + DAY_MS })
  const paces = new Map(used.map((one) => [one.email, paceOf(one.used, PACE_DAYS)]))
  const watched = watchedScopes({
    scopes: desired.toRead,
    readAt: (key) => goodAt(readings.get(key)),
    people: desired.people,
    declared: declaredIn(desired),
    pacePerDay: (email) => paces.get(email) ?? 0,
    useWhenRead: (email) => useWhenRead.get(email),
    changedByOthers: (scope) => ledger.writtenLately(scope, now - DAY_MS).some(({ cause }) => cause === 'external'),
  })
  const intervals = readingIntervals(
    watched.map(({ risk }) => risk),
    readsPerSecond,
  )
  return { readsPerSecond, watched, intervals, paces }
}

/** A failed reading is due again at once. */
const goodAt = (reading: CapReading | undefined): Instant | undefined => (reading?.observed === 'unknown' ? undefined : reading?.readAt)
