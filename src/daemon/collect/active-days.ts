// Reads on how many of the last days people were active. The service tells it for one range of days at a time, so each range that a rule or
// pool names is a request of its own. A range that cannot be read stays unknown.

import type { Roster } from '../../core/model/observed.ts'
import type { PolicySet } from '../../core/model/policy.ts'
import { DAY_MS } from '../../core/model/units.ts'
import { newestUse, poolCondition } from '../../core/resolve/conditions.ts'
import type { ReadClient } from '../../ports.ts'

interface Asking {
  readonly client: ReadClient
  readonly set: PolicySet
  readonly signal?: AbortSignal
}

/** Reads a part; a failure becomes a finding with this code, and gives undefined. */
type Attempt = <T>(code: string, part: string, read: () => Promise<T>) => Promise<T | undefined>

/** More ranges than this are not read. */
const MOST_RANGES = 10

/**
 * Adds active days to the roster, where rules or pools use them. Days are counted back from the newest use of anybody, so that an outage of
 * analytics makes no person less active.
 */
export async function withActiveDays(roster: Roster, { client, set, signal }: Asking, attempt: Attempt): Promise<Roster> {
  const conditions = [...set.peopleRules.map(({ when }) => when), ...set.pools.flatMap((pool) => poolCondition(pool) ?? [])]
  const asked = [...new Set(conditions.flatMap(({ activeDays }) => activeDays?.within ?? []))].sort((a, b) => a - b).slice(0, MOST_RANGES)
  const newestAt = newestUse(roster)
  if (asked.length === 0 || newestAt === undefined) return roster
  const untilAt = (Math.floor(newestAt / DAY_MS) + 1) * DAY_MS
  const answers: (readonly [number, ReadonlyMap<string, number>])[] = []
  for (const within of asked) {
    const days = await attempt('ACTIVE_DAYS_UNREAD', `active days of the last ${within}`, () =>
      client.readActiveDays({ fromAt: untilAt - within * DAY_MS, untilAt }, signal),
    )
    if (days) answers.push([within, days])
  }
  if (answers.length === 0) return roster
  const activeDaysOf = (email: string): Readonly<Record<number, number>> =>
    Object.fromEntries(answers.flatMap(([within, days]) => (days.has(email) ? [[within, days.get(email) ?? 0]] : [])))
  return { ...roster, people: roster.people.map((person) => ({ ...person, activeDays: activeDaysOf(person.email) })) }
}
