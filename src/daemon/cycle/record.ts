// Keeps in the ledger what a plan found out: what is ours now and what is not any more, approvals, holds shown, drift. It writes only what
// is news, so that a quiet cycle costs no disk write, and it never touches the service.

import { isDeepStrictEqual } from 'node:util'
import { notAhead } from '../../core/model/age.ts'
import {
  type Approval,
  type Change,
  type HeldChange,
  type HistoryEntry,
  isInDoubt,
  LANDING_MS,
  mayHaveLanded,
  type Quarantined,
} from '../../core/model/change.ts'
import type { ReconcileResult } from '../../core/model/events.ts'
import { type CapReading, mayBeSet, type Observed, type OwnedCap, withTried } from '../../core/model/observed.ts'
import { type Cap, declaredCount } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { APPROVAL_LIFE_MS, type HoldsShown } from '../../core/plan/approval.ts'
import { isLeftTo } from '../../core/plan/contested.ts'
import { setBefore } from '../../core/plan/diff.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { creditsMoved, poolReviews, withReviews } from '../../core/plan/pool-review.ts'
import { noteRules } from '../../core/plan/reviewed.ts'
import { entriesOf } from '../../core/plan/states.ts'
import { approvedCount } from '../../core/resolve/roster.ts'
import type { Digest, Ledger, LedgerFacts } from '../../ports.ts'
import { countReading, type DesiredState, isLeftAlone, openBaseline, type PlanSettings, rulesNow, type WorkspaceState } from './state.ts'

/** Saves the news of a plan; they wait for the next commit. */
export function remember(planned: Planned, view: DesiredState, state: WorkspaceState, ledger: Ledger, now: Instant): void {
  const adopted: OwnedCap[] = []
  for (const one of planned.diff.adopted) {
    const found = withReplaced(sinceWritten(one, view, ledger, now), view.owned.get(scopeKey(one.scope)), ledger, now)
    const { verifiedAt } = found
    if (!isDeepStrictEqual(found, { ...view.owned.get(scopeKey(one.scope)), verifiedAt })) adopted.push(found)
  }
  const released: ScopeKey[] = []
  for (const key of planned.diff.released) {
    const [owned, reading] = [view.owned.get(key), state.readings.get(key)]
    if (!owned) continue
    const late = landedLate(owned, reading, ledger, now)
    if (late) adopted.push(late)
    else if (!mayBeStale(owned, reading, ledger, now)) released.push(key)
  }
  if (adopted.length > 0) ledger.saveOwned(adopted)
  if (released.length > 0) ledger.releaseOwned(released)
  if (view.quarantine.over.length > 0) ledger.releaseQuarantined(view.quarantine.over)
  const doubted = state.usage?.doubted && approvedCount(state.usage.doubted.roster)
  saveNews(ledger, 'holdsShown', holdsShown(planned, ledger.fact('holdsShown') ?? {}, doubted, now), {})
  saveNews(ledger, 'driftSince', driftSince(planned), {})
  saveNews(ledger, 'unreadSince', unreadSince(planned, ledger.fact('unreadSince') ?? {}, now), {})
  saveNews(ledger, 'contested', stillContested(planned, ledger.fact('contested') ?? {}, now), {})
  // Without a roster nothing is known of people, and nothing is news.
  if (!state.usage) return
  countReading(state, view.resolution)
  saveCounted(state, ledger)
}

/** Keeps what readings were counted to say. */
export function saveCounted({ conflictsGone, conflictGroups, conditions }: WorkspaceState, ledger: Ledger): void {
  saveNews(ledger, 'conflictsGone', conflictsGone, {})
  saveNews(ledger, 'conflictGroups', conflictGroups, {})
  saveNews(ledger, 'conditions', conditions, {})
}

/**
 * A grant's cap that is found in place may come from a write of ours that was read back too early, or landed late: what the grant gives back
 * at its end is what stood there before that write, or it would never end. What was read back as written has had its day.
 */
function sinceWritten(adopted: OwnedCap, { owned, slots }: DesiredState, ledger: Ledger, now: Instant): OwnedCap {
  const key = scopeKey(adopted.scope)
  if (adopted.baseline !== adopted.cap || owned.has(key)) return adopted
  const last = lastWrite(adopted.scope, ledger, now)
  const isLate = last !== undefined && isInDoubt(last) && last.to === adopted.cap
  return isLate ? { ...adopted, baseline: setBefore(last.from, slots, key) } : adopted
}

/** Also those that show our value at the moment: the next foreign change within the day is left alone as well. */
const stillContested = (planned: Planned, before: LedgerFacts['contested'], now: Instant): LedgerFacts['contested'] => ({
  ...Object.fromEntries(Object.entries(before).filter(([, contest]) => isLeftTo(contest, now))),
  ...Object.fromEntries(planned.contested),
})

