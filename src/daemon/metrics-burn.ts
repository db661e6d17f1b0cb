// Credits burned: a fold over readings of use into sums that never fall. Each person's figure is followed by itself, so that people who
// leave, join or change groups neither hide burn nor look like it; a new cycle starts the figures at 0. It never touches the registry.
import type { GroupMembers, Roster } from '../core/observed.ts'

interface GroupBurn {
  /** The members last listed; burn of a reading goes to those. */
  readonly emails: readonly string[]
  readonly burned: number
}

/** Sums in credits since the first reading of this process. */
export interface Burn {
  readonly team: number
  readonly groups: ReadonlyMap<string, GroupBurn>
  readonly cycleStartAt: number | undefined
  /** The highest figure of each person in this cycle, by e-mail; undefined before the first roster. */
  readonly highest: ReadonlyMap<string, number> | undefined
}

export const NO_BURN: Burn = { team: 0, groups: new Map(), cycleStartAt: undefined, highest: undefined }

/**
 * Takes one reading. Within a cycle burn is the increase of each person's use over their highest figure; after a reset it is the new
 * figure. Where the service names no cycle, a figure that fell counts as a reset. The first roster burns nothing. Choice.
 */
export function foldUsage(burn: Burn, reading: { readonly roster?: Roster; readonly groups: readonly GroupMembers[] }): Burn {
  const { roster } = reading
  if (!roster) return { ...burn, groups: foldGroups(burn.groups, reading.groups, () => 0) }
  const cycleStartAt = roster.cycle?.startAt
  const isNewCycle = cycleStartAt !== undefined && burn.cycleStartAt !== undefined && cycleStartAt > burn.cycleStartAt
  const before: ReadonlyMap<string, number> = isNewCycle || !burn.highest ? new Map() : burn.highest
  const highest = new Map(before)
  const increases = new Map<string, number>()
  for (const { email, used } of roster.people) {
    if (used === undefined) continue
    const last = before.get(email) ?? 0
    const wasReset = cycleStartAt === undefined && used < last
    highest.set(email, wasReset ? used : Math.max(last, used))
    const increase = wasReset ? used : Math.max(0, used - last)
    if (burn.highest && increase > 0) increases.set(email, increase)
  }
  return {
    team: burn.team + sum(increases.values()),
    groups: foldGroups(burn.groups, reading.groups, (email) => increases.get(email) ?? 0),
    cycleStartAt: isNewCycle ? cycleStartAt : (burn.cycleStartAt ?? cycleStartAt),
    highest,
  }
}

/** A group listed for the first time starts at 0; one whose listing failed burns by its last known members. */
function foldGroups(
  before: ReadonlyMap<string, GroupBurn>,
  listed: readonly GroupMembers[],
  increaseOf: (email: string) => number,
): ReadonlyMap<string, GroupBurn> {
  const after = new Map(before)
  for (const { id, emails } of listed) after.set(id, { emails, burned: before.get(id)?.burned ?? 0 })
  for (const [id, { emails, burned }] of after) {
    if (before.has(id)) after.set(id, { emails, burned: burned + sum(emails.values().map(increaseOf)) })
  }
  return after
}

const sum = (values: IteratorObject<number>): number => values.reduce((total, value) => total + value, 0)
