// One workspace of the daemon as documents see it. It hands out what is in memory as it stands, and asks the ledger; one that cannot be read
// answers with nothing, for a page must not fall with it.

import type { Instant } from '../../../core/model/units.ts'
import { orNothing, viewOf } from '../../conditions/view.ts'
import { LedgerError } from '../../ledger/error.ts'
import type { Workspace } from '../../workspace.ts'
import type { Records, WorkspaceFacts, WorkspaceSource } from './facts.ts'

/** `version`: see `WorkspaceSource`. */
export const sourceOf = (workspace: Workspace, version: () => number): WorkspaceSource => ({
  name: workspace.config.name,
  version,
  facts: async () => factsOf(workspace),
  records: recordsOf(workspace),
})

function factsOf(workspace: Workspace): WorkspaceFacts {
  const { config, knowledge, shown, runs, chronicle } = workspace
  const journal = chronicle?.journal()
  const requests = chronicle?.requests()
  const nextSweepAt = nextSweep(workspace)
  return {
    view: viewOf(workspace),
    settings: config,
    ...(knowledge && { readings: knowledge.readings, policy: knowledge.policy, unknownGroups: knowledge.unknownGroups }),
    ...(shown.outlook && { outlook: shown.outlook }),
    ...(shown.planned && { planned: shown.planned }),
    ...(runs && { runs }),
    ...(journal && { journal }),
    ...(requests && { requests }),
    ...(workspace.reading && { slicing: workspace.reading }),
    ...(nextSweepAt !== undefined && { nextSweepAt }),
  }
}

/** As the interval says; what a sweep takes, and chance, are not in it. */
const nextSweep = ({ shown, config }: Workspace): Instant | undefined => shown.lastCycle && shown.lastCycle.startedAt + config.intervalMs

function recordsOf({ ledger }: Workspace): Records {
  return {
    history: (filter) => orElse([], ledger.history(filter)),
    runs: (scope, days) => orElse([], ledger.runs(scope, days)),
    useOfPerson: (email, days) => orElse([], ledger.useOfPerson(email, days)),
    addOnOfPerson: (email, days) => orElse([], ledger.addOnOfPerson(email, days)),
    useReadings: () => orElse([], ledger.useReadings()),
    fact: async (name) => orNothing(() => ledger.fact(name)),
  }
}

async function orElse<T>(nothing: T, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof LedgerError) return nothing
    throw error
  }
}
