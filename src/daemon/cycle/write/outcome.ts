// Records how a write ended: its line of history, the ownership of the cap, and a quarantine where the scope takes no write. It is the same for
// a write that was just read back and for an intent that a crash left open. The verdict itself is the table in core/plan/outcome.ts.
import type { HistoryEntry, Intent, Quarantined, ScopeChange } from '../../../core/model/change.ts'
import type { CapReading, Observed, OwnedCap } from '../../../core/model/observed.ts'
import { type Cap, GIVEN_UP, isSameEntry, ownerOf, type PolicyEntry } from '../../../core/model/policy.ts'
import { byScope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { End } from '../../../core/plan/breaker.ts'
import {
  type Answer,
  afterEnd,
  baselineOf,
  classify,
  ownedFrom,
  setBefore,
  stillToLand,
  type Verdict,
  type WriteEnd,
  withTried,
} from '../../../core/plan/outcome.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import { entriesOf } from '../../../core/plan/states.ts'
import type { Clock, Ledger, RecordsReader } from '../../../ports.ts'
import { noteSeen } from '../read.ts'
import { type DesiredState, isLeftAlone } from '../state.ts'

/** What outcomes are recorded in. */
export type OutcomeLedger = RecordsReader & Pick<Ledger, 'saveFact' | 'saveQuarantined' | 'recordOutcome' | 'history'>

/** What the outcome of a write depends on beside its read-back. */
export interface OutcomeContext extends Pick<Planned, 'slots' | 'desired' | 'owned'> {
  readonly ledger: OutcomeLedger
  readonly clock: Clock
  /** See `entriesOf`. */
  readonly entryAt: (key: ScopeKey) => PolicyEntry
}

/** How a write ended. `skipped`: the scope already has the cap, or has changed since the plan. */
export interface WriteResult extends WriteEnd {
  readonly error?: string
  /** The cause of a failure: the service or the network, the key, or perhaps only the scope. Absent: another client, or a 0 that was not kept. */
  readonly blame?: End | 'key'
  /** A value that is neither the old one nor the one that was written. */
  readonly foreign?: Observed
  /** It was a 0 that the service did not keep: the scope has lost its old cap. */
  readonly isDropped?: true
}

/** The part of a result that history keeps. */
type Ended = WriteEnd & Pick<HistoryEntry, 'result' | 'error'>

/** Judges a write by its read-back. */
export async function verdictOf(change: ScopeChange, { observed }: CapReading, answer: Answer, context: OutcomeContext): Promise<Verdict> {
  const { model } = context.slots
  const key = scopeKey(change.scope)
  // A cap may also come from a group that cannot be read or listed. Of the end of a clear such a group tells nothing.
  const mayInherit = change.to !== 'none' && context.slots.mayBeInherited(key)
  const mayApply = mayInherit || context.slots.mayApply(key, observed) || context.owned.get(key)?.shows === observed
  // How often it was so before matters only where the reading shows the old value.
  const isInVain = observed === change.from && (await wasInVain(change, context))
  const isPerson = change.scope.kind === 'user'
  const desired = context.desired.get(key)
  const isAsked = desired?.cap === change.to && desired.origin.kind !== 'restore'
  return classify({ ...change, answer }, { observed, mayApply, isPerson, isAsked, model, wasInVain: isInVain })
}

/**
 * Judges a write, records all that follows, and returns how it ended. The intent stays open only where the scope could not be read. `isRetried`:
 * earlier attempts may land yet.
 */
export async function conclude(
  intent: Intent,
  reading: CapReading,
  answer: { readonly kind: Answer; readonly why: string; readonly isRetried?: boolean },
  context: OutcomeContext,
): Promise<WriteResult> {
  const { change } = intent
  const { ledger, clock } = context
  const now = clock.now()
  const end = async (ended: Ended, ownership: OwnedCap | 'released' | 'kept'): Promise<Ended> => {
    const { scope, to } = change
    const before = {
      ...{ ...context.owned.get(scopeKey(scope)), scope, shows: unexplainedAfter(change, reading, context) },
      ...(to !== 'none' && { baseline: to }),
    }
    const toCome = () => stillToLand(before, ledger.writtenLately, context.slots.model, now)
    const left = ownership === 'released' ? (toCome() ?? ownership) : ownership
    await ledger.recordOutcome(intent, historyEntry(intent, ended, now), left)
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
      return end(
        { result: 'applied', unproven: answer.isRetried && change.to !== 'none' },
        ownershipOf(intent, reading, answer.kind, context),
      )
    }
    case 'zeroDropped': {
      const error = 'the service reads a cap of 0 back as unset, so 0 cannot be kept here; write the smallest cap you can accept instead'
      const restore = await replacedBy(change, context)
      noteZero('omitted', 'reads unset', change, context)
      ledger.saveQuarantined({ ...quarantined(intent, 'ZERO_NOT_STORED', error, context), ...(restore !== undefined && { restore }) })
      // Our own write removed the old cap, so its absence is no foreign change.
      const attempted = reading.observed === change.from ? tried(intent, context) : 'kept'
      const ownership = attempted === 'kept' ? givenUp(context.owned.get(scopeKey(change.scope))) : attempted
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
      // The write may be there all the same, over a value that another client had set just before, or land yet, and replace that value then.
      const found = answer.kind === 'lost' && reading.observed !== 'unknown' ? reading.observed : change.from
      const ended = await end({ result: 'verify_failed', error, unproven: answer.kind === 'lost' }, tried(intent, context, found))
      return { ...ended, foreign: reading.observed }
    }
  }
}

