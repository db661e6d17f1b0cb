// When another billing cycle is believed to have begun, and from when on the figures beside it are its own. A figure and its cycle stay
// together: one answer that names another cycle changes nothing, and figures that are still those of the cycle before are unknown, not use.
import { notAhead } from '../model/age.ts'
import type { Cycle, GroupMembers, Person, Roster } from '../model/observed.ts'
import { type Credits, DAY_MS, HOUR_MS, type Instant } from '../model/units.ts'

/** Two readings that name another cycle are at least so far apart (product.md, section 2, Figures). */
const AGREE_MS = 10 * 60_000

/** So long after its start a new cycle may still show the figures of the one before. Choice. */
export const SETTLE_MS = 6 * HOUR_MS

/** Another cycle than the one before it was named: it has not begun for us, or it has and the figures are still those of the last one. */
export interface Turn {
  readonly cycle: Cycle
  /** When it was named first. */
  readonly namedAt: Instant
  /** While it has not begun: when the figures that serve were read. */
  readonly figuresAt?: Instant
}

/** What everybody had used when a cycle ended. People without a figure are left out. */
export interface EndedCycle {
  readonly cycle: Cycle
  readonly used: Readonly<Record<string, Credits>>
}

export interface CycleFacts {
  /** Its cycle is the one that is believed, and its figures are of that. */
  readonly roster: Roster
  readonly turn?: Turn
  readonly previousCycle?: EndedCycle
}

/** Whether readings that far apart agree about another cycle. */
export const isAgreed = (namedAt: Instant, readAt: Instant): boolean => readAt - namedAt >= AGREE_MS

/** Whether figures of a new cycle, more than half of what the last one ended with, are still those of the last. */
export const areStillOld = (before: number, now: number, ageMs: number): boolean => ageMs < SETTLE_MS && before > 0 && now * 2 > before

/** A start that moves by less than a day is the same one. */
export const isSameCycle = (a: Pick<Cycle, 'startAt'>, b: Pick<Cycle, 'startAt'>): boolean => Math.abs(a.startAt - b.startAt) < DAY_MS

/**
 * What is believed after a good reading of the roster. Another cycle has begun when two readings agree, or when the one before is over as
 * well. `serviceNow`: now by the service's own clock.
 */
export function takeCycle(fresh: Roster, known: CycleFacts | undefined, now: Instant, serviceNow: Instant): CycleFacts {
  const ended = known?.previousCycle && { previousCycle: known.previousCycle }
  const [present, named] = [known?.roster.cycle, fresh.cycle]
  if (!known || !present || !named) return { roster: fresh, ...ended }
  const isPresent = isSameCycle(present, named)
  if (isPresent && known.roster.people.some(({ used }) => used !== undefined)) return { roster: fresh, ...ended }
  const namedAt = known.turn && isSameCycle(known.turn.cycle, named) ? notAhead(known.turn.namedAt, now) : fresh.readAt
  const isOver = named.startAt > present.startAt && Math.max(named.startAt, present.endAt) <= serviceNow
  if (!isPresent && !isOver && !isAgreed(namedAt, fresh.readAt)) {
    const figuresAt = notAhead(known.turn?.figuresAt ?? known.roster.readAt, now)
    return { roster: withUse(fresh, known.roster), turn: { cycle: named, namedAt, figuresAt }, ...ended }
  }
  const previousCycle = isPresent ? known.previousCycle : { cycle: present, used: usedByEmail(known.roster) }
  // Whichever clock is right, the one that says more.
  const ageMs = Math.max(serviceNow - named.startAt, fresh.readAt - namedAt)
  const before = previousCycle && previousCycle.cycle.startAt < named.startAt ? Object.values(previousCycle.used) : []
  const isOld = areStillOld(sum(before), sum(fresh.people.map(({ used = 0 }) => used)), ageMs)
  return {
    roster: isOld ? withUse(fresh, undefined) : fresh,
    ...(isOld && { turn: { cycle: named, namedAt } }),
    ...(previousCycle && { previousCycle }),
  }
}

/** The people of one reading with the figures and the cycle of another, or without figures. */
function withUse(fresh: Roster, other: Roster | undefined): Roster {
  const figures = new Map(other?.people.map(({ email, used }) => [email, used]))
  return {
    ...fresh,
    ...(other?.cycle && { cycle: other.cycle }),
    people: fresh.people.map(({ used: _, ...person }): Person => {
      const used = figures.get(person.email)
      return { ...person, ...(used !== undefined && { used }) }
    }),
  }
}

/** What their members used goes with the figures of the roster. */
export function groupsOfTurn(
  turn: Turn | undefined,
  fresh: readonly GroupMembers[],
  known: readonly GroupMembers[],
): readonly GroupMembers[] {
  if (!turn) return fresh
  const figures = new Map(turn.figuresAt === undefined ? [] : known.map(({ id, used }) => [id, used]))
  return fresh.map(({ used: _, ...group }): GroupMembers => {
    const used = figures.get(group.id)
    return { ...group, ...(used !== undefined && { used }) }
  })
}

const usedByEmail = ({ people }: Roster): EndedCycle['used'] =>
  Object.fromEntries(people.flatMap(({ email, used }) => (used === undefined ? [] : [[email, used]])))

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
