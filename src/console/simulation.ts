// A simulation as one self-contained page: no script, nothing to fetch, every value escaped. Charts compare the cycles, tables have all figures.

import { type Html, html } from '../core/escape/html.ts'
import type { BlockedPerson, PersonChange, Simulation, SimulationRow } from '../core/use/replay/document.ts'
import { compareChart } from './chart/person.ts'
import { rowsTable } from './pages/simulated.ts'
import { type Column, column, day, number, plural, table } from './parts.ts'
import { page, rfc } from './report.ts'

/** Lines of each list; JSON has all. */
const VISIBLE = 200

/** The whole document for all workspaces. */
export const renderSimulationPage = (simulations: readonly Simulation[], now: number): string =>
  page({ title: 'capkeeper simulation', heading: 'Simulation', now }, simulations.map(section))

const besideTitle = ({ beside }: Simulation): string => (beside.kind === 'inForce' ? 'in force' : 'against')

function section(simulation: Simulation): Html {
  const { workspace, policy, cycles, notes } = simulation
  return html`<section><div class="title"><h2>${workspace}</h2><span class="badge">policy ${policy.digest}</span>
<span class="soft">${plural(cycles.length, 'cycle')}, beside ${simulation.beside.kind === 'inForce' ? 'what was in force' : `policy ${simulation.beside.digest}`}</span></div>
${comparison(simulation, 'Days on which people were blocked', ({ blockedDays }) => blockedDays.middle)}
${comparison(simulation, 'Credits used', ({ credits }) => credits.middle)}
${figures(
  simulation,
  'Cycles',
  cycles.map(({ startAt, isWhole, total }) => [`${day(rfc(startAt))}${isWhole ? '' : ' (in part)'}`, total]),
)}
${cycles.map(
  ({ startAt, groups }) =>
    groups.length > 0 &&
    figures(
      simulation,
      `Groups, cycle of ${day(rfc(startAt))}`,
      groups.map((group) => [group.name, group]),
    ),
)}
${cycles.map(
  ({ startAt, pools }) =>
    pools.length > 0 &&
    figures(
      simulation,
      `Pools, cycle of ${day(rfc(startAt))}`,
      pools.map((pool) => [`${pool.name} (${number(pool.credits)} credits)`, pool]),
    ),
)}
${blockedTable(simulation)}${changesTable('Who gains', simulation, simulation.gains)}${changesTable('Who loses', simulation, simulation.losses)}${capsTable(simulation)}
<h3>What recorded use cannot tell</h3><ul class="soft">${notes.map((note) => html`<li>${note}</li>`)}</ul></section>
`
}

/** One figure of each cycle under both sides. */
function comparison(simulation: Simulation, title: string, figure: (side: SimulationRow['policy']) => number): Html | false {
  const { cycles } = simulation
  return (
    cycles.length > 0 &&
    compareChart({
      title,
      head: 'Cycle',
      names: { beside: besideTitle(simulation), policy: 'this policy' },
      rows: cycles.map(({ startAt, total }) => ({ name: day(rfc(startAt)), beside: figure(total.beside), policy: figure(total.policy) })),
    })
  )
}

function figures(simulation: Simulation, heading: string, rows: readonly (readonly [string, SimulationRow])[]): Html {
  const shown = rows.map(([name, row]) => ({ ...row, shown: name }))
  return html`<h3>${heading}</h3>${rowsTable(heading, '', shown, besideTitle(simulation))}`
}

/** A list as a table of bounded length; nothing where it is empty. */
function listed<Row>(heading: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html | false {
  const more = rows.length - VISIBLE
  return (
    rows.length > 0 &&
    html`<h3>${heading}</h3>${table(heading, rows.slice(0, VISIBLE), columns, 'compact')}${more > 0 && html`<p class="soft">and ${number(more)} more; --output json has all</p>`}`
  )
}

function blockedTable(simulation: Simulation): Html | false {
  const daysText = ({ workingDays, ...sides }: BlockedPerson, side: 'policy' | 'beside'): string => {
    const one = sides[side]
    return one ? `${number(one.days)} of ${number(workingDays)} days from ${day(rfc(one.fromAt))}` : 'not blocked'
  }
  return listed(
    'Blocked under this policy',
    simulation.blocked.filter(({ policy }) => policy),
    [
      column.row('Person', ({ email }) => email),
      column.fixed('Cycle', ({ cycleStartAt }) => day(rfc(cycleStartAt))),
      column.plain('Blocked', (one) => daysText(one, 'policy')),
      column.number('Cap', ({ policy }) => number(policy?.cap ?? 0)),
      column.plain(besideTitle(simulation), (one) => daysText(one, 'beside')),
    ],
  )
}

function changesTable(heading: string, simulation: Simulation, list: readonly PersonChange[]): Html | false {
  const beside = besideTitle(simulation)
  return listed(heading, list, [
    column.row('Person', ({ email }) => email),
    column.number(`Blocked days ${beside}`, ({ blockedDays }) => number(blockedDays.beside)),
    column.number('Blocked days', ({ blockedDays }) => number(blockedDays.policy)),
    column.number(`Credits ${beside}`, ({ credits }) => number(credits.beside)),
    column.number('Credits', ({ credits }) => number(credits.policy)),
  ])
}

const capsTable = ({ caps }: Simulation): Html | false =>
  listed(
    'Caps never reached',
    caps.filter(({ isReached }) => !isReached),
    [
      column.row('Scope', ({ scope }) => scope),
      column.number('Cap', ({ cap }) => number(cap)),
      column.number('Highest use', ({ highest }) => number(highest)),
    ],
  )
