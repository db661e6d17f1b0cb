// The groups of a workspace, how near their people are to their caps, and the page of one group.

import { type Html, html, type Value } from '../../core/escape/text.ts'
import { BANDS } from '../../core/model/events.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Query } from '../../daemon/http/documents/documents.ts'
import type { Document, GroupEntry } from '../../daemon/http/documents/table.ts'
import { stackChart } from '../chart/bars.ts'
import { chartFigure } from '../chart/chart.ts'
import { renderFrame } from '../frame.ts'
import { badge, bandBadge, capCell, empty, figure, section, stateBadge, tile, tiles } from '../parts.ts'
import { column, filterForm, listSection, moreOf, pager, sorter, table } from '../tables.ts'
import { BAND_TEXT, number, percent, url, withQuery } from '../words.ts'
import { explainedParts } from './explained.ts'

/** Groups on a page, unless the address says otherwise. */
const LIMIT = '50'

export const groupsPage: Page = async (documents, { params: { workspace = '' }, query }) => {
  const list = await documents.groups(workspace, { limit: LIMIT, ...query })
  const path = url.section(workspace, 'groups')
  const known = list.items.flatMap(({ bands, ...one }) => (bands ? [{ ...one, bands }] : []))
  return renderFrame({
    of: list,
    isPart: documents.parts().includes(workspace),
    section: 'groups',
    parts: [
      filterForm(path, query, [{ name: 'search', label: 'Name or id' }]),
      list.total === 0
        ? section(
            'Groups',
            empty(
              (query['search'] ?? '') !== ''
                ? 'No group fits.'
                : html`No group is declared. Policies declare them under <code>spec.groups</code>.`,
            ),
          )
        : html`<section>${groupTable(list, path, query)}${pager(list, ['group', 'groups'], path, query)}</section>`,
      (known.length > 0 || list.inNoGroup !== undefined) &&
        section(
          'Who is near their cap',
          html`<div class="scroll" tabindex="0" role="group" aria-label="People by group and share of their cap used"><table class="heat">
<thead><tr><th scope="col">Group</th>${BANDS.map((band) => html`<th scope="col" class="number">${BAND_TEXT[band]}</th>`)}</tr></thead>
<tbody>${known.map(({ id, name, bands }) =>
            heatRow(html`<a href="${url.group(workspace, id)}">${name}</a>`, bands, (band) =>
              withQuery(url.section(workspace, 'people'), { group: id, band }),
            ),
          )}${list.inNoGroup && heatRow('in no declared group', list.inNoGroup)}</tbody></table></div>`,
        ),
    ],
  })
}

const BAND_HEAT = {
  uncapped: 'none',
  under_50: 'cool',
  '50_to_85': 'cool',
  '85_to_95': 'warm',
  '95_to_100': 'warm',
  at_cap: 'hot',
} as const

/** Strengths of a colour that the style sheet has, beside none. */
const STRENGTHS = 5

/** People by band; each count of a group leads to these people. */
function heatRow(name: Value, bands: NonNullable<GroupEntry['bands']>, hrefOf?: (band: (typeof BANDS)[number]) => string): Html {
  const total = BANDS.reduce((sum, band) => sum + bands[band], 0)
  return html`<tr><th scope="row">${name}</th>${BANDS.map((band) => {
    const count = bands[band]
    const text = number(count)
    const cell = count === 0 ? html`<span class="soft">0</span>` : hrefOf ? html`<a href="${hrefOf(band)}">${text}</a>` : text
    return html`<td class="number heat-${BAND_HEAT[band]} h${Math.ceil((count / total) * STRENGTHS)}">${cell}</td>`
  })}</tr>
`
}

function groupTable({ items, workspace, at }: Document<'GroupList'>, path: string, query: Query) {
  const sorted = sorter(path, query)
  return table<GroupEntry>('Groups', items, [
    column.row(
      sorted('Group', 'name', 'asc'),
      ({ id, name }) => html`<a href="${url.group(workspace, id)}">${name}</a> <code class="soft small">${id}</code>`,
    ),
    column.fixed('State', ({ state, known }) => html`${state && stateBadge(state)} ${!known && badge('not known to the service', 'warn')}`),
    column.cap(sorted('Cap', 'cap'), ({ cap }) => cap),
    column.cap('Observed', ({ observed }) => observed ?? 'unknown'),
    column.number(
      sorted('Members', 'members'),
      ({ id, members }) => html`<a href="${withQuery(url.section(workspace, 'people'), { group: id })}">${number(members)}</a>`,
    ),
    column.count(sorted('Near cap', 'near', 'desc', true), ({ near }) => near),
    column.amount(sorted('Credits used', 'use'), ({ used }) => used),
    column.number('Share', ({ share }) => share !== undefined && percent(share)),
    column.declaredAt,
    column.when('Read', at, ({ readAt }) => readAt),
  ])
}

export const groupPage: Page = async (documents, { params: { workspace = '', name: id = '' } }) => {
  const one = await documents.group(workspace, id)
  const isPart = documents.parts().includes(workspace)
  return renderFrame({
    heading: one.name,
    badges: html`<code class="soft">${one.id}</code>${one.state && stateBadge(one.state)}${!one.known && badge('not known to the service', 'warn')}`,
    of: one,
    isPart,
    section: 'groups',
    parts: [
      tiles([
        tile('Cap of each member', capCell(one.observed ?? 'unknown'), html`policy asks ${capCell(one.cap)}`),
        tile('Members', number(one.members), html`<a href="${withQuery(url.section(workspace, 'people'), { group: id })}">list them</a>`),
        one.bands !== undefined &&
          one.near !== undefined &&
          tile('Near or at their cap', number(one.near), `${number(one.bands.at_cap)} at it`, one.bands.at_cap > 0 && 'warn'),
        one.used !== undefined && tile('Credits used', figure(one.used), one.share !== undefined && `${percent(one.share)} of the team’s`),
        one.addOn !== undefined && tile('Add-on use', figure(one.addOn), one.addOnSource && SOURCE_TEXT[one.addOnSource]),
      ]),
      burnPart(one),
      ...explainedParts(one, isPart, topPart(one)),
      isPart && topPart(one),
    ],
  })
}

function burnPart({ use: { days }, name }: Document<'Group'>) {
  const first = days.findIndex(({ used }) => used !== undefined)
  if (first === -1) return section('Credits burned by day', empty('No day of this group was read yet.'))
  return html`<section>${chartFigure(
    stackChart({
      id: 'burn',
      title: 'Credits burned by day',
      noun: 'group',
      days: days.slice(first).map(({ day, used }) => ({ at: Date.parse(day), parts: new Map([[name, used]]) })),
    }),
  )}</section>`
}

const topPart = ({ top, topOmitted, workspace }: Document<'Group'>) =>
  listSection('Nearest to their cap', top, {
    none: 'No member is known yet.',
    label: 'People of the group nearest to their cap',
    more: moreOf(topOmitted, 'person', 'people'),
    columns: [
      column.scope('Person', workspace, ({ person }) => person),
      column.amount('Add-on use', ({ addOn }) => addOn),
      column.cap('Cap', ({ cap }) => cap),
      column.fixed('Band', ({ band }) => band && bandBadge(band)),
    ],
  })
