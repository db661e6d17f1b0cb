// Every declared cap with its line, its value, its state, and the people for whom it decides now.

import type { ScopeStatus } from '../../../core/model/events.ts'
import { ENTRY_KINDS } from '../../../core/model/policy.ts'
import { formatPosition, type Position } from '../../../core/model/problem.ts'
import { byScope, type Scope, scopeKey } from '../../../core/model/scope.ts'
import type { Query, Seen } from './documents.ts'
import { countNear, type PeopleIndex } from './people/roster.ts'
import { asked, limitOf, PAGE, pageOf, text, word } from './query.ts'
import { bounded, grantEntryOf, headAbout, placeOf, problemsOf, scopeText } from './show.ts'
import { policyOf } from './summary.ts'
import type { PolicyListDocument, PolicyRow, Showing, WorkspaceFacts } from './types.ts'

export const POLICIES_QUERY = [
  word('kind', ENTRY_KINDS, 'What is declared.'),
  text('search', 'Part of the name, reason, ticket or file.'),
  PAGE,
  limitOf(100, 500),
]

const MOST_PROTECTED = 200

export async function policiesDocument(seen: Seen, query: Query = {}): Promise<PolicyListDocument> {
  const question = asked(query, POLICIES_QUERY)
  const { facts, showing } = seen
  const index = await seen.index()
  const kind = question.word('kind', ENTRY_KINDS)
  const search = question.text('search')?.toLowerCase() ?? ''
  const { view, policy } = facts
  const fitting = entriesOf(facts, index, showing).filter((entry) => (kind === undefined || entry.kind === kind) && matches(entry, search))
  return {
    ...headAbout('PolicyList', seen),
    policy: view.policy && policyOf(view.policy),
    ...problemsOf(view, showing),
    documents: (policy?.set.documents ?? []).map((name) => showing.people.text(name)),
    ...bounded('protected', policy?.set.protectedPeople ?? [], MOST_PROTECTED, ({ scope, at }) => ({
      person: showing.people.label(scope.email),
      source: placeOf(at, showing, policy?.revision),
    })),
    ...pageOf(fitting, question),
  }
}

const matches = ({ name, reason = '', ticket = '', source }: PolicyRow, search: string): boolean =>
  search === '' || `${name}\n${reason}\n${ticket}\n${source.file}`.toLowerCase().includes(search)

function entriesOf(facts: WorkspaceFacts, index: PeopleIndex, showing: Showing): readonly PolicyRow[] {
  const { policy, desiredState, view } = facts
  if (!policy) return []
  const { people } = showing
  const decided = Map.groupBy(
    index.rows.filter((row) => row.status === 'approved' && row.winner),
    ({ winner }) => (winner ? formatPosition(winner.at) : ''),
  )
  const status = byScope(view.scopes)
  const about = (scope: Scope, at: Position) => {
    const rows = decided.get(formatPosition(at)) ?? []
    const members = membersOf(scope, facts)
    return {
      name: scopeText(scope, showing),
      people: rows.length,
      members,
      near: countNear(rows),
      source: placeOf(at, showing, policy.revision),
    }
  }
  const caps = policy.set.rules.map(
    ({ scope, cap, at, reason }): PolicyRow => ({
      kind: scope.kind,
      ...about(scope, at),
      cap,
      ...stateOf(status.get(scopeKey(scope))),
      reason: people.text(reason),
    }),
  )
  const peopleRules = policy.set.peopleRules.map(({ name, cap, at, reason }): PolicyRow => {
    const rows = decided.get(formatPosition(at)) ?? []
    return {
      kind: 'rule',
      name: people.text(name),
      cap,
      people: rows.length,
      near: countNear(rows),
      source: placeOf(at, showing, policy.revision),
      reason: people.text(reason),
    }
  })
  const grants = (desiredState?.resolution.grants ?? []).map((status): PolicyRow => {
    const { scope, at } = status.grant
    return { kind: 'grant', ...about(scope, at), ...grantEntryOf(status, showing) }
  })
  const pools = policy.set.pools.map(({ name, credits, at }): PolicyRow => {
    const rows = index.rows.filter(({ winner }) => winner?.pool === name)
    const members = desiredState?.resolution.pools.find(({ pool }) => pool.name === name)?.members
    return {
      kind: 'pool',
      name: people.text(name),
      credits,
      people: rows.length,
      members: members?.length,
      near: countNear(rows),
      source: placeOf(at, showing, policy.revision),
    }
  })
  return [...caps, ...peopleRules, ...pools, ...grants].sort(
    (a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
  )
}

const ORDER: readonly PolicyRow['kind'][] = ['team', 'group', 'rule', 'pool', 'grant', 'user']

const stateOf = (status: ScopeStatus | undefined) => (status ? { state: status.state, observed: status.observed } : {})

function membersOf(scope: Scope, { view }: WorkspaceFacts): number | undefined {
  if (scope.kind === 'team') return view.people.length
  return scope.kind === 'group' ? view.groups.find(({ id }) => id === scope.id)?.emails.length : undefined
}
