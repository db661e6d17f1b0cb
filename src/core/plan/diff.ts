// What to write, scope by scope: desired × observed × owned. It knows no people and no limits, and never turns an unknown reading into a change.
//
//   declared   observed          owned             ->
//   ---------  ----------------  ----------------  ------------------------------------------------------
//   any        unknown           any               nothing; state unknown
//   n          n                 any               in sync; ours from now on
//   n          none              any               set
//   n          m                 any               raise or lower
//   none       none              any               in sync; ours from now on
//   none       maybe inherited   not at it         in sync: the inherited cap applies, as desired; ours once it is known what reads show
//   none       maybe inherited   at it             clear: it may be the cap that we set here
//   none       m                 any               clear
//   none, no   maybe inherited   tried, cleared    in sync until it is not inherited: what we tried may have landed since
//   none, no   none              a 0 of ours       clear once, where the 0 may be stored and not show
//   restore    foreign value     any               release: the base that a grant gives back was replaced by another client
//   no         v                 at v              clear (orphan), or nothing when prune is off
//   no         v                 a grant tried v   clear; or set what was verified before, when prune is off: the grant's end
//   no         sent, in doubt    at v              clear, as at v: an earlier write of ours has landed late; so for a restore
//   no         anything else     at v              release: it is not ours any more
//   no         any               no                not ours; not even read
//
// One reading may be stale, so daemon/cycle/record.ts lets a cap that we wrote go only when a second reading does not show it either.
//
// A clear arises in these lines alone. `none` is declared in a policy, or given back: by the end of a grant, or by a 0 that the service does
// not store. pins.ts (`revealedClears`) only shows ahead which clears the write of an ancestor will reveal. Where caps are copied, `none` for
// a person becomes the cap to fall back to: that of the team or a group, with its pending change. There a clear of the team or a group clears
// its members as well.
//
// The cause: `external` when the ledger has verified another value under the same policy entry, `expired` when a grant has ended, `orphan`
// when nothing declares the scope, else `policy`.

import type { Slots } from '../interpret/slots.ts'
import { type Cause, LANDING_MS, type UnknownScope } from '../model/change.ts'
import { mayBeSet, type Observed, type OwnedCap } from '../model/observed.ts'
import { type Cap, isSameEntry, type PolicyEntry, UNDECLARED } from '../model/policy.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { DesiredCap, Resolution } from '../resolve/desired.ts'
import { hasEnded } from '../resolve/grants.ts'
import { afterEnd, isAwaited, isInDoubt, isOurs, ownedFrom, setBefore, withTried } from './outcome.ts'
import type { Difference, Snapshot } from './snapshot.ts'

/** What policy asks is in `resolution` and `skipped` here without the scopes that are quarantined. */
interface DiffInputs extends Snapshot {
  readonly slots: Slots
}

export interface Diff {
  /** The desired caps that were compared. */
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly differences: readonly Difference[]
  /** Declared and found equal, and so ours from now on; only where the ledger does not say so already. */
  readonly adopted: readonly OwnedCap[]
  /** Not ours any more: no longer declared and no longer at our value, or given back. */
  readonly released: readonly ScopeKey[]
  readonly inSync: readonly DesiredCap[]
  readonly unknown: readonly UnknownScope[]
  /** Orphans that `prune: false` leaves alone. */
  readonly kept: readonly OwnedCap[]
}

/** A diff while it is put together. */
type Draft = { readonly [Name in keyof Diff]: Diff[Name] extends readonly (infer Item)[] ? Item[] : Map<ScopeKey, DesiredCap> }

/** Compares the team and groups first, because people may fall back to the pending caps of these. */
export function diff(inputs: DiffInputs): Diff {
  const draft: Draft = { desired: new Map(), differences: [], adopted: [], released: [], inSync: [], unknown: [], kept: [] }
  const rejected = byScope(inputs.resolution.rejected)
  // `fallback`: the cap to set at a scope that is to have none of its own.
  const compareAll = (areUsers: boolean, fallback: (key: ScopeKey) => Observed): void => {
    for (const one of inputs.resolution.desired) {
      if ((one.scope.kind === 'user') !== areUsers) continue
      const key = scopeKey(one.scope)
      const cap = one.cap === 'none' ? fallback(key) : one.cap
      const desired = cap === 'unknown' || cap === one.cap ? one : { ...one, cap }
      draft.desired.set(key, desired)
      if (inputs.skipped.has(key)) continue
      if (cap === 'unknown') draft.unknown.push({ scope: one.scope, message: UNKNOWN_FALLBACK })
      else compareDeclared(desired, key, inputs, draft)
    }
    for (const owned of inputs.owned.values()) {
      const key = scopeKey(owned.scope)
      if ((owned.scope.kind === 'user') !== areUsers || draft.desired.has(key) || rejected.has(key) || inputs.skipped.has(key)) continue
      compareOrphan(owned, key, fallback(key), inputs, draft)
    }
  }
  compareAll(false, () => 'none')
  const pending = new Map(draft.differences.map(({ key, to }) => [key, to]))
  const isCopied = inputs.slots.model.layers === 'copied'
  compareAll(true, (key) => (isCopied ? inputs.slots.inheritedAfter(key, pending) : 'none'))
  return draft
}

