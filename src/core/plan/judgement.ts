// Guards and approvals together: guards hold, approvals release exactly what they name, and guards look again with what was released still
// counted, until no approval matches any more.
import type { CapAt } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import type { Approval, GuardSettings, HeldChange, Hold, PlanApproval, Release } from '../model/change.ts'
import { UNDECLARED } from '../model/entry.ts'
import type { CapReading, OwnedCap } from '../model/observed.ts'
import { declaredCount, type PolicyApproval, type PolicyRevision, protectedEmails } from '../model/policy.ts'
import { compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import { agree } from '../resolve/roster.ts'
import {
  asShown,
  currentApprovals,
  type HoldsShown,
  MIN_HOLD_PREFIX,
  matchApprovals,
  releasedChanges,
  type Unmatched,
  verifyApprovals,
  voidGrown,
} from './approval.ts'
import type { Contest, ContestInputs } from './contested.ts'
import { byKeyOf, type Difference, type PoolReview } from './diff.ts'
import { judge } from './guards/judge.ts'
import type { GuardFacts, GuardInputs, Judgement } from './guards/round.ts'
import { type Impact, type ImpactInputs, impactOf } from './impact.ts'
import { type ReviewedRules, type Rules, strictest } from './reviewed.ts'

export interface JudgementInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  readonly differences: readonly Difference[]
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly slots: Slots
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly inSync: readonly DesiredCap[]
  readonly impact: ImpactInputs
  /** What all differences together do. */
  readonly whole: readonly Impact[]
  readonly approvals: readonly Approval[]
  readonly approve: readonly string[]
  readonly holdsShown: HoldsShown
  readonly approvalSteps?: 'separate' | 'together'
  readonly reviewed?: readonly ReviewedRules[]
  readonly idle?: string
  readonly contested: ReadonlyMap<ScopeKey, Contest>
  readonly contests: Pick<ContestInputs, 'written'>
  readonly facts: Omit<GuardFacts, 'protectedPeople' | 'workspace' | 'declared' | 'contested' | 'copying'>
  readonly guards: GuardSettings
  readonly poolReviews: ReadonlyMap<string, PoolReview>
  readonly now: Instant
  readonly digest: (text: string) => string
  readonly instantText: (at: Instant) => string
}

export interface Judged {
  readonly judgement: Judgement
  readonly approvals: readonly Approval[]
  /** Who released which change. */
  readonly releases: ReadonlyMap<ScopeKey, Release>
  readonly rosterAccepted: boolean
  /** Approvals as the plan shows them. */
  readonly shown: readonly PlanApproval[]
}

