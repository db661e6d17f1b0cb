// `recommend`: works out caps from recorded use and prints a policy or JSON. A group without recorded members is an error when it was named, and
// is otherwise left as it is. People are named only where the policy names them.

import { InvalidArgumentError } from 'commander'
import { plain } from '../core/escape/text.ts'
import { type ScopeKey, scopeKey } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import {
  niceCap,
  type Recommendation,
  type RecommendedCap,
  type RecommendInputs,
  recommend,
  type Target,
} from '../core/use/replay/recommend.ts'
import { printPolicy } from '../policy/print.ts'
import { didYouMean } from '../policy/suggest.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, CommandError, EXIT, UsageError, worstExit } from './shared/context.ts'
import { inEach } from './shared/each.ts'
import { showWarnings } from './shared/problems.ts'
import { sweepProgress } from './shared/progress.ts'
import { count, dayText, documentText, people, present, wrap } from './shared/text.ts'
import { blockedPeople, cyclesText, figure, money, range, spanText, totalsOf } from './simulate/render.ts'
import { gather, inputsOf, type Recorded } from './simulate/run.ts'

/** `2%`, `0.5 %`. */
function readShare(text: string): number {
  const [, percent] = /^\s*(\d{1,3}(?:\.\d{1,3})?)\s*%\s*$/.exec(text) ?? []
  if (percent === undefined || Number(percent) > 100) throw new InvalidArgumentError('Write a percentage such as 2%.')
  return Number(percent) / 100
}

const OWN = { share: readShare }
type RecommendFlags = FlagsOf<typeof COMMANDS.recommend, typeof OWN>

export const register = action(COMMANDS.recommend, recommendCommand, OWN)

/** The share of the people with a cap who may be blocked, by default (docs/commands.md). */
const BLOCKED = 0.02

/** Recommends caps for all workspaces of policies and ledger; exits 4 when some failed. */
async function recommendCommand(paths: readonly string[], flags: RecommendFlags, cli: Cli): Promise<void> {
  const gathered = await gather(flags, { paths, cycles: flags.cycles }, cli)
  showWarnings(gathered.warnings, cli)
  const target: Target =
    flags.budget === undefined ? { kind: 'blocked', share: flags.blocked ?? BLOCKED } : { kind: 'budget', credits: flags.budget }
  const workspaces = chosen(gathered.workspaces, flags.group)
  const progress = await sweepProgress('working out caps', cli.stderr)
  progress.expect(workspaces)
  const { done: results, codes } = await inEach(cli, workspaces, (one) => {
    progress.one()
    return recommendOne({ ...inputsOf(one), target, only: flags.group })
  }).finally(progress.stop)
  const shown = results.map((one) => ({ ...one, simulation: gathered.labels.all(one.simulation) }))
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
  const result = recommend(inputs)
  if (!('least' in result)) return result
  const budget = inputs.target.kind === 'budget' ? inputs.target.credits : 0
  throw new CommandError(
    `${inputs.workspace}: no caps of the groups keep a budget of ${figure(budget)}: with the least of them the dearest cycle comes to ${figure(Math.ceil(result.least))}, ` +
      'because of people with caps or grants of their own, groups that were left out, or the least cap of 10; raise the budget or lower those caps',
  )
}

// A recommendation as a policy file with the reasons as comments, and as JSON. People are named only where the policy names them.

const WIDTH = 110

/** One document a workspace. */
const renderRecommendationPolicy = (all: readonly Recommendation[], target: Target): string =>
  all.map((one) => documentOf(one, target)).join('---\n')

function documentOf(recommendation: Recommendation, target: Target): string {
  const { workspace, set, caps } = recommendation
  const notes = new Map<ScopeKey, readonly string[]>(caps.map((cap) => [scopeKey(cap.scope), reasonOf(cap)]))
  const head = headOf(recommendation, target).flatMap((line) => wrap(plain(line), WIDTH))
  const pools = poolsOf(recommendation)
  return [
    ...head.map((line) => `# ${line}`),
    printPolicy(set, { name: workspace, notes }).trimEnd(),
    ...pools.map((line) => (line === '' ? '#' : `# ${line}`)),
    '',
  ].join('\n')
}

const percent = (part: number, whole: number): string => `${whole === 0 ? 0 : Number(((100 * part) / whole).toFixed(1))} %`

const targetText = (target: Target): string =>
  target.kind === 'blocked'
    ? `at most ${percent(target.share, 1)} of the people who have a cap are blocked in a cycle`
    : `no cycle uses more than ${figure(target.credits)} add-on credits`

