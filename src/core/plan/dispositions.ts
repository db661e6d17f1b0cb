// What becomes of each change now, in one chain: only watched (`onDrift: alert`), held by a guard, excluded from this run, failed in it,
// deferred because another change comes first, or ready. In a plan nothing else decides that a change is not written, and every output shows this decision.

import type { Slots } from '../interpret/slots.ts'
import { type Disposition, READY } from '../model/change.ts'
import { type Cap, isSameEntry } from '../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Diff } from './diff.ts'
import type { Judged } from './judgement.ts'
import { rewrites } from './pins.ts'
import type { Difference, Snapshot } from './snapshot.ts'
import { type Pending, schedule, type WaveInputs } from './wave.ts'

/** A cap that the service has refused and that is still desired: of the team, of a group, or of a member of a pool. */
export interface Refused {
  readonly scope: Scope
  readonly to: Cap
  readonly message: string
}

type FollowUp = readonly [Difference, Disposition]

interface DisposeInputs extends Snapshot, Pick<Diff, 'differences' | 'unknown' | 'desired'> {
  /** Clears that a team or group write of this plan may reveal. */
  readonly reveals: readonly Difference[]
  readonly judged: Pick<Judged, 'judgement' | 'releases'>
  readonly refused: readonly Refused[]
  readonly guarded: ReadonlySet<ScopeKey>
  readonly slots: Slots
  /** Members of pools who need their own cap before an ancestor's may lift them. */
  readonly pooled: ReadonlySet<ScopeKey>
}

/** Audit mode, a pause and replaced policies exclude every change. The order is shown as it would be without them. */
const EXCLUDES_ALL: ReadonlySet<string> = new Set(['mode', 'pause', 'replaced'])

/** Gives each change its disposition, and all of them their order. */
export function dispose(inputs: DisposeInputs) {
  const { judged, excluded, watched, slots } = inputs
  const differences = inputs.differences.map((one) => ({ ...one, isFirst: slots.mayBeInherited(one.key) }))
  const { heldBy } = judged.judgement
  const notReady = new Map<ScopeKey, Disposition>()
  for (const one of differences) {
    const disposition =
      watched?.(one) ?? held(heldBy.get(one.key)) ?? excludedAlone(one, inputs) ?? failed(one, inputs) ?? overwritesHeld(one, inputs)
    if (disposition) notReady.set(one.key, disposition)
  }
  const unread = unreadChanges(inputs)
  const pending = [...pendingChanges({ ...inputs, differences }), ...unread, ...refusedChanges(inputs)]
  const ready = differences.filter((one) => !notReady.has(one.key))
  const { waves, blocked } = schedule({ ...waveInputs({ ...inputs, unlisted: inputs.facts.unlistedGroups }), ready, pending })
  const scheduled = waves.flat()
  const unreadKeys = new Set(unread.map(({ key }) => key))
  const refusals = new Map(inputs.refused.map(({ scope, message }) => [scopeKey(scope), message]))
  /** Why a change that waits for this scope is not written. */
  const deferredAfter = (waitsFor: Scope | undefined): Disposition | undefined => {
    if (!waitsFor) return undefined
    const key = scopeKey(waitsFor)
    if (unreadKeys.has(key)) return { kind: 'deferred', code: 'unread', reason: `${key} could not be read`, waitsFor }
    const refusal = refusals.get(key)
    const why = refusal === undefined ? whyNot(notReady.get(key)) : `comes first, and is refused: ${refusal}`
    return { kind: 'deferred', code: 'order', reason: `${key} ${why}`, waitsFor }
  }
  const disposed = (difference: Difference, disposition: Disposition | undefined) =>
    disposition ? [{ difference, disposition, released: judged.releases.get(difference.key) }] : []
  return {
    /** In the order of writing; changes that are not written now come last. */
    order: [
      ...scheduled.flatMap((one) => disposed(one, excluded?.(one) ?? READY)),
      ...ready.flatMap((one) => disposed(one, deferredAfter(blocked.get(one.key)))),
      ...differences.flatMap((one) => disposed(one, notReady.get(one.key))),
      ...followUps(scheduled, notReady, inputs).flatMap(([one, disposition]) => disposed(one, disposition)),
    ],
    pending,
  }
}

/** What the waves of a plan are judged by; with newer readings the result is newer as well. */
export function waveInputs(
  inputs: Pick<DisposeInputs, 'slots' | 'people' | 'guarded' | 'owned' | 'desired'> & Pick<WaveInputs, 'unlisted'>,
): Omit<WaveInputs, 'ready' | 'pending'> {
  const { slots, people, unlisted, guarded } = inputs
  const caps: WaveInputs['caps'] = (key) => {
    const shown = slots.shown(key)
    return shown === 'unknown' ? (believedCap(key, inputs) ?? slots.lastRead(key) ?? 'none') : shown
  }
  // The value that was read last may be gone: a change must be safe with it and without it.
  const mayBeInherited = (key: ScopeKey): boolean =>
    slots.shown(key) === 'unknown' ? believedCap(key, inputs) === undefined : slots.mayBeUnset(key)
  return { caps, mayBeInherited, people, unlisted, guarded, layers: slots.model.layers }
}

/**
 * While a scope cannot be read, the cap verified under the same policy entry is believed to be set, unless another was read since, or an
 * ancestor may have given it.
 */
