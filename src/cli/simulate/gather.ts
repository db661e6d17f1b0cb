// The inputs of a replay: config, policies, and the recorded billing cycles of each workspace. No key is read and no service asked. Missing
// records become a note, or an error that says what to do.

import type { PolicyRevision } from '../../core/model/policy.ts'
import { hasErrors, InputError, type Problem } from '../../core/model/problem.ts'
import { ENOUGH_KNOWN } from '../../core/use/history.ts'
import type { SimulationInputs } from '../../core/use/replay/document.ts'
import { loadConfigAside } from '../../daemon/config/load-aside.ts'
import type { Config } from '../../daemon/config/settings.ts'
import { type KnownCycle, type RecordedUse, type ReplayOptions, replayStart } from '../../daemon/replay/gather.ts'
import { randomSalt } from '../../daemon/schedule/system.ts'
import type { LoadedPolicies } from '../../policy/load/load.ts'
import type { NetworkFlags } from '../shared/args.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { collectLine, readRecordedUse } from '../shared/ledger/recorded-use.ts'
import { policyPaths, readPolicies } from '../shared/policies.ts'
import { dayText } from '../shared/text.ts'

interface GatherOptions {
  /** Policy files in place of those of the config. */
  readonly paths: readonly string[]
  readonly against?: string
  readonly cycles?: number
}

/** One workspace, whether or not it can be replayed. */
export interface Recorded {
  readonly policy: PolicyRevision
  readonly groups: SimulationInputs['groups']
  /** The inputs of a replay, or why there can be none. */
  readonly start: SimulationInputs | CommandError
}

export interface Gathered {
  readonly config: Config
  readonly workspaces: readonly Recorded[]
  readonly warnings: readonly Problem[]
  /** The salt of people's hashes. */
  readonly salt: string
}

/** Throws an `InputError` with every problem of config and policies, and a `CommandError` when policies and ledger have no workspace in common. */
export async function gather(flags: NetworkFlags, options: GatherOptions, cli: Cli): Promise<Gathered> {
  const loaded = await loadConfigAside({ env: cli.env, flags }, cli.clock)
  if (!loaded.config) throw new InputError(loaded.problems)
  const { config } = loaded
  const paths = options.paths.length > 0 ? options.paths : policyPaths(config)
  if (paths.length === 0) throw new UsageError('which policies? Name files or folders, or a config file with --config')
  // What a team may say is replayed as it is written.
  const asked = { ...flags, asWritten: true }
  const policies = await readPolicies(paths, loaded, asked, cli)
  const against = options.against === undefined ? undefined : await readPolicies([options.against], loaded, asked, cli)
  const problems = [...loaded.problems, ...policies.problems, ...(against?.problems ?? [])]
  if (hasErrors(problems)) throw new InputError(problems)
  const names = loaded.configured
    ? config.workspaces.map(({ name }) => name)
    : [policies.workspace ?? config.workspaces[0]?.name ?? 'default']
  const ledger = await readRecordedUse(cli, config.ledger, names, flags)
  const { pricePerCredit } = config
  const workspaces = ledger.workspaces.flatMap((use): readonly Recorded[] => {
    const policy = policies.sets.get(use.workspace)
    const beside = against && againstOf(against, use.workspace)
    if (!policy) return []
    const replay = {
      policy,
      ...(beside && { against: beside }),
      ...(options.cycles !== undefined && { cycles: options.cycles }),
      ...(pricePerCredit !== undefined && { pricePerCredit }),
    }
    return [{ policy, groups: use.usage?.groups ?? [], start: startOf(use, { ...replay, now: cli.clock.now() }, flags) }]
  })
  if (workspaces.length === 0) throw new CommandError(`no policy is for ${names.join(', ')}`)
  return { config, workspaces, warnings: problems, salt: ledger.salt ?? randomSalt() }
}

/** Without a config file the two sides may have different workspace names. */
const againstOf = ({ sets, workspace }: LoadedPolicies, name: string): PolicyRevision | undefined =>
  sets.get(name) ?? (workspace === undefined && sets.size === 1 ? [...sets.values()][0] : undefined)

/** The inputs of a replay. Throws a `CommandError` when there can be none. */
export function inputsOf({ start }: Recorded): SimulationInputs {
  if (start instanceof CommandError) throw start
  return start
}

function startOf(use: RecordedUse, options: ReplayOptions, flags: NetworkFlags): Recorded['start'] {
  const start = replayStart(use, options)
  switch (start.kind) {
    case 'inputs':
      return start.best ? new CommandError(shortText(use.workspace, start.best, flags)) : start.inputs
    case 'no-days':
      return new CommandError(`${use.workspace}: the ledger has no day of anybody's use yet (0 %); type: ${collectLine(flags)}`)
    case 'no-cycle':
      return new CommandError(`${use.workspace}: the ledger knows no billing cycle, because the service names none`)
  }
}

/** What is missing, and the one command that gets it. */
function shortText(workspace: string, { startAt, endAt, known }: KnownCycle, flags: NetworkFlags): string {
  const share = (part: number): string => `${Math.floor(part * 100)} %`
  const ofUse = known.use === undefined ? '' : ` and ${share(known.use)} of the use`
  const least = share(ENOUGH_KNOWN)
  return (
    `${workspace}: no past cycle is known for ${least} of the people and of the use: the best, ${dayText(startAt)} to ${dayText(endAt)}, ` +
    `is known for ${share(known.people)} of the people${ofUse}; type: ${collectLine(flags)}`
  )
}
