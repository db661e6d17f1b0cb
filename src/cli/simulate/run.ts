// `simulate`: replays recorded use workspace by workspace, and prints the result with people as the config says.

import type { PolicyRevision } from '../../core/model/policy.ts'
import { hasErrors, InputError } from '../../core/model/problem.ts'
import type { SimulationInputs } from '../../core/use/replay/document.ts'
import { type Simulation, simulate } from '../../core/use/replay/simulation.ts'
import { loadConfigAside } from '../../daemon/config/config.ts'
import { type ReplayOptions, replayStart } from '../../daemon/replay/gather.ts'
import { DEFAULT_WORKSPACE } from '../../policy/bounds.ts'
import type { LoadedPolicies } from '../../policy/load/loaded.ts'
import { action, COMMANDS, type FlagsOf, type NetworkFlags } from '../shared/command.ts'
import { type Cli, CommandError, EXIT, painter, UsageError, worstExit } from '../shared/context.ts'
import { inEach } from '../shared/each.ts'
import { collectLine, readRecordedUse } from '../shared/ledger/access.ts'
import { labelsFor, policyPaths, readPolicies, showWarnings } from '../shared/problems.ts'
import { sweepProgress } from '../shared/progress.ts'
import { documentText, people } from '../shared/text.ts'
import { besideTitle, renderSimulationMarkdown, renderSimulationText } from './render.ts'

type SimulateFlags = FlagsOf<typeof COMMANDS.simulate>

export const register = action(COMMANDS.simulate, simulateCommand)

/** One workspace, whether or not it can be replayed. */
export interface Recorded {
  readonly policy: PolicyRevision
  readonly groups: SimulationInputs['groups']
  /** The inputs of a replay, or why there can be none. */
  readonly start: SimulationInputs | CommandError
}

/** Throws an `InputError` with every problem of config and policies, and a `CommandError` when policies and ledger have no workspace in common. */
export async function gather(
  flags: NetworkFlags,
  options: {
    /** Policy files in place of those of the config. */
    readonly paths: readonly string[]
    readonly against?: string
    readonly cycles?: number
  },
  cli: Cli,
) {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config) throw new InputError(loaded.problems)
  const { config } = loaded
  const ofConfig = policyPaths(config)
  const paths = options.paths.length > 0 ? options.paths : ofConfig
  if (paths.length === 0) throw new UsageError('which policies? Name files or folders, or a config file with --config')
  // What a team may say is replayed as it is written.
  const asked = { ...flags, asWritten: true }
  const policies = await readPolicies(paths, loaded, asked, cli)
  const against = options.against === undefined ? undefined : await readPolicies([options.against], loaded, asked, cli)
  const problems = [...loaded.problems, ...policies.problems, ...(against?.problems ?? [])]
  if (hasErrors(problems)) throw new InputError(problems)
  const names = loaded.configured
    ? config.workspaces.map(({ name }) => name)
    : [policies.workspace ?? config.workspaces[0]?.name ?? DEFAULT_WORKSPACE]
  // A command that is suggested finds the policies where this one did.
  const repeated = ofConfig.length > 0 ? flags : { ...flags, policies: paths }
  const ledger = await readRecordedUse(cli, config.ledger, names, repeated)
  const { pricePerCredit, creditsPerSeat } = config
  const workspaces = ledger.workspaces.flatMap((use): Recorded[] => {
    const policy = policies.sets.get(use.workspace)
    const beside = against && againstOf(against, use.workspace)
    if (!policy) return []
    const replay = { policy, against: beside, cycles: options.cycles, pricePerCredit, creditsPerSeat, now: cli.clock.now() }
    return [{ policy, groups: use.usage?.groups ?? [], start: startOf(use, replay, repeated) }]
  })
  for (const name of names) {
    const policy = policies.sets.get(name)
    if (!policy || ledger.workspaces.some(({ workspace }) => workspace === name)) continue
    workspaces.push({ policy, groups: [], start: nothingRecorded(name, repeated) })
  }
  if (workspaces.length === 0) throw new CommandError(`no policy is for ${names.join(', ')}`)
  return { config, workspaces, warnings: problems, labels: labelsFor(config.people, ledger.salt) }
}

/** Without a config file the two sides may have different workspace names. */
const againstOf = ({ sets, workspace }: LoadedPolicies, name: string): PolicyRevision | undefined =>
  sets.get(name) ?? (workspace === undefined && sets.size === 1 ? [...sets.values()][0] : undefined)

/** The inputs of a replay. Throws a `CommandError` when there can be none. */
export function inputsOf({ start }: Recorded): SimulationInputs {
  if (start instanceof CommandError) throw start
  return start
}

type Use = Awaited<ReturnType<typeof readRecordedUse>>['workspaces'][number]

function startOf(use: Use, options: ReplayOptions, flags: NetworkFlags): Recorded['start'] {
  const start = replayStart(use, options)
  switch (start.kind) {
    case 'inputs':
      return start.inputs
    case 'no-days':
      return nothingRecorded(use.workspace, flags)
    case 'no-cycle':
      return new CommandError(`${use.workspace}: the ledger knows no billing cycle, because the service names none`)
    case 'too-little':
      return new CommandError(`${use.workspace}: ${start.message}; type: ${collectLine(flags)}${skippedText(use)}`)
  }
}

const nothingRecorded = (workspace: string, flags: NetworkFlags): CommandError =>
  new CommandError(`${workspace}: the ledger has no day of anybody's use yet (0 %); type: ${collectLine(flags)}`)

const skippedText = ({ forgotten }: Use): string =>
  forgotten === 0 ? '' : ` (it leaves ${people(forgotten)} out who had to be forgotten; --person EMAIL reads one again)`

/** Simulates all workspaces of policies and ledger; exits 4 when some have no recorded use, and fails when none has. */
async function simulateCommand(paths: readonly string[], flags: SimulateFlags, cli: Cli): Promise<void> {
  const gathered = await gather(flags, { paths, against: flags.against, cycles: flags.cycles }, cli)
  showWarnings(gathered.warnings, cli)
  const progress = await sweepProgress('replaying cycles', cli.stderr)
  for (const { start } of gathered.workspaces) if ('cycles' in start) progress.expect(start.cycles)
  const work = (one: Recorded): Simulation => simulate({ ...inputsOf(one), onCycle: progress.one })
  const { done, codes } = await inEach(cli, gathered.workspaces, work).finally(progress.stop)
  const simulations = done.map(gathered.labels.all)
  const now = cli.clock.now()
  const renderers = {
    text: () => renderSimulationText(simulations, painter(cli.stdout)),
    json: () => documentText('Simulation', { createdAt: now, simulations }),
    markdown: () => renderSimulationMarkdown(simulations),
    html: async () => {
      const [{ renderSimulationPage }, { comparisonFigures }] = await Promise.all([
        import('../../console/report.ts'),
        import('../../daemon/http/documents/story/comparison.ts'),
      ])
      const pages = simulations.map((one) => ({
        workspace: one.workspace,
        beside: besideTitle(one),
        figures: comparisonFigures(one, now),
      }))
      return renderSimulationPage(pages, now)
    },
  }
  cli.stdout.write(await renderers[flags.output]())
  cli.finish(worstExit([EXIT.done, ...codes]))
}
