// What one workspace knows between cycles, and the plan that follows from it. It only reads the ledger and never calls the client, so
// `plan` and the daemon make the same plan from the same state.

import { settle } from '../../core/envelopes/settle.ts'
import { countPeople } from '../../core/interpret/effective.ts'
import { type ServiceEvidence, type ServiceModel, serviceModel } from '../../core/interpret/evidence.ts'
import { groupsWithCap, interpret, type SentCap } from '../../core/interpret/slots.ts'
import { LANDING_MS, type Pause, type Quarantined } from '../../core/model/change.ts'
import type { UsageFacts } from '../../core/model/facts.ts'
import { type Balance, type CapReading, type Cycle, mayBeSet, type OwnedCap } from '../../core/model/observed.ts'
import type { Cap, EnvelopeMemory, KeptRevision, PolicyRevision } from '../../core/model/policy.ts'
import { InputError } from '../../core/model/problem.ts'
import { byScope, groupScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS, formatInstant, type Instant, isReadWithin, isYounger, ROSTER_LIFE_MS } from '../../core/model/units.ts'
import { poolReviews } from '../../core/plan/approval.ts'
import { isOpen } from '../../core/plan/breaker.ts'
import { mayHaveLanded } from '../../core/plan/outcome.ts'
import { buildPlan, type Planned } from '../../core/plan/plan.ts'
import { noteRules, rulesOf } from '../../core/plan/reviewed.ts'
import type { Exclusion, Rules, Snapshot } from '../../core/plan/snapshot.ts'
import { activeQuarantine, entriesOf, scopesToRead, skippedScopes, unknownScopes } from '../../core/plan/states.ts'
import { followersIn, poolNotes } from '../../core/pools/deal.ts'
import type { DesiredInputs } from '../../core/resolve/chain.ts'
import { declaredIn, type Resolution, resolveDesired } from '../../core/resolve/desired.ts'
import { approvedCount, emptied } from '../../core/resolve/roster.ts'
import { nearest } from '../../policy/suggest.ts'
import type { Clock, Digest, ReadClient, RecordsReader } from '../../ports.ts'
import type { WorkspaceSettings } from '../config/settings.ts'
import { readQuality, seenIn } from './read.ts'

/** What the workspace has read so far. Everything that must outlive the process is in the ledger as well. */
export type WorkspaceState = ReturnType<typeof recall>

/** The state of a workspace at its start, from the ledger. Throws an `InputError` for a file that held policies of the ledger and is empty now. */
export function recall(policy: PolicyRevision, ledger: RecordsReader) {
  const kept = ledger.fact('policy')
  const problems = emptied(policy, kept?.set)
  if (problems.length > 0) throw new InputError(problems)
  const envelopes = ledger.fact('envelopes')
  return {
    /** What is in force: what the files say, with what is accepted of envelopes. */
    policy: withAccepted(policy, kept, envelopes),
    /** What the files say. */
    declared: policy,
    envelopes,
    /** What the policy in force was made of. */
    settledFrom: undefined as { readonly declared: PolicyRevision; readonly groups: UsageFacts['groups'] } | undefined,
    /** The ledger has caps of ours and no policy, as one that another process shares: what was accepted before is not known. */
    isBlind: kept === undefined && ledger.owned().some(mayBeSet),
    /** False while a file is broken: nothing is pruned until the set is whole again. */
    policyValid: true,
    readings: new Map<ScopeKey, CapReading>(),
    usage: ledger.fact('usage'),
    /** What is known of the people file. */
    directory: ledger.fact('directory'),
    /** Add-on use as the service measures it; absent where it does not. */
    measured: ledger.fact('addOn'),
    unknownGroups: [] as readonly string[],
    conflictsGone: ledger.fact('conflictsGone') ?? {},
    conflictGroups: ledger.fact('conflictGroups') ?? {},
    conditions: ledger.fact('conditions') ?? {},
    /** The last deal of each pool, and the use counted against it. */
    pools: ledger.fact('pools') ?? {},
    /** Why pools keep their last deal, by name. */
    frozenPools: {} as Readonly<Record<string, string>>,
    /** The caps of the team and groups when people were last read to learn what reads show. */
    probedUnder: undefined as string | undefined,
    /** Scopes whose last write was refused with the key: perhaps only this scope is, so all others are written before. */
    refusedWrites: new Set<ScopeKey>(),
  }
}

