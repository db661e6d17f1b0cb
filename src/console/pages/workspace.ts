// The page of one workspace: what is wrong now, the credits left and when they run out, the cycle so far, and the scopes that are not in sync.
import { type Html, html } from '../../core/escape/text.ts'
import { whileInvalid } from '../../core/model/policy.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { burnOfSeries, driftChart } from '../chart/bars.ts'
import { type Chart, chartFigure } from '../chart/chart.ts'
import { cycleOfSeries } from '../chart/cycle.ts'
import { poolCharts } from '../chart/person.ts'
import { renderFrame } from '../frame.ts'
import {
  badge,
  box,
  empty,
  facts,
  figure,
  modeBadge,
  problemList,
  SEVERITY_WEIGHT,
  section,
  stateBadge,
  tile,
  tiles,
  when,
} from '../parts.ts'
import { column, listSection, moreOf } from '../tables.ts'
import { dayMonth, number, percent, plural, url, withoutWays, withQuery } from '../words.ts'

export const workspacePage: Page = async (documents, { params: { workspace: name = '' } }) => {
  const [one, credits, byGroup, byModel, drift, pools] = await Promise.all([
    documents.workspace(name),
    documents.creditsSeries(name),
    documents.burnSeries(name, { by: 'group' }),
    documents.burnSeries(name, { by: 'model' }),
    documents.driftSeries(name),
    documents.poolSeries(name),
  ])
  const cycle = cycleOfSeries(credits)
  const charts = [burnOfSeries(byGroup), burnOfSeries(byModel), driftChart(drift)].filter((chart) => chart !== undefined)
  return renderFrame({
    heading: one.name,
    badges: html`${badge(one.verdict, one.tone)}${modeBadge(one.mode, one.verdict)}`,
    of: one,
    parts: [
      troubles(one),
      figures(one),
      holdsPart(one),
      html`<section>${cycle ? chartFigure(cycle) : noCycle(one)}</section>`,
      scopesPart(one),
      html`<div class="grid">${charts.map(inSection)}</div>`,
      poolsPart(pools),
      statePart(one),
    ],
  })
}

const inSection = (chart: Chart): Html => html`<section>${chartFigure(chart)}</section>`

/** What keeps capkeeper from writing caps, or from knowing them. */
function troubles(one: Document<'Workspace'>): Html | false {
  const { pause, policy, problems, problemsOmitted, warningTexts, conditions, mode, lastCycle, at } = one
  const boxes = [
    pause &&
      box.warn`<p><strong>Paused.</strong> Nothing is written until ${when(pause.until, at)}. ${pause.reason}</p><p class="small">To go on now: <code>capkeeper resume --workspace ${one.name}</code></p>`,
    mode === 'audit' &&
      box.info`<p><strong>Audit mode.</strong> Caps are read and compared, and nothing is ever written. Set <code>mode: enforce</code> in the config file to keep them.</p>`,
    policy &&
      !policy.valid &&
      box.bad`<p><strong>The policy files are not valid</strong>: ${whileInvalid(policy.digest)}, and nothing is pruned until they are valid again.</p>`,
    policy && !policy.valid && html`${problemList(problems, problemsOmitted)}`,
    lastCycle?.result === 'error' &&
      box.bad`<p><strong>The last cycle failed</strong> ${when(lastCycle.finishedAt, at)}. ${lastCycle.message}</p><p class="small">Until a cycle succeeds caps stay as they are; <a href="${url.section(one.name, 'health')}">health</a> says more.</p>`,
    ...warningTexts.map((text) => warningBox(text, conditions, at)),
    !lastCycle &&
      box.info`<p><strong>The first cycle is under way.</strong> Nothing was compared yet; figures appear here as they are read.</p>`,
  ].filter((part) => part !== undefined && part !== false)
  return boxes.length > 0 && html`${boxes}`
}

/** Weighted by the severity of its condition. */
function warningBox(text: string, conditions: Document<'Workspace'>['conditions'], at: string): Html {
  const condition = conditions.find(({ message }) => message === text)
  const since = condition && html` <span class="small">(since ${when(condition.since, at)})</span>`
  return box[condition ? SEVERITY_WEIGHT[condition.severity] : 'warn']`<p>${text}${since}</p>`
}

