// One workspace of the daemon: its settings, its ports, what it knows, and what it shows. Everything that changes during its life is here
// and nowhere else, so that workspaces share nothing.

import type { Pause } from '../core/model/change.ts'
import type { CycleEvent, Emit, Mode } from '../core/model/events.ts'
import type { Observed, Roster } from '../core/model/observed.ts'
import type { ScopeKey } from '../core/model/scope.ts'
import type { Burned } from '../core/use/burned.ts'
import type { Clock, Digest, Ledger, Random, WriteClient } from '../ports.ts'
import type { KnownRuns } from './collect/burning.ts'
import type { Collector } from './collect/runs.ts'
import type { UndeclaredPass } from './collect/undeclared.ts'
import type { Chronicle } from './conditions/chronicle.ts'
import type { Standing } from './conditions/standing.ts'
import type { Shown } from './conditions/view.ts'
import type { PlanSettings, WorkspaceState } from './cycle/state.ts'

/** The settings of a workspace that its cycles depend on; a subset of the configuration. */
export interface WorkspaceSettings extends PlanSettings {
  readonly mode: Mode
  readonly onDrift: 'heal' | 'alert'
  readonly intervalMs: number
  readonly usageIntervalMs: number
  /** Absent: ignore. */
  readonly undeclaredUsers?: 'ignore' | 'report'
}

export interface WorkspaceParts {
  readonly config: WorkspaceSettings
  readonly client: WriteClient
  /** Requests per second learned for the key that reads caps. */
  readonly ratePerSecond?: () => number | undefined
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  readonly digest: Digest
  readonly emit: Emit
  /** What is remembered of its events for those who look. */
  readonly chronicle?: Chronicle
}

export interface Workspace extends WorkspaceParts {
  /** Absent until a policy set was usable once. */
  knowledge: WorkspaceState | undefined
  shown: Shown
  /** The foreign value last reported per scope, so that each foreign change is reported once. */
  readonly foreignSeen: Map<ScopeKey, Observed>
  /** Holds that were reported. */
  readonly heldSeen: Set<string>
  /** Rejected scopes, with their code, that were reported. */
  readonly rejectedSeen: Set<string>
  /** Why no write was taken, while that is so; it was reported. */
  refusalSeen: string | undefined
  /** The pause that was reported, until its end is. */
  pauseSeen: Pause | undefined
  /** The sweep for caps of people that nobody declares; absent until there was one. */
  undeclared: UndeclaredPass | undefined
  /** The ledger could not record in the last cycle; nothing is written to the service until it can. */
  ledgerFailed: boolean
  /** What was burned so far; absent until the ledger was asked for it. */
  burned: Burned | undefined
  /** The roster that was taken into it last. */
  burnedFrom: Roster | undefined
  /** The runs of the team as they were last read from the ledger. */
  runs: KnownRuns | undefined
  readonly collector: Collector
  /** Warnings that were told and still hold. */
  standing: Standing
  /** A cycle was tried, or there is no policy to try one with. */
  attempted: boolean
}

export const createWorkspace = (parts: WorkspaceParts): Workspace => ({
  ...parts,
  knowledge: undefined,
  shown: {},
  foreignSeen: new Map(),
  heldSeen: new Set(),
  rejectedSeen: new Set(),
  refusalSeen: undefined,
  pauseSeen: undefined,
  undeclared: undefined,
  ledgerFailed: false,
  burned: undefined,
  burnedFrom: undefined,
  runs: undefined,
  collector: { chunkDays: new Map(), triedAt: new Map() },
  standing: new Map(),
  attempted: false,
})

type Bare<T> = T extends unknown ? Omit<T, 'workspace' | 'at'> : never

/** Emits an event of this workspace, now. */
export function report(workspace: Workspace, event: Bare<CycleEvent>): void {
  workspace.emit({ ...event, workspace: workspace.config.name, at: workspace.clock.now() } as CycleEvent)
}
