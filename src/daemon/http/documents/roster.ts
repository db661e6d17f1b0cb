// Everybody of a workspace as one row each: cap in force, use, band and what decides. Made once for a state of the workspace and then searched,
// sorted and paged; people are known by how they are shown, so that an address never stands in a request where hashes are shown.

import { effectiveCap } from '../../../core/interpret/effective.ts'
import type { Band, PersonStatus, ScopeState } from '../../../core/model/events.ts'
import type { MemberStatus, Observed, Person } from '../../../core/model/observed.ts'
import type { Cap } from '../../../core/model/policy.ts'
import { type ScopeKey, scopeKey, userScope } from '../../../core/model/scope.ts'
import { type Candidate, resolvePerson } from '../../../core/resolve/desired.ts'
import { estimatedAddOnUse } from '../../../core/use/bands.ts'
import type { Showing, WorkspaceFacts } from './facts.ts'
import { mapAtEase } from './show.ts'

export interface PersonRow {
  readonly email: string
  readonly label: string
  readonly status: MemberStatus | 'off-roster'
  readonly disabled: boolean
  /** Ids of declared groups. */
  readonly groups: readonly string[]
  readonly cap?: Observed
  readonly from?: ScopeKey
  readonly declared?: Cap
  /** The declaration that decides; `ruleName` says what it is called. */
  readonly winner?: Candidate
  readonly used?: number
  readonly addOn?: number
  readonly headRoom?: number
  readonly share?: number
  readonly band?: Band
  readonly state?: ScopeState
}

export interface PeopleIndex {
  /** In the order of the roster, then people whom only the policies know. */
  readonly rows: readonly PersonRow[]
  readonly byLabel: ReadonlyMap<string, PersonRow>
}

/** What decides about a person, as a word to filter by: `team`, `group:ID`, `user`, and `grant …` for grants on them. */
export function ruleName({ kind, scope }: Candidate): string {
  const at = scope.kind === 'user' ? 'user' : scopeKey(scope)
  return kind === 'rule' ? at : `${kind} ${at}`
}

/** Looks at everybody once, without holding anybody up. */
export async function peopleIndex(facts: WorkspaceFacts, showing: Showing): Promise<PeopleIndex> {
  const { view } = facts
  const shown = new Map(view.people.map((one) => [one.email, one]))
  const states = new Map(view.scopes.flatMap(({ scope, state }) => (scope.kind === 'user' ? [[scope.email, state] as const] : [])))
  const groupsOf = new Map<string, string[]>()
  for (const { id, emails } of view.groups) {
    for (const email of emails) groupsOf.set(email, [...(groupsOf.get(email) ?? []), id])
  }
  const roster = view.roster?.people ?? []
  const known = new Set(roster.map(({ email }) => email))
  const others = [...states.keys()].filter((email) => !known.has(email))
  const one = (person: Person | string): PersonRow => {
    const email = typeof person === 'string' ? person : person.email
    return rowOf({ facts, showing, shown: shown.get(email), state: states.get(email), groups: groupsOf.get(email) ?? [] }, person)
  }
  const rows = await mapAtEase<Person | string, PersonRow>([...roster, ...others], showing, one)
  return { rows, byLabel: new Map(rows.map((row) => [row.label, row])) }
}

interface Around {
  readonly facts: WorkspaceFacts
  readonly showing: Showing
  readonly shown: PersonStatus | undefined
  readonly state: ScopeState | undefined
  readonly groups: readonly string[]
}

function rowOf({ facts, showing, shown, state, groups }: Around, person: Person | string): PersonRow {
  const { view, outlook } = facts
  const email = typeof person === 'string' ? person : person.email
  const row = typeof person === 'string' ? undefined : person
  const counted = outlook?.people.byKey.get(scopeKey(userScope(email)))
  const inForce = counted && facts.readings && effectiveCap(counted, (key) => facts.readings?.get(key)?.observed)
  const cap = inForce?.cap ?? shown?.cap
  const addOn = shown?.used ?? estimatedAddOnUse(row?.used, view.balance?.creditsPerSeat)
  const resolved = outlook && resolvePerson(email, outlook.inputs)
  const [winner] = resolved?.chain ?? []
  const isApproved = shown !== undefined || row?.status === 'approved' || view.roster?.statusesAbsent === true
  return {
    email,
    label: showing.people.label(email),
    status: row === undefined ? 'off-roster' : isApproved ? 'approved' : row.status,
    disabled: row?.disabled ?? false,
    groups,
    ...(cap !== undefined && { cap }),
    ...(inForce?.from && { from: inForce.from }),
    ...(resolved && { declared: resolved.cap }),
    ...(winner && { winner }),
    ...(row?.used !== undefined && { used: row.used }),
    ...(addOn !== undefined && { addOn }),
    ...(typeof cap === 'number' && addOn !== undefined && { headRoom: cap - addOn, ...(cap > 0 && { share: addOn / cap }) }),
    ...(shown?.band && { band: shown.band }),
    ...(state && { state }),
  }
}
