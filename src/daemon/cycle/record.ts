// Records what a plan found out in the ledger: caps that became ours or ceased to be, approvals, holds shown, drift. It writes only what
// has changed, so that a quiet cycle costs no disk write, and it never calls the service.

import { isDeepStrictEqual } from 'node:util'
import { type Approval, type Change, type HeldChange, type HistoryEntry, LANDING_MS } from '../../core/model/change.ts'
import type { ReconcileResult } from '../../core/model/events.ts'
import type { LedgerFacts } from '../../core/model/facts.ts'
import { type CapReading, mayBeSet, type Observed, type OwnedCap } from '../../core/model/observed.ts'
import { type Cap, declaredCount, keptRevision } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Instant, notAhead } from '../../core/model/units.ts'
import { APPROVAL_LIFE_MS, creditsMoved } from '../../core/plan/approval.ts'
import { isLeftTo } from '../../core/plan/contested.ts'
import { isInDoubt, mayHaveLanded, setBefore, stillToLand, withTried } from '../../core/plan/outcome.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { noteRules, shownSince } from '../../core/plan/reviewed.ts'
import type { ChangesShown, HoldsShown } from '../../core/plan/snapshot.ts'
import { approvedCount } from '../../core/resolve/roster.ts'
import type { Ledger } from '../../ports.ts'
import type { WorkspaceSettings } from '../config/settings.ts'
import type { CycleRun, Pass } from './options.ts'
import { countReading, type DesiredState, openBaseline, rulesNow, type WorkspaceState } from './state.ts'

/** Records what a plan shows to people who may approve it; it waits for the next commit. */
export function recordShown(planned: Planned, { usage }: WorkspaceState, ledger: Ledger, now: Instant): void {
  const doubted = usage?.doubted && approvedCount(usage.doubted.roster)
  saveNews(ledger, 'holdsShown', holdsShown(planned, ledger.fact('holdsShown') ?? {}, doubted, now), {})
  saveNews(ledger, 'changesShown', changesShown(planned, ledger.fact('changesShown') ?? {}, now), {})
}

/** Records what a plan found out under its policy, and the deals of pools; it waits for the next commit. `apply` does it once the person agrees. */
export function recordPlan({ planned, desired }: Pass, { workspace: { ledger, clock }, state }: CycleRun): void {
  const now = clock.now()
  // It shows again, so the next reading that does not show it is the first.
  const adopted = [...desired.owned.values()].flatMap(({ missedAt, ...owned }) => {
    const isShown = state.readings.get(scopeKey(owned.scope))?.observed === owned.cap
    return missedAt !== undefined && isShown ? [owned] : []
  })
  const note = (found: OwnedCap, before: OwnedCap | undefined): void => {
    if (!isDeepStrictEqual(found, { ...before, verifiedAt: found.verifiedAt })) adopted.push(found)
  }
  for (const one of planned.diff.adopted) {
    const key = scopeKey(one.scope)
    const before = desired.owned.get(key)
    const missed = one.cap === 'none' ? firstMissed(before, state.readings.get(key)) : undefined
    note(missed ?? withReplaced(withBaseline(one, desired, ledger, now), before, ledger, now), before)
  }
  const released: ScopeKey[] = []
  for (const key of planned.diff.released) {
    const [owned, reading] = [desired.owned.get(key), state.readings.get(key)]
    if (!owned) continue
    const kept = firstMissed(owned, reading)
    const { writtenLately } = ledger
    const ours = kept ?? (mayBeStale(owned, reading, ledger, now) ? owned : stillToLand(owned, writtenLately, desired.slots.model, now))
    if (ours) note(ours, owned)
    else released.push(key)
  }
  if (adopted.length > 0) ledger.saveOwned(adopted)
  if (released.length > 0) ledger.releaseOwned(released)
  if (desired.quarantine.over.length > 0) ledger.releaseQuarantined(desired.quarantine.over)
  recordEnvelopes(state, ledger)
  saveNews(ledger, 'pools', state.pools, {})
  saveNews(ledger, 'driftSince', driftSince(planned, ledger.fact('driftSince') ?? {}), {})
  saveNews(ledger, 'unreadSince', unreadSince(planned, ledger.fact('unreadSince') ?? {}, now), {})
  saveNews(ledger, 'contested', stillContested(planned, ledger.fact('contested') ?? {}, now), {})
  // Without a roster the plan found out nothing about people.
  if (!state.usage) return
  countReading(state, desired.resolution)
  recordCounted(state, ledger)
}

