// A report as one self-contained page, to print or to mail: no script, nothing to fetch, every value escaped.

import { type Html, html } from '../core/escape/html.ts'
import { DAY_MS } from '../core/model/units.ts'
import type { Report, ReportRow } from '../core/use/report.ts'
import { chartFigure } from './chart/chart.ts'
import { cycleChart } from './chart/cycle.ts'
import { stackChart } from './chart/stack.ts'
import { badge } from './parts.ts'
import { STYLE } from './style.ts'
import { BAND_TEXT, capText, day, instant, number, plural } from './text.ts'

/** A report has no navigation: its contents have the whole width of the paper. */
const ALONE = 'main { max-width: 72rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; } main > header { margin-bottom: 1rem; }'

// The one text that is not escaped: constants.
const styleSheet: Html = { markup: `${STYLE}${ALONE}` }

/** The whole document for all workspaces. */
export const renderReportPage = (reports: readonly Report[], now: number): string =>
  page(
    { title: 'capkeeper report', heading: 'Credits report', now },
    reports.map((report) => reportSection(report, now)),
  )

/** A page to print or to mail around sections. */
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

const rfc = (at: number): string => new Date(at).toISOString()

function reportSection(report: Report, now: number): Html {
  const { workspace, which, cycle, notes } = report
  return html`<section><div class="title"><h2>${workspace}</h2>${badge(`${which} cycle`)}
<span class="soft">${day(rfc(cycle.startAt))} to ${day(rfc(cycle.endAt))}</span></div>
${facts(report)}
${charts(report, now)}
${report.rows.length > 0 && table(report)}
${nearTable(report)}
${changesTable(report)}
${notes.length > 0 && html`<ul class="soft">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}</section>
`
}

/** Runs tell when credits went; the roster tells how many are gone by now. */
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
    ...(budget !== undefined && { budget }),
    ...(projected && { projected: [{ at: cycle.endAt, ...projected }] }),
    ...(exhaustedAt !== undefined && { exhaustedAt }),
  })
  const burn = stackChart({
    id: `burn-${workspace}`,
    title: 'Credits burned by day and model',
    noun: 'model',
    days: days.map(({ at, byModel }) => ({ at, parts: new Map(Object.entries(byModel)) })),
  })
  return html`${chartFigure({ ...chart, id: `cycle-${workspace}` }, 3)}${chartFigure(burn, 3)}`
}

function facts({ totals, projected, exhaustedAt }: Report): Html {
  const figure = (name: string, value: number | undefined): Html | false =>
    value !== undefined && html`<div><dt>${name}</dt><dd>${number(value)}</dd></div>`
  return html`<dl class="facts">${figure('Credits used', totals.used)}${figure('Included in the seats', totals.included)}
${figure('Add-on credits used', totals.addOnUsed)}${figure('Add-on credits available', totals.addOnAvailable)}
${figure('Cost of the credits used', totals.cost)}${figure('Cost of the add-on credits', totals.addOnCost)}
${projected && html`<div><dt>Expected at the cycle’s end</dt><dd>${number(Math.round(projected.p50))} <span class="soft">80 % between ${number(Math.round(projected.p10))} and ${number(Math.round(projected.p90))}</span></dd></div>`}
${exhaustedAt !== undefined && html`<div><dt>Add-on credits run out</dt><dd>${day(rfc(exhaustedAt))}</dd></div>`}</dl>`
}

interface Column {
  readonly title: string
  readonly value: (row: ReportRow) => number | string | undefined
}

const FIGURES: readonly Column[] = [
  { title: 'People', value: ({ people }) => people },
  { title: 'Used', value: ({ used }) => used },
  { title: 'Share', value: ({ share }) => (share === undefined ? undefined : `${number(share * 100)} %`) },
  { title: 'Add-on use', value: ({ addOn }) => addOn },
  { title: 'Cap', value: ({ cap }) => (cap === undefined ? undefined : capText(cap)) },
  { title: 'Head-room', value: ({ headRoom }) => headRoom },
  { title: 'Without a cap', value: ({ uncapped }) => uncapped },
  { title: 'Cost', value: ({ cost }) => cost },
  { title: 'Add-on source', value: ({ addOnSource }) => addOnSource },
]

const HEADS: Readonly<Record<Report['by'], string>> = { team: 'Team', group: 'Group', user: 'Person', model: 'Model' }

function table({ by, rows }: Report): Html {
  const shown = FIGURES.filter(({ value }) => rows.some((row) => value(row) !== undefined))
  const cell = (value: number | string | undefined): string => (typeof value === 'number' ? number(value) : (value ?? ''))
  return html`<h3>Use by ${by === 'user' ? 'person' : by}</h3><div class="scroll"><table>
<thead><tr><th>${HEADS[by]}</th>${shown.map(({ title }) => html`<th class="number">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (
      row,
    ) => html`<tr><td class="name">${row.name}${row.key.startsWith('group:') && html` <code>${row.key}</code>`}</td>${shown.map(({ value }) => html`<td class="number">${cell(value(row))}</td>`)}</tr>
`,
  )}</tbody></table></div>`
}

function nearTable({ near }: Report): Html | false {
  if (near.length === 0) return false
  return html`<h3>${plural(near.length, 'person', 'people')} at 85 % of their cap or more</h3><div class="scroll"><table class="compact">
<thead><tr><th>Person</th><th class="number">Add-on use</th><th class="number">Cap</th><th>Band</th></tr></thead>
<tbody>${near.map(
    ({
      email,
      addOn,
      cap,
      band,
    }) => html`<tr><td class="name">${email}</td><td class="number">${number(addOn)}</td><td class="number">${number(cap)}</td><td class="fixed">${BAND_TEXT[band]}</td></tr>
`,
  )}</tbody></table></div>`
}

function changesTable({ changes: { applied, failed, latest } }: Report): Html {
  if (latest.length === 0) return html`<h3>Changes by capkeeper</h3><p>None in this cycle.</p>`
  return html`<h3>Changes by capkeeper</h3><p>${plural(applied, 'change')} applied, ${number(failed)} failed; the latest:</p><div class="scroll"><table class="compact">
<thead><tr><th>When</th><th>Scope</th><th class="number">From</th><th class="number">To</th><th>Cause</th><th>Result</th></tr></thead>
<tbody>${latest.map(
    (
      entry,
    ) => html`<tr><td class="fixed">${instant(rfc(entry.at))}</td><td class="name">${scopeText(entry.scope)}</td><td class="number">${capText(entry.from)}</td><td class="number">${capText(entry.to)}</td><td>${entry.cause}</td><td>${entry.result.replaceAll('_', ' ')}</td></tr>
`,
  )}</tbody></table></div>`
}

const scopeText = (scope: Report['changes']['latest'][number]['scope']): string =>
  scope.kind === 'team' ? 'team' : scope.kind === 'group' ? `group:${scope.id}` : scope.email
