// One change, from the second look to the outcome in the ledger:
//
//   re-read (when the reading is old) -> equals `from`? -> intent (durable) -> write -> read back -> outcome
//
// An answer that was lost is resolved by reading: the value is there, or it is not and the write is sent again, or somebody else's is.
// When even reading fails, the intent stays open and the next cycle finds it. Nothing is ever written without an intent before it.

import type { SeenValue } from '../../core/interpret/seen.ts'
import type { Change, HistoryEntry, Intent, Quarantined } from '../../core/model/change.ts'
import type { ApiErrorKind, CapReading, OwnedCap } from '../../core/model/observed.ts'
import type { Cap } from '../../core/model/policy.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { ownedFrom, setBefore } from '../../core/plan/diff.ts'
import type { WriteOutcome } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import type { ApplyRun, WriteResult } from './apply.ts'
import { keepReading } from './read.ts'
import { noteSeen, seenIn } from './seen.ts'
import { isVerified } from './verified.ts'

/** A reading younger than this is not read again before the write (choice). */
export const FRESH_MS = 5_000

/** How often a write whose answer was lost, and which had not landed, is sent in all. */
export const WRITE_ATTEMPTS = 3

/** A read-back that still shows the old value is repeated once after this, because some reads are stale. */
export const STALE_MS = 1_000

/** Carries out one change. Undefined when the run was halted and nothing can be said of the change. */
export async function writeChange(change: Change, run: ApplyRun): Promise<WriteResult | undefined> {
  try {
    const seen = await secondLook(change, run)
    if (seen) return seen
    const intent = recordIntent(change, run)
    return await writeAndVerify(change, intent, run)
  } catch (error) {
    if (error instanceof LedgerError) run.halted = { interrupted: 'ledger', fatal: error.message }
    else if (run.cut?.aborted || run.stop?.aborted) run.halted = { interrupted: 'stopped', ...run.halted }
    else throw error
    return undefined
  }
}

/** Is it still as the plan saw it? A result means that there is nothing to write. */
async function secondLook(change: Change, run: ApplyRun): Promise<WriteResult | undefined> {
  const key = scopeKey(change.scope)
  const known = run.readings.get(key)
  const isFresh = known !== undefined && run.clock.now() - known.readAt < FRESH_MS && run.clock.now() >= known.readAt
  const reading = isFresh ? known : await run.client.readCap(change.scope, run.stop, 'urgent')
  keepReading(run.readings, reading)
  if (reading.failure) {
    const error = `not written, because it could not be read again: ${reading.failure.message}`
    return { result: 'failed', error, ...blameOf(reading.failure.kind) }
  }
  if (reading.observed === change.from) return undefined
  if (reading.observed === change.to) return { result: 'skipped' }
  return { result: 'skipped', error: `changed from ${change.from} to ${reading.observed} since it was planned`, foreign: reading.observed }
}

const entryOf = ({ scope }: Change, { planned }: ApplyRun): string => planned.differences.get(scopeKey(scope))?.entry ?? ''

function recordIntent(change: Change, run: ApplyRun, entry = entryOf(change, run)): Intent {
  const { plan } = run.planned
  return run.ledger.recordIntent({
    at: run.clock.now(),
    planId: plan.id,
    change,
    entry,
    digest: plan.policyDigest,
    revision: plan.revision,
  })
}

async function writeAndVerify(change: Change, intent: Intent, run: ApplyRun): Promise<WriteResult | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await run.client.writeCap(change.scope, change.to, run.cut)
    if (outcome.kind === 'refused') return refused(change, intent, outcome, run)
    if (run.leaving?.()) return halt(run)
    const reading = await readBack(change, run)
    keepReading(run.readings, reading)
    if (reading.failure) {
      const error = `written, but it could not be read back: ${reading.failure.message}`
      return { result: 'ambiguous', error, ...blameOf(reading.failure.kind) }
    }
    const mayRepeat = outcome.kind === 'ambiguous' && attempt < WRITE_ATTEMPTS && !run.stop?.aborted
    if (reading.observed === change.from && !isZeroDropped(change, reading, run) && mayRepeat) continue
    const result = conclude(change, intent, reading, outcome, run)
    return isZeroDropped(change, reading, run) ? giveBack(change, intent, result, run) : result
  }
}

/**
 * The 0 is not kept here, but it has replaced what stood there: that goes back at once, or somebody would have more than before. Only then the
 * scope is left alone, so that whatever comes between, a death or a service that is gone, is made good by a later cycle.
 */