/** Longer than any sweep that began before the clock was set back. Choice. */
const SET_BACK_MS = 3_600_000

/** An intent from the future was recorded before the clock was set back: a reading of the last hour is later than it. */
const begunAt = ({ at }: Intent, now: Instant): Instant => (at > now ? now - SET_BACK_MS : at)

interface Recovery extends Pick<OutcomeContext, 'ledger' | 'clock'> {
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** Earlier readings prove nothing, because a write of another replica may land until then. */
  readonly quietAt?: Instant
}

/** Closes every open intent whose scope was read since, and returns those. `gone`: scopes that the service does not know. */
export async function recoverIntents(
  { ledger, clock, readings, quietAt }: Recovery,
  desired: DesiredState,
  gone: DesiredState['unknown'],
): Promise<readonly Intent[]> {
  const { resolution, slots, owned } = desired
  const context = { ledger, clock, slots, owned, desired: byScope(resolution.desired), entryAt: entriesOf(resolution) }
  const closed: Intent[] = []
  for (const intent of ledger.openIntents()) {
    const { scope } = intent.change
    const reading = readings.get(scopeKey(scope))
    const sinceAt = begunAt(intent, clock.now())
    if (!reading || reading.readAt < Math.max(sinceAt, quietAt ?? sinceAt)) continue
    const isGone = gone.has(scopeKey(scope))
    if (reading.failure && !isGone && !isLeftAlone(scope, desired)) continue
    if (reading.failure) await closeUnread(intent, reading, isGone, context)
    // It was perhaps not the first attempt that has landed.
    else await conclude(intent, reading, { kind: 'lost', why: 'its answer was lost', isRetried: true }, context)
    closed.push(intent)
  }
  return closed
}

/** A scope that is gone has no cap; a cap on a scope that is only left alone stays ours. */
async function closeUnread(intent: Intent, reading: CapReading, isGone: boolean, context: OutcomeContext): Promise<void> {
  const error = `the answer to this write was lost; the scope cannot be read any more: ${reading.failure?.message}`
  const ownership = isGone ? 'kept' : ownershipOf(intent, reading, 'lost', context)
  const ended = isGone ? ({ result: 'failed', error, unproven: true } as const) : ({ result: 'ambiguous', error } as const)
  await context.ledger.recordOutcome(intent, historyEntry(intent, ended, context.clock.now()), ownership)
}

