// What follows from a write: its line in history, whose cap it is now, and whether the scope is left alone. The same for a write that was
// just read back and for an intent that a crash left open. The verdict itself is the table in core/interpret/classify.ts.
import { type Answer, classify, type Verdict } from '../../../core/interpret/classify.ts'
import type { Slots } from '../../../core/interpret/slots.ts'
import type { HistoryEntry, Intent, Quarantined, ScopeChange, WriteEnd } from '../../../core/model/change.ts'
import { GIVEN_UP, isSameEntry, ownerOf, type PolicyEntry } from '../../../core/model/entry.ts'
import { type CapReading, type Observed, type OwnedCap, withTried } from '../../../core/model/observed.ts'
import type { Cap } from '../../../core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { baselineOf, ownedFrom, setBefore } from '../../../core/plan/diff.ts'
import type { DesiredCap } from '../../../core/resolve/candidate.ts'
import type { Clock, Ledger } from '../../../ports.ts'
import { noteSeen } from '../seen.ts'

/** What the end of a write depends on beside its reading back. */
export interface OutcomeContext {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly slots: Slots
  readonly desiredAt: (key: ScopeKey) => DesiredCap | undefined
  readonly ownedAt: (key: ScopeKey) => OwnedCap | undefined
  /** See `entriesOf`. */
  readonly entryAt: (key: ScopeKey) => PolicyEntry
}

/** How a write ended. `skipped`: the scope is already as asked, or had changed since it was read. */
export interface WriteResult extends WriteEnd {
  readonly error?: string
  /** Whom a failure speaks of: the service or the way to it, or perhaps only the scope. Absent: somebody else, or the key. */
  readonly blame?: 'service' | 'scope'
  /** A value that is neither what was there nor what was written. */
  readonly foreign?: Observed
  /** It was a 0 that is not kept: what stood there is gone. */
  readonly isDropped?: true
}

/** The part of a result that history keeps. */
export type Ended = WriteEnd & Pick<HistoryEntry, 'result' | 'error'>

/** How a write that was sent looks now. */
export async function verdictOf(change: ScopeChange, { observed }: CapReading, answer: Answer, context: OutcomeContext): Promise<Verdict> {
  const { model } = context.slots
  const key = scopeKey(change.scope)
  const mayApply = context.slots.mayApply(key, observed) || context.ownedAt(key)?.shows === observed
  // Only of a reading that shows the old value it matters how often that was so before.
  const isInVain = observed === change.from && (await wasInVain(change, context))
  const isPerson = change.scope.kind === 'user'
  return classify({ ...change, answer }, { observed, mayApply, isPerson, model, wasInVain: isInVain })
}

