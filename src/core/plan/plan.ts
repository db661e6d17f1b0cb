// Builds one plan from the desired caps, the readings and the ledger. The same inputs give the same plan, byte for byte, in `plan`, in `apply`
// and in the daemon. It joins the steps of the other files here, and writes nothing.

import type { CapAt } from '../interpret/effective.ts'
import { groupsWithCap, interpret, type Slots } from '../interpret/slots.ts'
import { type Change, type Effect, holdOf, type Plan } from '../model/change.ts'
import { byScope, compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { DesiredCap, Resolution } from '../resolve/desired.ts'
import { passedDeals } from './approval.ts'
import { contestedScopes } from './contested.ts'
import { type Diff, diff } from './diff.ts'
import { dispose, type Refused } from './dispositions.ts'
import { countingReader, type Impact, type ImpactInputs, impactOf, isRaise, reachOf } from './impact.ts'
import { judgeWithApprovals } from './judgement.ts'
import { liftedMembers, pins, revealedClears } from './pins.ts'
import { guardedPeople, rulesOf, weakenings } from './reviewed.ts'
import type { Difference, Snapshot } from './snapshot.ts'
import { countScopes, planProblems, scopeStates, skippedNow, withoutQuarantined } from './states.ts'

export type Planned = Readonly<ReturnType<typeof buildPlan>>

/** The steps of a plan: interpret the readings, compare, count the impact, judge, give dispositions, and collect what is shown. */
export function buildPlan(given: Snapshot) {
  const { owned, people, watched } = given
  const resolution = withoutQuarantined(given)
  const slots = slotsOf(given, resolution)
  const { first, result, lifted, refused } = compare(given, resolution, slots)
  const { desired } = result
  const declared = resolution === given.resolution ? first.desired : byScope(given.resolution.desired)

  const differences = inOrder([...result.differences, ...pins(result, slots, given)])
  const byKey = byScope(differences)
  const impact = impactInputs(given, slots, result)
  const whole = impactOf(byKey, impact)

  const writable = watched ? differences.filter((one) => !watched(one)) : differences
  const wholeWritable = writable.length === differences.length ? whole : impactOf(byScope(writable), impact)
  const contested = contestedScopes(writable, given)
  const reveals = revealedClears(writable, result, slots, people)
  const toJudge = reveals.length === 0 ? writable : inOrder([...writable, ...reveals])
  const judging = { differences: toJudge, impact, whole: wholeWritable, inSync: result.inSync, contested, slots }
  const judged = judgeWithApprovals({ ...given, ...judging })

  const allRefused = [...refused, ...refusedAncestors(given, declared, desired)]
  const guarded = guardedPeople(given)
  const changing = { differences, reveals, judged, pooled: lifted, guarded }
  const disposing = { ...changing, unknown: result.unknown, refused: allRefused, slots, desired }
  const disposed = dispose({ ...given, ...disposing })
  const changes = toChanges(disposed, byKey, impact, whole)
  const weakened = weakenings(rulesOf(given.policy, given.guards, given.approvalSteps), given.reviewed)
  const scopes = scopeStates(given, { declared, inSync: first.inSync }, result, changes, contested)
  const plan: Plan = {
    apiVersion: 'capkeeper/v1',
    kind: 'Plan',
    id: planId(given, changes),
    workspace: given.workspace,
    createdAt: given.now,
    policyDigest: given.policy.digest,
    revision: given.policy.revision,
    counts: countScopes(changes, scopes, result),
    changes,
    holds: judged.judgement.holds,
    unknown: result.unknown.toSorted((a, b) => compareScopes(a.scope, b.scope)),
    problems: planProblems(given, weakened, judged),
    approvals: judged.shown,
  }
  return {
    plan,
    diff: result,
    slots,
    differences: byKey,
    /** See `WaveInputs.pending`. */
    pending: disposed.pending,
    desired,
    owned,
    people,
    unlisted: given.facts.unlistedGroups,
    guarded,
    impact,
    scopes,
    /** Every approval in its next state; a process that may write saves them. */
    approvals: judged.approvals,
    /** An approval released a `rosterShrink` hold: the new roster is good. */
    rosterAccepted: judged.rosterAccepted,
    poolNotes: given.poolNotes ?? [],
    /** Deals that are reviewed from now on; a process that may write saves them. */
    passedDeals: passedDeals(given, { ...result, differences, heldBy: judged.judgement.heldBy, released: judged.releases }),
    /** Scopes that other clients keep changing; a process that may write saves them. */
    contested,
  }
}

const inOrder = (differences: readonly Difference[]): readonly Difference[] =>
  differences.toSorted((a, b) => compareScopes(a.scope, b.scope))

/** Slots outlive the plan. With all of `given` in them each plan would keep the one before it in memory, without end. */
function slotsOf({ model, readings, owned, people, facts, sent, now, writtenAt }: Snapshot, { desired }: Resolution): Slots {
  const unlisted = facts.unlistedGroups
  return interpret({ model, readings, owned, people, unlisted, sent, now, writtenAt, groupsWithCap: groupsWithCap(desired) })
}

/** The diff; where a pending cap would lift members of pools, `result` is a second one in which they keep the cap in force. */
function compare(given: Snapshot, resolution: Resolution, slots: Slots) {
  const skipped = skippedNow(given, resolution)
  const first = diff({ ...given, resolution, slots, skipped })
  const { kept: caps, first: lifted } = liftedMembers(first, slots, given)
  const { kept, refused } = splitRefused(given, caps)
  if (kept.size === 0) return { first, result: first, lifted, refused }
  const others = resolution.desired.filter(({ scope }) => !kept.has(scopeKey(scope)))
  const withKept = { ...resolution, desired: [...others, ...kept.values()] }
  return { first, result: diff({ ...given, resolution: withKept, slots, skipped }), lifted, refused }
}

/** Of the caps that keep members of pools from being lifted: those to write, and those that the service has refused. */
function splitRefused({ quarantined }: Snapshot, caps: readonly DesiredCap[]) {
  const kept = new Map<ScopeKey, DesiredCap>()
  const refused: Refused[] = []
  for (const one of caps) {
    const key = scopeKey(one.scope)
    const left = quarantined.get(key)
    if (!left) kept.set(key, one)
    // A person whom the service does not know has no cap to be lifted.
    else if (left.code !== 'SCOPE_UNKNOWN') refused.push({ scope: one.scope, to: one.cap, message: left.message })
  }
  return { kept, refused }
}

/** Caps of the team and of groups that the service has refused: they stay pending, and defer the changes that depend on them. */
function refusedAncestors({ quarantined }: Snapshot, declared: Diff['desired'], desired: Diff['desired']): readonly Refused[] {
  return [...quarantined].flatMap(([key, { code, message }]) => {
    const want = desired.has(key) ? undefined : declared.get(key)
    // A group that the service does not know has nobody in it.
    const isNobody = want?.scope.kind === 'group' && code === 'SCOPE_UNKNOWN'
    return want && want.scope.kind !== 'user' && !isNobody ? [{ scope: want.scope, to: want.cap, message }] : []
  })
}

function impactInputs(inputs: Snapshot, slots: Slots, result: Diff): ImpactInputs {
  const unset = new Set(result.inSync.filter(({ cap }) => cap === 'none').map(({ scope }) => scopeKey(scope)))
  const isCopied = inputs.model.layers === 'copied'
  return {
    people: inputs.people,
    readings: countingReader(slots.shown, (key) => unset.has(key)),
    mayBeInherited: inputs.model.reads !== 'explicit' && !isCopied ? slots.mayBeInherited : undefined,
    capSemantics: inputs.model.layers,
    // A cap that a grant gave back is not ours any more: when a team or group write overwrites it, it is not restored.
    kept: isCopied ? new Set(result.desired.keys()).difference(new Set(result.released)) : undefined,
    baseline: inputs.baseline,
    // Where caps are layered nothing is overwritten: a person who shows an ancestor's cap inherits it.
    isOverwritten: isCopied || inputs.model.copying !== undefined ? slots.isFromAncestorWrite : undefined,
  }
}

function toChanges(
  { order }: ReturnType<typeof dispose>,
  byKey: ReadonlyMap<ScopeKey, Difference>,
  impact: ImpactInputs,
  whole: readonly Impact[],
): readonly Change[] {
  const blocked = new Set<ScopeKey>()
  for (const { effect, changes, after } of whole)
    if (effect === 'blocked') for (const key of changes) if (byKey.get(key)?.to === after) blocked.add(key)
  const after: CapAt = (key) => byKey.get(key)?.to ?? impact.readings(key)
  return order.map(({ difference, disposition, released }): Change => {
    const { scope, key, from, to, cause, source, reason, healing, grantEnd } = difference
    const action = to === 'none' ? 'clear' : 'set'
    const effect = effectOf(difference, blocked)
    const people = reachOf(key, impact, after)
    return { scope, action, effect, from, to, cause, people, source, reason, healing, grantEnd, disposition, released }
  })
}

/** A cap of 0, or at or below the use of a person it reaches, is `block` unless it is a raise. */
function effectOf(one: Difference, blocked: ReadonlySet<ScopeKey>): Effect {
  if (one.to === 'none') return 'clear'
  if (isRaise(one)) return 'raise'
  if (one.to === 0 || blocked.has(one.key)) return 'block'
  return one.from === 'none' ? 'set' : 'lower'
}

function planId({ workspace, policy, digest }: Snapshot, changes: readonly Change[]): string {
  const lines = changes.map((one) => `${scopeKey(one.scope)}\t${one.from}\t${one.to}\t${holdOf(one) ?? ''}`).sort()
  return digest([workspace, policy.digest, ...lines].join('\n')).slice(0, 16)
}
