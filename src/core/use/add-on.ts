// The part of a person's use that add-on credits paid, for guards, bands, figures and reports alike: measured where the service tells it, else
// estimated, and every figure says which. It must never guess where a figure is missing.
import { type Balance, type Cycle, isSameCycle } from '../model/observed.ts'
import { amount, instant, list, type Of, optional, record, shape, text } from '../model/shape.ts'
import { type Credits, credits, DAY_MS, type Instant, isYounger, wholeCents } from '../model/units.ts'

/**
 * The origin of a figure, the best first. `measured`: by the service. `estimated`: max(0, used − credits per seat). `upperBound`: all credits
 * used, because the credits per seat are not known.
 */
export const ADD_ON_SOURCES = ['measured', 'estimated', 'upperBound'] as const
export type AddOnSource = (typeof ADD_ON_SOURCES)[number]

/** The words of tables and pages. */
export const SOURCE_TEXT: Readonly<Record<AddOnSource, string>> = { measured: 'measured', estimated: 'estimated', upperBound: 'at most' }

/** Add-on use in credits, to the cent. */
export interface AddOnUse {
  readonly credits: Credits
  readonly source: AddOnSource
}

/** Days count whole, even the one on which the cycle starts. Choice. */
const MEASURED_CYCLE = shape({
  startAt: instant,
  /** By e-mail, also of those who left: one listing may have missed them. People without add-on use are missing. */
  people: record(amount),
  /** Use of people who are not on the roster, such as those who left. */
  others: amount,
})
export type MeasuredCycle = Of<typeof MEASURED_CYCLE>

/** The sums of the service's own rows, by billing cycle (docs/service.md, Add-on use per person). */
export const MEASURED_ADD_ON = shape({
  readAt: instant,
  /** UTC midnight of the last day with rows; later use has not arrived yet. */
  latestDayAt: optional(instant),
  /** The present cycle and the one before, as far as their days were read. */
  cycles: list(MEASURED_CYCLE),
  /** People whose rows cannot be found: their use is estimated. */
  unassignable: list(text),
})
export type MeasuredAddOn = Of<typeof MEASURED_ADD_ON>

/** An older measurement does not count, and use is estimated instead. Choice. */
const MEASURED_LIFE_MS = DAY_MS

interface AddOnInputs {
  readonly now: Instant
  /** The cycle that the figures are for. */
  readonly cycle?: Cycle | undefined
  readonly measured?: MeasuredAddOn | undefined
  readonly balance?: Pick<Balance, 'creditsPerSeat'> | undefined
}

/** Add-on use of one billing cycle. */
export interface AddOnFigures {
  /** Of all figures, except those of people who cannot be measured. */
  readonly source: AddOnSource
  /** One person's add-on use; undefined when nothing is known. `used`: all credits that they used in the cycle. */
  of(email: string, used: Credits | undefined): AddOnUse | undefined
  /** Use of nobody whom rows can name; 0 where it is not measured. `beyond` tells what of it is not in other figures. */
  readonly others: Credits
}

/** The figures of a cycle, from the best source. */
export function addOnFigures({ now, cycle, measured, balance }: AddOnInputs): AddOnFigures {
  const isFresh = measured && isYounger(measured.readAt, now, MEASURED_LIFE_MS + 1)
  const inCycle = isFresh ? measured.cycles.find((one) => cycle && isSameCycle(one, cycle)) : undefined
  const guess = balance ? 'estimated' : 'upperBound'
  const estimate = (used: Credits | undefined): AddOnUse | undefined =>
    used === undefined ? undefined : { credits: wholeCents(Math.max(0, used - (balance?.creditsPerSeat ?? 0))), source: guess }
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

/** Smaller sums are not judged. Choice. */
const FEWEST_CREDITS = 10

/** Whether more than half of the use belongs to people who are not on the roster: then the rest is not reliable either. Choice. */
export function isDoubtful({ people, others }: MeasuredCycle): boolean {
  const known = Object.values(people).reduce((sum, amount) => sum + amount, 0)
  return others >= FEWEST_CREDITS && others > known
}

/** The source of a sum: the worst of its parts; undefined for none. */
export function worstSource(sources: Iterable<AddOnSource | undefined>): AddOnSource | undefined {
  let worst = -1
  for (const source of sources) if (source) worst = Math.max(worst, ADD_ON_SOURCES.indexOf(source))
  return ADD_ON_SOURCES[worst]
}

/** The sum over everybody, including those who left; undefined when no figure is known. One pass without copies: rosters may hold 50,000 people. */
export function totalAddOn(
  figures: AddOnFigures,
  people: Iterable<{ readonly email: string; readonly used?: Credits }>,
): Credits | undefined {
  let total: number | undefined
  let guessed = 0
  for (const { email, used } of people) {
    const one = figures.of(email, used)
    if (!one) continue
    total = (total ?? 0) + one.credits
    if (one.source !== 'measured') guessed += one.credits
  }
  return total === undefined ? undefined : wholeCents(total + beyond(figures, guessed))
}

/** Use of others beside figures of people. `guessed`: the sum of those that are not measured, which the service's rows of others have as well. */
export const beyond = ({ others }: Pick<AddOnFigures, 'others'>, guessed: number): number => Math.max(0, others - guessed)
