// One plan from what policy asks, what the service shows and what the ledger remembers. Pure: the same inputs give the same plan, byte
// for byte, in `plan`, in `apply` and in the daemon. It decides the order, the ids and what becomes of each change; it writes nothing.
import type { CapAt, People } from '../interpret/effective.ts'
import type { ServiceModel } from '../interpret/service-model.ts'
import { groupsWithCap, interpret, type SentCap, type SlotInputs, type Slots } from '../interpret/slots.ts'
import type { Approval, Change, Effect, GuardSettings, Plan, PlanCounts, Quarantined } from '../model/change.ts'
import { holdOf } from '../model/change.ts'
import type { ScopeStatus } from '../model/events.ts'
import type { OwnedCap } from '../model/observed.ts'
import type { Cap, PolicyRevision } from '../model/policy.ts'
import { byScope, compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { PoolNote } from '../pools/notes.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type { HoldsShown } from './approval.ts'
import { type Contest, type ContestInputs, contestedScopes } from './contested.ts'
import { type Diff, type Difference, diff, type PoolReview } from './diff.ts'
import { type Disposed, dispose, type Exclusion, type Failure, type Refused } from './dispositions.ts'
import type { GuardFacts } from './guards/round.ts'
import { countingReader, type Impact, type ImpactInputs, impactOf, isRaise, reachOf } from './impact.ts'
import { judgeWithApprovals } from './judgement.ts'
import { type PoolFollowers, pins, stays } from './pins.ts'
import { planProblems } from './problems.ts'
import { type ReviewedRules, rulesOf, weakenings } from './reviewed.ts'
import { type StateInputs, scopeStates } from './states.ts'
import type { Pending } from './wave.ts'

export interface PlanInputs extends StateInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  readonly model: ServiceModel
  readonly skipped: ReadonlySet<ScopeKey>
  /** Scopes left alone because the service refused them; see `activeQuarantine`. */
  readonly quarantined: ReadonlyMap<ScopeKey, Quarantined>
  readonly approvals: readonly Approval[]
  /** Ids, or their beginnings, given by `apply --approve`. */
  readonly approve: readonly string[]
  readonly holdsShown: HoldsShown
  /** The rules before they were weakened, while that does not count yet, oldest first; absent: nothing was. */
  readonly reviewed?: readonly ReviewedRules[]
  /** `together`: an approval may arrive with the change it releases. */
  readonly approvalSteps?: 'separate' | 'together'
  /** Why nothing is going to be written, as in audit mode or while paused: no approval is matched with a hold. */
  readonly idle?: string
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  /** See `SlotInputs.sent`. */
  readonly sent?: readonly SentCap[]
  /** See `SlotInputs.writtenAt`. */
  readonly writtenAt?: SlotInputs['writtenAt']
  /** What nobody is ever going to write, such as foreign changes that are only watched: it is not judged and holds up nobody. */
  readonly watched?: (difference: Difference) => Exclusion | undefined
  /** What is not written by this run, though it will be by another. */
  readonly excluded?: (difference: Difference) => Exclusion | undefined
  /** What failed in this run, by scope: not tried again by it. */
  readonly failed?: ReadonlyMap<ScopeKey, Failure>
  /** Scopes that could not be read for so long that nobody waits for them any more. */
  readonly givenUp?: ReadonlySet<ScopeKey>
  /** What contested scopes are told from. */
  readonly contests: ContestInputs
  readonly facts: Omit<GuardFacts, 'protectedPeople' | 'workspace' | 'declared' | 'contested' | 'copying'>
  readonly guards: GuardSettings
  readonly prune: boolean
  readonly poolReviews: ReadonlyMap<string, PoolReview>
  readonly poolNotes?: readonly PoolNote[]
  /** Members of pools; what is asked of them goes first. */
  readonly followers?: readonly PoolFollowers[]
  /** SHA-256, for ids. */
  readonly digest: (text: string) => string
}

export interface Planned {
  readonly plan: Plan
  readonly diff: Diff
  readonly slots: Slots
  readonly differences: ReadonlyMap<ScopeKey, Difference>
  /** Everything that is still to come, written by this run or not; see `WaveInputs.pending`. */
  readonly pending: readonly Pending[]
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  /** Declared groups whose members nobody could list. */
  readonly unlisted?: ReadonlySet<ScopeKey>
  /** What the impact of `differences` was counted by. */
  readonly impact: ImpactInputs
  readonly scopes: readonly ScopeStatus[]
  /** Every approval in its next state, to be saved by whoever may write. */
  readonly approvals: readonly Approval[]
  /** An approval released a `rosterShrink` hold: the new roster is good. */
  readonly rosterAccepted: boolean
  /** What a person should know of pools. */
  readonly poolNotes: readonly PoolNote[]
  /** Scopes that others change again and again; to be saved by whoever may write. */
  readonly contested: ReadonlyMap<ScopeKey, Contest>
}

