// Every declared cap with its line, its value, its state, and the people for whom it decides now.

import type { ScopeStatus, WorkspaceView } from '../../../core/model/events.ts'
import { ENTRY_KINDS } from '../../../core/model/policy.ts'
import { formatPosition, type Position } from '../../../core/model/problem.ts'
import { byScope, type Scope, scopeKey } from '../../../core/model/scope.ts'
import { asked, limitOf, PAGE, pageOf, type Query, type Seen, text, word } from './documents.ts'
import { countNear, type PeopleIndex } from './people/roster.ts'
import { bounded, grantEntryOf, headAbout, placeOf, problemsOf, scopeText } from './show.ts'
import { policyOf } from './summary.ts'
import type { PolicyListDocument, PolicyRow } from './types.ts'

export const POLICIES_QUERY = [
  word('kind', ENTRY_KINDS, 'What is declared.'),
  text('search', 'Part of the name, reason, ticket or file.'),
  PAGE,
  limitOf(100, 500),
]

const MOST_PROTECTED = 200

export async function policiesDocument(seen: Seen, query: Query = {}): Promise<PolicyListDocument> {
  const question = asked(query, POLICIES_QUERY)
  const { view, policy, people } = seen
  const index = await seen.index()
  const kind = question.word('kind', ENTRY_KINDS)
  const search = question.text('search')?.toLowerCase() ?? ''
  const fitting = entriesOf(seen, index).filter((entry) => (kind === undefined || entry.kind === kind) && matches(entry, search))
  return {
    ...headAbout('PolicyList', seen),
    policy: view.policy && policyOf(view.policy),
    ...problemsOf(seen),
    documents: (policy?.set.documents ?? []).map((name) => people.text(name)),
    ...bounded('protected', policy?.set.protectedPeople ?? [], MOST_PROTECTED, ({ scope, at }) => ({
      person: people.label(scope.email),
      source: placeOf(at, seen, policy?.revision),
    })),
    ...pageOf(fitting, question),
  }
}

const matches = ({ name, reason = '', ticket = '', source }: PolicyRow, search: string): boolean =>
  search === '' || `${name}\n${reason}\n${ticket}\n${source.file}`.toLowerCase().includes(search)

function entriesOf(seen: Seen, index: PeopleIndex): readonly PolicyRow[] {
  const { policy, desiredState, view, people } = seen
  if (!policy) return []
  const decided = Map.groupBy(
    index.rows.filter((row) => row.status === 'approved' && row.winner),
    ({ winner }) => (winner ? formatPosition(winner.at) : ''),
  )
  const status = byScope(view.scopes)
  const decidedAt = (at: Position) => decided.get(formatPosition(at)) ?? []
  /** `rows`: of the people for whom it decides. */
  const counted = (rows: PeopleIndex['rows'], at: Position, members?: number) => ({
    people: rows.length,
    members,
    near: countNear(rows),
    source: placeOf(at, seen, policy.revision),
  })
  const about = (scope: Scope, at: Position) => ({
    name: scopeText(scope, seen),
    ...counted(decidedAt(at), at, membersOf(scope, view)),
  })
  const caps = policy.set.rules.map(
    ({ scope, cap, at, reason }): PolicyRow => ({
      kind: scope.kind,
      ...about(scope, at),
      cap,
      ...stateOf(status.get(scopeKey(scope))),
      reason: people.text(reason),
    }),
  )
  const peopleRules = policy.set.peopleRules.map(
    ({ name, cap, at, reason }): PolicyRow => ({
      kind: 'rule',
      name: people.text(name),
      cap,
      ...counted(decidedAt(at), at),
      reason: people.text(reason),
    }),
  )
  const grants = (desiredState?.resolution.grants ?? []).map((one): PolicyRow => {
    const { scope, at } = one.grant
    return { kind: 'grant', ...about(scope, at), ...grantEntryOf(one, seen) }
  })
  const pools = policy.set.pools.map(({ name, credits, at }): PolicyRow => {
    const rows = index.rows.filter(({ winner }) => winner?.pool === name)
    const members = desiredState?.resolution.pools.find(({ pool }) => pool.name === name)?.members
    return { kind: 'pool', name: people.text(name), credits, ...counted(rows, at, members?.length) }
  })
  return [...caps, ...peopleRules, ...pools, ...grants].sort(
    (a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
  )
}

const ORDER: readonly PolicyRow['kind'][] = ['team', 'group', 'rule', 'pool', 'grant', 'user']

const stateOf = (status: ScopeStatus | undefined) => (status ? { state: status.state, observed: status.observed } : {})

function membersOf(scope: Scope, view: WorkspaceView): number | undefined {
  if (scope.kind === 'team') return view.people.length
  return scope.kind === 'group' ? view.groups.find(({ id }) => id === scope.id)?.emails.length : undefined
}