/** Records what was counted over several readings. */
export function recordCounted({ conflictsGone, conflictGroups, conditions }: WorkspaceState, ledger: Ledger): void {
  saveNews(ledger, 'conflictsGone', conflictsGone, {})
  saveNews(ledger, 'conflictGroups', conflictGroups, {})
  saveNews(ledger, 'conditions', conditions, {})
}

/**
 * A grant's cap that is found in place may come from a write of ours that landed late or was read back too early. Then the grant gives back at
 * its end the cap from before that write; its own cap as baseline would never end.
 */
function withBaseline(adopted: OwnedCap, { owned, slots }: DesiredState, ledger: Ledger, now: Instant): OwnedCap {
  const key = scopeKey(adopted.scope)
  if (adopted.baseline !== adopted.cap || adopted.baselineIsOurs || owned.has(key)) return adopted
  const last = lastWrite(adopted.scope, ledger, now)
  const isOurs = last !== undefined && isInDoubt(last) && last.to === adopted.cap
  return isOurs ? { ...adopted, baseline: setBefore(last.from, slots, key) } : adopted
}

/** Contested scopes, also those that show our value now: the next foreign change within the day is left alone as well. */
const stillContested = (planned: Planned, before: LedgerFacts['contested'], now: Instant): LedgerFacts['contested'] => ({
  ...Object.fromEntries(Object.entries(before).filter(([, contest]) => isLeftTo(contest, now))),
  ...Object.fromEntries(planned.contested),
})

/** One reading may be stale: a cap that we wrote and that does not show stays ours until a second reading does not show it either. */
function firstMissed(owned: OwnedCap | undefined, reading: CapReading | undefined): OwnedCap | undefined {
  if (!owned?.written || typeof owned.cap !== 'number' || !reading) return undefined
  const { missedAt = reading.readAt } = owned
  return missedAt === reading.readAt ? { ...owned, missedAt } : undefined
}

/** A cap stays ours on a reading that may be stale or that is older than the last write. */
function mayBeStale(owned: OwnedCap, reading: CapReading | undefined, ledger: Ledger, now: Instant): boolean {
  const last = lastWrite(owned.scope, ledger, now)
  if (!reading || !last || !mayBeSet(owned)) return false
  return last.from === reading.observed || reading.readAt <= last.at
}

/**
 * A stale reading may show the value that our last write replaced: the value that was written may be there, and is ours as well. Not where the
 * reading shows another one that was tried.
 */
function withReplaced(found: OwnedCap, before: OwnedCap | undefined, ledger: Ledger, now: Instant): OwnedCap {
  const last = lastWrite(found.scope, ledger, now)
  if (found.tried !== undefined || last?.from !== found.cap || last.to === 'none' || last.to === found.cap) return found
  const isGrants = before?.cap === last.to ? before.owner === 'grant' : before?.tried === last.to && before.triedByGrant === true
  return withTried(found, last.to, isGrants)
}

type LastWrite = Pick<HistoryEntry, 'from' | 'to' | 'at' | 'result' | 'unproven'>

/** Our last write of a scope that may have landed, for as long as a reading may still miss it. A write whose outcome is not recorded yet comes first. */
function lastWrite(scope: Scope, ledger: Ledger, now: Instant): LastWrite | undefined {
  const key = scopeKey(scope)
  const open = ledger.openIntents().findLast(({ change }) => scopeKey(change.scope) === key)
  if (open) return { from: open.change.from, to: open.change.to, at: open.at, result: 'ambiguous' }
  return ledger.writtenLately(scope, now - LANDING_MS).find(mayHaveLanded)
}

