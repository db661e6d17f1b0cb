// The workspaces that run in a daemon, and what it knows of itself: how a workspace starts and ends, and the conditions of the process as a whole.
// Which workspaces those are, and what they are told, is decided by those who call.

import type { Pause } from '../../core/model/change.ts'
import { advance, type Condition, type Finding, type Transition } from '../../core/model/condition.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import type { Instant } from '../../core/model/units.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import type { Clock, RecordsReader } from '../../ports.ts'
import { finding } from '../conditions/findings.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import { type Leases, soleLeases } from '../replicas/leases.ts'
import { leaseFindings, noticeLease } from '../replicas/shown.ts'
import { createWorkspace, reportBug, type Workspace, type WorkspaceParts } from '../workspace.ts'
import { startLoop } from './loop.ts'
import { timer } from './system.ts'

/** The parts of a workspace, and how to close them. */
export interface OpenedWorkspace {
  readonly parts: WorkspaceParts
  /** A request to the service has failed since the start. */
  requestFailed?(): boolean
  /** Records what was learned. Never rejects. */
  finish?(): Promise<void>
  close(): void
}

/** The loaded policies of all workspaces; where a set is missing, the last good one stays in force. */
export type PolicyLoad = Pick<LoadedPolicies, 'sets' | 'problems'> & Partial<Pick<LoadedPolicies, 'problemsOf'>>

export interface DaemonParts {
  readonly clock: Clock
  readonly config: Config
  /** Rejects with a `LedgerError` when its ledger cannot be opened. */
  open(config: WorkspaceConfig): Promise<OpenedWorkspace>
  /** May take its time: everything else goes on meanwhile. */
  loadPolicies(config: Config): PolicyLoad | Promise<PolicyLoad>
  /** Reads the configuration again; an `InputError` when it is broken, and then the last good one stays in force. */
  reloadConfig(): Config | Promise<Config>
  registered(name: string, present: boolean): void
  /** Takes each change of a condition of the process as a whole. */
  onTransition?(transition: Transition): void
  /** Called when a configuration that was read again comes into force. */
  onConfig?(config: Config): void
  /** Whether the last attempt to record succeeded. */
  ledgerWritable(): boolean
  /** The view of a workspace elsewhere is another one. */
  onSeen?(workspace: string): void
  /** Tries to record where the last attempt was long ago. Never rejects. */
  probeLedger?(): Promise<void>
  /** The present pauses by workspace; absent: each workspace shows the one that its last cycle read. */
  pauses?(now: Instant): Promise<ReadonlyMap<string, Pause>>
  /** Which workspaces this replica holds; absent: all. */
  readonly leases?: Leases
  /** The records of a workspace that this replica may not hold. Rejects with a `LedgerError`. */
  recordsOf?(config: WorkspaceConfig): Promise<RecordsReader>
}

export type Runner = ReturnType<typeof newRunner>

/** A workspace that runs here, and its loop, which waits for its first policies. `startedAt`: on the monotonic clock. */
function newRunner(config: WorkspaceConfig, workspace: Workspace, opened: OpenedWorkspace, startedAt: number) {
  const [stop, cut] = [new AbortController(), new AbortController()]
  return {
    ...{ config, workspace, opened, startedAt },
    loop: startLoop(workspace, { stop: stop.signal, cut: cut.signal }),
    stop,
    /** Cuts the write in flight, when the lease is over. */
    cut,
    /** Set once it was told to stop; resolves when it has ended. */
    ending: undefined as Promise<void> | undefined,
    /** Its lease is over or given up: no other loop replaces it here. */
    isLeaving: false,
  }
}

export type State = ReturnType<typeof newState>

/** What a daemon knows and does now. */
export const newState = (parts: DaemonParts) => ({
  parts,
  leases: parts.leases ?? soleLeases(),
  /** The policies that were loaded last. */
  loaded: undefined as PolicyLoad | undefined,
  /** The policies that other replicas were told of last. */
  told: new Map<string, PolicyRevision>(),
  /** What holders elsewhere showed last. */
  elsewhere: new Map<string, string>() as ReadonlyMap<string, string>,
  /** Why a workspace could not be started here. */
  failed: new Map<string, string>(),
  runners: new Map<string, Runner>(),
  config: parts.config,
  /** Why the last configuration is not in force. */
  refused: [] as readonly Finding[],
  /** Conditions of the process as a whole. */
  conditions: [] as readonly Condition[],
  stopping: false,
  /** Applies configurations one after the other: two loops of one workspace must never run side by side. */
  applying: Promise.resolve(),
  /** Loads the policies of the present configuration and gives them to every workspace. */
  loadPolicies: async (): Promise<void> => undefined,
})

export type Opened = ReadonlyMap<WorkspaceConfig, OpenedWorkspace>

/** Opens all, or none: closes those that are open when one cannot be opened, and rejects as that one did. */
export async function openAll({ open }: DaemonParts, all: readonly WorkspaceConfig[]): Promise<Opened> {
  using opening = new DisposableStack()
  const opened = new Map<WorkspaceConfig, OpenedWorkspace>()
  for (const one of all)
    opened.set(
      one,
      opening.adopt(await open(one), (each) => each.close()),
    )
  opening.move()
  return opened
}

/** Starts a workspace. */
export function start({ parts, runners }: State, settings: WorkspaceConfig, opened: OpenedWorkspace): void {
  const before = runners.get(settings.name)
  const workspace = createWorkspace(opened.parts, before?.config.baseUrl === settings.baseUrl ? before.workspace : undefined)
  parts.registered(settings.name, true)
  runners.set(settings.name, newRunner(settings, workspace, opened, parts.clock.monotonic()))
}

/** How long what is in flight may go on when its workspace ends and the daemon does not: longer than a write takes at most. */
const LAST_WRITE_MS = 40_000

/** Tells a workspace to stop; resolves when its loop has ended and its parts are closed. A write in flight gets `graceMs`; then it is cut. */
export async function end({ parts }: Pick<State, 'parts'>, runner: Runner, graceMs = LAST_WRITE_MS): Promise<void> {
  const { opened, loop, stop, cut } = runner
  stop.abort(new Error('stopped'))
  using _grace = timer(parts.clock, graceMs, () => cut.abort(new Error('the grace period is over')))
  runner.ending ??= loop.done.then(() => opened.finish?.()).then(() => opened.close())
  await runner.ending
}

/** Reports an unexpected error, such as a disk that fails while policies load. It must not end the daemon: the last policies stay in force. */
export function reportInAll({ runners }: State, error: unknown): void {
  for (const { workspace } of runners.values()) reportBug(workspace, error)
}

/** The subject of conditions of the process as a whole. */
export const PROCESS = 'capkeeper'

/** Brings the conditions of the process as a whole up to date. True while the ledger can be written. */
export function updateConditions(state: State): boolean {
  const { refused, parts, leases } = state
  const trouble = leases.trouble()
  const isWritable = parts.ledgerWritable() && trouble === undefined
  const unable = 'the ledger cannot be written, so no cap is written; look at its disk and its permissions'
  const why = trouble === undefined ? unable : `no cap is written: ${trouble}`
  const found = [...refused, ...(isWritable ? [] : [finding('LedgerUnwritable', 'LEDGER_UNWRITABLE', why, PROCESS)])]
  const { conditions, transitions } = advance(state.conditions, [...found, ...leaseFindings(state.config, state)], parts.clock.now())
  state.conditions = conditions
  for (const transition of transitions) parts.onTransition?.(transition)
  for (const { workspace } of state.runners.values()) noticeLease(leases, workspace)
  return isWritable
}
