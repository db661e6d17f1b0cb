// One workspace of the daemon: its settings, its ports, what it knows, and what it shows. Everything that changes during its life is here
// and nowhere else, so that workspaces share nothing.

import { LONGEST_PAUSE_MS, type Pause } from '../core/model/change.ts'
import type { Condition, Finding } from '../core/model/condition.ts'
import type { CycleEvent, Emit, LeaseShown, Mode } from '../core/model/events.ts'
import type { Roster } from '../core/model/observed.ts'
import type { Instant } from '../core/model/units.ts'
import type { Burned } from '../core/use/burned.ts'
import type { UseReading } from '../core/use/use-curve.ts'
import type { Clock, Digest, Ledger, Random, WriteClient } from '../ports.ts'
import type { Collector, KnownRuns, UndeclaredPass } from './collect/kept.ts'
import { idleCollector } from './collect/kept.ts'
import type { Chronicle } from './conditions/chronicle.ts'
import type { Shown } from './conditions/shown.ts'
import type { PlanSettings, WorkspaceState } from './cycle/state.ts'
import type { Notifier } from './notify/channels.ts'
import type { Reading } from './schedule/reading.ts'

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
  /** Tells people; absent where nobody is told. */
  readonly notifier?: Notifier
  /** Where several replicas share the ledger. */
  readonly lease?: WorkspaceLease
  /** What is remembered of its events for those who look. */
  readonly chronicle?: Chronicle
}

/** What the other replicas mean for this workspace. */
export interface WorkspaceLease {
  /** One of them has had newer policies than these. */
  isReplaced(): boolean
  /** Until then a write of the one that held it before may land. */
  quietUntil(): Instant
  /** Who keeps it. */
  shown(): LeaseShown
}

/** Who looks; each look of one replaces what it found before. */
export type FindingSource =
  | 'policy'
  | 'usage'
  | 'runs'
  | 'addOn'
  | 'figures'
  | 'plan'
  | 'foreign'
  | 'pause'
  | 'writes'
  | 'service'
  | 'deployment'
  | 'cycle'
  | 'notify'
  | 'lease'

export interface Workspace extends WorkspaceParts {
  /** Absent until a policy set was usable once. */
  state: WorkspaceState | undefined
  /** What it knew under the settings before these, for those who look until it knows something itself. */
  before: WorkspaceState | undefined
  shown: Shown
  /** What each look found last, from which the conditions follow. */
  findings: Readonly<Partial<Record<FindingSource, readonly Finding[]>>>
  /** What holds now, and since when. */
  conditions: readonly Condition[]
  /** As it was read last. */
  pause: Pause | undefined
  /** The sweep for caps of people that nobody declares; absent until there was one. */
  undeclared: UndeclaredPass | undefined
  /** What the last sweep went by; absent while sweeps read everything. */
  reading: Reading | undefined
  /** What was burned so far; absent until the ledger was asked for it. */
  burned: Burned | undefined
  /** The roster that was taken into it last. */
  burnedFrom: Roster | undefined
  /** The readings of use as they were last read from the ledger, and which roster was the last in them. */
  useReadings: { readonly from: Roster | undefined; readonly all: readonly UseReading[] } | undefined
  /** The runs of the team as they were last read from the ledger. */
  runs: KnownRuns | undefined
  readonly collector: Collector
  /** A cycle was tried, or there is no policy to try one with. */
  attempted: boolean
}

/** What those who look go on to see when settings change: nothing of it decides about a cap. */
type Kept = Pick<Workspace, 'state' | 'shown' | 'findings' | 'conditions' | 'pause' | 'undeclared' | 'attempted'>

const NOTHING: Kept = {
  state: undefined,
  shown: {},
  findings: {},
  conditions: [],
  pause: undefined,
  undeclared: undefined,
  attempted: false,
}

/** One that starts, or starts again under other settings for the same service. */
export const createWorkspace = (parts: WorkspaceParts, { state: before, ...kept }: Kept = NOTHING): Workspace => ({
  ...parts,
  shown: kept.shown,
  findings: kept.findings,
  conditions: kept.conditions,
  pause: kept.pause,
  undeclared: kept.undeclared,
  attempted: kept.attempted,
  state: undefined,
  before,
  reading: undefined,
  burned: undefined,
  burnedFrom: undefined,
  useReadings: undefined,
  runs: undefined,
  collector: { chunkDays: new Map(), triedAt: new Map(), addOn: idleCollector() },
})

/**
 * Looks for a pause, which another process begins and ends; one that was recorded on a clock far ahead has its whole time from now on, and ends
 * then. Rejects with a `LedgerError`.
 */
export async function readPause(workspace: Workspace): Promise<Pause | undefined> {
  const now = workspace.clock.now()
  const kept = await workspace.ledger.pause(now)
  // Nothing else tells whose clock is wrong, and no pause is to end early.
  const isAhead = kept !== undefined && kept.untilAt - now > LONGEST_PAUSE_MS
  workspace.pause = isAhead ? { ...kept, pausedAt: now, untilAt: now + kept.untilAt - kept.pausedAt } : kept
  if (isAhead) await workspace.ledger.savePause(workspace.pause)
  return workspace.pause
}

type Bare<T> = T extends unknown ? Omit<T, 'workspace' | 'at'> : never

/** Emits an event of this workspace, now. */
export function report(workspace: Workspace, event: Bare<CycleEvent>): void {
  workspace.emit({ ...event, workspace: workspace.config.name, at: workspace.clock.now() } as CycleEvent)
}
