// /status from the views: plain JSON, bounded lists, what needs attention first. Everything that may hold an e-mail goes through the
// labels; a field added here must too. Names of people never get in, and no key is anywhere near.

import { ASPECTS, type Evidence, type LatestEvidence, type ServiceEvidence } from '../../../core/interpret/evidence.ts'
import type { Hold } from '../../../core/model/change.ts'
import { byUrgency, type Condition, kindOf } from '../../../core/model/condition.ts'
import {
  type PolicyStatus,
  type PoolStatus,
  SCOPE_STATES,
  type ScopeState,
  type ScopeStatus,
  type UseShown,
  type WorkspaceView,
} from '../../../core/model/events.ts'
import type { Roster } from '../../../core/model/observed.ts'
import { formatPosition, type Problem } from '../../../core/model/problem.ts'
import { compareScopes, type ScopeKind } from '../../../core/model/scope.ts'
import { type Instant, wholeCents } from '../../../core/model/units.ts'
import { addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { bandRank, countBands } from '../../../core/use/bands.ts'
import { projectedCents } from '../../../core/use/forecast.ts'
import { rfc3339, scopeEntryOf, scopeText } from '../documents/show.ts'
import type { Health } from '../metrics/metrics.ts'
import type {
  AddOnSummary,
  BalanceSummary,
  BurnSummary,
  ConditionEntry,
  HoldEntry,
  PolicySummary,
  PoolEntry,
  ProblemEntry,
  ScopeEntry,
  SeenEntry,
  StatusDocument,
  UseSummary,
  WorkspaceStatus,
} from './document.ts'
import type { PeopleLabels } from './labels.ts'

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
export const STATUS_LIMITS = {
  scopes: 500,
  people: 100,
  changes: 50,
  problems: 50,
  models: 20,
  conditions: 100,
  pools: 100,
  rules: 100,
} as const

export interface StatusInputs {
  readonly views: readonly WorkspaceView[]
  readonly health: Health
  readonly people: PeopleLabels
  readonly now: Instant
  readonly version: string
}

/** The state of every workspace as a document; product.md section 7. */
export function statusDocument(inputs: StatusInputs): StatusDocument {
  const { health, people, now, version } = inputs
  return {
    apiVersion: 'capkeeper/v1',
    kind: 'Status',
    version,
    at: rfc3339(now),
    people: people.shown,
    configValid: health.configValid,
    ledgerWritable: health.ledgerWritable,
    conditions: byUrgency(health.conditions ?? []).map((one) => conditionEntry(one, people)),
    workspaces: inputs.views.map((view) => workspaceStatus(view, people, now)),
  }
}

function workspaceStatus(view: WorkspaceView, people: PeopleLabels, now: Instant): WorkspaceStatus {
  const { pause, policy, lastCycle, balance } = view
  const use = useSummary(view, people, now)
  const scopes = byAttention(view.scopes)
  return {
    workspace: view.workspace,
    mode: view.mode,
    ...(view.lease && { lease: { isHere: view.lease.isHere, ...(view.lease.holder !== undefined && { holder: view.lease.holder }) } }),
    ...(pause && { pause: { until: rfc3339(pause.untilAt), reason: people.text(pause.reason), since: rfc3339(pause.pausedAt) } }),
    ...(policy && { policy: policySummary(policy, people) }),
    ...(lastCycle && {
      lastCycle: {
        startedAt: rfc3339(lastCycle.startedAt),
        finishedAt: rfc3339(lastCycle.finishedAt),
        result: lastCycle.result,
        ...(lastCycle.message !== undefined && { message: people.text(lastCycle.message) }),
      },
    }),
    ...(view.lastSuccessAt !== undefined && { lastSuccessAt: rfc3339(view.lastSuccessAt) }),
    scopeCounts: countScopes(view.scopes),
    scopes: scopes.slice(0, STATUS_LIMITS.scopes).map((status) => scopeEntry(status, people)),
    scopesOmitted: Math.max(0, scopes.length - STATUS_LIMITS.scopes),
    holds: view.holds.map((hold) => holdEntry(hold, people)),
    approvals: view.approvals.map(({ id, state }) => ({ id, state })),
    grants: view.grants,
    pools: (view.pools ?? []).slice(0, STATUS_LIMITS.pools).map((pool) => poolEntry(pool, people)),
    poolsOmitted: Math.max(0, (view.pools?.length ?? 0) - STATUS_LIMITS.pools),
    rules: (view.rules ?? [])
      .slice(0, STATUS_LIMITS.rules)
      .map(({ name, people: reached }) => ({ name: people.text(name), people: reached })),
    rulesOmitted: Math.max(0, (view.rules?.length ?? 0) - STATUS_LIMITS.rules),
    ...(use && { use }),
    ...(balance && { balance: balanceSummary(balance) }),
    ...(view.use && { burn: burnSummary(view.use, people) }),
    groups: view.groups.map(({ id, name, emails, used, readAt }) => ({
      id: people.text(id),
      name: people.text(name),
      members: emails.length,
      ...(used !== undefined && { used }),
      readAt: rfc3339(readAt),
    })),
    ...(view.ratePerSecond !== undefined && { ratePerSecond: view.ratePerSecond }),
    ...(view.clockSkewMs !== undefined && { clockSkewSeconds: view.clockSkewMs / 1000 }),
    seen: seenEntries(view.seen ?? {}, people),
    conditions: byUrgency(view.conditions)
      .slice(0, STATUS_LIMITS.conditions)
      .map((one) => conditionEntry(one, people)),
    conditionsOmitted: Math.max(0, view.conditions.length - STATUS_LIMITS.conditions),
    warnings: view.conditions.filter(({ type }) => !kindOf(type).hasOwnPlace).map(({ message }) => people.text(message)),
  }
}

const poolEntry = ({ name, credits, figures, dealtAt, frozen }: PoolStatus, people: PeopleLabels): PoolEntry => ({
  name: people.text(name),
  credits,
  ...(figures && { used: wholeCents(figures.used) }),
  ...(figures?.dealt !== undefined && { dealt: wholeCents(figures.dealt) }),
  ...(figures && { people: figures.members }),
  ...(figures?.exhaustedAt !== undefined && { exhaustion: rfc3339(figures.exhaustedAt) }),
  ...(figures && { readAt: rfc3339(figures.readAt) }),
  ...(dealtAt !== undefined && { dealtAt: rfc3339(dealtAt) }),
  ...(frozen !== undefined && { frozen: people.text(frozen) }),
})

const conditionEntry = ({ type, scope, subject, reason, message, since }: Condition, people: PeopleLabels): ConditionEntry => ({
  type,
  severity: kindOf(type).severity,
  subject: scope ? scopeText(scope, { people }) : people.text(subject),
  reason,
  message: people.text(message),
  since: rfc3339(since),
})

/** In the order of `ASPECTS`; what was never seen is absent. */
export function seenEntries(seen: ServiceEvidence, people: PeopleLabels): readonly SeenEntry[] {
  const shown = ({ value, at, evidence }: Evidence) => ({ value, at: rfc3339(at), evidence: people.text(evidence) })
  return ASPECTS.flatMap((aspect) => {
    const finding: LatestEvidence | undefined = seen[aspect]
    return finding ? [{ aspect, ...shown(finding), ...(finding.before && { before: shown(finding.before) }) }] : []
  })
}

function policySummary(policy: PolicyStatus, people: PeopleLabels): PolicySummary {
  const { valid, digest, revision, problems } = policy
  return {
    valid,
    digest,
    revision,
    loadedAt: rfc3339(policy.loadedAt),
    problems: problems.slice(0, STATUS_LIMITS.problems).map((problem) => problemEntry(problem, people)),
    problemsOmitted: Math.max(0, problems.length - STATUS_LIMITS.problems),
  }
}

function problemEntry(problem: Problem, people: PeopleLabels): ProblemEntry {
  const { severity, code, message, at, sourceLine, hint } = problem
  return {
    severity,
    code,
    message: people.text(message),
    ...(at && { at: people.text(formatPosition(at)) }),
    ...(sourceLine !== undefined && { sourceLine: people.text(sourceLine) }),
    ...(hint !== undefined && { hint: people.text(hint) }),
  }
}

const ATTENTION: readonly ScopeState[] = ['rejected', 'contested', 'held', 'drifted', 'unknown', 'undeclared', 'skipped']

function byAttention(scopes: readonly ScopeStatus[]): readonly ScopeStatus[] {
  const wanting = scopes.filter(({ state }) => state !== 'in_sync')
  wanting.sort((a, b) => ATTENTION.indexOf(a.state) - ATTENTION.indexOf(b.state) || compareScopes(a.scope, b.scope))
  return [...wanting, ...scopes.filter(({ state }) => state === 'in_sync')]
}

function countScopes(scopes: readonly ScopeStatus[]): WorkspaceStatus['scopeCounts'] {
  const none = () => Object.fromEntries(SCOPE_STATES.map((state) => [state, 0])) as Record<ScopeState, number>
  const counts: Record<ScopeKind, Record<ScopeState, number>> = { team: none(), group: none(), user: none() }
  for (const { scope, state } of scopes) counts[scope.kind][state] += 1
  return counts
}

const scopeEntry = (status: ScopeStatus, people: PeopleLabels): ScopeEntry =>
  scopeEntryOf(status, { people }, status.source && people.text(formatPosition(status.source)))

function holdEntry(hold: Hold, people: PeopleLabels): HoldEntry {
  return {
    id: hold.id,
    guards: hold.guards,
    people: hold.people,
    message: people.text(hold.message),
    changes: hold.changes.slice(0, STATUS_LIMITS.changes).map(({ scope, from, to }) => ({ scope: scopeText(scope, { people }), from, to })),
    changesOmitted: Math.max(0, hold.changes.length - STATUS_LIMITS.changes),
  }
}

function useSummary(view: WorkspaceView, people: PeopleLabels, now: Instant): UseSummary | undefined {
  const { roster, balance, people: everybody } = view
  if (!roster) return undefined
  const figures = roster.people.map((person) => person.used).filter((used) => used !== undefined)
  const cycle = roster.cycle ?? balance?.cycle
  const near = everybody.filter(({ band }) => bandRank(band) >= bandRank('85_to_95'))
  const bands = countBands(everybody)
  near.sort((a, b) => bandRank(b.band) - bandRank(a.band) || (b.used ?? 0) - (a.used ?? 0))
  return {
    readAt: rfc3339(roster.readAt),
    people: roster.people.length,
    ...(figures.length > 0 && { used: wholeCents(figures.reduce((sum, used) => sum + used, 0)) }),
    ...(cycle && { cycleStart: rfc3339(cycle.startAt), cycleEnd: rfc3339(cycle.endAt) }),
    addOn: addOnSummary(view, roster, now),
    ...(bands && { bands }),
    nearCap: near.slice(0, STATUS_LIMITS.people).map(({ email, cap, used, source, band = 'at_cap' }) => ({
      person: people.label(email),
      ...(cap !== undefined && { cap }),
      ...(used !== undefined && { used }),
      ...(source && { source }),
      band,
    })),
    nearCapOmitted: Math.max(0, near.length - STATUS_LIMITS.people),
  }
}

function addOnSummary({ measured, notMeasured, balance }: WorkspaceView, roster: Roster, now: Instant): AddOnSummary {
  const figures = addOnFigures({ now, cycle: roster.cycle ?? balance?.cycle, measured, balance })
  const sum = totalAddOn(figures, roster.people)
  const isMeasured = figures.source === 'measured'
  return {
    source: figures.source,
    ...(sum !== undefined && { credits: sum }),
    ...(isMeasured && measured && { readAt: rfc3339(measured.readAt) }),
    ...(isMeasured && measured?.latestDayAt !== undefined && { latestDay: rfc3339(measured.latestDayAt).slice(0, 10) }),
    ...(!isMeasured && notMeasured && { notMeasured }),
  }
}

function burnSummary({ figures, models = [] }: UseShown, people: PeopleLabels): BurnSummary {
  const { ratios = {}, projected, exhaustedAt } = figures ?? {}
  return {
    ratios,
    ...(projected && { projected: projectedCents(projected) }),
    ...(exhaustedAt !== undefined && { exhaustion: rfc3339(exhaustedAt) }),
    models: models
      .slice(0, STATUS_LIMITS.models)
      .map(({ model, mode, used }) => ({ model: people.text(model), mode: people.text(mode), used })),
    modelsOmitted: Math.max(0, models.length - STATUS_LIMITS.models),
  }
}

const balanceSummary = (balance: NonNullable<WorkspaceView['balance']>): BalanceSummary => ({
  readAt: rfc3339(balance.readAt),
  creditsPerSeat: balance.creditsPerSeat,
  seats: balance.seats,
  addOnAvailable: balance.addOnAvailable,
  addOnUsed: balance.addOnUsed,
})