/** Judges what may be written. */
export function judgeWithApprovals(inputs: JudgementInputs): Judged {
  const { differences, policy, whole, slots } = inputs
  const listed = policy.set.approvals
  const isOverwritten = slots.isFromAncestorWrite
  const byKey = byKeyOf(differences)
  const known = asShown(currentApprovals(inputs.approvals, { policy: listed.map((one) => one.id) }, inputs.now), inputs.holdsShown)
  const inSync = new Set(known.length > 0 ? inputs.inSync.map(({ scope }) => scopeKey(scope)) : [])
  const isWanted = ({ scope, to }: HeldChange): boolean => byKey.get(scopeKey(scope))?.to === to
  const isBare = (key: ScopeKey): boolean => !inputs.owned.has(key) && (slots.mayBeInherited(key) || !inputs.readings.has(key))
  const wasWritten = ({ scope, to }: HeldChange, since: Instant): boolean =>
    inputs.contests.written(scope, since).some((one) => one.to === to && one.result === 'applied')
  const landing = { shown: slots.shown, isBare, inSync, reviewedPools: reviewedPools(inputs), isWanted, wasWritten }
  let approvals = voidGrown(verifyApprovals(known, landing), whole)
  const releases = recentReleases(approvals, inputs.now)
  const judgeNow = judges(inputs, landedReleases(releases, byKey, slots))
  // What is held once stays held, whatever is released.
  const held = heldBeside(releases, differences)
  let commands = inputs.approve
  let unmatched: readonly Unmatched[] = []
  const matched = new Set<string>()
  // Nobody can be counted: no approval counts, and none is used up.
  const isFinal = inputs.facts.rosterMissing === 'never'
  // Every round that goes on spends one match, so approvals bound the rounds.
  for (let round = 0; ; round += 1) {
    const released: ReturnType<typeof releasedChanges> = isFinal ? new Map() : releasedChanges(approvals, differences, isOverwritten)
    const tryAnyway = releasedChanges(since(approvals, inputs.facts.breaker?.openedAt), differences, isOverwritten)
    const judgement = judgeNow(new Set(released.keys()), new Set(tryAnyway.keys()), held)
    for (const key of judgement.heldBy.keys()) held.add(key)
    const matching = {
      ...(inputs.facts.rosterDoubt && { roster: inputs.facts.rosterDoubt.now }),
      isSeparate: inputs.approvalSteps !== 'together',
      poolOf: (key: ScopeKey) => byKey.get(key)?.pool?.key,
    }
    const done = (told: readonly Approval[] = approvals, waiting: readonly Hold[] = []): Judged => {
      const beside = judgement.holds.flatMap(({ changes }) => changes)
      const after = approvals.map((one) => (matched.has(one.id) ? { ...one, releasedAt: inputs.now, beside } : one))
      return {
        judgement,
        approvals: after,
        releases: new Map([...released].map(([key, one]) => [key, releaseOf(one, listed)])),
        rosterAccepted: isRosterAccepted(after, judgement, inputs),
        shown: shownOf(told, released, inputs, { judgement, unmatched, waiting }),
      }
    }
    if (isFinal) {
      const ids = [...known.filter(({ state }) => state === 'pending').map(({ id }) => id), ...commands]
      unmatched = ids.map((id) => ({ id, note: NO_ROSTER }))
      return done()
    }
    if (inputs.idle !== undefined) {
      // Nothing is matched; what would be is shown.
      const then = matchApprovals(approvals, judgement.holds, inputs.holdsShown, matching)
      unmatched = then.unmatched
      return done(then.approvals, then.matched)
    }
    const typed = typedApprovals(commands, judgement.holds, approvals)
    commands = []
    const fresh = currentApprovals(approvals, { command: typed.ids }, inputs.now)
    const next = matchApprovals(fresh, judgement.holds, inputs.holdsShown, matching)
    approvals = next.approvals
    unmatched = [...unmatched, ...typed.unmatched, ...next.unmatched]
    if (next.matched.length === 0 || round > approvals.length) return done()
    for (const { id } of next.matched) matched.add(id)
  }
}

/** With another roster every hold would be another: an approved one is accepted once no hold doubts it any more. */
function isRosterAccepted(approvals: readonly Approval[], { holds }: Judgement, { facts: { rosterDoubt } }: JudgementInputs): boolean {
  if (!rosterDoubt || holds.some(({ guards }) => guards.includes('rosterShrink'))) return false
  const doubtedAt = rosterDoubt.since ?? 0
  return approvals.some(({ releasedAt = -1, roster }) => releasedAt >= doubtedAt && roster !== undefined && agree(roster, rosterDoubt.now))
}

/** For so long what one approval released releases nothing else (product.md, section 5). */
const BESIDE_MS = 24 * 3_600_000

const recentReleases = (approvals: readonly Approval[], now: Instant): readonly Approval[] =>
  approvals.filter(({ releasedAt }) => releasedAt !== undefined && now - releasedAt < BESIDE_MS)

/** What was held when something else was released, as far as it is the same change. */
function heldBeside(releases: readonly Approval[], differences: readonly Difference[]): Set<ScopeKey> {
  const was = new Map(releases.flatMap(({ beside = [] }) => beside.map((one) => [scopeKey(one.scope), one] as const)))
  return new Set(
    differences.flatMap(({ key, from, to }) => {
      const one = was.get(key)
      return one?.from === from && one.to === to ? [key] : []
    }),
  )
}

/** Deals that the guards have let through need no release any more. */
const reviewedPools = ({ poolReviews }: JudgementInputs): ReadonlySet<string> =>
  new Set([...poolReviews.values()].flatMap(({ key, isReviewed }) => (isReviewed ? [key] : [])))

