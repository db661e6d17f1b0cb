// Checks how a team or group write changed its descendants: reads a few of them at once, to learn how this deployment treats caps, and all
// that it may have changed before the next plan is made. It never writes to the service.

import {
  groupsListed,
  mayHaveMoved,
  type Observation,
  observeDescendant,
  type ServiceModel,
  sampleDescendants,
} from '../../../core/interpret/evidence.ts'
import type { SentCap } from '../../../core/interpret/slots.ts'
import { type Change, type HistoryEntry, isReady, LANDING_MS } from '../../../core/model/change.ts'
import type { CapReading, OwnedCap } from '../../../core/model/observed.ts'
import { byScope, type Scope, type ScopeKey, scopeKey, TEAM } from '../../../core/model/scope.ts'
import { type Instant, notAhead } from '../../../core/model/units.ts'
import { mayHaveLanded } from '../../../core/plan/outcome.ts'
import type { Workspace } from '../../workspace.ts'
import type { CycleRun, Pass } from '../options.ts'
import { noteSeen, sweep } from '../read.ts'
import { type DesiredState, modelOf, sentToAncestors, type WorkspaceState } from '../state.ts'

/** A team or group write that may have landed, with the readings of its descendants from before. */
export interface AncestorWrite {
  readonly change: Pick<SentCap, 'scope' | 'from' | 'to'>
  readonly before: readonly CapReading[]
  readonly at: Instant
}

/** A cycle with what policy asks now. */
type DesiredCycle = CycleRun & Pick<Pass, 'desired'>

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
  const model = modelOf(cycle.workspace)
  const sampled = writes.map((write) => ({ ...write, before: sampleDescendants(write.change, write.before, model) }))
  const scopes = new Map(sampled.flatMap(({ before }) => before.map(({ scope }) => [scopeKey(scope), scope] as const)))
  await readAgain([...scopes.values()], cycle)
  note(sampled, cycle)
  noteChecked(writes, cycle.workspace)
  return model.layers === 'layered' && modelOf(cycle.workspace).copying !== undefined
}

function note(writes: readonly AncestorWrite[], cycle: DesiredCycle): void {
  const { workspace, state } = cycle
  const known = knownIn(cycle)
  const observations = writes.flatMap((write) => observationsOf(write, writes, state, known))
  noteSeen(workspace.ledger, foremost(observations, known.model), workspace.clock)
}

type Known = ReturnType<typeof knownIn>

function knownIn({ workspace, state, desired }: DesiredCycle) {
  const { ledger, clock } = workspace
  const since = clock.now() - LANDING_MS
  const sent = sentToAncestors(ledger, clock.now())
  const groupsAt = groupsListed(desired.people, desired.inputs.groups)
  const owned = byScope(ledger.owned())
  return {
    model: modelOf(workspace),
    isOfAncestor: (reading: CapReading): boolean => isShownByAncestor(reading, state.readings, sent),
    /** We wrote this value here, so it is set here whatever reads show. */
    isOurs({ scope, observed }: CapReading): boolean {
      const ours = owned.get(scopeKey(scope))
      return ours?.written === true && ours.cap === observed
    },
    /** A write of ours has replaced this value, and the reading may be stale. */
    isReplaced: ({ scope, observed }: CapReading): boolean => ledger.writtenLately(scope, since).some(({ from }) => from === observed),
    /** Surely a descendant when it was read: since an old list the person may have left the group. */
    isDescendant: (ancestor: Scope, { scope, readAt }: CapReading): boolean =>
      ancestor.kind === 'team' || groupsAt(scopeKey(scope), readAt).includes(scopeKey(ancestor)),
  }
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
  await readAgain(
    [...moved.values()].flatMap(({ scope, isOld }) => (isOld ? [scope] : [])),
    cycle,
  )
  return new Set(moved.keys())
}

/** Forgets the readings that these writes may have made wrong, where there is no time to read again. */
export function forgetMoved(writes: readonly AncestorWrite[], cycle: DesiredCycle): void {
  for (const [key, { isOld }] of movedBy(writes, cycle)) if (isOld) cycle.state.readings.delete(key)
}

