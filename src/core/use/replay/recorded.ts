// Recorded use by day, as the input of a replay: columns of numbers, so that a year of 5,000 people takes a few megabytes. A gap is never
// filled.

import type { GroupMembers, Roster } from '../../model/observed.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import { DAY_MS, type Instant } from '../../model/units.ts'

/** The use of one UTC day; each person with use has one place in each column. */
export interface UseOfDay {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** Places in `RecordedDays.people`. */
  readonly people: Int32Array
  /** All use, in hundredths of a credit. */
  readonly cents: Float64Array
  /** The part that add-on credits paid, where the service measures it; NaN for a person for whom it does not. */
  readonly addOnCents?: Float64Array
}

export interface RecordedDays {
  /** `measured`: of everybody on every day. */
  readonly addOn: 'measured' | 'estimated'
  /** E-mails. */
  readonly people: readonly string[]
  /** In the order of time; a day without any use may be missing. */
  readonly days: readonly UseOfDay[]
}

/** Everybody in a replay, by place: people with recorded days first, then the rest of the roster. */
export interface ReplayPeople {
  readonly emails: readonly string[]
  /** Keys of the groups that each person is in today. */
  readonly groupsOf: readonly (readonly ScopeKey[])[]
  /** Approved on today's roster. */
  readonly isPresent: readonly boolean[]
}

const NO_GROUPS: readonly ScopeKey[] = []

/** `present`: the approved people of today. Groups are today's too, because the ledger does not keep past members. */
export function replayPeople(
  recorded: RecordedDays,
  present: Roster['people'],
  groups: readonly Pick<GroupMembers, 'id' | 'emails'>[],
): ReplayPeople {
  const here = new Set(present.map(({ email }) => email))
  const emails = [...new Set([...recorded.people, ...here])]
  const members = groups.flatMap(({ id, emails: those }) => those.map((email) => ({ email, key: scopeKey(groupScope(id)) })))
  const groupsOf = Map.groupBy(members, ({ email }) => email)
  return {
    emails,
    groupsOf: emails.map((email) => groupsOf.get(email)?.map(({ key }) => key) ?? NO_GROUPS),
    isPresent: emails.map((email) => here.has(email)),
  }
}

/** The first and the last recorded day; undefined when there is none. */
export function recordedSpan({ days }: RecordedDays): { readonly firstAt: Instant; readonly lastAt: Instant } | undefined {
  const [first, last] = [days[0], days.at(-1)]
  return first && last && { firstAt: first.dayAt, lastAt: last.dayAt }
}

/** Saturday or Sunday; the epoch began on a Thursday. */
export const isWeekend = (dayAt: Instant): boolean => [2, 3].includes((dayAt / DAY_MS) % 7)
