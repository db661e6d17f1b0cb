// The declared groups: their cap, their use and how near their members are to it.

import { groupScope, scopeKey } from '../../../../core/model/scope.ts'
import { worstSource } from '../../../../core/use/add-on.ts'
import { countBands } from '../../../../core/use/bands.ts'
import type { Query, Seen } from '../documents.ts'
import { asked, limitOf, PAGE, pageOf, text, word } from '../query.ts'
import { cents, headAbout, placeOf, ratio, rfc3339 } from '../show.ts'
import { sumKnown, usedIn } from '../summary.ts'
import type { GroupEntry, GroupListDocument, Showing, WorkspaceFacts } from '../types.ts'
import { ORDERS } from './people.ts'
import { countNear, membersByGroup, type PeopleIndex } from './roster.ts'

const GROUP_SORTS = ['near', 'name', 'use', 'members', 'cap'] as const

export const GROUPS_QUERY = [
  text('search', 'Part of the name or id.'),
  word('sort', GROUP_SORTS, '`near`: most people near their cap.', 'near'),
  word('order', ORDERS, 'Default: descending, by name ascending.'),
  PAGE,
  limitOf(100, 500),
]

export async function groupsDocument(seen: Seen, query: Query = {}): Promise<GroupListDocument> {
  const question = asked(query, GROUPS_QUERY)
  const search = question.text('search')?.toLowerCase() ?? ''
  const sort = question.word('sort', GROUP_SORTS) ?? 'near'
  const order = question.word('order', ORDERS) ?? (sort === 'name' ? 'asc' : 'desc')
  const sign = order === 'desc' ? -1 : 1
  const entries = groupEntries(seen.facts, await seen.index(), seen.showing)
  const all = entries.filter(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(search))
  const by = SORTS[sort]
  all.sort((a, b) => {
    const [left, right] = [by(a), by(b)]
    return left === right ? (a.id < b.id ? -1 : 1) : sign * (left < right ? -1 : 1)
  })
  return { ...headAbout('GroupList', seen), ...pageOf(all, question) }
}

const SORTS: Readonly<Record<(typeof GROUP_SORTS)[number], (entry: GroupEntry) => string | number>> = {
  near: ({ near = 0, members }) => near + members / 1_000_000,
  name: ({ name }) => name.toLowerCase(),
  use: ({ used }) => used ?? -1,
  members: ({ members }) => members,
  cap: ({ cap }) => (typeof cap === 'number' ? cap : -1),
}

/** Every declared group, and those that were read before their declaration was removed. */
export function groupEntries(facts: WorkspaceFacts, index: PeopleIndex, showing: Showing): GroupEntry[] {
  const { view, policy } = facts
  const members = membersByGroup(index.rows)
  const declared = new Map((policy?.set.groups ?? []).map(({ scope, name, at }) => [scope.id, { name, at }]))
  const listed = new Map(view.groups.map((group) => [group.id, group]))
  const states = new Map(view.scopes.flatMap((status) => (status.scope.kind === 'group' ? [[status.scope.id, status] as const] : [])))
  // Of readers of some people the roster is cut: its sum is not the team's.
  const total = showing.isPart || !view.roster ? undefined : usedIn(view.roster)
  return [...new Set([...declared.keys(), ...listed.keys()])].map((id): GroupEntry => {
    const [group, people] = [listed.get(id), members.get(id) ?? []]
    const status = states.get(id)
    const reading = facts.readings?.get(scopeKey(groupScope(id)))
    const addOn = sumKnown(people.map((row) => row.addOn))
    const bands = countBands(people)
    const source = worstSource(people.map((row) => row.source))
    const at = declared.get(id)?.at ?? status?.source
    return {
      id: showing.people.text(id),
      name: showing.people.text(declared.get(id)?.name ?? group?.name ?? id),
      known: group !== undefined && facts.unknownGroups?.includes(id) !== true,
      members: group?.emails.length ?? 0,
      cap: status?.desired,
      observed: status?.observed ?? reading?.observed,
      state: status?.state,
      ...(group?.used !== undefined && {
        used: cents(group.used),
        share: total !== undefined && total > 0 ? ratio(group.used / total) : undefined,
      }),
      ...(addOn !== undefined && { addOn: cents(addOn), addOnSource: source }),
      ...(bands && { bands, near: countNear(people) }),
      source: at && placeOf(at, showing, view.policy?.revision),
      readAt: rfc3339(group?.readAt),
    }
  })
}
