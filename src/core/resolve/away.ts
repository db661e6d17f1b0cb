// Why a person or a group is skipped, in words, with the name that was most likely meant. It decides for nobody but whether they are away.
import { isApproved } from '../interpret/effective.ts'
import type { Person, Roster } from '../model/observed.ts'
import type { DesiredInputs } from './resolution.ts'

/** Addresses of one roster that are compared with all people: comparing many with many takes seconds. */
const MOST_COMPARED = 20

/** What was found for each address, while the roster is the same. */
const compared = new WeakMap<Roster, Map<string, string>>()

/** Why a person is neither read nor written; undefined where they are approved, or the roster is unknown. */
export function whyAway(inputs: DesiredInputs, people: ReadonlyMap<string, Person> | undefined, email: string): string | undefined {
  const { roster, nearest } = inputs
  if (!roster || !people) return undefined
  const person = people.get(email)
  if (person) return isApproved(person, roster) ? undefined : `${email} is ${person.status}, not approved`
  const found = compared.get(roster) ?? new Map<string, string>()
  compared.set(roster, found)
  if (nearest && !found.has(email) && found.size < MOST_COMPARED) found.set(email, meant(nearest(email, [...people.keys()])))
  return `${email} is not on the roster${found.get(email) ?? ''}`
}

/** Why a group is neither read nor written. The service lists members by the name of a group, and does not list groups. */
export function whyUnknown({ set, unknownGroups, nearest }: DesiredInputs, id: string): string {
  const name = set.groups.find(({ scope }) => scope.id === id)?.name
  if (name === undefined) return `the service does not know group ${id}`
  const known = set.groups.filter(({ scope }) => !unknownGroups.includes(scope.id)).map((group) => group.name)
  return `the service does not know group ${id} by the name ${name}${meant(nearest?.(name, known))}`
}

const meant = (near: string | undefined): string => (near === undefined ? '' : `; did you mean ${near}?`)
