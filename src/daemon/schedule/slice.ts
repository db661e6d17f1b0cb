// Which scopes the next sweep reads. All of them while that takes no longer than the interval; else as many as fit into it, in the order of
// core/pace/reading-order.ts, so that whatever a reading shows is acted on within the interval too. It reads nothing itself.

import { type CapAt, effectiveCap } from '../../core/interpret/effective.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Credits, Instant } from '../../core/model/units.ts'
import { nextReadings, paceOf, readingIntervals } from '../../core/pace/reading-order.ts'
import { watchedScopes } from '../../core/pace/watched.ts'
import { outlook, type WorkspaceState } from '../cycle/state.ts'
import type { Workspace } from '../workspace.ts'
import type { Reading } from './reading.ts'

/** The rest of the requests is for roster, balance, writes and what reads them back. Choice. */
const SWEEP_SHARE = 0.8

/** A person's pace is their use of so many days. Choice. */
const PACE_DAYS = 14

const DAY_MS = 86_400_000

/** Undefined: a whole sweep, which is also due while anything was never read. Rejects with a `LedgerError`. */
export async function chooseReadings(workspace: Workspace, state: WorkspaceState): Promise<Reading | undefined> {
  const { config, ledger, clock } = workspace
  const readsPerSecond = (workspace.ratePerSecond?.() ?? 0) * SWEEP_SHARE
  const count = Math.floor((readsPerSecond * config.intervalMs) / 1000)
  if (count < 1 || state.readings.size <= count) return undefined
  const view = outlook(state, { ...workspace, settings: config })
  const scopes = view.toRead
  if (scopes.length <= count || scopes.some((scope) => !state.readings.has(scopeKey(scope)))) return undefined
  const now = clock.now()
  const used = await ledger.useByPerson({ fromAt: now - PACE_DAYS * DAY_MS, untilAt: now + DAY_MS })
  const pace = new Map(used.map((one) => [one.email, paceOf(one.used, PACE_DAYS)]))
  const caps = new Map(view.resolution.desired.map((one) => [scopeKey(one.scope), one.cap]))
  const declared: CapAt = (key) => caps.get(key)
  const before = workspace.reading?.useWhenRead ?? new Map<string, Credits>()
  const watched = watchedScopes({
    scopes,
    readAt: (key) => goodAt(state.readings.get(key)),
    people: view.people,
    declared,
    pacePerDay: (email) => pace.get(email) ?? 0,
    useWhenRead: (email) => before.get(email),
    changedByOthers: (scope) => ledger.writtenLately(scope, now - DAY_MS).some(({ cause }) => cause === 'external'),
  })
  const intervals = readingIntervals(
    watched.map(({ risk }) => risk),
    readsPerSecond,
  )
  // What was written and not seen since is settled first of all.
  const open = ledger.openIntents().map(({ change }) => scopeKey(change.scope))
  const slice = new Set([...open, ...nextReadings(watched, count, intervals)])
  const useWhenRead = new Map(before)
  for (const person of view.people.approved) {
    const { from } = effectiveCap(person, declared)
    if ((from !== undefined && slice.has(from)) || !before.has(person.email)) useWhenRead.set(person.email, person.use)
  }
  return { slice, watched, intervals, useWhenRead }
}

/** A reading that failed is due again at once. */
const goodAt = (reading: CapReading | undefined): Instant | undefined => (reading?.observed === 'unknown' ? undefined : reading?.readAt)