/** What was released before the breaker opened has had its try. */
const since = (approvals: readonly Approval[], openedAt: Instant = 0): readonly Approval[] =>
  approvals.filter((one) => one.approvedAt >= openedAt)

/** The plan as it was before its releases: what has landed of them is still to come. */
function beforeReleases(landed: ReadonlyMap<ScopeKey, Difference>, { differences, impact, whole }: JudgementInputs): Unreleased {
  if (landed.size === 0) return { differences, impact, whole }
  const readings: CapAt = (key) => landed.get(key)?.from ?? impact.readings(key)
  const others = differences.filter(({ key }) => !landed.has(key))
  const all = [...others, ...landed.values()].toSorted((a, b) => compareScopes(a.scope, b.scope))
  const before = { ...impact, readings }
  return { differences: all, impact: before, whole: impactOf(byKeyOf(all), before) }
}

type Unreleased = Pick<GuardInputs, 'differences' | 'impact' | 'whole'>

/** What was released and has landed, as it was when it was still to come; also where somebody else has changed it since. */
function landedReleases(
  releases: readonly Approval[],
  asked: ReadonlyMap<ScopeKey, Difference>,
  { shown }: Slots,
): ReadonlyMap<ScopeKey, Difference> {
  const landed = new Map<ScopeKey, Difference>()
  for (const { scope, from, to, pool, verified } of releases.flatMap((one) => one.released)) {
    const key = scopeKey(scope)
    const wanted = asked.get(key)
    const isLanded = wanted ? wanted.to === to && wanted.from !== from : verified || shown(key) === to
    if (isLanded && pool === undefined)
      landed.set(key, { scope, key, from, to, cause: 'policy', entry: UNDECLARED, healing: false, grantEnd: false })
  }
  return landed
}

/** `held`: what was held before anything was released. */
type Judge = (released: ReadonlySet<ScopeKey>, tryAnyway: ReadonlySet<ScopeKey>, held: ReadonlySet<ScopeKey>) => Judgement

/** Judges by the rules of now, and by those of before where they were weakened: the weaker ones count for what was shown before. */
function judges(inputs: JudgementInputs, landed: ReadonlyMap<ScopeKey, Difference>): Judge {
  const { differences, impact, whole, digest, instantText, guards, holdsShown, slots } = inputs
  const { set } = inputs.policy
  const idle = inputs.idle === undefined ? {} : { idle: inputs.idle }
  const copying = slots.model.copying
  const reviewed = inputs.approvalSteps === 'together' ? [] : (inputs.reviewed ?? [])
  const before = beforeReleases(landed, inputs)
  const by = (rules: Rules): Judge => {
    const facts: GuardFacts = {
      ...inputs.facts,
      ...(copying !== undefined && { copying }),
      contested: inputs.contested,
      workspace: inputs.workspace,
      declared: declaredCount(set),
      protectedPeople: new Set(rules.protectedEmails),
    }
    return (released, tryAnyway, held) => {
      const isReleased = released.size > 0 || landed.size > 0
      const given = { differences, released, tryAnyway, impact, whole, facts, settings: rules.guards, digest, instantText, ...idle }
      return judge({ ...given, ...(isReleased && held.size > 0 && { unreleased: { ...before, held } }) })
    }
  }
  const now: Rules = { guards, protectedEmails: protectedEmails(set) }
  const asDeclared = by(now)
  if (reviewed.length === 0) return asDeclared
  const strictly = by(strictest(now, reviewed))
  return (released, tryAnyway, held) => {
    const free = asDeclared(released, tryAnyway, held)
    const first = strictly(released, tryAnyway, held)
    // What was weakened after a hold was shown counts for it.
    const weaker = Map.groupBy(first.holds, ({ id }) => {
      const shownAt = holdsShown[id]?.at ?? Number.POSITIVE_INFINITY
      return reviewed.filter(({ weakenedAt }) => weakenedAt <= shownAt).length
    })
    const waived = [...weaker].flatMap(([count, holds]) => {
      const { heldBy } = by(strictest(now, reviewed.slice(0, count)))(released, tryAnyway, held)
      const ids = new Set(holds.map(({ id }) => id))
      return [...first.heldBy].flatMap(([key, id]) => (ids.has(id) && !heldBy.has(key) ? [key] : []))
    })
    const judgement = strictly(released.union(new Set(waived)), tryAnyway, held)
    const isOld = ({ changes }: Hold): boolean => changes.some(({ scope }) => !free.heldBy.has(scopeKey(scope)))
    const holds = judgement.holds.map((hold) => (isOld(hold) ? { ...hold, message: `${hold.message}; ${NOT_YET}` } : hold))
    return { ...judgement, holds }
  }
}

