// The people of a workspace: the list, whose search, filters, order and page are in the address, and the page of a lead, who sees only some.
import { capEdit, type Html, html } from '../../core/escape/text.ts'
import { BANDS } from '../../core/model/events.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import { STOP_TEXT } from '../../core/use/first-stop.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Query } from '../../daemon/http/documents/documents.ts'
import type { Document, PersonEntry } from '../../daemon/http/documents/table.ts'
import { BAR_HEAD, meter } from '../chart/bars.ts'
import { chartFigure, type Tone } from '../chart/chart.ts'
import { personChart } from '../chart/person.ts'
import { renderFrame } from '../frame.ts'
import { badge, bandBadge, capCell, empty, figure, moment, paste, scopeLink, section, stateBadge, tile, tiles } from '../parts.ts'
import { column, type Filter, filterForm, listSection, moreOf, pager, sorter, table } from '../tables.ts'
import { BAND_TEXT, day, number, percent, plural, url } from '../words.ts'
import { addOnText, CAUSE_TEXT, explainedParts } from './explained.ts'

// One person: the cap in force and why, use against it by day, when it is used up, and the writes so far. And the page of the person who asks.

type Entry = Document<'Me'>['workspaces'][number]

export const mePage: Page = async (documents) => {
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

export const personPage: Page = async (documents, { params: { workspace = '', name: person = '' } }) => {
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
      ...explainedParts(one, isPart, editPart(one)),
    ],
  })
}

/** The line that changes the cap in the policies; a hash is nobody there. */
function editPart({ person, cap = 'unknown', chain }: Document<'Person'>): Html | false {
  if (cap === 'unknown' || !person.includes('@')) return false
  const { what, line } = capEdit(
    person,
    String(cap),
    chain.flatMap(({ kind, scope, state, from }) => (kind === 'grant' && scope === person ? [{ state, from }] : [])),
  )
  return section(`To ${what} in the policies`, paste(line, 'The command that changes the policies'))
}

function figures(one: Document<'Person'>) {
  const { cap, from, addOn, addOnSource, isUpperBound, headRoom, share, band, groups, workspace, used, guards, stopsFirst } = one
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
      band === 'at_cap' && 'bad',
    ),
    headRoom !== undefined && tile('Left', figure(headRoom), false, headRoom <= 0 && 'bad'),
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
      groups.map(({ id, name }, index) => html`${index > 0 && ', '}<a href="${url.group(workspace, id)}">${name}</a>`),
    ),
    guards.length > 0 && tile('Held back', plural(guards.length, 'guard'), guards.join(', '), 'warn'),
  ])
}

export const leadPage: Page = async (documents, { params: { workspace: name = '' } }) => {
  const one = await documents.lead(name)
  return renderFrame({
    heading: one.workspace,
    badges: one.peopleShown === 'hash' && badge('shown as hashes'),
    of: one,
    isPart: documents.parts().includes(name),
    parts: [nearPart(one), grantsPart(one), changesPart(one)],
  })
}

const nearPart = ({ near, nearOmitted, workspace }: Document<'Lead'>): Html | false =>
  listSection('Near their cap', near, {
    none: 'Nobody has used 85 % of their cap.',
    label: 'People near their cap',
    more: moreOf(nearOmitted, 'person', 'people'),
    extra: html`<span class="soft"><a href="${url.section(workspace, 'people')}">all your people</a></span>`,
    columns: [
      column.scope('Person', workspace, ({ person }) => person),
      column.amount('Used', ({ used }) => used),
      column.cap('Cap', ({ cap }) => cap),
      column.fixed('Use of the cap', ({ band }) => bandBadge(band)),
      column.plain('Figure', ({ source }) => source && SOURCE_TEXT[source]),
    ],
  })

const grantsPart = ({ grants, grantsOmitted, workspace, at }: Document<'Lead'>): Html | false =>
  listSection('Temporary caps that end within a week', grants, {
    none: 'None ends within a week.',
    more: moreOf(grantsOmitted, 'cap'),
    columns: [
      column.scope('Scope', workspace, ({ scope }) => scope),
      column.grant,
      column.when('Ends', at, ({ until }) => until),
      column.text('Why', ({ reason }) => reason),
    ],
  })

