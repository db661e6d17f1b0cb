// Which scopes the next sweep reads. All of them while that takes no longer than the interval; else as many as fit into it, in the order of
// core/pace/reading-order.ts, so that whatever a reading shows is acted on within the interval too. It reads nothing itself.

import { type CapAt, effectiveCap } from '../../core/interpret/effective.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Credits, DAY_MS, type Instant } from '../../core/model/units.ts'
import { nextReadings, paceOf, readingIntervals } from '../../core/pace/reading-order.ts'
import { type Slicing, sweepRate } from '../../core/pace/rhythm.ts'
import { watchedScopes } from '../../core/pace/watched.ts'
import type { Ledger, RecordsReader } from '../../ports.ts'
import { type DesiredState, desiredState, type WorkspaceState } from '../cycle/state.ts'
import type { Workspace } from '../workspace.ts'
import type { Reading } from './reading.ts'

/** A person's pace is their use of so many days. Choice. */
const PACE_DAYS = 14

/** Undefined: a whole sweep, which is also due while anything was never read. Rejects with a `LedgerError`. */
export async function chooseReadings(workspace: Workspace, state: WorkspaceState): Promise<Reading | undefined> {
  const { config, ledger, clock } = workspace
  const { readsPerSecond, count } = sweepRate(workspace.ratePerSecond?.() ?? 0, config.intervalMs)
  if (count < 1 || state.readings.size <= count) return undefined
  const view = desiredState(state, { ...workspace, settings: config })
  const scopes = view.toRead
  if (scopes.length <= count || scopes.some((scope) => !state.readings.has(scopeKey(scope)))) return undefined
  const before = workspace.reading?.useWhenRead ?? new Map<string, Credits>()
  const slicing = await slicingOf({ view, readings: state.readings, ledger, readsPerSecond, now: clock.now(), useWhenRead: before })
  const { watched, intervals } = slicing
  // What was written and not seen since is settled first of all.
  const open = ledger.openIntents().map(({ change }) => scopeKey(change.scope))
  const slice = new Set([...open, ...nextReadings(watched, count, intervals)])
  const useWhenRead = new Map(before)
  const declared = declaredIn(view)
  for (const person of view.people.approved) {
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

export interface SlicingInputs {
  readonly view: DesiredState
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly ledger: Pick<RecordsReader, 'writtenLately'> & Pick<Ledger, 'useByPerson'>
  readonly readsPerSecond: number
  readonly now: Instant
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}

/** What the order of readings goes by now. Rejects with a `LedgerError`. */
export async function slicingOf({ view, readings, ledger, readsPerSecond, now, useWhenRead }: SlicingInputs): Promise<Slicing> {
  const used = await ledger.useByPerson({ fromAt: now - PACE_DAYS * DAY_MS, untilAt: now + DAY_MS })
  const paces = new Map(used.map((one) => [one.email, paceOf(one.used, PACE_DAYS)]))
  const watched = watchedScopes({
    scopes: view.toRead,
    readAt: (key) => goodAt(readings.get(key)),
    people: view.people,
    declared: declaredIn(view),
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

/** A reading that failed is due again at once. */
const goodAt = (reading: CapReading | undefined): Instant | undefined => (reading?.observed === 'unknown' ? undefined : reading?.readAt)
