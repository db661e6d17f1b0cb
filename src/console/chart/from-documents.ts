// Charts from the series that the daemon gives: instants for days, and nothing where nothing is known.
import { DAY_MS } from '../../core/model/units.ts'
import type { BurnSeries, CreditsSeries, DriftSeries, PersonDocument, PoolSeries } from '../../daemon/http/documents/types.ts'
import { capText } from '../text.ts'
import type { Chart } from './chart.ts'
import { cycleChart } from './cycle.ts'
import { driftChart } from './drift.ts'
import { personChart } from './person.ts'
import { poolChart } from './pool.ts'
import { stackChart } from './stack.ts'

/** Nothing without a cycle. */
export function cycleOfSeries({ cycle, credits, exhaustion, days, at }: CreditsSeries): Chart | undefined {
  if (!cycle || days.every(({ used }) => used === undefined)) return undefined
  const startAt = Date.parse(cycle.start)
  const endAt = Date.parse(cycle.end)
  const now = Math.min(Date.parse(at), endAt)
  const used = days.flatMap(({ day, used: value }) => {
    const end = Date.parse(day) + DAY_MS
    return value === undefined ? [] : [{ at: Math.max(startAt, Math.min(now, end)), value }]
  })
  const projected = days.flatMap(({ day, projected: one }) => (one ? [{ at: Math.min(endAt, Date.parse(day) + DAY_MS), ...one }] : []))
  return cycleChart({
    startAt,
    endAt,
    now,
    used: [{ at: startAt, value: 0 }, ...used],
    ...(credits !== undefined && { budget: credits }),
    ...(projected.length > 0 && { projected }),
    ...(exhaustion !== undefined && { exhaustedAt: Date.parse(exhaustion) }),
  })
}

/** Nothing where no day is known. */
export function burnOfSeries({ by, days, lines }: BurnSeries): Chart | undefined {
  if (days.length === 0 || lines.length === 0) return undefined
  const keyOf = ({ id, name }: BurnSeries['lines'][number]): string => id ?? name
  return stackChart({
    id: `burn-${by}`,
    title: by === 'team' ? 'Credits burned by day' : `Credits burned by day and ${by}`,
    noun: by,
    days: days.map((day, index) => ({
      at: Date.parse(day),
      parts: new Map(lines.map((line) => [keyOf(line), line.values[index] ?? 0])),
    })),
    names: new Map(lines.map((line) => [keyOf(line), line.name])),
  })
}

/** A chart for each pool; none without a cycle. */
export function poolsOfSeries({ cycle, pools, at: madeAt }: PoolSeries): readonly Chart[] {
  if (!cycle) return []
  const [startAt, endAt] = [Date.parse(cycle.start), Date.parse(cycle.end)]
  const now = Date.parse(madeAt)
  return pools.map(({ name, credits, exhaustion, days }) =>
    poolChart({
      ...{ name, startAt, endAt, credits },
      points: days.flatMap(({ day, used, dealt }) => {
        const at = Math.max(startAt, Math.min(now, Date.parse(day) + DAY_MS, endAt))
        return used === undefined ? [] : [{ at, used, ...(dealt !== undefined && { dealt }) }]
      }),
      ...(exhaustion !== undefined && { exhaustedAt: Date.parse(exhaustion) }),
    }),
  )
}

/** Nothing where no day is known. */
export const driftOfSeries = ({ days }: DriftSeries): Chart | undefined =>
  days.length === 0
    ? undefined
    : driftChart({ days: days.map(({ day, found = 0, reverted = 0 }) => ({ at: Date.parse(day), found, repaired: reverted })) })

/**
 * Nothing where no day is known. The ledger adds up what it saw; where it began in the middle of a cycle, days before have no figure, and
 * what was used before it began is added to the others. Days that the service measured are known whenever it began.
 */
export function personOfDocument({ addOn: present, use: { days, addOnSource } }: PersonDocument): Chart | undefined {
  const [first] = days
  const began = days.findIndex(({ burned }) => burned > 0)
  const missing = Math.max(0, (present ?? 0) - (days.at(-1)?.addOn ?? 0))
  const isKnown = (index: number): boolean =>
    addOnSource === 'measured'
      ? days[index]?.addOn !== undefined
      : (began >= 0 && index >= began) || (present !== undefined && index === days.length - 1)
  const last = days.at(-1)
  if (!first || !last) return undefined
  return personChart({
    startAt: Date.parse(first.day),
    endAt: Date.parse(last.day) + DAY_MS,
    days: days.map(({ day, addOn = 0, cap }, index) => ({
      at: Date.parse(day),
      ...(isKnown(index) && { used: Math.round((addOn + missing) * 10) / 10 }),
      ...(typeof cap === 'number' && { cap }),
    })),
    changes: days.flatMap(({ day, changed, cap }) =>
      changed === true ? [{ at: Date.parse(day), ...(typeof cap === 'number' && { cap }), text: `cap changed to ${capText(cap)}` }] : [],
    ),
  })
}