// Envelopes: which policy is in force, what is remembered of it, and where that is kept. The decisions are in core/envelopes.

const NOTHING: ReadonlySet<never> = new Set()

/** A newly read policy, with what was accepted of envelopes before: what is new in them is judged with the next plan. */
function withAccepted(declared: PolicyRevision, before: PolicyRevision | undefined, memory: EnvelopeMemory | undefined): PolicyRevision {
  if (!declared.delegated) return declared
  return settle({ declared, before: before?.set, memory, groups: [], pooled: NOTHING, owned: NOTHING, now: 0, isFrozen: true })
}

/** The last good policy of the ledger, while no set is whole: what teams declare cannot be told either, and stays as it was accepted. */
export function unseen(kept: KeptRevision, { envelopes = [] }: Pick<WorkspaceSettings, 'envelopes'>): PolicyRevision {
  if (envelopes.length === 0) return kept
  const isPlatforms = ({ envelope }: { readonly envelope?: string }): boolean => envelope === undefined
  const { rules, grants } = kept.set
  const bounds = envelopes.map(({ policies: _, ...envelope }) => envelope)
  return {
    ...kept,
    set: { ...kept.set, rules: rules.filter(isPlatforms), grants: grants.filter(isPlatforms) },
    delegated: { envelopes: bounds, files: [], unlisted: envelopes.map(({ name }) => name), refused: [] },
  }
}

/** Puts another policy in force. */
export function declare(state: WorkspaceState, policy: PolicyRevision): void {
  state.policy = withAccepted(policy, state.policy, state.envelopes)
  state.declared = policy
}

/** What is desired under the policy in force. `inputs` has the set of the files. */
function withEnvelopes(state: WorkspaceState, inputs: DesiredInputs): DesiredInputs {
  const { declared, envelopes: memory } = state
  const groups = state.usage?.groups
  if (!declared.delegated && !memory) return { ...inputs, set: state.policy.set }
  const isSettled = state.settledFrom?.declared === declared && state.settledFrom.groups === groups
  if (!isSettled && groups) {
    const { pools, rules } = declaredIn(inputs)
    const pooled = new Set([...pools.members.values()].flatMap((one) => [...one]))
    const ruled = (email: string): readonly Cap[] => {
      const verdict = rules.verdictOf(email)
      return verdict.kind === 'match' ? [verdict.rule.cap] : verdict.kind === 'none' ? [] : declared.set.peopleRules.map(({ cap }) => cap)
    }
    const { cycle, now, unknownGroups } = inputs
    const owned = new Set(inputs.owned.keys())
    const before = state.policy.set
    state.policy = settle({ declared, before, memory, groups, unknownGroups, pooled, ruled, owned, now, cycle })
    state.envelopes = state.policy.settled?.memory
    state.settledFrom = { declared, groups }
  }
  return { ...inputs, set: state.policy.set, prune: inputs.prune && !mayLack(state) }
}

/** Caps that teams declare, and that cannot be told now, seem to be declared no more. */
function mayLack({ isBlind, declared: { delegated }, policy: { settled } }: WorkspaceState): boolean {
  if (!isBlind || !delegated) return false
  const isBroken = delegated.unlisted.length > 0 || delegated.files.some(({ documents }) => documents === undefined)
  return isBroken || (settled?.refusals.length ?? 0) > 0
}

