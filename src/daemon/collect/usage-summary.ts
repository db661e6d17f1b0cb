// Makes the usage summary of a workspace: credits burned, use by model, pace and forecast. It is made after readings and cycles and never for a
// scrape, because a forecast for 50,000 people takes longer than a scrape may.

import type { Finding } from '../../core/model/condition.ts'
import type { ModelUse, UseShown } from '../../core/model/events.ts'
import type { UsageFacts } from '../../core/model/facts.ts'
import { balanceOf, type Cycle, type RunUse } from '../../core/model/observed.ts'
import { scopeKey, TEAM } from '../../core/model/scope.ts'
import { credits, DAY_MS, midnight, sumOfKnown } from '../../core/model/units.ts'
import { type AddOnFigures, addOnFigures, totalAddOn } from '../../core/use/add-on.ts'
import { type Burned, type BurnFigures, burnOf, foldUsage, NOTHING_BURNED, type PersonUse, unitDoubt } from '../../core/use/burn.ts'
import type { DayHistory, UseReading } from '../../core/use/curve.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { finding, RUNS } from '../conditions/findings.ts'
import { peopleShown } from '../conditions/view.ts'
import { cycleOf } from '../cycle/state.ts'
import { unlessLedger } from '../ledger/error.ts'
import { notice, type Workspace } from '../workspace.ts'
import type { KnownRuns } from './kept.ts'

/** Days before these and before the cycle say nothing about the days to come. Choice. */
const HISTORY_DAYS = 120

/** Models and modes with a series of their own; the rest is summed as `other`. Choice. */
const MOST_MODELS = 100

/** Adds the use of a reading to the credits burned. A roster that was added already adds nothing. Rejects with a `LedgerError`. */
export async function learnBurned(workspace: Workspace, { roster, groups }: UsageFacts): Promise<void> {
  if (workspace.burnedFrom === roster) return
  if (!workspace.burned) await workspace.ledger.load()
  const step = foldUsage(await burnedSoFar(workspace), roster, groups)
  // The answer of a commit may be lost. Then the sum is read from the database again, so that nothing is added twice.
  workspace.burned = undefined
  await workspace.ledger.saveBurn(step)
  workspace.burned = step.burned
  workspace.burnedFrom = roster
}

async function burnedSoFar({ burned, ledger }: Workspace): Promise<Burned> {
  if (burned) return burned
  const kept = ledger.fact('burned')
  return kept ? { ...kept, highest: await ledger.highestUse() } : NOTHING_BURNED
}

/** Makes the usage summary anew. It stays as it was while the ledger cannot be read. */
export async function showUsageSummary(workspace: Workspace): Promise<void> {
  const use = await summaryOf(workspace).catch(unlessLedger)
  if (use) workspace.shown = { ...workspace.shown, use }
}

async function summaryOf(workspace: Workspace): Promise<UseShown> {
  const { state, clock } = workspace
  const { highest: _, cycleStartAt: __, ...burned } = await burnedSoFar(workspace)
  const usage = state?.usage
  const runs = await knownRuns(workspace)
  const cycle = cycleOf(usage)
  const ofCycle = runs && cycle ? runs.rows.filter(({ dayAt }) => dayAt >= midnight(cycle.startAt)) : []
  const models = modelsOf(ofCycle)
  const addOn = addOnFigures({ now: clock.now(), cycle, measured: state?.measured, balance: usage?.balance })
  noticeDoubts(workspace, usage, runs, ofCycle, addOn)
  const figures = usage && cycle ? await figuresOf(workspace, usage, cycle, runs, addOn) : undefined
  return {
    burned,
    runsReadAt: runs?.asked.readAt,
    models: models.length > 0 ? models : undefined,
    figures,
  }
}

/** Runs of the team; read from the ledger again after each collection. */
export async function knownRuns(known: {
  readonly ledger: Pick<Ledger, 'fact' | 'runs'>
  readonly clock: Pick<Clock, 'now'>
  runs?: KnownRuns | undefined
}): Promise<KnownRuns | undefined> {
  const { ledger, clock, runs } = known
  const asked = ledger.fact('runsAsked')?.[scopeKey(TEAM)]
  if (!asked) return undefined
  const now = clock.now()
  const firstAt = Math.min(now - HISTORY_DAYS * DAY_MS, cycleOf(ledger.fact('usage'))?.startAt ?? now)
  const fromAt = Math.max(asked.fromAt, midnight(firstAt))
  const { readAt, throughAt } = asked
  if (runs?.asked.fromAt === fromAt && runs.asked.readAt === readAt && runs.asked.throughAt === throughAt) return runs
  known.runs = { asked: { ...asked, fromAt }, rows: await ledger.runs(TEAM, { fromAt, untilAt: asked.throughAt + DAY_MS }) }
  return known.runs
}

