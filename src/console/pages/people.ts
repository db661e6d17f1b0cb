// The people of a workspace: the list, whose search, filters, order and page are in the address, and the page of a lead, who sees only some.
import { type Html, html } from '../../core/escape/html.ts'
import { BANDS } from '../../core/model/events.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
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
  sortHead,
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

export async function leadPage(documents: Documents, name: string): Promise<string> {
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
          table(
            'People near their cap',
            [
              { head: 'Person', isName: true, cell: ({ person }) => scopeLink(workspace, person) },
              { head: 'Used', kind: 'number', cell: ({ used }) => figure(used) },
              { head: 'Cap', kind: 'number', cell: ({ cap }) => capCell(cap) },
              { head: 'Use of the cap', kind: 'fixed', cell: ({ band }) => bandBadge(band) },
              { head: 'Figure', cell: ({ source }) => source && SOURCE_TEXT[source] },
            ],
            near,
          ),
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
          table(
            'Temporary caps that end within a week',
            [
              { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
              {
                head: 'Cap',
                kind: 'number',
                cell: ({ cap, add }) => (cap !== undefined ? figure(cap) : add !== undefined && `+${number(add)}`),
              },
              { head: 'Ends', kind: 'fixed', cell: ({ until }) => when(until, at) },
              { head: 'Why', kind: 'text', cell: ({ reason }) => reason },
            ],
            grants,
          ),
          omitted(grantsOmitted),
        ],
  )

const changesPart = ({ changes, changesOmitted, workspace, at }: LeadDocument): Html =>
  section(
    'Changed this week',
    changes.length === 0
      ? empty('No cap of your people was written in the last seven days.')
      : [
          table(
            'Caps that were written in the last seven days',
            [
              { head: 'When', kind: 'fixed', cell: (change) => when(change.at, at) },
              { head: 'Scope', isName: true, cell: ({ scope }) => scopeLink(workspace, scope) },
              { head: 'From', kind: 'number', cell: ({ from }) => capCell(from) },
              { head: 'To', kind: 'number', cell: ({ to }) => capCell(to) },
              { head: 'Because', kind: 'text', cell: ({ cause }) => CAUSE_TEXT[cause] },
            ],
            changes,
          ),
          omitted(changesOmitted),
        ],
  )

/** Options of a filter; the search finds the rest. */
const MOST_OPTIONS = 200

export async function peoplePage(documents: Documents, workspace: string, query: Query): Promise<string> {
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

const peopleTable = ({ items, workspace }: PersonListDocument, path: string, query: Query): Html =>
  table<PersonEntry>(
    'People',
    [
      {
        head: sortHead('Person', { by: 'person', usually: 'asc' }, path, query),
        isName: true,
        cell: ({ person, status, disabled }) =>
          html`${scopeLink(workspace, person)}${status !== 'approved' && html` ${badge(status)}`}${disabled === true && html` ${badge('disabled')}`}`,
      },
      {
        head: sortHead('Of the cap', { by: 'near', usually: 'desc', isDefault: true }, path, query),
        kind: 'number',
        cell: ({ share, band }) =>
          share !== undefined ? percent(share) : band && badge(BAND_TEXT[band], band === 'at_cap' ? 'bad' : undefined),
      },
      {
        head: BAR_HEAD,
        cell: ({ share, band }) => share !== undefined && meter(share, (band && BAND_TONE[band]) ?? 'main'),
      },
      {
        head: sortHead('Add-on use', { by: 'use', usually: 'desc' }, path, query),
        kind: 'number',
        cell: ({ addOn, addOnSource, isUpperBound }) =>
          html`<span${addOnSource && html` title="${SOURCE_TEXT[addOnSource]}"`}>${addOnText(addOn, isUpperBound)}</span>`,
      },
      { head: sortHead('Cap', { by: 'cap', usually: 'desc' }, path, query), kind: 'number', cell: ({ cap }) => capCell(cap ?? 'unknown') },
      {
        head: sortHead('Left', { by: 'headroom', usually: 'asc' }, path, query),
        kind: 'number',
        cell: ({ headRoom }) => headRoom !== undefined && figure(headRoom),
      },
      { head: sortHead('Decided by', { by: 'rule', usually: 'asc' }, path, query), kind: 'name', cell: (row) => ruleCell(row, workspace) },
      { head: 'Groups', kind: 'name', cell: ({ groups }) => groups.map(({ name }) => name).join(', ') },
      { head: 'State', kind: 'fixed', cell: ({ state }) => state && stateBadge(state) },
    ],
    items,
  )

const ruleCell = ({ rule, from }: PersonEntry, workspace: string): Html | string | undefined => {
  if (!rule) return from
  return from === undefined ? rule.name : html`<a href="${scopeUrl(workspace, from)}">${rule.name}</a>`
}
