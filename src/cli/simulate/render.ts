// A simulation as text and as Markdown, and their words. Long lists are cut with a count; JSON has all of it.
import { code, escaped, folded, markdownText, plain, row, tableText } from '../../core/escape/text.ts'
import { type Banded, isBesideKnown, type SimulationRow } from '../../core/use/replay/document.ts'
import type { BlockedPerson, PersonChange, Simulation } from '../../core/use/replay/simulation.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { blocksText, columns, count, dayText, people, present, wrap } from '../shared/text.ts'

/** Whole credits or days with separators: `12,400`; below ten with one digit behind the point where there is one. */
export function figure(value: number): string {
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value)
  return String(rounded === 0 ? 0 : rounded).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Money to a hundredth. */
export const money = (value: number): string => {
  const [whole = '', cents = ''] = Math.abs(value).toFixed(2).split('.')
  return `${value < 0 ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`
}

/** `9,500 to 10,400`; undefined when both ends read the same. */
export const range = ({ low, high }: Banded): string | undefined =>
  figure(low) === figure(high) ? undefined : `${figure(low)} to ${figure(high)}`

/** The other side of the comparison. */
const besideText = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'what was in force' : `policy ${beside.digest}`)

/** The same as a column's title. */
export const besideTitle = ({ beside }: Simulation): 'in force' | 'against' => (beside.kind === 'inForce' ? 'in force' : 'against')

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
function blockedText(simulation: Simulation, person: BlockedPerson, side: 'policy' | 'beside'): string {
  const { workingDays, cycleStartAt, [side]: one } = person
  if (side === 'beside' && !isBesideKnown(simulation, cycleStartAt)) return '-'
  return one ? `${figure(one.days)} of ${figure(workingDays)} days from ${dayText(one.fromAt)}` : 'not blocked'
}

/** What changes for one person: `12 blocked days fewer, 340 credits more`. */
export function changeText({ credits, blockedDays }: PersonChange): string {
  const [days, more] = [blockedDays.policy - blockedDays.beside, credits.policy - credits.beside]
  const [ofDays, ofCredits] = [figure(Math.abs(days)), figure(Math.abs(more))]
  const parts = present(
    ofDays !== '0' && `${ofDays} blocked ${ofDays === '1' ? 'day' : 'days'} ${days < 0 ? 'fewer' : 'more'}`,
    ofCredits !== '0' && `${ofCredits} credits ${more < 0 ? 'less' : 'more'}`,
  )
  return parts.length === 0 ? 'less than a credit' : parts.join(', ')
}

/** Caps that nobody has reached, the least used first. */
const neverReached = ({ caps }: Simulation): Simulation['caps'] =>
  caps.filter(({ isReached }) => !isReached).toSorted((a, b) => a.highest * b.cap - b.highest * a.cap)