const UNKNOWN_FALLBACK = 'the cap to fall back to could not be read'

function compareDeclared(desired: DesiredCap, key: ScopeKey, inputs: DiffInputs, draft: Draft): void {
  const observed = observedAt(key, inputs)
  const owned = inputs.owned.get(key)
  if (observed === 'unknown') {
    draft.unknown.push(unread(desired.scope, key, inputs))
    return
  }
  const { slots } = inputs
  const isInherited = desired.cap === 'none' && (isAwaited(owned) || !isOurs(owned, observed)) && showsInherited(key, observed, slots)
  const isHidden = desired.cap === 'none' && desired.entry.kind !== 'kept' && mayHideZero(owned, slots)
  if (isHidden && (observed === 'none' || isInherited)) {
    draft.differences.push({ ...difference(desired, key, observed, inputs, true), healing: false, reason: HIDDEN_ZERO })
    return
  }
  if (observed === desired.cap || isInherited) {
    draft.inSync.push(desired)
    // While it is open what reads show, the cap may be the scope's own: nothing was verified that was not before.
    if (isInherited && slots.model.reads === 'open' && owned?.cap !== 'none') return
    if (desired.origin.kind === 'restore') {
      const left = afterEnd(desired.cap, owned, inputs.now)
      if (left === 'released') draft.released.push(key)
      else draft.adopted.push(left)
    } else if (isNewToLedger(owned, desired, slots.unexplained(key)))
      draft.adopted.push(ownedFrom(desired, owned, setBefore(observed, slots, key), inputs.now, slots.unexplained(key)))
    return
  }
  const isOverwritten = slots.isFromAncestorWrite(key)
  const isGivenBack = owned?.baselineIsOurs === true && !owned.baselineIsNew && observed === owned.baseline
  if (owned && desired.origin.kind === 'restore' && !isOurs(owned, observed) && !isGivenBack && !isOverwritten) {
    const landed = landedLate(owned, key, observed, inputs)
    if (!landed) {
      draft.released.push(key)
      return
    }
    draft.adopted.push(landed)
  }
  const pool = desired.origin.pool === undefined ? undefined : inputs.poolReviews.get(desired.origin.pool)
  draft.differences.push({ ...difference(desired, key, observed, inputs, isOverwritten), pool })
}

function compareOrphan(known: OwnedCap, key: ScopeKey, fallback: Observed, inputs: DiffInputs, draft: Draft): void {
  const observed = observedAt(key, inputs)
  const landed = landedLate(known, key, observed, inputs)
  if (landed) draft.adopted.push(landed)
  const owned = landed ?? known
  if (!mayBeSet(owned)) {
    draft.released.push(key)
    return
  }
  if (observed === 'unknown') {
    draft.unknown.push(unread(owned.scope, key, inputs))
    return
  }
  const isHidden = observed === 'none' && inputs.prune && mayHideZero(owned, inputs.slots)
  if (!isHidden && (observed === 'none' || !isOurs(owned, observed))) {
    draft.released.push(key)
    return
  }
  // It equals the cap to fall back to, so clearing it changes nothing. It stays ours, to be cleared when that cap changes.
  if (!isHidden && (observed === fallback || (isAwaited(owned) && showsInherited(key, observed, inputs.slots)))) return
  const isTriedByGrant = owned.triedByGrant === true && observed === owned.tried
  if (!inputs.prune && !isTriedByGrant) {
    draft.kept.push(owned)
    return
  }
  const to = inputs.prune || owned.cap === 'none' ? fallback : owned.cap
  if (to === 'unknown') {
    draft.unknown.push({ scope: owned.scope, message: UNKNOWN_FALLBACK })
    return
  }
  const grantEnd = isTriedByGrant || showsEndedGrant(owned, inputs.resolution)
  const cause = grantEnd ? 'expired' : 'orphan'
  const entry: PolicyEntry = inputs.prune ? UNDECLARED : { kind: 'restore', cap: to }
  const reason = isHidden ? HIDDEN_ZERO : attributeChange(owned, inputs.resolution)
  draft.differences.push({ scope: owned.scope, key, from: observed, to, cause, entry, healing: false, grantEnd, reason })
}

