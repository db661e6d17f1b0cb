// The overview: what needs a person first, then every workspace with its credits left, when they run out, and what is wrong.
import { type Html, html } from '../../core/escape/text.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Query } from '../../daemon/http/documents/documents.ts'
import type { AttentionEntry, Document, WorkspaceSummary } from '../../daemon/http/documents/table.ts'
import { BAR_HEAD, meter } from '../chart/bars.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, figure, modeBadge, tile, tiles, type Weight, when } from '../parts.ts'
import { column, listSection, moreOf, pager, table } from '../tables.ts'
import { compact, dayMonth, number, percent, plural, url, words } from '../words.ts'

const NONE = box.info`<p>No workspace yet. Add one to <code>workspaces:</code> of the config file; it appears here as soon as the file is saved.</p>`

export const overviewPage: Page = async (documents, { query }) => {
  const list = await documents.workspaces(query)
  const isPart = list.total === 0 && list.parts.length > 0
  return renderFrame({
    heading: 'Overview',
    needed: neededOf(list),
    of: list,
    isPart,
    parts: [troubles(list), ...(isPart ? [] : [totals(list), needs(list), list.total === 0 ? NONE : lines(list, query)]), partsOf(list)],
  })
}

const neededOf = ({ attention, attentionOmitted }: Document<'WorkspaceList'>): number => attention.length + attentionOmitted

function troubles({ configValid, ledgerWritable, attention }: Document<'WorkspaceList'>): Html | false {
  if (configValid && ledgerWritable) return false
  const why = (of: string): string | undefined => attention.find(({ workspace, subject }) => workspace === '' && subject === of)?.text
  return html`${!configValid && box.bad`<p><strong>The config file is not valid.</strong> The last good one stays in force; <code>capkeeper validate</code> and the log say what is wrong.</p><p>${why('config')}</p>`}
${!ledgerWritable && box.bad`<p><strong>The ledger cannot be written</strong>, so no cap is written. Writing continues when the disk or the database works again.</p><p>${why('ledger')}</p>`}`
}

function totals(list: Document<'WorkspaceList'>): Html {
  const { items, total, attention, at } = list
  const count = neededOf(list)
  const worst: Weight = attention.some(({ tone }) => tone === 'bad') ? 'bad' : 'warn'
  const left = items.flatMap(({ balance }) => (balance ? [balance.addOnAvailable - balance.addOnUsed] : []))
  const areLasting = items.every(({ use, balance }) => use?.lasts || !balance)
  const soonest = items.flatMap(({ use }) => (use?.exhaustion === undefined ? [] : [use.exhaustion])).toSorted()[0]
  const counted = items.flatMap(({ bands, people }) => (bands && people !== undefined ? [{ bands, people }] : []))
  const atCap = counted.reduce((sum, { bands }) => sum + bands.at_cap, 0)
  const people = counted.reduce((sum, one) => sum + one.people, 0)
  const isWhole = items.length === total
  return tiles([
    tile('Needs a person', number(count), count === 0 ? 'all is well' : 'the list is below', count === 0 ? 'good' : worst),
    isWhole &&
      left.length > 0 &&
      tile('Add-on credits left', figure(left.reduce((sum, value) => sum + value, 0)), total === 1 ? undefined : 'all workspaces together'),
    isWhole &&
      left.length > 0 &&
      tile(
        total === 1 ? 'Run out' : 'First to run out',
        soonest !== undefined ? dayMonth(Date.parse(soonest)) : areLasting ? 'no' : 'not known',
        soonest !== undefined ? when(soonest, at) : areLasting && 'not in this cycle',
        soonest !== undefined ? 'warn' : areLasting && 'good',
      ),
    isWhole && people > 0 && tile('People at their cap', number(atCap), `of ${number(people)}`, atCap > 0 && 'warn'),
  ])
}

/** What needs a person, the most pressing first. */
function needs({ attention, attentionOmitted, total }: Document<'WorkspaceList'>): Html | false {
  const shown = attention.filter(({ subject }) => subject !== 'config' && subject !== 'ledger')
  if (attention.length === 0) return total > 0 && box.good`<p>✓ Nothing needs a person.</p>`
  return html`<h2 class="hidden">What needs a person</h2><ul class="needs">${shown.map((entry) => need(entry, total > 1))}${
    attentionOmitted > 0 &&
    html`<li class="info"><span class="what">${plural(attentionOmitted, 'more item')}: see the pages of the workspaces.</span></li>`
  }</ul>`
}

const need = (
  { workspace, tone, subject, text, path }: AttentionEntry,
  namesIt: boolean,
): Html => html`<li class="${tone}">${badge(words(subject), tone)}
<span class="what"><a href="${path}">${text}</a></span>${namesIt && html`<span class="where">${workspace}</span>`}</li>`

function lines(list: Document<'WorkspaceList'>, query: Query): Html {
  const { items, at } = list
  return html`<section>${table('Workspaces', items, [
    column.row('Workspace', ({ name }) => html`<a href="${url.workspace(name)}">${name}</a>`),
    column.plain('State', ({ verdict, tone, mode }) => html`${badge(verdict, tone)} ${modeBadge(mode, verdict)}`),
    column.number('Add-on credits left', ({ balance }) => balance && figure(balance.addOnAvailable - balance.addOnUsed)),
    column.fixed('Run out', ({ use }) =>
      use?.exhaustion !== undefined ? when(use.exhaustion, at) : use?.lasts && html`<span class="soft">not in this cycle</span>`,
    ),
    column.number('Credits used', ({ use }) => use?.used !== undefined && figure(use.used)),
    column.number('Of the cycle', ({ use }) => ofCycle(use, percent)),
    column.plain(BAR_HEAD, ({ use }) => ofCycle(use, (share) => meter(share, 'main'))),
    column.number(
      'At cap',
      ({ bands, people }) => bands !== undefined && people !== undefined && `${compact(bands.at_cap)} of ${compact(people)}`,
    ),
    column.count('Holds', ({ holds }) => holds),
    column.fixed('Last success', ({ lastSuccessAt }) => (lastSuccessAt === undefined ? 'none yet' : when(lastSuccessAt, at))),
    ...(items.some(({ heldBy }) => heldBy !== undefined)
      ? [column.fixed('Held by replica', ({ heldBy }: WorkspaceSummary) => heldBy)]
      : []),
  ])}${pager(list, ['workspace', 'workspaces'], url.overview, query)}</section>`
}

/** Workspaces of which the reader sees only some people. */
const partsOf = ({ total, parts, partsOmitted, at }: Document<'WorkspaceList'>): Html | false =>
  listSection(`Your people in ${total > 0 ? 'other' : 'these'} workspaces`, parts, {
    more: moreOf(partsOmitted, 'workspace'),
    columns: [
      column.row('Workspace', ({ name }) => html`<a href="${url.workspace(name)}">${name}</a>`),
      column.count('Your people', ({ people }) => people),
      column.count('At cap', ({ bands }) => bands?.at_cap),
      column.amount('Credits used', ({ used }) => used),
      column.when('Read', at, ({ readAt }) => readAt),
    ],
  })

/** The share of the cycle's credits that is used, where both are known. */
const ofCycle = <Shown>(use: WorkspaceSummary['use'], show: (share: number) => Shown): Shown | undefined =>
  use?.used !== undefined && use.cycleCredits !== undefined && use.cycleCredits > 0 ? show(use.used / use.cycleCredits) : undefined