/** Readings of use; read from the ledger again after each roster. */
async function knownReadings(workspace: Workspace): Promise<readonly UseReading[]> {
  const { burnedFrom: from, ledger } = workspace
  if (!workspace.useReadings || workspace.useReadings.from !== from) workspace.useReadings = { from, all: await ledger.useReadings() }
  return workspace.useReadings.all
}

/** Use by model, the most used first. The day on which the cycle starts counts whole. Choice. */
function modelsOf(rows: readonly RunUse[]): readonly ModelUse[] {
  const sums = [...Map.groupBy(rows, ({ model, mode }) => JSON.stringify([model, mode])).values()].flatMap((all): readonly ModelUse[] => {
    const used = sumOfKnown(all.map((row) => row.used))
    const [first] = all
    return used === undefined || !first ? [] : [{ model: first.model, mode: first.mode, used }]
  })
  sums.sort((a, b) => b.used - a.used)
  const others = sumOfKnown(sums.slice(MOST_MODELS).map(({ used }) => used))
  return [...sums.slice(0, MOST_MODELS), ...(others === undefined ? [] : [{ model: 'other', mode: 'other', used: others }])]
}

async function figuresOf(
  workspace: Workspace,
  usage: UsageFacts,
  cycle: Cycle,
  runs: KnownRuns | undefined,
  addOn: AddOnFigures,
): Promise<BurnFigures> {
  const history = runs && historyOf(runs)
  const caps = new Map(peopleShown(workspace).map(({ email, cap }) => [email, cap]))
  const people = usage.roster.people.flatMap(({ email, used }): readonly PersonUse[] => {
    const cap = caps.get(email)
    const paid = addOn.of(email, used)
    return used === undefined ? [] : [{ used, addOn: paid?.credits, cap }]
  })
  return burnOf({
    now: workspace.clock.now(),
    cycle,
    readings: await knownReadings(workspace),
    people,
    history,
    balance: usage.balance,
  })
}

/** Use by day from runs. Absent where the plan shows no credits. */
export function historyOf({ asked, rows }: KnownRuns): DayHistory | undefined {
  if (rows.length > 0 && rows.every(({ used }) => used === undefined)) return undefined
  const days = [...Map.groupBy(rows, ({ dayAt }) => dayAt)].map(([dayAt, all]) => ({
    dayAt,
    credits: sumOfKnown(all.map((row) => row.used)) ?? credits(0),
  }))
  // Days after the last one that was collected are not known yet.
  return { fromAt: asked.fromAt, readAt: Math.min(asked.readAt, asked.throughAt + DAY_MS), days }
}

/** Findings on figures that contradict each other or are missing on this plan. */
function noticeDoubts(
  workspace: Workspace,
  usage: UsageFacts | undefined,
  runs: KnownRuns | undefined,
  ofCycle: readonly RunUse[],
  addOn: AddOnFigures,
): void {
  const found: Finding[] = []
  if (runs && runs.rows.length > 0 && runs.rows.every(({ used }) => used === undefined)) {
    const message = 'runs of agents carry no credits on this plan; use by model and the projection are off'
    found.push(finding('RunsWithoutCredits', 'RUNS_WITHOUT_CREDITS', message, RUNS))
  }
  const people = usage?.roster.people ?? []
  const used = sumOfKnown(people.map((person) => person.used))
  const isWhole = runs && usage && runs.asked.throughAt >= midnight(usage.roster.readAt)
  const isMeasured = addOn.source === 'measured'
  const doubts = unitDoubt([
    {
      of: 'credits used',
      first: { name: 'the roster', credits: used },
      second: { name: 'the sum of runs', credits: isWhole ? sumOfKnown(ofCycle.map((row) => row.used)) : undefined },
    },
    {
      of: 'add-on credits used',
      first: {
        name: isMeasured ? 'the sum of measured use' : 'the roster',
        credits: addOn.source === 'upperBound' ? undefined : totalAddOn(addOn, people),
      },
      second: { name: 'the balance', credits: balanceOf(cycleOf(usage), usage?.balance)?.addOnUsed },
    },
  ])
  const message = doubts.map((doubt) => doubt.message).join('; ')
  if (doubts.length > 0) found.push(finding('UnitDoubted', 'UNIT_DOUBTED', message, workspace.config.name))
  notice(workspace, { figures: found })
}
