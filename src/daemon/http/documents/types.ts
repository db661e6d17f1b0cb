// The types of /status and of the documents behind the pages and /api/v1, each taken from its schema, and what they are made from. Instants are RFC 3339
// in UTC, people are shown as `people` of the config says, lists are bounded and say what they leave out, and what was never known is absent. Types only.

import type { WorkspaceView } from '../../../core/model/events.ts'
import type { CapReading } from '../../../core/model/observed.ts'
import type { PolicyRevision } from '../../../core/model/policy.ts'
import type { ScopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { Slicing } from '../../../core/pace/rhythm.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import type { DayGrade } from '../../../core/use/history.ts'
import type { Clock, DayRange, Ledger, LedgerFacts } from '../../../ports.ts'
import type { KnownRuns } from '../../collect/kept.ts'
import type { Journal, RequestsOf } from '../../conditions/journal.ts'
import type { DesiredState } from '../../cycle/state.ts'
import type { WorkspaceSettings } from '../../workspace.ts'
import type { Health } from '../metrics/metrics.ts'
import type { PeopleLabels } from '../status/labels.ts'
import type { COMPARISON } from './schema/comparison-source.ts'
import type { place, problem, Shape } from './schema/parts-source.ts'
import type { GROUP, GROUPS, ME, PEOPLE, PERSON, WRITE } from './schema/people-source.ts'
import type { STATUS } from './schema/status-source.ts'
import type {
  BURN_SERIES,
  CHANGES,
  CREDITS_SERIES,
  DRIFT_SERIES,
  HOLD,
  HOLDS,
  LEAD,
  NEAR_SERIES,
  PLAN,
  POOL_SERIES,
} from './schema/story-source.ts'
import type { HEALTH, POLICIES, SCOPE, WORKSPACE, WORKSPACES } from './schema/workspace-source.ts'

/** All but the view is absent while it is not known. */
export interface WorkspaceFacts {
  readonly view: WorkspaceView
  readonly settings?: WorkspaceSettings
  readonly readings?: ReadonlyMap<ScopeKey, CapReading>
  readonly policy?: PolicyRevision
  readonly unknownGroups?: readonly string[]
  readonly desiredState?: DesiredState
  readonly planned?: Planned
  readonly journal?: Journal
  /** The runs of the team, as last read from the ledger. */
  readonly runs?: KnownRuns
  readonly requests?: readonly RequestsOf[]
  /** How sweeps are sliced; absent while every sweep is whole. */
  readonly slicing?: Slicing
  /** When the interval says that caps are read again. */
  readonly nextSweepAt?: Instant
}

/** The facts of the ledger that documents show. */
type FactShown = 'holdsShown' | 'runsAsked' | 'addOnAsked'

/** The durable records of a workspace. Empty where the ledger cannot be read. */
export interface Records extends Pick<Ledger, 'history' | 'runs' | 'useOfPerson' | 'addOnOfPerson'> {
  /** What is known of each past day of one person. */
  gradesOfPerson(email: string, days: DayRange): Promise<readonly (DayRange & { readonly grade: DayGrade })[]>
  fact<K extends FactShown>(name: K): Promise<LedgerFacts[K] | undefined>
}

export interface WorkspaceSource {
  readonly name: string
  /** Changes whenever something that is shown may have changed. */
  version(): number
  facts(): Promise<WorkspaceFacts>
  readonly records: Records
}

export interface DaemonFacts extends Health {
  readonly version: string
}

/** How things are shown, and when. */
export interface Showing {
  readonly people: PeopleLabels
  readonly clock: Clock
  readonly now: Instant
  /** Address of a policy line, with `{revision}`, `{file}` and `{line}` in it. */
  readonly sourceUrl?: string
  /** The reader sees only some people: names and places of declarations stay out. */
  readonly isPart?: boolean
  /** Where people ask for more, with placeholders. */
  readonly requestUrl?: string
}

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
