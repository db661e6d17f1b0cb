// What documents are made from: the present state of a workspace as plain data, and its records in the ledger. The state is not copied: readers must
// not change it. Types only.

import type { HistoryEntry } from '../../../core/model/change.ts'
import type { WorkspaceView } from '../../../core/model/events.ts'
import type { CapReading, RunUse } from '../../../core/model/observed.ts'
import type { PolicyRevision } from '../../../core/model/policy.ts'
import type { GroupScope, Scope, ScopeKey, TeamScope } from '../../../core/model/scope.ts'
import type { Credits, Instant } from '../../../core/model/units.ts'
import type { Slicing } from '../../../core/pace/rhythm.ts'
import type { Planned } from '../../../core/plan/plan.ts'
import type { DayGrade } from '../../../core/use/history.ts'
import type { UseReading } from '../../../core/use/use-curve.ts'
import type { AddOnDay, Clock, DayRange, LedgerFacts } from '../../../ports.ts'
import type { KnownRuns } from '../../collect/kept.ts'
import type { Journal } from '../../conditions/journal.ts'
import type { RequestsOf } from '../../conditions/requests.ts'
import type { DesiredState } from '../../cycle/state.ts'
import type { WorkspaceSettings } from '../../workspace.ts'
import type { Health } from '../metrics/metrics.ts'
import type { PeopleLabels } from '../status/labels.ts'

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

export interface DayUse {
  readonly dayAt: Instant
  readonly used: Credits
}

/** The facts of the ledger that documents show. */
type FactShown = 'holdsShown' | 'runsAsked' | 'addOnAsked' | 'unreadSince'

/** The durable records of a workspace. Empty where the ledger cannot be read. */
export interface Records {
  /** Newest first; `untilAt` itself counts. */
  history(filter: {
    readonly scope?: Scope
    readonly sinceAt?: Instant
    readonly untilAt?: Instant
    readonly limit: number
  }): Promise<readonly HistoryEntry[]>
  runs(scope: TeamScope | GroupScope, days: DayRange): Promise<readonly RunUse[]>
  /** Credits that one person used, by day; no row for days without use. */
  useOfPerson(email: string, days: DayRange): Promise<readonly DayUse[]>
  /** What part of them the service says was paid from add-on credits; no row for days without any. */
  addOnOfPerson(email: string, days: DayRange): Promise<readonly AddOnDay[]>
  useReadings(): Promise<readonly UseReading[]>
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