/** Records approvals. It is a step of its own, because a person who declines the plan must leave no release behind. */
export function recordApprovals(planned: Planned, ledger: Ledger): void {
  const known = new Map(ledger.approvals().map((one) => [one.id, JSON.stringify(one)]))
  const now = planned.plan.createdAt
  for (const approval of planned.approvals.map((one) => withoutPast(one, now))) {
    if (known.get(approval.id) !== JSON.stringify(approval)) ledger.saveApproval(approval)
    known.delete(approval.id)
  }
  // The policy does not list the others any more: an approval that is listed again counts from then.
  for (const one of ledger.approvals()) if (known.has(one.id) && !one.withdrawn) ledger.saveApproval({ ...one, withdrawn: true })
}

/** An approval that has ended releases nothing: after a day only its id is kept, to answer a policy that still lists it. */
function withoutPast(approval: Approval, now: Instant): Approval {
  const { beside, releasedAt, ...rest } = approval
  const at = releasedAt === undefined ? {} : { releasedAt: notAhead(releasedAt, now) }
  const isPast = approval.state !== 'pending' && now - (releasedAt ?? approval.approvedAt) > LANDING_MS
  return isPast ? { ...rest, ...at, released: [] } : { ...rest, ...at, beside }
}

/** Deals of which no guard holds a change are reviewed: later deals of the pool may move within them. */
export function recordReviews({ passedDeals }: Planned, state: WorkspaceState, ledger: Ledger): void {
  if (passedDeals.length === 0) return
  const passed = new Map(passedDeals.map(({ name, key }) => [name, key]))
  const pools = Object.entries(state.pools)
  state.pools = Object.fromEntries(pools.map(([name, one]) => [name, { ...one, reviewed: passed.get(name) ?? one.reviewed }]))
  saveNews(ledger, 'pools', state.pools, {})
}

function holdsShown(planned: Planned, before: HoldsShown, doubted: number | undefined, now: Instant): HoldsShown {
  const listed = new Set(planned.plan.approvals.flatMap(({ id, via, at }) => (via === 'policy' && at ? [id] : [])))
  const present = new Set(planned.plan.holds.map(({ id }) => id))
  const gone = Object.entries(before).flatMap(([id, { goneAt = now, at, ...shown }]) => {
    if (present.has(id) || now - goneAt >= APPROVAL_LIFE_MS) return []
    return [[id, { ...shown, at: notAhead(at, now), goneAt: notAhead(goneAt, now) }] as const]
  })
  // A changed hold whose approval is void is shown anew, so that the next approval is of what is shown then.
  const isVoid = new Set(planned.approvals.filter(({ state }) => state === 'void').map(({ id }) => id))
  const isDeal = ({ scope }: HeldChange): boolean => planned.differences.get(scopeKey(scope))?.pool !== undefined
  const shown = planned.plan.holds.map(({ id, people, guards, changes }) => {
    const roster = guards.includes('rosterShrink') && doubted !== undefined ? { roster: doubted } : {}
    const moved = changes.some(isDeal) ? { credits: creditsMoved(changes) } : {}
    const known = before[id]
    const isOther = known?.people !== people || known.roster !== roster.roster || known.credits !== moved.credits
    const isNew = !known || (isOther && isVoid.has(id))
    // It was shown without its approval in the policy, so a person could review it.
    const isReviewed = !listed.has(id) || (!isNew && known.reviewed)
    const at = isNew ? now : notAhead(known.at, now)
    return [id, { people, at, ...roster, ...moved, reviewed: isReviewed ? true : undefined }] as const
  })
  return Object.fromEntries([...gone, ...shown])
}

/** A change that is not held any more may come back, as when its scope could not be read: it is kept for as long as its approval would be. */
function changesShown({ plan, differences }: Planned, before: ChangesShown, now: Instant): ChangesShown {
  const earlier = Object.entries(before).map(([key, one]) => [key, { ...one, at: notAhead(one.at, now) }] as const)
  const held = plan.holds.flatMap(({ changes }) => changes)
  const shown = held.flatMap(({ scope, from, to }) => {
    const key = scopeKey(scope)
    if (differences.get(key)?.pool) return []
    return [[key, { from, to, at: Math.min(shownSince({ key, from, to }, before), now) }] as const]
  })
  return Object.fromEntries([...earlier.filter(([, { at }]) => now - at < APPROVAL_LIFE_MS), ...shown])
}

