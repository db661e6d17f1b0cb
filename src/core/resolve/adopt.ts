// What `import` makes of the caps in force: the declarations that ask for exactly what is there, so that planning them changes nothing. It
// decides what is worth a line: a person whose reading only shows the wider cap is not declared. It must never invent a cap.
import type { Cap } from '../model/policy.ts'

/** What was read, all of it known; `none` is a scope without a cap of its own. */
export interface LiveCaps {
  readonly team: Cap
  readonly groups: readonly LiveGroup[]
  readonly people: readonly { readonly email: string; readonly cap: Cap }[]
}

export interface LiveGroup {
  readonly id: string
  readonly name: string
  readonly cap: Cap
  readonly emails: readonly string[]
}

/** The caps to declare. */
export interface Adopted {
  readonly team: Cap
  readonly groups: readonly LiveGroup[]
  readonly people: readonly { readonly email: string; readonly cap: Cap }[]
  /** Groups without a cap of their own: not declared, as policy would have to manage them. */
  readonly bare: readonly LiveGroup[]
  /** People and groups that read the wider cap, and are left to it. */
  readonly left: number
  /** People without a cap of their own whose groups have different caps; policy has to say which one counts (`onGroupConflict`). */
  readonly conflicts: readonly string[]
}

/**
 * Works out the declarations. Where every person under a wider cap reads a value, reads are taken to show inherited or copied values, and
 * what equals the wider cap is left out; else every cap that is set is somebody's decision, and is declared. Choice.
 */
export function adopt(live: LiveCaps): Adopted {
  const groupsOf = membership(live.groups)
  const inherits = showsInherited(live, groupsOf)
  const [groups, bare, shadows] = [[] as LiveGroup[], [] as LiveGroup[], [] as LiveGroup[]]
  for (const group of live.groups) (group.cap === 'none' ? bare : inherits && group.cap === live.team ? shadows : groups).push(group)
  const set = live.people.filter(({ cap }) => cap !== 'none')
  const people = set.filter(({ email, cap }) => !(inherits && cap === inheritedCap(live.team, groupsOf.get(email) ?? [])))
  const declared = new Set(people.map(({ email }) => email))
  const isTorn = (email: string): boolean => !declared.has(email) && inheritedCap(live.team, groupsOf.get(email) ?? []) === 'conflict'
  return {
    team: live.team,
    groups,
    people,
    bare,
    left: set.length - people.length + shadows.length,
    conflicts: live.people.flatMap(({ email }) => (isTorn(email) ? [email] : [])),
  }
}

function membership(groups: readonly LiveGroup[]): ReadonlyMap<string, readonly LiveGroup[]> {
  const byEmail = new Map<string, LiveGroup[]>()
  for (const group of groups) {
    for (const email of group.emails) {
      const known = byEmail.get(email)
      if (known) known.push(group)
      else byEmail.set(email, [group])
    }
  }
  return byEmail
}

/** What a person without a cap of their own has; `conflict` when their groups have different caps. */
function inheritedCap(team: Cap, groups: readonly LiveGroup[]): Cap | 'conflict' {
  const caps = new Set(groups.flatMap(({ cap }) => (cap === 'none' ? [] : [cap])))
  const [only, ...others] = caps
  if (only === undefined) return team
  return others.length === 0 ? only : 'conflict'
}

/** Nobody under a wider cap reads as unset, and somebody reads just that cap. */
function showsInherited({ team, people }: LiveCaps, groupsOf: ReadonlyMap<string, readonly LiveGroup[]>): boolean {
  const under = people
    .map(({ email, cap }) => ({ cap, wider: inheritedCap(team, groupsOf.get(email) ?? []) }))
    .filter(({ wider }) => wider !== 'none')
  return under.every(({ cap }) => cap !== 'none') && under.some(({ cap, wider }) => cap === wider)
}