/** `isOld`: not read since the write. */
function movedBy(writes: readonly AncestorWrite[], cycle: DesiredCycle) {
  const model = modelOf(cycle.workspace)
  const moved = new Map<ScopeKey, { readonly scope: Scope; readonly isOld: boolean }>()
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

async function readAgain(scopes: readonly Scope[], { workspace, state, options }: CycleRun): Promise<void> {
  const { client, config } = workspace
  await sweep({ client, scopes, concurrency: config.rate.concurrency, readings: state.readings, urgency: 'urgent', signal: options.stop })
}

/**
 * Reads the scopes that the plan depends on and that were read before `since`, and members of pools whose sweeps were missed. Returns those
 * scopes. A long sweep is read in slices, and a cap that others have removed since must not count as the one that keeps a person from falling
 * with the team.
 */
export async function rereadDependencies(pass: Pass, since: Instant, cycle: CycleRun): Promise<ReadonlySet<ScopeKey>> {
  const { workspace, state, startedAt } = cycle
  const { slots, plan } = pass.planned
  const isLayered = slots.model.layers === 'layered' && plan.changes.some(isReady)
  const dependencies = isLayered ? plan.changes.filter(mayGo).flatMap(dependenciesOf(pass, state)) : []
  const isRaising = plan.changes.some((one) => isReady(one) && one.effect !== 'lower')
  const members = isRaising ? pooledIn(pass, state) : []
  const readBefore = (scopes: readonly Scope[], at: Instant): readonly Scope[] =>
    scopes.filter((scope) => (state.readings.get(scopeKey(scope))?.readAt ?? at) < at)
  const stale = [...readBefore(dependencies, since), ...readBefore(members, startedAt - MISSED_SWEEPS * betweenSweepsMs(workspace))]
  const scopes = new Map(stale.map((scope) => [scopeKey(scope), scope]))
  await readAgain([...scopes.values()], cycle)
  return new Set(scopes.keys())
}

/** The sum of a pool counts on the caps of all its members. Sweeps keep them young enough, but for sweeps that could not be made. */
function pooledIn({ desired }: Pass, { pools }: WorkspaceState): readonly Scope[] {
  const emails = new Set(Object.values(pools).flatMap(({ members }) => Object.keys(members)))
  return desired.toRead.filter((scope) => scope.kind === 'user' && emails.has(scope.email))
}

/** A pool's member was not read for so many sweeps: they were missed. Choice. */
const MISSED_SWEEPS = 2

/** The time in which every scope is read once, while sweeps are made. */
const betweenSweepsMs = ({ config, reading }: Workspace): number =>
  reading ? Math.max(config.intervalMs, (reading.watched.length * 1_000) / reading.readsPerSecond) : config.intervalMs

const mayGo = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.code !== 'failed')

/** Descendants with a higher cap, which keep their people from being lowered; for a clear also the ancestors, whose caps apply instead. */
function dependenciesOf({ planned: { people, slots }, desired }: Pass, state: WorkspaceState): (change: Change) => readonly Scope[] {
  const descendantsOf = descendantsIn(desired, state)
  const groups = desired.toRead.filter(({ kind }) => kind === 'group')
  return ({ scope, from, to }) => {
    const isRaise = from !== 'none' && to !== 'none' && to > from
    const isHigher = (one: Scope): boolean => {
      const shown = slots.shown(scopeKey(one))
      return typeof shown === 'number' && (to === 'none' || shown > to)
    }
    const descendants = isRaise ? [] : descendantsOf(scope).filter(isHigher)
    if (to !== 'none' || scope.kind === 'team') return descendants
    const own = scope.kind === 'user' ? (people.byKey.get(scopeKey(scope))?.groups ?? []) : []
    return [...descendants, TEAM, ...groups.filter((one) => own.includes(scopeKey(one)))]
  }
}
