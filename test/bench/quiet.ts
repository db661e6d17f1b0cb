// A workspace of the daemon as a quiet cycle over a big company leaves it, for benches of what is shown. It asks the service nothing.
import { scopeKey, TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { learnBurned } from '../../src/daemon/collect/usage-summary.ts'
import { desiredState, planFrom, recall } from '../../src/daemon/cycle/state.ts'
import { readPeopleFile } from '../../src/daemon/directory/read.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { sha256, systemClock, systemRandom } from '../../src/daemon/schedule/system.ts'
import { createWorkspace, type Workspace } from '../../src/daemon/workspace.ts'
import type { RunsBatch, WriteClient } from '../../src/ports.ts'
import { DAY, SETTINGS } from '../support/declare.ts'
import { type BigWorld, policyIn } from './big.ts'

/** Its policies are of this workspace. */
const settings = { ...SETTINGS, name: 'bench' }

const refuse = (): never => {
  throw new Error('a bench asks the service nothing')
}

const client: WriteClient = {
  readCap: refuse,
  readRoster: refuse,
  readGroup: refuse,
  readActiveDays: refuse,
  readBalance: refuse,
  readRuns: refuse,
  readAddOnUse: refuse,
  writeCap: refuse,
  clockSkewMs: () => undefined,
}

/** A workspace as a quiet cycle leaves it. */
export async function quietWorkspace(world: BigWorld): Promise<Workspace> {
  const clock = { ...systemClock, now: () => world.now }
  const store = await openLedger({ file: ':memory:', mode: 'write', clock })
  const ledger = await store.workspace('bench', 'https://service.example')
  ledger.saveOwned([...world.owned.values()])
  const workspace = createWorkspace({
    config: settings,
    client,
    ledger,
    clock,
    random: systemRandom,
    digest: sha256,
    readPeopleFile,
    emit: () => undefined,
  })
  const state = recall(policyIn(world), ledger)
  const cycle = { startAt: world.now - 10 * DAY, endAt: world.now + 20 * DAY }
  state.usage = { roster: { ...world.roster, cycle }, groups: world.groups }
  for (const [key, reading] of world.readings) state.readings.set(key, reading)
  const view = desiredState(state, workspace)
  workspace.state = state
  workspace.shown = { ...workspace.shown, planned: planFrom(state, view, workspace), desiredState: view }
  await learnBurned(workspace, state.usage)
  await ledger.saveRuns(TEAM, { fromAt: 0, untilAt: world.now, ...runsOf(world.now) })
  return workspace
}

/** Two months of five models in four modes, as collecting leaves them. */
function runsOf(now: number): Pick<RunsBatch, 'rows' | 'asked'> {
  const today = Math.floor(now / DAY) * DAY
  const rows = Array.from({ length: 62 * 20 }, (_, index) => ({
    dayAt: today - Math.floor(index / 20) * DAY,
    model: `model ${index % 5}`,
    mode: `mode ${Math.floor(index / 5) % 4}`,
    messages: 10,
    used: credits(100 + (index % 7)),
  }))
  const asked = { fromAt: today - 61 * DAY, throughAt: today, readAt: now, wideAt: now }
  return { rows, asked: { [scopeKey(TEAM)]: asked } }
}