async function giveBack(change: Change, intent: Intent, failed: WriteResult, run: ApplyRun): Promise<WriteResult> {
  const leaveAlone = (): void => {
    run.ledger.saveQuarantined(quarantined(change, intent, 'ZERO_NOT_STORED', failed.error ?? '', run.clock.now()))
  }
  const old = change.from === 'none' ? replaced(change, run) : change.from
  // Where caps are copied there is nothing wider to fall back to.
  const isThere = run.capSemantics === 'layered' && old === run.wider(scopeKey(change.scope))
  if (old === undefined || old === 'none' || old === 0 || isThere) {
    leaveAlone()
    return failed
  }
  const back: Change = { ...change, action: 'set', effect: 'set', from: 'none', to: old, healing: false, grantEnd: false }
  const result = await writeAndVerify(back, recordIntent(back, run, `restore|${old}`), run)
  // What is wrong with the scope was said already.
  const refusal = run.refusals.findIndex((one) => one.scope === change.scope && one.entry === `restore|${old}`)
  if (refusal >= 0) run.refusals.splice(refusal, 1)
  if (result?.result === 'applied' || result?.blame === 'scope' || result?.foreign !== undefined) leaveAlone()
  const told = result?.result === 'applied' ? `the ${old} that stood there was written back` : `${old} could not be written back`
  return { ...failed, error: [failed.error, told, result?.error].filter((text) => text !== undefined).join('; ') }
}

/** So many writes of one scope are looked through for what a 0 has replaced. */
const MOST_LOOKED_BACK = 20

/** A death or an outage on the way here has left nothing but what the ledger remembers. */
function replaced({ scope }: Change, run: ApplyRun): Cap | undefined {
  for (const { from, to, result } of run.ledger.history({ scope, limit: MOST_LOOKED_BACK })) {
    if (result === 'applied') break
    if (to === 0 && from !== 'none') return from
  }
  return run.planned.owned.get(scopeKey(scope))?.cap
}

const halt = (run: ApplyRun): undefined => {
  run.halted = { interrupted: 'stopped', ...run.halted }
  return undefined
}

async function readBack(change: Change, run: ApplyRun): Promise<CapReading> {
  const reading = await run.client.readCap(change.scope, run.cut, 'urgent')
  if (reading.observed !== change.from || isZeroDropped(change, reading, run)) return reading
  await run.clock.sleep(STALE_MS, run.cut)
  return run.client.readCap(change.scope, run.cut, 'urgent')
}

/**
 * Some services read a stored 0 back as "no cap". Where a 0 was seen to be kept, one that shows nothing, as before, is a stale reading until
 * it has been so a few times.
 */
function isZeroDropped(change: Change, reading: CapReading, run: ApplyRun): boolean {
  if (change.to !== 0 || reading.observed !== 'none') return false
  const isStale = change.from === 'none' && seenIn(run.ledger).zero?.value === 'stored' && !wasInVain(change, run)
  return !isStale
}

function conclude(change: Change, intent: Intent, reading: CapReading, outcome: WriteOutcome, run: ApplyRun): WriteResult {
  if (isVerified(change, reading, run.wider)) {
    const ownership = ownershipAfter(change, intent, reading, outcome, run)
    run.ledger.recordOutcome(intent, historyEntry(intent, 'applied', run.clock.now()), ownership)
    if (reading.observed !== change.to) noteInheritedReads(change, reading, run)
    if (reading.observed === 0) noteZero('stored', 'reads 0', change, run)
    return { result: 'applied' }
  }
  const now = run.clock.now()
  if (isZeroDropped(change, reading, run)) {
    const error = 'the service reads a cap of 0 back as unset, so 0 cannot be kept here; write the smallest cap you can accept instead'
    run.ledger.recordOutcome(intent, historyEntry(intent, 'failed', now, error), tried(change, intent, reading, run))
    noteZero('omitted', 'reads unset', change, run)
    return { result: 'failed', error, landed: true }
  }
  if (outcome.kind === 'ambiguous' && reading.observed === change.from) {
    const error = `the write did not land (${WRITE_ATTEMPTS} times sent at most): ${outcome.failure.message}`
    run.ledger.recordOutcome(intent, historyEntry(intent, 'failed', now, error), 'kept')
    return { result: 'failed', error, blame: 'service' }
  }
  const error = `${change.to} was written and ${reading.observed} was read back`
  const isInVain = mayBeInVain(change) && wasInVain(change, run)
  run.ledger.recordOutcome(intent, historyEntry(intent, 'verify_failed', now, error), tried(change, intent, reading, run))
  if (isInVain) {
    run.ledger.saveQuarantined(
      quarantined(change, intent, 'WRITE_NOT_KEPT', `${error}, ${IN_VAIN_TIMES} times in a row${hintOf(change)}`, now),
    )
    return { result: 'verify_failed', error, blame: 'scope' }
  }
  // Accepted, and nothing has changed: that is none of the scope's doing. A third value is somebody else's.
  if (reading.observed === change.from) return { result: 'verify_failed', error, blame: 'service' }
  return { result: 'verify_failed', error, foreign: reading.observed }
}

/**
 * Accepted, and the old value is read back: the reading may be stale. What was written is ours as well, or it would be nobody's when policy
 * drops the scope before it shows.
 */
function tried({ scope, from, to }: Change, { entry }: Intent, { observed }: CapReading, run: ApplyRun): OwnedCap | 'kept' {
  const owned = run.planned.owned.get(scopeKey(scope))
  if (observed !== from || to === 'none' || owned?.cap === to || !entry.startsWith('rule')) return 'kept'
  return owned ? { ...owned, tried: to } : { scope, cap: to, owner: 'policy', entry: 'given up', verifiedAt: run.clock.now() }
}

