// How much of a past cycle is known: of the people, and of what the whole workspace used. A replay of less would be wrong without anybody seeing it.
import type { Credits, Instant } from '../../model/units.ts'
import { type CommonDays, type Days, ENOUGH_KNOWN, missingDays, type PersonHistory, type UsedDay } from '../history.ts'
import type { RecordedDays, UseOfDay } from './recorded.ts'

/** Where the days of people come from. */
export interface PastDays {
  /** What is known of single people, by e-mail. */
  readonly people: ReadonlyMap<string, PersonHistory>
  readonly common: CommonDays
  /** Use of the whole workspace on the days that were read; absent where its runs carry no credits. */
  readonly team?: Days & { readonly days: readonly UsedDay[] }
}

/** Shares from 0 to 1. */
export interface CycleKnown {
  readonly people: number
  /** Absent where the use of the whole workspace is not known. */
  readonly use?: number
}

export const isEnough = ({ people, use = 1 }: CycleKnown): boolean => people >= ENOUGH_KNOWN && use >= ENOUGH_KNOWN

/** `emails`: everybody who counts. */
export function cycleKnown(cycle: Days, recorded: RecordedDays, emails: readonly string[], past: PastDays): CycleKnown {
  const known = emails.filter((email) => missingDays(cycle, daysOf(email, past)).length === 0).length
  const { team } = past
  const isTold = team !== undefined && team.fromAt <= cycle.fromAt && team.untilAt >= cycle.untilAt
  const total = isTold ? within(team.days, cycle).reduce((sum, { used }) => sum + used, 0) : 0
  return {
    people: emails.length === 0 ? 1 : known / emails.length,
    ...(total > 0 && { use: usedIn(recorded, cycle) / total }),
  }
}

function daysOf(email: string, { people, common }: PastDays): readonly Days[] {
  const { known = [], isFound } = people.get(email) ?? {}
  return [
    ...known.filter(({ isSilent }) => isFound === true || isSilent !== true),
    ...(common.measured && !common.unassignable.has(email) ? [common.measured] : []),
    ...(common.recorded ? [common.recorded] : []),
  ]
}

const within = <T extends { readonly dayAt: Instant }>(days: readonly T[], { fromAt, untilAt }: Days): readonly T[] =>
  days.filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)

const usedIn = ({ days }: RecordedDays, cycle: Days): number =>
  within(days, cycle).reduce((sum, { cents }) => sum + cents.reduce((all, one) => all + one, 0), 0) / 100

/**
 * One figure for each person and day: the measured one where it is told, else the other one. Add-on use that is not measured is NaN, and is worked
 * out from the running total.
 */
export function mergedDays(estimated: RecordedDays, measured: RecordedDays, { measured: told, unassignable }: CommonDays): RecordedDays {
  if (!told) return estimated
  const people = [...new Set([...estimated.people, ...measured.people])]
  const places = new Map(people.map((email, place) => [email, place]))
  const placed = ({ people: emails }: RecordedDays): Int32Array => Int32Array.from(emails, (email) => places.get(email) ?? 0)
  const [ofEstimated, ofMeasured] = [placed(estimated), placed(measured)]
  const isOut = estimated.people.map((email) => unassignable.has(email))
  const byDay = new Map(measured.days.map((day) => [day.dayAt, day]))
  const dayAts = [...new Set([...estimated.days, ...measured.days].map(({ dayAt }) => dayAt))].sort((a, b) => a - b)
  const others = new Map(estimated.days.map((day) => [day.dayAt, day]))
  const days = dayAts.map((dayAt): UseOfDay => {
    const isTold = dayAt >= told.fromAt && dayAt < told.untilAt
    const [better, other] = [isTold ? byDay.get(dayAt) : undefined, others.get(dayAt)]
    const rows = [...(other?.people ?? [])].flatMap((place, row) => (!isTold || isOut[place] ? [row] : []))
    return {
      dayAt,
      people: Int32Array.from([
        ...(better?.people ?? []).values().map((place) => ofMeasured[place] ?? 0),
        ...rows.map((row) => ofEstimated[other?.people[row] ?? 0] ?? 0),
      ]),
      cents: Float64Array.from([...(better?.cents ?? []), ...rows.map((row) => other?.cents[row] ?? 0)]),
      addOnCents: Float64Array.from([...(better?.addOnCents ?? []), ...rows.map(() => Number.NaN)]),
    }
  })
  const isAll = days.every(({ addOnCents = [] }) => !addOnCents.some(Number.isNaN))
  return { addOn: isAll ? 'measured' : 'estimated', people, days }
}

/** All use of the workspace by day; undefined where runs carry no credits. */
export const teamDays = (rows: readonly { readonly dayAt: Instant; readonly used?: Credits }[]): readonly UsedDay[] | undefined =>
  rows.some(({ used }) => used !== undefined) ? rows.flatMap(({ dayAt, used }) => (used === undefined ? [] : [{ dayAt, used }])) : undefined
