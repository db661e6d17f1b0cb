// A simulation as one self-contained page: no script, nothing to fetch, every value escaped. Charts compare the cycles, tables have all figures.

import { type Html, html } from '../core/escape/html.ts'
import type { BlockedPerson, PersonChange, Simulation, SimulationRow } from '../core/use/replay/document.ts'
import { compareChart } from './chart/compare.ts'
import { page } from './report.ts'
import { day, number, plural } from './text.ts'

/** Lines shown of each list; JSON has all. */
const VISIBLE = 200

/** The whole document for all workspaces. */
export const renderSimulationPage = (simulations: readonly Simulation[], now: number): string =>
  page({ title: 'capkeeper simulation', heading: 'Simulation', now }, simulations.map(section))

const rfc = (at: number): string => new Date(at).toISOString()

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
  const beside = besideTitle(simulation)
  const hasMoney = simulation.pricePerCredit !== undefined
  const heads = [
    'People',
    `Credits ${beside}`,
    'Credits',
    'Range',
    'Kept',
    ...(hasMoney ? ['Money kept'] : []),
    `Blocked ${beside}`,
    'Blocked',
    `Days ${beside}`,
    'Days blocked',
    'Working days',
  ]
  return html`<h3>${heading}</h3><div class="scroll"><table>
<thead><tr><th></th>${heads.map((head) => html`<th class="number">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name, row]) => html`<tr><td class="name">${name}</td>${cells(row, hasMoney).map((cell) => html`<td class="number">${cell}</td>`)}</tr>
`,
  )}</tbody></table></div>`
}

const cells = ({ people, policy, beside, kept, keptMoney, workingDays }: SimulationRow, hasMoney: boolean): readonly string[] => [
  number(people),
  number(beside.credits.middle),
  number(policy.credits.middle),
  policy.credits.low === policy.credits.high ? '' : `${number(policy.credits.low)} to ${number(policy.credits.high)}`,
  number(kept),
  ...(hasMoney ? [keptMoney === undefined ? '' : number(keptMoney)] : []),
  number(beside.blockedPeople.middle),
  number(policy.blockedPeople.middle),
  number(beside.blockedDays.middle),
  number(policy.blockedDays.middle),
  number(workingDays),
]

const left = (length: number): Html | false =>
  length > VISIBLE && html`<p class="soft">and ${number(length - VISIBLE)} more; --output json has all</p>`

function blockedTable(simulation: Simulation): Html | false {
  const listed = simulation.blocked.filter(({ policy }) => policy)
  if (listed.length === 0) return false
  const words = ({ workingDays, ...sides }: BlockedPerson, side: 'policy' | 'beside'): string => {
    const one = sides[side]
    return one ? `${number(one.days)} of ${number(workingDays)} days from ${day(rfc(one.fromAt))}` : 'not blocked'
  }
  return html`<h3>Blocked under this policy</h3><div class="scroll"><table class="compact">
<thead><tr><th>Person</th><th>Cycle</th><th>Blocked</th><th class="number">Cap</th><th>${besideTitle(simulation)}</th></tr></thead>
<tbody>${listed.slice(0, VISIBLE).map(
    (
      one,
    ) => html`<tr><td class="name">${one.email}</td><td class="fixed">${day(rfc(one.cycleStartAt))}</td><td>${words(one, 'policy')}</td><td class="number">${number(one.policy?.cap ?? 0)}</td><td>${words(one, 'beside')}</td></tr>
`,
  )}</tbody></table></div>${left(listed.length)}`
}

function changesTable(heading: string, simulation: Simulation, list: readonly PersonChange[]): Html | false {
  if (list.length === 0) return false
  const beside = besideTitle(simulation)
  return html`<h3>${heading}</h3><div class="scroll"><table class="compact">
<thead><tr><th>Person</th><th class="number">Blocked days ${beside}</th><th class="number">Blocked days</th><th class="number">Credits ${beside}</th><th class="number">Credits</th></tr></thead>
<tbody>${list.slice(0, VISIBLE).map(
    ({
      email,
      credits,
      blockedDays,
    }) => html`<tr><td class="name">${email}</td><td class="number">${number(blockedDays.beside)}</td><td class="number">${number(blockedDays.policy)}</td><td class="number">${number(credits.beside)}</td><td class="number">${number(credits.policy)}</td></tr>
`,
  )}</tbody></table></div>${left(list.length)}`
}

function capsTable({ caps }: Simulation): Html | false {
  const unreached = caps.filter(({ isReached }) => !isReached)
  if (unreached.length === 0) return false
  return html`<h3>Caps never reached</h3><div class="scroll"><table class="compact">
<thead><tr><th>Scope</th><th class="number">Cap</th><th class="number">Highest use</th></tr></thead>
<tbody>${unreached.slice(0, VISIBLE).map(
    ({
      scope,
      cap,
      highest,
    }) => html`<tr><td class="name">${scope}</td><td class="number">${number(cap)}</td><td class="number">${number(highest)}</td></tr>
`,
  )}</tbody></table></div>${left(unreached.length)}`
}