/** The line of history of a write. */
export function historyEntry(intent: Intent, { result, error, unproven }: Ended, at: Instant): HistoryEntry {
  const { scope, action, effect, from, to, cause, reason, source } = intent.change
  const { planId, digest, revision } = intent
  // The order of the fields is theirs in JSON.
  const ending = { result, reason, error, unproven: unproven || undefined }
  return { at, scope, action, effect, from, to, cause, ...ending, source, planId, digest, revision }
}

/** A scope that is left alone from now on, for as long as policy asks the same of it, with what the grant found that has ended there. */
export function quarantined({ change: { scope } }: Intent, code: string, error: string, context: OutcomeContext): Quarantined {
  const key = scopeKey(scope)
  const { clock, owned } = context
  const entry = context.entryAt(key)
  const restore = entry.kind === 'grant' ? undefined : owned.get(key)?.found
  return { scope, code, message: `${key}: ${error}`, entry, at: clock.now(), ...(restore !== undefined && { restore }) }
}

/**
 * Decides the ownership of a cap that was written. A cap that we set stays ours also when policy has changed since: the next plan then finds an
 * orphan, or a policy change. What an accepted write has ended is ours no more from this outcome on, whatever a later reading shows: another
 * client may set the same value. Where the answer was lost the cap stays ours until a later reading confirms its end, because this one may be stale.
 */
export function ownershipOf(
  { change, entry, base }: Intent,
  reading: CapReading,
  answer: Answer,
  { clock, slots, ...known }: OutcomeContext,
): OwnedCap | 'released' | 'kept' {
  const { scope, to, from } = change
  const key = scopeKey(scope)
  const [owned, desired] = [known.owned.get(key), known.desired.get(key)]
  const { observed } = reading
  const isUnmoved = observed === from
  if (isUnmoved && answer === 'lost') return givenUp(owned)
  const before = setBefore(from, slots, key)
  const written = observed === to && to !== 'none' ? { written: true } : {}
  if (desired && isSameEntry(desired.entry, entry) && desired.origin.kind !== 'restore')
    return { ...ownedFrom(desired, owned, before, clock.now(), unexplainedAfter(change, reading, { slots })), ...written }
  if (isUnmoved) return 'released'
  if (to === 'none' || entry.kind === 'restore') return answer === 'lost' ? givenUp(owned) : afterEnd(to, owned, clock.now())
  const owner = ownerOf(entry)
  const baseline = owner === 'grant' && baselineOf(to, owned, before, base)
  return { scope, cap: to, owner, entry, verifiedAt: clock.now(), ...written, ...baseline }
}

/** The cap that shows after a clear and that no known scope explains. */
const unexplainedAfter = ({ scope, to }: ScopeChange, { observed }: CapReading, { slots }: Pick<OutcomeContext, 'slots'>) =>
  typeof observed === 'number' && to === 'none' && observed !== slots.inherited(scopeKey(scope)) ? observed : undefined

/** The cap stays ours, but under no policy entry. */
const givenUp = (owned: OwnedCap | undefined): OwnedCap | 'kept' => (owned ? { ...owned, entry: GIVEN_UP } : 'kept')

/**
 * Decides the ownership where the write was not refused and another value is read back. The reading may be stale, so the written cap is ours as
 * well; else nobody would own it if policy dropped the scope before it shows. A cap that is given back is not ours. `found`: what it replaces.
 */
