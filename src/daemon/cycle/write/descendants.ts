// Looks at what a team or group write did to the scopes beneath it: a few are read at once, to learn how this deployment treats caps, and
// all that it may have changed before the next plan is made. It never writes to the service.

import { mayHaveMoved, observeDescendant, sampleDescendants } from '../../../core/interpret/descendants.ts'
import { groupsListed, type Observation } from '../../../core/interpret/evidence.ts'
import { type ServiceModel, serviceModel } from '../../../core/interpret/service-model.ts'
import type { SentCap } from '../../../core/interpret/slots.ts'
import { notAhead } from '../../../core/model/age.ts'
import { type HistoryEntry, LANDING_MS, mayHaveLanded } from '../../../core/model/change.ts'
import type { CapReading, OwnedCap } from '../../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { Workspace } from '../../workspace.ts'
import { sweep } from '../read.ts'
import { noteSeen, seenIn } from '../seen.ts'
import { type DesiredState, sentToAncestors, type WorkspaceState } from '../state.ts'
import type { AncestorWrite } from './ancestor-write.ts'

export interface CycleView {
  readonly workspace: Workspace
  readonly state: WorkspaceState
  readonly view: DesiredState
  readonly stop?: AbortSignal
}

/** The scopes of ours under a team or group, narrower kinds only; for a group, its members. */
export function descendantsIn({ toRead }: DesiredState, { usage }: WorkspaceState): (scope: Scope) => readonly Scope[] {
  const people = new Map(toRead.flatMap((one) => (one.kind === 'user' ? [[one.email, one] as const] : [])))
  const members = new Map(usage?.groups.map(({ id, emails }) => [id, emails]))
  return (scope) => {
    if (scope.kind === 'user') return []
    if (scope.kind === 'team') return toRead.filter((one) => one.kind !== 'team')
    return [...new Set(members.get(scope.id))].flatMap((email) => people.get(email) ?? [])
  }
}

/** What stands beneath a scope as it was read last; unknown where it was not read, or is not believed any more. */
export function descendantReadings(scope: Scope, { view, state }: Pick<CycleView, 'view' | 'state'>): readonly CapReading[] {
  const unread = { observed: 'unknown', readAt: 0 } as const
  return descendantsIn(view, state)(scope).map((one) => state.readings.get(scopeKey(one)) ?? { scope: one, ...unread })
}

const modelOf = ({ workspace }: Pick<CycleView, 'workspace'>): ServiceModel => serviceModel(workspace.config, seenIn(workspace.ledger))

/**
 * Looks beneath the wide writes that nobody has looked beneath, because a stop or a death came between, and in every cycle beneath those whose end
 * is open. What the ledger says was there is compared with what is there now, before anything more is written.
 */
export async function checkLateWrites(cycle: CycleView): Promise<void> {
  const { workspace, view, state } = cycle
  const looked = workspace.ledger.fact('writesLooked') ?? {}
  const open = workspace.ledger.openIntents().map(({ change, at }): SentCap => ({ ...change, at }))
  const late = [
    ...open.filter(({ scope }) => scope.kind !== 'user'),
    ...[...ancestorWrites(workspace)].flatMap(([key, [last]]) => (last && !looked[key]?.includes(last.at) ? [last] : [])),
  ]
  if (late.length === 0) return
  const descendantsOf = descendantsIn(view, state)
  const writes = late.map((change): AncestorWrite => {
    const before = descendantsOf(change.scope).flatMap((scope): readonly CapReading[] => {
      const ours = view.owned.get(scopeKey(scope))
      if (!ours || !isVerified(ours) || ours.verifiedAt > change.at) return []
      return [{ scope, observed: ours.cap, readAt: ours.verifiedAt }]
    })
    return { change, before, at: notAhead(change.at, workspace.clock.now()) }
  })
  await checkDescendants(writes, cycle)
}

