// The overview of all workspaces, the page of one and its health: what needs a person, what is off, what is held, and where the credits go.
import { serviceModel } from '../../../core/interpret/evidence.ts'
import { GUARD_CODES } from '../../../core/model/change.ts'
import type { ScopeStatus, WorkspaceView } from '../../../core/model/events.ts'
import { userScope } from '../../../core/model/scope.ts'
import { guardText } from '../../../core/plan/reviewed.ts'
import type { GrantStatus } from '../../../core/resolve/candidate.ts'
import { medianMs, type RequestsOf } from '../../conditions/journal.ts'
import { seenEntries } from '../status/status.ts'
import { asked, limitOf, PAGE, pageOf, type Query, type Seen } from './documents.ts'
import { holdOf, holdsSince } from './holds.ts'
import { bounded, cents, grantEntryOf, headAbout, headOf, placeOf, problemsOf, ratio, rfc3339, scopeEntryOf, scopeText } from './show.ts'
import {
  attentionOf,
  countsByKind,
  daemonAttention,
  daemonPart,
  historyOf,
  modelEntries,
  notInSync,
  poolFigures,
  stateOf,
  summaryOf,
  toneRank,
  warningTexts,
} from './summary.ts'
import type { DaemonFacts, HealthDocument, ScopeEntry, Showing, WorkspaceDocument, WorkspaceListDocument } from './types.ts'

/** The pools of a workspace in the order of their names. */
function poolEntries(seen: Seen): WorkspaceDocument['pools'] {
  const { view, desiredState } = seen
  const known = new Map((view.pools ?? []).map((one) => [one.name, one]))
  return (desiredState?.resolution.pools ?? []).map(({ pool, members }) => ({
    name: seen.people.text(pool.name),
    credits: pool.credits,
    people: members.length,
    share: pool.share,
    ...poolFigures(known.get(pool.name) ?? {}, seen),
    source: placeOf(pool.at, seen, view.policy?.revision),
  }))
}

export function healthDocument(seen: Seen, daemon: DaemonFacts): HealthDocument {
  const { view, settings, readings, people } = seen
  const { pause: _, ...lasting } = stateOf(view, seen)
  const { copying, ...model } = serviceModel(settings ?? { capSemantics: 'layered' }, view.seen ?? {})
  const managed = view.scopes.flatMap(({ state, readAt }) => (state === 'skipped' || readAt === undefined ? [] : [readAt]))
  const failed = [...(readings?.values() ?? [])].filter(({ failure }) => failure !== undefined).length
  const oldest = managed.reduce<number | undefined>((least, at) => (least === undefined || at < least ? at : least), undefined)
  return {
    ...headAbout('Health', seen),
    ...daemonPart(daemon),
    ...lasting,
    ratePerSecond: ratio(view.ratePerSecond),
    history: view.history && historyOf(view.history),
    clockSkewSeconds: view.clockSkewMs === undefined ? undefined : view.clockSkewMs / 1000,
    model: { ...model, copying: people.text(copying) },
    seen: seenEntries(view.seen ?? {}, people),
    operations: (seen.requests ?? []).map(operationEntry),
    unread: failed,
    oldestReadingAt: rfc3339(oldest),
    settings: settingsOf(settings),
    warnings: warningTexts(view, seen),
    replicas: (daemon.replicas ?? []).map(({ name, isHere }) => ({
      name: people.text(name),
      version: isHere ? daemon.version : undefined,
      keeps: view.lease?.holder === name,
    })),
  }
}

function operationEntry(one: RequestsOf): HealthDocument['operations'][number] {
  const { operation, requests, failed, lastFailure } = one
  const median = medianMs(one)
  return {
    operation,
    requests,
    failed,
    lastFailure: lastFailure && { at: rfc3339(lastFailure.at), outcome: lastFailure.outcome },
    medianMs: median === undefined ? undefined : Math.round(median * 10) / 10,
  }
}