function tried({ change, entry, base }: Intent, context: OutcomeContext, found = change.from): OwnedCap | 'kept' {
  const { scope, from, to } = change
  const key = scopeKey(scope)
  const owned = context.owned.get(key)
  if (to === 'none' || owned?.cap === to || entry.kind === 'restore') return 'kept'
  const isGrant = entry.kind === 'grant'
  // A grant gives back the cap from before it, also where that was not ours any more.
  if (owned && (!isGrant || owned.cap === from)) return withTried(owned, to, isGrant)
  const now = context.clock.now()
  const desired = context.desired.get(key)
  const before = setBefore(found, context.slots, key)
  if (desired && isSameEntry(desired.entry, entry)) return { ...ownedFrom(desired, owned, before, now), entry: GIVEN_UP }
  return { scope, cap: to, owner: ownerOf(entry), entry: GIVEN_UP, verifiedAt: now, ...(isGrant && baselineOf(to, owned, before, base)) }
}

/** At most this many writes of a scope are searched for the cap that a 0 has replaced. */
const MOST_SEARCHED = 20

/**
 * The cap that a 0 replaced before the service dropped the 0. The next pass writes it again, also where the inherited cap is the same, because a
 * 0 that does not show may still block.
 */
async function replacedBy(change: ScopeChange, { ledger, owned, entryAt }: OutcomeContext): Promise<Cap | undefined> {
  const ours = owned.get(scopeKey(change.scope))
  // What a grant gave is over with it: what it stood over comes back.
  const isOver = ours?.owner === 'grant' && entryAt(scopeKey(change.scope)).kind !== 'grant'
  const from = isOver ? (ours.found ?? ours.baseline ?? 'none') : change.from === 'none' ? await lastBefore(change, ledger) : change.from
  const before = from ?? ours?.cap
  return before === 'none' || before === 0 ? undefined : before
}

/** After a crash or an outage only history remembers the cap. */
async function lastBefore({ scope }: ScopeChange, ledger: OutcomeLedger): Promise<Cap | undefined> {
  for (const { from, to, result } of await ledger.history({ scope, limit: MOST_SEARCHED })) {
    if (result === 'applied') return undefined
    if (to === 0 && from !== 'none') return from
  }
  return undefined
}

/** After so many equal writes in a row the old value is no longer taken for a stale reading. Choice. */
const IN_VAIN_TIMES = 3

/** A cleared group may show an undeclared cap of the team. A group that shall have a cap must not be quarantined for a day without it. */
const mayBeInVain = ({ scope, to }: ScopeChange): boolean => scope.kind === 'user' || (scope.kind === 'group' && to === 'none')

/** The last writes of this scope were equal to this one, and none was kept. */
async function wasInVain({ scope, from, to }: ScopeChange, { ledger }: OutcomeContext): Promise<boolean> {
  const last = await ledger.history({ scope, limit: IN_VAIN_TIMES - 1 })
  const isSame = last.every((one) => one.result === 'verify_failed' && one.from === from && one.to === to)
  return isSame && last.length === IN_VAIN_TIMES - 1
}

const hintOf = ({ to }: ScopeChange): string => (to === 'none' ? '; perhaps an inherited cap shows here that no policy declares' : '')

/** Notes that a read shows an inherited cap, where a known ancestor explains the value. */
function noteInherited(change: ScopeChange, reading: CapReading, { ledger, clock, slots }: OutcomeContext): void {
  if (!slots.mayApply(scopeKey(change.scope), reading.observed)) return
  const evidence = `after ${scopeKey(change.scope)} was cleared it reads ${reading.observed}, the inherited cap`
  noteSeen(ledger, [{ aspect: 'reads', value: 'inherited', evidence }], clock)
}

/** Notes how the service treats a 0. */
export function noteZero(
  value: 'stored' | 'omitted' | 'rejected',
  what: string,
  { scope, from }: ScopeChange,
  { ledger, clock }: Pick<OutcomeContext, 'ledger' | 'clock'>,
): void {
  noteSeen(ledger, [{ aspect: 'zero', value, evidence: `${scopeKey(scope)} was written (${from} to 0) and ${what}` }], clock)
}