/** So often in a row the same write is taken for what this scope shows, and not for a stale reading. Choice. */
const IN_VAIN_TIMES = 3

/** A group that is cleared may show a team's cap that nobody declares; one that is to have a cap is not to be without it for a day. */
const mayBeInVain = ({ scope, to }: Change): boolean => scope.kind === 'user' || (scope.kind === 'group' && to === 'none')

/** The last writes of this scope were this very one, and none of them was kept. */
function wasInVain({ scope, from, to }: Change, { ledger }: ApplyRun): boolean {
  const last = ledger.history({ scope, limit: IN_VAIN_TIMES - 1 })
  const isSame = last.every((one) => one.result === 'verify_failed' && one.from === from && one.to === to)
  return isSame && last.length === IN_VAIN_TIMES - 1
}

const hintOf = ({ to }: Change): string => (to === 'none' ? '; perhaps a wider cap shows here that no policy declares' : '')

function refused(
  change: Change,
  intent: Intent,
  outcome: Exclude<WriteOutcome, { kind: 'accepted' }>,
  run: ApplyRun,
): WriteResult | undefined {
  const { kind, message, unsent } = outcome.failure
  const wasHalted = run.halted.interrupted === 'refused'
  if (unsent || kind === 'auth') run.halted = { interrupted: 'refused', refusal: message, ...run.halted }
  // Nothing was written, and one line of history is enough to say why.
  if (unsent || (kind === 'auth' && wasHalted)) {
    run.ledger.recordOutcome(intent, undefined, 'kept')
    return undefined
  }
  const at = run.clock.now()
  run.ledger.recordOutcome(intent, historyEntry(intent, 'failed', at, message), 'kept')
  // Perhaps only the scope itself is to blame. Anything else is tried again in the next cycle.
  if (kind === 'invalid' && change.to === 0) noteZero('rejected', `is refused: ${message}`, change, run)
  if (kind === 'invalid') run.refusals.push(quarantined(change, intent, 'CAP_REFUSED', message, at))
  if (kind === 'not_found') run.refusals.push(quarantined(change, intent, 'SCOPE_UNKNOWN', message, at))
  return { result: 'failed', error: message, ...blameOf(kind) }
}

/** A key that is refused stops the writes by itself. */
function blameOf(kind: ApiErrorKind): Pick<WriteResult, 'blame'> {
  if (kind === 'auth') return {}
  return { blame: kind === 'invalid' || kind === 'not_found' ? 'scope' : 'service' }
}

const quarantined = ({ scope }: Change, { entry }: Intent, code: string, error: string, at: Instant): Quarantined => ({
  scope,
  code,
  message: `${scopeKey(scope)}: ${error}`,
  entry,
  at,
})

/**
 * A cap that was cleared or given back stays in the ledger, under no policy entry, until a later reading says so too: one stale reading
 * after a write that was lost looks just the same.
 */
export const givenUp = (owned: OwnedCap | undefined): OwnedCap | 'kept' => (owned ? { ...owned, entry: 'given up' } : 'kept')

/**
 * A clear after which the same value is read has left what applies from a wider scope, if it has landed at all. Only the service's own word
 * tells: accepted, it is over, or it would be cleared for ever; its answer lost, it stays ours and is cleared again.
 */
function ownershipAfter(change: Change, intent: Intent, reading: CapReading, outcome: WriteOutcome, run: ApplyRun) {
  const key = scopeKey(change.scope)
  const owned = run.planned.owned.get(key)
  const desired = run.planned.desired.get(key)
  const isUnmoved = reading.observed === change.from
  if (isUnmoved && outcome.kind !== 'accepted') return givenUp(owned)
  if (!desired || desired.entry !== intent.entry || desired.origin.kind === 'restore') return isUnmoved ? 'released' : givenUp(owned)
  return ownedFrom(desired, owned, setBefore(change.from, run.wider(key)), run.clock.now())
}

function noteInheritedReads(change: Change, reading: CapReading, run: ApplyRun): void {
  if (run.ledger.fact('inheritedReadsSeen')) return
  const evidence = `after ${scopeKey(change.scope)} was cleared it reads ${reading.observed}, the wider cap`
  run.ledger.saveFact('inheritedReadsSeen', { at: run.clock.now(), evidence })
}

function noteZero(value: SeenValue<'zero'>, what: string, { scope, from }: Change, run: ApplyRun): void {
  noteSeen(run.ledger, [{ aspect: 'zero', value, evidence: `${scopeKey(scope)} was written (${from} to 0) and ${what}` }], run.clock)
}

/** The line that history keeps of a write. */
export function historyEntry(intent: Intent, result: HistoryEntry['result'], at: number, error?: string): HistoryEntry {
  const { scope, action, effect, from, to, cause, reason, source } = intent.change
  return {
    at,
    scope,
    action,
    effect,
    from,
    to,
    cause,
    result,
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error }),
    ...(source && { source }),
    planId: intent.planId,
    digest: intent.digest,
    revision: intent.revision,
  }
}
