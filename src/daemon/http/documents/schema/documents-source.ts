// The schemas of all documents by their kind. Schemas only; see parts-source.ts.
import type { TSchema } from 'typebox'
import * as people from './people-source.ts'
import { STATUS } from './status-source.ts'
import * as story from './story-source.ts'
import * as workspace from './workspace-source.ts'

export const DOCUMENTS = {
  Me: people.ME,
  Lead: story.LEAD,
  WorkspaceList: workspace.WORKSPACES,
  Workspace: workspace.WORKSPACE,
  GroupList: people.GROUPS,
  Group: people.GROUP,
  PersonList: people.PEOPLE,
  Person: people.PERSON,
  ChangeList: story.CHANGES,
  HoldList: story.HOLDS,
  Hold: story.HOLD,
  Plan: story.PLAN,
  PolicyList: workspace.POLICIES,
  Health: workspace.HEALTH,
  Comparison: story.COMPARISON,
  CreditsSeries: story.CREDITS_SERIES,
  BurnSeries: story.BURN_SERIES,
  DriftSeries: story.DRIFT_SERIES,
  PoolSeries: story.POOL_SERIES,
  NearSeries: story.NEAR_SERIES,
  Status: STATUS,
} satisfies Readonly<Record<string, TSchema>>
