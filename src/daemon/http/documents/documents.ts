// What every document is asked with and made from, and the error of a question without an answer.

import type { HistoryEntry } from '../../../core/model/change.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { GrantStatus } from '../../../core/resolve/candidate.ts'
import type { PeopleIndex } from './people/roster.ts'
import type { Records, Showing, WorkspaceFacts } from './types.ts'

/** The parameters behind the `?` of an address. One that the document does not know is refused, by name. */
export type Query = Readonly<Record<string, string>>

/** What one reader may see of a workspace. */
export interface Seen {
  readonly facts: WorkspaceFacts
  readonly records: Records
  readonly showing: Showing
  /** Grants and writes of the scopes that are seen. */
  readonly grants: readonly GrantStatus[]
  writes(sinceAt: Instant): Promise<readonly HistoryEntry[]>
  /** The rows of the people who are seen. */
  index(): Promise<PeopleIndex>
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
