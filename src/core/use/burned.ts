// Credits used, as sums over readings of the roster that never fall. Each person's figure is followed separately, so that people who leave, join
// or change groups neither hide use nor look like it. A new cycle starts the figures at 0. The ledger keeps the state.
import type { GroupMembers, Roster } from '../model/observed.ts'
import { type Credits, credits, type Instant, wholeCents } from '../model/units.ts'
import { isSameCycle } from './turn.ts'

/** Sums in credits since the first reading ever, as the ledger keeps them. */
export interface BurnedFacts {
  readonly team: Credits
  /** By group id. */
  readonly groups: Readonly<Record<string, Credits>>
  /** Start of the cycle of the last reading; absent while the service names no cycle. */
  readonly cycleStartAt?: Instant
}

export interface Burned extends BurnedFacts {
  /** The highest figure of each person in this cycle, by e-mail; people without use may be missing. Absent before the first roster. */
  readonly highest?: ReadonlyMap<string, Credits>
}

/** The changes by one reading. */
export interface BurnStep {
  readonly burned: Burned
  readonly readAt: Instant
  /** Each person's use since the reading before; people without use are missing. */
  readonly increases: ReadonlyMap<string, Credits>
  /** All figures start again. */
  readonly isNewCycle: boolean
  /** People whose highest figure has changed. */
  readonly raised: readonly string[]
  /** The use of the whole roster in this cycle; absent when no person has a figure. */
  readonly used?: Credits
}

export const NOTHING_BURNED: Burned = { team: credits(0), groups: {} }

/**
 * Takes one reading. Within a cycle, new use is each person's increase over their highest figure; after a reset it is the new figure. Where
 * the service names no cycle, a figure that fell counts as a reset. The first roster adds nothing. turn.ts makes sure that the figures belong
 * to the cycle that the roster names.
 */
export function foldUsage(burned: Burned, roster: Roster, groups: readonly GroupMembers[]): BurnStep {
  const cycleStartAt = roster.cycle?.startAt
  const used = totalOf(roster)
  const isNewCycle = cycleStartAt !== undefined && burned.cycleStartAt !== undefined && isLaterCycle(cycleStartAt, burned.cycleStartAt)
  const before: ReadonlyMap<string, Credits> = isNewCycle ? new Map() : (burned.highest ?? new Map())
  const highest = new Map(before)
  const increases = new Map<string, Credits>()
  const raised: string[] = []
  for (const { email, used } of roster.people) {
    if (used === undefined) continue
    const last = before.get(email) ?? 0
    const wasReset = cycleStartAt === undefined && used < last
    if (used <= last && !wasReset) continue
    highest.set(email, used)
    raised.push(email)
    const increase = wholeCents(wasReset ? used : used - last)
    if (burned.highest && increase > 0) increases.set(email, increase)
  }
  const startAt = isNewCycle ? cycleStartAt : (burned.cycleStartAt ?? cycleStartAt)
  return {
    burned: {
      team: wholeCents(burned.team + sum(increases.values())),
      groups: { ...burned.groups, ...Object.fromEntries(groups.map((group) => [group.id, burnedBy(group, burned, increases)])) },
      ...(startAt !== undefined && { cycleStartAt: startAt }),
      highest,
    },
    readAt: roster.readAt,
    increases,
    isNewCycle,
    raised,
    ...(used !== undefined && { used }),
  }
}

const isLaterCycle = (startAt: Instant, before: Instant): boolean => startAt > before && !isSameCycle({ startAt }, { startAt: before })

/** Undefined when no person has a figure. */
function totalOf({ people }: Roster): Credits | undefined {
  let total: number | undefined
  for (const { used } of people) if (used !== undefined) total = (total ?? 0) + used
  return total === undefined ? undefined : wholeCents(total)
}

const burnedBy = ({ id, emails }: GroupMembers, burned: Burned, increases: ReadonlyMap<string, Credits>): Credits =>
  wholeCents(burnedOf(burned.groups, id) + (increases.size === 0 ? 0 : sum(emails.values().map((email) => increases.get(email) ?? 0))))

/** The use of a group; 0 for one that was never listed. */
export const burnedOf = (groups: Burned['groups'], id: string): Credits =>
  (Object.hasOwn(groups, id) ? groups[id] : undefined) ?? credits(0)

const sum = (values: IteratorObject<number>): number => values.reduce((total, value) => total + value, 0)
