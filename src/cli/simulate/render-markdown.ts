// A simulation as Markdown, short enough for a comment on a pull request: the verdict, a line for each cycle, and the rest folded. Also the
// words that it shares with the text.
import { code, escaped, folded, row, tableHead } from '../../core/escape/text.ts'
import {
  type Banded,
  type BlockedPerson,
  isBesideKnown,
  type PersonChange,
  type Simulation,
  type SimulationRow,
} from '../../core/use/replay/document.ts'
import { count, dayText, people } from '../shared/text.ts'

/** Whole credits or days with separators: `12,400`; below ten with one digit behind the point where there is one. */
export function figure(value: number): string {
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value)
  return String(rounded === 0 ? 0 : rounded).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** The middle of a band, `-` where it is not known. */
export const middle = (banded: Banded | undefined): string => (banded ? figure(banded.middle) : '-')

/** Money to a hundredth. */
export const money = (value: number): string => {
  const [whole = '', cents = ''] = Math.abs(value).toFixed(2).split('.')
  return `${value < 0 ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`
}

/** `9,500 to 10,400`; undefined when both ends read the same. */
export const range = ({ low, high }: Banded): string | undefined =>
  figure(low) === figure(high) ? undefined : `${figure(low)} to ${figure(high)}`

/** The other side of the comparison. */
export const besideText = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'what was in force' : `policy ${beside.digest}`)

/** The same as a column's title. */
export const besideTitle = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'in force' : 'against')

/** The span of all cycles. */
export function spanText({ cycles }: Simulation): string {
  const [first, last] = [cycles[0], cycles.at(-1)]
  return first && last ? `${dayText(first.startAt)} to ${dayText(last.endAt)}` : ''
}

export const cyclesText = ({ cycles }: Simulation): string => count(cycles.length, 'cycle')

/** Sums of all cycles; people are those of the cycle with the most. */
export function totalsOf({ cycles }: Simulation) {
  const sum = (of: (row: SimulationRow) => number): number => cycles.reduce((all, { total }) => all + of(total), 0)
  return {
    people: Math.max(0, ...cycles.map(({ total }) => total.people)),
    workingDays: sum(({ workingDays }) => workingDays),
    kept: sum(({ kept }) => kept),
    keptMoney: cycles.some(({ total }) => total.keptMoney !== undefined) ? sum(({ keptMoney }) => keptMoney ?? 0) : undefined,
    credits: { policy: sum(({ policy }) => policy.credits.middle), beside: sum(({ beside }) => beside.credits.middle) },
    blockedDays: { policy: sum(({ policy }) => policy.blockedDays.middle), beside: sum(({ beside }) => beside.blockedDays?.middle ?? 0) },
  }
}

/** How many different people were blocked. */
export const blockedPeople = ({ blocked }: Simulation, side: 'policy' | 'beside'): number =>
  new Set(blocked.flatMap((one) => (one[side] ? [one.email] : []))).size

/** `4 of 21 days from 2026-10-12`, that they were not blocked, or `-` where it is not known. */
export const blockedText = (
  simulation: Simulation,
  { workingDays, cycleStartAt, ...sides }: BlockedPerson,
  side: 'policy' | 'beside',
): string => {
  const one = sides[side]
  if (side === 'beside' && !isBesideKnown(simulation, cycleStartAt)) return '-'
  return one ? `${figure(one.days)} of ${figure(workingDays)} days from ${dayText(one.fromAt)}` : 'not blocked'
}

/** What changes for one person: `12 blocked days fewer, 340 credits more`. */
export function changeText({ credits, blockedDays }: PersonChange): string {
  const [days, more] = [blockedDays.policy - blockedDays.beside, credits.policy - credits.beside]
  const parts = [
    ...(figure(days) === '0'
      ? []
      : [`${figure(Math.abs(days))} blocked ${figure(Math.abs(days)) === '1' ? 'day' : 'days'} ${days < 0 ? 'fewer' : 'more'}`]),
    ...(figure(more) === '0' ? [] : [`${figure(Math.abs(more))} credits ${more < 0 ? 'less' : 'more'}`]),
  ]
  return parts.length === 0 ? 'less than a credit' : parts.join(', ')
}

/** Caps that nobody has reached, the least used first. */
export const neverReached = ({ caps }: Simulation): Simulation['caps'] =>
  caps.filter(({ isReached }) => !isReached).toSorted((a, b) => a.highest * b.cap - b.highest * a.cap)

/** The result in one sentence. */
export function verdictOf(simulation: Simulation): string {
  const { credits, kept, keptMoney, blockedDays, workingDays } = totalsOf(simulation)
  const cycles = simulation.cycles.length
  const over = simulation.cycles.every(({ isWhole }) => isWhole)
    ? `Over the last ${cycles === 1 ? 'cycle' : `${cycles} cycles`}`
    : 'Over the days recorded so far'
  const amount = keptMoney === undefined ? '' : ` (${money(Math.abs(keptMoney))})`
  const spent =
    Math.round(kept) === 0
      ? `spent the same ${figure(credits.policy)} add-on credits`
      : `${kept > 0 ? 'kept' : 'spent'} ${figure(Math.abs(kept))}${kept > 0 ? ` of ${figure(credits.beside)}` : ' more'} add-on credits${amount}`
  const { beside } = simulation
  const known = simulation.cycles.filter(({ startAt }) => isBesideKnown(simulation, startAt)).length
  const inKnown = known === cycles ? '' : `, in the ${count(known, 'cycle')} with caps on record,`
  const was = `${people(blockedPeople(simulation, 'beside'))} on ${figure(blockedDays.beside)}`
  const then =
    beside.kind === 'policy' ? `under the other policy it was ${was}` : known > 0 ? `in force${inKnown} it was ${was}` : NOT_KNOWN
  return (
    `${over} this policy would have ${spent}, and blocked ${people(blockedPeople(simulation, 'policy'))} on ${figure(blockedDays.policy)} of ` +
    `${figure(workingDays)} working days; ${then}.`
  )
}

const NOT_KNOWN = 'whom the caps in force blocked is not known'

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
        middle(one.beside.blockedPeople),
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
          blockedText(simulation, one, 'policy'),
          figure(one.policy?.cap ?? 0),
          blockedText(simulation, one, 'beside'),
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