const unreadSince = ({ plan }: Planned, before: LedgerFacts['unreadSince'], now: Instant): LedgerFacts['unreadSince'] =>
  Object.fromEntries(plan.unknown.map(({ scope }) => [scopeKey(scope), notAhead(before[scopeKey(scope)] ?? now, now)]))

/** Records the present rules, and the earlier stricter ones that still apply beside them. */
export function recordRules(state: WorkspaceState, settings: WorkspaceSettings, ledger: Ledger, now: Instant): void {
  saveNews(ledger, 'rules', noteRules(ledger.fact('rules'), rulesNow(state, settings), now))
}

/** The last accepted forms, and what else is remembered of envelopes. */
function recordEnvelopes({ policy, envelopes }: WorkspaceState, ledger: Ledger): void {
  if (!policy.settled || !envelopes) return
  saveNews(ledger, 'envelopes', envelopes)
  saveNews(ledger, 'policy', keptRevision(policy))
}

/** Drift that could not be read this time may still last. */
const driftSince = ({ scopes }: Planned, before: Readonly<Record<ScopeKey, Instant>>): Record<ScopeKey, Instant> =>
  Object.fromEntries(
    scopes.flatMap(({ scope, state, driftSince: now }) => {
      const since = now ?? (state === 'unknown' ? before[scopeKey(scope)] : undefined)
      return since === undefined ? [] : [[scopeKey(scope), since]]
    }),
  )

/** Saves a fact where it has changed; `empty` is the meaning of absence. */
function saveNews<K extends keyof LedgerFacts>(ledger: Ledger, name: K, value: LedgerFacts[K], empty?: LedgerFacts[K]): void {
  const [before, after] = [JSON.stringify(ledger.fact(name) ?? empty), JSON.stringify(value)]
  // The ledger may return the keys in another order.
  if (before === after || (before !== undefined && after !== undefined && isDeepStrictEqual(JSON.parse(before), JSON.parse(after)))) return
  ledger.saveFact(name, value)
}

/**
 * Records the caps from which this plan begins, unless an interrupted plan began before: guards count an interrupted plan from its beginning.
 * `descendants`: caps that team and group writes of the plan will overwrite.
 */
export function beginPlan(pending: readonly Change[], descendants: readonly CapReading[], planned: Planned, ledger: Ledger): void {
  const now = planned.plan.createdAt
  const before = openBaseline(ledger, now)
  const begun: Record<ScopeKey, Cap> = { ...before }
  const isExempt = ({ scope, healing, grantEnd }: Change): boolean =>
    healing || grantEnd || planned.differences.get(scopeKey(scope))?.pool?.isReviewed === true
  const exempt = new Set(pending.filter(isExempt).map((change) => scopeKey(change.scope)))
  const from = new Map<ScopeKey, Observed>([
    ...descendants.map((reading) => [scopeKey(reading.scope), reading.observed] as const),
    ...pending.map((change) => [scopeKey(change.scope), change.from] as const),
  ])
  for (const [key, cap] of from) if (cap !== 'unknown' && !exempt.has(key)) begun[key] ??= cap
  if (!before) ledger.saveFact('planBegunAt', now)
  saveNews(ledger, 'planBaseline', begun, {})
}

/** The plan is complete, or is not going to be written. */
export function endPlan(ledger: Ledger): void {
  if (!ledger.fact('planBaseline')) return
  ledger.saveFact('planBaseline', undefined)
  ledger.saveFact('planBegunAt', undefined)
}

/**
 * Records how many scopes the verified policy declares. It rises with every good cycle. It falls only once a whole reading shows that nothing
 * remains to be pruned, so that an emptied policy is held until a person approves it.
 */
export function recordDeclared(after: Planned, result: ReconcileResult, state: WorkspaceState, ledger: Ledger): void {
  const declared = declaredCount(state.policy.set)
  const before = ledger.fact('verifiedDeclared') ?? 0
  const clearing = after.diff.differences.some(({ entry }) => entry.kind === 'undeclared')
  const isVerified = result !== 'error' && after.plan.unknown.length === 0 && after.diff.kept.length === 0
  if (declared > before || (declared < before && !clearing && isVerified && state.policyValid))
    saveNews(ledger, 'verifiedDeclared', declared)
}
