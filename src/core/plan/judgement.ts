// Guards and approvals together: guards hold, approvals release exactly the changes they name, and guards judge again with the released
// changes still counted, until no approval matches any more. Releasing one hold must never let another through.

import type { CapAt } from '../interpret/effective.ts'
import type { Approval, Hold } from '../model/change.ts'
import { UNDECLARED } from '../model/policy.ts'
import { byScope, compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import { DAY_MS } from '../model/units.ts'
import { agree } from '../resolve/roster.ts'
import {
  asShown,
  currentApprovals,
  matchApprovals,
  releasedChanges,
  releaseOf,
  shownApprovals,
  typedApprovals,
  type Unmatched,
  verifyApprovals,
  voidGrown,
} from './approval.ts'
import { type Judgement, judgeParts } from './guards/judge.ts'
import type { GuardInputs, JudgementInputs } from './guards/round.ts'
import { type ImpactInputs, impactOf } from './impact.ts'
import { reviewedRules, rulesOf, shownSince, strictest } from './reviewed.ts'
import type { Difference, Rules } from './snapshot.ts'

export type Judged = ReturnType<typeof judged>

/** One judgement, with the changes that approvals had released before it. */
type Round = ReturnType<ReturnType<typeof roundsOf>>

/** Judges which changes may be written. */
export function judgeWithApprovals(inputs: JudgementInputs) {
  const { now, facts, idle } = inputs
  const listed = inputs.policy.set.approvals.map(({ id }) => id)
  const known = asShown(currentApprovals(inputs.approvals, { policy: listed }, now), inputs.holdsShown)
  const approvals = voidGrown(verifyApprovals(known, inputs), inputs)
  const judgeNow = roundsOf(approvals, inputs)
  let round = judgeNow(approvals)
  if (facts.rosterMissing === 'never') {
    const ids = [...known.filter(({ state }) => state === 'pending').map(({ id }) => id), ...inputs.approve]
    return judged(round, { approvals, unmatched: ids.map((id) => ({ id, note: NO_ROSTER })) }, inputs)
  }
  const match = (some: readonly Approval[], { judgement }: Round) => matchApprovals(some, judgement.holds, inputs)
  if (idle !== undefined) {
    // Nothing is matched now; the plan shows what would be.
    const later = match(approvals, round)
    return judged(round, { approvals, toShow: later.approvals, waiting: later.matched, unmatched: later.unmatched }, inputs)
  }
  const typed = typedApprovals(inputs.approve, round.judgement.holds, approvals)
  let next = match(currentApprovals(approvals, { command: typed.ids }, now), round)
  const unmatched = [...typed.unmatched, ...next.unmatched]
  const matched = new Set<string>()
  // Each round has matched another approval, so the approvals bound the rounds.
  while (next.matched.some(({ id }) => !matched.has(id))) {
    for (const { id } of next.matched) matched.add(id)
    round = judgeNow(next.approvals)
    next = match(currentApprovals(next.approvals, {}, now), round)
    unmatched.push(...next.unmatched)
  }
  return judged(round, { approvals: next.approvals, matched, unmatched }, inputs)
}

/** Judges with these approvals. What one of its judgements has held stays held in the next: releasing one hold never lets another through. */
function roundsOf(verified: readonly Approval[], inputs: JudgementInputs) {
  const { now, facts } = inputs
  const recent = verified.filter(({ releasedAt = Number.NEGATIVE_INFINITY }) => now - releasedAt < BESIDE_MS)
  const judge = judges(inputs, landedReleases(recent, inputs))
  const held = heldBeside(recent, inputs.differences)
  return (approvals: readonly Approval[]) => {
    // Without any roster nobody can be counted: no approval counts, and none is used up.
    const released = facts.rosterMissing === 'never' ? new Map<ScopeKey, Approval>() : releasedChanges(approvals, inputs)
    // A change that was released before the breaker opened was tried then.
    const since = approvals.filter(({ approvedAt }) => approvedAt >= (facts.breaker?.openedAt ?? 0))
    const tryAnyway = releasedChanges(since, inputs)
    const judgement = judge({ released: new Set(released.keys()), tryAnyway: new Set(tryAnyway.keys()), held })
    for (const key of judgement.heldBy.keys()) held.add(key)
    return { judgement, released }
  }
}

interface Matched {
  readonly approvals: readonly Approval[]
  /** The ids of approvals that this plan has matched. */
  readonly matched?: ReadonlySet<string>
  readonly unmatched: readonly Unmatched[]
  /** The approvals as they would be if changes might be written, and the holds that they would release. */
  readonly toShow?: readonly Approval[]
  readonly waiting?: readonly Hold[]
}

function judged({ judgement, released }: Round, found: Matched, inputs: JudgementInputs) {
  const { approvals, matched, unmatched, toShow = approvals, waiting = [] } = found
  const beside = judgement.holds.flatMap(({ changes }) => changes)
  const after = approvals.map((one) => (matched?.has(one.id) ? { ...one, releasedAt: inputs.now, beside } : one))
  return {
    judgement,
    approvals: after,
    /** Which approval released each change. */
    releases: new Map([...released].map(([key, one]) => [key, releaseOf(one, inputs.policy)])),
    rosterAccepted: isRosterAccepted(after, judgement, inputs),
    /** The approvals as the plan shows them. */
    shown: shownApprovals(toShow, { released, holds: judgement.holds, unmatched, waiting }, inputs),
  }
}

/** Every hold would have another id with another roster: an approved roster is accepted once no hold doubts it any more. */
function isRosterAccepted(approvals: readonly Approval[], { holds }: Judgement, { facts: { rosterDoubt } }: JudgementInputs): boolean {
  if (!rosterDoubt || holds.some(({ guards }) => guards.includes('rosterShrink'))) return false
  const doubtedAt = rosterDoubt.since ?? 0
  return approvals.some(({ releasedAt = -1, roster }) => releasedAt >= doubtedAt && roster !== undefined && agree(roster, rosterDoubt.now))
}

/** For so long a release lets no other held change through (docs/guards-and-approvals.md). */
const BESIDE_MS = DAY_MS

/** The scopes whose change is the same that was held when an approval released another. */
function heldBeside(releases: readonly Approval[], differences: readonly Difference[]): Set<ScopeKey> {
  const beside = byScope(releases.flatMap((one) => one.beside ?? []))
  const isSame = ({ key, from, to }: Difference): boolean => {
    const one = beside.get(key)
    return one?.from === from && one.to === to
  }
  return new Set(differences.filter(isSame).map(({ key }) => key))
}

/** Released changes that have landed, as they were before: also where another client has changed the cap since. */
function landedReleases(releases: readonly Approval[], { differences, slots }: JudgementInputs): ReadonlyMap<ScopeKey, Difference> {
  const wanted = byScope(differences)
  const landed = new Map<ScopeKey, Difference>()
  for (const { scope, from, to, verified } of releases.flatMap((one) => one.released)) {
    const key = scopeKey(scope)
    const want = wanted.get(key)
    const isLanded = want ? want.to === to && want.from !== from : verified || slots.shown(key) === to
    if (isLanded) landed.set(key, { scope, key, from, to, cause: 'policy', entry: UNDECLARED, healing: false, grantEnd: false })
  }
  return landed
}

/** The plan as it was before any release: the changes that have landed since are pending in it. */
function beforeReleases(landed: ReadonlyMap<ScopeKey, Difference>, { differences, impact, whole }: JudgementInputs) {
  const released = new Set<ScopeKey>()
  if (landed.size === 0) return { differences, impact, whole, released }
  const readings: CapAt = (key) => landed.get(key)?.from ?? impact.readings(key)
  // What stood there may have been inherited.
  const mayBeInherited = impact.mayBeInherited && ((key: ScopeKey) => landed.has(key) || impact.mayBeInherited?.(key) === true)
  const byKey = new Map([...byScope(differences), ...landed])
  const all = [...byKey.values()].toSorted((a, b) => compareScopes(a.scope, b.scope))
  const before: ImpactInputs = { ...impact, readings, mayBeInherited }
  return { differences: all, impact: before, whole: impactOf(byScope(all), before), released }
}

/** `held`: the changes that were held before any release. */
type Judge = (given: Pick<GuardInputs, 'released' | 'tryAnyway'> & { readonly held: ReadonlySet<ScopeKey> }) => Judgement

/** Judges by the present rules, and where rules were weakened, also by the earlier ones: a weaker rule counts for changes shown before it. */
function judges(inputs: JudgementInputs, landed: ReadonlyMap<ScopeKey, Difference>): Judge {
  const { differences, holdsShown, changesShown } = inputs
  const unreleased = beforeReleases(landed, inputs)
  const judgeBy =
    ({ guards, protectedEmails }: Rules): Judge =>
    ({ released, tryAnyway, held }) => {
      // A change that has landed had its own approval: putting it back after another client needs no second one.
      const freed = released.union(landed)
      const stillHeld = held.difference(freed)
      const before = stillHeld.size > 0 ? { ...unreleased, held: stillHeld, freed } : undefined
      return judgeParts({ ...inputs, guards, protectedEmails, released, tryAnyway, unreleased: before })
    }
  const now = rulesOf(inputs.policy, inputs.guards)
  const byPresent = judgeBy(now)
  const reviewed = reviewedRules(inputs)
  if (reviewed.length === 0) return byPresent
  const byStrictest = judgeBy(strictest(now, reviewed))
  return (given) => {
    const present = byPresent(given)
    const first = byStrictest(given)
    // How many of the weakenings came before each change was shown. The strictest rules would hold other changes as well once these are waived.
    const byWeakenedSince = Map.groupBy(differences, (one) => {
      // The amounts of a pool's deal move with each reading; it is known by its hold.
      const hold = holdsShown[first.heldBy.get(one.key) ?? '']
      const shownAt = Math.min(shownSince(one, changesShown), hold?.at ?? Number.POSITIVE_INFINITY)
      return reviewed.filter(({ weakenedAt }) => weakenedAt <= shownAt).length
    })
    byWeakenedSince.delete(reviewed.length)
    const waived = [...byWeakenedSince].flatMap(([count, shown]) => {
      const { heldBy } = judgeBy(strictest(now, reviewed.slice(0, count)))(given)
      return shown.flatMap(({ key }) => (heldBy.has(key) ? [] : [key]))
    })
    const judgement = byStrictest({ ...given, released: given.released.union(new Set(waived)), held: given.held.union(first.heldBy) })
    const isByEarlierRules = ({ changes }: Hold): boolean => changes.some(({ scope }) => !present.heldBy.has(scopeKey(scope)))
    const holds = judgement.holds.map((hold) => (isByEarlierRules(hold) ? { ...hold, message: `${hold.message}; ${NOT_YET}` } : hold))
    return { ...judgement, holds }
  }
}

const NO_ROSTER = 'the roster was never read, and without it nothing is released'

const NOT_YET = 'the weaker rules of this revision count only for changes that were shown before them (approvals: separate)'
