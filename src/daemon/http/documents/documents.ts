// What the pages and /api/v1 are made from: one function a document. Each answers one reader, who sees no workspace that is not theirs. Types,
// and the error of a question that has no answer; the documents themselves are made beside this file.

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

/** What stands behind the `?` of an address. Parameters that a document does not know are refused, by name. */
export type Query = Readonly<Record<string, string>>

/** Every method rejects with a `DocumentError` where there is no such thing, or the question makes no sense. */
export interface Documents {
  /** What `/status` says. */
  status(): Promise<StatusDocument>
  /** `page`, `limit`. */
  workspaces(query?: Query): Promise<WorkspaceListDocument>
  workspace(workspace: string): Promise<WorkspaceDocument>
  /** `search`, `sort`, `order`, `page`, `limit`. */
  groups(workspace: string, query?: Query): Promise<GroupListDocument>
  group(workspace: string, id: string): Promise<GroupDocument>
  /** `search`, `band`, `group`, `rule`, `state`, `status`, `sort`, `order`, `page`, `limit`. */
  people(workspace: string, query?: Query): Promise<PersonListDocument>
  /** `person`: as people are shown. */
  person(workspace: string, person: string): Promise<PersonDocument>
  /** `kind`, `scope`, `since`, `after`, `limit`. */
  changes(workspace: string, query?: Query): Promise<ChangeListDocument>
  /** `guard`, `page`, `limit`. */
  holds(workspace: string, query?: Query): Promise<HoldListDocument>
  /** `effect`, `page`, `limit`: of those it reaches. */
  hold(workspace: string, id: string, query?: Query): Promise<HoldDocument>
  /** `at`, `page`, `limit`: of what it wrote. */
  plan(workspace: string, id: string, query?: Query): Promise<PlanDocument>
  /** `kind`, `search`, `page`, `limit`. */
  policies(workspace: string, query?: Query): Promise<PolicyListDocument>
  health(workspace: string): Promise<HealthDocument>
  /** Has it made where there is none; the answer never waits for it. */
  comparison(workspace: string): Promise<ComparisonDocument>
  creditsSeries(workspace: string): Promise<CreditsSeries>
  /** `by`, `days`. */
  burnSeries(workspace: string, query?: Query): Promise<BurnSeries>
  /** `days`. */
  driftSeries(workspace: string, query?: Query): Promise<DriftSeries>
  nearSeries(workspace: string): Promise<NearSeries>
  poolSeries(workspace: string): Promise<PoolSeries>
}

/** A question without an answer: 400 it makes no sense, 404 there is no such thing. The message is for whoever asked. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly status: 400 | 404
  constructor(status: 400 | 404, message: string) {
    super(message)
    this.status = status
  }
}