/** On a reading that may be stale, or that is older than the last write, nothing of ours is forgotten. */
function mayBeStale(owned: OwnedCap, reading: CapReading | undefined, ledger: Ledger, now: Instant): boolean {
  const last = lastWrite(owned.scope, ledger, now)
  if (!reading || !last || !mayBeSet(owned)) return false
  return last.from === reading.observed || reading.readAt <= last.at
}

/** What shows is what an earlier write of ours had brought, and a later one that never came has hidden: it is ours, but for what is given back. */
function landedLate(owned: OwnedCap, reading: CapReading | undefined, ledger: Ledger, now: Instant): OwnedCap | undefined {
  const late = ledger.writtenLately(owned.scope, now - LANDING_MS).find((one) => isInDoubt(one) && one.to === reading?.observed)
  const isOurs = late && late.to !== 'none' && late.to !== owned.tried && late.to !== owned.baseline
  return isOurs ? withTried(owned, late.to, false) : undefined
}

/** What is found in place may be what our last write replaced, on a stale reading: what was written may stand there, and is ours as well. */
function withReplaced(found: OwnedCap, before: OwnedCap | undefined, ledger: Ledger, now: Instant): OwnedCap {
  const last = lastWrite(found.scope, ledger, now)
  if (last?.from !== found.cap || last.to === 'none' || last.to === found.cap) return found
  const isGrants = before?.cap === last.to ? before.owner === 'grant' : before?.tried === last.to && before.triedByGrant === true
  return withTried(found, last.to, isGrants)
}

/** Our last write of a scope that may have landed, as long as a reading may not show it yet. */
const lastWrite = (scope: Scope, ledger: Ledger, now: Instant): HistoryEntry | undefined =>
  ledger.writtenLately(scope, now - LANDING_MS).find(mayHaveLanded)

/** Saves what became of approvals; by itself, because a question answered with no must leave no release behind. */
export function rememberApprovals(planned: Planned, ledger: Ledger): void {
  const known = new Map(ledger.approvals().map((one) => [one.id, JSON.stringify(one)]))
  const now = planned.plan.createdAt
  for (const approval of planned.approvals.map((one) => withoutPast(one, now))) {
    if (known.get(approval.id) !== JSON.stringify(approval)) ledger.saveApproval(approval)
    known.delete(approval.id)
  }
  // The others were withdrawn: listed again they count from then.
  for (const one of ledger.approvals()) if (known.has(one.id) && !one.withdrawn) ledger.saveApproval({ ...one, withdrawn: true })
}

/** What has ended releases nothing any more: after a day only its id is kept, for it is to say so where a policy lists it. */
function withoutPast(approval: Approval, now: Instant): Approval {
  const { beside, releasedAt, ...rest } = approval
  const at = releasedAt === undefined ? {} : { releasedAt: notAhead(releasedAt, now) }
  const isPast = approval.state !== 'pending' && now - (releasedAt ?? approval.approvedAt) > LANDING_MS
  return isPast ? { ...rest, ...at, released: [] } : { ...rest, ...at, ...(beside && { beside }) }
}

/** Deals of which the guards hold nothing were let through: later deals of the same move within them. */
export function rememberReviews(
  planned: Planned,
  { resolution }: DesiredState,
  state: WorkspaceState,
  ledger: Ledger,
  digest: Digest,
): void {
  if (resolution.pools.length === 0) return
  const reviews = poolReviews(planned.plan.workspace, resolution.pools, state.pools, digest)
  const held = new Set(planned.plan.holds.flatMap(({ changes }) => changes.map(({ scope }) => scopeKey(scope))))
  state.pools = withReviews(state.pools, reviews, planned.differences, held)
  saveNews(ledger, 'pools', state.pools, {})
}

function holdsShown(planned: Planned, before: HoldsShown, doubted: number | undefined, now: Instant): HoldsShown {
  const listed = new Set(planned.plan.approvals.flatMap(({ id, via, at }) => (via === 'policy' && at ? [id] : [])))
  const standing = new Set(planned.plan.holds.map(({ id }) => id))
  const gone = Object.entries(before).flatMap(([id, { goneAt = now, at, ...shown }]) => {
    if (standing.has(id) || now - goneAt >= APPROVAL_LIFE_MS) return []
    return [[id, { ...shown, at: notAhead(at, now), goneAt: notAhead(goneAt, now) }] as const]
  })
  // Once its approval is void, a hold that has changed is shown anew: the next approval is of what is seen then.
  const isVoid = new Set(planned.approvals.filter(({ state }) => state === 'void').map(({ id }) => id))
  const isDeal = ({ scope }: HeldChange): boolean => planned.differences.get(scopeKey(scope))?.pool !== undefined
  const shown = planned.plan.holds.map(({ id, people, guards, changes }) => {
    const roster = guards.includes('rosterShrink') && doubted !== undefined ? { roster: doubted } : {}
    const moved = changes.some(isDeal) ? { credits: creditsMoved(changes) } : {}
    const known = before[id]
    const isOther = known?.people !== people || known.roster !== roster.roster || known.credits !== moved.credits
    const isNew = !known || (isOther && isVoid.has(id))
    // Without its approval in the policy, somebody could review it.
    const isReviewed = !listed.has(id) || (!isNew && known.reviewed)
    const at = isNew ? now : notAhead(known.at, now)
    return [id, { people, at, ...roster, ...moved, ...(isReviewed && { reviewed: true }) }] as const
  })
  return Object.fromEntries([...gone, ...shown])
}

