// One plan from what policy asks, what the service shows and what the ledger remembers. Pure: the same inputs give the same plan, byte
// for byte, in `plan`, in `apply` and in the daemon. It decides the order, the ids and the states; it writes nothing.

import type { CapAt, People } from '../interpret/effective.ts'
import type { Approval, Change, Effect, GuardSettings, Plan, PlanCounts, PlanProblem, Quarantined } from '../model/change.ts'
import type { ScopeStatus } from '../model/events.ts'
import type { CapReading, OwnedCap } from '../model/observed.ts'
import type { Cap, PolicyRevision } from '../model/policy.ts'
import { compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { DesiredCap, Resolution } from '../resolve/desired.ts'
import { currentApprovals, type HoldsShown, matchApprovals, releasedChanges, verifyApprovals, voidGrown } from './approval.ts'
import { type Contest, type ContestInputs, contestedScopes } from './contested.ts'
import { type Diff, type Difference, diff } from './diff.ts'
import { judge } from './guard.ts'
import type { GuardFacts, Judgement } from './guard-round.ts'
import { countingReader, type Impact, type ImpactInputs, impactOf, mayInherit, reachOf, unsetGroups, widerReader } from './impact.ts'
import { scopeStates } from './states.ts'

export interface PlanInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  readonly resolution: Resolution
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly people: People
  readonly skipped: ReadonlySet<ScopeKey>
  /** Scopes left alone because the service refused them; see `activeQuarantine`. */
  readonly quarantined: ReadonlyMap<ScopeKey, Quarantined>
  readonly approvals: readonly Approval[]
  /** Ids given by `apply --approve`. */
  readonly approve: readonly string[]
  readonly holdsShown: HoldsShown
  /** Nothing is going to be written, in audit mode or while paused: no approval is matched with a hold. */
  readonly idle?: boolean
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  readonly driftSince: Readonly<Record<ScopeKey, Instant>>
  /** See `DiffInputs.overwritten`. */
  readonly overwritten?: ReadonlySet<ScopeKey>
  /** False for what is shown and never written, such as foreign changes that are only watched: it is not judged and holds up nobody. */
  readonly writable?: (difference: Difference) => boolean
  /** Only these scopes are written this time: what goes out must stand without the rest as well. */
  readonly only?: ReadonlySet<ScopeKey>
  /** What contested scopes are told from. */
  readonly contests: ContestInputs
  readonly facts: Omit<GuardFacts, 'protectedPeople' | 'workspace' | 'declared' | 'contested'>
  readonly guards: GuardSettings
  readonly capSemantics: 'layered' | 'copied'
  /** This deployment's reads were seen to show only what is set at the very scope. */
  readonly readsExplicit?: boolean
  readonly prune: boolean
  /** Orphans stay because a policy file is broken, not because `prune` is off. */
  readonly policyBroken?: boolean
  readonly now: Instant
  /** SHA-256, for ids. */
  readonly digest: (text: string) => string
  /** An instant for people to read. */
  readonly instantText: (at: Instant) => string
}

export interface Planned {
  readonly plan: Plan
  readonly diff: Diff
  readonly differences: ReadonlyMap<ScopeKey, Difference>
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly scopes: readonly ScopeStatus[]
  /** Every approval in its next state, to be saved by whoever may write. */
  readonly approvals: readonly Approval[]
  /** The changes that approvals have released. */
  readonly released: ReadonlySet<ScopeKey>
  /** An approval released a `rosterShrink` hold: the new roster is good. */
  readonly rosterAccepted: boolean
  /** Scopes that others change again and again; to be saved by whoever may write. */
  readonly contested: ReadonlyMap<ScopeKey, Contest>
}

/** Builds the plan. */
export function buildPlan(inputs: PlanInputs): Planned {
  const readings: CapAt = (key) => inputs.readings.get(key)?.observed
  const wider = widerReader(inputs.people, readings, unsetGroups(inputs.resolution.desired))
  const declared = new Map(inputs.resolution.desired.map((one) => [scopeKey(one.scope), one]))
  const desired = inputs.quarantined.size === 0 ? declared : new Map([...declared].filter(([key]) => !inputs.quarantined.has(key)))
  const left = desired === declared ? inputs.resolution : { ...inputs.resolution, desired: [...desired.values()] }
  const skipped = new Set([...inputs.skipped, ...inputs.quarantined.keys()])
  const result = diff({ ...inputs, resolution: left, wider, skipped })
  const differences = result.differences.toSorted((a, b) => compareScopes(a.scope, b.scope))
  const unset = new Set(result.inSync.filter((key) => desired.get(key)?.cap === 'none'))
  const isExplicit = inputs.readsExplicit === true || inputs.capSemantics === 'copied'
  const impact: ImpactInputs = {
    people: inputs.people,
    readings: countingReader(readings, (key) => unset.has(key)),
    ...(!isExplicit && { mayInherit: mayInherit(inputs.people, readings) }),
    capSemantics: inputs.capSemantics,
    ...(inputs.capSemantics === 'copied' && { kept: new Set(desired.keys()) }),
    ...(inputs.baseline && { baseline: inputs.baseline }),
    ...(inputs.overwritten && { overwritten: inputs.overwritten }),
  }
  const byKey = byKeyOf(differences)
  const whole = impactOf(byKey, impact)
  const mayHeal = inputs.writable ? differences.filter(inputs.writable) : differences
  const contested = contestedScopes(mayHeal, inputs.contests, inputs.guards.contested, inputs.now)
  const judged = judgeWhatGoes({ ...inputs, contested }, differences, impact, whole, result)
  const changes = toChanges(byKey, impact, whole, judged.judgement)
  const scopes = scopeStates(inputs, declared, result, changes, contested)
  return {
    plan: assemble(inputs, changes, judged, result, scopes),
    diff: result,
    differences: byKey,
    desired,
    owned: inputs.owned,
    scopes,
    approvals: judged.approvals,
    released: judged.released,
    rosterAccepted: judged.rosterAccepted,
    contested,
  }
}

