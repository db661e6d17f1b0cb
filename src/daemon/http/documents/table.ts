// All documents: the address of each below /api/v1, what it is for, what it says, what makes it of one workspace, and its parameters. The methods of
// `Documents`, the routes and the OpenAPI document are all made of this table. Names here are a contract: they are added and never changed.
import type { Parameter, Seen } from './documents.ts'
import type { candidate, write } from './explained.ts'
import type { Kind, Schema, Shown } from './field.ts'
import { HOLD, HOLD_QUERY, HOLDS, HOLDS_QUERY, holdDocument, holdsDocument } from './holds.ts'
import { LEAD, leadDocument, ME } from './me.ts'
import type { place } from './parts.ts'
import { PEOPLE, PEOPLE_QUERY, peopleDocument } from './people/people.ts'
import { GROUP, GROUPS, GROUPS_QUERY, groupDocument, groupsDocument, PERSON, personDocument } from './people/person.ts'
import { POLICIES, POLICIES_QUERY, policiesDocument } from './policies.ts'
import * as series from './series.ts'
import { CHANGES, CHANGES_QUERY, changesDocument } from './story/changes.ts'
import { COMPARISON } from './story/comparison.ts'
import { HEALTH, type STATUS, WORKSPACE, WORKSPACES, WORKSPACES_QUERY, workspaceDocument } from './workspaces.ts'

/** Begins with the fields of every document. */
type Says = Kind<never, unknown> & { readonly fields: { readonly kind: { readonly schema: Schema } } }
/** Makes it of one workspace, the parts of the path behind its name, and the question. */
export type Make = (seen: Seen, ...asked: never[]) => unknown

export interface DocumentRow {
  /** A part that begins with a colon is a parameter: anything but a slash. */
  readonly path: string
  readonly summary: string
  readonly says: Says
  /** Without any every parameter is refused. */
  readonly parameters: readonly Parameter[]
  /** Absent where it needs more than the workspace: `Documents` has a method of its own for it. */
  readonly make?: Make
  /** Readers of some people have it too. */
  readonly isForParts?: boolean
  /** About the person who asks: it is made for each request, and kept by nobody but them. */
  readonly isOwn?: boolean
}

const row = <S extends Says>(path: string, summary: string, says: S, parameters: readonly Parameter[] = []) => ({
  ...{ path, summary, says, parameters },
})

const OF = '/workspaces/:workspace'

const of = <S extends Says, M extends Make>(path: string, summary: string, says: S, make: M, parameters?: readonly Parameter[]) => ({
  ...row(OF + path, summary, says, parameters),
  make,
})

const forParts = <R>(one: R) => ({ ...one, isForParts: true })

export const DOCUMENTS = {
  me: { ...row('/me', 'What is left for the person who asks.', ME), isOwn: true },
  workspaces: row('/workspaces', 'All workspaces, and what needs a person.', WORKSPACES, WORKSPACES_QUERY),
  workspace: of('', 'One workspace.', WORKSPACE, workspaceDocument),
  lead: forParts(of('/lead', 'Who is near the cap, which grants end within a week, and what changed this week.', LEAD, leadDocument)),
  groups: forParts(of('/groups', 'Its declared groups.', GROUPS, groupsDocument, GROUPS_QUERY)),
  group: forParts(of('/groups/:group', 'One group.', GROUP, groupDocument)),
  people: forParts(of('/people', 'Its people.', PEOPLE, peopleDocument, PEOPLE_QUERY)),
  person: forParts(of('/people/:person', 'One person: use by day, and why the cap is what it is.', PERSON, personDocument)),
  changes: of('/changes', 'What happened, the newest first.', CHANGES, changesDocument, CHANGES_QUERY),
  holds: of('/holds', 'Holds in force.', HOLDS, holdsDocument, HOLDS_QUERY),
  hold: of('/holds/:hold', 'One hold: the people it affects, and the ways to release it.', HOLD, holdDocument, HOLD_QUERY),
  policies: of('/policies', 'Every declared cap and the people it applies to.', POLICIES, policiesDocument, POLICIES_QUERY),
  health: row(`${OF}/health`, 'How the daemon runs it.', HEALTH),
  comparison: row(`${OF}/comparison`, 'The policies in force beside the caps that were in force, over recorded cycles.', COMPARISON),
  creditsSeries: of('/series/credits', 'Credits over the cycle.', series.CREDITS_SERIES, series.creditsSeries),
  burnSeries: of('/series/burn', 'Credits burned by day.', series.BURN_SERIES, series.burnSeries, series.BURN_QUERY),
  driftSeries: of('/series/drift', 'Drift found and reverted by day.', series.DRIFT_SERIES, series.driftSeries),
  poolSeries: of('/series/pools', 'Pools over the cycle.', series.POOL_SERIES, series.poolSeries),
}

type AnyDocument = Shown<(typeof DOCUMENTS)[keyof typeof DOCUMENTS]['says'] | typeof STATUS>
export type Document<Kind extends AnyDocument['kind']> = Extract<AnyDocument, { readonly kind: Kind }>

export type WorkspaceStatus = Document<'Status'>['workspaces'][number]
export type WorkspaceSummary = Document<'WorkspaceList'>['items'][number]
export type AttentionEntry = Document<'WorkspaceList'>['attention'][number]
export type PlaceEntry = Shown<typeof place>
export type ProblemEntry = Document<'Workspace'>['problems'][number]
export type GroupEntry = Document<'GroupList'>['items'][number]
export type PersonEntry = Document<'PersonList'>['items'][number]
export type CandidateEntry = Shown<typeof candidate>
export type WriteEntry = Shown<typeof write>
export type ChangeEntry = Document<'ChangeList'>['items'][number]
export type PolicyRow = Document<'PolicyList'>['items'][number]
