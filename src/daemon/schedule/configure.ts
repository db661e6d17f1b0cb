// Applies a configuration that was read again: all of it or nothing. Two loops of one workspace never run side by side, and workspaces that did not
// change go on undisturbed.

import type { Finding } from '../../core/model/condition.ts'
import { InputError } from '../../core/model/problem.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import { unlessLedger } from '../ledger/error.ts'
import { wantedIn } from '../replicas/shown.ts'
import { distribute, loadPolicies } from './policies.ts'
import { configFinding, oneAtATime, openAll } from './refresh.ts'
import { end, type OpenedWorkspace, type Runner, reportInAll, type State, start, updateConditions } from './runners.ts'

/** Reads the configuration again, and applies it unless it is broken. */
export async function rereadConfig(state: State): Promise<void> {
  try {
    const next = await state.parts.reloadConfig()
    state.applying = state.applying.then(() => applyConfig(state, next)).catch((error) => reportInAll(state, error))
  } catch (error) {
    if (error instanceof InputError) refuse(state, [configFinding(error)])
    else reportInAll(state, error)
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
  const opened = await openChanged(state, next)
  if (!opened) return
  refuse(state, [])
  // What still loads for the configuration before is dropped, and what was loaded for it is given to no workspace any more.
  state.config = next
  state.loaded = undefined
  state.loadPolicies = oneAtATime(() => loadPolicies(state))
  state.leases.want(wantedIn(next))
  state.parts.onConfig?.(next)
  const wanted = new Map(next.workspaces.map((one) => [one.name, one]))
  const changed = new Map([...state.runners].filter(([name, runner]) => !isSame(wanted.get(name), runner.config)))
  const names = new Set([...changed.keys(), ...[...opened.keys()].map(({ name }) => name)])
  // All at once: none writes on under settings that are no longer in force, or waits for new ones, while the last write of another takes its time.
  const moved = [...names].map((name) => replace(state, changed.get(name), wanted.get(name), opened))
  // Not awaited: a folder may take long to read, and neither the next configuration nor the end waits for it.
  if (!state.stopping) void state.loadPolicies()
  await Promise.all(moved)
}

type Opened = ReadonlyMap<WorkspaceConfig, OpenedWorkspace>

/** Ends a workspace, if it runs, and starts it with its new settings, if it has any. */
async function replace(state: State, last: Runner | undefined, settings: WorkspaceConfig | undefined, opened: Opened): Promise<void> {
  const { parts, leases, runners } = state
  const next = settings && opened.get(settings)
  if (last) await end(state, last)
  // Its ledger was opened while the one before still recorded.
  if (last) await next?.parts.ledger.load().catch(unlessLedger)
  // Meanwhile another replica may have taken the workspace, or its lease may have started it here.
  const isOurs = settings && leases.holds(settings.name) && runners.get(settings.name) === last && last?.isLeaving !== true
  if (next && isOurs && !state.stopping) {
    start(state, settings, next)
    if (state.loaded) distribute(state, state.loaded, settings.name)
    return
  }
  next?.close()
  // It stays visible until the new one replaces it.
  if (!last || (next && !state.stopping)) return
  const { name } = last.config
  runners.delete(name)
  if (settings) return
  parts.registered(name, false)
  await leases.release(name)
}

/** Opens new and changed workspaces before any is ended; undefined when one cannot be opened. */
async function openChanged(state: State, next: Config): Promise<Opened | undefined> {
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
