// The people of a workspace: the list, whose search, filters, order and page are in the address, and the page of a lead, who sees only some.
import { type Html, html } from '../../core/escape/html.ts'
import { BANDS } from '../../core/model/events.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import type { PageRequest } from '../../daemon/http/console.ts'
import type { Query } from '../../daemon/http/documents/documents.ts'
import type { Documents } from '../../daemon/http/documents/make.ts'
import type { LeadDocument, PersonEntry, PersonListDocument } from '../../daemon/http/documents/types.ts'
import { BAR_HEAD, meter } from '../chart/bars.ts'
import type { Tone } from '../chart/chart.ts'
import { renderFrame } from '../frame.ts'
import {
  BAND_TEXT,
  badge,
  bandBadge,
  bandKey,
  capCell,
  column,
  empty,
  type Filter,
  figure,
  filterForm,
  number,
  omitted,
  pager,
  percent,
  scopeLink,
  scopeUrl,
  section,
  sectionUrl,
  sorter,
  stateBadge,
  table,
  when,
  withQuery,
} from '../parts.ts'
import { addOnText } from './explained.ts'

const CAUSE_TEXT: Readonly<Record<LeadDocument['changes'][number]['cause'], string>> = {
  policy: 'the policy changed',
  external: 'somebody else had changed it',
  expired: 'a temporary cap ended',
  orphan: 'no policy declares it any more',
}

export async function leadPage(documents: Documents, { params: { workspace: name = '' } }: PageRequest): Promise<string> {
  const one = await documents.lead(name)
  return renderFrame({
    heading: one.workspace,
    badges: one.peopleShown === 'hash' && badge('shown as hashes'),
    of: one,
    workspaces: documents.parts().filter((other) => other !== name),
    isPart: documents.parts().includes(name),
    parts: [nearPart(one), grantsPart(one), changesPart(one)],
  })
}

const nearPart = ({ near, nearOmitted, workspace }: LeadDocument): Html =>
  section(
    'Near their cap',
    near.length === 0
      ? empty('Nobody has used 85 % of their cap.')
      : [
          table('People near their cap', near, [
            column.row('Person', ({ person }) => scopeLink(workspace, person)),
            column.number('Used', ({ used }) => figure(used)),
            column.number('Cap', ({ cap }) => capCell(cap)),
            column.fixed('Use of the cap', ({ band }) => bandBadge(band)),
            column.plain('Figure', ({ source }) => source && SOURCE_TEXT[source]),
          ]),
          omitted(nearOmitted),
        ],
    html`<span class="soft"><a href="${sectionUrl(workspace, 'people')}">all your people</a></span>`,
  )

const grantsPart = ({ grants, grantsOmitted, workspace, at }: LeadDocument): Html =>
  section(
    'Temporary caps that end within a week',
    grants.length === 0
      ? empty('None ends within a week.')
      : [
          table('Temporary caps that end within a week', grants, [
            column.row('Scope', ({ scope }) => scopeLink(workspace, scope)),
            column.number('Cap', ({ cap, add }) => (cap !== undefined ? figure(cap) : add !== undefined && `+${number(add)}`)),
            column.fixed('Ends', ({ until }) => when(until, at)),
            column.text('Why', ({ reason }) => reason),
          ]),
          omitted(grantsOmitted),
        ],
  )

const changesPart = ({ changes, changesOmitted, workspace, at }: LeadDocument): Html =>
  section(
    'Changed this week',
    changes.length === 0
      ? empty('No cap of your people was written in the last seven days.')
      : [
          table('Caps that were written in the last seven days', changes, [
            column.fixed('When', (change) => when(change.at, at)),
            column.row('Scope', ({ scope }) => scopeLink(workspace, scope)),
            column.number('From', ({ from }) => capCell(from)),
            column.number('To', ({ to }) => capCell(to)),
            column.text('Because', ({ cause }) => CAUSE_TEXT[cause]),
          ]),
          omitted(changesOmitted),
        ],
  )

/** Options of a filter; the search finds the rest. */
const MOST_OPTIONS = 200

export async function peoplePage(documents: Documents, { params: { workspace = '' }, query }: PageRequest): Promise<string> {
  const list = await documents.people(workspace, query)
  const path = sectionUrl(workspace, 'people')
  return renderFrame({
    badges: list.peopleShown === 'hash' && badge('shown as hashes'),
    of: list,
    isPart: documents.parts().includes(workspace),
    section: 'people',
    parts: [
      filterForm(path, filtersOf(list), query),
      bandLinks(list, path, query),
      html`<section>${list.items.length === 0 ? noPeople(query) : html`${peopleTable(list, path, query)}${pager(list, ['person', 'people'], path, query)}`}</section>`,
    ],
  })
}

function filtersOf({ groups, rules }: PersonListDocument): readonly Filter[] {
  return [
    { kind: 'search', name: 'search', label: 'Search' },
    { kind: 'choice', name: 'band', label: 'Use of the cap', options: BANDS.map((band) => [band, BAND_TEXT[band]] as const) },
    { kind: 'choice', name: 'group', label: 'Group', options: groups.slice(0, MOST_OPTIONS).map(({ id, name }) => [id, name] as const) },
    {
      kind: 'choice',
      name: 'rule',
      label: 'Decided by',
      options: rules.slice(0, MOST_OPTIONS).map(({ name, people }) => [name, `${name} (${number(people)})`] as const),
    },
  ]
}

/** People in each band among those who fit the other filters. */
function bandLinks({ bands }: PersonListDocument, path: string, query: Query): Html {
  const { page: _, ...rest } = query
  return html`<nav aria-label="By use of the cap"><ul class="legend">${BANDS.map((band) => {
    const isAsked = query['band'] === band
    const href = withQuery(path, isAsked ? { ...rest, band: undefined } : { ...rest, band })
    return html`<li>${bandKey(band)}<a href="${href}"${isAsked && html` aria-current="true"`}>${BAND_TEXT[band]}: ${number(bands[band])}</a></li>`
  })}</ul></nav>`
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

function peopleTable({ items, workspace }: PersonListDocument, path: string, query: Query): Html {
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
    column.number(sorted('Cap', 'cap'), ({ cap }) => capCell(cap ?? 'unknown')),
    column.number(sorted('Left', 'headroom', 'asc'), ({ headRoom }) => figure(headRoom)),
    column.name(sorted('Decided by', 'rule', 'asc'), (row) => ruleCell(row, workspace)),
    column.name('Groups', ({ groups }) => groups.map(({ name }) => name).join(', ')),
    column.fixed('State', ({ state }) => state && stateBadge(state)),
  ])
}

const ruleCell = ({ rule, from }: PersonEntry, workspace: string): Html | string | undefined => {
  if (!rule) return from
  return from === undefined ? rule.name : html`<a href="${scopeUrl(workspace, from)}">${rule.name}</a>`
}
