// What the ledger keeps of past use: which days of the team, of groups and of single people were read, what the service's answers about them are
// worth, and the credits burned since the first reading.
import { amount, boolean, instant, list, number, type Of, optional, record, shape, text } from './shape.ts'

const DAYS = { fromAt: instant, untilAt: instant }

/** Days of one person that were read in answers about this person alone, or that need no answer because nobody used anything. */
const KNOWN_DAYS = shape({
  ...DAYS,
  readAt: instant,
  /** The answer had no row, while the listing of people has active days, and no answer ever had one: unknown, and not 0. */
  isSilent: optional(boolean),
})
export type KnownDays = Of<typeof KNOWN_DAYS>

/** The service's two figures for one cycle, where they are too far apart to be one. */
const FIGURE_DOUBT = shape({
  cycleStartAt: instant,
  /** The sum of the days. */
  told: amount,
  /** The listing of people. */
  listed: amount,
})
export type FigureDoubt = Of<typeof FIGURE_DOUBT>

/** What is known of one person's past; kept by e-mail. */
export const PERSON_HISTORY = shape({
  email: text,
  known: list(KNOWN_DAYS),
  /** The service has answered with a run of this person: it finds them, so an empty answer means no use. */
  isFound: optional(boolean),
  doubt: optional(FIGURE_DOUBT),
  /** Another process reads this person until then: one at a time does, and the claim of a process that ended runs out. */
  claim: optional(shape({ by: text, untilAt: instant })),
})
export type PersonHistory = Of<typeof PERSON_HISTORY>

/** Every day from `fromAt` to `throughAt` was read; both are UTC midnights. */
const ASKED = {
  fromAt: instant,
  throughAt: instant,
  readAt: instant,
  /** When the earlier days were last read again, because the service may amend them. */
  wideAt: instant,
}
export const RUNS_ASKED = shape(ASKED)
export type RunsAsked = Of<typeof RUNS_ASKED>

/** The days for which add-on use was read, and how far back it goes. */
export const ADD_ON_ASKED = shape({
  ...ASKED,
  /** The service has ever returned a row: without any, nothing follows from missing rows. */
  hasRows: boolean,
  /** The number of the earliest days read that had no rows. */
  emptyDays: number,
})
export type AddOnAsked = Of<typeof ADD_ON_ASKED>

/** Sums in credits since the first reading ever. */
export const BURNED_FACTS = shape({
  team: amount,
  /** By group id. */
  groups: record(amount),
  /** Start of the cycle of the last reading; absent while the service names no cycle. */
  cycleStartAt: optional(instant),
})
export type BurnedFacts = Of<typeof BURNED_FACTS>
