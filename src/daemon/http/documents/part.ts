// What a reader sees of a workspace of which only some people are theirs to see. The facts are cut before any document is made of them, so a document
// cannot tell what is not in them: a fact that is not named here does not exist for such a reader.

import { GRANT_STATES, type GrantState, type WorkspaceView } from '../../../core/model/events.ts'
import { groupScope, type ScopeKey, scopeKey, userScope } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { Candidate } from '../../../core/resolve/candidate.ts'
import type { PartSight } from '../auth.ts'
import type { PeopleLabels } from '../labels.ts'
import type { Seen } from './documents.ts'
import type { PeopleIndex } from './people/roster.ts'
import type { Records } from './types.ts'

/** Members of a group that was not read for this long are shown to nobody. Choice. */
const MEMBERS_LIFE_MS = DAY_MS
/** Restricted documents name this instant, so that their age tells of nobody's changes. Choice. */
const STEP_MS = 15_000

/** The kind of a declaration, without a name or a place: `user`, `group grant`, `rule`. */
export function entryWord({ kind, scope }: Pick<Candidate, 'kind' | 'scope'>): string {
  if (kind === 'cap') return scope.kind
  return kind === 'grant' ? `${scope.kind} grant` : kind
}

/** The reason that a policy gives. What capkeeper words around it for rules, pools and conflicts names groups, figures and people of others. */
export const declaredReason = ({ kind, reason, ownReason }: Pick<Candidate, 'kind' | 'reason' | 'ownReason'>): string | undefined =>
  kind === 'cap' || kind === 'grant' ? reason : ownReason

/** `hashed`: labels as hashes, whatever the config shows to others. */
export function partOf(whole: Seen, sight: PartSight, hashed: PeopleLabels): Seen {
  const { view, readings, clock, now, requestUrl, workspace, creditsPerSeat } = whole
  const cut = cutOf(whole, sight, hashed)
  const { keys, people } = cut
  // Named one by one: what is not here does not exist for such a reader.
  return {
    ...{ people, clock, now: stepOf(now), isPart: true, requestUrl, workspace, creditsPerSeat },
    view: viewOf(view, cut),
    readings: readings && new Map([...readings].filter(([key]) => keys.has(key))),
    grants: whole.grants.filter(({ grant }) => keys.has(scopeKey(grant.scope))),
    writes: async (sinceAt) => (await whole.writes(sinceAt)).filter(({ scope }) => keys.has(scopeKey(scope))),
    records: recordsOf(whole.records),
    async index() {
      const index = await whole.index()
      return once(cut, index.rows, () => indexOf(index, cut))
    },
  }
}

/** Everything is seen, and the people of these groups by address. */
export function namedOf(whole: Seen, ids: readonly string[]): Seen {
  const named = membersOf(whole, ids)
  if (named.size === 0 || whole.people.shown === 'email') return whole
  const people = labelsOf(whole.people, (email) => named.has(email), false)
  const labelled = ({ rows, names }: PeopleIndex): PeopleIndex => ({
    ...{ names, orders: new Map() },
    rows: rows.map((row) => (named.has(row.email) ? { ...row, label: row.email } : row)),
  })
  return { ...whole, people, index: async () => labelled(await whole.index()) }
}

function indexOf(index: PeopleIndex, { seen, keys, people }: Cut): PeopleIndex {
  const rows = index.rows
    .filter(({ email }) => seen.has(email))
    .map((row) => ({
      ...row,
      label: people.label(row.email),
      groups: row.groups.filter((key) => keys.has(key)),
      from: row.from === undefined || row.from === 'team' || keys.has(row.from) ? row.from : undefined,
    }))
  const names = new Map(rows.flatMap(({ winner }) => (winner ? [[winner, entryWord(winner)] as const] : [])))
  return { rows, names, orders: new Map() }
}

/** What a sight comes to while the members of the groups are the same. */
interface Cut {
  readonly groups: WorkspaceView['groups']
  readonly seen: ReadonlySet<string>
  readonly keys: ReadonlySet<ScopeKey>
  readonly people: PeopleLabels
}

