// Makes a plan without the power to write: its client has no write method, and it only reads the ledger. `plan` prints what a cycle would do
// with the same readings.

import { TEAM_KEY } from '../../core/interpret/effective.ts'
import { groupsListed, type Observation, observeReadings, type ServiceEvidence, serviceModel } from '../../core/interpret/evidence.ts'
import type { HistoryEntry, Intent } from '../../core/model/change.ts'
import type { LedgerFacts } from '../../core/model/facts.ts'
import type { CapReading } from '../../core/model/observed.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { byScope, type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Ledger, ReadClient, RecordsReader } from '../../ports.ts'
import { askMeasured } from '../collect/add-on.ts'
import { learnUsage } from '../collect/usage.ts'
import { deploymentFindings } from '../conditions/findings.ts'
import type { ReadPeopleFile } from '../directory/read.ts'
import { dealPools } from './deal.ts'
import { learnedFrom, noteSeen, seenIn, sweep } from './read.ts'
import { type DesiredState, desiredState, type Planner, planFrom, recall, type WorkspaceState, withheldBy } from './state.ts'
import { type OutcomeLedger, recoverIntents } from './write/outcome.ts'

// Establishes before the first write whether a read shows only an explicitly set cap, by reading a few unmanaged people: one without a cap of
// their own, under a set team or group cap, tells it (docs/operations.md).

/** At most this many people are read. */
const MOST_PROBED = 5

interface Probe extends Pick<PreviewParts, 'client' | 'clock' | 'config'> {
  readonly seen: ServiceEvidence
  readonly state: WorkspaceState
  readonly desired: DesiredState
  readonly signal?: AbortSignal
  /** Nothing is going to be written: once is enough for the present caps of the team and groups. */
  readonly isQuiet?: boolean
}

/** What is known of the deployment, after reading a few people where it is open how reads work and the plan depends on it. */
export async function probeReads(probe: Probe): Promise<ServiceEvidence> {
  const { client, clock, config, seen, state, desired, signal, isQuiet = false } = probe
  const { reads, zero } = serviceModel(config, seen)
  // Where a 0 reads as unset, nobody who reads unset tells it.
  const isOpen = config.capSemantics === 'layered' && reads === 'open' && zero !== 'omitted'
  if (!isOpen || !desired.toRead.some((scope) => desired.slots.mayBeUnset(scopeKey(scope)))) return seen
  // The people are compared with the caps of the team and the groups as they were read just now.
  const readings = new Map([...state.readings].filter(([, { scope }]) => scope.kind !== 'user'))
  const under = [...readings]
    .map(([key, { observed }]) => `${key} ${observed}`)
    .sort()
    .join()
  if (isQuiet && state.probedUnder === under) return seen
  const groupsAt = groupsListed(desired.people, desired.inputs.groups)
  const scopes = peopleToProbe(desired, readings, (key) => groupsAt(key, clock.now()))
  if (scopes.length > 0) state.probedUnder = under
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings, urgency: 'urgent', signal })
  return learnedFrom(seen, observeReadings(seen, readings, undefined, groupsAt), clock.now())
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

/**
 * What the readings of a sweep prove. A scope where a number of ours is gone proves nothing: another client may have set a 0, which may read as
 * unset here.
 */
export function observeSweep(
  seen: ServiceEvidence,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  { owned, quarantine, people, inputs }: DesiredState,
): readonly Observation[] {
  const mayBeZero = (key: ScopeKey): boolean => {
    const ours = owned.get(key)?.cap
    return ours === 0 || quarantine.active.has(key) || (typeof ours === 'number' && seen.zero?.value !== 'stored')
  }
  return observeReadings(seen, readings, mayBeZero, groupsListed(people, inputs.groups))
}

export interface PreviewParts extends Planner {
  readonly client: ReadClient
  readonly ledger: RecordsReader & Pick<Ledger, 'history' | 'pause'>
  readonly readPeopleFile: ReadPeopleFile
}

