// /status from the views: plain JSON, bounded lists, what needs a person first. E-mails must go through the labels, also in a field that is
// added here; names of people and keys never get in.

import { ASPECTS, type Evidence, type LatestEvidence, type ServiceEvidence } from '../../../core/interpret/evidence.ts'
import type { Hold } from '../../../core/model/change.ts'
import type { PoolStatus, UseShown, WorkspaceView } from '../../../core/model/events.ts'
import type { Roster } from '../../../core/model/observed.ts'
import { formatPosition, type Position, type Problem } from '../../../core/model/problem.ts'
import type { Instant } from '../../../core/model/units.ts'
import { addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { projectedCents, usedInCycle } from '../../../core/use/burn.ts'
import { bandRank, countBands } from '../../../core/use/first-stop.ts'
import { bounded, dayText, problemOf, rfc3339, scopeEntryOf, scopeText } from '../documents/show.ts'
import {
  balanceOf,
  conditionEntries,
  countsByKind,
  historyOf,
  modelEntries,
  notInSync,
  policyOf,
  poolFigures,
  stateOf,
  warningTexts,
} from '../documents/summary.ts'
import type { DaemonFacts, Showing, StatusDocument, WorkspaceStatus } from '../documents/types.ts'
import type { PeopleLabels } from './labels.ts'

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const STATUS_LIMITS = {
  scopes: 500,
  people: 100,
  changes: 50,
  problems: 50,
  pools: 100,
  rules: 100,
} as const

/** The state of every workspace as a document; docs/metrics.md. */
export const statusDocument = (
  views: readonly WorkspaceView[],
  daemon: DaemonFacts,
  { people, now }: Pick<Showing, 'people' | 'now'>,
): StatusDocument => ({
  apiVersion: 'capkeeper/v1',
  kind: 'Status',
  version: daemon.version,
  at: rfc3339(now),
  people: people.shown,
  configValid: daemon.configValid,
  ledgerWritable: daemon.ledgerWritable,
  conditions: conditionEntries(daemon.conditions ?? [], { people }),
  workspaces: views.map((view) => workspaceStatus(view, people, now)),
})

function workspaceStatus(view: WorkspaceView, people: PeopleLabels, now: Instant): WorkspaceStatus {
  const { lease, policy, balance, pools = [], rules = [] } = view
  const scopes = [...notInSync(view.scopes), ...view.scopes.filter(({ state }) => state === 'in_sync')]
  return {
    workspace: view.workspace,
    ...stateOf(view, { people }),
    lease: lease && { isHere: lease.isHere, holder: lease.holder },
    policy: policy && { ...policyOf(policy), ...problemEntries(policy.problems, people) },
    scopeCounts: countsByKind(view.scopes),
    ...bounded('scopes', scopes, STATUS_LIMITS.scopes, (one) => scopeEntryOf(one, { people }, placeText(one.source, people))),
    holds: view.holds.map((hold) => holdEntry(hold, people)),
    approvals: view.approvals.map(({ id, state }) => ({ id, state })),
    grants: view.grants,
    ...bounded('pools', pools, STATUS_LIMITS.pools, (pool) => poolEntry(pool, people)),
    ...bounded('rules', rules, STATUS_LIMITS.rules, ({ name, people: reached }) => ({ name: people.text(name), people: reached })),
    use: view.roster && useSummary(view, view.roster, people, now),
    balance: balance && balanceOf(balance),
    burn: view.use && burnSummary(view.use, people),
    history: view.history && historyOf(view.history),
    groups: view.groups.map(({ id, name, emails, used, readAt }) => ({
      id: people.text(id),
      name: people.text(name),
      members: emails.length,
      used,
      readAt: rfc3339(readAt),
    })),
    ratePerSecond: view.ratePerSecond,
    clockSkewSeconds: view.clockSkewMs === undefined ? undefined : view.clockSkewMs / 1000,
    seen: seenEntries(view.seen ?? {}, people),
    warnings: warningTexts(view, { people }),
  }
}

const poolEntry = (pool: PoolStatus, people: PeopleLabels): WorkspaceStatus['pools'][number] => ({
  name: people.text(pool.name),
  credits: pool.credits,
  ...(pool.figures && { people: pool.figures.members, readAt: rfc3339(pool.figures.readAt) }),
  ...poolFigures(pool, { people }),
})

/** In the order of `ASPECTS`; what was never seen is absent. */
export function seenEntries(seen: ServiceEvidence, people: PeopleLabels): NonNullable<WorkspaceStatus['seen']> {
  const shown = ({ value, at, evidence }: Evidence) => ({ value, at: rfc3339(at), evidence: people.text(evidence) })
  return ASPECTS.flatMap((aspect) => {
    const finding: LatestEvidence | undefined = seen[aspect]
    return finding ? [{ aspect, ...shown(finding), before: finding.before && shown(finding.before) }] : []
  })
}

const placeText = (at: Position | undefined, people: PeopleLabels) => at && people.text(formatPosition(at))

const problemEntries = (problems: readonly Problem[], people: PeopleLabels) =>
  bounded('problems', problems, STATUS_LIMITS.problems, (one) => {
    const { length: _, ...entry } = problemOf(one, { people }, placeText(one.at, people))
    return entry
  })

const holdEntry = ({ id, guards, people: reached, message, changes }: Hold, people: PeopleLabels): WorkspaceStatus['holds'][number] => ({
  id,
  guards,
  people: reached,
  message: people.text(message),
  ...bounded('changes', changes, STATUS_LIMITS.changes, ({ scope, from, to }) => ({ scope: scopeText(scope, { people }), from, to })),
})

function useSummary(view: WorkspaceView, roster: Roster, people: PeopleLabels, now: Instant): NonNullable<WorkspaceStatus['use']> {
  const used = usedInCycle(roster)
  const cycle = roster.cycle ?? view.balance?.cycle
  const near = view.people.filter(({ band }) => bandRank(band) >= bandRank('85_to_95'))
  const bands = countBands(view.people)
  near.sort((a, b) => bandRank(b.band) - bandRank(a.band) || (b.used ?? 0) - (a.used ?? 0))
  return {
    readAt: rfc3339(roster.readAt),
    people: roster.people.length,
    used,
    ...(cycle && { cycleStart: rfc3339(cycle.startAt), cycleEnd: rfc3339(cycle.endAt) }),
    addOn: addOnSummary(view, roster, now),
    bands,
    ...bounded('nearCap', near, STATUS_LIMITS.people, ({ email, cap, used: addOn, source, band = 'at_cap' }) => ({
      person: people.label(email),
      cap,
      used: addOn,
      source,
      band,
    })),
  }
}

function addOnSummary({ measured, notMeasured, balance }: WorkspaceView, roster: Roster, now: Instant) {
  const figures = addOnFigures({ now, cycle: roster.cycle ?? balance?.cycle, measured, balance })
  const sum = totalAddOn(figures, roster.people)
  const isMeasured = figures.source === 'measured'
  return {
    source: figures.source,
    credits: sum,
    readAt: isMeasured && measured ? rfc3339(measured.readAt) : undefined,
    latestDay: isMeasured && measured?.latestDayAt !== undefined ? dayText(measured.latestDayAt) : undefined,
    notMeasured: !isMeasured && notMeasured ? notMeasured : undefined,
  }
}

function burnSummary({ figures, models = [] }: UseShown, people: PeopleLabels): NonNullable<WorkspaceStatus['burn']> {
  const { ratios = {}, projected, exhaustedAt } = figures ?? {}
  return {
    ratios,
    projected: projected && projectedCents(projected),
    exhaustion: rfc3339(exhaustedAt),
    ...modelEntries(models, { people }),
  }
}
