// The overview of all workspaces, and the page of one: what needs a person, what is off, what is held, and where the credits go.

import type { ScopeStatus, WorkspaceView } from '../../../core/model/events.ts'
import { userScope } from '../../../core/model/scope.ts'
import type { GrantStatus } from '../../../core/resolve/candidate.ts'
import type { Query } from './documents.ts'
import type { DaemonFacts, Showing, WorkspaceFacts } from './facts.ts'
import { holdOf } from './holds.ts'
import { poolEntries } from './pools.ts'
import { asked, limitOf, PAGE, pageOf } from './query.ts'
import { cents, grantEntryOf, headOf, placeOf, problemsOf, scopeEntryOf, scopeText } from './show.ts'
import {
  attentionOf,
  countsByKind,
  daemonAttention,
  daemonPart,
  modelEntries,
  notInSync,
  summaryOf,
  toneRank,
  warningTexts,
} from './summary.ts'
import type { ScopeEntry, WorkspaceDocument, WorkspaceListDocument } from './types.ts'

/** Bounds of the lists; what exceeds them is counted in `…Omitted`. Choice. */
const MOST = { attention: 50, scopes: 100, holds: 50, grants: 200 } as const

export const WORKSPACES_QUERY = [PAGE, limitOf(100, 500)]

export function workspacesDocument(
  views: readonly WorkspaceView[],
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
    attention: pressing.slice(0, MOST.attention),
    attentionOmitted: Math.max(0, pressing.length - MOST.attention),
    ...pageOf(items, question),
  }
}

export function workspaceDocument(facts: WorkspaceFacts, showing: Showing, holdsSince: ReadonlyMap<string, number>): WorkspaceDocument {
  const { view, desiredState } = facts
  const revision = view.policy?.revision
  const wanting = notInSync(view.scopes)
  const team = view.scopes.find(({ scope }) => scope.kind === 'team')
  return {
    ...headOf('Workspace', showing),
    workspace: view.workspace,
    ...summaryOf(view, showing),
    ...problemsOf(view, showing),
    scopesByKind: countsByKind(view.scopes),
    ...(team && { team: scopeEntry(team, showing, revision) }),
    attention: wanting.slice(0, MOST.scopes).map((status) => scopeEntry(status, showing, revision)),
    attentionOmitted: Math.max(0, wanting.length - MOST.scopes),
    driftCredits: driftCredits(view.scopes),
    held: view.holds.slice(0, MOST.holds).map((hold) => holdOf(hold, holdsSince, showing)),
    approvals: view.approvals.map(({ id, state }) => ({ id, state })),
    grants: (desiredState?.resolution.grants ?? []).slice(0, MOST.grants).map((grant) => grantEntry(grant, showing, revision)),
    ...modelEntries(view.use?.models ?? [], showing),
    pools: poolEntries(facts, showing),
    warningTexts: warningTexts(view, showing),
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
    ...(note !== undefined && { note: showing.people.text(note) }),
  }
}
