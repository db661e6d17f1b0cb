// What is recorded of people's use by day, as a replay reads it: columns of numbers, so that a year of 5,000 people is a few megabytes. Where
// the days come from, and whether add-on use in them was measured, is the business of whoever fills this in. It never fills a gap.

import type { GroupMembers, Roster } from '../../model/observed.ts'
import type { ScopeKey } from '../../model/scope.ts'
import { groupScope, scopeKey } from '../../model/scope.ts'
import { DAY_MS, type Instant } from '../../model/units.ts'

/** What was used on one UTC day, one place in each column for each person who used something. */
export interface UseOfDay {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** Places in `RecordedDays.people`. */
  readonly people: Int32Array
  /** All use, in hundredths of a credit. */
  readonly cents: Float64Array
  /** What of it was paid from add-on credits, where the service measures that. */
  readonly addOnCents?: Float64Array
}

export interface RecordedDays {
  readonly addOn: 'measured' | 'estimated'
  /** E-mails. */
  readonly people: readonly string[]
  /** In the order of time; a day without anybody's use may be missing. */
  readonly days: readonly UseOfDay[]
}

/** Everybody whom a replay looks at, by place: those with recorded days first, then the rest of the roster. */
export interface ReplayPeople {
  readonly emails: readonly string[]
  /** Keys of the groups that each is in today. */
  readonly groupsOf: readonly (readonly ScopeKey[])[]
  /** Approved on the roster of today. */
  readonly isPresent: readonly boolean[]
}

const NO_GROUPS: readonly ScopeKey[] = []

/** `present` are the approved people of today. Groups are those of today too: the ledger does not keep who was in which group before. */
export function replayPeople(
  recorded: RecordedDays,
  present: Roster['people'],
  groups: readonly Pick<GroupMembers, 'id' | 'emails'>[],
): ReplayPeople {
  const here = new Set(present.map(({ email }) => email))
  const emails = [...new Set([...recorded.people, ...here])]
  const groupsOf = new Map<string, ScopeKey[]>()
  for (const group of groups) {
    const key = scopeKey(groupScope(group.id))
    for (const email of group.emails) {
      const own = groupsOf.get(email)
      if (own) own.push(key)
      else groupsOf.set(email, [key])
    }
  }
  return {
    emails,
    groupsOf: emails.map((email) => groupsOf.get(email) ?? NO_GROUPS),
    isPresent: emails.map((email) => here.has(email)),
  }
}

/** The first and the last day that anything is recorded of; absent when nothing is. */
export function recordedSpan({ days }: RecordedDays): { readonly firstAt: Instant; readonly lastAt: Instant } | undefined {
  const [first, last] = [days[0], days.at(-1)]
  return first && last && { firstAt: first.dayAt, lastAt: last.dayAt }
}

/** Saturday or Sunday; the epoch began on a Thursday. */
export const isWeekend = (dayAt: Instant): boolean => [2, 3].includes((dayAt / DAY_MS) % 7)