function believedCap(key: ScopeKey, { slots, owned, desired }: Pick<DisposeInputs, 'slots' | 'owned' | 'desired'>): Cap | undefined {
  const [ours, want, last] = [owned.get(key), desired.get(key), slots.lastRead(key)]
  const isOurs = ours && want && isSameEntry(ours.entry, want.entry) && ours.cap === want.cap
  return isOurs && (last === undefined || last === ours.cap) && !slots.mayBeInherited(key) ? ours.cap : undefined
}

function pendingChanges({ differences, judged, watched, pooled }: DisposeInputs): readonly Pending[] {
  return differences.flatMap((one): readonly Pending[] => {
    // A change that is only watched defers no other, except in the sum of a pool, which must never be exceeded.
    const isWatched = watched?.(one) !== undefined
    if (isWatched && !pooled.has(one.key)) return []
    const isHeld = judged.judgement.heldBy.has(one.key)
    // A revert that is held or watched is not written now: no person may count on it. A held deal defers an ancestor only where that would
    // exceed the credits.
    const isPooled = pooled.has(one.key) || (one.pool !== undefined && !isHeld)
    return [{ ...one, healing: one.healing && !isHeld && !isWatched, isPooled, isHeld, isWatched }]
  })
}

/** Desired caps of scopes that could not be read are pending, until they have been unread for too long. */
function unreadChanges(inputs: DisposeInputs): readonly Pending[] {
  return inputs.unknown.flatMap(({ scope }): readonly Pending[] => {
    const key = scopeKey(scope)
    if (inputs.givenUp?.has(key)) return []
    const want = inputs.desired.get(key)
    const isPooled = (want?.origin.pool !== undefined || inputs.pooled.has(key)) && believedCap(key, inputs) === undefined
    // Without a desired cap it is an orphan, to be cleared.
    return [{ scope, key, from: 'none', to: want?.cap ?? 'none', healing: false, isPooled, isUnread: true }]
  })
}

const refusedChanges = ({ refused }: DisposeInputs): readonly Pending[] =>
  refused.map(({ scope, to }) => {
    const isPooled = scope.kind === 'user'
    return { scope, key: scopeKey(scope), from: 'none', to, healing: false, isRefused: true, isPooled }
  })

const held = (hold: string | undefined): Disposition | undefined => (hold === undefined ? undefined : { kind: 'held', hold })

function excludedAlone(one: Difference, { excluded }: DisposeInputs): Disposition | undefined {
  const exclusion = excluded?.(one)
  return exclusion && !EXCLUDES_ALL.has(exclusion.code) ? exclusion : undefined
}

function failed({ key, to }: Difference, inputs: DisposeInputs): Disposition | undefined {
  const failure = inputs.failed?.get(key)
  return failure?.to === to ? { kind: 'deferred', code: 'failed', reason: failure.reason } : undefined
}

/** Where caps are copied, a released team or group write would carry out, or overwrite, a change that is held for one of its descendants. */
function overwritesHeld({ key, scope }: Difference, { slots, people, judged }: DisposeInputs): Disposition | undefined {
  if (slots.model.layers !== 'copied') return undefined
  const { heldBy } = judged.judgement
  const descendants = scope.kind === 'team' ? people.approved : (people.byGroup.get(key) ?? [])
  const first = descendants.find((person) => heldBy.has(person.key))
  if (!first) return undefined
  const reason = `${first.key} ${whyNot(held(heldBy.get(first.key)))}`
  return { kind: 'deferred', code: 'order', reason, waitsFor: { kind: 'user', email: first.email } }
}

/** Why a change that others are deferred for is not written itself. */
function whyNot(disposition: Disposition | undefined): string {
  switch (disposition?.kind) {
    case 'held':
      return `comes first, and hold ${disposition.hold} keeps it back`
    case 'deferred':
      return `comes first, and it failed: ${disposition.reason}`
    case 'excluded':
      return `comes first, and is not written now: ${disposition.reason}`
    default:
      return 'comes first, and waits itself'
  }
}

/** Writes to scopes that are in sync now and may not be once a team or group write has landed. */
function followUps(scheduled: readonly Difference[], notReady: ReadonlyMap<ScopeKey, Disposition>, inputs: DisposeInputs) {
  if (inputs.slots.model.layers !== 'copied') return revealed(notReady, inputs)
  return rewrites(scheduled, inputs.differences, inputs).map(([one, ancestor]): FollowUp => [one, after(ancestor, 'overwrites it')])
}

/** Clears that a team or group write of this run, or a later one, reveals. One that guards hold is in the hold of that write. */
function revealed(notReady: ReadonlyMap<ScopeKey, Disposition>, { reveals, judged }: DisposeInputs): readonly FollowUp[] {
  return reveals.flatMap((one): readonly FollowUp[] => {
    const { key, from, revealedBy } = one
    if (!revealedBy || notReady.get(scopeKey(revealedBy))?.kind === 'excluded') return []
    const why = `shows whether ${from} is a cap of its own: only then is it cleared`
    return [[one, held(judged.judgement.heldBy.get(key)) ?? after(revealedBy, why)]]
  })
}

const after = (waitsFor: Scope, why: string): Disposition => ({
  kind: 'deferred',
  code: 'order',
  reason: `${scopeKey(waitsFor)} comes first, and ${why}`,
  waitsFor,
})
