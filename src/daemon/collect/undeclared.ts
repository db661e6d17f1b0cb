// `undeclaredUsers: report`: reads the caps of people that no policy declares, a few at a time and only while nothing else is due, so that one
// pass takes as long as the usage interval. It never writes; without the setting it reads nothing.

import type { ScopeStatus } from '../../core/model/events.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { managedUsers, undeclaredCaps, undeclaredPeople } from '../../core/plan/audit.ts'
import { sweep } from '../cycle/read.ts'
import type { DesiredState } from '../cycle/state.ts'
import type { Workspace } from '../workspace.ts'
import type { UndeclaredPass } from './kept.ts'

/** Reads at a time. */
const SLICE = 8

/** At most one read a second on average, however many people there are (choice). */
const LEAST_MS_PER_READ = 1000

/** When the next reads are due, on the monotonic clock; never without the setting, or before a cycle has shown the people. */
export const undeclaredDueAt = ({ config, shown, undeclared }: Workspace): number =>
  config.undeclaredUsers === 'report' && shown.desiredState ? (undeclared?.dueAt ?? 0) : Number.POSITIVE_INFINITY

const managedOf = ({ resolution, owned, quarantine, skipped }: DesiredState): ReadonlySet<ScopeKey> =>
  managedUsers(resolution, owned.keys(), quarantine.active.keys(), skipped)

/** Reads the next few people. Rejects only when `signal` aborts; then they are read again. */
export async function readUndeclared(workspace: Workspace, signal?: AbortSignal): Promise<void> {
  const { client, clock, config, shown } = workspace
  if (!shown.desiredState) return
  const all = undeclaredPeople(shown.desiredState.people, managedOf(shown.desiredState))
  const pass = workspace.undeclared?.left.length ? workspace.undeclared : begin(all, workspace)
  const scopes = pass.left.slice(0, SLICE)
  await sweep({ client, scopes, concurrency: SLICE, readings: pass.readings, urgency: 'late', signal })
  const pauseMs = Math.max(scopes.length * LEAST_MS_PER_READ, (config.usageIntervalMs * scopes.length) / Math.max(1, all.length))
  const waitMs = scopes.length === 0 ? config.usageIntervalMs : pauseMs
  workspace.undeclared = { ...pass, left: pass.left.slice(SLICE), dueAt: clock.monotonic() + waitMs }
}

/** Begins a pass; forgets readings of people who left or are declared now. */
function begin(all: readonly Scope[], { undeclared, clock }: Workspace): UndeclaredPass {
  const readings = undeclared?.readings ?? new Map<ScopeKey, CapReading>()
  const keys = new Set(all.map(scopeKey))
  for (const key of readings.keys()) if (!keys.has(key)) readings.delete(key)
  return { dueAt: clock.monotonic(), left: all, readings }
}

/** The undeclared caps that were found, as states of their scopes. */
export function undeclaredShown({ config, shown, undeclared }: Workspace): readonly ScopeStatus[] {
  if (config.undeclaredUsers !== 'report' || !undeclared || !shown.desiredState) return []
  const { desiredState } = shown
  const managed = managedOf(desiredState)
  const known = [...undeclared.readings.values()].filter(({ scope }) => {
    const key = scopeKey(scope)
    return !managed.has(key) && desiredState.people.byKey.has(key)
  })
  return undeclaredCaps(known, desiredState.slots.inherited)
}