function headOf({ workspace, simulation, dearest, caps, envelopes }: Recommendation, target: Target): readonly string[] {
  const { blockedDays, workingDays, kept, keptMoney } = totalsOf(simulation)
  const ends = simulation.cycles.flatMap(({ startAt, total }) => {
    const text = range(total.policy.credits)
    return text === undefined ? [] : [`${dayText(startAt)}: ${text}`]
  })
  const inMoney = keptMoney === undefined ? '' : ` (${money(Math.abs(keptMoney))})`
  return present(
    `Recommended by capkeeper for ${workspace}: so that ${targetText(target)}, over ${cyclesText(simulation)}, ${spanText(simulation)}.`,
    'It takes the place of the present policy of the workspace; caps of single people, grants and the rest are as they were.',
    `The dearest cycle uses ${figure(dearest)} add-on credits; ${people(blockedPeople(simulation, 'policy'))} blocked on ${figure(blockedDays.policy)} of ${figure(workingDays)} working days.`,
    `Beside what was in force: ${figure(Math.abs(kept))} credits ${kept >= 0 ? 'kept' : 'more'}${inMoney}. Check with: capkeeper simulate FILE --cycles ${simulation.cycles.length}`,
    envelopes > 0 && `What teams say in ${count(envelopes, 'envelope')} counts here and stays in their folders: name them beside FILE.`,
    ends.length > 0 && `Ranges, for people who were at a cap: ${ends.join('; ')} credits.`,
    caps.length === 0 && 'No cap could be worked out: nobody with recorded use has a cap of a group or of the team that may change.',
    simulation.notes,
  )
}

function reasonOf({ name, before, people: held, personCycles, blocked, highestDemand }: RecommendedCap): readonly string[] {
  const was = before === undefined ? 'no cap' : before === 'none' ? 'none' : figure(before)
  return [
    `${plain(name)}: ${people(held)}; ${blocked} of ${personCycles} person-cycles blocked (${percent(blocked, personCycles)}), was ${was}.`,
    `The most that one person would have used in a cycle is ${figure(highestDemand)} add-on credits.`,
  ]
}

/** One budget for the group would block nobody, and allow less than the caps together. */
const gainsByPool = ({ cap, people: held, apart, blocked, poolCredits }: RecommendedCap): boolean =>
  held >= 3 && apart === 0 && poolCredits > 0 && blocked > 0 && poolSize(poolCredits) < cap * held

/** A tenth more than the dearest cycle. Choice. */
const poolSize = (needed: number): number => niceCap(needed * 1.1)

function poolsOf({ caps, simulation }: Recommendation): readonly string[] {
  const better = caps.filter((cap) => cap.scope.kind === 'group' && gainsByPool(cap))
  if (better.length === 0) return []
  return [
    '',
    'Pools that would do better, if their credits went exactly where they were needed (put them under spec: and drop the caps):',
    'pools:',
    ...better.flatMap((one) => [
      `  # ${plain(one.name)}: the dearest of ${cyclesText(simulation)} needed ${figure(one.poolCredits)} credits in all. A pool of a tenth more blocks nobody of the`,
      `  # ${people(one.people)}; ${count(one.people, 'cap')} of ${figure(one.cap)} allow ${figure(one.cap * one.people)} and block ${one.blocked} of ${one.personCycles} person-cycles.`,
      `  - name: ${JSON.stringify(plain(one.name).toLowerCase())}`,
      `    members: {groups: [${JSON.stringify(one.scope.kind === 'group' ? one.scope.id : '')}]}`,
      `    credits: ${poolSize(one.poolCredits)}`,
      '    share: need',
    ]),
  ]
}

/** `{apiVersion, kind: "Recommendation", createdAt, target, workspaces: [{workspace, caps, pools, dearest, simulation}]}`. */
function renderRecommendationJson(all: readonly Recommendation[], target: Target, now: Instant): string {
  const workspaces = all.map(({ workspace, caps, dearest, simulation }) => ({
    workspace,
    dearest,
    caps: caps.map(({ scope, ...rest }) => ({ scope: scopeKey(scope), ...rest })),
    pools: caps
      .filter(gainsByPool)
      .map(({ scope, poolCredits, people: held }) => ({ scope: scopeKey(scope), credits: poolSize(poolCredits), people: held })),
    simulation,
  }))
  return documentText('Recommendation', { createdAt: now, target, workspaces })
}
