// A simulation as text and as Markdown, and their words. Long lists are cut with a count; JSON has all of it.
import { code, escaped, folded, markdownText, plain, row, tableText } from '../../core/escape/text.ts'
import { type Banded, isBesideKnown, type SimulationRow } from '../../core/use/replay/document.ts'
import type { BlockedPerson, PersonChange, Simulation } from '../../core/use/replay/simulation.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { blocksText, columns, count, dayText, padEnd, people, present, wrap } from '../shared/text.ts'

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
const besideText = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'what was in force' : `policy ${beside.digest}`)

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
function blockedText(simulation: Simulation, person: BlockedPerson, side: 'policy' | 'beside'): string {
  const { workingDays, cycleStartAt, [side]: one } = person
  if (side === 'beside' && !isBesideKnown(simulation, cycleStartAt)) return '-'
  return one ? `${figure(one.days)} of ${figure(workingDays)} days from ${dayText(one.fromAt)}` : 'not blocked'
}

/** The cells of a person who was blocked; `name`: how the format writes who it is. */
const blockedCells = (simulation: Simulation, one: BlockedPerson, name: (email: string) => string): readonly string[] => [
  name(one.email),
  dayText(one.cycleStartAt),
  blockedText(simulation, one, 'policy'),
  figure(one.policy?.cap ?? 0),
  blockedText(simulation, one, 'beside'),
]

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

// As Markdown, short enough for a comment on a pull request: the verdict, a line for each cycle, and the rest folded.

/** Lines shown of each list. */
const VISIBLE = 20

export const renderSimulationMarkdown = (simulations: readonly Simulation[]): string => markdownText(simulations.flatMap(markdownBlocks))

function markdownBlocks(simulation: Simulation): readonly string[] {
  const { workspace, cycles, gains, losses, notes } = simulation
  const blocked = simulation.blocked.filter(({ policy }) => policy)
  const unreached = neverReached(simulation)
  const groupRows = cycles.flatMap(({ startAt, groups }) =>
    groups.slice(0, VISIBLE).map((group) => [`${dayText(startAt)} ${escaped(group.name)}`, group] as const),
  )
  const poolRows = cycles.flatMap(({ startAt, pools }) =>
    pools.slice(0, VISIBLE).map((pool) => [`${dayText(startAt)} ${escaped(pool.name)} (${figure(pool.credits)} credits)`, pool] as const),
  )
  const cycleRows = cycles.map(({ startAt, total }) => [dayText(startAt), total] as const)
  return [
    `### ${escaped(workspace)}: simulation`,
    escaped(verdictOf(simulation)),
    figures(simulation, 'Cycle', cycleRows),
    folded('By group', figures(simulation, 'Cycle, group', groupRows)),
    folded('By pool', figures(simulation, 'Cycle, pool', poolRows)),
    folded(`${people(new Set(blocked.map(({ email }) => email)).size)} blocked`, blockedTable(simulation, blocked)),
    folded(`${people(gains.length)} would gain`, changes(gains)),
    folded(`${people(losses.length)} would lose`, changes(losses)),
    folded(`Caps never reached: ${unreached.length}`, unreachedTable(unreached)),
    folded('What recorded use cannot tell', notes.map((note) => `- ${escaped(note)}`).join('\n')),
  ]
}

const cut = ({ length }: readonly unknown[]): string => (length > VISIBLE ? `\n\n… and ${length - VISIBLE} more.` : '')

function figures(simulation: Simulation, subject: string, rows: readonly (readonly [string, SimulationRow])[]): string {
  const beside = besideTitle(simulation)
  const hasMoney = simulation.pricePerCredit !== undefined
  const credits = [`Credits ${beside}`, 'Credits', 'Kept', hasMoney && 'Money kept'] as const
  return tableText(
    present(subject, 'People', ...credits, `Blocked ${beside}`, 'Blocked', 'Days blocked'),
    rows.map(([name, one]) =>
      row(
        present(
          name,
          figure(one.people),
          figure(one.beside.credits.middle),
          withRange(one.policy.credits),
          figure(one.kept),
          hasMoney && money(one.keptMoney ?? 0),
          middle(one.beside.blockedPeople),
          withRange(one.policy.blockedPeople),
          `${withRange(one.policy.blockedDays)} of ${figure(one.workingDays)}`,
        ),
      ),
    ),
  )
}

