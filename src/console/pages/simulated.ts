// The page that compares the policies in force with the caps that were in force: credits kept, blocked people, people who gain or lose, caps
// never reached. Every figure is the middle one of its range; where a cap cut demand off the range is shown too. It decides only how many
// lines are shown.
import { type Html, html, type Value } from '../../core/escape/text.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { compareChart } from '../chart/person.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, figure, paste, section, tile, tiles, when } from '../parts.ts'
import { type Column, column, listSection, table } from '../tables.ts'
import { day, number, percent, plural, url } from '../words.ts'

export type ComparedFigures = NonNullable<Document<'Comparison'>['figures']>
type Cycle = ComparedFigures['cycles'][number]
type Row = Cycle['groups'][number]
type Blocked = ComparedFigures['blocked'][number]
type Change = ComparedFigures['gains'][number]
type Side = 'policy' | 'beside'

/** Lines of a list. */
const VISIBLE = 40
/** Groups of the chart. */
const CHARTED = 12
/** What the two sides are called. */
type Names = Readonly<Record<Side, string>>
const NAMES: Names = { beside: 'as it was', policy: 'these policies' }

/** Without a workspace nothing is a link, and the groups and pools of all cycles are shown; with it those of the last one. */
export function simulatedParts(figures: ComparedFigures, names: Names, workspace?: string): readonly (Html | false)[] {
  const { cycles, notes } = figures
  const detailed = workspace === undefined ? cycles : cycles.slice(-1)
  const { known, part } = onRecord(cycles)
  return [
    totals(figures, names),
    html`<div class="grid">${[
      byCycle(`Days on which people were blocked${part}`, part === '' ? cycles : known, names, ({ blockedDays }) => blockedDays?.middle),
      byCycle('Add-on credits used', cycles, names, ({ credits }) => credits.middle),
    ].map((chart) => html`<section>${chart}</section>`)}</div>`,
    section(
      'Cycle by cycle',
      rowsTable(
        'Cycles',
        'Cycle',
        cycles.map(({ start, total }) => ({ ...total, shown: day(start) })),
        names.beside,
      ),
    ),
    ...detailed.flatMap((cycle) => [
      cycle.groups.length > 0 && groupsPart(cycle, names, workspace),
      cycle.pools.length > 0 && poolsPart(cycle, names),
    ]),
    blockedPart(figures, names, workspace),
    html`<div class="grid">${changesPart('Who gains', figures, 'gains', workspace)}${changesPart('Who loses', figures, 'losses', workspace)}${unreachedPart(figures, workspace)}</div>`,
    section('What recorded use cannot tell', html`<ul class="soft">${notes.map((note) => html`<li>${note}</li>`)}</ul>`),
  ]
}

/** The cycles with caps on record, as it is not known whom caps blocked in others; and which they are, where they are not all. */
function onRecord(cycles: readonly Cycle[]) {
  const known = cycles.filter(({ total }) => total.beside.blockedDays)
  const isPart = known.length > 0 && known.length < cycles.length
  return { known, part: isPart ? ` in the ${plural(known.length, 'cycle')} with caps on record` : '' }
}

const sumOf = (cycles: readonly Cycle[], of: (total: Row) => number): number => cycles.reduce((sum, { total }) => sum + of(total), 0)

function totals(figures: ComparedFigures, names: Names): Html {
  const { cycles, capsReached, pricePerCredit } = figures
  const credits = (side: Side): number => sumOf(cycles, (total) => total[side].credits.middle)
  const { known, part } = onRecord(cycles)
  const days = (of: readonly Cycle[], side: Side): number => sumOf(of, (total) => total[side].blockedDays?.middle ?? 0)
  const [blocked, here, before] = [days(cycles, 'policy'), days(known, 'policy'), days(known, 'beside')]
  const isKnown = known.length > 0
  const kept = sumOf(cycles, (total) => total.kept)
  const money = pricePerCredit === undefined ? undefined : sumOf(cycles, (total) => total.keptMoney ?? 0)
  const worked = sumOf(cycles, ({ workingDays }) => workingDays)
  const all = (list: 'gains' | 'losses' | 'unreached'): number => figures[list].length + figures[`${list}Omitted`]
  const never = all('unreached')
  return tiles([
    tile(
      kept < 0 ? 'More add-on credits spent' : 'Add-on credits kept',
      figure(Math.abs(kept)),
      html`of ${figure(credits('beside'))} used in ${plural(cycles.length, 'cycle')}${money !== undefined && html` · ${number(Math.abs(money))} in money`}`,
    ),
    tile(
      'Working days blocked',
      figure(blocked),
      html`${worked > 0 && `${percent(blocked / worked)} of all · `}${part !== '' && html`${figure(here)} against `}${isKnown ? html`${figure(before)} ${names.beside}${part}` : `${names.beside} is not known`}`,
      here > before && 'warn',
    ),
    tile('People who gain', isKnown ? figure(all('gains')) : '–', 'fewer days blocked, or more credits'),
    tile('People who lose', isKnown ? figure(all('losses')) : '–', 'more days blocked'),
    tile('Caps never reached', figure(never), html`of ${figure(never + capsReached)} that apply to people`),
  ])
}

