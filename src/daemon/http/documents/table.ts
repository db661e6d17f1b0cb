// All documents by their kind, and the types of what they say, each taken from its table.
import type { candidate, write } from './explained.ts'
import type { Shown } from './field.ts'
import { HOLD, HOLDS } from './holds.ts'
import { LEAD, ME } from './me.ts'
import type { place } from './parts.ts'
import { PEOPLE } from './people/people.ts'
import { GROUP, GROUPS, PERSON } from './people/person.ts'
import { POLICIES } from './policies.ts'
import { BURN_SERIES, CREDITS_SERIES, DRIFT_SERIES, POOL_SERIES } from './series.ts'
import { CHANGES } from './story/changes.ts'
import { COMPARISON } from './story/comparison.ts'
import { HEALTH, STATUS, WORKSPACE, WORKSPACES } from './workspaces.ts'

export const DOCUMENTS = {
  Me: ME,
  Lead: LEAD,
  WorkspaceList: WORKSPACES,
  Workspace: WORKSPACE,
  GroupList: GROUPS,
  Group: GROUP,
  PersonList: PEOPLE,
  Person: PERSON,
  ChangeList: CHANGES,
  HoldList: HOLDS,
  Hold: HOLD,
  PolicyList: POLICIES,
  Health: HEALTH,
  Comparison: COMPARISON,
  CreditsSeries: CREDITS_SERIES,
  BurnSeries: BURN_SERIES,
  DriftSeries: DRIFT_SERIES,
  PoolSeries: POOL_SERIES,
  Status: STATUS,
}

export type DocumentKind = keyof typeof DOCUMENTS
export type Document<Kind extends DocumentKind> = Shown<(typeof DOCUMENTS)[Kind]>

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
