// The addresses beneath /api/v1 as a table: what each is for, its parameters, and the schema of its answer. The server answers by it and the OpenAPI
// document is made of it, so that the two cannot disagree. Names here are a contract: they are added to and never changed.

import type { Documents, Query } from './documents/documents.ts'
import { HOLD_QUERY, HOLDS_QUERY } from './documents/holds.ts'
import { GROUPS_QUERY } from './documents/people/groups.ts'
import { PEOPLE_QUERY } from './documents/people/people.ts'
import { POLICIES_QUERY } from './documents/policies.ts'
import { asked, type Parameter } from './documents/query.ts'
import { BURN_QUERY, DRIFT_QUERY } from './documents/series.ts'
import { CHANGES_QUERY } from './documents/story/changes.ts'
import { PLAN_QUERY } from './documents/story/plan.ts'
import { WORKSPACES_QUERY } from './documents/workspaces.ts'

export const API = '/api/v1'

/** The kinds of documents, which are the names of their schemas. */
export type DocumentKind =
  | 'WorkspaceList'
  | 'Workspace'
  | 'GroupList'
  | 'Group'
  | 'PersonList'
  | 'Person'
  | 'ChangeList'
  | 'Plan'
  | 'HoldList'
  | 'Hold'
  | 'PolicyList'
  | 'Health'
  | 'Comparison'
  | 'CreditsSeries'
  | 'BurnSeries'
  | 'DriftSeries'
  | 'NearSeries'
  | 'PoolSeries'

export interface ApiRoute {
  /** A part that begins with a colon stands for anything but a slash. */
  readonly path: string
  readonly summary: string
  readonly kind: DocumentKind
  readonly parameters: readonly Parameter[]
  readonly make: (documents: Documents, params: Params, query: Query) => Promise<object>
}

type Params = Readonly<Record<string, string>>

/** What the parts of a path stand for. */
export const PATH_PARTS: Readonly<Record<string, string>> = {
  workspace: 'The name of a workspace.',
  group: 'The id of a declared group.',
  person: 'A person as `peopleShown` says: an e-mail, or a hash of 12 hex digits.',
  hold: 'The whole id of a hold, 32 hex digits.',
  plan: 'The whole id of a plan, 16 hex digits.',
}

const OF = `${API}/workspaces/:workspace`

/** A document that takes no parameter refuses all. */
const bare =
  (make: (documents: Documents, params: Params) => Promise<object>): ApiRoute['make'] =>
  (documents, params, query) => {
    asked(query, [])
    return make(documents, params)
  }

const part = (params: Params, name: string): string => params[name] ?? ''
const ws = (params: Params): string => part(params, 'workspace')

const route = (path: string, kind: DocumentKind, summary: string, parameters: readonly Parameter[], make: ApiRoute['make']): ApiRoute => ({
  path,
  kind,
  summary,
  parameters,
  make,
})

export const API_ROUTES: readonly ApiRoute[] = [
  route(`${API}/workspaces`, 'WorkspaceList', 'All workspaces, and what needs a person.', WORKSPACES_QUERY, (documents, _, query) =>
    documents.workspaces(query),
  ),
  route(
    OF,
    'Workspace',
    'One workspace.',
    [],
    bare((documents, params) => documents.workspace(ws(params))),
  ),
  route(`${OF}/groups`, 'GroupList', 'Its declared groups.', GROUPS_QUERY, (documents, params, query) =>
    documents.groups(ws(params), query),
  ),
  route(
    `${OF}/groups/:group`,
    'Group',
    'One group.',
    [],
    bare((documents, params) => documents.group(ws(params), part(params, 'group'))),
  ),
  route(`${OF}/people`, 'PersonList', 'Its people.', PEOPLE_QUERY, (documents, params, query) => documents.people(ws(params), query)),
  route(
    `${OF}/people/:person`,
    'Person',
    'One person: use by day, and why the cap is what it is.',
    [],
    bare((documents, params) => documents.person(ws(params), part(params, 'person'))),
  ),
  route(`${OF}/changes`, 'ChangeList', 'What happened, the newest first.', CHANGES_QUERY, (documents, params, query) =>
    documents.changes(ws(params), query),
  ),
  route(
    `${OF}/plans/:plan`,
    'Plan',
    'One plan: what it wrote, met and still has to do, as far as it is remembered.',
    PLAN_QUERY,
    (documents, params, query) => documents.plan(ws(params), part(params, 'plan'), query),
  ),
  route(`${OF}/holds`, 'HoldList', 'Holds that stand.', HOLDS_QUERY, (documents, params, query) => documents.holds(ws(params), query)),
  route(`${OF}/holds/:hold`, 'Hold', 'One hold: whom it reaches, and how it is released.', HOLD_QUERY, (documents, params, query) =>
    documents.hold(ws(params), part(params, 'hold'), query),
  ),
  route(`${OF}/policies`, 'PolicyList', 'Every declared cap and whom it reaches.', POLICIES_QUERY, (documents, params, query) =>
    documents.policies(ws(params), query),
  ),
  route(
    `${OF}/health`,
    'Health',
    'How the daemon keeps it.',
    [],
    bare((documents, params) => documents.health(ws(params))),
  ),
  route(
    `${OF}/comparison`,
    'Comparison',
    'The policies in force beside the caps that were in force, over recorded cycles.',
    [],
    bare((documents, params) => documents.comparison(ws(params))),
  ),
  route(
    `${OF}/series/credits`,
    'CreditsSeries',
    'Credits over the cycle.',
    [],
    bare((documents, params) => documents.creditsSeries(ws(params))),
  ),
  route(`${OF}/series/burn`, 'BurnSeries', 'Credits burned by day.', BURN_QUERY, (documents, params, query) =>
    documents.burnSeries(ws(params), query),
  ),
  route(`${OF}/series/drift`, 'DriftSeries', 'Drift found and repaired by day.', DRIFT_QUERY, (documents, params, query) =>
    documents.driftSeries(ws(params), query),
  ),
  route(
    `${OF}/series/near`,
    'NearSeries',
    'How near people are to their cap, by group.',
    [],
    bare((documents, params) => documents.nearSeries(ws(params))),
  ),
  route(
    `${OF}/series/pools`,
    'PoolSeries',
    'Pools over the cycle.',
    [],
    bare((documents, params) => documents.poolSeries(ws(params))),
  ),
]