const withRange = (banded: SimulationRow['policy']['credits']): string => {
  const text = range(banded)
  return text === undefined ? figure(banded.middle) : `${figure(banded.middle)} (${text})`
}

function blockedTable(simulation: Simulation, blocked: Simulation['blocked']): string {
  const rows = blocked.slice(0, VISIBLE).map((one) => row(blockedCells(simulation, one, code)))
  const beside = simulation.beside.kind === 'inForce' ? 'In force' : 'Against'
  return tableText(['Person', 'Cycle', 'Blocked', 'Cap', beside], rows) + cut(blocked)
}

function unreachedTable(caps: Simulation['caps']): string {
  const rows = caps.slice(0, VISIBLE).map(({ scope, cap, highest }) => row([code(scope), figure(cap), figure(highest)]))
  return tableText(['Scope', 'Cap', 'Highest use'], rows) + cut(caps)
}

function changes(list: Simulation['gains']): string {
  const lines = list.slice(0, VISIBLE).map((one) => `- ${code(one.email)}: ${escaped(changeText(one))}`)
  return lines.join('\n') + cut(list)
}

// As text, on about one screen: the verdict, a line for each cycle and group, then people and caps.

/** Groups shown for each cycle, people and caps of each list. */
const ON_SCREEN = { groups: 8, blocked: 8, changed: 3, caps: 6 }
/** With more lines than this for groups, only the last cycle shows its groups. */
const GROUP_LINES = 18
const WIDTH = 110

/** Simulations as text, a blank line between blocks. */
export const renderSimulationText = (simulations: readonly Simulation[], paint: Paint = unpainted): string =>
  blocksText(simulations.flatMap((one) => textBlocks(one, paint)))

function textBlocks(simulation: Simulation, paint: Paint): readonly (readonly string[])[] {
  const { workspace, policy, notes } = simulation
  const title = `${workspace}: policy ${policy.digest} over ${cyclesText(simulation)}, ${spanText(simulation)}, beside ${besideText(simulation)}`
  return [
    [paint('bold', plain(title)), ...wrap(verdictOf(simulation), WIDTH)],
    table(simulation, paint),
    blockedBlock(simulation, paint),
    listsOf(simulation),
    notes.flatMap((note) => wrap(`note: ${plain(note)}`, WIDTH).map((line, index) => paint('dim', index === 0 ? line : `      ${line}`))),
  ]
}

function table(simulation: Simulation, paint: Paint): readonly string[] {
  const hasMoney = simulation.pricePerCredit !== undefined
  const beside = besideTitle(simulation)
  const heads = [
    present('', '', 'ADD-ON CREDITS', '', '', hasMoney && '', 'PEOPLE BLOCKED', '', 'DAYS BLOCKED', '', ''),
    present('CYCLE', 'PEOPLE', beside, 'policy', 'kept', hasMoney && 'money', beside, 'policy', beside, 'policy', 'of'),
  ]
  const { cycles } = simulation
  const isLong = cycles.reduce((sum, one) => sum + Math.min(ON_SCREEN.groups, one.groups.length), 0) > GROUP_LINES
  const rows = cycles.flatMap(({ startAt, total, groups: all, pools }, index) => {
    const groups = isLong && index < cycles.length - 1 ? [] : all
    return [
      cells(dayText(startAt), total, hasMoney),
      ...groups.slice(0, ON_SCREEN.groups).map((group) => cells(`  ${plain(group.name)}`, group, hasMoney)),
      ...(groups.length > ON_SCREEN.groups ? [[`  … and ${count(groups.length - ON_SCREEN.groups, 'more group')}`]] : []),
      ...pools.slice(0, ON_SCREEN.groups).map((pool) => cells(`  ${plain(pool.name)} (${figure(pool.credits)})`, pool, hasMoney)),
      ...(pools.length > ON_SCREEN.groups ? [[`  … and ${count(pools.length - ON_SCREEN.groups, 'more pool')}`]] : []),
    ]
  })
  const [first = '', second = '', ...body] = columns([...heads, ...rows], (column) => column > 0)
  return [paint('dim', first), paint('dim', second), ...body, ...ranges(simulation)]
}

