// What of a person's use was paid from add-on credits, in one place for guards, bands, figures and reports: measured where the service
// tells it, else estimated; and every figure says which. It must never guess where a figure is missing.
import { isYounger } from '../model/age.ts'
import type { Balance, Cycle } from '../model/observed.ts'
import { type Credits, credits, type Instant, wholeCents } from '../model/units.ts'
import { isSameCycle } from './turn.ts'

/**
 * Where a figure comes from, the best first. `measured`: the service says it. `estimated`: max(0, used − credits per seat). `upperBound`: all
 * credits used, because what a seat includes is not known.
 */
export const ADD_ON_SOURCES = ['measured', 'estimated', 'upperBound'] as const
export type AddOnSource = (typeof ADD_ON_SOURCES)[number]

/** As tables and pages call it. */
export const SOURCE_TEXT: Readonly<Record<AddOnSource, string>> = { measured: 'measured', estimated: 'estimated', upperBound: 'at most' }

/** Add-on use in credits, to the cent. */
export interface AddOnUse {
  readonly credits: Credits
  readonly source: AddOnSource
}

/** What the service's own rows come to, by billing cycle (service-notes.md, section 1, Add-on use per person). */
export interface MeasuredAddOn {
  readonly readAt: Instant
  /** The last day that had rows, as its UTC midnight; later use has not arrived yet. */
  readonly latestDayAt?: Instant
  /** The present cycle and the one before, as far as their days were read. */
  readonly cycles: readonly MeasuredCycle[]
  /** People of whom the service gives nothing that rows could be found by: theirs are estimated. */
  readonly unassignable: readonly string[]
}

/** Days count whole, also the one on which the cycle starts. Choice. */
export interface MeasuredCycle {
  readonly startAt: Instant
  /** By e-mail; nobody with nothing. */
  readonly people: Readonly<Record<string, Credits>>
  /** Of nobody on the roster, such as people who left. */
  readonly others: Credits
}

/** What was measured longer ago says nothing any more, and the estimate takes its place. Choice. */
export const MEASURED_LIFE_MS = 24 * 3_600_000

export interface AddOnInputs {
  readonly now: Instant
  /** Of which the use is. */
  readonly cycle?: Cycle | undefined
  readonly measured?: MeasuredAddOn | undefined
  readonly balance?: Pick<Balance, 'creditsPerSeat'> | undefined
}

/** Add-on use of one billing cycle. */
export interface AddOnFigures {
  /** Of all figures but those of people who cannot be measured. */
  readonly source: AddOnSource
  /** One person's; absent when nothing is known of them. `used`: all their credits used in the cycle. */
  of(email: string, used: Credits | undefined): AddOnUse | undefined
  /** Of people whom the roster does not list; 0 where it is not measured. */
  readonly others: Credits
}

/** The figures of a cycle, by the best source there is. */
export function addOnFigures({ now, cycle, measured, balance }: AddOnInputs): AddOnFigures {
  const inCycle = isFresh(measured, now) ? measured.cycles.find((one) => cycle && isSameCycle(one, cycle)) : undefined
  const guess = balance ? 'estimated' : 'upperBound'
  const estimate = (used: Credits | undefined): AddOnUse | undefined =>
    used === undefined ? undefined : { credits: beyondSeat(used, balance?.creditsPerSeat ?? credits(0)), source: guess }
  if (!measured || !inCycle || isDoubtful(inCycle)) return { source: guess, of: (_, used) => estimate(used), others: credits(0) }
  const unassignable = new Set(measured.unassignable)
  return {
    source: 'measured',
    others: inCycle.others,
    of: (email, used) =>
      unassignable.has(email)
        ? estimate(used)
        : { credits: Object.hasOwn(inCycle.people, email) ? (inCycle.people[email] ?? credits(0)) : credits(0), source: 'measured' },
  }
}

const isFresh = (measured: MeasuredAddOn | undefined, now: Instant): measured is MeasuredAddOn =>
  measured !== undefined && isYounger(measured.readAt, now, MEASURED_LIFE_MS + 1)

const beyondSeat = (used: Credits, creditsPerSeat: Credits): Credits => wholeCents(Math.max(0, used - creditsPerSeat))

/** Less says nothing. Choice. */
const FEWEST_CREDITS = 10

/** More than half of it is nobody's: then it says little of those who are there. Choice. */
export function isDoubtful({ people, others }: MeasuredCycle): boolean {
  const known = Object.values(people).reduce((sum, amount) => sum + amount, 0)
  return others >= FEWEST_CREDITS && others > known
}

/** What a sum of figures is worth: the worst of what went into it; undefined for none. */
export function worstSource(sources: Iterable<AddOnSource | undefined>): AddOnSource | undefined {
  let worst = -1
  for (const source of sources) if (source) worst = Math.max(worst, ADD_ON_SOURCES.indexOf(source))
  return ADD_ON_SOURCES[worst]
}

/** The sum over everybody, those who left included; absent when nobody's is known. One pass without copies: rosters may hold 50,000 people. */
export function totalAddOn(
  figures: AddOnFigures,
  people: Iterable<{ readonly email: string; readonly used?: Credits }>,
): Credits | undefined {
  let total: number | undefined
  for (const { email, used } of people) {
    const one = figures.of(email, used)
    if (one) total = (total ?? 0) + one.credits
  }
  return total === undefined ? undefined : wholeCents(total + figures.others)
}
