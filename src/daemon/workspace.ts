// One workspace of the daemon: its settings, its ports, its state, and what it shows. All that changes during its life is here, so that
// workspaces share nothing.
import { LONGEST_PAUSE_MS, type Pause } from '../core/model/change.ts'
import { advance, type Condition, type Finding } from '../core/model/condition.ts'
import type { CycleEvent, Emit, WorkspaceView } from '../core/model/events.ts'
import type { Roster } from '../core/model/observed.ts'
import { messageOf } from '../core/model/problem.ts'
import type { ScopeKey } from '../core/model/scope.ts'
import type { Credits, Instant } from '../core/model/units.ts'
import type { Slicing } from '../core/pace/rhythm.ts'
import type { Planned } from '../core/plan/plan.ts'
import type { Burned } from '../core/use/burn.ts'
import type { UseReading } from '../core/use/curve.ts'
import type { Clock, Digest, Ledger, Random, WriteClient } from '../ports.ts'
import { type KnownRuns, newCollector, type UndeclaredPass } from './collect/kept.ts'
import type { Chronicle } from './conditions/journal.ts'
import type { WorkspaceSettings } from './config/settings.ts'
import type { DesiredState, WorkspaceState } from './cycle/state.ts'
import type { ReadPeopleFile } from './directory/read.ts'
import type { Notifier } from './notify/channels.ts'
import type { WorkspaceLease } from './replicas/leases.ts'

/** The slice of the last sweep, and the figures by which it was chosen. */
export interface Reading extends Slicing {
  /** The scopes that the sweep reads. */
  readonly slice: ReadonlySet<ScopeKey>
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}

/** `use`: as of the last reading or cycle; `balance`: as last read, also while the roster cannot be read. */
interface Shown extends Pick<WorkspaceView, 'policy' | 'lastCycle' | 'lastSuccessAt' | 'use' | 'history' | 'balance'> {
  readonly planned?: Planned
  readonly desiredState?: DesiredState
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
  readonly readPeopleFile: ReadPeopleFile
  readonly emit: Emit
  /** Sends notifications; absent where none are configured. */
  readonly notifier?: Notifier
  /** Ids of the groups that `viewers` of the config show to some readers only. */
  readonly groupsShown?: () => readonly string[]
  /** Where several replicas share the ledger. */
  readonly lease?: WorkspaceLease
  /** What pages show of its past events. */
  readonly chronicle?: Chronicle
}

/** The parts that find conditions; the findings of a part replace its earlier ones. */
type FindingSource =
  | 'policy'
  | 'usage'
  | 'runs'
  | 'addOn'
  | 'history'
  | 'figures'
  | 'plan'
  | 'foreign'
  | 'pause'
  | 'writes'
  | 'service'
  | 'files'
  | 'deployment'
  | 'cycle'
  | 'notify'
  | 'viewers'
  | 'lease'

export type Workspace = ReturnType<typeof newWorkspace>

const newWorkspace = (parts: WorkspaceParts) => ({
  ...parts,
  clock: { ...parts.clock, now: () => parts.client.now?.() ?? parts.clock.now() },
  /** The wall clock, wherever it has jumped to. `clock` tells the time that no jump moves. */
  wall: () => parts.clock.now(),
  /** Absent until a policy set was usable once. */
  state: undefined as WorkspaceState | undefined,
  /** The state under the previous settings, shown until there is a new one. */
  before: undefined as WorkspaceState | undefined,
  shown: {} as Shown,
  /** The last findings of each source, from which the conditions follow. */
  findings: {} as Found,
  /** What is true now, and since when. */
  conditions: [] as readonly Condition[],
  /** As last read. */
  pause: undefined as Pause | undefined,
  /** The progress of reading undeclared caps; absent until it has begun. */
  undeclared: undefined as UndeclaredPass | undefined,
  /** A cycle was tried, or there is no policy for one. */
  attempted: false,
  /** How the last sweep was sliced; absent while sweeps read everything. */
  reading: undefined as Reading | undefined,
  /** Credits burned so far; absent until they were read from the ledger. */
  burned: undefined as Burned | undefined,
  /** The last roster that was added to `burned`. */
  burnedFrom: undefined as Roster | undefined,
  /** The readings of use, as last read from the ledger after the roster `from`. */
  useReadings: undefined as { readonly from: Roster | undefined; readonly all: readonly UseReading[] } | undefined,
  /** The runs of the team, as last read from the ledger. */
  runs: undefined as KnownRuns | undefined,
  collector: newCollector(parts.random.next().toString(36).slice(2, 10)),
})

/** A workspace that starts. What `last` shows, under other settings for the same service, stays visible: none of it decides about a cap. */
export function createWorkspace(parts: WorkspaceParts, last?: Workspace): Workspace {
  const workspace = newWorkspace(parts)
  if (!last) return workspace
  const { state: before, shown, findings, conditions, pause, undeclared, attempted } = last
  return { ...workspace, before, shown, findings, conditions, pause, undeclared, attempted }
}

/** The time by which a pause ends: another process recorded it on the wall clock, and no pause may end early. */
export const pauseTime = ({ clock, wall }: Pick<Workspace, 'clock' | 'wall'>): Instant => Math.min(clock.now(), wall())

/**
 * Reads the pause, which another process begins and ends. One that was recorded on a clock far ahead begins anew now, with its whole length.
 * Rejects with a `LedgerError`.
 */
export async function readPause(workspace: Workspace): Promise<Pause | undefined> {
  const now = pauseTime(workspace)
  const kept = await workspace.ledger.pause(now)
  // It is not known which clock is wrong.
  const isAhead = kept !== undefined && kept.untilAt - now > LONGEST_PAUSE_MS
  workspace.pause = isAhead ? { ...kept, pausedAt: now, untilAt: now + kept.untilAt - kept.pausedAt } : kept
  if (isAhead) await workspace.ledger.savePause(workspace.pause)
  return workspace.pause
}

type Unaddressed<T> = T extends unknown ? Omit<T, 'workspace' | 'at'> : never

/** Emits an event of this workspace, now. */
export function report(workspace: Workspace, event: Unaddressed<CycleEvent>): void {
  workspace.emit({ ...event, workspace: workspace.config.name, at: workspace.clock.now() } as CycleEvent)
}

/** Reports an error that nothing expects. */
export const reportBug = (workspace: Workspace, error: unknown): void =>
  report(workspace, { kind: 'bug', message: `unexpected: ${messageOf(error)}` })

// Brings the conditions of a workspace up to date with new findings; what has changed becomes events. It is the only place that changes
// conditions, and it finds nothing itself.

/** New findings by source. A finding and the one that explains it must come together. */
export type Found = Readonly<Partial<Record<FindingSource, readonly Finding[]>>>

/** Replaces the findings of these sources. */
export function notice(workspace: Workspace, found: Found): void {
  const before = countOf(workspace.findings)
  workspace.findings = { ...workspace.findings, ...found }
  // The usual case, kept cheap: these sources have found nothing, now or before.
  if (countOf(found) === 0 && countOf(workspace.findings) === before) return
  const { conditions, transitions } = advance(workspace.conditions, Object.values(workspace.findings).flat(), workspace.clock.now())
  workspace.conditions = conditions
  for (const transition of transitions) report(workspace, { kind: 'condition', ...transition })
}

const countOf = (found: Found): number => Object.values(found).reduce((sum, { length }) => sum + length, 0)