interface JudgeInputs extends PlanInputs {
  readonly contested: ReadonlyMap<ScopeKey, Contest>
}

interface Judged {
  readonly judgement: Judgement
  readonly approvals: readonly Approval[]
  readonly released: ReadonlySet<ScopeKey>
  readonly rosterAccepted: boolean
}

/**
 * Guards judge what may be written, and once more what is written this time: a change must not lean on another that stays behind, such as
 * the team cap that people would fall back to. What the first judgement holds stays held.
 */
function judgeWhatGoes(
  inputs: JudgeInputs,
  differences: readonly Difference[],
  impact: ImpactInputs,
  whole: readonly Impact[],
  result: Diff,
): Judged {
  const { writable, only } = inputs
  const mayGo = writable ? differences.filter(writable) : differences
  const isWhole = mayGo.length === differences.length
  const first = judgeWithApprovals(inputs, mayGo, impact, isWhole ? whole : impactOf(byKeyOf(mayGo), impact), result)
  const open = mayGo.filter((one) => !first.judgement.heldBy.has(one.key))
  const going = only ? open.filter((one) => only.has(one.key)) : open
  if (going.length === open.length) return first
  const rest = { ...inputs, approvals: first.approvals, approve: [] }
  const second = judgeWithApprovals(rest, going, impact, impactOf(byKeyOf(going), impact), result)
  const { holds, heldBy, warnings } = first.judgement
  return {
    judgement: {
      holds: [...holds, ...second.judgement.holds],
      heldBy: new Map([...heldBy, ...second.judgement.heldBy]),
      warnings,
    },
    approvals: second.approvals,
    released: first.released.union(second.released),
    rosterAccepted: first.rosterAccepted || second.rosterAccepted,
  }
}

const byKeyOf = (differences: readonly Difference[]): ReadonlyMap<ScopeKey, Difference> => new Map(differences.map((one) => [one.key, one]))

/** Guards, then approvals of what they held, then guards again on the rest, until no approval matches any more. */
function judgeWithApprovals(
  inputs: JudgeInputs,
  differences: readonly Difference[],
  impact: ImpactInputs,
  whole: readonly Impact[],
  result: Diff,
): Judged {
  const { set } = inputs.policy
  const fresh = { policy: set.approvals.map((one) => one.id), command: inputs.approve }
  const known = currentApprovals(inputs.approvals, fresh, inputs.now)
  const inSync = new Set(known.length > 0 ? result.inSync : [])
  let approvals = voidGrown(
    verifyApprovals(known, (key) => inputs.readings.get(key)?.observed, inSync),
    whole,
  )
  const facts: GuardFacts = {
    ...inputs.facts,
    contested: inputs.contested,
    workspace: inputs.workspace,
    declared: set.rules.length + set.grants.length,
    protectedPeople: new Set(set.protectedPeople.map((one) => one.scope.email)),
  }
  let rosterAccepted = false
  for (let round = 0; ; round += 1) {
    const released = releasedChanges(approvals, differences, inputs.overwritten)
    const { digest, instantText, guards: settings } = inputs
    const tryAnyway = releasedChanges(since(approvals, facts.breaker?.openedAt), differences, inputs.overwritten)
    const judgement = judge({ differences, released, tryAnyway, impact, whole, facts, settings, digest, instantText })
    if (inputs.idle) return { judgement, approvals, released, rosterAccepted }
    const next = matchApprovals(approvals, judgement.holds, inputs.holdsShown, facts.rosterDoubt?.now)
    approvals = next.approvals
    // Every round that goes on spends one match, so approvals bound the rounds.
    if (next.matched.length === 0 || round > approvals.length) return { judgement, approvals, released, rosterAccepted }
    rosterAccepted ||= next.matched.some((hold) => hold.guards.includes('rosterShrink'))
  }
}

/** What was released before the breaker opened has had its try. */
const since = (approvals: readonly Approval[], openedAt: Instant = 0): readonly Approval[] =>
  approvals.filter((one) => one.approvedAt >= openedAt)

