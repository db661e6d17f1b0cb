// One row for each person of a workspace: cap in force, use, band and the declaration that decides. The rows are made once for a state of the workspace,
// then searched, sorted and paged. Requests name people as they are shown, so that no request needs an e-mail where hashes are shown.

import { effectiveCap, groupsOfEach } from '../../../../core/interpret/effective.ts'
import type { PersonStatus, ScopeState } from '../../../../core/model/events.ts'
import type { Person } from '../../../../core/model/observed.ts'
import { normaliseEmail, type ScopeKey, scopeKey, userScope } from '../../../../core/model/scope.ts'
import type { Candidate } from '../../../../core/resolve/candidate.ts'
import { resolvePerson } from '../../../../core/resolve/desired.ts'
import { bandRank } from '../../../../core/use/first-stop.ts'
import type { Clock } from '../../../../ports.ts'
import { planShows, shownAt } from '../../../conditions/view.ts'
import { mapYielding } from '../show.ts'
import type { Showing, WorkspaceFacts } from '../types.ts'

/** Every row has every field: objects of one shape take a third of the memory. */
export type PersonRow = Readonly<ReturnType<typeof rowOf>>

export interface PeopleIndex {
  /** In the order of the roster, then people who are only in policies. */
  readonly rows: readonly PersonRow[]
  /** Indexes of the rows in each order that was asked for. */
  readonly orders: Map<string, Uint32Array>
  /** Names of declarations, as `ruleName` makes them. */
  readonly names: Map<Candidate, string>
}

/** The person who is shown by this label. */
export const personShown = ({ rows }: PeopleIndex, label: string): PersonRow | undefined => {
  const wanted = normaliseEmail(label)
  return rows.find((row) => row.label === wanted)
}

/** What is left of the cap; negative when over it. */
export const headRoomOf = ({ cap, addOn }: PersonRow): number | undefined =>
  typeof cap === 'number' && addOn !== undefined ? cap - addOn : undefined

/** Add-on use over the cap. */
export const shareOf = ({ cap, addOn }: PersonRow): number | undefined =>
  typeof cap === 'number' && cap > 0 && addOn !== undefined ? addOn / cap : undefined

/** How many are at 85 % of their cap or more. */
export const countNear = (people: readonly Pick<PersonRow, 'band'>[]): number =>
  people.filter(({ band }) => bandRank(band) >= bandRank('85_to_95')).length

/** The ids of a person's declared groups. */
export const groupIdsOf = ({ groups }: PersonRow): readonly string[] => groups.map((key) => key.slice('group:'.length))

/** Members of each group. */
export function membersByGroup(rows: readonly PersonRow[]): ReadonlyMap<string, readonly PersonRow[]> {
  const memberships = rows.flatMap((row) => groupIdsOf(row).map((id) => ({ id, row })))
  return new Map([...Map.groupBy(memberships, ({ id }) => id)].map(([id, all]) => [id, all.map(({ row }) => row)]))
}

/** The declaration that decides, as a word to filter by: `team`, `group:ID`, `user`, `rule NAME`, `pool NAME`, or `grant …`. */
export function ruleName({ kind, scope, rule, pool }: Candidate): string {
  if (rule !== undefined) return `rule ${rule}`
  if (pool !== undefined) return `pool ${pool}`
  const at = scope.kind === 'user' ? 'user' : scopeKey(scope)
  return kind === 'cap' ? at : `${kind} ${at}`
}

/** The declaration that decides for a person; `none` where there is none. */
export function ruleOf({ winner }: PersonRow, { names }: PeopleIndex): string {
  if (!winner) return 'none'
  const name = names.get(winner) ?? ruleName(winner)
  names.set(winner, name)
  return name
}

type Whole = WorkspaceFacts & Pick<Showing, 'people'> & { readonly clock: Clock }

export async function peopleIndex(whole: Whole): Promise<PeopleIndex> {
  const { view } = whole
  const roster = view.roster?.people ?? []
  const known = new Set(roster.map(({ email }) => email))
  const states = new Map(view.scopes.flatMap(({ scope, state }) => (scope.kind === 'user' ? [[scope.email, state] as const] : [])))
  const others = [...states.keys()].filter((email) => !known.has(email))
  const around: Around = {
    whole,
    shown: shownAt(view.people),
    states,
    groupsOf: groupsOfEach(view.groups),
  }
  const rows = await mapYielding<Person | string, PersonRow>([...roster, ...others], whole, (person) => rowOf(around, person))
  return { rows, orders: new Map(), names: new Map() }
}

interface Around {
  readonly whole: Whole
  readonly shown: ReadonlyMap<string, PersonStatus>
  readonly states: ReadonlyMap<string, ScopeState>
  readonly groupsOf: ReadonlyMap<string, readonly ScopeKey[]>
}

const NO_GROUPS: readonly ScopeKey[] = []

function rowOf({ whole, groupsOf, ...around }: Around, person: Person | string) {
  const { view, desiredState, people } = whole
  const email = typeof person === 'string' ? person : person.email
  const row = typeof person === 'string' ? undefined : person
  const shown = around.shown.get(email)
  const counted = desiredState?.people.byKey.get(scopeKey(userScope(email)))
  const inForce = counted && desiredState && effectiveCap(counted, (key) => planShows(desiredState, key))
  const resolved = desiredState && resolvePerson(email, desiredState.inputs)
  const isApproved = shown !== undefined || row?.status === 'approved' || view.roster?.statusesAbsent === true
  return {
    email,
    label: people.label(email),
    status: row === undefined ? ('off-roster' as const) : isApproved ? ('approved' as const) : row.status,
    disabled: row?.disabled ?? false,
    /** Keys of declared groups. */
    groups: counted?.groups ?? groupsOf.get(email) ?? NO_GROUPS,
    // Another replica's readings have no last known caps, but its people do.
    cap: (inForce?.cap === 'unknown' ? undefined : inForce?.cap) ?? shown?.cap ?? inForce?.cap,
    from: inForce?.from,
    declared: resolved?.cap,
    /** The declaration that decides; `ruleName` says what it is called. */
    winner: resolved?.chain[0],
    used: row?.used,
    addOn: shown?.used,
    source: shown?.source,
    band: shown?.band,
    state: around.states.get(email),
  }
}
