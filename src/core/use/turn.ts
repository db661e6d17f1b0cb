// When a new billing cycle is believed to have begun, and since when the figures are its own. A figure and its cycle stay together: one answer that
// names another cycle changes nothing, and figures that still belong to the cycle before are unknown.

import type { Cycle, GroupMembers, Person, Roster } from '../model/observed.ts'
import { type Credits, DAY_MS, HOUR_MS, type Instant, MINUTE_MS, notAhead } from '../model/units.ts'

/** Two readings that name another cycle must be so far apart (docs/policies.md, Pools). */
const AGREE_MS = 10 * MINUTE_MS

/** How long after its start a new cycle may still show the figures of the one before. Choice. */
export const SETTLE_MS = 6 * HOUR_MS

/** Another cycle was named: it has not begun for us yet, or it has, and the figures still belong to the last one. */
export interface Turn {
  readonly cycle: Cycle
  /** When it was first named. */
  readonly namedAt: Instant
  /** While it has not begun: when the figures in use were read. */
  readonly figuresAt?: Instant
}

/** What people had used when a cycle ended. People without a figure are missing. */
export interface EndedCycle {
  readonly cycle: Cycle
  readonly used: Readonly<Record<string, Credits>>
}

interface CycleFacts {
  /** Its cycle is the one believed, and its figures belong to that cycle. */
  readonly roster: Roster
  readonly turn?: Turn
  readonly previousCycle?: EndedCycle
}

/** Whether two readings are far enough apart to agree on another cycle. */
export const isAgreed = (namedAt: Instant, readAt: Instant): boolean => readAt - namedAt >= AGREE_MS

/** Whether the figures of a new cycle, if more than half of the last one's final figures, still belong to the last one. */
export const areStillOld = (before: number, now: number, ageMs: number): boolean => ageMs < SETTLE_MS && before > 0 && now * 2 > before

/** A start that moves by less than a day is the same start. */
export const isSameCycle = (a: Pick<Cycle, 'startAt'>, b: Pick<Cycle, 'startAt'>): boolean => Math.abs(a.startAt - b.startAt) < DAY_MS

/**
 * What is believed after a good reading of the roster. Another cycle has begun when two readings agree, or when the one before is over too.
 * `serviceNow`: the time by the service's clock.
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
  // The two clocks may disagree: the greater age counts.
  const ageMs = Math.max(serviceNow - named.startAt, fresh.readAt - namedAt)
  const before = previousCycle && previousCycle.cycle.startAt < named.startAt ? Object.values(previousCycle.used) : []
  const isOld = areStillOld(sum(before), sum(fresh.people.map(({ used = 0 }) => used)), ageMs)
  return {
    roster: isOld ? withUse(fresh, undefined) : fresh,
    turn: isOld ? { cycle: named, namedAt } : undefined,
    previousCycle,
  }
}

/** The people of one reading with the figures and cycle of another, or without figures. */
function withUse(fresh: Roster, other: Roster | undefined): Roster {
  const figures = new Map(other?.people.map(({ email, used }) => [email, used]))
  return {
    ...fresh,
    ...(other?.cycle && { cycle: other.cycle }),
    people: fresh.people.map(({ used: _, ...person }): Person => {
      const used = figures.get(person.email)
      return { ...person, used }
    }),
  }
}

/** Groups with the figures that belong to the roster's. */
export function groupsOfTurn(
  turn: Turn | undefined,
  fresh: readonly GroupMembers[],
  known: readonly GroupMembers[],
): readonly GroupMembers[] {
  if (!turn) return fresh
  const figures = new Map(turn.figuresAt === undefined ? [] : known.map(({ id, used }) => [id, used]))
  return fresh.map(({ used: _, ...group }): GroupMembers => {
    const used = figures.get(group.id)
    return { ...group, used }
  })
}

const usedByEmail = ({ people }: Roster): EndedCycle['used'] =>
  Object.fromEntries(people.flatMap(({ email, used }) => (used === undefined ? [] : [[email, used]])))

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
