// Checks how a team or group write changed its descendants: reads a few of them at once, to learn how this deployment treats caps, and all
// that it may have changed before the next plan is made. It never writes to the service.

import {
  groupsListed,
  mayHaveMoved,
  type Observation,
  observeDescendant,
  type ServiceModel,
  sampleDescendants,
  serviceModel,
} from '../../../core/interpret/evidence.ts'
import type { SentCap } from '../../../core/interpret/slots.ts'
import { type HistoryEntry, LANDING_MS } from '../../../core/model/change.ts'
import type { CapReading, OwnedCap } from '../../../core/model/observed.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { type Instant, notAhead } from '../../../core/model/units.ts'
import { mayHaveLanded } from '../../../core/plan/outcome.ts'
import type { Workspace } from '../../workspace.ts'
import type { CycleRun } from '../options.ts'
import { noteSeen, seenIn, sweep } from '../read.ts'
import { type DesiredState, sentToAncestors, type WorkspaceState } from '../state.ts'
import type { AncestorWrite } from './writes.ts'

/** A cycle with what policy asks now. */
interface DesiredCycle extends CycleRun {
  readonly desired: DesiredState
}

/** The managed descendants of a team or group; for a group, its members. */
export function descendantsIn({ toRead }: DesiredState, { usage }: WorkspaceState): (scope: Scope) => readonly Scope[] {
  const people = new Map(toRead.flatMap((one) => (one.kind === 'user' ? [[one.email, one] as const] : [])))
  const members = new Map(usage?.groups.map(({ id, emails }) => [id, emails]))
  return (scope) => {
    if (scope.kind === 'user') return []
    if (scope.kind === 'team') return toRead.filter((one) => one.kind !== 'team')
    return [...new Set(members.get(scope.id))].flatMap((email) => people.get(email) ?? [])
  }
}

/** The last readings of the descendants; unknown where there is none, or it is not believed any more. */
export function descendantReadings(scope: Scope, { desired, state }: DesiredCycle): readonly CapReading[] {
  const unread = { observed: 'unknown', readAt: 0 } as const
  return descendantsIn(desired, state)(scope).map((one) => state.readings.get(scopeKey(one)) ?? { scope: one, ...unread })
}

const modelOf = ({ workspace }: DesiredCycle): ServiceModel => serviceModel(workspace.config, seenIn(workspace.ledger))

/**
 * Checks team and group writes whose descendants were not checked yet, because a stop or a crash came between, and in every cycle those whose
 * intent is open. Compares the caps that the ledger has verified with the caps that are read now, before anything more is written.
 */
export async function checkLateWrites(cycle: DesiredCycle): Promise<void> {
  const { workspace, desired, state } = cycle
  const checked = workspace.ledger.fact('writesLooked') ?? {}
  const open = workspace.ledger.openIntents().map(({ change, at }): SentCap => ({ ...change, at }))
  const unchecked = [
    ...open.filter(({ scope }) => scope.kind !== 'user'),
    ...[...ancestorWrites(workspace)].flatMap(([key, [last]]) => (last && !checked[key]?.includes(last.at) ? [last] : [])),
  ]
  if (unchecked.length === 0) return
  const descendantsOf = descendantsIn(desired, state)
  const writes = unchecked.map((change): AncestorWrite => {
    const before = descendantsOf(change.scope).flatMap((scope): readonly CapReading[] => {
      const ours = desired.owned.get(scopeKey(scope))
      if (!ours || !isVerified(ours) || ours.verifiedAt > change.at) return []
      return [{ scope, observed: ours.cap, readAt: ours.verifiedAt }]
    })
    return { change, before, at: notAhead(change.at, workspace.clock.now()) }
  })
  await checkDescendants(writes, cycle)
}

/** The cap was read back. A cap that was sent and never read back proves nothing by its absence. */
const isVerified = ({ tried, entry, written }: OwnedCap): boolean => tried === undefined && (entry.kind !== 'given_up' || written === true)

/** The writes of the last day to each team and group that may have landed, the newest first. */
const ancestorWrites = ({ ledger, clock }: Workspace): ReadonlyMap<ScopeKey, readonly HistoryEntry[]> =>
  Map.groupBy(ledger.ancestorWrites(clock.now() - LANDING_MS).filter(mayHaveLanded), ({ scope }) => scopeKey(scope))