/** The result in one sentence. */
export function verdictOf(simulation: Simulation): string {
  const { credits, kept, keptMoney, blockedDays, workingDays } = totalsOf(simulation)
  const cycles = simulation.cycles.length
  const over = `Over the last ${cycles === 1 ? 'cycle' : `${cycles} cycles`}`
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

// The sheet: a line for each cycle, then its groups and pools, people and caps. Both forms show the same of it.

/** Lines shown of each list. */
const VISIBLE = 20
const WIDTH = 110

/** A list of the sheet. Columns that `isNumber` names are aligned right; the first one names the row. */
interface List {
  readonly title: string
  readonly heads: readonly string[]
  readonly isNumber: (column: number) => boolean
  readonly rows: readonly (readonly string[])[]
}

function listsOf(simulation: Simulation): readonly List[] {
  const { cycles, gains, losses } = simulation
  const blocked = simulation.blocked.filter(({ policy }) => policy)
  const unreached = neverReached(simulation)
  const changes = (title: string, list: Simulation['gains']): List => ({
    title: `${people(list.length)} would ${title}`,
    heads: ['Person', 'Change'],
    isNumber: () => false,
    rows: list.map((one) => [one.email, changeText(one)]),
  })
  const all: readonly List[] = [
    ...cycles.flatMap(({ startAt, groups, pools }) => [
      figuresOf(simulation, 'Group', groups, `Groups, cycle of ${dayText(startAt)}`),
      figuresOf(simulation, 'Pool', pools.map(withCredits), `Pools, cycle of ${dayText(startAt)}`),
    ]),
    {
      title: `${people(new Set(blocked.map(({ email }) => email)).size)} blocked under this policy`,
      heads: ['Person', 'Cycle', 'Blocked', 'Cap', besideTitle(simulation)],
      isNumber: (column) => column === 3,
      rows: blocked.map((one) => [
        one.email,
        dayText(one.cycleStartAt),
        blockedText(simulation, one, 'policy'),
        figure(one.policy?.cap ?? 0),
        blockedText(simulation, one, 'beside'),
      ]),
    },
    changes('gain', gains),
    changes('lose', losses),
    {
      title: `Caps never reached: ${unreached.length}`,
      heads: ['Scope', 'Cap', 'Highest use'],
      isNumber: (column) => column > 0,
      rows: unreached.map(({ scope, cap, highest }) => [scope, figure(cap), figure(highest)]),
    },
  ]
  return all.filter(({ rows }) => rows.length > 0)
}

const cyclesOf = (simulation: Simulation): List =>
  figuresOf(
    simulation,
    'Cycle',
    simulation.cycles.map(({ startAt, total }) => ({ ...total, name: dayText(startAt) })),
  )

const withCredits = ({ name, credits, ...row }: Simulation['cycles'][number]['pools'][number]) => ({
  ...row,
  name: `${name} (${figure(credits)} credits)`,
})

/** The figures of cycles, groups or pools under both sides. */
function figuresOf(simulation: Simulation, subject: string, rows: readonly SimulationRow[], title = ''): List {
  const beside = besideTitle(simulation)
  const hasMoney = simulation.pricePerCredit !== undefined
  return {
    title,
    heads: present(
      subject,
      'People',
      'Credits',
      beside,
      'Kept',
      hasMoney && 'Money kept',
      'People blocked',
      beside,
      'Days blocked',
      beside,
    ),
    isNumber: (column) => column > 0,
    rows: rows.map((one) =>
      present(
        one.name,
        figure(one.people),
        withRange(one.policy.credits),
        figure(one.beside.credits.middle),
        figure(one.kept),
        hasMoney && money(one.keptMoney ?? 0),
        withRange(one.policy.blockedPeople),
        withRange(one.beside.blockedPeople),
        `${withRange(one.policy.blockedDays)} of ${figure(one.workingDays)}`,
        withRange(one.beside.blockedDays),
      ),
    ),
  }
}

/** The middle of a band, with its ends where they differ; `-` where it is not known. */
function withRange(banded: Banded | undefined): string {
  if (!banded) return '-'
  const text = range(banded)
  return text === undefined ? figure(banded.middle) : `${figure(banded.middle)} (${text})`
}

const left = ({ rows: { length } }: List): string => (length > VISIBLE ? `… and ${length - VISIBLE} more; --output json has all` : '')

/** Short enough for a comment on a pull request: all but the verdict and the cycles is folded. */
export const renderSimulationMarkdown = (simulations: readonly Simulation[]): string =>
  markdownText(
    simulations.flatMap((simulation) => [
      `### ${escaped(simulation.workspace)}: simulation`,
      escaped(verdictOf(simulation)),
      markdownTable(cyclesOf(simulation)),
      ...listsOf(simulation).map((list) => folded(escaped(list.title), markdownTable(list))),
      folded('What recorded use cannot tell', simulation.notes.map((note) => `- ${escaped(note)}`).join('\n')),
    ]),
  )

function markdownTable(list: List): string {
  const rows = list.rows.slice(0, VISIBLE).map(([name = '', ...rest]) => row([code(name), ...rest.map((cell) => escaped(cell))]))
  const more = left(list)
  return `${tableText(list.heads, rows)}${more && `\n\n${more}`}`
}

/** Simulations as text, a blank line between blocks. */
export const renderSimulationText = (simulations: readonly Simulation[], paint: Paint = unpainted): string =>
  blocksText(
    simulations.flatMap((simulation) => {
      const { workspace, policy, notes } = simulation
      const title = `${workspace}: policy ${policy.digest} over ${cyclesText(simulation)}, ${spanText(simulation)}, beside ${besideText(simulation)}`
      return [
        [paint('bold', plain(title)), ...wrap(verdictOf(simulation), WIDTH)],
        textTable(cyclesOf(simulation), paint),
        ...listsOf(simulation).map((list) => [`${list.title}:`, ...textTable(list, paint).map((line) => `  ${line}`)]),
        notes.flatMap((note) =>
          wrap(`note: ${plain(note)}`, WIDTH).map((line, index) => paint('dim', index === 0 ? line : `      ${line}`)),
        ),
      ]
    }),
  )

function textTable(list: List, paint: Paint): readonly string[] {
  const shown = list.rows.slice(0, VISIBLE).map((cells) => cells.map(plain))
  const [heads = '', ...body] = columns([list.heads.map((head) => head.toUpperCase()), ...shown], list.isNumber)
  return present(paint('dim', heads), body, left(list) || false)
}