export interface Planner extends Pick<Snapshot, 'watched' | 'idle'> {
  readonly config: WorkspaceSettings
  readonly ledger: RecordsReader
  readonly client: Pick<ReadClient, 'clockSkewMs'>
  readonly clock: Clock
  readonly digest: Digest
  /** What was seen of the deployment; absent: what the ledger says. */
  readonly seen?: ServiceEvidence
}

/** The present billing cycle; undefined while unknown. */
export const cycleOf = (usage: UsageFacts | undefined): Cycle | undefined => usage?.roster.cycle ?? usage?.balance?.cycle

/** The service's clock and ours differ by its last answer, so grants neither start nor end. Nothing keeps this: whoever plans asks. */
export const grantsFrozen = (client: Pick<ReadClient, 'clockSkewMs'>): boolean => Math.abs(client.clockSkewMs() ?? 0) > CLOCKS_APART_MS

/** Whether caps of ours that no policy declares are cleared: never while a file is broken. */
const prunes = (state: WorkspaceState, { prune }: WorkspaceSettings): boolean => prune && state.policyValid && !mayLack(state)

/** What `resolveDesired` needs, from the state and the ledger. */
export function desiredInputs(state: WorkspaceState, planner: Pick<Planner, 'config' | 'ledger' | 'client' | 'clock'>): DesiredInputs {
  const cycle = cycleOf(state.usage)
  const inputs: DesiredInputs = {
    set: state.declared.set,
    groups: state.usage?.groups ?? [],
    unknownGroups: state.unknownGroups,
    now: planner.clock.now(),
    capSemantics: planner.config.capSemantics,
    owned: byScope(planner.ledger.owned()),
    prune: prunes(state, planner.config),
    conflictsGone: state.conflictsGone,
    conflictGroups: state.conflictGroups,
    newReading: undefined,
    conditions: state.conditions,
    pools: state.pools,
    nearest,
    grantsFrozen: grantsFrozen(planner.client),
    roster: state.usage?.roster,
    cycle,
  }
  return withEnvelopes(state, inputs)
}

/** Counts a reading: takes over what the resolution says of conflicts and conditions. */
export function countReading(state: WorkspaceState, { conditions, conflictsGone, conflictGroups }: Resolution): void {
  state.conditions = conditions
  state.conflictsGone = conflictsGone
  state.conflictGroups = conflictGroups
}

/** Neither managed nor written now, such as a person who left: read only for an open intent. */
export const isLeftAlone = (scope: Scope, { skipped, people }: Pick<Snapshot, 'skipped' | 'people'>): boolean =>
  skipped.has(scopeKey(scope)) || (scope.kind === 'user' && people.approved.length > 0 && !people.byKey.has(scopeKey(scope)))

/** How caps work in this deployment, as far as it is known. */
export const modelOf = ({ config, ledger, seen = seenIn(ledger) }: Pick<Planner, 'config' | 'ledger' | 'seen'>): ServiceModel =>
  serviceModel(config, seen)

/** What policy asks of each scope now, with everything that follows from it before a cap is read. */
export type DesiredState = Readonly<ReturnType<typeof desiredState>>

