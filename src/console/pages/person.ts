// One person: the cap in force and why, use against it by day, when it is used up, and the writes so far. And the page of the person who asks.
import { type Html, html } from '../../core/escape/html.ts'
import { editLine } from '../../core/escape/terminal.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import { STOP_TEXT } from '../../core/use/first-stop.ts'
import type { PageRequest } from '../../daemon/http/console.ts'
import type { Documents } from '../../daemon/http/documents/make.ts'
import type { MeDocument, PersonDocument } from '../../daemon/http/documents/types.ts'
import { chartFigure } from '../chart/chart.ts'
import { personChart } from '../chart/person.ts'
import { renderFrame } from '../frame.ts'
import {
  badge,
  bandBadge,
  capCell,
  column,
  day,
  dayMonth,
  empty,
  figure,
  groupUrl,
  moment,
  number,
  paste,
  percent,
  plural,
  scopeLink,
  section,
  stateBadge,
  table,
  tile,
  tiles,
} from '../parts.ts'
import { addOnText, explainedParts } from './explained.ts'

type Entry = MeDocument['workspaces'][number]

export async function mePage(documents: Documents): Promise<string> {
  const { workspaces } = await documents.me()
  const nothing = section('Nothing here', empty('No workspace lists your address.'))
  return renderFrame({
    heading: 'What is left for you',
    isPart: true,
    parts: workspaces.length === 0 ? [nothing] : workspaces.map(workspacePart),
  })
}

function workspacePart(one: Entry): Html {
  const { workspace, cap, left, used, addOn, entry, stopsFirst, grants, cycleEnd, requestUrl } = one
  const contents = [
    tiles([
      tile('Left', left === undefined ? '–' : figure(left), cycleEnd !== undefined && html`until ${day(cycleEnd)}`),
      tile('Your cap', capCell(cap ?? 'unknown'), entry && `${entry.kind}${entry.reason === undefined ? '' : `: ${entry.reason}`}`),
      tile('Used', used === undefined ? '–' : figure(used), addOn !== undefined && html`${figure(addOn)} of them add-on credits`),
      tile('Stops you first', STOP_TEXT[stopsFirst.what], stopsFirst.on !== undefined && `expected on ${stopsFirst.on}`),
    ]),
    requestUrl !== undefined && html`<p><a href="${requestUrl}">Ask for more</a></p>`,
    grants.length > 0 &&
      table(`Temporary caps in ${workspace}`, grants, [
        column.number('Cap', (grant) => capCell(grant.cap)),
        column.plain('Until', ({ until }) => moment(until)),
        column.plain('Reason', ({ reason = '' }) => reason),
      ]),
  ]
  return section(workspace, contents)
}

export async function personPage(documents: Documents, { params: { workspace = '', name: person = '' } }: PageRequest): Promise<string> {
  const one = await documents.person(workspace, person)
  const chart = personChart(one)
  const isPart = documents.parts().includes(workspace)
  return renderFrame({
    heading: one.person,
    badges: html`${one.band && bandBadge(one.band)}${one.state && stateBadge(one.state)}${one.status !== 'approved' && badge(one.status, 'info')}${one.disabled === true && badge('disabled', 'info')}${one.protected === true && badge('protected', 'info')}`,
    of: one,
    isPart,
    section: 'people',
    parts: [
      figures(one),
      one.requestUrl !== undefined && html`<p><a href="${one.requestUrl}" rel="noreferrer">Ask for more</a></p>`,
      html`<section>${chart ? chartFigure(chart) : html`<h2>Add-on use against the cap</h2>${empty('No day of this person was read yet: figures by day are recorded from the first reading on.')}`}</section>`,
      ...explainedParts(one, isPart, askPart(one)),
    ],
  })
}

const askPart = (one: PersonDocument) =>
  section(
    'Ask on the command line',
    html`${paste(`capkeeper explain ${one.person}`, 'The command that explains this cap')}<p class="small soft">It answers offline from policies and ledger, in the same words as this page.</p>${editPart(one)}`,
  )

/** The line that changes the cap in the policies; a hash is nobody there. */
const editPart = ({ person, cap = 'unknown' }: PersonDocument) =>
  cap !== 'unknown' &&
  person.includes('@') &&
  html`<p class="small">Another cap in the policies:</p>${paste(editLine('cap', person, String(cap)), 'The command that changes the policies')}`

function figures(one: PersonDocument) {
  const { cap, from, addOn, addOnSource, isUpperBound, headRoom, share, use, band, groups, workspace, used, guards, stopsFirst } = one
  const isAtCap = band === 'at_cap'
  return tiles([
    tile(
      'Cap in force',
      capCell(cap ?? 'unknown'),
      from === one.person ? 'set for this person' : from !== undefined && html`from ${scopeLink(workspace, from)}`,
    ),
    tile(
      'Add-on use',
      addOnText(addOn, isUpperBound),
      [share !== undefined && `${percent(share)} of the cap`, addOnSource && SOURCE_TEXT[addOnSource]]
        .filter((part) => part !== undefined && part !== false)
        .join(', '),
      isAtCap && 'bad',
    ),
    headRoom !== undefined &&
      tile('Left', figure(headRoom), use.paceADay !== undefined && html`at ${figure(use.paceADay)} a day`, headRoom <= 0 && 'bad'),
    headRoom !== undefined &&
      tile(
        'Run out',
        isAtCap ? 'now' : use.runsOutOn === undefined ? 'no' : dayMonth(Date.parse(use.runsOutOn)),
        isAtCap ? 'the cap is used up' : use.runsOutOn === undefined ? 'not in this cycle' : 'at the pace of the last 7 days',
        isAtCap ? 'bad' : use.runsOutOn === undefined ? 'good' : 'warn',
      ),
    stopsFirst !== undefined &&
      tile(
        'Stops first',
        stopsFirst.what === 'cap' ? 'own cap' : stopsFirst.what,
        stopsFirst.on !== undefined && `expected on ${stopsFirst.on}`,
      ),
    used !== undefined && tile('All credits used', figure(used), 'with those of the seat'),
    tile(
      'Groups',
      number(groups.length),
      groups.map(({ id, name }, index) => html`${index > 0 && ', '}<a href="${groupUrl(workspace, id)}">${name}</a>`),
    ),
    guards.length > 0 && tile('Held back', plural(guards.length, 'guard'), guards.join(', '), 'warn'),
  ])
}