/** It was read there. What we sent, and nobody has seen arrive, tells nothing by not being there. */
const isVerified = ({ tried, entry, written }: OwnedCap): boolean => tried === undefined && (entry.kind !== 'given_up' || written === true)

/** The writes of each team and group that may have landed, of the last day, what was recorded last first. */
const ancestorWrites = ({ ledger, clock }: Workspace): ReadonlyMap<ScopeKey, readonly HistoryEntry[]> =>
  Map.groupBy(ledger.ancestorWrites(clock.now() - LANDING_MS).filter(mayHaveLanded), ({ scope }) => scopeKey(scope))

/**
 * Remembers which writes were looked beneath, as long as the ledger has them at hand, and with them all before them: the last one of a scope
 * leaves the day before an earlier one does, when a clock was ahead. What was open has the time of its end from then on.
 */
export function noteChecked(writes: readonly { readonly change: Pick<SentCap, 'scope'> }[], workspace: Workspace): void {
  if (writes.every(({ change }) => change.scope.kind === 'user')) return
  const before = workspace.ledger.fact('writesLooked') ?? {}
  const looked = new Set(writes.map(({ change }) => scopeKey(change.scope)))
  const after = [...ancestorWrites(workspace)].flatMap(([key, all]): readonly (readonly [ScopeKey, readonly Instant[]])[] => {
    const known = all.map(({ at }) => at).filter((at) => looked.has(key) || before[key]?.includes(at))
    return known.length === 0 ? [] : [[key, known]]
  })
  workspace.ledger.saveFact('writesLooked', Object.fromEntries(after))
}

/** Reads a few scopes beneath each write and notes what they prove. True when caps turned out to be copied while layers are declared. */
export async function checkDescendants(writes: readonly AncestorWrite[], cycle: CycleView): Promise<boolean> {
  const model = modelOf(cycle)
  const sampled = writes.map((write) => ({ ...write, before: sampleDescendants(write.change, write.before, model) }))
  const scopes = new Map(sampled.flatMap(({ before }) => before.map(({ scope }) => [scopeKey(scope), scope] as const)))
  await readAll([...scopes.values()], cycle)
  note(sampled, cycle)
  noteChecked(writes, cycle.workspace)
  return model.layers === 'layered' && modelOf(cycle).copying !== undefined
}

function note(writes: readonly AncestorWrite[], { workspace, state, view }: CycleView): void {
  const model = modelOf({ workspace })
  const sent = sentToAncestors(workspace.ledger, workspace.clock.now())
  const isAbove = (reading: CapReading): boolean => isShownByAncestor(reading, state.readings, sent)
  const since = workspace.clock.now() - LANDING_MS
  const isOld = ({ scope, observed }: CapReading): boolean =>
    workspace.ledger.writtenLately(scope, since).some(({ from }) => from === observed)
  const groupsAt = groupsListed(view.people, view.inputs.groups)
  const isDescendant = (wide: Scope, { scope, readAt }: CapReading): boolean =>
    wide.kind === 'team' || groupsAt(scopeKey(scope), readAt).includes(scopeKey(wide))
  const observations = writes.flatMap((write) => observationsOf(write, writes, state, { model, isAbove, isOld, isDescendant }))
  noteSeen(workspace.ledger, foremost(observations, model), workspace.clock)
}

interface Known {
  readonly model: ServiceModel
  readonly isAbove: (reading: CapReading) => boolean
  /** A write of ours has replaced it there, and a reading may not show that yet. */
  readonly isOld: (reading: CapReading) => boolean
  /** Surely beneath a wide scope when it was read: of an old list somebody may have left the group. */
  readonly isDescendant: (wide: Scope, reading: CapReading) => boolean
}

