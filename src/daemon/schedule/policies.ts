// Gives loaded policies to the workspaces of a daemon. It never gives one what was loaded for a configuration that was replaced meanwhile, nor a set
// in which a file was emptied.

import type { Problem } from '../../core/model/problem.ts'
import { emptied } from '../../core/resolve/roster.ts'
import type { Config } from '../config/settings.ts'
import { orNothing } from '../ledger/error.ts'
import { lastGood, toTell } from '../replicas/leases.ts'
import { type PolicyLoad, reportInAll, type State } from './runners.ts'

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
    const known = policy ?? lastGood(workspace)
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
