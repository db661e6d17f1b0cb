// The daemon: several workspaces side by side, each with a loop of its own, fed with policies as their files change and with settings as
// the configuration changes. It starts, feeds and stops them; it never touches a cap.

import type { WorkspaceView } from '../core/events.ts'
import type { PolicyRevision } from '../core/policy.ts'
import type { Problem } from '../core/problem.ts'
import type { Clock } from '../ports.ts'
import type { Config, WorkspaceConfig } from './config.ts'
import { type Loop, startLoop } from './loop.ts'
import type { Health } from './metrics.ts'
import type { Readiness } from './server.ts'
import { viewOf } from './view.ts'
import { createWorkspace, type Workspace, type WorkspaceParts } from './workspace.ts'

/** A workspace's real parts, and how to let go of them. */
export interface OpenedWorkspace {
  readonly parts: WorkspaceParts
  close(): void
}

/** What loading the policies of all workspaces gave; a missing set means "keep the last good one". */
export interface PolicyLoad {
  readonly sets: ReadonlyMap<string, PolicyRevision>
  readonly problems: readonly Problem[]
}

export interface DaemonParts {
  readonly clock: Clock
  readonly config: Config
  open(config: WorkspaceConfig): OpenedWorkspace
  loadPolicies(config: Config): PolicyLoad
  /** Reads the configuration again; undefined when it is broken, and then the last good one stays in force. */
  reloadConfig(): Config | undefined
  registered(name: string, present: boolean): void
  /** Whether a record could be made now. */
  ledgerWritable(): boolean
}

export interface Daemon {
  views(): readonly WorkspaceView[]
  health(): Health
  ready(): Readiness
  /** Policy files changed. */
  policiesChanged(): void
  /** The configuration file changed. */
  configChanged(): void
  /** SIGHUP: everything is read again and reconciled at once. */
  hurry(): void
  /** Reads stop at once, the write in flight gets `GRACE_MS`, then its intent stays. */
  stop(): Promise<void>
}

/** How long a write in flight may go on after a stop. */
export const GRACE_MS = 8_000

interface Runner {
  readonly config: WorkspaceConfig
  readonly workspace: Workspace
  readonly loop: Loop
  readonly stop: AbortController
  readonly close: () => void
}

/** Starts every workspace of the configuration. */
export function startDaemon(parts: DaemonParts): Daemon {
  const runners = new Map<string, Runner>()
  const cut = new AbortController()
  let config = parts.config
  let configValid = true
  let stopping = false

  function start(settings: WorkspaceConfig): void {
    const opened = parts.open(settings)
    const workspace = createWorkspace(opened.parts)
    const stop = new AbortController()
    parts.registered(settings.name, true)
    const loop = startLoop(workspace, { stop: stop.signal, cut: cut.signal })
    runners.set(settings.name, { config: settings, workspace, loop, stop, close: opened.close })
  }

  async function end(runner: Runner): Promise<void> {
    runner.stop.abort(new Error('stopped'))
    await runner.loop.done
    runner.close()
  }

  function feed(): void {
    const { sets, problems } = parts.loadPolicies(config)
    for (const [name, { loop, workspace }] of runners) {
      const policy = sets.get(name)
      const before = workspace.shown.policy ?? lastGood(workspace)
      const known = policy ?? before
      const status = {
        valid: policy !== undefined,
        digest: known?.digest ?? '',
        revision: known?.revision ?? '',
        loadedAt: parts.clock.now(),
        problems: policy ? problems.filter((one) => one.severity === 'warning') : problems,
      }
      loop.setPolicy(policy, status)
    }
  }

  async function follow(next: Config): Promise<void> {
    const wanted = new Map(next.workspaces.map((one) => [one.name, one]))
    config = next
    for (const [name, runner] of runners) {
      if (JSON.stringify(wanted.get(name)) === JSON.stringify(runner.config)) continue
      runners.delete(name)
      await end(runner)
      if (!wanted.has(name)) parts.registered(name, false)
    }
    for (const [name, settings] of wanted) if (!runners.has(name) && !stopping) start(settings)
    feed()
  }

  const canRecord = (): boolean => parts.ledgerWritable() && [...runners.values()].every(({ workspace }) => !workspace.ledgerFailed)

  for (const settings of config.workspaces) start(settings)
  feed()
  return {
    views: () => [...runners.values()].map((runner) => viewOf(runner.workspace)),
    health: () => ({ configValid, ledgerWritable: canRecord() }),
    ready: () => readiness([...runners.values()], canRecord()),
    policiesChanged: feed,
    configChanged() {
      const next = parts.reloadConfig()
      configValid = next !== undefined
      if (next && !stopping) void follow(next)
    },
    hurry() {
      for (const runner of runners.values()) runner.loop.hurry()
    },
    async stop() {
      stopping = true
      const grace = new AbortController()
      parts.clock.sleep(GRACE_MS, grace.signal).then(
        () => cut.abort(new Error('the grace period is over')),
        () => undefined,
      )
      await Promise.all([...runners.values()].map(end))
      grace.abort()
    },
  }
}

const lastGood = ({ ledger }: Workspace): { readonly digest: string; readonly revision: string } | undefined => ledger.fact('policy')

/** Ready once everything was tried once; neither a bad policy nor an outage of the service takes that back. */
function readiness(runners: readonly Runner[], ledgerWritable: boolean): Readiness {
  const untried = runners.filter(({ workspace }) => !workspace.attempted).map(({ config }) => `${config.name}: not attempted yet`)
  const reasons = ledgerWritable ? untried : ['the ledger cannot be written', ...untried]
  return { ready: reasons.length === 0, reasons }
}