function cells(name: string, { people: held, beside, policy, kept, keptMoney, workingDays }: SimulationRow, hasMoney: boolean) {
  const credits = [figure(beside.credits.middle), figure(policy.credits.middle), figure(kept)]
  const saved = hasMoney && (keptMoney === undefined ? '' : money(keptMoney))
  const blocked = [beside.blockedPeople, policy.blockedPeople, beside.blockedDays, policy.blockedDays].map(middle)
  return present(name, figure(held), credits, saved, blocked, figure(workingDays))
}

/** The ranges of figures that are uncertain, because people were at a cap. */
function ranges(simulation: Simulation): readonly string[] {
  const [{ cycles }, title] = [simulation, besideTitle(simulation)]
  return cycles.flatMap(({ startAt, total: { policy, beside } }) => {
    const parts = [
      ['credits', range(policy.credits)],
      ['people blocked', range(policy.blockedPeople)],
      ['days blocked', range(policy.blockedDays)],
      [`people blocked ${title}`, beside.blockedPeople && range(beside.blockedPeople)],
    ].flatMap(([of, text]) => (text === undefined ? [] : [`${text} ${of}`]))
    return parts.length === 0 ? [] : [`range ${dayText(startAt)}: ${parts.join(', ')}`]
  })
}

function blockedBlock(simulation: Simulation, paint: Paint): readonly string[] {
  const listed = simulation.blocked.filter(({ policy }) => policy)
  if (listed.length === 0) return []
  const beside = besideTitle(simulation)
  const head = ['BLOCKED UNDER THIS POLICY', 'CYCLE', 'BLOCKED', 'CAP', beside.toUpperCase()]
  const rows = listed.slice(0, ON_SCREEN.blocked).map((one) => blockedCells(simulation, one, plain))
  const [title = '', ...body] = columns([head, ...rows], (column) => column === 3)
  const left = listed.length - rows.length
  return present(paint('dim', title), body, left > 0 && `… and ${left} more; --output json has all`)
}

function listsOf(simulation: Simulation): readonly string[] {
  const { gains, losses } = simulation
  const unreached = neverReached(simulation)
  const changed = (list: Simulation['gains']): string => {
    const named = list.slice(0, ON_SCREEN.changed).map((one) => `${plain(one.email)} (${changeText(one)})`)
    return `${people(list.length)}: ${named.join('; ')}${list.length > named.length ? '; …' : ''}`
  }
  const caps = unreached
    .slice(0, ON_SCREEN.caps)
    .map(({ scope, cap, highest }) => `${plain(scope)} ${figure(cap)} (highest ${figure(highest)})`)
  const left = unreached.length - caps.length
  const lines = [
    ['Gain', gains.length > 0 && changed(gains)],
    ['Lose', losses.length > 0 && changed(losses)],
    ['Caps never reached', unreached.length > 0 && `${caps.join(', ')}${left > 0 ? `, … ${left} more` : ''}`],
  ].flatMap(([name, text]) => (name && text ? [{ name, text }] : []))
  const indent = Math.max(...lines.map(({ name }) => name.length)) + 2
  return lines.flatMap(({ name, text }) =>
    wrap(text, WIDTH - indent).map((line, index) => `${padEnd(index === 0 ? name : '', indent)}${line}`),
  )
}