/**
 * Records that the descendants of these writes were checked, for as long as the ledger has the writes at hand. It marks all writes of the scope,
 * because with a clock that was ahead the last one may leave the day before an earlier one does. A write whose intent was open is known by the
 * time of its end from then on.
 */
export function noteChecked(writes: readonly { readonly change: Pick<SentCap, 'scope'> }[], workspace: Workspace): void {
  if (writes.every(({ change }) => change.scope.kind === 'user')) return
  const before = workspace.ledger.fact('writesLooked') ?? {}
  const checked = new Set(writes.map(({ change }) => scopeKey(change.scope)))
  const after = [...ancestorWrites(workspace)].flatMap(([key, all]): readonly (readonly [ScopeKey, readonly Instant[]])[] => {
    const known = all.map(({ at }) => at).filter((at) => checked.has(key) || before[key]?.includes(at))
    return known.length === 0 ? [] : [[key, known]]
  })
  workspace.ledger.saveFact('writesLooked', Object.fromEntries(after))
}

/** Reads a few descendants of each write and notes what they prove. True when caps turned out to be copied while layers are declared. */
export async function checkDescendants(writes: readonly AncestorWrite[], cycle: DesiredCycle): Promise<boolean> {
  const model = modelOf(cycle)
  const sampled = writes.map((write) => ({ ...write, before: sampleDescendants(write.change, write.before, model) }))
  const scopes = new Map(sampled.flatMap(({ before }) => before.map(({ scope }) => [scopeKey(scope), scope] as const)))
  await readAll([...scopes.values()], cycle)
  note(sampled, cycle)
  noteChecked(writes, cycle.workspace)
  return model.layers === 'layered' && modelOf(cycle).copying !== undefined
}

function note(writes: readonly AncestorWrite[], cycle: DesiredCycle): void {
  const { workspace, state, desired } = cycle
  const model = modelOf(cycle)
  const sent = sentToAncestors(workspace.ledger, workspace.clock.now())
  const isOfAncestor = (reading: CapReading): boolean => isShownByAncestor(reading, state.readings, sent)
  const since = workspace.clock.now() - LANDING_MS
  const isReplaced = ({ scope, observed }: CapReading): boolean =>
    workspace.ledger.writtenLately(scope, since).some(({ from }) => from === observed)
  const groupsAt = groupsListed(desired.people, desired.inputs.groups)
  const isDescendant = (ancestor: Scope, { scope, readAt }: CapReading): boolean =>
    ancestor.kind === 'team' || groupsAt(scopeKey(scope), readAt).includes(scopeKey(ancestor))
  const owned = byScope(workspace.ledger.owned())
  const isOurs = ({ scope, observed }: CapReading): boolean => {
    const ours = owned.get(scopeKey(scope))
    return ours?.written === true && ours.cap === observed
  }
  const known: Known = { model, isOfAncestor, isOurs, isReplaced, isDescendant }
  const observations = writes.flatMap((write) => observationsOf(write, writes, state, known))
  noteSeen(workspace.ledger, foremost(observations, model), workspace.clock)
}

interface Known {
  readonly model: ServiceModel
  readonly isOfAncestor: (reading: CapReading) => boolean
  /** We wrote this value here, so it is set here whatever reads show. */
  readonly isOurs: (reading: CapReading) => boolean
  /** A write of ours has replaced this value, and the reading may be stale. */
  readonly isReplaced: (reading: CapReading) => boolean
  /** Surely a descendant when it was read: since an old list the person may have left the group. */
  readonly isDescendant: (ancestor: Scope, reading: CapReading) => boolean
}

