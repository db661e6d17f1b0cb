// What the documents behind the pages, /api/v1 and /status are made from. Types only.

import type { Condition } from '../../../core/model/condition.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { LedgerFacts } from '../../../core/model/facts.ts'
import type { CapReading } from '../../../core/model/observed.ts'
import type { PolicyRevision } from '../../../core/model/policy.ts'
import type { ScopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { Slicing } from '../../../core/pace/rhythm.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import type { DayGrade } from '../../../core/use/history.ts'
import type { DayRange, Ledger } from '../../../ports.ts'
import type { KnownRuns } from '../../collect/kept.ts'
import type { Journal, Requests } from '../../conditions/journal.ts'
import type { WorkspaceSettings } from '../../config/settings.ts'
import type { DesiredState } from '../../cycle/state.ts'
import type { PeopleLabels } from '../labels.ts'

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
  readonly requests?: Requests
  /** How sweeps are sliced; absent while every sweep is whole. */
  readonly slicing?: Slicing
  /** When the interval says that caps are read again. */
  readonly nextSweepAt?: Instant
}

/** The facts of the ledger that documents show. */
type FactShown = 'holdsShown' | 'runsAsked' | 'addOnAsked' | 'usage'

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
  view(): WorkspaceView
  /** Takes more than the view where another replica holds the workspace. */
  facts(): Promise<WorkspaceFacts>
  readonly records: Records
}

export interface Health {
  readonly configValid: boolean
  readonly ledgerWritable: boolean
  /** Conditions of the whole process. */
  readonly conditions?: readonly Condition[]
  /** Processes that share the workspaces; absent or empty where there is only this one. */
  readonly replicas?: readonly { readonly name: string; readonly isHere: boolean }[]
}

export interface DaemonFacts extends Health {
  readonly version: string
}

/** How things are shown, and when. */
export interface Showing {
  readonly people: PeopleLabels
  /** That the document is about. */
  readonly workspace?: string
  readonly now: Instant
  /** Address of a policy line, with `{revision}`, `{file}` and `{line}` in it. */
  readonly sourceUrl?: string
  /** Of the policies in force; lines are those of this revision unless they say another. */
  readonly revision?: string
  /** The reader sees only some people: names and places of declarations stay out. */
  readonly isPart?: boolean
  /** Where people ask for more, with placeholders. */
  readonly requestUrl?: string
}