const unreadSince = ({ plan }: Planned, before: LedgerFacts['unreadSince'], now: Instant): LedgerFacts['unreadSince'] =>
  Object.fromEntries(plan.unknown.map(({ scope }) => [scopeKey(scope), notAhead(before[scopeKey(scope)] ?? now, now)]))

/** Keeps the rules as they are, and those of before that are in force beside weaker ones. */
export function rememberRules(state: WorkspaceState, settings: PlanSettings, ledger: Ledger, now: Instant): void {
  saveNews(ledger, 'rules', noteRules(ledger.fact('rules'), rulesNow(state, settings), now))
}

function driftSince(planned: Planned): Readonly<Record<ScopeKey, Instant>> {
  const drifting = planned.scopes.filter((one) => one.driftSince !== undefined)
  return Object.fromEntries(drifting.map((one) => [scopeKey(one.scope), one.driftSince ?? 0]))
}

/** Saves a fact when it differs from what is there; `empty` is what absence means. */
function saveNews<K extends keyof LedgerFacts>(ledger: Ledger, name: K, value: LedgerFacts[K], empty?: LedgerFacts[K]): void {
  const before = ledger.fact(name) ?? empty
  const [was, is] = [JSON.stringify(before), JSON.stringify(value)]
  // What was read from the ledger may have its keys in another order.
  if (was === is || (was !== undefined && is !== undefined && isDeepStrictEqual(JSON.parse(was), JSON.parse(is)))) return
  ledger.saveFact(name, value)
}

/**
 * Where this plan begins, unless an interrupted one had begun before: guards count an interrupted plan from there. `descendants` are caps that
 * the plan's wide writes will overwrite.
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

/**
 * Readings of scopes that the service says it does not know, while it knows most of the others: an address that answers nothing but "not
 * found" says nothing about scopes (choice).
 */
export function unknownScopes(view: DesiredState, state: WorkspaceState): readonly CapReading[] {
  const readings = view.toRead.flatMap((scope) => state.readings.get(scopeKey(scope)) ?? [])
  const unknown = readings.filter(({ scope, failure }) => failure?.kind === 'not_found' && scope.kind !== 'team')
  return unknown.length * 2 > readings.filter(({ failure }) => !failure).length + unknown.length ? [] : unknown
}

/** Those of them that are not left alone already, people who are away among these: to be left alone from now on. */
export function newlyUnknown(view: DesiredState, state: WorkspaceState, now: Instant): readonly Quarantined[] {
  const unknown = unknownScopes(view, state).filter(({ scope }) => !isLeftAlone(scope, view))
  if (unknown.length === 0) return []
  const entryAt = entriesOf(view.resolution)
  return unknown.map(({ scope, failure }) => {
    const key = scopeKey(scope)
    const message = `${key}: ${failure?.message ?? 'the service does not know it'}`
    return { scope, code: 'SCOPE_UNKNOWN', message, entry: entryAt(key), at: now }
  })
}

/** The plan is through: nothing of it was left out, or nothing of it is going to be written. */
export function endPlan(ledger: Ledger): void {
  if (!ledger.fact('planBaseline')) return
  ledger.saveFact('planBaseline', undefined)
  ledger.saveFact('planBegunAt', undefined)
}

/**
 * How many scopes the verified policy declares. It goes up with every good cycle, and down only when it was seen that nothing is left to
 * clear, so that an emptied policy is held for as long as it takes somebody to look.
 */
export function rememberDeclared(after: Planned, result: ReconcileResult, state: WorkspaceState, ledger: Ledger): void {
  const declared = declaredCount(state.policy.set)
  const before = ledger.fact('verifiedDeclared') ?? 0
  const clearing = after.plan.changes.some((change) => change.to === 'none')
  const isSeen = result !== 'error' && after.plan.unknown.length === 0 && after.diff.kept.length === 0
  if (declared > before || (declared < before && !clearing && isSeen && state.policyValid)) saveNews(ledger, 'verifiedDeclared', declared)
}
