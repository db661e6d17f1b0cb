// The documents behind the pages and /api/v1: one method each. They answer one reader, who sees only the workspaces that the reader may see. Types, and
// the error of a question without an answer.

import type {
  BurnSeries,
  ChangeListDocument,
  ComparisonDocument,
  CreditsSeries,
  DriftSeries,
  GroupDocument,
  GroupListDocument,
  HealthDocument,
  HoldDocument,
  HoldListDocument,
  LeadDocument,
  MeDocument,
  NearSeries,
  PersonDocument,
  PersonListDocument,
  PlanDocument,
  PolicyListDocument,
  PoolSeries,
  StatusDocument,
  WorkspaceDocument,
  WorkspaceListDocument,
} from './types.ts'

/** The parameters behind the `?` of an address. One that the document does not know is refused, by name. */
export type Query = Readonly<Record<string, string>>

/** Every method rejects with a `DocumentError` when a parameter is invalid, or what was asked for does not exist. */
export interface Documents {
  /** What `/status` says. */
  status(): Promise<StatusDocument>
  /** What is left for the person who asks. */
  me(): Promise<MeDocument>
  /** `page`, `limit`. */
  workspaces(query?: Query): Promise<WorkspaceListDocument>
  workspace(workspace: string): Promise<WorkspaceDocument>
  /** Who is near the cap, grants that end soon, and what changed. */
  lead(workspace: string): Promise<LeadDocument>
  /** Workspaces of which the reader sees only some people: the other pages do not exist for them. */
  parts(): readonly string[]
  /** `search`, `sort`, `order`, `page`, `limit`. */
  groups(workspace: string, query?: Query): Promise<GroupListDocument>
  group(workspace: string, id: string): Promise<GroupDocument>
  /** `search`, `band`, `group`, `rule`, `state`, `status`, `sort`, `order`, `page`, `limit`. */
  people(workspace: string, query?: Query): Promise<PersonListDocument>
  /** `person`: as `people` of the config shows people. */
  person(workspace: string, person: string): Promise<PersonDocument>
  /** `kind`, `scope`, `since`, `after`, `limit`. */
  changes(workspace: string, query?: Query): Promise<ChangeListDocument>
  /** `guard`, `page`, `limit`. */
  holds(workspace: string, query?: Query): Promise<HoldListDocument>
  /** `effect`, `page`, `limit`: of the people it affects. */
  hold(workspace: string, id: string, query?: Query): Promise<HoldDocument>
  /** `at`, `page`, `limit`: of its writes. */
  plan(workspace: string, id: string, query?: Query): Promise<PlanDocument>
  /** `kind`, `search`, `page`, `limit`. */
  policies(workspace: string, query?: Query): Promise<PolicyListDocument>
  health(workspace: string): Promise<HealthDocument>
  /** Starts making the comparison where there is none; never waits for it. */
  comparison(workspace: string): Promise<ComparisonDocument>
  creditsSeries(workspace: string): Promise<CreditsSeries>
  /** `by`, `days`. */
  burnSeries(workspace: string, query?: Query): Promise<BurnSeries>
  /** `days`. */
  driftSeries(workspace: string, query?: Query): Promise<DriftSeries>
  nearSeries(workspace: string): Promise<NearSeries>
  poolSeries(workspace: string): Promise<PoolSeries>
}

/** 400: a parameter is invalid; 404: what was asked for does not exist; 503: too much is asked at once. The message is for the client. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly status: 400 | 404 | 503
  constructor(status: 400 | 404 | 503, message: string) {
    super(message)
    this.status = status
  }
}
