// Series for charts: credits over the cycle with the projection of its end, use by day, drift by day, pools by day. A day without a record
// has no figure, which is not 0.

import type { PoolStatus } from '../../../core/model/events.ts'
import type { Cycle, RunUse } from '../../../core/model/observed.ts'
import { groupScope, scopeKey } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant, midnight } from '../../../core/model/units.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import type { KnownRuns } from '../../collect/kept.ts'
import { historyOf } from '../../collect/usage-summary.ts'
import { asked, type Query, type Seen, word } from './documents.ts'
import { from, ifKnown, object, optional, record, type SourceOf } from './field.ts'
import * as t from './parts.ts'
import { groupNames } from './people/people.ts'
import { cents, daysFrom } from './show.ts'

const BURN_DAYS = 90
const DRIFT_DAYS = 30
const BURN_BY = ['group', 'model'] as const

export const BURN_QUERY = [word('by', BURN_BY, 'What a line shows.', 'group')]

/** More lines cannot be told apart. Choice. */
const MOST_LINES = 12

const creditsDay = record('One day.')({
  day: t.day('Which.'),
  used: optional(t.amount('Credits used since the start of the cycle, at its end.')),
})

export const CREDITS_SERIES = object<Seen>('Credits over the cycle: used, projection with its band, balance.')({
  ...t.about('CreditsSeries'),
  credits: ifKnown(t.amount('All credits of the cycle.'), ({ view }) => t.creditsNow(view)),
  exhaustion: ifKnown(t.instant('When the add-on credits are expected to run out.'), ({ view }) => view.use?.figures?.exhaustedAt),
  cycle: ifKnown(t.cycle, ({ view }) => t.cycleOf(view)),
  projected: ifKnown(t.projection, ({ view }) => view.use?.figures?.projected),
  days: from(t.list(creditsDay, 'From the first day of the cycle until today, in order.'), creditsDays),
})

export const creditsSeries = (seen: Seen) => CREDITS_SERIES.show(seen, seen)

function creditsDays(seen: Seen): readonly SourceOf<typeof creditsDay>[] {
  const cycle = t.cycleOf(seen.view)
  if (!cycle) return []
  const usedAt = usedByDay(seen, cycle.startAt)
  return daysSince(cycle, seen.now).map((at) => ({ day: at, used: usedAt.get(at) }))
}

/** The days of a cycle until today. */
const daysSince = ({ startAt, endAt }: Cycle, now: Instant): readonly Instant[] =>
  daysFrom(midnight(startAt), Math.min(midnight(now) + 1, endAt))

/** Credits used since the cycle began, at the end of each day: from runs where they cover the cycle, else from the readings of that day. */
function usedByDay({ view, runs, journal, now }: Seen, startAt: Instant): ReadonlyMap<Instant, number> {
  const used = new Map<Instant, number>()
  const first = midnight(startAt)
  const today = midnight(now)
  const history = runs && runs.asked.fromAt <= first ? historyOf(runs) : undefined
  if (history) {
    const burned = new Map(history.days.map((day) => [day.dayAt, day.credits]))
    let sum = 0
    for (let at = first; at <= Math.min(today, midnight(history.readAt)); at += DAY_MS) {
      sum += burned.get(at) ?? 0
      used.set(at, sum)
    }
  } else {
    for (const day of journal?.days ?? []) if (day.dayAt >= first && day.used !== undefined) used.set(day.dayAt, day.used)
  }
  const present = view.roster && usedInCycle(view.roster)
  if (present !== undefined) used.set(today, Math.max(present, used.get(today) ?? used.get(today - DAY_MS) ?? 0))
  return used
}

const burnLine = record('One line of the chart.')({
  name: t.plain('Of the group or model.'),
  id: optional(t.text('Of the group.')),
  total: t.amount('Of these days.'),
  values: t.list(t.asIs<number | null>({ type: ['number', 'null'] }), 'One for each day; null where not known.'),
})
type Line = SourceOf<typeof burnLine>

export const BURN_SERIES = record('Credits burned by day.')({
  ...t.about('BurnSeries'),
  by: t.words(BURN_BY),
  days: t.list(t.day('Which.'), 'In order.'),
  lines: t.list(burnLine, 'The most used first; the rest is summed as `other`.'),
})

export async function burnSeries(seen: Seen, query: Query = {}) {
  const question = asked(query, BURN_QUERY)
  const by = question.word('by', BURN_BY) ?? 'group'
  const days = lastDays(BURN_DAYS, seen.now)
  const lines = by === 'group' ? await groupLines(seen, days) : modelLines(seen, days)
  return BURN_SERIES.show({ by, days, lines }, seen)
}

/** Today is the last. */
function lastDays(count: number, now: Instant): readonly Instant[] {
  const untilAt = midnight(now) + DAY_MS
  return daysFrom(untilAt - count * DAY_MS, untilAt)
}

type Covered = Pick<KnownRuns['asked'], 'fromAt' | 'throughAt'>