/** Builds the plan. */
export function buildPlan(given: PlanInputs): Planned {
  const left = askedNow(given)
  const skipped = skippedNow(given, left)
  // Slots outlive the plan: with everything that was given, each plan would hold the one before it in memory, and so on for ever.
  const { model, readings, owned, people, sent, now, writtenAt } = given
  const unlisted = given.facts.unlistedGroups
  const slots = interpret({ model, readings, owned, people, unlisted, sent, now, writtenAt, groupsWithCap: groupsWithCap(left.desired) })
  const first = diff({ ...given, resolution: left, slots, skipped })
  const membership = { people, ...(unlisted && { unlisted }) }
  // Who is left alone because the service has refused a cap of theirs is lifted by a wider one all the same.
  const staying = stays(first, slots, { desired: first.desired, skipped: given.skipped }, membership, given.followers ?? [])
  const { kept, refused } = refusedStays(given, staying.kept)
  const others = left.desired.filter(({ scope }) => !kept.has(scopeKey(scope)))
  const asked = kept.size > 0 ? { ...left, desired: [...others, ...kept.values()] } : left
  const result = asked === left ? first : diff({ ...given, resolution: asked, slots, skipped })
  const { desired } = result
  const declared = left === given.resolution ? first.desired : byScope(given.resolution.desired)
  const found = [...result.differences, ...pins(result, slots, membership, given.poolReviews)]
  const differences = found.toSorted((a, b) => compareScopes(a.scope, b.scope))
  const impact = impactInputs(given, slots, result)
  const byKey = byScope(differences)
  const whole = impactOf(byKey, impact)
  const mayGo = given.watched ? differences.filter((one) => !given.watched?.(one)) : differences
  const counted = mayGo.length === differences.length ? whole : impactOf(byScope(mayGo), impact)
  const contested = contestedScopes(mayGo, given.contests, given.guards.contested, given.now)
  const judged = judgeWithApprovals({ ...given, differences: mayGo, impact, whole: counted, inSync: result.inSync, contested, slots })
  const waves = {
    unknown: result.unknown,
    refused: [...refused, ...refusedAncestor(given, declared, desired)],
    ...(unlisted && { unlisted }),
  }
  const disposed = dispose({ ...given, ...waves, differences, judged, slots, desired, pooled: staying.first })
  const changes = toChanges(disposed, byKey, impact, whole)
  const inputs = {
    ...given,
    weakenings: weakenings(rulesOf(given.policy, given.guards, given.approvalSteps), given.reviewed),
  }
  const scopes = scopeStates(inputs, { declared, inSync: first.inSync }, result, changes, contested)
  return {
    plan: {
      ...identityOf(given, changes),
      counts: count(changes, scopes, result),
      changes,
      holds: judged.judgement.holds,
      unknown: result.unknown.toSorted((a, b) => compareScopes(a.scope, b.scope)),
      problems: planProblems(inputs, judged),
      approvals: judged.shown,
    },
    diff: result,
    slots,
    differences: byKey,
    pending: disposed.pending,
    desired,
    owned: given.owned,
    people: given.people,
    ...(unlisted && { unlisted }),
    impact,
    scopes,
    approvals: judged.approvals,
    rosterAccepted: judged.rosterAccepted,
    poolNotes: given.poolNotes ?? [],
    contested,
  }
}

/** What keeps members of pools where they are: caps to write, and those that the service has refused. */
function refusedStays({ quarantined }: PlanInputs, stays: readonly DesiredCap[]) {
  const kept = new Map<ScopeKey, DesiredCap>()
  const refused: Refused[] = []
  for (const one of stays) {
    const key = scopeKey(one.scope)
    const left = quarantined.get(key)
    if (!left) kept.set(key, one)
    // Whom the service does not know is lifted by nothing.
    else if (left.code !== 'SCOPE_UNKNOWN') refused.push({ scope: one.scope, to: one.cap, message: left.message })
  }
  return { kept, refused }
}

/** Teams and groups that the service has refused: what counts on them goes on waiting. */
function refusedAncestor(
  { quarantined }: PlanInputs,
  declared: ReadonlyMap<ScopeKey, DesiredCap>,
  desired: typeof declared,
): readonly Refused[] {
  return [...quarantined].flatMap(([key, { code, message }]) => {
    const want = desired.has(key) ? undefined : declared.get(key)
    // A group that the service does not know has nobody in it.
    const isNobody = want?.scope.kind === 'group' && code === 'SCOPE_UNKNOWN'
    return want && want.scope.kind !== 'user' && !isNobody ? [{ scope: want.scope, to: want.cap, message }] : []
  })
}