/** Works out what policy asks now, and which scopes to read. */
export function desiredState(state: WorkspaceState, planner: Pick<Planner, 'config' | 'ledger' | 'client' | 'clock' | 'seen'>) {
  const { ledger } = planner
  const inputs = desiredInputs(state, planner)
  const { now, owned } = inputs
  const resolution = resolveDesired(inputs)
  const skipped = skippedScopes(resolution, owned, state.usage?.roster, state.unknownGroups)
  const people = countPeople({ groups: [], ...state.usage, now, measured: state.measured })
  const model = modelOf(planner)
  const groupsOf = (key: ScopeKey): readonly ScopeKey[] => people.byKey.get(key)?.groups ?? []
  const managed = scopesToRead(resolution, owned, skipped, groupsOf, model.reads !== 'explicit')
  const unlisted = unlistedGroups(state, owned)
  const toRead = withIntents(managed, ledger)
  const readings = unknownScopes(toRead, state.readings)
  const { active, over } = activeQuarantine(ledger.quarantined(), resolution, skipped, now, state.readings)
  const here = [...readings.values()].filter(({ scope }) => !isLeftAlone(scope, { skipped, people }))
  const withCap = groupsWithCap(resolution.desired)
  return {
    /** What `resolution` was made from. */
    inputs,
    ...{ resolution, owned, skipped, people },
    /** Quarantined scopes: those of the ledger, and those that the service did not know when they were read last. */
    quarantine: { active: new Map([...active, ...byScope(quarantinedUnknown(here, resolution))]), over },
    /** Scopes that the service did not know when they were read last, those left alone included. */
    unknown: new Set(readings.keys()),
    /** Every scope that a sweep reads, those with an open intent included. */
    toRead,
    /** Groups that policy names or that carry a cap of ours, and whose members are not known. */
    unlisted,
    /** The readings as `interpret` understands them; follows new readings. */
    slots: interpret({ model, readings: state.readings, owned, people, unlisted, groupsWithCap: withCap }),
  }
}

/** Not recorded: the next reading says anew whether the service knows the scope. */
function quarantinedUnknown(readings: readonly CapReading[], resolution: Resolution): readonly Quarantined[] {
  if (readings.length === 0) return []
  const entryAt = entriesOf(resolution)
  return readings.map(({ scope, failure, readAt }) => {
    const message = `${scopeKey(scope)}: ${failure?.message ?? 'the service does not know it'}`
    return { scope, code: 'SCOPE_UNKNOWN', message, entry: entryAt(scopeKey(scope)), at: readAt }
  })
}

function withIntents(managed: readonly Scope[], ledger: RecordsReader): readonly Scope[] {
  const open = ledger.openIntents().map((intent) => intent.change.scope)
  if (open.length === 0) return managed
  return [...new Map([...open, ...managed].map((scope) => [scopeKey(scope), scope])).values()]
}

export interface PlanOptions extends Pick<Snapshot, 'excluded' | 'failed'> {
  /** Ids given on the command line. */
  readonly approve?: readonly string[]
}

/** Why no roster can be used to count people; false: one can. A doubted roster was read as well. */
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

/** A plan that is held for longer counts as a new one by then (docs/guards-and-approvals.md: for a day at least). */
const PLAN_LIFE_MS = 24 * 3_600_000

/** The caps from which an unfinished plan began, for a day. An older baseline, or one of unknown age, would make lowerings look like raises. */
export function openBaseline(ledger: Pick<RecordsReader, 'fact'>, now: Instant): Readonly<Record<ScopeKey, Cap>> | undefined {
  return isYounger(ledger.fact('planBegunAt') ?? 0, now, PLAN_LIFE_MS) ? ledger.fact('planBaseline') : undefined
}