const changesPart = ({ changes, changesOmitted, workspace, at }: Document<'Lead'>): Html | false =>
  listSection('Changed this week', changes, {
    none: 'No cap of your people was written in the last seven days.',
    label: 'Caps that were written in the last seven days',
    more: moreOf(changesOmitted, 'change'),
    columns: [
      column.when('When', at, (change) => change.at),
      column.scope('Scope', workspace, ({ scope }) => scope),
      ...column.fromTo,
      column.fixed('Cause', ({ cause }) => CAUSE_TEXT[cause]),
    ],
  })

/** Options of a filter; the search finds the rest. */
const MOST_OPTIONS = 200

export const peoplePage: Page = async (documents, { params: { workspace = '' }, query }) => {
  const list = await documents.people(workspace, query)
  const path = url.section(workspace, 'people')
  return renderFrame({
    badges: list.peopleShown === 'hash' && badge('shown as hashes'),
    of: list,
    isPart: documents.parts().includes(workspace),
    section: 'people',
    parts: [
      filterForm(path, query, filtersOf(list)),
      html`<section>${list.total === 0 ? noPeople(query) : html`${peopleTable(list, path, query)}${pager(list, ['person', 'people'], path, query)}`}</section>`,
    ],
  })
}

function filtersOf({ bands, groups, rules }: Document<'PersonList'>): readonly Filter[] {
  return [
    { name: 'search', label: 'Search' },
    // Counted among those who fit the other filters.
    { name: 'band', label: 'Use of the cap', options: BANDS.map((band) => [band, `${BAND_TEXT[band]} (${number(bands[band])})`] as const) },
    { name: 'group', label: 'Group', options: groups.slice(0, MOST_OPTIONS).map(({ id, name }) => [id, name] as const) },
    {
      name: 'rule',
      label: 'Decided by',
      options: rules.slice(0, MOST_OPTIONS).map(({ name, people }) => [name, `${name} (${number(people)})`] as const),
    },
  ]
}

const noPeople = (query: Query): Html =>
  Object.values(query).some((value) => value !== '')
    ? empty('Nobody fits. Show all, or search for less of the name.')
    : empty('People were not read yet. They appear here with the first reading of the roster.')

const BAND_TONE: Readonly<Partial<Record<NonNullable<PersonEntry['band']>, Tone>>> = {
  at_cap: 'limit',
  '95_to_100': 's1',
  '85_to_95': 's5',
}

function peopleTable({ items, workspace }: Document<'PersonList'>, path: string, query: Query): Html {
  const sorted = sorter(path, query)
  return table<PersonEntry>('People', items, [
    column.row(
      sorted('Person', 'person', 'asc'),
      ({ person, status, disabled }) =>
        html`${scopeLink(workspace, person)}${status !== 'approved' && html` ${badge(status)}`}${disabled === true && html` ${badge('disabled')}`}`,
    ),
    column.number(sorted('Of the cap', 'near', 'desc', true), ({ share, band }) =>
      share !== undefined ? percent(share) : band && badge(BAND_TEXT[band], band === 'at_cap' ? 'bad' : undefined),
    ),
    column.plain(BAR_HEAD, ({ share, band }) => share !== undefined && meter(share, (band && BAND_TONE[band]) ?? 'main')),
    column.number(
      sorted('Add-on use', 'use'),
      ({ addOn, addOnSource, isUpperBound }) =>
        html`<span${addOnSource && html` title="${SOURCE_TEXT[addOnSource]}"`}>${addOnText(addOn, isUpperBound)}</span>`,
    ),
    column.cap(sorted('Cap', 'cap'), ({ cap }) => cap ?? 'unknown'),
    column.amount(sorted('Left', 'headroom', 'asc'), ({ headRoom }) => headRoom),
    column.name(sorted('Decided by', 'rule', 'asc'), (row) => ruleCell(row, workspace)),
    column.name('Groups', ({ groups }) => groups.map(({ name }) => name).join(', ')),
    column.fixed('State', ({ state }) => state && stateBadge(state)),
  ])
}

const ruleCell = ({ rule, from }: PersonEntry, workspace: string): Html | string | undefined => {
  if (!rule) return from
  return from === undefined ? rule.name : html`<a href="${url.scope(workspace, from)}">${rule.name}</a>`
}