function observationsOf(
  write: AncestorWrite,
  all: readonly AncestorWrite[],
  state: WorkspaceState,
  { model, isOfAncestor, isOurs, isReplaced, isDescendant }: Known,
): readonly Observation[] {
  // An unchanged descendant proves something only where the write itself is read back; a changed one shows that the write landed.
  const isShown = state.readings.get(scopeKey(write.change.scope))?.observed === write.change.to
  return write.before.flatMap((before): readonly Observation[] => {
    const after = state.readings.get(scopeKey(before.scope))
    // A reading from before the write, kept because the check was cut short, proves nothing.
    if (!after || after === before || after.failure || after.readAt < write.at) return []
    const isUnmoved = after.observed === before.observed
    // Nor does an unmoved cap of a person whom the write may not have reached.
    if (isUnmoved && !(isShown && isDescendant(write.change.scope, after))) return []
    const observation = observeDescendant(write.change, before, after, model)
    if (observation?.value === 'copied' && isReplaced(after)) return []
    // The lowest cap of a person's groups may apply, and one of them may be a group that no policy names.
    const isLower = write.change.scope.kind === 'group' && Number(after.observed) < Number(before.observed) && !isOurs(before)
    // A descendant that showed the old value of one ancestor may show the new value of another.
    const isMixed =
      all.some(({ change }) => change.from === before.observed || change.to === before.observed) ||
      (model.reads !== 'explicit' && (isLower || isOfAncestor(before)))
    return observation && !(observation.aspect === 'caps' && isMixed) ? [observation] : []
  })
}

/** A team or group has the value that was read, or had it at that time: where a read may show an inherited cap, this proves no copy. */
function isShownByAncestor({ observed, readAt }: CapReading, readings: WorkspaceState['readings'], sent: readonly SentCap[]): boolean {
  const isIn = [...readings.values()].some((one) => one.scope.kind !== 'user' && one.observed === observed)
  return isIn || sent.some(({ from, to, at }) => at >= readAt && (from === observed || to === observed))
}

/** One observation of each kind. A copied cap outweighs a kept one, because a stale reading also looks like a kept cap. */
function foremost(observations: readonly Observation[], model: ServiceModel): readonly Observation[] {
  const copied = observations.find(({ value }) => value === 'copied')
  const layered = observations.find(({ value }) => value === 'layered')
  const caps = copied ?? layered
  const reads = observations.find(({ value }) => value === 'inherited') ?? observations.find(({ value }) => value === 'explicit')
  // A cap that follows an ancestor's write is inherited only where another descendant was seen to keep its own; else it may be a copy.
  const isProven = reads?.value !== 'inherited' || (copied === undefined && (layered !== undefined || model.layersProven))
  return [...(caps ? [caps] : []), ...(reads && isProven ? [reads] : [])]
}

/** Reads again the descendants that these writes may have changed and that were not read since. Returns all that they may have changed. */
export async function readMoved(writes: readonly AncestorWrite[], cycle: DesiredCycle): Promise<ReadonlySet<ScopeKey>> {
  const moved = movedBy(writes, cycle)
  await readAll(
    [...moved.values()].flatMap(({ scope, isOld }) => (isOld ? [scope] : [])),
    cycle,
  )
  return new Set(moved.keys())
}

/** Forgets the readings that these writes may have made wrong, where there is no time to read again. */
export function forgetMoved(writes: readonly AncestorWrite[], cycle: DesiredCycle): void {
  for (const [key, { isOld }] of movedBy(writes, cycle)) if (isOld) cycle.state.readings.delete(key)
}

interface Moved {
  readonly scope: Scope
  /** Not read since the write. */
  readonly isOld: boolean
}

function movedBy(writes: readonly AncestorWrite[], cycle: DesiredCycle): ReadonlyMap<ScopeKey, Moved> {
  const model = modelOf(cycle)
  const moved = new Map<ScopeKey, Moved>()
  for (const { change, before } of writes) {
    for (const reading of before) {
      const { scope, observed } = reading
      const key = scopeKey(scope)
      const now = cycle.state.readings.get(key)
      const isOverwritten = model.layers === 'copied' && scope.kind === 'user'
      const isOld = now === undefined || now === reading || moved.get(key)?.isOld === true
      if (isOverwritten || mayHaveMoved(change, observed, model)) moved.set(key, { scope, isOld })
    }
  }
  return moved
}

async function readAll(scopes: readonly Scope[], { workspace, state, options }: DesiredCycle): Promise<void> {
  const { concurrency } = workspace.config.rate
  const signal = options.stop && { signal: options.stop }
  await sweep({ client: workspace.client, scopes, concurrency, readings: state.readings, urgent: true, ...signal })
}
