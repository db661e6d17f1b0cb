// A simulation as Markdown, short enough for a comment on a pull request: the verdict, a line for each cycle, and the rest folded.

import { code, escaped, folded, row, tableHead } from '../../core/escape/markdown.ts'
import type { Simulation, SimulationRow } from '../../core/use/replay/document.ts'
import { dayText, people } from '../shared/text.ts'
import { besideTitle, blockedText, changeText, figure, money, neverReached, range, verdictOf } from './words.ts'

/** Lines shown of each list. */
const VISIBLE = 20

export const renderSimulationMarkdown = (simulations: readonly Simulation[]): string => `${simulations.flatMap(blocksOf).join('\n\n')}\n`

function blocksOf(simulation: Simulation): readonly string[] {
  const { workspace, cycles, blocked, gains, losses, notes } = simulation
  const under = blocked.filter(({ policy }) => policy)
  const unreached = neverReached(simulation)
  return [
    `### ${escaped(workspace)}: simulation`,
    escaped(verdictOf(simulation)),
    figures(
      simulation,
      'Cycle',
      cycles.map(({ startAt, isWhole, total }) => [`${dayText(startAt)}${isWhole ? '' : ' (in part)'}`, total]),
    ),
    ...(cycles.some(({ groups }) => groups.length > 0)
      ? [
          folded('By group', [
            figures(
              simulation,
              'Cycle, group',
              cycles.flatMap(({ startAt, groups }) =>
                groups.slice(0, VISIBLE).map((group) => [`${dayText(startAt)} ${escaped(group.name)}`, group] as const),
              ),
            ),
          ]),
        ]
      : []),
    ...(cycles.some(({ pools }) => pools.length > 0)
      ? [
          folded('By pool', [
            figures(
              simulation,
              'Cycle, pool',
              cycles.flatMap(({ startAt, pools }) =>
                pools
                  .slice(0, VISIBLE)
                  .map((pool) => [`${dayText(startAt)} ${escaped(pool.name)} (${figure(pool.credits)} credits)`, pool] as const),
              ),
            ),
          ]),
        ]
      : []),
    ...(under.length > 0
      ? [folded(`${people(new Set(under.map(({ email }) => email)).size)} blocked`, blockedTable(simulation, under))]
      : []),
    ...changed('gain', gains),
    ...changed('lose', losses),
    ...(unreached.length > 0
      ? [
          folded(`Caps never reached: ${unreached.length}`, [
            ...tableHead(['Scope', 'Cap', 'Highest use']),
            ...unreached.slice(0, VISIBLE).map(({ scope, cap, highest }) => row([code(scope), figure(cap), figure(highest)])),
            ...cut(unreached.length),
          ]),
        ]
      : []),
    folded(
      'What recorded use cannot tell',
      notes.map((note) => `- ${escaped(note)}`),
    ),
  ]
}

const cut = (length: number): readonly string[] => (length > VISIBLE ? ['', `… and ${length - VISIBLE} more.`] : [])

function figures(simulation: Simulation, subject: string, rows: readonly (readonly [string, SimulationRow])[]): string {
  const beside = besideTitle(simulation)
  const hasMoney = simulation.pricePerCredit !== undefined
  const heads = [
    'People',
    `Credits ${beside}`,
    'Credits',
    'Kept',
    ...(hasMoney ? ['Money kept'] : []),
    `Blocked ${beside}`,
    'Blocked',
    'Days blocked',
  ]
  return [
    ...tableHead([subject, ...heads]),
    ...rows.map(([name, one]) =>
      row([
        name,
        figure(one.people),
        figure(one.beside.credits.middle),
        withRange(one.policy.credits),
        figure(one.kept),
        ...(hasMoney ? [money(one.keptMoney ?? 0)] : []),
        figure(one.beside.blockedPeople.middle),
        withRange(one.policy.blockedPeople),
        `${withRange(one.policy.blockedDays)} of ${figure(one.workingDays)}`,
      ]),
    ),
  ].join('\n')
}

const withRange = (banded: SimulationRow['policy']['credits']): string => {
  const text = range(banded)
  return text === undefined ? figure(banded.middle) : `${figure(banded.middle)} (${text})`
}

function blockedTable(simulation: Simulation, under: Simulation['blocked']): readonly string[] {
  return [
    ...tableHead(['Person', 'Cycle', 'Blocked', 'Cap', besideTitle(simulation) === 'in force' ? 'In force' : 'Against']),
    ...under
      .slice(0, VISIBLE)
      .map((one) =>
        row([
          code(one.email),
          dayText(one.cycleStartAt),
          blockedText(one, 'policy'),
          figure(one.policy?.cap ?? 0),
          blockedText(one, 'beside'),
        ]),
      ),
    ...cut(under.length),
  ]
}

const changed = (verb: 'gain' | 'lose', list: Simulation['gains']): readonly string[] =>
  list.length === 0
    ? []
    : [
        folded(`${people(list.length)} would ${verb}`, [
          ...list.slice(0, VISIBLE).map((one) => `- ${code(one.email)}: ${escaped(changeText(one))}`),
          ...cut(list.length),
        ]),
      ]
