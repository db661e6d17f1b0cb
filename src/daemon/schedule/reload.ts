// Applies what was read again: a configuration, all of it or nothing, and the policies that are loaded for it. Two loops of one workspace never run
// side by side, and workspaces that did not change go on undisturbed. No workspace is given what was loaded for a configuration that was replaced
// meanwhile, nor a set in which a file was emptied.

import { formatProblems } from '../../core/escape/text.ts'
import type { Finding } from '../../core/model/condition.ts'
import { InputError, messageOf, type Problem } from '../../core/model/problem.ts'
import { emptied } from '../../core/resolve/roster.ts'
import { finding, firstProblem } from '../conditions/findings.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import { orNothing, unlessLedger } from '../ledger/error.ts'
import { toTell } from '../replicas/leases.ts'
import { wantedIn } from '../replicas/shown.ts'
import type { Workspace } from '../workspace.ts'
import {
  end,
  type Opened,
  openAll,
  type PolicyLoad,
  PROCESS,
  type Runner,
  reportInAll,
  type State,
  start,
  updateConditions,
} from './runners.ts'

/** Runs `run`, never two at a time; resolves when a run that began after the call has ended. `run` reports its own failures. */
export function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    next = undefined
    running = run().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (running) next ??= running.then(begin, begin)
    return next ?? begin()
  }
}

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
  updateConditions(state)
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
    return await openAll(parts, changed)
  } catch (error) {
    refuse(state, [configFinding(error)])
    return undefined
  }
}

const isSame = (a: WorkspaceConfig | undefined, b: WorkspaceConfig | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A configuration that cannot come into force: it is invalid, or a workspace of it cannot be opened. */
export function configFinding(error: unknown): Finding {
  if (!(error instanceof InputError)) return finding('ConfigInvalid', 'CONFIG_INVALID', messageOf(error), PROCESS)
  const message = firstProblem(error.problems) ?? 'nothing is known of why'
  const version = formatProblems(error.problems)
  return finding('ConfigInvalid', 'CONFIG_INVALID', message, PROCESS, { version, fields: { problems: version.split('\n') } })
}

/** Loads the policies of the present configuration and gives them to every workspace. */
export async function loadPolicies(state: State): Promise<void> {
  const { config } = state
  try {
    await adopt(state, config, await state.parts.loadPolicies(config))
  } catch (error) {
    reportInAll(state, error)
  }
}

/** Adopts loaded policies, unless their configuration was replaced meanwhile: the new one loads its own. */
async function adopt(state: State, config: Config, load: PolicyLoad): Promise<void> {
  if (state.config !== config || state.stopping) return
  const told = state.leases.isSole ? undefined : await toTell(load.sets, state.told, config.workspaces, state.parts.recordsOf)
  if (state.config !== config || state.stopping) return
  state.loaded = told ? { ...load, sets: told.sets } : load
  // The other replicas must know of these policies before anything is written for them.
  if (told) await state.leases.followed(told.ids)
  if (state.config === config && !state.stopping) distribute(state, state.loaded)
}

/** The policies in force while files are broken: the last loaded ones, else those in the ledger. */
export const lastGoodPolicy = ({ shown, ledger }: Workspace) => shown.policy ?? orNothing(() => ledger.fact('policy'))

/** Gives the policies to the workspaces, or to one of them. Policies that other replicas have seen replaced are not adopted. */
export function distribute(state: State, load: PolicyLoad, only?: string): void {
  const { parts, runners, leases } = state
  const { sets } = load
  state.loaded = load
  for (const [name, { loop, workspace, ending }] of runners) {
    if (ending || (only !== undefined && name !== only)) continue
    if (sets.has(name) && leases.isReplaced(name)) {
      workspace.attempted = true
      continue
    }
    const read = sets.get(name)
    const lost = read ? emptied(read, (workspace.state?.policy ?? orNothing(() => workspace.ledger.fact('policy')))?.set) : []
    const policy = lost.length > 0 ? undefined : read
    // Of a file that was emptied the loader has only warned.
    const isTold = ({ code, at }: Problem): boolean => lost.some((one) => one.code === code && one.at?.file === at?.file)
    const problems = [...lost, ...(load.problemsOf?.get(name) ?? load.problems).filter((one) => !isTold(one))]
    const known = policy ?? lastGoodPolicy(workspace)
    const status = {
      valid: policy !== undefined,
      digest: known?.digest ?? '',
      revision: known?.revision ?? '',
      loadedAt: parts.clock.now(),
      // Where the set is whole, errors are of envelopes.
      problems,
    }
    loop.setPolicy(policy, status)
  }
}
