// How good the forecast is (G16): what it says at noon of days 5, 10, 15 and 20 of a cycle, beside a straight line from the cycle's start
// and the rate of the last seven days, which are given the same figures, on companies that it was tuned on and on those it was not.
// Everything is simulated; a run is the same every time.

import { credits, DAY_MS, HOUR_MS, type Instant } from '../../src/core/model/units.ts'
import { type BurnFigures, burnOf } from '../../src/core/use/burn.ts'
import { atMost, judged, median, percent, publish, type Row, told } from './bench.ts'
import { type Company, companyOf, DAYS_BEFORE, KINDS, type Kind } from './forecast-company.ts'

/** Companies of the sandbox as they are, and of each kind that has something laid over them. */
const COMPANIES = { asTheyAre: 200, ofKind: 40 }
/** First seeds. */
const SETS = { tuning: 100_000, holdOut: 40_000 }
const DAYS = [5, 10, 15, 20] as const
/** What a daemon knows after its first start at least: the cycle before, and this one. */
const BACKFILL_DAYS = 28
const LIMIT = 0.8
const BAND = { low: 0.75, high: 0.9 }

/** The projection of one company on one day, and what came of it. */
interface Trial {
  readonly company: Company
  readonly actual: number
  readonly straight: number
  readonly lastWeek: number
  readonly figures: BurnFigures
}

const usedBetween = ({ hours, fromAt }: Company, from: Instant, until: Instant): number =>
  hours.slice((from - fromAt) / HOUR_MS, (until - fromAt) / HOUR_MS).reduce((sum, hour) => sum + hour, 0)

function trialOf(company: Company, day: number, daysBefore: number): Trial {
  const { startAt, endAt } = company.cycle
  const now = startAt + (day - 1) * DAY_MS + 12 * HOUR_MS
  // The service refreshed at 9:00 and will again at 12:15.
  const freshAt = now - 3 * HOUR_MS
  const used = usedBetween(company, startAt, freshAt)
  const rest = endAt - freshAt
  const week = usedBetween(company, freshAt - 7 * DAY_MS, freshAt)
  return {
    company,
    actual: usedBetween(company, startAt, endAt),
    straight: used + (used / (freshAt - startAt)) * rest,
    lastWeek: used + (week / (7 * DAY_MS)) * rest,
    figures: burnOf({ now, cycle: company.cycle, readings: readingsOf(company, now), history: historyOf(company, now, daysBefore) }),
  }
}

/** A reading an hour; what each shows is what was used at the latest refresh. */
function readingsOf(company: Company, now: Instant) {
  const { startAt } = company.cycle
  return Array.from({ length: 8 * 24 }, (_, hour) => {
    const at = now - HOUR_MS / 2 - hour * HOUR_MS
    const refreshedAt = Math.floor(at / (3 * HOUR_MS)) * 3 * HOUR_MS
    return { at, used: credits(usedBetween(company, startAt, refreshedAt)) }
  }).filter(({ at }) => at >= startAt)
}

function historyOf(company: Company, now: Instant, daysBefore: number) {
  const fromAt = company.cycle.startAt - daysBefore * DAY_MS
  const days = Array.from({ length: Math.floor((now - fromAt) / DAY_MS) }, (_, index) => {
    const dayAt = fromAt + index * DAY_MS
    return { dayAt, credits: credits(usedBetween(company, dayAt, dayAt + DAY_MS)) }
  })
  return { fromAt, readAt: now, days }
}

const errorOf = (trials: readonly Trial[], said: (trial: Trial) => number): number =>
  median(trials.map((trial) => Math.abs(said(trial) / trial.actual - 1)))

const projectedBy = ({ figures }: Trial): number => figures.projected?.p50 ?? Number.NaN

const coverageOf = (trials: readonly Trial[]): number =>
  trials.filter(({ figures: { projected }, actual }) => projected && projected.p10 <= actual && actual <= projected.p90).length /
  trials.length

/** The goal is about the companies as they are. */
function rowsOf(set: string, companies: readonly Company[], isGoal: boolean): readonly Row[] {
  const byDay = new Map(DAYS.map((day) => [day, companies.map((company) => trialOf(company, day, DAYS_BEFORE))]))
  const coverage = coverageOf([...byDay.values()].flat())
  const inBand = `${set}: share within the 80 % band, all four days`
  return [
    ...byDay.entries().map(([day, trials]) => errorRow(`${set}, day ${day}`, trials, isGoal && day === 10)),
    isGoal
      ? judged(
          'G16',
          inBand,
          `${percent(BAND.low)} to ${percent(BAND.high)}`,
          percent(coverage),
          coverage >= BAND.low && coverage <= BAND.high,
        )
      : told('G16', inBand, percent(coverage)),
    told('G16', `${set}: the same by day`, [...byDay.values()].map((trials) => percent(coverageOf(trials))).join(', ')),
  ]
}

function setOf(name: string, firstSeed: number): readonly Row[] {
  const make = (count: number, kind: Kind) => Array.from({ length: count }, (_, index) => companyOf(firstSeed + index, kind))
  const asTheyAre = make(COMPANIES.asTheyAre, 'sandbox')
  const byKind = new Map(KINDS.filter((kind) => kind !== 'sandbox').map((kind) => [kind, make(COMPANIES.ofKind, kind)]))
  const backfilled = asTheyAre.map((company) => trialOf(company, 10, BACKFILL_DAYS))
  return [
    ...rowsOf(name, asTheyAre, true),
    errorRow(`${name}, day 10, ${BACKFILL_DAYS} days before only`, backfilled, false),
    told('G16', `${name}: share within the band there`, percent(coverageOf(backfilled))),
    ...rowsOf(`${name}, laid over`, [...byKind.values()].flat(), false),
    ...byKind.entries().map(([kind, companies]) => {
      const trials = companies.map((company) => trialOf(company, 10, DAYS_BEFORE))
      return errorRow(`${name}, day 10, ${kind}`, trials, false)
    }),
  ]
}

/** Median errors of forecast, straight line and last seven days; the ratio is to the better of the two. */
function errorRow(figure: string, trials: readonly Trial[], isGoal: boolean): Row {
  const [ours, straight, lastWeek] = [
    errorOf(trials, projectedBy),
    errorOf(trials, (trial) => trial.straight),
    errorOf(trials, (trial) => trial.lastWeek),
  ]
  const ratio = ours / Math.min(straight, lastWeek)
  const measured = [ours, straight, lastWeek].map(percent).join(', ')
  const errors = `${figure}: error; line; week`
  return isGoal ? atMost('G16', errors, measured, ratio, LIMIT) : told('G16', errors, measured, ratio)
}

publish('Forecast', [...setOf('tuning', SETS.tuning), ...setOf('hold-out', SETS.holdOut)])