/** Records how a write ended with all that follows from it, and says it. The intent stays open only for a scope that could not be read. */
export async function conclude(
  intent: Intent,
  reading: CapReading,
  answer: { readonly kind: Answer; readonly why: string },
  context: OutcomeContext,
): Promise<WriteResult> {
  const { change } = intent
  const { ledger, clock } = context
  const now = clock.now()
  const end = async (ended: Ended, ownership: OwnedCap | 'released' | 'kept'): Promise<Ended> => {
    await ledger.recordOutcome(intent, historyEntry(intent, ended, now), ownership)
    return ended
  }
  switch (await verdictOf(change, reading, answer.kind, context)) {
    case 'unread': {
      const error = `written, but it could not be read back: ${reading.failure?.message ?? 'no reading'}`
      return { result: 'ambiguous', error }
    }
    case 'landed': {
      if (reading.observed !== change.to) noteInherited(change, reading, context)
      if (reading.observed === 0) noteZero('stored', 'reads 0', change, context)
      return end({ result: 'applied' }, ownershipOf(intent, reading, answer.kind, context))
    }
    case 'zeroDropped': {
      const error = 'the service reads a cap of 0 back as unset, so 0 cannot be kept here; write the smallest cap you can accept instead'
      const restore = await replacedBy(change, context)
      noteZero('omitted', 'reads unset', change, context)
      ledger.saveQuarantined({ ...quarantined(intent, 'ZERO_NOT_STORED', error, context), ...(restore !== undefined && { restore }) })
      // What stood there has gone with our own write: that it does not show any more is nobody else's doing.
      const ours = reading.observed === change.from ? tried(intent, context) : 'kept'
      const ownership = ours === 'kept' ? givenUp(context.ownedAt(scopeKey(change.scope))) : ours
      return { ...(await end({ result: 'failed', error, unproven: true }, ownership)), isDropped: true }
    }
    case 'notLanded': {
      const error = `the write did not land: ${answer.why}`
      return { ...(await end({ result: 'failed', error, unproven: true }, tried(intent, context))), blame: 'service' }
    }
    case 'unmoved': {
      const error = `${change.to} was written and ${reading.observed} was read back`
      const isInVain = mayBeInVain(change) && (await wasInVain(change, context))
      const times = `${error}, ${IN_VAIN_TIMES} times in a row${hintOf(change)}`
      if (isInVain) ledger.saveQuarantined(quarantined(intent, 'WRITE_NOT_KEPT', times, context))
      const ended = await end({ result: 'verify_failed', error }, tried(intent, context))
      return { ...ended, blame: isInVain ? 'scope' : 'service' }
    }
    case 'foreign': {
      const error = `${change.to} was written and ${reading.observed} was read back`
      // What was accepted may be there all the same, over what somebody had set just before.
      const ours = answer.kind === 'lost' ? 'kept' : tried(intent, context)
      return { ...(await end({ result: 'verify_failed', error }, ours)), foreign: reading.observed }
    }
  }
}

/** The line that history keeps of a write. */
export function historyEntry(intent: Intent, { result, error, unproven }: Ended, at: Instant): HistoryEntry {
  const { scope, action, effect, from, to, cause, reason, source } = intent.change
  const { planId, digest, revision } = intent
  return {
    ...{ at, scope, action, effect, from, to, cause, result },
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error }),
    ...(unproven && { unproven }),
    ...(source && { source }),
    ...{ planId, digest, revision },
  }
}

/** A scope that is left alone from now on, as long as policy asks the same of it. */
export function quarantined({ change: { scope } }: Intent, code: string, error: string, { clock, entryAt }: OutcomeContext): Quarantined {
  const key = scopeKey(scope)
  return { scope, code, message: `${key}: ${error}`, entry: entryAt(key), at: clock.now() }
}

/**
 * A cap that we set stays ours even when policy has moved on since: the next plan then sees an orphan, or a policy change. What was cleared
 * or given back stays ours until a later reading says so too, because this one may be stale; only a clear that the service accepted, after
 * which the inherited value shows, is over, or it would be cleared for ever.
 */
export function ownershipOf(
  intent: Intent,
  { observed }: CapReading,
  answer: Answer,
  { clock, slots, desiredAt, ownedAt }: OutcomeContext,
): OwnedCap | 'released' | 'kept' {
  const { scope, to, from } = intent.change
  const key = scopeKey(scope)
  const owned = ownedAt(key)
  const isUnmoved = observed === from
  if (isUnmoved && answer === 'lost') return givenUp(owned)
  const before = setBefore(from, slots, key)
  const desired = desiredAt(key)
  const written = observed === to && to !== 'none' ? { written: true } : {}
  const shows = typeof observed === 'number' && to === 'none' && observed !== slots.inherited(key) ? observed : undefined
  if (desired && isSameEntry(desired.entry, intent.entry) && desired.origin.kind !== 'restore')
    return { ...ownedFrom(desired, owned, before, clock.now(), shows), ...written }
  if (isUnmoved) return 'released'
  if (to === 'none' || intent.entry.kind === 'restore') return givenUp(owned)
  const owner = ownerOf(intent.entry)
  return {
    scope,
    cap: to,
    owner,
    entry: intent.entry,
    verifiedAt: clock.now(),
    ...written,
    ...(owner === 'grant' && baselineOf(to, owned, before)),
  }
}

/** Ours still, under no policy entry. */
export const givenUp = (owned: OwnedCap | undefined): OwnedCap | 'kept' => (owned ? { ...owned, entry: GIVEN_UP } : 'kept')

