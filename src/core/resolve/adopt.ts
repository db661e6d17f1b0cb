// What `import` declares for the caps in force, so that a plan made of it changes nothing. A value that is only inherited is not declared.
// It must never invent a cap.
import type { Cap } from '../model/policy.ts'

/** What was read, all of it known; `none` is a scope without a cap explicitly set. */
interface LiveCaps {
  readonly team: Cap
  readonly groups: readonly LiveGroup[]
  readonly people: readonly LivePerson[]
}

export interface LiveGroup {
  readonly id: string
  readonly name: string
  readonly cap: Cap
  readonly emails: readonly string[]
}

interface LivePerson {
  readonly email: string
  readonly cap: Cap
}

/** The caps to declare. */
export interface Adopted extends LiveCaps {
  /** Groups without a cap to declare: only named, for grants, rules, pools and reports. */
  readonly named: readonly LiveGroup[]
  /** How many people and groups inherit their cap, and are not declared. */
  readonly left: number
  /** People who inherit from groups with different caps: policy has to say which one counts (`onGroupConflict`). */
  readonly conflicts: readonly string[]
}

/**
 * Works out the declarations. Where every person with an ancestor's cap reads a value, readings are taken to show inherited or copied
 * values, and what equals the inherited cap is left out. Otherwise every cap was set on purpose, and is declared. Choice.
 */
export function adopt(live: LiveCaps): Adopted {
  const groupsOf = Map.groupBy(
    live.groups.flatMap(({ emails, cap }) => emails.map((email) => ({ email, cap }))),
    ({ email }) => email,
  )
  const inherited = (email: string): Cap | 'conflict' => inheritedCap(live.team, groupsOf.get(email) ?? [])
  const inherits = showsInherited(live.people.map(({ email, cap }) => ({ cap, inherited: inherited(email) })))
  const isDeclared = ({ cap }: LiveGroup): boolean => cap !== 'none' && !(inherits && cap === live.team)
  const named = live.groups.filter((group) => !isDeclared(group))
  const set = live.people.filter(({ cap }) => cap !== 'none')
  const people = set.filter(({ email, cap }) => !(inherits && cap === inherited(email)))
  const declared = new Set(people.map(({ email }) => email))
  return {
    team: live.team,
    groups: live.groups.filter(isDeclared),
    people,
    named,
    left: set.length - people.length + named.filter(({ cap }) => cap !== 'none').length,
    conflicts: live.people.flatMap(({ email }) => (!declared.has(email) && inherited(email) === 'conflict' ? [email] : [])),
  }
}

/** The cap that a person inherits; `conflict` when their groups have different caps. */
function inheritedCap(team: Cap, groups: readonly { readonly cap: Cap }[]): Cap | 'conflict' {
  const caps = new Set(groups.flatMap(({ cap }) => (cap === 'none' ? [] : [cap])))
  const [only, ...others] = caps
  if (only === undefined) return team
  return others.length === 0 ? only : 'conflict'
}

/** Nobody with an ancestor's cap reads as unset, and at least one person reads exactly that cap. */
function showsInherited(people: readonly { readonly cap: Cap; readonly inherited: Cap | 'conflict' }[]): boolean {
  const heirs = people.filter(({ inherited }) => inherited !== 'none')
  return heirs.every(({ cap }) => cap !== 'none') && heirs.some(({ cap, inherited }) => cap === inherited)
}