/** Makes the plan that follows from the state and the ledger. */
export function planFrom(state: WorkspaceState, desired: DesiredState, planner: Planner, options: PlanOptions = {}): Planned {
  const { ledger, clock, config, digest } = planner
  const { usage, policy } = state
  const breaker = ledger.fact('breaker')
  const now = clock.now()
  return buildPlan({
    workspace: config.name,
    policy,
    resolution: desired.resolution,
    readings: state.readings,
    owned: desired.owned,
    people: desired.people,
    skipped: desired.skipped,
    quarantined: desired.quarantine.active,
    approvals: ledger.approvals(),
    model: modelOf(planner),
    sent: sentToAncestors(ledger, now),
    writtenAt: writtenBy(ledger, now),
    givenUp: givenUp(ledger, now),
    reviewed: noteRules(ledger.fact('rules'), rulesNow(state, config), now).before,
    approvalSteps: config.approvals,
    watched: planner.watched,
    ...options,
    approve: options.approve ?? [],
    holdsShown: ledger.fact('holdsShown') ?? {},
    changesShown: ledger.fact('changesShown') ?? {},
    idle: planner.idle,
    baseline: openBaseline(ledger, now),
    driftSince: ledger.fact('driftSince') ?? {},
    contests: { known: ledger.fact('contested') ?? {}, written: ledger.writtenLately },
    facts: {
      creditsRemaining: creditsRemaining(usage?.balance, now),
      breaker: breaker && isOpen(breaker, now) ? breaker : undefined,
      reads: readQuality(desired.toRead, state.readings),
      rosterMissing: rosterMissing(usage, now),
      unlistedGroups: desired.unlisted,
      verifiedDeclared: ledger.fact('verifiedDeclared'),
      directoryDoubt: config.directory && state.directory?.next?.fell ? state.directory.next.fell : undefined,
      rosterDoubt: usage?.doubted && {
        before: approvedCount(usage.roster),
        now: approvedCount(usage.doubted.roster),
        since: usage.doubted.since,
      },
    },
    guards: config.guards,
    poolNotes: poolNotes(desired.resolution.pools, state.pools, state.frozenPools),
    followers: desired.resolution.pools.flatMap(({ pool }) => {
      const poolState = Object.hasOwn(state.pools, pool.name) ? state.pools[pool.name] : undefined
      return poolState ? [{ pool, ...followersIn(pool, poolState) }] : []
    }),
    poolReviews: poolReviews(config.name, desired.resolution.pools, state.pools, digest),
    prune: prunes(state, config),
    policyBroken: config.prune && !state.policyValid,
    now,
    digest,
  })
}

/** Our team and group writes of the last day, open ones included: their descendants may show them, and that is no foreign change. */
export function sentToAncestors(ledger: RecordsReader, now: Instant): readonly SentCap[] {
  const open = ledger.openIntents().map(({ change, at }) => ({ ...change, at }))
  return [...ledger.ancestorWrites(now - LANDING_MS).filter(mayHaveLanded), ...open]
}

/** When a scope was written last. An instant from before the clock was set back tells no order, so it does not count. */
const writtenBy =
  (ledger: RecordsReader, now: Instant) =>
  (scope: Scope): Instant | undefined =>
    ledger.writtenLately(scope, now - LANDING_MS).find((one) => mayHaveLanded(one) && one.at <= now)?.at

/** No change waits longer for a scope that cannot be read (docs/operations.md). */
const UNREAD_LIFE_MS = 24 * 3_600_000

/** Scopes that no change waits for any more. A wait of unknown age counts as one that begins now. */
const givenUp = (ledger: RecordsReader, now: Instant): ReadonlySet<ScopeKey> =>
  new Set(
    Object.entries(ledger.fact('unreadSince') ?? {}).flatMap(([key, since]) => (now - since >= UNREAD_LIFE_MS ? [key as ScopeKey] : [])),
  )

/** Guards and approvals as they are configured now. */
export const rulesNow = ({ policy }: Pick<WorkspaceState, 'policy'>, { guards, approvals }: WorkspaceSettings): Rules =>
  rulesOf(policy, guards, approvals)

/** An older balance does not tell how many credits remain (choice). */
const BALANCE_LIFE_MS = 24 * 3_600_000

/** The mode or the pause that withholds every write. */
export function withheldBy({ mode }: WorkspaceSettings, pause: Pause | undefined): Exclusion | undefined {
  if (mode !== 'enforce') return excluded('mode', `mode is ${mode}`)
  return pause && excluded('pause', `paused until ${formatInstant(pause.untilAt)} (${pause.reason})`)
}

/** Why a change is not written. */
export const excluded = (code: Exclusion['code'], reason: string): Exclusion => ({ kind: 'excluded', code, reason })

/** For the guard `maxRaise`. */
const creditsRemaining = (balance: Balance | undefined, now: Instant): number | undefined =>
  balance && isReadWithin(balance, now, BALANCE_LIFE_MS) ? Math.max(0, balance.addOnAvailable - balance.addOnUsed) : undefined
