// Every declared cap with its line, its value, its state, and the people for whom it decides now.

import { GRANT_STATES, SCOPE_STATES, type WorkspaceView } from '../../../core/model/events.ts'
import { ENTRY_KINDS } from '../../../core/model/policy.ts'
import { formatPosition, type Position } from '../../../core/model/problem.ts'
import { byScope, type Scope, scopeKey } from '../../../core/model/scope.ts'
import { asked, limitOf, PAGE, pageOf, type Query, type Seen, text, word } from './documents.ts'
import { optional, record, type Shown, type SourceOf } from './field.ts'
import * as t from './parts.ts'
import { countNear, type PeopleIndex } from './people/roster.ts'
import { scopeText } from './show.ts'

export const POLICIES_QUERY = [
  word('kind', ENTRY_KINDS, 'What is declared.'),
  text('search', 'Part of the name, reason, ticket or file.'),
  PAGE,
  limitOf(100, 500),
]

const MOST_PROTECTED = 200

const reach = record('A declared cap, and the people it applies to.')({
  kind: t.words(ENTRY_KINDS),
  name: t.plain('`team`, `group:ID`, a person, or the name of a rule or pool.'),
  credits: optional(t.figure('Of a pool: credits of all members together, in one cycle.')),
  people: t.count('People for whom it decides now.'),
  members: optional(t.count('People in its scope; a more specific declaration may decide for some.')),
  near: t.count('People for whom it decides who are at 85 % of their cap or more.'),
  source: t.place,
  cap: optional(t.cap('The declared cap.')),
  add: optional(t.count('What a grant adds.')),
  state: optional(t.words([...SCOPE_STATES, ...GRANT_STATES], 'Of the scope, or of the grant.')),
  observed: optional(t.observed()),
  from: optional(t.instant('When a grant starts.')),
  until: optional(t.instant('When a grant ends.')),
  reason: optional(t.text()),
  ticket: optional(t.text()),
})
type PolicyRow = Shown<typeof reach>
type Declared = SourceOf<typeof reach>

const protectedPerson = record('A person whose cap is never lowered.')({ person: t.person(), source: t.place })

export const POLICIES = record('Every declared cap with its line and the people it applies to.')({
  ...t.about('PolicyList'),
  policy: optional(t.policyState),
  ...t.problems('Problems of the files.'),
  documents: t.list(t.text(), 'Names of the policy documents.'),
  ...t.bounded('protected', MOST_PROTECTED, protectedPerson, 'Protected people.'),
  ...t.paged(t.made(reach), 'The team, groups, rules, pools, people, grants.'),
})

export async function policiesDocument(seen: Seen, query: Query = {}) {
  const question = asked(query, POLICIES_QUERY)
  const { view, policy } = seen
  const index = await seen.index()
  const kind = question.word('kind', ENTRY_KINDS)
  const search = question.text('search')?.toLowerCase() ?? ''
  const fitting = entriesOf(seen, index).filter((entry) => (kind === undefined || entry.kind === kind) && matches(entry, search))
  const { revision = '', set } = policy ?? {}
  const protectedPeople = (set?.protectedPeople ?? []).map(({ scope, at }) => ({ person: scope.email, source: { ...at, revision } }))
  const known = { view, policy: view.policy, documents: set?.documents ?? [], protected: protectedPeople }
  return POLICIES.show({ ...known, ...pageOf(fitting, question) }, seen)
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
    source: { ...at, revision: policy.revision },
  })
  const about = (scope: Scope, at: Position) => ({ name: scopeText(scope, seen), ...counted(decidedAt(at), at, membersOf(scope, view)) })
  const caps = policy.set.rules.map(({ scope, cap, at, reason }): Declared => {
    const { state, observed } = status.get(scopeKey(scope)) ?? {}
    return { kind: scope.kind, ...about(scope, at), cap, state, observed, reason }
  })
  const grants = (desiredState?.resolution.grants ?? []).map(({ grant, state, untilAt }): Declared => {
    const { scope, at, reason, ticket, amount, fromAt } = grant
    const set = amount.kind === 'cap' ? { cap: amount.credits } : { add: amount.credits }
    return { kind: 'grant', ...about(scope, at), ...set, state, from: fromAt, until: untilAt, reason, ticket }
  })
  const pools = policy.set.pools.map(({ name, credits, at }): Declared => {
    const rows = index.rows.filter(({ winner }) => winner?.pool === name)
    const members = desiredState?.resolution.pools.find(({ pool }) => pool.name === name)?.members
    return { kind: 'pool', name: people.text(name), credits, ...counted(rows, at, members?.length) }
  })
  const peopleRules = policy.set.peopleRules.map(
    ({ name, cap, at, reason }): Declared => ({ kind: 'rule', name: people.text(name), cap, ...counted(decidedAt(at), at), reason }),
  )
  return [...caps, ...peopleRules, ...pools, ...grants]
    .map((one) => reach.show(one, seen))
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (a.name < b.name ? -1 : 1))
}

const ORDER: readonly PolicyRow['kind'][] = ['team', 'group', 'rule', 'pool', 'grant', 'user']

function membersOf(scope: Scope, view: WorkspaceView): number | undefined {
  if (scope.kind === 'team') return view.people.length
  return scope.kind === 'group' ? view.groups.find(({ id }) => id === scope.id)?.emails.length : undefined
}