function toChanges(
  byKey: ReadonlyMap<ScopeKey, Difference>,
  impact: ImpactInputs,
  whole: readonly Impact[],
  judgement: Judgement,
): readonly Change[] {
  const blocked = new Set<ScopeKey>()
  for (const one of whole) if (one.effect === 'blocked') for (const key of one.changes) blocked.add(key)
  const after: CapAt = (key) => byKey.get(key)?.to ?? impact.readings(key)
  return [...byKey.values()].map((one): Change => {
    const hold = judgement.heldBy.get(one.key)
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
      ...(hold !== undefined && { hold }),
      healing: one.healing,
      grantEnd: one.grantEnd,
    }
  })
}

/** To 0, or to at/below the use of somebody it reaches, is `block` unless it is a raise. */
function effectOf(one: Difference, blocked: ReadonlySet<ScopeKey>): Effect {
  if (one.to === 'none') return 'clear'
  if (one.from !== 'none' && one.to > one.from) return 'raise'
  if (one.to === 0 || blocked.has(one.key)) return 'block'
  return one.from === 'none' ? 'set' : 'lower'
}

function assemble(inputs: PlanInputs, changes: readonly Change[], judged: Judged, result: Diff, scopes: readonly ScopeStatus[]): Plan {
  const { workspace, policy } = inputs
  const { holds } = judged.judgement
  const lines = changes.map((one) => `${scopeKey(one.scope)}\t${one.from}\t${one.to}\t${one.hold ?? ''}`)
  return {
    apiVersion: 'capkeeper/v1',
    kind: 'Plan',
    id: inputs.digest([workspace, policy.digest, ...lines].join('\n')).slice(0, 16),
    workspace,
    createdAt: inputs.now,
    policyDigest: policy.digest,
    revision: policy.revision,
    counts: count(changes, scopes, result),
    changes,
    holds,
    unknown: result.unknown.toSorted((a, b) => compareScopes(a.scope, b.scope)),
    problems: planProblems(inputs, judged),
  }
}

function count(changes: readonly Change[], scopes: readonly ScopeStatus[], result: Diff): PlanCounts {
  const open = changes.filter((one) => one.hold === undefined)
  const of = (effect: Effect): number => open.filter((one) => one.effect === effect).length
  const inState = (state: ScopeStatus['state']): number => scopes.filter((one) => one.state === state).length
  return {
    set: of('set'),
    raise: of('raise'),
    lower: of('lower'),
    block: of('block'),
    clear: of('clear'),
    held: changes.length - open.length,
    inSync: result.inSync.length,
    unknown: result.unknown.length,
    skipped: inState('skipped'),
    rejected: inState('rejected'),
  }
}

function planProblems(inputs: PlanInputs, judged: Judged): readonly PlanProblem[] {
  const problems: PlanProblem[] = []
  for (const { scope, code, message, at } of inputs.resolution.rejected) {
    problems.push({ severity: 'error', code, message, scope, ...(at && { at }) })
  }
  for (const one of inputs.quarantined.values()) {
    problems.push({ severity: 'error', code: one.code, message: one.message, scope: one.scope })
  }
  for (const { scope, why, at } of inputs.resolution.skipped) {
    problems.push({ severity: 'warning', code: 'SCOPE_SKIPPED', message: why, scope, ...(at && { at }) })
  }
  for (const { guard, message } of judged.judgement.warnings) {
    problems.push({ severity: 'warning', code: `GUARD_${guard.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`, message })
  }
  const listed = new Map(inputs.policy.set.approvals.map((one) => [one.id, one.at]))
  for (const approval of judged.approvals) {
    const at = listed.get(approval.id)
    if (approval.state === 'pending' || !at) continue
    const message = `approval ${approval.id} is ${approval.state} and releases nothing any more; remove it from spec.approvals`
    problems.push({ severity: 'warning', code: `APPROVAL_${approval.state.toUpperCase()}`, message, at })
  }
  return problems
}

/**
 * A difference is in an order of writes that leaves nobody below the lesser of before and after, nor uncapped on the way to a cap. `isUnset`
 * says that a change's `from` is only what applies from a wider scope: such a cap is a first one, and must stand before the wider one goes.
 */
export function writeOrder(
  changes: readonly Change[],
  capSemantics: 'layered' | 'copied',
  isUnset: (change: Change) => boolean = () => false,
): readonly (readonly Change[])[] {
  const go = changes.filter((one) => one.hold === undefined)
  const of = (kind: string, up?: boolean): readonly Change[] =>
    go.filter((one) => one.scope.kind === kind && (up === undefined || (isUp(one) || (one.to !== 'none' && isUnset(one))) === up))
  const phases =
    capSemantics === 'copied'
      ? [of('team'), of('group'), of('user', true), of('user', false)]
      : [of('user', true), of('group', true), of('team', true), of('team', false), of('group', false), of('user', false)]
  return phases.filter((phase) => phase.length > 0)
}

/** First sets and raises go first. */
const isUp = (one: Change): boolean => one.to !== 'none' && (one.from === 'none' || one.to > one.from)