/**
 * Not refused, and another value is read back: the reading may be stale, also of what somebody set just before. What was written is ours as
 * well, whatever asked for it, or it would be nobody's when policy drops the scope before it shows. What is given back is not ours.
 */
function tried({ change, entry }: Intent, context: OutcomeContext): OwnedCap | 'kept' {
  const { scope, from, to } = change
  const key = scopeKey(scope)
  const owned = context.ownedAt(key)
  if (to === 'none' || owned?.cap === to || entry.kind === 'restore') return 'kept'
  const isGrant = entry.kind === 'grant'
  // A grant gives back what stood there, also where that was not ours any more.
  if (owned && (!isGrant || owned.cap === from)) return withTried(owned, to, isGrant)
  const now = context.clock.now()
  const desired = context.desiredAt(key)
  const before = setBefore(from, context.slots, key)
  if (desired && isSameEntry(desired.entry, entry)) return { ...ownedFrom(desired, owned, before, now), entry: GIVEN_UP }
  return { scope, cap: to, owner: ownerOf(entry), entry: GIVEN_UP, verifiedAt: now, ...(isGrant && baselineOf(to, owned, before)) }
}

/** So many writes of one scope are looked through for what a 0 has replaced. */
const MOST_LOOKED_BACK = 20

/**
 * What stood at a scope before a 0 that was not kept: the next pass writes it again, also where the inherited cap is the same, because a 0
 * that does not show may still block.
 */
async function replacedBy(change: ScopeChange, { ledger, ownedAt }: OutcomeContext): Promise<Cap | undefined> {
  const old = change.from === 'none' ? await lastBefore(change, ledger) : change.from
  const was = old ?? ownedAt(scopeKey(change.scope))?.cap
  return was === undefined || was === 'none' || was === 0 ? undefined : was
}

/** A death or an outage on the way here has left nothing but what history remembers. */
async function lastBefore({ scope }: ScopeChange, ledger: Ledger): Promise<Cap | undefined> {
  for (const { from, to, result } of await ledger.history({ scope, limit: MOST_LOOKED_BACK })) {
    if (result === 'applied') return undefined
    if (to === 0 && from !== 'none') return from
  }
  return undefined
}

/** So often in a row the same write is taken for what this scope shows, and not for a stale reading. Choice. */
const IN_VAIN_TIMES = 3

/** A group that is cleared may show a team's cap that nobody declares; one that is to have a cap is not to be without it for a day. */
const mayBeInVain = ({ scope, to }: ScopeChange): boolean => scope.kind === 'user' || (scope.kind === 'group' && to === 'none')

/** The last writes of this scope were this very one, and none of them was kept. */
async function wasInVain({ scope, from, to }: ScopeChange, { ledger }: OutcomeContext): Promise<boolean> {
  const last = await ledger.history({ scope, limit: IN_VAIN_TIMES - 1 })
  const isSame = last.every((one) => one.result === 'verify_failed' && one.from === from && one.to === to)
  return isSame && last.length === IN_VAIN_TIMES - 1
}

const hintOf = ({ to }: ScopeChange): string => (to === 'none' ? '; perhaps an inherited cap shows here that no policy declares' : '')

/** What nothing known explains shows only what was taken for sure already. */
function noteInherited(change: ScopeChange, reading: CapReading, { ledger, clock, slots }: OutcomeContext): void {
  if (!slots.mayApply(scopeKey(change.scope), reading.observed)) return
  const evidence = `after ${scopeKey(change.scope)} was cleared it reads ${reading.observed}, the inherited cap`
  noteSeen(ledger, [{ aspect: 'reads', value: 'inherited', evidence }], clock)
}

/** Notes what became of a 0. */
export function noteZero(
  value: 'stored' | 'omitted' | 'rejected',
  what: string,
  { scope, from }: ScopeChange,
  { ledger, clock }: Pick<OutcomeContext, 'ledger' | 'clock'>,
): void {
  noteSeen(ledger, [{ aspect: 'zero', value, evidence: `${scopeKey(scope)} was written (${from} to 0) and ${what}` }], clock)
}