const NO_ROSTER = 'the roster was never read, and without it nothing is released'

const NOT_YET = 'the weaker rules of this revision count only for changes that were shown before them (approvals: separate)'

interface Typed {
  readonly ids: readonly string[]
  readonly unmatched: readonly Unmatched[]
}

/** Ids typed by an operator: any beginning that only one hold has. */
function typedApprovals(commands: readonly string[], holds: readonly Hold[], approvals: readonly Approval[]): Typed {
  const ids: string[] = []
  const unmatched: Unmatched[] = []
  for (const typed of commands) {
    const found = holds.filter(({ id }) => id.startsWith(typed))
    const [only, ...others] = found
    if (only && others.length === 0 && typed.length >= MIN_HOLD_PREFIX) ids.push(only.id)
    else if (only)
      unmatched.push({
        id: typed,
        note: `${others.length > 0 ? `${found.length} holds begin` : 'a hold begins'} with ${typed}; type more of the id`,
      })
    else if (!approvals.some(({ id, state }) => id.startsWith(typed) && state === 'pending'))
      unmatched.push({ id: typed, note: 'no hold has this id now' })
  }
  return { ids, unmatched }
}

function releaseOf({ id, via }: Approval, listed: readonly PolicyApproval[]): Release {
  const at = listed.find((one) => one.id === id)?.at
  return { id, via, ...(via === 'policy' && at && { at }) }
}

interface Found {
  readonly judgement: Judgement
  readonly unmatched: readonly Unmatched[]
  /** Holds that approvals release once anything may be written. */
  readonly waiting: readonly Hold[]
}

/**
 * The approvals of the policy, those that are not through yet, and those that are void while their hold stands, with what each releases, now or
 * as soon as anything may be written.
 */
function shownOf(
  approvals: readonly Approval[],
  released: ReadonlyMap<ScopeKey, Approval>,
  inputs: JudgementInputs,
  { judgement: { holds }, unmatched, waiting }: Found,
): readonly PlanApproval[] {
  const listed = inputs.policy.set.approvals
  const notes = new Map(unmatched.map(({ id, note }) => [id, note]))
  const byKey = new Map(inputs.differences.map((one) => [one.key, one]))
  const placeOf = new Map(listed.map(({ id, at }) => [id, at]))
  const standing = new Set(holds.map(({ id }) => id))
  const known = approvals.filter(({ id, state }) => state === 'pending' || placeOf.has(id) || (state === 'void' && standing.has(id)))
  const shown = known.map((one): PlanApproval => {
    const now = [...released].flatMap(([key, by]) => (by.id === one.id ? (byKey.get(key) ?? []) : []))
    const later = waiting.find(({ id }) => id === one.id)?.changes ?? []
    const releases = [...now, ...later].map(({ scope, from, to }) => ({ scope, from, to }))
    const note = releases.length > 0 ? undefined : (notes.get(one.id) ?? WHY_NOTHING[one.state])
    // Whoever gave it: where it stands in the policy it can be removed.
    const at = one.state === 'pending' ? undefined : placeOf.get(one.id)
    return { ...releaseOf(one, listed), ...(at && { at }), state: one.state, releases, ...(note !== undefined && { note }) }
  })
  const typed = unmatched.filter(({ id }) => !known.some((one) => one.id === id))
  return [...shown, ...typed.map(({ id, note }): PlanApproval => ({ id, via: 'command', state: 'pending', releases: [], note }))]
}

const WHY_NOTHING: Readonly<Record<Approval['state'], string>> = {
  pending: 'no hold has this id now',
  spent: 'it was used, and releases nothing any more',
  void: 'it is void, because it reaches more people than were shown or is too old; look at its hold again, and approve that anew',
}