const byCycle = (title: string, cycles: readonly Cycle[], names: Names, of: (side: Row['beside']) => number | undefined): Html =>
  compareChart({
    level: 2,
    title,
    head: 'Cycle',
    names,
    rows: cycles.map(({ start, total }) => ({ name: day(start), beside: of(total.beside), policy: of(total.policy) ?? 0 })),
  })

type ShownRow = Pick<Row, 'people' | 'workingDays' | 'policy' | 'beside' | 'kept' | 'keptMoney'> & { readonly shown: Value }

function groupsPart({ groups, groupsOmitted, start }: Cycle, names: Names, workspace: string | undefined): Html {
  const isBlocking = groups.some(({ policy, beside }) => policy.blockedDays.middle + (beside.blockedDays?.middle ?? 0) > 0)
  const of = ({ blockedDays, credits }: Row['beside']): number | undefined => (isBlocking ? blockedDays?.middle : credits.middle)
  const charted = groups.slice(0, CHARTED)
  return html`<section>${compareChart({
    level: 2,
    title: `${isBlocking ? 'Days blocked' : 'Add-on credits used'} by group, cycle of ${day(start)}${charted.length < groups.length + groupsOmitted ? `: the ${charted.length} most touched` : ''}`,
    head: 'Group',
    names,
    rows: charted.map(({ name, policy, beside }) => ({ name, policy: of(policy) ?? 0, beside: of(beside) })),
  })}<h3>All figures of the groups</h3>${rowsTable(
    'Groups',
    'Group',
    groups.slice(0, VISIBLE).map((row) => ({
      ...row,
      shown: workspace === undefined || row.key === '-' ? row.name : html`<a href="${url.scope(workspace, row.key)}">${row.name}</a>`,
    })),
    names.beside,
  )}${rest(groups, groupsOmitted, 'group')}</section>`
}

const poolsPart = ({ pools, start }: Cycle, names: Names): Html =>
  section(
    `Pools, cycle of ${day(start)}`,
    rowsTable(
      'Pools',
      'Pool',
      pools.map((pool) => ({ ...pool, shown: html`${pool.name} <span class="soft">${figure(pool.credits)} credits</span>` })),
      names.beside,
    ),
  )

/** All figures of cycles, groups or pools under both sides. `name`: what the policies are compared with. */
function rowsTable(label: string, head: string, rows: readonly ShownRow[], name: string): Html {
  const ranged = rows.some(({ policy }) => policy.credits.low !== policy.credits.high)
  const cells: readonly (Column<ShownRow> | false)[] = [
    column.row(head, ({ shown }) => shown),
    column.amount('People', ({ people }) => people),
    column.amount(`Credits, ${name}`, ({ beside }) => beside.credits.middle),
    column.amount('Credits', ({ policy }) => policy.credits.middle),
    ranged && column.number('Range', ({ policy }) => range(policy.credits)),
    column.amount('Kept', ({ kept }) => kept),
    rows.some(({ keptMoney }) => keptMoney !== undefined) && column.count('Money kept', ({ keptMoney }) => keptMoney),
    column.amount(`People blocked, ${name}`, ({ beside }) => beside.blockedPeople?.middle),
    column.count('People blocked', ({ policy }) => policy.blockedPeople.middle),
    column.amount(`Days, ${name}`, ({ beside }) => beside.blockedDays?.middle),
    column.amount('Days blocked', ({ policy }) => policy.blockedDays.middle),
    column.amount('Working days', ({ workingDays }) => workingDays),
  ]
  return table(
    label,
    rows,
    cells.filter((cell) => cell !== false),
  )
}

const range = ({ low, high }: Row[Side]['credits']): Value => low !== high && html`${figure(low)} to ${figure(high)}`

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** The scope names the row, and is a link where there are pages. */
const scopeColumn = <R>(head: string, workspace: string | undefined, scope: (row: R) => string): Column<R> =>
  workspace === undefined ? column.row<R>(head, scope) : column.scope<R>(head, workspace, scope)

/** Below a list of which the first are shown. */
function rest(all: readonly unknown[], omitted: number, noun: string, many = `${noun}s`): Html | false {
  const left = Math.max(0, all.length - VISIBLE) + omitted
  return (
    left > 0 &&
    html`<p class="soft">and ${plural(left, `more ${noun}`, `more ${many}`)}; <code>capkeeper simulate --output json</code> has all.</p>`
  )
}

