// Whether a new reading of the roster is believed. A roster that suddenly shrinks looks exactly like a key that is limited to one group,
// so it is doubted, and the last good one goes on serving, until two readings agree or somebody approves.
import { isApproved } from '../interpret/effective.ts'
import { notAhead } from '../model/age.ts'
import type { GroupMembers, Roster } from '../model/observed.ts'
import type { Instant } from '../model/units.ts'

/** Two short readings this far apart that agree are believed, up to `DOUBT_CEILING_PERCENT`. */
export const AGREEMENT_MS = 10 * 60_000
const DOUBT_CEILING_PERCENT = 50

/** The last good roster serves for counting this long. */
export const ROSTER_LIFE_MS = 24 * 3_600_000

export interface Doubt {
  readonly roster: Roster
  readonly since: Instant
}

export interface RosterJudgement {
  /** The roster to go on with: the new one, or the last good one while the new one is doubted. */
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

/** Readings agree when their counts differ by no more than 1 %, or by one person (choice). */
export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(1, Math.max(a, b) / 100)

/** The groups that declared ids and names still match, in the order given: under another name, nobody knows yet who is in it. */
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
