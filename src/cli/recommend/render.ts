// A recommendation as a policy file with the reasons as comments, and as JSON. People are named only where the policy names them.

import { plain } from '../../core/escape/terminal.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { niceCap, type Recommendation, type RecommendedCap, type Target } from '../../core/use/replay/recommend.ts'
import { printPolicy } from '../../policy/print.ts'
import { documentText } from '../shared/document.ts'
import { count, dayText, people, wrap } from '../shared/text.ts'
import { blockedPeople, cyclesText, figure, money, range, spanText, totalsOf } from '../simulate/words.ts'

const WIDTH = 110

/** One document a workspace. */
export const renderRecommendationPolicy = (all: readonly Recommendation[], target: Target): string =>
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

function headOf({ workspace, simulation, dearest, caps }: Recommendation, target: Target): readonly string[] {
  const { blockedDays, workingDays, kept, keptMoney } = totalsOf(simulation)
  const ends = simulation.cycles.flatMap(({ startAt, total }) => {
    const text = range(total.policy.credits)
    return text === undefined ? [] : [`${dayText(startAt)}: ${text}`]
  })
  return [
    `Recommended by capkeeper for ${workspace}: so that ${targetText(target)}, over ${cyclesText(simulation)}, ${spanText(simulation)}.`,
    'It takes the place of the present policy of the workspace; caps of single people, grants and the rest are as they were.',
    `The dearest cycle uses ${figure(dearest)} add-on credits; ${people(blockedPeople(simulation, 'policy'))} blocked on ${figure(blockedDays.policy)} of ${figure(workingDays)} working days.`,
    `Beside what was in force: ${figure(Math.abs(kept))} credits ${kept >= 0 ? 'kept' : 'more'}${keptMoney === undefined ? '' : ` (${money(Math.abs(keptMoney))})`}. Check with: capkeeper simulate FILE --cycles ${simulation.cycles.length}`,
    ...(ends.length > 0 ? [`Ranges, for people who were at a cap: ${ends.join('; ')} credits.`] : []),
    ...(caps.length === 0 ? ['No cap could be worked out: nobody with recorded use has a cap of a group or of the team.'] : []),
    ...simulation.notes,
  ]
}

function reasonOf({ name, before, people: held, personCycles, blocked, highestDemand }: RecommendedCap): readonly string[] {
  const was = before === undefined ? 'no cap' : before === 'none' ? 'none' : figure(before)
  return [
    `${plain(name)}: ${people(held)}; ${blocked} of ${personCycles} person-cycles blocked (${percent(blocked, personCycles)}), was ${was}.`,
    `The most that one person would have used in a cycle is ${figure(highestDemand)} add-on credits.`,
  ]
}

/** One budget for the group would block nobody, and allow less than the caps together. */
const gainsByPool = ({ cap, people: held, blocked, poolCredits }: RecommendedCap): boolean =>
  held >= 3 && poolCredits > 0 && blocked > 0 && poolSize(poolCredits) < cap * held

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
export function renderRecommendationJson(all: readonly Recommendation[], target: Target, now: Instant): string {
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
