// What a write comes to: the verdict by its answer and the reading after it, whether the cap may be set, and what is ours from then on. Only
// tables and records: the callers decide what follows.
//
//   read back          written    answer      ->
//   -----------------  ---------  ----------  ------------------------------------------------------------
//   not readable       any        any         unread
//   what was written   any        accepted    landed
//   what was written   any        lost        landed; notLanded where nothing was set and the value may be inherited: it showed before, too
//   may be inherited   none       any         landed, unless reads are explicit; where the value has not changed, only if accepted
//   any number         none       repeated    landed for a person, unless reads are explicit: they may be in a group that no policy names;
//                                             once accepted is enough where policy does not ask for it: no cap of another client is cleared
//   nothing            0          accepted    zeroDropped; unmoved where nothing was set and 0 is known to be stored: the reading may be stale
//   nothing            0          lost        notLanded: the 0 may not be stored, or may never have arrived
//   the old value      any        accepted    unmoved: a stale reading, or a scope that keeps nothing
//   the old value      any        lost        notLanded
//   anything else      any        any         foreign

import type { ServiceModel } from '../interpret/evidence.ts'
import type { Slots } from '../interpret/slots.ts'
import { type HistoryEntry, LANDING_MS, type ScopeChange } from '../model/change.ts'
import type { Observed, OwnedCap } from '../model/observed.ts'
import { type Cap, GIVEN_UP, isSameEntry, ownerOf } from '../model/policy.ts'
import type { Scope, ScopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { DesiredCap } from '../resolve/desired.ts'

interface Sent extends Pick<ScopeChange, 'from' | 'to'> {
  readonly answer: Answer
}

/** `repeated`: accepted for the second time, because no known cap explained the reading after the first. */
export type Answer = 'accepted' | 'repeated' | 'lost'

interface ReadBack {
  readonly observed: Observed
  /** The observed value may be the one that applies where nothing is set at the scope. */
  readonly mayApply: boolean
  /** A person may also inherit the cap of a group that no policy names. */
  readonly isPerson: boolean
  /** Policy asks for what was written: what another client has set meanwhile is to go, too. */
  readonly isAsked: boolean
  readonly model: Pick<ServiceModel, 'reads' | 'zero'>
  /** The same write had no effect several times: a reading that contradicts it is not stale. */
  readonly wasInVain: boolean
}

export type Verdict = 'unread' | 'landed' | 'zeroDropped' | 'notLanded' | 'unmoved' | 'foreign'

/** Judges one write by its read-back (docs/operations.md). */
export function classify({ from, to, answer }: Sent, { observed, mayApply, isPerson, isAsked, model, wasInVain }: ReadBack): Verdict {
  if (observed === 'unknown') return 'unread'
  const mayBeInherited = mayApply && model.reads !== 'explicit'
  // The scope may have shown that value before the write, too.
  if (observed === to && to !== 'none' && from === 'none' && mayBeInherited && answer === 'lost') return 'notLanded'
  if (observed === to) return 'landed'
  if (to === 'none' && mayBeInherited && (observed !== from || answer !== 'lost')) return 'landed'
  const isAnswered = answer === 'repeated' || (answer === 'accepted' && observed !== from && !isAsked)
  if (to === 'none' && isPerson && isAnswered && model.reads !== 'explicit') return 'landed'
  const isHiddenZero = to === 0 && observed === 'none'
  if (observed !== from && !isHiddenZero) return 'foreign'
  if (answer === 'lost') return 'notLanded'
  const mayBeStale = from === 'none' && model.zero === 'stored' && !wasInVain
  return isHiddenZero && !mayBeStale ? 'zeroDropped' : 'unmoved'
}

/** How a write ended. `skipped`: nothing was written. */
export interface WriteEnd extends Pick<HistoryEntry, 'unproven'> {
  readonly result: HistoryEntry['result'] | 'skipped'
}

/** Whether the written cap may be set, or may have been set. */
export const mayHaveLanded = ({ result, unproven }: WriteEnd): boolean => (result === 'failed' ? unproven === true : result !== 'skipped')

/** Whether the end of a write is unknown: it may have landed or may still land, and no reading has shown it. */
export const isInDoubt = (end: WriteEnd): boolean => mayHaveLanded(end) && end.result !== 'applied'

/** The verified cap, or one written after it whose read-back may have come too early. */
export const isOurs = (owned: OwnedCap | undefined, cap: Cap): boolean => owned !== undefined && (cap === owned.cap || cap === owned.tried)

/** The record with a cap that was tried, and may be set beside the verified one. */
export const withTried = ({ triedByGrant: _, ...owned }: OwnedCap, tried: Cap, byGrant: boolean): OwnedCap => ({
  ...owned,
  tried,
  triedByGrant: byGrant ? true : undefined,
})

/** What is ours at a scope once a cap of ours has ended there and `cap` is left: our own cap that a grant has given back, or nothing. */
export function afterEnd(cap: Cap, owned: OwnedCap | undefined, now: Instant): OwnedCap | 'released' {
  const isKept = owned?.owner === 'grant' ? owned.baselineIsOurs : owned?.cap === cap
  if (!owned || !isKept || cap === 'none') return 'released'
  return givenUpAt(owned.scope, cap, now)
}

const givenUpAt = (scope: Scope, cap: Cap, now: Instant): OwnedCap => ({
  scope,
  cap,
  owner: ownerOf(GIVEN_UP),
  entry: GIVEN_UP,
  verifiedAt: now,
})

/**
 * A cap that we sent to a scope where nothing of ours is left, and that may land yet, because no answer came: it stays ours for as long, or nobody
 * would clear it. Not the one that is given back there, which is not ours: it comes back over what lands. Nor a 0 that the service may have dropped.
 */
export function stillToLand(
  { scope, owner, baseline, baselineIsOurs, baselineIsNew, grant, shows }: Pick<OwnedCap, 'scope'> & Partial<OwnedCap>,
  writtenLately: (scope: Scope, sinceAt: Instant) => readonly HistoryEntry[],
  { zero }: Pick<ServiceModel, 'zero'>,
  now: Instant,
): OwnedCap | undefined {
  const isOurs = ({ to }: HistoryEntry): boolean => to !== 'none' && to !== baseline && (to !== 0 || zero === 'stored')
  const last = writtenLately(scope, now - LANDING_MS).find((one) => isOurs(one) && (one.unproven || one.result === 'ambiguous'))
  if (!last) return undefined
  const left: OwnedCap = { ...givenUpAt(scope, 'none', now), tried: last.to, shows }
  return owner === 'grant' ? { ...left, owner, baseline, baselineIsOurs, baselineIsNew, grant } : left
}

/** Whether all that is ours here is a cap that may land yet. */
export const isAwaited = (owned: OwnedCap | undefined): boolean =>
  owned?.cap === 'none' && owned.tried !== undefined && isSameEntry(owned.entry, GIVEN_UP)

/** What was set at a scope before our write: `none` where the reading may show an inherited or a copied cap. */
export function setBefore(from: Cap, { model, inherited }: Pick<Slots, 'model' | 'inherited'>, key: ScopeKey): Cap {
  const isOwn = model.reads === 'explicit' && model.layers === 'layered'
  return !isOwn && from === inherited(key) ? 'none' : from
}

/** The ledger's record of a scope that was verified at its desired cap. `before`: what was found there; `shows`: see `OwnedCap`. */
export function ownedFrom(desired: DesiredCap, owned: OwnedCap | undefined, before: Cap, now: Instant, shows?: Cap): OwnedCap {
  const { scope, cap, owner, entry, origin, base } = desired
  const isWritten = owned?.written === true && owned.cap === cap
  const record: OwnedCap = {
    ...{ scope, cap, owner, entry, verifiedAt: now },
    ...(isWritten && { written: true }),
    ...(shows !== undefined && { shows }),
    ...(origin.grant !== undefined && { grant: origin.grant }),
  }
  if (origin.kind !== 'grant') return record
  // A cap kept in place of a 0 is what was set before it.
  return { ...record, ...baselineOf(cap, owned, entry.kind === 'kept' ? cap : before, base) }
}

/**
 * What a grant gives back at its end where nothing is declared then. A declared base is given back as ours, as if it had been written before the
 * grant: it may be removed with the grant or while the grant runs. Without one it is the cap that was found, or our own where the grant's cap was
 * found. A grant that follows another gives back what that one would.
 */
export function baselineOf(
  cap: Cap,
  owned: OwnedCap | undefined,
  before: Cap,
  base: Cap | undefined,
): Pick<OwnedCap, 'baseline' | 'baselineIsOurs' | 'baselineIsNew' | 'found'> {
  if (base !== undefined) {
    const isNew = !wasInForce(base, owned, before)
    const found = owned?.owner === 'grant' ? (owned.found ?? owned.baseline) : before
    return { baseline: base, baselineIsOurs: true, ...(isNew && { baselineIsNew: true, found }) }
  }
  if (!owned || (isAwaited(owned) && before !== owned.tried)) return { baseline: before }
  const { owner, baseline = 'none', baselineIsOurs, baselineIsNew } = owned
  if (owner === 'grant') return { baseline, ...(baselineIsOurs && { baselineIsOurs }), ...(baselineIsNew && { baselineIsNew }) }
  const found = before === cap ? owned.cap : before
  return { baseline: found, ...(isOurs(owned, found) && { baselineIsOurs: true }) }
}

/** Whether a declared base was in force as ours, or was found so, before the grant. */
const wasInForce = (base: Cap, owned: OwnedCap | undefined, before: Cap): boolean =>
  owned?.owner === 'grant'
    ? owned.baseline === base && owned.baselineIsOurs === true && !owned.baselineIsNew
    : base === before || isOurs(owned, base)