function observationsOf(
  write: AncestorWrite,
  all: readonly AncestorWrite[],
  state: WorkspaceState,
  { model, isAbove, isOld, isDescendant }: Known,
): readonly Observation[] {
  // What is as it was before proves something only of a write that shows; what has changed shows that it came.
  const isShown = state.readings.get(scopeKey(write.change.scope))?.observed === write.change.to
  return write.before.flatMap((was): readonly Observation[] => {
    const is = state.readings.get(scopeKey(was.scope))
    // A reading from before the write, kept because the look was cut short, proves nothing.
    if (!is || is === was || is.failure || is.readAt < write.at || (!isShown && is.observed === was.observed)) return []
    const observation = observeDescendant(write.change, was, is, model)
    // What showed the old value of one wide scope may show the new one of another.
    const isMixed =
      all.some(({ change }) => change.from === was.observed || change.to === was.observed) || (model.reads !== 'explicit' && isAbove(was))
    if (observation?.value === 'copied' && isOld(is)) return []
    // What has not moved proves nothing of somebody whom the write may not have reached.
    if (is.observed === was.observed && !isDescendant(write.change.scope, is)) return []
    return observation && !(observation.aspect === 'caps' && isMixed) ? [observation] : []
  })
}

/** Some team or group has the value that was read, or had it when that was read: where reads may show what applies, nobody was copied over. */
function isShownByAncestor({ observed, readAt }: CapReading, readings: WorkspaceState['readings'], sent: readonly SentCap[]): boolean {
  const isIn = [...readings.values()].some((one) => one.scope.kind !== 'user' && one.observed === observed)
  return isIn || sent.some(({ from, to, at }) => at >= readAt && (from === observed || to === observed))
}

/** One observation of each kind; that caps were copied outweighs that one was kept, which a stale reading shows as well. */
function foremost(observations: readonly Observation[], model: ServiceModel): readonly Observation[] {
  const copied = observations.find(({ value }) => value === 'copied')
  const layered = observations.find(({ value }) => value === 'layered')
  const caps = copied ?? layered
  const reads = observations.find(({ value }) => value === 'inherited') ?? observations.find(({ value }) => value === 'explicit')
  // A scope that follows a wide write shows what it inherits only where another was seen to keep its own; else it may be a copy.
  const isProven = reads?.value !== 'inherited' || (copied === undefined && (layered !== undefined || model.layersProven))
  return [...(caps ? [caps] : []), ...(reads && isProven ? [reads] : [])]
}

/** Reads again whatever these writes may have changed and that was not read since. Returns all that they may have changed. */
export async function readMoved(writes: readonly AncestorWrite[], cycle: CycleView): Promise<ReadonlySet<ScopeKey>> {
  const moved = movedBy(writes, cycle)
  await readAll(
    [...moved.values()].flatMap(({ scope, isOld }) => (isOld ? [scope] : [])),
    cycle,
  )
  return new Set(moved.keys())
}

/** There is no time to read again: what was read before is not believed any more. */
export function forgetMoved(writes: readonly AncestorWrite[], cycle: CycleView): void {
  for (const [key, { isOld }] of movedBy(writes, cycle)) if (isOld) cycle.state.readings.delete(key)
}

interface Moved {
  readonly scope: Scope
  /** It was not read since. */
  readonly isOld: boolean
}

function movedBy(writes: readonly AncestorWrite[], cycle: CycleView): ReadonlyMap<ScopeKey, Moved> {
  const model = modelOf(cycle)
  const moved = new Map<ScopeKey, Moved>()
  for (const { change, before } of writes) {
    for (const was of before) {
      const key = scopeKey(was.scope)
      const is = cycle.state.readings.get(key)
      const isOverwritten = model.layers === 'copied' && was.scope.kind === 'user'
      const isOld = is === undefined || is === was || moved.get(key)?.isOld === true
      if (isOverwritten || mayHaveMoved(change, was.observed, model)) moved.set(key, { scope: was.scope, isOld })
    }
  }
  return moved
}

async function readAll(scopes: readonly Scope[], { workspace, state, stop }: CycleView): Promise<void> {
  const { concurrency } = workspace.config.rate
  const { readings } = state
  await sweep({ client: workspace.client, scopes, concurrency, readings, urgent: true, ...(stop && { signal: stop }) })
}