/**
 * The reading shows the value of an earlier write of ours whose end is in doubt: the cap is ours, unless it is the one that a grant gives back, or
 * may be the inherited one that shows since a clear of ours.
 */
function landedLate(owned: OwnedCap, key: ScopeKey, observed: Observed, { contests, slots, now }: DiffInputs): OwnedCap | undefined {
  if (typeof observed !== 'number' || isOurs(owned, observed) || observed === owned.baseline) return undefined
  const written = contests.written(owned.scope, now - LANDING_MS)
  const isCleared = written[0]?.to === 'none' && written[0].result === 'applied'
  const landed = written.some((one) => one.to === observed && (isInDoubt(one) || one.unproven))
  return landed && !(isCleared && slots.mayBeInherited(key)) ? withTried(owned, observed, false) : undefined
}

function difference(desired: DesiredCap, key: ScopeKey, from: Cap, inputs: DiffInputs, isOverwritten: boolean): Difference {
  const { resolution } = inputs
  const owned = inputs.owned.get(key)
  const isSame = owned !== undefined && isSameEntry(owned.entry, desired.entry)
  const grantEnd = desired.origin.kind !== 'grant' && !isSame && showsEndedGrant(owned, resolution)
  const isMoved = isSame && !isOurs(owned, from)
  const cause: Cause = grantEnd ? 'expired' : isMoved && !isOverwritten ? 'external' : 'policy'
  return {
    scope: desired.scope,
    key,
    from,
    to: desired.cap,
    cause,
    source: desired.origin.at,
    reason: reasonOf(desired, owned, resolution),
    entry: desired.entry,
    healing: isMoved && owned.cap === desired.cap,
    grantEnd,
  }
}

/** The reason of the declaration, and what changed in the people file since the cap before it was verified, where that one followed from it. */
function reasonOf({ origin: { reason } }: DesiredCap, owned: OwnedCap | undefined, resolution: Resolution): string | undefined {
  const moved = owned && attributeChange(owned, resolution)
  if (moved === undefined || reason?.includes(moved)) return reason
  return reason === undefined ? moved : `${reason}; ${moved}`
}

/** Only caps of rules and pools follow from the people file. */
function attributeChange({ scope, owner, verifiedAt }: OwnedCap, { attributeChanges }: Resolution): string | undefined {
  if (owner !== 'rule' && owner !== 'pool') return undefined
  const change = scope.kind === 'user' ? attributeChanges.get(scope.email) : undefined
  return change && change.at >= verifiedAt ? change.text : undefined
}

const showsInherited = (key: ScopeKey, observed: Cap, slots: Slots): boolean =>
  slots.mayBeInherited(key) && observed === slots.inherited(key)

const observedAt = (key: ScopeKey, inputs: DiffInputs): Observed => inputs.readings.get(key)?.observed ?? 'unknown'

const unread = (scope: Scope, key: ScopeKey, { readings }: DiffInputs): UnknownScope => ({
  scope,
  message: readings.get(key)?.failure?.message ?? 'not read yet',
})

/** A 0 of ours may be stored though it reads as unset. Where the scope is to have no cap, it is cleared once, whatever the reading says. */
const mayHideZero = (owned: OwnedCap | undefined, { model }: Slots): boolean =>
  model.zero !== 'stored' && (owned?.cap === 0 || owned?.tried === 0)

const HIDDEN_ZERO = 'a cap of 0 was written here and does not show: it may be set all the same'

const isNewToLedger = (owned: OwnedCap | undefined, desired: DesiredCap, shows: Cap | undefined): boolean =>
  owned === undefined ||
  !isSameEntry(owned.entry, desired.entry) ||
  owned.cap !== desired.cap ||
  owned.tried !== undefined ||
  owned.missedAt !== undefined ||
  owned.shows !== shows ||
  owned.owner !== desired.owner ||
  owned.grant !== desired.origin.grant ||
  (desired.base !== undefined && (owned.baseline !== desired.base || !owned.baselineIsOurs))

/** Whether the cap came from a grant that has ended. A grant that was deleted from policy has not: removing its cap is an edit. */
const showsEndedGrant = (owned: OwnedCap | undefined, { grantClock }: Resolution): boolean =>
  owned?.grant !== undefined && hasEnded(owned.grant, grantClock)
