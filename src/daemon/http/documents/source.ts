// A workspace as documents see it: its state in memory, and its records in the ledger. Where the ledger cannot be read the records are empty, so that a
// page can still be shown.

import type { WorkspaceView } from '../../../core/model/events.ts'
import type { Instant } from '../../../core/model/units.ts'
import { gradesOf } from '../../../core/use/history.ts'
import type { DayRange, Ledger } from '../../../ports.ts'
import { commonDays } from '../../collect/history.ts'
import { viewOf } from '../../conditions/view.ts'
import { LedgerError, orNothing } from '../../ledger/error.ts'
import type { Workspace, WorkspaceSettings } from '../../workspace.ts'
import type { Records, WorkspaceFacts, WorkspaceSource } from './types.ts'

export const sourceOf = (workspace: Workspace, version: () => number): WorkspaceSource => ({
  name: workspace.config.name,
  version,
  facts: async () => factsOf(workspace),
  records: recordsOf(workspace),
})

function factsOf(workspace: Workspace): WorkspaceFacts {
  const { config, state, shown, runs, chronicle } = workspace
  const journal = chronicle?.journal()
  const requests = chronicle?.requests()
  const nextSweepAt = nextSweep(workspace)
  return {
    view: viewOf(workspace),
    settings: config,
    ...(state && { readings: state.readings, policy: state.policy, unknownGroups: state.unknownGroups }),
    ...(shown.desiredState && { desiredState: shown.desiredState }),
    ...(shown.planned && { planned: shown.planned }),
    ...(runs && { runs }),
    ...(journal && { journal }),
    ...(requests && { requests }),
    ...(workspace.reading && { slicing: workspace.reading }),
    ...(nextSweepAt !== undefined && { nextSweepAt }),
  }
}

/** By the interval alone, without jitter and the duration of a sweep. */
const nextSweep = ({ shown, config }: Workspace): Instant | undefined => shown.lastCycle && shown.lastCycle.startedAt + config.intervalMs

/** A workspace that another replica holds: its view as that replica saved it, and its records from the database. */
export const elsewhereSource = (
  { settings, view }: { readonly settings: WorkspaceSettings; readonly view: WorkspaceView },
  version: () => number,
  open: () => Promise<Ledger>,
): WorkspaceSource => {
  const ask = async <T>(nothing: T, question: (records: Records) => Promise<T>): Promise<T> =>
    orElse(
      nothing,
      open().then((ledger) => question(recordsOf({ ledger }))),
    )
  return {
    name: settings.name,
    version,
    facts: async () => ({ view, settings }),
    records: {
      history: (filter) => ask([], ({ history }) => history(filter)),
      runs: (scope, days) => ask([], ({ runs }) => runs(scope, days)),
      useOfPerson: (email, days) => ask([], ({ useOfPerson }) => useOfPerson(email, days)),
      addOnOfPerson: (email, days) => ask([], ({ addOnOfPerson }) => addOnOfPerson(email, days)),
      useReadings: () => ask([], ({ useReadings }) => useReadings()),
      gradesOfPerson: (email, days) => ask([], ({ gradesOfPerson }) => gradesOfPerson(email, days)),
      fact: (name) => ask(undefined, ({ fact }) => fact(name)),
    },
  }
}

async function gradesOfPerson(ledger: Ledger, email: string, days: DayRange) {
  const [person = { email, known: [] }] = await ledger.histories(email)
  return gradesOf(days, person, await commonDays(ledger, days.untilAt))
}

function recordsOf({ ledger }: Pick<Workspace, 'ledger'>): Records {
  return {
    history: (filter) => orElse([], ledger.history(filter)),
    runs: (scope, days) => orElse([], ledger.runs(scope, days)),
    useOfPerson: (email, days) => orElse([], ledger.useOfPerson(email, days)),
    addOnOfPerson: (email, days) => orElse([], ledger.addOnOfPerson(email, days)),
    useReadings: () => orElse([], ledger.useReadings()),
    gradesOfPerson: (email, days) => orElse([], gradesOfPerson(ledger, email, days)),
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