export interface PreviewOptions {
  readonly signal?: AbortSignal
  /** Reads only the scopes for which it is true, once people and use are known; absent or undefined: all. */
  readonly only?: (state: WorkspaceState, resolution: DesiredState['resolution']) => ((scope: Scope) => boolean) | undefined
  readonly onSweep?: (scopes: readonly Scope[]) => void
  readonly onReading?: (reading: CapReading) => void
}

export type Preview = Awaited<ReturnType<typeof preview>>

/** Records over those of a ledger, which stays as it is: how open intents ended, by the readings of a preview. */
function supposing(ledger: PreviewParts['ledger']): OutcomeLedger {
  const owned = new Map(byScope(ledger.owned()))
  const quarantined = new Map(byScope(ledger.quarantined()))
  const facts = new Map<keyof LedgerFacts, unknown>()
  const ended = new Map<Intent['id'], HistoryEntry | undefined>()
  const entries = (): HistoryEntry[] => [...ended.values()].filter((one) => one !== undefined)
  return {
    ...ledger,
    owned: () => [...owned.values()],
    quarantined: () => [...quarantined.values()],
    openIntents: () => ledger.openIntents().filter(({ id }) => !ended.has(id)),
    // The value has the type of its name.
    fact: <K extends keyof LedgerFacts>(name: K) => (facts.has(name) ? (facts.get(name) as LedgerFacts[K]) : ledger.fact(name)),
    writtenLately: (scope, sinceAt) => [
      ...entries().filter((one) => scopeKey(one.scope) === scopeKey(scope)),
      ...ledger.writtenLately(scope, sinceAt),
    ],
    ancestorWrites: (sinceAt) => [...entries().filter(({ scope }) => scope.kind !== 'user'), ...ledger.ancestorWrites(sinceAt)],
    saveFact: (name, value) => void facts.set(name, value),
    saveQuarantined: (one) => void quarantined.set(scopeKey(one.scope), one),
    async recordOutcome({ id, change: { scope } }, entry, ownership) {
      ended.set(id, entry)
      if (ownership === 'released') owned.delete(scopeKey(scope))
      else if (ownership !== 'kept') owned.set(scopeKey(scope), ownership)
    },
  }
}

/** Reads people and caps and makes the plan. Rejects only when `signal` aborts. */
export async function preview(known: PreviewParts, policy: PolicyRevision, options: PreviewOptions = {}) {
  const ledger = supposing(known.ledger)
  const parts = { ...known, ledger }
  const { client, config, clock } = parts
  const { signal, onSweep, onReading } = options
  const state = recall(policy, ledger)
  const usage = await learnUsage(state, parts, signal)
  await askMeasured(parts, state, signal)
  const { toRead: all, resolution } = desiredState(state, parts)
  const only = options.only?.(state, resolution)
  const scopes = only ? all.filter(only) : all
  onSweep?.(scopes)
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings: state.readings, onReading, signal })
  const asked = desiredState(state, parts)
  noteSeen(ledger, observeSweep(seenIn(ledger), state.readings, asked), clock)
  await recoverIntents({ ...parts, readings: state.readings }, asked, asked.unknown)
  const learned = seenIn(ledger)
  const desired = desiredState(state, parts)
  const seen = only ? learned : await probeReads({ ...parts, seen: learned, state, desired, signal })
  // Nothing is recorded: the deal, and what the readings tell of the deployment, count for this plan alone.
  const withheld = withheldBy(config, await known.ledger.pause(clock.now()))
  const planner = { ...parts, seen, idle: withheld?.reason }
  dealPools(state, desired, planner)
  const planned = planFrom(state, desiredState(state, planner), planner, { excluded: () => withheld })
  const clocks = deploymentFindings(client, undefined, policy.set.workspace)
  return { planned, desiredState: desired, state, warnings: [...usage.findings.filter(({ onlyIfHeld }) => !onlyIfHeld), ...clocks] }
}
