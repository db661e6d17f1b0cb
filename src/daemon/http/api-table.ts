// The addresses of /api/v1: what each is for, its parameters, and the schema of its answer. The server and the OpenAPI document are both made of this
// table, so that they cannot disagree. Names here are a contract: they are added and never changed.

import { asked, type Parameter, type Query, text } from './documents/documents.ts'
import { HOLD_QUERY, HOLDS_QUERY } from './documents/holds.ts'
import type { Documents } from './documents/make.ts'
import { PEOPLE_QUERY } from './documents/people/people.ts'
import { GROUPS_QUERY } from './documents/people/person.ts'
import { POLICIES_QUERY } from './documents/policies.ts'
import { BURN_QUERY } from './documents/series.ts'
import { CHANGES_QUERY } from './documents/story/changes.ts'
import type { DocumentKind } from './documents/table.ts'
import { WORKSPACES_QUERY } from './documents/workspaces.ts'

export const API = '/api/v1'

/** The method is called with the parts of the path and with the question. Without `parameters` every parameter is refused. */
const route = (
  path: string,
  kind: DocumentKind,
  method: Exclude<keyof Documents, 'parts' | 'status'>,
  summary: string,
  parameters: readonly Parameter[] = [],
) => {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return {
    /** A part that begins with a colon is a parameter: anything but a slash. */
    path: API + path,
    kind,
    summary,
    parameters,
    make(documents: Documents, params: Readonly<Record<string, string>>, query: Query): Promise<object> {
      if (parameters.length === 0) asked(query, [])
      const parts = names.map((name) => params[name] ?? '')
      return (documents[method] as (...asked: readonly unknown[]) => Promise<object>)(...parts, query)
    },
  }
}

/** `isOwn`: about the person who asks: it is made for each request, and kept by nobody but them. */
export type ApiRoute = ReturnType<typeof route> & { readonly isOwn?: boolean }

const OF = '/workspaces/:workspace'

export const API_ROUTES: readonly ApiRoute[] = [
  { ...route('/me', 'Me', 'me', 'What is left for the person who asks.'), isOwn: true },
  route('/workspaces', 'WorkspaceList', 'workspaces', 'All workspaces, and what needs a person.', WORKSPACES_QUERY),
  route(OF, 'Workspace', 'workspace', 'One workspace.'),
  route(`${OF}/lead`, 'Lead', 'lead', 'Who is near the cap, which grants end within a week, and what changed this week.'),
  route(`${OF}/groups`, 'GroupList', 'groups', 'Its declared groups.', GROUPS_QUERY),
  route(`${OF}/groups/:group`, 'Group', 'group', 'One group.'),
  route(`${OF}/people`, 'PersonList', 'people', 'Its people.', PEOPLE_QUERY),
  route(`${OF}/people/:person`, 'Person', 'person', 'One person: use by day, and why the cap is what it is.'),
  route(`${OF}/changes`, 'ChangeList', 'changes', 'What happened, the newest first.', CHANGES_QUERY),
  route(`${OF}/holds`, 'HoldList', 'holds', 'Holds in force.', HOLDS_QUERY),
  route(`${OF}/holds/:hold`, 'Hold', 'hold', 'One hold: the people it affects, and the ways to release it.', HOLD_QUERY),
  route(`${OF}/policies`, 'PolicyList', 'policies', 'Every declared cap and the people it applies to.', POLICIES_QUERY),
  route(`${OF}/health`, 'Health', 'health', 'How the daemon runs it.'),
  route(`${OF}/comparison`, 'Comparison', 'comparison', 'The policies in force beside the caps that were in force, over recorded cycles.'),
  route(`${OF}/series/credits`, 'CreditsSeries', 'creditsSeries', 'Credits over the cycle.'),
  route(`${OF}/series/burn`, 'BurnSeries', 'burnSeries', 'Credits burned by day.', BURN_QUERY),
  route(`${OF}/series/drift`, 'DriftSeries', 'driftSeries', 'Drift found and reverted by day.'),
  route(`${OF}/series/pools`, 'PoolSeries', 'poolSeries', 'Pools over the cycle.'),
]

/** Of the stream of events. */
export const EVENTS_QUERY = [text('workspace', 'Only changes of this workspace.')]
