// A report, and a simulation, as one self-contained page each, to print or to mail: no script, nothing to fetch, every value escaped.
import { type Html, html } from '../core/escape/text.ts'
import { DAY_MS } from '../core/model/units.ts'
import { attributeOf, changesLine, headlinesOf, type Report, type ReportRow, subjectOf } from '../core/use/report.ts'
import { stackChart } from './chart/bars.ts'
import { chartFigure } from './chart/chart.ts'
import { cycleChart } from './chart/cycle.ts'
import { type ComparedFigures, simulatedParts } from './pages/simulated.ts'
import { badge, facts } from './parts.ts'
import { STYLE } from './style.generated.ts'
import { column, compactTable, table } from './tables.ts'
import { BAND_TEXT, capText, day, instant, number, plural } from './words.ts'

/** Without navigation, so the contents take the whole width of the paper. */
const ALONE = 'main { max-width: 72rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; } main > header { margin-bottom: 1rem; }'

// Not escaped: it is made of constants.
const styleSheet: Html = { markup: `${STYLE}${ALONE}` }

/** The whole document for all workspaces. */
export const renderReportPage = (reports: readonly Report[], now: number): string =>
  page(
    { title: 'capkeeper report', heading: 'Credits report', now },
    reports.map((report) => reportSection(report, now)),
  )

/** A self-contained page around sections. */
export function page(about: { readonly title: string; readonly heading: string; readonly now: number }, sections: readonly Html[]): string {
  const at = new Date(about.now).toISOString()
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${about.title}</title>
<link rel="icon" href="data:,">
<style>${styleSheet}</style>
</head>
<body>
<main><header><h1>${about.heading}</h1><p class="soft">made by capkeeper, ${instant(at)}</p></header>
${sections}</main>
</body>
</html>
`.markup
}

export const rfc = (at: number): string => new Date(at).toISOString()

function reportSection(report: Report, now: number): Html {
  const { workspace, which, cycle, notes } = report
  return html`<section><div class="title"><h2>${workspace}</h2>${badge(`${which} cycle`)}
<span class="soft">${day(rfc(cycle.startAt))} to ${day(rfc(cycle.endAt))}</span></div>
${factsOf(report)}
${charts(report, now)}
${report.rows.length > 0 && useTable(report)}
${nearTable(report)}
<p>${changesLine(report)}.</p>
${notes.length > 0 && html`<ul class="soft">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}</section>
`
}

/** Runs say when credits were used; the roster says how many are used by now. */
function charts({ cycle, days = [], totals, projected, exhaustedAt, which, workspace }: Report, now: number): Html | false {
  if (days.length === 0) return false
  let sum = 0
  const points = days.map(({ at, byModel }) => {
    sum += Object.values(byModel).reduce((all, amount) => all + amount, 0)
    return { at: Math.min(at + DAY_MS, now, cycle.endAt), value: sum }
  })
  const budget = totals.included === undefined || totals.addOnAvailable === undefined ? undefined : totals.included + totals.addOnAvailable
  const present = which === 'current' && totals.used !== undefined ? [{ at: now, value: Math.max(sum, totals.used) }] : []
  const chart = cycleChart({
    ...cycle,
    now,
    used: [{ at: cycle.startAt, value: 0 }, ...points.filter(({ at }) => at < now || which === 'previous'), ...present],
    budget,
    projected,
    exhaustedAt,
  })
  const burn = stackChart({
    id: `burn-${workspace}`,
    title: 'Credits burned by day and model',
    noun: 'model',
    days: days.map(({ at, byModel }) => ({ at, parts: new Map(Object.entries(byModel)) })),
  })
  return html`${chartFigure({ ...chart, id: `cycle-${workspace}` }, 3)}${chartFigure(burn, 3)}`
}

const factsOf = (report: Report): Html | false =>
  facts(
    headlinesOf(report).map(({ name, value, unit = '' }) => [
      name,
      typeof value === 'string' ? value : `${number(value)} ${unit}`.trimEnd(),
    ]),
  )

const FIGURES: readonly (readonly [head: string, value: (row: ReportRow) => number | string | undefined])[] = [
  ['People', ({ people }) => people],
  ['Used', ({ used }) => used],
  ['Share', ({ share }) => (share === undefined ? undefined : `${number(share * 100)} %`)],
  ['Add-on use', ({ addOn }) => addOn],
  ['Cap', ({ cap }) => (cap === undefined ? undefined : capText(cap))],
  ['Head-room', ({ headRoom }) => headRoom],
  ['Without a cap', ({ uncapped }) => uncapped],
  ['Cost', ({ cost }) => cost],
  ['Add-on source', ({ addOnSource }) => addOnSource],
]

/** Columns without any figure are left out. */
function useTable({ by, rows }: Report): Html {
  const heading = `Use by ${by === 'user' ? 'person' : (attributeOf(by) ?? by)}`
  const known = FIGURES.filter(([, value]) => rows.some((row) => value(row) !== undefined))
  const text = (value: number | string | undefined) => (typeof value === 'number' ? number(value) : value)
  return html`<h3>${heading}</h3>${table(heading, rows, [
    column.row(subjectOf(by), (row) => html`${row.name}${row.key.startsWith('group:') && html` <code>${row.key}</code>`}`),
    ...known.map(([head, value]) => column.number(head, (row: ReportRow) => text(value(row)))),
  ])}`
}

function nearTable({ near }: Report): Html | false {
  if (near.length === 0) return false
  const heading = `${plural(near.length, 'person', 'people')} at 85 % of their cap or more`
  return html`<h3>${heading}</h3>${compactTable(heading, near, [
    column.row('Person', ({ email }) => email),
    column.count('Add-on use', ({ addOn }) => addOn),
    column.count('Cap', ({ cap }) => cap),
    column.fixed('Band', ({ band }) => BAND_TEXT[band]),
  ])}`
}

/** A comparison of the workspace's policy with what was in force, or with another one. */
interface Simulated {
  readonly workspace: string
  readonly beside: 'in force' | 'against'
  readonly figures: ComparedFigures
}

/** The whole document for all workspaces. */
export const renderSimulationPage = (simulations: readonly Simulated[], now: number): string =>
  page(
    { title: 'capkeeper simulation', heading: 'Simulation', now },
    simulations.map(
      ({
        workspace,
        beside,
        figures,
      }) => html`<section><div class="title"><h2>${workspace}</h2>${badge(`policy ${figures.policy.digest}`)}</div>
${simulatedParts(figures, { beside, policy: 'this policy' })}</section>
`,
    ),
  )
