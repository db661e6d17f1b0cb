// Establishes before the first write whether a read shows only an explicitly set cap, by reading a few unmanaged people: one without a cap of
// their own, under a set team or group cap, tells it (docs/operations.md).
import { TEAM_KEY } from '../../core/interpret/effective.ts'
import { addObservation, groupsListed, observeReadings, type ServiceEvidence } from '../../core/interpret/evidence.ts'
import { serviceModel } from '../../core/interpret/service-model.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Clock, ReadClient } from '../../ports.ts'
import { sweep } from './read.ts'
import type { DesiredState, PlanSettings, WorkspaceState } from './state.ts'

/** At most this many people are read. */
const MOST_PROBED = 5

interface Probe {
  readonly client: ReadClient
  readonly clock: Clock
  readonly settings: PlanSettings
  readonly seen: ServiceEvidence
  readonly state: WorkspaceState
  readonly desired: DesiredState
  readonly signal?: AbortSignal
}

/** What is known of the deployment, after reading a few people where it is open how reads work and the plan depends on it. */
export async function probeReads(probe: Probe): Promise<ServiceEvidence> {
  const { client, clock, settings, seen, state, desired, signal } = probe
  const isOpen = settings.capSemantics === 'layered' && serviceModel(settings, seen).reads === 'open'
  if (!isOpen || !desired.toRead.some((scope) => desired.slots.mayBeUnset(scopeKey(scope)))) return seen
  const groupsAt = groupsListed(desired.people, desired.inputs.groups)
  // The people are compared with the caps of the team and the groups as they were read just now.
  const readings = new Map([...state.readings].filter(([, { scope }]) => scope.kind !== 'user'))
  await sweep({
    client,
    scopes: peopleToProbe(desired, readings, (key) => groupsAt(key, clock.now())),
    concurrency: settings.rate.concurrency,
    readings,
    urgent: true,
    signal,
  })
  return observeReadings(seen, readings, undefined, groupsAt).reduce(
    (known, observation) => addObservation(known, observation, clock.now()),
    seen,
  )
}

function peopleToProbe(
  { people, toRead }: DesiredState,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  groupsOf: (key: ScopeKey) => readonly ScopeKey[],
): readonly Scope[] {
  const managed = new Set(toRead.map(scopeKey))
  const isSet = (key: ScopeKey): boolean => typeof readings.get(key)?.observed === 'number'
  return people.approved
    .filter(({ key }) => !managed.has(key) && [TEAM_KEY, ...groupsOf(key)].some(isSet))
    .slice(0, MOST_PROBED)
    .map(({ email }) => userScope(email))
}