function settingsOf(settings: Seen['settings']): HealthDocument['settings'] {
  return {
    interval: (settings?.intervalMs ?? 0) / 1000,
    usageInterval: (settings?.usageIntervalMs ?? 0) / 1000,
    capSemantics: settings?.capSemantics ?? '',
    capReads: settings?.capReads ?? 'auto',
    onDrift: settings?.onDrift ?? '',
    prune: settings?.prune ?? false,
    approvals: settings?.approvals ?? 'separate',
    guards: settings ? Object.fromEntries(GUARD_CODES.map((name) => [name, guardText(name, settings.guards[name])])) : {},
  }
}

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const MOST = { attention: 50, parts: 100, scopes: 100, holds: 50, grants: 200 } as const

export const WORKSPACES_QUERY = [PAGE, limitOf(100, 500)]

export function workspacesDocument(
  { views, parts }: { readonly views: readonly WorkspaceView[]; readonly parts: readonly WorkspaceView[] },
  daemon: DaemonFacts,
  showing: Showing,
  query: Query,
): WorkspaceListDocument {
  const question = asked(query, WORKSPACES_QUERY)
  const attention = [...daemonAttention(daemon, showing), ...views.flatMap((view) => attentionOf(view, showing))]
  const pressing = attention.filter(({ tone }) => tone !== 'good').toSorted((a, b) => toneRank(a.tone) - toneRank(b.tone))
  const items = views.map((view) => summaryOf(view, showing))
  items.sort((a, b) => toneRank(a.tone) - toneRank(b.tone) || (a.name < b.name ? -1 : 1))
  return {
    ...headOf('WorkspaceList', showing),
    ...daemonPart(daemon),
    ...bounded('attention', pressing, MOST.attention, (entry) => entry),
    ...bounded('parts', parts, MOST.parts, (view) => partEntry(view, showing)),
    ...pageOf(items, question),
  }
}

/** All else of the summary is of the whole workspace. */
function partEntry(view: WorkspaceView, showing: Showing): WorkspaceListDocument['parts'][number] {
  const { name, people, bands, cycle, use } = summaryOf(view, showing)
  return { name, people, bands, cycle, readAt: use?.readAt, used: use?.used }
}

export async function workspaceDocument(seen: Seen): Promise<WorkspaceDocument> {
  const since = await holdsSince(seen)
  const { view, desiredState } = seen
  const revision = view.policy?.revision
  const team = view.scopes.find(({ scope }) => scope.kind === 'team')
  return {
    ...headAbout('Workspace', seen),
    ...summaryOf(view, seen),
    ...problemsOf(seen),
    scopesByKind: countsByKind(view.scopes),
    team: team && scopeEntry(team, seen, revision),
    ...bounded('attention', notInSync(view.scopes), MOST.scopes, (status) => scopeEntry(status, seen, revision)),
    driftCredits: driftCredits(view.scopes),
    held: view.holds.slice(0, MOST.holds).map((hold) => holdOf(hold, since, seen)),
    approvals: view.approvals,
    grants: (desiredState?.resolution.grants ?? []).slice(0, MOST.grants).map((grant) => grantEntry(grant, seen, revision)),
    ...modelEntries(view.use?.models ?? [], seen),
    pools: poolEntries(seen),
    warningTexts: warningTexts(view, seen),
  }
}

const scopeEntry = (status: ScopeStatus, showing: Showing, revision = ''): ScopeEntry =>
  scopeEntryOf(status, showing, status.source && placeOf(status.source, showing, revision))

/** As `capkeeper_drift_credits` counts: per person, where both sides are numbers. */
function driftCredits(scopes: readonly ScopeStatus[]): WorkspaceDocument['driftCredits'] {
  let [above, below] = [0, 0]
  for (const { desired, observed } of scopes) {
    if (typeof desired !== 'number' || typeof observed !== 'number') continue
    if (observed > desired) above += observed - desired
    else below += desired - observed
  }
  return { above: cents(above), below: cents(below) }
}

function grantEntry(status: GrantStatus, showing: Showing, revision = ''): WorkspaceDocument['grants'][number] {
  const { grant, note } = status
  const { scope, at } = grant
  return {
    scope: scopeText(scope.kind === 'user' ? userScope(scope.email) : scope, showing),
    ...grantEntryOf(status, showing),
    source: placeOf(at, showing, revision),
    note: showing.people.text(note),
  }
}
