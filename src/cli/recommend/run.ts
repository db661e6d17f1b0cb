// `recommend`: works out caps from recorded use and prints a policy or JSON. A group without recorded members is an error when it was named, and
// is otherwise left as it is.

import { type Recommendation, type RecommendInputs, recommend, type Target } from '../../core/use/replay/recommend.ts'
import { didYouMean } from '../../policy/suggest.ts'
import { showWarnings } from '../plan/output.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { inEach } from '../shared/each.ts'
import { EXIT, worstExit } from '../shared/exit.ts'
import { labelsFor } from '../shared/people.ts'
import { sweepProgress } from '../shared/progress.ts'
import { gather, inputsOf, type Recorded } from '../simulate/gather.ts'
import { shownAs } from '../simulate/run.ts'
import { figure } from '../simulate/words.ts'
import type { RecommendFlags } from './command.ts'
import { renderRecommendationJson, renderRecommendationPolicy } from './render.ts'

/** The share of the people with a cap who may be blocked, by default (product.md, section 3). */
const BLOCKED = 0.02

/** Recommends caps for all workspaces of policies and ledger; exits 4 when some failed. */
export async function recommendCommand(paths: readonly string[], flags: RecommendFlags, cli: Cli): Promise<void> {
  const gathered = await gather(flags, { paths, ...(flags.cycles !== undefined && { cycles: flags.cycles }) }, cli)
  showWarnings(gathered.warnings, cli)
  const target: Target =
    flags.budget === undefined ? { kind: 'blocked', share: flags.blocked ?? BLOCKED } : { kind: 'budget', credits: flags.budget }
  const workspaces = chosen(gathered.workspaces, flags.group)
  const progress = await sweepProgress('working out caps', cli.stderr)
  progress.expect(workspaces)
  const { done: results, codes } = await inEach(cli, workspaces, (one) => {
    progress.one()
    return recommendOne({ ...inputsOf(one), target, ...(flags.group && { only: flags.group }) })
  }).finally(progress.stop)
  const labels = labelsFor(gathered.config.people, gathered.salt)
  const shown = results.map((one) => ({ ...one, simulation: shownAs(one.simulation, labels) }))
  cli.stdout.write(
    flags.output === 'json' ? renderRecommendationJson(shown, target, cli.clock.now()) : renderRecommendationPolicy(shown, target),
  )
  cli.finish(worstExit([EXIT.done, ...codes]))
}

/** The workspaces that declare any of the groups; all without groups. */
function chosen(workspaces: readonly Recorded[], groups: readonly string[] | undefined): readonly Recorded[] {
  if (!groups) return workspaces
  const declared = workspaces.flatMap(({ policy }) => policy.set.groups.map(({ scope }) => scope.id))
  for (const id of groups) {
    if (!declared.includes(id))
      throw new UsageError(`no policy declares a group ${id}${declared.length > 0 ? `; ${didYouMean(id, declared)}` : ''}`)
    const listed = workspaces.some((one) => one.groups.some((group) => group.id === id && group.emails.length > 0))
    if (!listed)
      throw new CommandError(`the ledger knows no member of group ${id}; a daemon lists them once its policies declare the group`)
  }
  return workspaces.filter(({ policy }) => policy.set.groups.some(({ scope }) => groups.includes(scope.id)))
}

function recommendOne(inputs: RecommendInputs): Recommendation {
  // A cap from a part of a cycle would be far too low.
  if (inputs.cycles.at(-1)?.isWhole !== true)
    throw new CommandError(`${inputs.workspace}: ${inputs.notes[0] ?? 'no cycle is recorded as a whole'}`)
  const result = recommend(inputs)
  if (!('least' in result)) return result
  const budget = inputs.target.kind === 'budget' ? inputs.target.credits : 0
  throw new CommandError(
    `${inputs.workspace}: no caps of the groups keep a budget of ${figure(budget)}: with the least of them the dearest cycle comes to ${figure(Math.ceil(result.least))}, ` +
      'because of people with caps of their own, groups that were left out, or the least cap of 10; raise the budget or lower those caps',
  )
}