/** What is asked for now: a scope that is left alone is asked for nothing, or for what stood there before a 0 that was not kept. */
function askedNow({ resolution, quarantined }: PlanInputs): Resolution {
  if (quarantined.size === 0) return resolution
  const desired = resolution.desired.flatMap((one) => {
    const left = quarantined.get(scopeKey(one.scope))
    if (!left) return one
    return left.restore === undefined ? [] : restored(one, left.restore)
  })
  return { ...resolution, desired }
}

/** What is left alone and asked for nothing is skipped. */
function skippedNow({ skipped, quarantined }: PlanInputs, { desired }: Resolution): ReadonlySet<ScopeKey> {
  if (quarantined.size === 0) return skipped
  const asked = byScope(desired)
  return new Set([...skipped, ...[...quarantined.keys()].filter((key) => !asked.has(key))])
}

const restored = (one: DesiredCap, cap: Cap): DesiredCap => ({
  ...one,
  cap,
  entry: { kind: 'kept', cap },
  origin: { ...one.origin, cap, reason: 'a cap of 0 is not kept here, so the cap before it stays' },
})

function impactInputs(inputs: PlanInputs, slots: Slots, result: Diff): ImpactInputs {
  const unset = new Set(result.inSync.filter(({ cap }) => cap === 'none').map(({ scope }) => scopeKey(scope)))
  const isCopied = inputs.model.layers === 'copied'
  return {
    people: inputs.people,
    readings: countingReader(slots.shown, (key) => unset.has(key)),
    ...(inputs.model.reads !== 'explicit' && !isCopied && { mayBeInherited: slots.mayBeInherited }),
    capSemantics: inputs.model.layers,
    // What was given back is nobody's any more: a wide write that overwrites it is not made good.
    ...(isCopied && { kept: new Set(result.desired.keys()).difference(new Set(result.released)) }),
    ...(inputs.baseline && { baseline: inputs.baseline }),
    // In layers nobody is overwritten: who shows a wider cap follows it.
    ...((isCopied || inputs.model.copying !== undefined) && { isOverwritten: slots.isFromAncestorWrite }),
  }
}

function toChanges(
  { order }: Disposed,
  byKey: ReadonlyMap<ScopeKey, Difference>,
  impact: ImpactInputs,
  whole: readonly Impact[],
): readonly Change[] {
  const blocked = new Set<ScopeKey>()
  for (const one of whole) if (one.effect === 'blocked') for (const key of one.changes) blocked.add(key)
  const after: CapAt = (key) => byKey.get(key)?.to ?? impact.readings(key)
  return order.map(({ difference: one, disposition, released }): Change => {
    return {
      scope: one.scope,
      action: one.to === 'none' ? 'clear' : 'set',
      effect: effectOf(one, blocked),
      from: one.from,
      to: one.to,
      cause: one.cause,
      people: reachOf(one.key, impact, after),
      ...(one.source && { source: one.source }),
      ...(one.reason !== undefined && { reason: one.reason }),
      healing: one.healing,
      grantEnd: one.grantEnd,
      disposition,
      ...(released && { released }),
    }
  })
}

/** To 0, or to at/below the use of somebody it reaches, is `block` unless it is a raise. */
function effectOf(one: Difference, blocked: ReadonlySet<ScopeKey>): Effect {
  if (one.to === 'none') return 'clear'
  if (isRaise(one)) return 'raise'
  if (one.to === 0 || blocked.has(one.key)) return 'block'
  return one.from === 'none' ? 'set' : 'lower'
}

function identityOf({ workspace, policy, digest, now }: PlanInputs, changes: readonly Change[]) {
  const lines = changes.map((one) => `${scopeKey(one.scope)}\t${one.from}\t${one.to}\t${holdOf(one) ?? ''}`).sort()
  return {
    apiVersion: 'capkeeper/v1',
    kind: 'Plan',
    id: digest([workspace, policy.digest, ...lines].join('\n')).slice(0, 16),
    workspace,
    createdAt: now,
    policyDigest: policy.digest,
    revision: policy.revision,
  } as const
}

function count(changes: readonly Change[], scopes: readonly ScopeStatus[], result: Diff): PlanCounts {
  const open = changes.filter((one) => holdOf(one) === undefined)
  const of = (effect: Effect): number => open.filter((one) => one.effect === effect).length
  // A cap that stands in for one that the service does not keep is not what policy asks for.
  const rejected = byScope(scopes.filter(({ state }) => state === 'rejected'))
  const isKept = ({ scope }: DesiredCap): boolean => !rejected.has(scopeKey(scope))
  return {
    set: of('set'),
    raise: of('raise'),
    lower: of('lower'),
    block: of('block'),
    clear: of('clear'),
    held: changes.length - open.length,
    inSync: rejected.size === 0 ? result.inSync.length : result.inSync.filter(isKept).length,
    unknown: result.unknown.length,
    skipped: scopes.filter(({ state }) => state === 'skipped').length,
    rejected: rejected.size,
  }
}
