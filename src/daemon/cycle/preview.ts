// A plan without the power to write: its client has no write method and its ledger is only read. What `plan` prints is what a cycle would
// do with the same knowledge.
import { withSighting } from '../../core/interpret/seen.ts'
import type { CapReading } from '../../core/model/observed.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Scope } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Clock, Digest, Ledger, ReadClient, RecordsReader } from '../../ports.ts'
import { askMeasured } from '../collect/add-on.ts'
import { learnUsage, type UsageReading } from '../collect/usage.ts'
import { deploymentFindings } from '../conditions/findings.ts'
import { dealPools, takeDeal } from './deal.ts'
import { probeReads } from './probe.ts'
import { sweep } from './read.ts'
import { newlyUnknown } from './record.ts'
import { seenIn, sweepSightings } from './seen.ts'
import { type DesiredState, keptBack, outlook, type PlanSettings, planFrom, recall, type WorkspaceState } from './state.ts'

export interface PreviewParts {
  readonly client: ReadClient
  readonly settings: PlanSettings
  readonly ledger: RecordsReader & Pick<Ledger, 'pause'>
  readonly clock: Clock
  readonly digest: Digest
}

export interface PreviewOptions {
  readonly signal?: AbortSignal
  /** Reads only the scopes for which it is true, once people and use are known; absent or undefined: all. */
  readonly only?: (knowledge: WorkspaceState) => ((scope: Scope) => boolean) | undefined
  readonly onSweep?: (scopes: readonly Scope[]) => void
  readonly onReading?: (reading: CapReading) => void
}

export interface Preview {
  readonly planned: Planned
  readonly outlook: DesiredState
  readonly knowledge: WorkspaceState
  readonly warnings: UsageReading['findings']
}

/** Reads people and caps and works out the plan. Rejects only when `signal` aborts. */
export async function preview(parts: PreviewParts, policy: PolicyRevision, options: PreviewOptions = {}): Promise<Preview> {
  const knowledge = recall(policy, parts.ledger)
  const usage = await learnUsage(parts.client, knowledge, parts, options.signal)
  await askMeasured(parts, knowledge, options.signal)
  const all = outlook(knowledge, parts).toRead
  const only = options.only?.(knowledge)
  const scopes = only ? all.filter(only) : all
  options.onSweep?.(scopes)
  await sweep({
    client: parts.client,
    scopes,
    concurrency: parts.settings.rate.concurrency,
    readings: knowledge.readings,
    ...(options.onReading && { onReading: options.onReading }),
    ...(options.signal && { signal: options.signal }),
  })
  knowledge.clockSkewMs = parts.client.clockSkewMs()
  const learned = sweepSightings(seenIn(parts.ledger), knowledge.readings, outlook(knowledge, parts)).reduce(
    (known, sighting) => withSighting(known, sighting, parts.clock.now()),
    seenIn(parts.ledger),
  )
  const left = newlyUnknown(outlook(knowledge, { ...parts, seen: learned }), knowledge, parts.clock.now())
  const ledger = { ...parts.ledger, quarantined: () => [...parts.ledger.quarantined(), ...left] }
  const view = outlook(knowledge, { ...parts, ledger, seen: learned })
  const probe = { ...parts, ledger, seen: learned, state: knowledge, desired: view, ...(options.signal && { signal: options.signal }) }
  const seen = only ? learned : await probeReads(probe)
  // The ledger is only read: what the readings tell of the deployment and of scopes it does not know, and what is dealt now, counts for this plan alone.
  const kept = keptBack(parts.settings, await parts.ledger.pause(parts.clock.now()))
  const planner = { ...parts, ledger, seen, ...(kept && { idle: kept.reason }) }
  takeDeal(dealPools(knowledge, view, planner), knowledge)
  const planned = planFrom(knowledge, outlook(knowledge, planner), planner, { excluded: () => kept })
  const clocks = deploymentFindings(knowledge, undefined, policy.set.workspace)
  return { planned, outlook: view, knowledge, warnings: [...usage.findings.filter(({ onlyIfHeld }) => !onlyIfHeld), ...clocks] }
}
