// The list of people: searched, filtered, sorted and paged from the rows of roster.ts. A search compares only what is shown, so that where people are
// shown as hashes no client can try out e-mails.

import { BANDS } from '../../../../core/model/events.ts'
import { type GroupScope, groupScope, type ScopeKey, scopeKey } from '../../../../core/model/scope.ts'
import type { Candidate } from '../../../../core/resolve/candidate.ts'
import { bandRank } from '../../../../core/use/first-stop.ts'
import { type Asked, asked, DocumentError, limitOf, PAGE, type Query, type Seen, text, word } from '../documents.ts'
import { fields, from, ifKnown, object, optional, record } from '../field.ts'
import { declaredReason, entryWord } from '../part.ts'
import * as t from '../parts.ts'
import { groupIdsOf, headRoomOf, type PeopleIndex, type PersonRow, ruleName, ruleOf, shareOf } from './roster.ts'

const PEOPLE_SORTS = ['near', 'person', 'cap', 'use', 'headroom', 'rule'] as const
type Sort = (typeof PEOPLE_SORTS)[number]
export const ORDERS = ['asc', 'desc'] as const
const STATUSES = ['approved', 'pending', 'rejected', 'unspecified', 'off-roster'] as const

export const PEOPLE_QUERY = [
  text('search', 'Part of a person as shown.'),
  word('band', BANDS, 'How near they are to their cap.'),
  text('group', 'The id of a declared group.'),
  text('rule', 'What decides: `team`, `group:ID`, `user`, `rule NAME`, `pool NAME`, or a name of `rules`.'),
  word('sort', PEOPLE_SORTS, '`near`: to the cap in force.', 'near'),
  word('order', ORDERS, 'Default: descending; by person, rule and headroom ascending.'),
  PAGE,
  limitOf(50, 500),
]

const rule = object<Candidate>('The declaration that decides.')({
  kind: t.plain(),
  name: from(t.text(), (winner, { isPart }) => (isPart ? entryWord(winner) : ruleName(winner))),
  source: ifKnown(t.place, ({ at }, { isPart }) => (isPart ? undefined : at)),
  reason: ifKnown(t.text('For readers who see only some people, in the place of the source.'), (winner, { isPart }) =>
    isPart ? declaredReason(winner) : undefined,
  ),
})

/** A row with the names of the declared groups, by id. */
export type NamedRow = PersonRow & { readonly names: ReadonlyMap<string, string> }

const groupNamed = (description: string) => record(description)({ id: t.text(), name: t.plain() })

export const PERSON_ENTRY = fields<NamedRow>()({
  person: from(t.plain('An e-mail or a hash, as people are shown.'), ({ label }) => label),
  status: t.words(STATUSES),
  disabled: ifKnown(
    t.flag('The service is disabled for them: caps are written, guards do not count them.'),
    ({ disabled }) => disabled || undefined,
  ),
  groups: from(t.list(groupNamed('A declared group.'), 'Declared groups of the person.'), (row) =>
    groupIdsOf(row).map((id) => ({ id, name: row.names.get(id) ?? '' })),
  ),
  cap: optional(t.observed('The cap in force, from the readings.')),
  from: optional(t.scopeName),
  declared: optional(t.cap('The desired cap.')),
  rule: ifKnown(rule, ({ winner }) => winner),
  used: optional(t.amount('All credits used in this cycle.')),
  addOn: optional(t.amount('Add-on use.')),
  addOnSource: ifKnown(t.addOnSource, ({ addOn, source }) => (addOn === undefined ? undefined : source)),
  isUpperBound: ifKnown(
    t.flag('The credits of a seat are not known, so add-on use is all use.'),
    ({ addOn, source }) => (addOn !== undefined && source === 'upperBound') || undefined,
  ),
  headRoom: ifKnown(t.amount('Credits left of the cap; negative when over it.'), headRoomOf),
  share: ifKnown(t.share('Add-on use over the cap; 1 is at the cap.'), shareOf),
  band: optional(t.band),
  state: optional(t.scopeState),
})

export const PEOPLE = record('People, searched, filtered and sorted.')({
  ...t.about('PersonList'),
  ...t.paged(object<NamedRow>('One person.')(PERSON_ENTRY), 'As `sort` says.'),
  bands: t.bandCounts('People who fit the other filters, by band.'),
  groups: t.list(groupNamed('A group to filter by.'), 'The declared groups.'),
  rules: t.list(
    record('A rule to filter by.')({ name: t.text(), people: t.count('People for whom it decides.') }),
    'The declarations that decide for people.',
  ),
})

