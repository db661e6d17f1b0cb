// The types of /status and of the documents behind the pages and /api/v1, each taken from its schema. Instants are RFC 3339 in UTC, people are shown
// as `people` of the config says, lists are bounded and say what they leave out, and what was never known is absent. Types only.

import type { COMPARISON } from './schema/comparison-source.ts'
import type { LEAD } from './schema/lead-source.ts'
import type { ME } from './schema/me-source.ts'
import type { place, problem, Shape } from './schema/parts-source.ts'
import type { GROUP, GROUPS, PEOPLE, PERSON, WRITE } from './schema/people-source.ts'
import type { STATUS } from './schema/status-source.ts'
import type {
  BURN_SERIES,
  CHANGES,
  CREDITS_SERIES,
  DRIFT_SERIES,
  HOLD,
  HOLDS,
  NEAR_SERIES,
  PLAN,
  POOL_SERIES,
} from './schema/story-source.ts'
import type { HEALTH, POLICIES, SCOPE, WORKSPACE, WORKSPACES } from './schema/workspace-source.ts'

export type MeDocument = Shape<typeof ME>
export type LeadDocument = Shape<typeof LEAD>
export type StatusDocument = Shape<typeof STATUS>
export type WorkspaceStatus = StatusDocument['workspaces'][number]
export type WorkspaceListDocument = Shape<typeof WORKSPACES>
export type WorkspaceSummary = WorkspaceListDocument['items'][number]
export type AttentionEntry = WorkspaceListDocument['attention'][number]
export type WorkspaceDocument = Shape<typeof WORKSPACE>
export type ScopeEntry = Shape<typeof SCOPE>
export type PlaceEntry = Shape<typeof place>
export type ProblemEntry = Shape<typeof problem>
export type GroupListDocument = Shape<typeof GROUPS>
export type GroupEntry = GroupListDocument['items'][number]
export type GroupDocument = Shape<typeof GROUP>
export type PersonListDocument = Shape<typeof PEOPLE>
export type PersonEntry = PersonListDocument['items'][number]
export type PersonDocument = Shape<typeof PERSON>
export type CandidateEntry = PersonDocument['chain'][number]
export type WriteEntry = Shape<typeof WRITE>
export type ChangeListDocument = Shape<typeof CHANGES>
export type ChangeEntry = ChangeListDocument['items'][number]
export type HoldListDocument = Shape<typeof HOLDS>
export type HoldDocument = Shape<typeof HOLD>
export type PlanDocument = Shape<typeof PLAN>
export type PolicyListDocument = Shape<typeof POLICIES>
export type PolicyRow = PolicyListDocument['items'][number]
export type HealthDocument = Shape<typeof HEALTH>
export type ComparisonDocument = Shape<typeof COMPARISON>
export type CreditsSeries = Shape<typeof CREDITS_SERIES>
export type BurnSeries = Shape<typeof BURN_SERIES>
export type DriftSeries = Shape<typeof DRIFT_SERIES>
export type PoolSeries = Shape<typeof POOL_SERIES>
export type NearSeries = Shape<typeof NEAR_SERIES>