/** Made once for each reading of the groups and sight: the sights are as many as the entries of `viewers` allow. */
function cutOf(whole: Seen, sight: PartSight, hashed: PeopleLabels): Cut {
  const { shown } = whole.people
  const groups = groupsOf(whole, sight.groups)
  const known = once(whole.view.groups, hashed, () => new Map<string, Cut>())
  const key = JSON.stringify([groups.map(({ id }) => id), sight.named, shown])
  const before = known.get(key)
  if (before) return before
  const [seen, named] = [membersOf(whole, sight.groups), membersOf(whole, sight.named)]
  const isNamed = (email: string): boolean => seen.has(email) && (named.has(email) || shown === 'email')
  const keys = new Set<ScopeKey>([
    ...[...seen].map((email) => scopeKey(userScope(email))),
    ...groups.map(({ id }) => scopeKey(groupScope(id))),
  ])
  const cut = { groups, seen, keys, people: labelsOf(hashed, isNamed, [...seen].every(isNamed)) }
  known.set(key, cut)
  return cut
}

const groupsOf = ({ view, now }: Seen, ids: readonly string[]): WorkspaceView['groups'] =>
  view.groups.filter(({ id, readAt }) => ids.includes(id) && now - readAt <= MEMBERS_LIFE_MS)

const membersOf = (seen: Seen, ids: readonly string[]): ReadonlySet<string> =>
  new Set(groupsOf(seen, ids).flatMap(({ emails }) => [...emails]))

const made = new WeakMap<object, WeakMap<object, unknown>>()

/** Makes a value once for two immutable objects, which must not be the two of another maker. */
function once<T>(first: object, second: object, make: () => T): T {
  const known = made.get(first) ?? new WeakMap<object, unknown>()
  made.set(first, known)
  if (!known.has(second)) known.set(second, make())
  return known.get(second) as T
}

/** The last instant that restricted documents name. */
export const stepOf = (now: Instant): Instant => Math.floor(now / STEP_MS) * STEP_MS

/** An address in a text is always hashed: it may be that of somebody out of sight. */
const labelsOf = (hashed: PeopleLabels, isNamed: (email: string) => boolean, areAllNamed: boolean): PeopleLabels => ({
  shown: areAllNamed ? 'email' : 'hash',
  label: (email) => (isNamed(email) ? email : hashed.label(email)),
  text: hashed.text,
  all: hashed.all,
})

const NO_GRANTS = Object.fromEntries(GRANT_STATES.map((state) => [state, 0])) as Record<GrantState, number>

function viewOf({ workspace, mode, roster, people, scopes }: WorkspaceView, cut: Cut): WorkspaceView {
  const { groups, seen, keys } = cut
  return {
    workspace,
    mode,
    groups,
    roster: roster && {
      people: once(cut, roster.people, () => roster.people.filter(({ email }) => seen.has(email))),
      readAt: roster.readAt,
      cycle: roster.cycle,
      statusesAbsent: roster.statusesAbsent,
      duplicates: [],
    },
    people: once(cut, people, () => people.filter(({ email }) => seen.has(email))),
    scopes: once(cut, scopes, () =>
      scopes
        .filter(({ scope }) => keys.has(scopeKey(scope)))
        .map(({ scope, state, desired, observed }) => ({ scope, state, observed, desired })),
    ),
    holds: [],
    approvals: [],
    grants: NO_GRANTS,
    conditions: [],
  }
}

/** Writes name plans and revisions, and holds are of others too. */
const recordsOf = ({ runs, useOfPerson, addOnOfPerson, gradesOfPerson, fact }: Records): Records => ({
  history: async () => [],
  runs,
  useOfPerson,
  addOnOfPerson,
  // Since when readings tell of anybody, or use is measured, depends on people out of sight.
  async gradesOfPerson(email, days) {
    const [first] = await addOnOfPerson(email, days)
    return (await gradesOfPerson(email, days)).flatMap((one) => {
      const fromAt = one.grade === 'measured' ? Math.max(one.fromAt, first?.dayAt ?? one.untilAt) : one.fromAt
      return fromAt < one.untilAt && (one.grade === 'measured' || one.grade === 'reconstructed') ? [{ ...one, fromAt }] : []
    })
  },
  fact: async (name) => (name === 'runsAsked' || name === 'addOnAsked' ? fact(name) : undefined),
})
