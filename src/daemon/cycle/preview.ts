// Makes a plan without the power to write: its client has no write method, and it only reads the ledger. `plan` prints what a cycle would do
// with the same readings.

import { TEAM_KEY } from '../../core/interpret/effective.ts'
import { addObservation, groupsListed, observeReadings, type ServiceEvidence, serviceModel } from '../../core/interpret/evidence.ts'
import type { CapReading } from '../../core/model/observed.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Clock, Digest, Ledger, ReadClient, RecordsReader } from '../../ports.ts'
import { askMeasured } from '../collect/add-on.ts'
import { learnUsage, type UsageReading } from '../collect/usage.ts'
import { deploymentFindings } from '../conditions/findings.ts'
import type { ReadPeopleFile } from '../directory/read.ts'
import { dealPools, takeDeal } from './deal.ts'
import { observeSweep, seenIn, sweep } from './read.ts'
import { type DesiredState, desiredState, type PlanSettings, planFrom, recall, type WorkspaceState, withheldBy } from './state.ts'

// Establishes before the first write whether a read shows only an explicitly set cap, by reading a few unmanaged people: one without a cap of
// their own, under a set team or group cap, tells it (docs/operations.md).

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

export interface PreviewParts {
  readonly client: ReadClient
  readonly settings: PlanSettings
  readonly ledger: RecordsReader & Pick<Ledger, 'pause'>
  readonly clock: Clock
  readonly digest: Digest
  readonly readPeopleFile: ReadPeopleFile
}

export interface PreviewOptions {
  readonly signal?: AbortSignal
  /** Reads only the scopes for which it is true, once people and use are known; absent or undefined: all. */
  readonly only?: (state: WorkspaceState, resolution: DesiredState['resolution']) => ((scope: Scope) => boolean) | undefined
  readonly onSweep?: (scopes: readonly Scope[]) => void
  readonly onReading?: (reading: CapReading) => void
}

export interface Preview {
  readonly planned: Planned
  readonly desiredState: DesiredState
  readonly state: WorkspaceState
  readonly warnings: UsageReading['findings']
}

/** Reads people and caps and makes the plan. Rejects only when `signal` aborts. */
export async function preview(parts: PreviewParts, policy: PolicyRevision, options: PreviewOptions = {}): Promise<Preview> {
  const state = recall(policy, parts.ledger)
  const usage = await learnUsage(parts.client, state, parts, options.signal)
  await askMeasured(parts, state, options.signal)
  const { toRead: all, resolution } = desiredState(state, parts)
  const only = options.only?.(state, resolution)
  const scopes = only ? all.filter(only) : all
  options.onSweep?.(scopes)
  await sweep({
    client: parts.client,
    scopes,
    concurrency: parts.settings.rate.concurrency,
    readings: state.readings,
    onReading: options.onReading,
    signal: options.signal,
  })
  state.clockSkewMs = parts.client.clockSkewMs()
  const learned = observeSweep(seenIn(parts.ledger), state.readings, desiredState(state, parts)).reduce(
    (known, observation) => addObservation(known, observation, parts.clock.now()),
    seenIn(parts.ledger),
  )
  const desired = desiredState(state, { ...parts, seen: learned })
  const probe = { ...parts, seen: learned, state, desired, signal: options.signal }
  const seen = only ? learned : await probeReads(probe)
  // Nothing is recorded: the deal, and what the readings tell of the deployment, count for this plan alone.
  const withheld = withheldBy(parts.settings, await parts.ledger.pause(parts.clock.now()))
  const planner = { ...parts, seen, idle: withheld?.reason }
  takeDeal(dealPools(state, desired, planner), state)
  const planned = planFrom(state, desiredState(state, planner), planner, { excluded: () => withheld })
  const clocks = deploymentFindings(state, undefined, policy.set.workspace)
  return { planned, desiredState: desired, state, warnings: [...usage.findings.filter(({ onlyIfHeld }) => !onlyIfHeld), ...clocks] }
}
