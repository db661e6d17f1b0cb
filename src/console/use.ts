// The part about use: people by how near they are to their cap, the balance, declared groups. All of it with its age.

import { type Html, html } from '../core/escape/html.ts'
import { BANDS } from '../core/model/events.ts'
import type { AddOnSource } from '../core/use/add-on.ts'
import type { BurnSummary, UseSummary, WorkspaceStatus } from '../daemon/http/status-document.ts'
import { ago, BAND_TEXT, capText, day, instant, number, plural } from './text.ts'

export function useSection({ use, balance, burn, groups }: WorkspaceStatus, now: string): Html | false {
  if (!use && !balance) return false
  return html`<h3>Use in this cycle</h3>
<dl>
${use && fact('People', html`${number(use.people)} <span class="soft">read ${ago(use.readAt, now)}</span>`)}
${use?.used !== undefined && fact('Credits used', number(use.used))}
${use && addOnFact(use.addOn, now)}
${balance && fact('Add-on credits used', html`${number(balance.addOnUsed)} <span class="soft">read ${ago(balance.readAt, now)}</span>`)}
${balance && fact('Add-on credits available', number(balance.addOnAvailable))}
${balance && fact('Seats', `${number(balance.seats)}, ${number(balance.creditsPerSeat)} credits each`)}
${use?.cycleEnd !== undefined && use.cycleStart !== undefined && fact('Cycle', `${day(use.cycleStart)} to ${day(use.cycleEnd)}`)}
${burn && burnFacts(burn)}
</dl>
${use && bandBar(use)}
${use && nearCapTable(use)}
${burn && modelTable(burn)}
${groups.length > 0 && groupTable(groups)}`
}

/** What people's add-on use is taken from; an upper bound is worth no sum. */
function addOnFact({ source, credits, readAt, latestDay, notMeasured }: UseSummary['addOn'], now: string): Html | false {
  if (credits === undefined || source === 'upperBound') return false
  const age = readAt === undefined ? '' : html`, read ${ago(readAt, now)}${latestDay !== undefined && html`, up to ${latestDay}`}`
  const why = notMeasured === undefined ? '' : `, ${NOT_MEASURED[notMeasured]}`
  return fact('Add-on use of people', html`${number(credits)} <span class="soft">${SOURCE_TEXT[source]}${age}${why}</span>`)
}

const SOURCE_TEXT: Readonly<Record<AddOnSource, string>> = { measured: 'measured', estimated: 'estimated', upperBound: 'at most' }
const NOT_MEASURED = { absent: 'the service does not tell it', denied: 'the key lacks Analytics Read' } as const

const fact = (name: string, value: Html | string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** Paces are shown to one digit, as they are worth no more. */
function burnFacts({ ratios, projected, exhaustion }: BurnSummary): Html {
  const paces = Object.entries(ratios).map(([window, ratio]) => `${number(ratio)} in ${window}`)
  return html`${paces.length > 0 && fact('Pace, 1 is even to the end', paces.join(', '))}
${
  projected &&
  fact(
    'Credits used at the end',
    html`${whole(projected.p50)} <span class="soft">likely ${whole(projected.p10)} to ${whole(projected.p90)}</span>`,
  )
}
${exhaustion !== undefined && fact('Add-on credits run out', instant(exhaustion))}`
}

const whole = (amount: number): string => number(Math.round(amount))

function modelTable({ models, modelsOmitted }: BurnSummary): Html | false {
  if (models.length === 0) return false
  return html`<h3>Credits by model</h3><div class="scroll"><table class="compact">
<thead><tr><th>Model</th><th>Mode</th><th class="number">Credits used</th></tr></thead><tbody>${models.map(
    ({ model, mode, used }) =>
      html`<tr><td class="name">${model}</td><td class="name">${mode}</td><td class="number">${number(used)}</td></tr>`,
  )}</tbody></table></div>
${modelsOmitted > 0 && html`<p class="soft">${plural(modelsOmitted, 'more model')} not listed here.</p>`}`
}

function bandBar({ bands, addOn }: UseSummary): Html | false {
  const total = BANDS.reduce((sum, band) => sum + bands[band], 0)
  if (total === 0) return false
  let x = 0
  const parts = BANDS.map((band) => {
    const width = (bands[band] / total) * 100
    x += width
    return html`<rect class="band-${band}" x="${x - width}" y="0" width="${width}" height="10"></rect>`
  })
  return html`<h3>People by ${addOn.source === 'measured' ? 'measured' : 'estimated'} add-on use of their cap</h3>
<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
<ul class="legend">${BANDS.map((band) => html`<li><span class="swatch band-${band}"></span>${BAND_TEXT[band]}: ${number(bands[band])}</li>`)}</ul>`
}

function nearCapTable({ nearCap, nearCapOmitted, addOn }: UseSummary): Html | false {
  if (nearCap.length === 0) return false
  const rows = nearCap.map(
    ({ person, cap, used, band }) => html`<tr><td class="name">${person}</td><td class="number">${capText(cap)}</td>
<td class="number">${used === undefined ? 'unknown' : number(used)}</td><td class="fixed">${BAND_TEXT[band]}</td></tr>`,
  )
  return html`<h3>Near or at their cap</h3><div class="scroll"><table class="compact">
<thead><tr><th>Person</th><th class="number">Cap</th><th class="number">${addOn.source === 'measured' ? 'Measured' : 'Estimated'} add-on use</th><th>Band</th></tr></thead><tbody>${rows}</tbody></table></div>
${nearCapOmitted > 0 && html`<p class="soft">${plural(nearCapOmitted, 'more person', 'more people')} not listed here.</p>`}`
}

const groupTable = (groups: WorkspaceStatus['groups']): Html => html`<h3>Declared groups</h3><div class="scroll"><table class="compact">
<thead><tr><th>Group</th><th>Id</th><th class="number">Members</th><th class="number">Credits used</th></tr></thead>
<tbody>${groups.map(
  ({ id, name, members, used }) => html`<tr><td class="name">${name}</td><td class="name"><code>${id}</code></td>
<td class="number">${number(members)}</td><td class="number">${used === undefined ? 'unknown' : number(used)}</td></tr>`,
)}</tbody></table></div>`
