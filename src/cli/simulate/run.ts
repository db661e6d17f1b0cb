// `simulate`: replays recorded use workspace by workspace, and prints the result with people as the config says.

import { renderSimulationPage } from '../../console/simulation.ts'
import type { Simulation } from '../../core/use/replay/document.ts'
import { simulate } from '../../core/use/replay/simulation.ts'
import type { PeopleLabels } from '../../daemon/http/status/labels.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, painter } from '../shared/context.ts'
import { documentText } from '../shared/document.ts'
import { type Answers, inEach } from '../shared/each.ts'
import { EXIT, worstExit } from '../shared/exit.ts'
import { labelsFor } from '../shared/people.ts'
import { sweepProgress } from '../shared/progress.ts'
import type { SimulateFlags } from './command.ts'
import { type Gathered, gather, inputsOf } from './gather.ts'
import { renderSimulationText } from './render.ts'
import { renderSimulationMarkdown } from './render-markdown.ts'

/** Simulates all workspaces of policies and ledger; exits 4 when some have no recorded use, and fails when none has. */
export async function simulateCommand(paths: readonly string[], flags: SimulateFlags, cli: Cli): Promise<void> {
  const gathered = await gather(
    flags,
    { paths, ...(flags.against !== undefined && { against: flags.against }), ...(flags.cycles !== undefined && { cycles: flags.cycles }) },
    cli,
  )
  showWarnings(gathered.warnings, cli)
  const labels = labelsFor(gathered.config.people, gathered.salt)
  const { done, codes } = await simulateAll(gathered, cli)
  const simulations = done.map((one) => shownAs(one, labels))
  const now = cli.clock.now()
  const renderers = {
    text: () => renderSimulationText(simulations, painter(cli.stdout)),
    json: () => documentText('Simulation', { createdAt: now, simulations }),
    markdown: () => renderSimulationMarkdown(simulations),
    html: () => renderSimulationPage(simulations, now),
  }
  cli.stdout.write(renderers[flags.output]())
  cli.finish(worstExit([EXIT.done, ...codes]))
}

async function simulateAll({ workspaces }: Gathered, cli: Cli): Promise<Answers<Simulation>> {
  const progress = await sweepProgress('replaying cycles', cli.stderr)
  for (const { start } of workspaces) if ('cycles' in start) progress.expect(start.cycles)
  try {
    return await inEach(cli, workspaces, (one) => simulate({ ...inputsOf(one), onCycle: progress.one }))
  } finally {
    progress.stop()
  }
}

/** The simulation with people as `labels` shows them, in lists and texts. */
export function shownAs(simulation: Simulation, labels: PeopleLabels): Simulation {
  if (labels.shown === 'email') return simulation
  const named = <T extends { readonly email: string }>(list: readonly T[]): readonly T[] =>
    list.map((one) => ({ ...one, email: labels.label(one.email) }))
  return {
    ...simulation,
    blocked: named(simulation.blocked),
    gains: named(simulation.gains),
    losses: named(simulation.losses),
    caps: simulation.caps.map((one) => ({ ...one, scope: labels.text(one.scope) })),
    notes: simulation.notes.map(labels.text),
  }
}