function blockedPart({ blocked, blockedOmitted, cycles }: ComparedFigures, names: Names, workspace: string | undefined): Html | false {
  const known = new Set(onRecord(cycles).known.map(({ start }) => start))
  const words = (one: Blocked, side: Side): Value => {
    const stopped = one[side]
    if (side === 'beside' && !known.has(one.cycleStart)) return undefined
    return stopped
      ? html`${number(stopped.days)} of ${number(one.workingDays)} days <span class="soft">from ${day(stopped.from)}</span>`
      : html`<span class="soft">not blocked</span>`
  }
  return listSection(`Blocked under ${names.policy}`, blocked.slice(0, VISIBLE), {
    none: html`<p class="soft">Nobody would have been blocked.</p>`,
    label: 'People who would have been blocked',
    more: rest(blocked, blockedOmitted, 'person', 'people'),
    columns: [
      scopeColumn('Person', workspace, ({ person }) => person),
      column.fixed('Cycle', ({ cycleStart }) => day(cycleStart)),
      column.fixed('Blocked', (one) => words(one, 'policy')),
      column.number('Cap', ({ policy }) => policy && figure(policy.cap)),
      column.fixed(capital(names.beside), (one) => words(one, 'beside')),
    ],
  })
}

function changesPart(title: string, figures: ComparedFigures, which: 'gains' | 'losses', workspace: string | undefined): Html | false {
  const pair = ({ beside, policy }: Change['credits']): Value => html`${figure(beside)} → ${figure(policy)}`
  return listSection(title, figures[which].slice(0, VISIBLE), {
    none: html`<p class="soft">${onRecord(figures.cycles).known.length > 0 ? 'Nobody.' : 'Not known: no cap is on record for these cycles.'}</p>`,
    more: rest(figures[which], figures[`${which}Omitted`], 'person', 'people'),
    columns: [
      scopeColumn('Person', workspace, ({ person }) => person),
      column.number('Days blocked', ({ blockedDays }) => pair(blockedDays)),
      column.number('Add-on credits', ({ credits }) => pair(credits)),
    ],
  })
}

const unreachedPart = ({ unreached, unreachedOmitted }: ComparedFigures, workspace: string | undefined): Html | false =>
  listSection('Caps never reached', unreached.slice(0, VISIBLE), {
    more: rest(unreached, unreachedOmitted, 'cap'),
    columns: [
      scopeColumn('Scope', workspace, ({ scope }) => scope),
      column.amount('Cap', ({ cap }) => cap),
      column.amount('Highest use', ({ highest }) => highest),
      column.number('Of the cap', ({ cap, highest }) => cap > 0 && percent(highest / cap)),
    ],
  })

export const simulatePage: Page = async (documents, { params: { workspace = '' } }) => {
  const comparison = await documents.comparison(workspace)
  const { at, figures, state, madeAt } = comparison
  return renderFrame({
    badges: [
      figures && badge(`policies ${figures.policy.digest}`),
      state === 'running' && badge('replaying', 'info'),
      madeAt !== undefined && figures && html`<span class="soft">made ${when(madeAt, at)}</span>`,
    ],
    of: comparison,
    section: 'simulate',
    parts: [stateBox(comparison), ...(figures ? simulatedParts(figures, NAMES, workspace) : []), tryAnother(workspace)],
  })
}

function stateBox(comparison: Document<'Comparison'>): Html {
  const { figures, state, message } = comparison
  const about = html`<p>The policies in force, replayed over the use of past billing cycles, beside the caps that were in force.</p>`
  switch (state) {
    case 'running':
      return html`${about}${box.info`<p>${figures ? 'A new result is being made; until then the last one is shown.' : 'The result is being made. This page shows it when it is ready; without scripts, reload the page.'}</p>`}`
    case 'failed':
      return html`${about}${box.bad`<p>The replay failed: ${message}. It is tried again in 10 minutes.</p>`}`
    case 'lacking':
      return html`${about}${box.info`<p>There is too little to replay: ${message}.</p>`}`
    case 'made':
      return about
  }
}

const tryAnother = (name: string): Html =>
  section(
    'Before you merge: what would another policy do?',
    html`<p>Compare a change of policy with recorded use before it takes effect. These commands send nothing to the service, and write nothing.</p>
<ol class="steps"><li><strong>Replay it over recorded use</strong> <span class="soft">credits, who would have been blocked and on how many days, caps never reached</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --against policies/`, 'The command that compares two policies')}</li>
<li><strong>As a page with charts</strong> <span class="soft">to mail, or to attach to a pull request</span>${paste(`capkeeper simulate proposed.yaml --workspace ${name} --output html > simulation.html`, 'The command that writes the comparison as a page')}</li>
<li><strong>See the writes it would make now</strong> <span class="soft">and what the guards would hold; this reads caps from the service</span>${paste(`capkeeper plan --workspace ${name} --policies proposed.yaml`, 'The command that shows the plan')}</li>
<li><strong>Let recorded use propose caps</strong>${paste(`capkeeper recommend --workspace ${name}`, 'The command that proposes caps')}</li></ol>
<p class="small soft">The commands read the ledger, so run them beside the daemon, or with the address of its database.</p>`,
  )