export async function peopleDocument(seen: Seen, query: Query = {}) {
  const question = asked(query, PEOPLE_QUERY)
  const index = await seen.index()
  const [page, limit] = [question.whole('page'), question.whole('limit')]
  const names = groupNames(seen)
  const { rows, bands, total } = found(index, wantedBy(question, index, seen), orderOf(question, index), {
    from: (page - 1) * limit,
    limit,
  })
  const items = rows.map((row) => ({ ...row, names }))
  const groups = [...names].map(([id, name]) => ({ id, name }))
  return PEOPLE.show({ total, page, limit, items, bands, groups, rules: rulesOf(index) }, seen)
}

/** The band, and whether a person fits everything else. */
function wantedBy(question: Asked, index: PeopleIndex, seen: Seen) {
  const { people } = seen
  const search = question.text('search')?.trim().toLowerCase() ?? ''
  const group = knownGroup(seen, question.text('group'))
  const rule = question.text('rule')
  return {
    band: question.word('band', BANDS),
    fits: (row: PersonRow): boolean =>
      (search === '' || row.label.includes(search)) &&
      (group === undefined || row.groups.includes(group)) &&
      (rule === undefined || people.text(ruleOf(row, index)) === rule),
  }
}

/** One pass over all people in order; only those of the page are kept. */
function found(
  { rows }: PeopleIndex,
  { band, fits }: ReturnType<typeof wantedBy>,
  order: Uint32Array,
  page: { readonly from: number; readonly limit: number },
) {
  const bands = { uncapped: 0, under_50: 0, '50_to_85': 0, '85_to_95': 0, '95_to_100': 0, at_cap: 0 }
  const listed: PersonRow[] = []
  let total = 0
  for (const place of order) {
    const row = rows[place]
    if (!row || !fits(row)) continue
    if (row.band) bands[row.band] += 1
    if (band !== undefined && row.band !== band) continue
    if (total >= page.from && listed.length < page.limit) listed.push(row)
    total += 1
  }
  return { rows: listed, bands, total }
}

function orderOf(question: Asked, index: PeopleIndex): Uint32Array {
  const sort = question.word('sort', PEOPLE_SORTS) ?? 'near'
  const isAscending = sort === 'person' || sort === 'rule' || sort === 'headroom'
  const order = question.word('order', ORDERS) ?? (isAscending ? 'asc' : 'desc')
  const name = `${sort} ${order}`
  const known = index.orders.get(name) ?? sorted(index, sort, order === 'desc')
  index.orders.set(name, known)
  return known
}

function knownGroup(seen: Seen, shown: string | undefined): ScopeKey | undefined {
  if (shown === undefined) return undefined
  const group = groupShown(seen, shown)
  if (!group) throw new DocumentError(404, 'no declared group has this id')
  return scopeKey(group)
}

/** The group that documents call so. */
export function groupShown({ view, policy, people }: Seen, shown: string): GroupScope | undefined {
  const known = [...view.groups.map(({ id }) => groupScope(id)), ...(policy?.set.groups ?? []).map(({ scope }) => scope)]
  return known.find(({ id }) => people.text(id) === shown)
}

/** Names of declared groups by id, in the order of the policies. */
export function groupNames({ view, policy, people }: Seen): ReadonlyMap<string, string> {
  const declared = (policy?.set.groups ?? []).map(({ scope, name }) => [scope.id, people.text(name)] as const)
  return new Map([...declared, ...view.groups.map(({ id, name }) => [id, people.text(name)] as const)])
}

/** Filters that a page offers. Choice. */
const MOST_RULES = 100

function rulesOf(index: PeopleIndex) {
  const counts = new Map<string, number>()
  for (const row of index.rows) {
    const name = ruleOf(row, index)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .map(([name, people]) => ({ name, people }))
    .sort((a, b) => b.people - a.people)
    .slice(0, MOST_RULES)
}

/** Indexes of the rows in order. Rows without the figure come last in either order. */
function sorted(index: PeopleIndex, sort: Sort, isDescending: boolean): Uint32Array {
  const { rows } = index
  const sign = isDescending ? -1 : 1
  const keys = rows.map((row) => (sort === 'rule' ? ruleOf(row, index) : SORTS[sort](row)))
  return Uint32Array.from(rows.keys()).sort((a, b) => {
    const [left, right] = [keys[a], keys[b]]
    if (left === right) return compare(rows[a]?.label ?? '', rows[b]?.label ?? '')
    if (left === undefined) return 1
    return right === undefined ? -1 : sign * compare(left, right)
  })
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

const SORTS: Readonly<Record<Exclude<Sort, 'rule'>, (row: PersonRow) => string | number | undefined>> = {
  person: ({ label }) => label,
  near: (row) => (row.band === undefined ? undefined : bandRank(row.band) + Math.min(0.999_999, (shareOf(row) ?? 0) / 1_000)),
  cap: ({ cap }) => (cap === 'none' ? Number.POSITIVE_INFINITY : cap === 'unknown' ? undefined : cap),
  use: ({ addOn, used }) => addOn ?? used,
  headroom: headRoomOf,
}
