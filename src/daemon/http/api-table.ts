// The addresses of /api/v1: what each is for, its parameters, and the schema of its answer. The server and the OpenAPI document are both made of this
// table, so that they cannot disagree. Names here are a contract: they are added and never changed.

import type { Query } from './documents/documents.ts'
import { HOLD_QUERY, HOLDS_QUERY } from './documents/holds.ts'
import type { Documents } from './documents/make.ts'
import { GROUPS_QUERY } from './documents/people/groups.ts'
import { PEOPLE_QUERY } from './documents/people/people.ts'
import { POLICIES_QUERY } from './documents/policies.ts'
import { asked, type Parameter } from './documents/query.ts'
import { BURN_QUERY, DRIFT_QUERY } from './documents/series.ts'
import { CHANGES_QUERY, PLAN_QUERY } from './documents/story/changes.ts'
import { WORKSPACES_QUERY } from './documents/workspaces.ts'

export const API = '/api/v1'

type KindOf<Method> = Method extends (...asked: never[]) => Promise<{ readonly kind: infer Kind }> ? Kind : never

/** The kinds of documents, which are the names of their schemas. */
export type DocumentKind = Exclude<KindOf<Documents[keyof Documents]>, 'Status'>

export interface ApiRoute {
  /** A part that begins with a colon is a parameter: anything but a slash. */
  readonly path: string
  readonly summary: string
  readonly kind: DocumentKind
  readonly parameters: readonly Parameter[]
  /** About the person who asks: it is made for each request, and kept by nobody but them. */
  readonly isOwn?: boolean
  readonly make: (documents: Documents, params: Params, query: Query) => Promise<object>
}

type Params = Readonly<Record<string, string>>

/** The parameters in paths. */
export const PATH_PARTS: Readonly<Record<string, string>> = {
  workspace: 'The name of a workspace.',
  group: 'The id of a declared group.',
  person: 'A person as `peopleShown` says: an e-mail, or a hash of 12 hex digits.',
  hold: 'The whole id of a hold, 32 hex digits.',
  plan: 'The whole id of a plan, 16 hex digits.',
}

const OF = `${API}/workspaces/:workspace`

/** Without `parameters` every parameter is refused. */
const route = (
  path: string,
  kind: DocumentKind,
  summary: string,
  make: ApiRoute['make'],
  parameters: readonly Parameter[] = [],
): ApiRoute => ({
  path,
  kind,
  summary,
  parameters,
  make(documents, params, query) {
    if (parameters.length === 0) asked(query, [])
    return make(documents, params, query)
  },
})

/** Methods whose document is about a whole workspace. */
type OfWorkspace = {
  [K in keyof Documents]: Documents[K] extends (workspace: string, query: Query) => Promise<object> ? K : never
}[keyof Documents]

const ofWorkspace = (path: string, kind: DocumentKind, method: OfWorkspace, summary: string, parameters?: readonly Parameter[]): ApiRoute =>
  route(`${OF}${path}`, kind, summary, (documents, { workspace = '' }, query) => documents[method](workspace, query), parameters)

/** The method is called as the parameter in the path. */
const ofOne = (
  path: string,
  kind: DocumentKind,
  name: 'group' | 'person' | 'plan' | 'hold',
  summary: string,
  parameters?: readonly Parameter[],
): ApiRoute =>
  route(
    `${OF}${path}/:${name}`,
    kind,
    summary,
    (documents, { workspace = '', [name]: one = '' }, query) => documents[name](workspace, one, query),
    parameters,
  )

export const API_ROUTES: readonly ApiRoute[] = [
  { ...route(`${API}/me`, 'Me', 'What is left for the person who asks.', (documents) => documents.me()), isOwn: true },
  route(
    `${API}/workspaces`,
    'WorkspaceList',
    'All workspaces, and what needs a person.',
    (documents, _, query) => documents.workspaces(query),
    WORKSPACES_QUERY,
  ),
  ofWorkspace('', 'Workspace', 'workspace', 'One workspace.'),
  ofWorkspace('/lead', 'Lead', 'lead', 'Who is near the cap, which grants end within a week, and what changed this week.'),
  ofWorkspace('/groups', 'GroupList', 'groups', 'Its declared groups.', GROUPS_QUERY),
  ofOne('/groups', 'Group', 'group', 'One group.'),
  ofWorkspace('/people', 'PersonList', 'people', 'Its people.', PEOPLE_QUERY),
  ofOne('/people', 'Person', 'person', 'One person: use by day, and why the cap is what it is.'),
  ofWorkspace('/changes', 'ChangeList', 'changes', 'What happened, the newest first.', CHANGES_QUERY),
  ofOne(
    '/plans',
    'Plan',
    'plan',
    'One plan: its writes, its holds, and the changes that are still to be written, as far as recorded.',
    PLAN_QUERY,
  ),
  ofWorkspace('/holds', 'HoldList', 'holds', 'Holds in force.', HOLDS_QUERY),
  ofOne('/holds', 'Hold', 'hold', 'One hold: the people it affects, and the ways to release it.', HOLD_QUERY),
  ofWorkspace('/policies', 'PolicyList', 'policies', 'Every declared cap and the people it applies to.', POLICIES_QUERY),
  ofWorkspace('/health', 'Health', 'health', 'How the daemon runs it.'),
  ofWorkspace('/comparison', 'Comparison', 'comparison', 'The policies in force beside the caps that were in force, over recorded cycles.'),
  ofWorkspace('/series/credits', 'CreditsSeries', 'creditsSeries', 'Credits over the cycle.'),
  ofWorkspace('/series/burn', 'BurnSeries', 'burnSeries', 'Credits burned by day.', BURN_QUERY),
  ofWorkspace('/series/drift', 'DriftSeries', 'driftSeries', 'Drift found and reverted by day.', DRIFT_QUERY),
  ofWorkspace('/series/near', 'NearSeries', 'nearSeries', 'How near people are to their cap, by group.'),
  ofWorkspace('/series/pools', 'PoolSeries', 'poolSeries', 'Pools over the cycle.'),
]
