// Whether a new reading of the roster is believed, and why somebody whom policy names is not managed. A roster that suddenly shrinks looks just like a
// key that is limited to one group. It is doubted, and the last known good roster serves, until two readings agree or a person approves the change.
import { isApproved } from '../interpret/effective.ts'
import type { GroupMembers, Person, Roster } from '../model/observed.ts'
import type { PolicyRevision, PolicySet } from '../model/policy.ts'
import type { Problem } from '../model/problem.ts'
import { DAY_MS, type Instant, MINUTE_MS, notAhead } from '../model/units.ts'
import type { DesiredInputs } from './resolution.ts'

// A file that held a policy and holds none now is broken, as one that does not parse: an emptied file must not remove what it declared. Deleting
// the file is how its policies are removed.

/** One problem for each file of which `kept`, the last known good set, has a part, and which is empty now. */
export function emptied({ empty = [] }: PolicyRevision, kept: PolicySet | undefined): readonly Problem[] {
  const held = new Set(kept && filesOf(kept))
  return empty
    .filter((file) => held.has(file))
    .map((file) => ({
      severity: 'error',
      code: 'EMPTY_FILE',
      message: `${file} held policies and is empty now; they stay in force`,
      hint: 'restore the file, or delete it to remove what it declared',
      at: { file, line: 1, column: 1 },
    }))
}

const filesOf = ({ rules, grants, groups, protectedPeople, approvals, peopleRules, pools }: PolicySet): readonly string[] =>
  [rules, grants, groups, protectedPeople, approvals, peopleRules, pools].flatMap((all) => all.map(({ at }) => at.file))

/** Two short readings that agree, this far apart, are believed up to `DOUBT_CEILING_PERCENT`. */
const AGREEMENT_MS = 10 * MINUTE_MS
const DOUBT_CEILING_PERCENT = 50

/** How long the last good roster serves for counting. */
export const ROSTER_LIFE_MS = DAY_MS

export interface Doubt {
  readonly roster: Roster
  readonly since: Instant
}

interface RosterJudgement {
  /** The roster to use: the new one, or the last good one while the new one is doubted. */
  readonly roster: Roster
  readonly doubted?: Doubt
}

export const approvedCount = (roster: Roster): number => roster.people.filter((person) => isApproved(person, roster)).length

/** Judges a new reading against the last good one; `limitPercent` is `guards.rosterShrink`. */
export function judgeRoster(
  fresh: Roster,
  known: { readonly roster: Roster; readonly doubted?: Doubt } | undefined,
  limitPercent: number | 'off',
  now: Instant,
): RosterJudgement {
  if (!known || limitPercent === 'off') return { roster: fresh }
  const before = approvedCount(known.roster)
  const after = approvedCount(fresh)
  const fellPercent = before === 0 ? 0 : ((before - after) / before) * 100
  if (fellPercent <= limitPercent) return { roster: fresh }
  const doubt = known.doubted
  if (!doubt || !agree(approvedCount(doubt.roster), after)) return { roster: known.roster, doubted: { roster: fresh, since: now } }
  const since = notAhead(doubt.since, now)
  if (fellPercent <= DOUBT_CEILING_PERCENT && now - since >= AGREEMENT_MS) return { roster: fresh }
  return { roster: known.roster, doubted: { roster: fresh, since } }
}

/** Readings agree when their counts differ by at most 1 %, or by one person (choice). */
export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(1, Math.max(a, b) / 100)

/** The groups that still match a declared id and name, in the declared order. Under another name the members of a group are not known yet. */
export const keepGroups = (
  groups: readonly GroupMembers[],
  declared: readonly Pick<GroupMembers, 'id' | 'name'>[],
): readonly GroupMembers[] => {
  const byId = new Map(groups.map((group) => [group.id, group]))
  return declared.flatMap(({ id, name }) => {
    const known = byId.get(id)
    return known?.name === name ? [known] : []
  })
}

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