/** A day that was read and has no rows had no use; a day that was not read is not known. */
function lineOf(
  about: { readonly name: string; readonly id?: string },
  rows: readonly RunUse[],
  days: readonly Instant[],
  covered: Covered,
): Line {
  const byDay = Map.groupBy(rows, ({ dayAt }) => dayAt)
  const values = days.map((at) => {
    if (at < covered.fromAt || at > covered.throughAt) return null
    return cents((byDay.get(at) ?? []).reduce((sum, row) => sum + (row.used ?? 0), 0))
  })
  return { ...about, total: cents(values.reduce<number>((sum, value) => sum + (value ?? 0), 0)), values }
}

function modelLines({ runs, people }: Seen, days: readonly Instant[]): readonly Line[] {
  const [first, last] = [days[0], days.at(-1)]
  if (!runs || first === undefined || last === undefined) return []
  const rows = runs.rows.filter(({ dayAt, used }) => dayAt >= first && dayAt <= last && used !== undefined)
  const models = [...Map.groupBy(rows, ({ model }) => model)]
  const lines = models.map(([name, all]) => ({ rows: all, line: lineOf({ name: people.text(name) }, all, days, runs.asked) }))
  lines.sort((a, b) => b.line.total - a.line.total)
  const others = lines.slice(MOST_LINES).flatMap((one) => one.rows)
  return [
    ...lines.slice(0, MOST_LINES).map(({ line }) => line),
    ...(others.length > 0 ? [lineOf({ name: 'other' }, others, days, runs.asked)] : []),
  ]
}

/** Groups may overlap, so the remaining ones are not summed. */
async function groupLines(seen: Seen, days: readonly Instant[]): Promise<readonly Line[]> {
  const { view, runs, records } = seen
  const [first, last] = [days[0], days.at(-1)]
  const asked = await records.fact('runsAsked')
  const isWithoutCredits = runs !== undefined && historyOf(runs) === undefined
  if (!asked || isWithoutCredits || first === undefined || last === undefined) return []
  const names = groupNames(seen)
  const most = view.groups.toSorted((a, b) => (b.used ?? 0) - (a.used ?? 0)).slice(0, MOST_LINES)
  const lines: Line[] = []
  for (const { id, name } of most) {
    const covered = asked[scopeKey(groupScope(id))]
    if (!covered) continue
    const rows = await records.runs(groupScope(id), { fromAt: first, untilAt: last + DAY_MS })
    lines.push(lineOf({ name: names.get(id) ?? name, id }, rows, days, covered))
  }
  return lines.toSorted((a, b) => b.total - a.total)
}

const driftDay = record('One day.')({
  day: t.day('Which.'),
  found: optional(t.count('Foreign changes found; absent before counting began.')),
  reverted: optional(t.count('Foreign changes reverted.')),
})

export const DRIFT_SERIES = record('Drift found and reverted by day.')({
  ...t.about('DriftSeries'),
  days: t.list(driftDay, 'In order; days before counting began have no figures.'),
})

export function driftSeries(seen: Seen) {
  const recorded = seen.journal?.days
  const figures = new Map(recorded?.map((day) => [day.dayAt, day]))
  const beganAt = recorded?.[0]?.dayAt ?? Number.POSITIVE_INFINITY
  const days = lastDays(DRIFT_DAYS, seen.now).map((at) => {
    const { found = 0, reverted = 0 } = figures.get(at) ?? {}
    return { day: at, ...(at >= beganAt && { found, reverted }) }
  })
  return DRIFT_SERIES.show({ days }, seen)
}

/** Pools that one answer has a line of. Choice. */
const MOST_POOLS = 20

const poolDay = record('One day.')({
  day: t.day('Which.'),
  used: optional(t.amount('Credits used in the cycle, at the end of the day.')),
  dealt: optional(t.dealt),
})

const pool = object<PoolStatus & { readonly days: readonly SourceOf<typeof poolDay>[] }>('One pool.')({
  name: t.text(),
  credits: t.figure('Credits of all members together in a cycle.'),
  exhaustion: t.poolExhaustion,
  days: t.list(poolDay, 'From the first day of the cycle until today, in order; days before recording began have no figures.'),
})

export const POOL_SERIES = object<Seen>('Pools over the billing cycle.')({
  ...t.about('PoolSeries'),
  cycle: ifKnown(t.cycle, ({ view }) => t.cycleOf(view)),
  ...t.bounded('pools', MOST_POOLS, pool, 'By name.', poolsByDay),
})

export const poolSeries = (seen: Seen) => POOL_SERIES.show(seen, seen)

/** Each pool from the first day of the cycle until today: as recorded at the end of each day, and as it is now. */
function poolsByDay({ view, journal, now }: Seen) {
  const cycle = t.cycleOf(view)
  const today = midnight(now)
  const recorded = new Map(journal?.days.map((day) => [day.dayAt, day.pools]))
  const days = cycle ? daysSince(cycle, now) : []
  return (view.pools ?? []).map((one) => ({
    ...one,
    days: days.map((at) => {
      const byName = recorded.get(at)
      const known = at === today && one.figures ? one.figures : byName && Object.hasOwn(byName, one.name) ? byName[one.name] : undefined
      return { day: at, used: known?.used, dealt: known?.dealt }
    }),
  }))
}
