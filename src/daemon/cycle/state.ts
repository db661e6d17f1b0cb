// What one workspace knows between cycles, and the plan that follows from it. The ledger is read here and never written, and the client
// is never called, so `plan` and the daemon get the same plan from the same knowledge.

import { countPeople, type People } from '../../core/interpret/effective.ts'
import type { ServiceEvidence } from '../../core/interpret/evidence.ts'
import { serviceModel } from '../../core/interpret/service-model.ts'
import { groupsWithCap, interpret, type SentCap, type Slots } from '../../core/interpret/slots.ts'
import { isReadWithin, isYounger, notAhead } from '../../core/model/age.ts'
import { type GuardSettings, LANDING_MS, mayHaveLanded, type Pause } from '../../core/model/change.ts'
import type { Mode } from '../../core/model/events.ts'
import { type CapReading, type Cycle, mayBeSet, type OwnedCap } from '../../core/model/observed.ts'
import type { Cap, PolicyRevision } from '../../core/model/policy.ts'
import { byScope, groupScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { isOpen } from '../../core/plan/breaker.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion, Failure } from '../../core/plan/dispositions.ts'
import { buildPlan, type Planned } from '../../core/plan/plan.ts'
import { poolReviews } from '../../core/plan/pool-review.ts'
import { noteRules, type ReviewedRules, type Rules, rulesOf } from '../../core/plan/reviewed.ts'
import { activeQuarantine, scopesToRead, skippedScopes } from '../../core/plan/states.ts'
import { followersIn } from '../../core/pools/ask.ts'
import { poolNotes } from '../../core/pools/notes.ts'
import type { ConditionMemory } from '../../core/resolve/conditions.ts'
import { resolveDesired } from '../../core/resolve/desired.ts'
import type { DealtPools } from '../../core/resolve/pools.ts'
import type { DesiredInputs, Resolution } from '../../core/resolve/resolution.ts'
import { approvedCount, ROSTER_LIFE_MS } from '../../core/resolve/roster.ts'
import type { MeasuredAddOn } from '../../core/use/add-on.ts'
import { nearest } from '../../policy/suggest.ts'
import type { Clock, Digest, RecordsReader, UsageFacts } from '../../ports.ts'
import { readQuality } from './read.ts'
import { seenIn } from './seen.ts'

/** Clocks further apart than this freeze grants. */
export const SKEW_LIMIT_MS = 5 * 60_000

/** The settings that a plan depends on. */
export interface PlanSettings {
  readonly name: string
  readonly guards: GuardSettings
  readonly capSemantics: 'layered' | 'copied'
  /** Absent: auto. */
  readonly capReads?: 'auto' | 'explicit' | 'inherited'
  /** Whether an approval may arrive with the change it releases; absent: separate. */
  readonly approvals?: 'separate' | 'together'
  readonly prune: boolean
  /** Absent: enforce. */
  readonly mode?: Mode
  /** How old figures of use can be at most; absent: 3 h 30 min. */
  readonly usageLagMs?: number
  readonly rate: { readonly concurrency: number }
}

/** Changes as the workspace learns; everything that must outlive the process is in the ledger. */
export interface WorkspaceState {
  policy: PolicyRevision
  /** False while a file is broken: nothing is pruned until the set is whole again. */
  policyValid: boolean
  readonly readings: Map<ScopeKey, CapReading>
  usage: UsageFacts | undefined
  /** Add-on use as the service tells it; absent where it does not. */
  measured: MeasuredAddOn | undefined
  unknownGroups: readonly string[]
  conflictsGone: Readonly<Record<string, number>>
  conflictGroups: Readonly<Record<string, readonly string[]>>
  conditions: ConditionMemory
  /** What pools have dealt, and what is counted of it. */
  pools: DealtPools
  /** Why pools keep their last deal, by name. */
  frozenPools: Readonly<Record<string, string>>
  clockSkewMs: number | undefined
}

/** What is known at the start: what the ledger remembers. */
export function recall(policy: PolicyRevision, ledger: RecordsReader): WorkspaceState {
  return {
    policy,
    policyValid: true,
    readings: new Map(),
    usage: ledger.fact('usage'),
    measured: ledger.fact('addOn'),
    unknownGroups: [],
    conflictsGone: ledger.fact('conflictsGone') ?? {},
    conflictGroups: ledger.fact('conflictGroups') ?? {},
    conditions: ledger.fact('conditions') ?? {},
    pools: ledger.fact('pools') ?? {},
    frozenPools: {},
    clockSkewMs: undefined,
  }
}

/** Everything that is worked out from knowledge before any cap is read. */
export interface DesiredState {
  /** What it was worked out from. */
  readonly inputs: DesiredInputs
  readonly resolution: Resolution
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly skipped: ReadonlySet<ScopeKey>
  readonly quarantine: ReturnType<typeof activeQuarantine>
  /** Every scope that a sweep reads, open intents included. */
  readonly toRead: readonly Scope[]
  readonly people: People
  /** Groups that policy names or that carry a cap of ours, of which nobody knows who is in them. */
  readonly unlisted: ReadonlySet<ScopeKey>
  /** The readings as they are understood now; it follows them. */
  readonly slots: Slots
  /** It was worked out with grants that neither start nor end. */
  readonly grantsFrozen: boolean
}

export interface Planner {
  readonly settings: PlanSettings
  readonly ledger: RecordsReader
  readonly clock: Clock
  readonly digest: Digest
  /** What is known of the deployment, where it is more than the ledger says. */
  readonly seen?: ServiceEvidence
  /** What nobody is ever going to write; see `PlanInputs.watched`. */
  readonly watched?: (difference: Difference) => Exclusion | undefined
  /** See `PlanInputs.idle`. */
  readonly idle?: string
}

/** The billing cycle as far as it is known. */
export const cycleOf = (usage: UsageFacts | undefined): Cycle | undefined => usage?.roster.cycle ?? usage?.balance?.cycle

/** The service's clock and ours disagree: grants neither start nor end. */
export const grantsFrozen = ({ clockSkewMs = 0 }: WorkspaceState): boolean => Math.abs(clockSkewMs) > SKEW_LIMIT_MS

/** Caps of ours that nothing declares go, but while a file is broken. */
const prunes = ({ policyValid }: WorkspaceState, { prune }: PlanSettings): boolean => prune && policyValid

/** What resolving depends on, from knowledge and the ledger. */
export function desiredInputs(state: WorkspaceState, planner: Pick<Planner, 'settings' | 'ledger' | 'clock'>): DesiredInputs {
  const cycle = cycleOf(state.usage)
  return {
    set: state.policy.set,
    groups: state.usage?.groups ?? [],
    unknownGroups: state.unknownGroups,
    now: planner.clock.now(),
    capSemantics: planner.settings.capSemantics,
    owned: byScope(planner.ledger.owned()),
    prune: prunes(state, planner.settings),
    conflictsGone: state.conflictsGone,
    conflictGroups: state.conflictGroups,
    newReading: undefined,
    conditions: state.conditions,
    pools: state.pools,
    nearest,
    grantsFrozen: grantsFrozen(state),
    ...(state.usage && { roster: state.usage.roster }),
    ...(cycle && { cycle }),
  }
}

/** What a resolution says of people's groups and of conditions counts from now on. */
export function countReading(state: WorkspaceState, { conditions, conflictsGone, conflictGroups }: Resolution): void {
  state.conditions = conditions
  state.conflictsGone = conflictsGone
  state.conflictGroups = conflictGroups
}

/** A scope that is none of our business now: it is only looked at because of an open intent. */
export const isLeftAlone = (scope: Scope, { skipped, people }: DesiredState): boolean =>
  skipped.has(scopeKey(scope)) || (scope.kind === 'user' && people.approved.length > 0 && !people.byKey.has(scopeKey(scope)))

/** What policy asks now and which scopes to look at. */
export function desiredState(state: WorkspaceState, planner: Planner): DesiredState {
  const { ledger } = planner
  const inputs = desiredInputs(state, planner)
  const { now, owned } = inputs
  const resolution = resolveDesired(inputs)
  const skipped = skippedScopes(resolution, owned, state.usage?.roster, state.unknownGroups)
  const quarantine = activeQuarantine(ledger.quarantined(), resolution, skipped, now)
  const people = countPeople({
    ...{ groups: state.usage?.groups ?? [], now },
    ...state.usage,
    ...(state.measured && { measured: state.measured }),
  })
  const model = serviceModel(planner.settings, planner.seen ?? seenIn(ledger))
  // What a person's reading shows may be their group's: then it tells nothing without that.
  const mayShow = model.reads === 'explicit' ? undefined : (key: ScopeKey) => people.byKey.get(key)?.groups ?? []
  const managed = scopesToRead(resolution, owned, { skipped, quarantined: quarantine.active }, mayShow)
  const unlisted = unlistedGroups(state, owned)
  const slots = interpret({
    model,
    readings: state.readings,
    owned,
    people,
    unlisted,
    groupsWithCap: groupsWithCap(resolution.desired),
  })
  const toRead = withIntents(managed, ledger)
  return { inputs, resolution, owned, skipped, quarantine, toRead, people, unlisted, slots, grantsFrozen: inputs.grantsFrozen }
}

function withIntents(managed: readonly Scope[], ledger: RecordsReader): readonly Scope[] {
  const open = ledger.openIntents().map((intent) => intent.change.scope)
  if (open.length === 0) return managed
  return [...new Map([...open, ...managed].map((scope) => [scopeKey(scope), scope])).values()]
}

export interface PlanOptions {
  /** Ids given on the command line. */
  readonly approve?: readonly string[]
  /** What is not written by this run; see `PlanInputs.excluded`. */
  readonly excluded?: (difference: Difference) => Exclusion | undefined
  /** See `PlanInputs.failed`. */
  readonly failed?: ReadonlyMap<ScopeKey, Failure>
}

/** Why people cannot be counted by a roster. A doubted one was read as well. */
function rosterMissing(usage: UsageFacts | undefined, now: Instant): 'never' | 'old' | 'ahead' | false {
  if (!usage) return 'never'
  const read = [usage.roster, ...(usage.doubted ? [usage.doubted.roster] : [])]
  if (read.some((roster) => isReadWithin(roster, now, ROSTER_LIFE_MS))) return false
  return read.some(({ readAt }) => readAt > now) ? 'ahead' : 'old'
}

function unlistedGroups({ usage, policy }: WorkspaceState, owned: ReadonlyMap<ScopeKey, OwnedCap>): ReadonlySet<ScopeKey> {
  const listed = new Set(usage?.groups.map(({ id }) => scopeKey(groupScope(id))))
  const ours = [...owned.values()].flatMap((one) => (one.scope.kind === 'group' && mayBeSet(one) ? [one.scope] : []))
  const keys = [...policy.set.groups.map(({ scope }) => scope), ...ours].map(scopeKey)
  return new Set(keys.filter((key) => !listed.has(key)))
}

/** What is held for longer is a plan of its own by then (product.md: for a day at least). */
const PLAN_LIFE_MS = 24 * 3_600_000

/** Where a plan that is not through began, for a day. Kept for longer it would make lowerings look like raises: of unknown age it is none. */
export function openBaseline(ledger: Pick<RecordsReader, 'fact'>, now: Instant): Readonly<Record<ScopeKey, Cap>> | undefined {
  return isYounger(ledger.fact('planBegunAt') ?? 0, now, PLAN_LIFE_MS) ? ledger.fact('planBaseline') : undefined
}

/** The plan that follows from what is known now. */
export function planFrom(state: WorkspaceState, view: DesiredState, planner: Planner, options: PlanOptions = {}): Planned {
  const { ledger, clock, settings, digest } = planner
  const { usage, policy } = state
  const baseline = openBaseline(ledger, clock.now())
  const verifiedDeclared = ledger.fact('verifiedDeclared')
  return buildPlan({
    workspace: settings.name,
    policy,
    resolution: view.resolution,
    readings: state.readings,
    owned: view.owned,
    people: view.people,
    skipped: view.skipped,
    quarantined: view.quarantine.active,
    approvals: ledger.approvals(),
    model: serviceModel(settings, planner.seen ?? seenIn(ledger)),
    sent: sentToAncestors(ledger, clock.now()),
    writtenAt: writtenBy(ledger, clock.now()),
    givenUp: givenUp(ledger, clock.now()),
    ...reviewedRules(state, planner),
    ...(settings.approvals && { approvalSteps: settings.approvals }),
    ...(planner.watched && { watched: planner.watched }),
    ...options,
    approve: options.approve ?? [],
    holdsShown: ledger.fact('holdsShown') ?? {},
    ...(planner.idle !== undefined && { idle: planner.idle }),
    ...(baseline && { baseline }),
    driftSince: ledger.fact('driftSince') ?? {},
    contests: {
      known: ledger.fact('contested') ?? {},
      written: ledger.writtenLately,
    },
    facts: {
      ...limitFacts(state, planner),
      reads: readQuality(view.toRead, state.readings),
      rosterMissing: rosterMissing(usage, clock.now()),
      unlistedGroups: view.unlisted,
      ...(verifiedDeclared !== undefined && { verifiedDeclared }),
      ...(usage?.doubted && {
        rosterDoubt: { before: approvedCount(usage.roster), now: approvedCount(usage.doubted.roster), since: usage.doubted.since },
      }),
    },
    guards: settings.guards,
    poolNotes: poolNotes(view.resolution.pools, state.pools, state.frozenPools),
    followers: view.resolution.pools.flatMap(({ pool }) => {
      const poolState = Object.hasOwn(state.pools, pool.name) ? state.pools[pool.name] : undefined
      return poolState ? [{ pool, ...followersIn(pool, poolState) }] : []
    }),
    poolReviews: poolReviews(settings.name, view.resolution.pools, state.pools, digest),
    prune: prunes(state, settings),
    policyBroken: settings.prune && !state.policyValid,
    now: clock.now(),
    digest,
    instantText: (at) => new Date(at).toISOString(),
  })
}

/** What we sent to teams and groups in the last day: it may show beneath, and was nobody else's. What is under way may have landed as well. */
export function sentToAncestors(ledger: RecordsReader, now: Instant): readonly SentCap[] {
  const open = ledger.openIntents().map(({ change, at }) => ({ ...change, at }))
  return [...ledger.ancestorWrites(now - LANDING_MS).filter(mayHaveLanded), ...open]
}

/** When a scope was written last. What a clock stamped that went back since says nothing of what came after what. */
const writtenBy =
  (ledger: RecordsReader, now: Instant) =>
  (scope: Scope): Instant | undefined =>
    ledger.writtenLately(scope, now - LANDING_MS).find((one) => mayHaveLanded(one) && one.at <= now)?.at

/** Nobody waits longer for a scope that cannot be read (product.md, section 6). */
const UNREAD_LIFE_MS = 24 * 3_600_000

/** A wait of unknown age is not over: it is kept as one that begins now. */
const givenUp = (ledger: RecordsReader, now: Instant): ReadonlySet<ScopeKey> =>
  new Set(
    Object.entries(ledger.fact('unreadSince') ?? {}).flatMap(([key, since]) =>
      now - notAhead(since, now) >= UNREAD_LIFE_MS ? [key as ScopeKey] : [],
    ),
  )

/** Approvals take two steps where the config says nothing. */
export const rulesNow = ({ policy }: Pick<WorkspaceState, 'policy'>, { guards, approvals = 'separate' }: PlanSettings): Rules =>
  rulesOf(policy, guards, approvals)

/** The rules of before, while the weaker ones of now count only for what was shown. */
function reviewedRules(state: WorkspaceState, { ledger, settings, clock }: Planner): { readonly reviewed?: readonly ReviewedRules[] } {
  const now = rulesNow(state, settings)
  const { before } = noteRules(ledger.fact('rules'), now, clock.now())
  return before ? { reviewed: before } : {}
}

/** A balance that is older says nothing of what is left (choice). */
const BALANCE_LIFE_MS = 24 * 3_600_000

/** A mode or a pause that keeps everything back, whatever the plan is. */
export function keptBack({ mode = 'enforce' }: Pick<PlanSettings, 'mode'>, pause: Pause | undefined): Exclusion | undefined {
  if (mode !== 'enforce') return { kind: 'excluded', code: 'mode', reason: `mode is ${mode}` }
  const until = pause && new Date(pause.untilAt).toISOString()
  return pause && { kind: 'excluded', code: 'pause', reason: `paused until ${until} (${pause.reason})` }
}

/** What the guards `maxRaise` and `breaker` go by. */
function limitFacts({ usage }: WorkspaceState, { ledger, clock }: Planner) {
  const now = clock.now()
  const breaker = ledger.fact('breaker')
  const balance = usage?.balance
  const isKnown = balance !== undefined && isReadWithin(balance, now, BALANCE_LIFE_MS)
  return {
    ...(isKnown && { creditsRemaining: Math.max(0, balance.addOnAvailable - balance.addOnUsed) }),
    ...(breaker && isOpen(breaker, now) && { breaker }),
  }
}
