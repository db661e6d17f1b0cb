// Applies a configuration that was read again: all of it or nothing. Two loops of one workspace never run side by side, and workspaces that did not
// change go on undisturbed.

import type { Finding } from '../../core/model/condition.ts'
import { InputError } from '../../core/model/problem.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import { wantedIn } from '../replicas/shown.ts'
import { loadPolicies } from './policies.ts'
import { configFinding, oneAtATime, openAll } from './refresh.ts'
import { end, type OpenedWorkspace, type Runner, reportInAll, type State, start, updateConditions } from './runners.ts'

/** Reads the configuration again, and applies it unless it is broken. */
export function rereadConfig(state: State): void | Promise<void> {
  const take = (next: Config): void => {
    state.applying = state.applying.then(() => applyConfig(state, next)).catch((error) => reportInAll(state, error))
  }
  const fail = (error: unknown): void => (error instanceof InputError ? refuse(state, [configFinding(error)]) : reportInAll(state, error))
  try {
    const next = state.parts.reloadConfig()
    return next instanceof Promise ? next.then(take).catch(fail) : take(next)
  } catch (error) {
    fail(error)
  }
}

/** Notes why the last configuration is not in force; no findings: it is. */
function refuse(state: State, refused: readonly Finding[]): void {
  state.refused = refused
  updateConditions(state, state.parts.ledgerWritable())
}

/** Restarts changed workspaces, starts new ones and ends removed ones; the others go on undisturbed. */
async function applyConfig(state: State, next: Config): Promise<void> {
  if (state.stopping) return
  const { parts, runners } = state
  const opened = await openChanged(state, next)
  if (!opened) return
  refuse(state, [])
  // What still loads for the configuration before is dropped, and what was loaded for it is given to no workspace any more.
  state.config = next
  state.loaded = undefined
  state.loadPolicies = oneAtATime(() => loadPolicies(state))
  state.leases.want(wantedIn(next))
  parts.onConfig?.(next)
  const wanted = new Map(next.workspaces.map((one) => [one.name, one]))
  const replaced = new Set([...opened.keys()].map(({ name }) => name))
  const before = new Map<string, Runner>()
  for (const [name, runner] of runners) {
    if (isSame(wanted.get(name), runner.config)) continue
    await end(runner)
    before.set(name, runner)
    // It stays visible until the new one replaces it.
    if (replaced.has(name) && !state.stopping) continue
    runners.delete(name)
    if (wanted.has(name)) continue
    parts.registered(name, false)
    await state.leases.release(name)
  }
  for (const [settings, one] of opened) {
    const last = before.get(settings.name)
    // Meanwhile another replica may have taken the workspace, or its lease may have started it here.
    const isOurs = state.leases.holds(settings.name) && runners.get(settings.name) === last && last?.isLeaving !== true
    if (isOurs && !state.stopping) start(state, settings, one)
    else one.close()
  }
  // Not awaited: a folder may take long to read, and neither the next configuration nor the end waits for it.
  if (!state.stopping) void state.loadPolicies()
}

/** Opens new and changed workspaces before any is ended; undefined when one cannot be opened. */
async function openChanged(state: State, next: Config): Promise<ReadonlyMap<WorkspaceConfig, OpenedWorkspace> | undefined> {
  const { parts, runners } = state
  try {
    const changed = next.workspaces.filter((one) => state.leases.holds(one.name) && !isSame(one, runners.get(one.name)?.config))
    return await openAll(changed, parts.open)
  } catch (error) {
    refuse(state, [configFinding(error)])
    return undefined
  }
}

const isSame = (a: WorkspaceConfig | undefined, b: WorkspaceConfig | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