function figures(one: Document<'Workspace'>): Html {
  const { balance, use, at, bands, people, scopes, held, cycle, conditions } = one
  const left = balance && balance.addOnAvailable - balance.addOnUsed
  const off = scopes.drifted + scopes.held + scopes.contested
  const unread = scopes.unknown + scopes.rejected
  const hasNone = conditions.some(({ type }) => type === 'BalanceUnavailable' || type === 'NoCaps')
  const isShort = balance !== undefined && left !== undefined && left <= balance.addOnAvailable * 0.1
  return tiles([
    tile(
      'Add-on credits left',
      left === undefined ? 'not known' : figure(left),
      balance
        ? html`of ${figure(balance.addOnAvailable)}, read ${when(balance.readAt, at)}`
        : hasNone
          ? 'this plan has no credit balance'
          : 'the balance of this cycle was not read yet',
      isShort && 'bad',
    ),
    use?.exhaustion !== undefined
      ? tile('Run out', dayMonth(Date.parse(use.exhaustion)), when(use.exhaustion, at), 'bad')
      : use?.lasts
        ? tile('Run out', 'no', cycle && html`not in this cycle, which ends ${when(cycle.end, at)}`, 'good')
        : tile('Run out', 'not known', balance && 'needs 28 days of use, and figures of this cycle'),
    use?.used !== undefined &&
      tile(
        'Credits used',
        figure(use.used),
        use.projected &&
          html`${figure(Math.round(use.projected.p50))} expected at the end, likely ${figure(Math.round(use.projected.p10))} to ${figure(Math.round(use.projected.p90))}`,
      ),
    tile(
      'Holds to decide',
      number(held.length),
      held.length > 0 && html`<a href="${url.section(one.name, 'holds')}">decide</a>`,
      held.length > 0 ? 'warn' : 'good',
    ),
    tile(
      'Caps not in sync',
      off === 0 && scopes.in_sync === 0 && unread > 0 ? 'not known' : number(off),
      `${plural(scopes.in_sync, 'scope')} in sync${unread > 0 ? `, ${number(unread)} unread or refused` : ''}`,
      off > 0 || unread > 0 ? 'warn' : 'good',
    ),
    bands !== undefined &&
      tile(
        'Near or at their cap',
        number(bands['85_to_95'] + bands['95_to_100'] + bands.at_cap),
        html`<a href="${withQuery(url.section(one.name, 'people'), { band: 'at_cap' })}">${number(bands.at_cap)} at it</a>, of ${number(people ?? 0)} people`,
        bands.at_cap > 0 && 'warn',
      ),
  ])
}

const noCycle = ({ use, cycle, lastCycle }: Document<'Workspace'>): Html =>
  html`<h2>Credits over the cycle</h2>${empty(
    use && cycle
      ? 'The service reports no credits used on this plan, so there is nothing to draw.'
      : use
        ? 'The service reports no billing cycle, so there is neither an even pace nor an end to show.'
        : lastCycle
          ? 'People and their use could not be read yet; the health page says why.'
          : 'People and their use were not read yet.',
  )}`

function holdsPart({ held, name, at }: Document<'Workspace'>): Html | false {
  return (
    held.length > 0 &&
    html`<h2 class="hidden">Holds</h2><ul class="needs">${held.map(
      ({
        id,
        guards,
        people,
        message,
        since,
      }) => html`<li class="warn">${guards.map((guard) => badge(guard, 'warn'))}<span class="what"><a href="${url.hold(name, id)}">${withoutWays(message, name)}</a></span>
<span class="where">${plural(people, 'person', 'people')}${since !== undefined && html`, ${when(since, at)}`}</span></li>`,
    )}</ul>`
  )
}

function scopesPart({ attention, attentionOmitted, name, at, scopes }: Document<'Workspace'>): Html | false {
  const total = Object.values(scopes).reduce((sum, count) => sum + count, 0)
  return listSection('Not in sync', attention, {
    label: 'Scopes that are not in sync',
    more: moreOf(attentionOmitted, 'scope'),
    extra: html`<span class="soft">of ${plural(total, 'managed scope')}</span>`,
    columns: [
      column.scope('Scope', name, ({ scope }) => scope),
      column.fixed('State', ({ state }) => stateBadge(state)),
      column.cap('Desired', ({ desired }) => desired),
      column.cap('Observed', ({ observed }) => observed),
      column.fixed(
        'Cause',
        ({ cause, driftSince }) => html`${cause}${driftSince !== undefined && html` <span class="soft">${when(driftSince, at)}</span>`}`,
      ),
      column.declaredAt,
      column.text('Why', ({ why, reason }) => why ?? reason),
    ],
  })
}

function poolsPart(series: Document<'PoolSeries'>): Html | false {
  const charts = poolCharts(series)
  return charts.length > 0 && html`<div class="grid">${charts.map(inSection)}</div>${moreOf(series.poolsOmitted, 'pool')}`
}

function statePart({ lastSuccessAt, approvals, balance, cycle, heldBy, use, at }: Document<'Workspace'>): Html {
  const ratios = Object.entries(use?.ratios ?? {}).flatMap(([window, ratio]) =>
    ratio === undefined ? [] : [`${number(ratio)} in ${window}`],
  )
  return section(
    'State',
    facts([
      ['Last success', lastSuccessAt === undefined ? 'none yet' : when(lastSuccessAt, at)],
      ['Pace, 1 is even', ratios.join(', ')],
      [
        'Of the cycle’s credits',
        use?.used !== undefined && use.cycleCredits !== undefined && use.cycleCredits > 0 && percent(use.used / use.cycleCredits),
      ],
      ['Seats', balance && html`${number(balance.seats)}, ${figure(balance.creditsPerSeat)} credits each`],
      ['Cycle', cycle && html`ends ${when(cycle.end, at)}`],
      ['Approvals', approvals.map(({ id, state }) => `${id.slice(0, 12)} ${state}`).join(', ')],
      ['Held by replica', heldBy],
    ]),
  )
}
