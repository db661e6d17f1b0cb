// What `recommend` does: gathers what was recorded, works out the caps of each workspace, and prints a policy or JSON. A group that cannot be
// helped is an error where it was named, and left as it is where it was not.

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

/** So many of the people who have a cap may be blocked when nobody says otherwise (product.md, section 3). */
const BLOCKED = 0.02

/** Recommends for every workspace that the policies and the ledger know; ends with 4 when one of several cannot be helped. */
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
    return worked({ ...inputsOf(one), target, ...(flags.group && { only: flags.group }) })
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

function worked(inputs: RecommendInputs): Recommendation {
  // A cap out of a part of a cycle would be far too low.
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
