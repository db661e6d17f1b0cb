// Pools as documents show them: the declaration with its line, use and caps, and both by day over the cycle. It works out no figure itself.

import { DAY_MS, midnight } from '../../../core/model/units.ts'
import { cents, dayText, headOf, placeOf, rfc3339 } from './show.ts'
import { poolFigures } from './summary.ts'
import type { PoolSeries, Showing, WorkspaceDocument, WorkspaceFacts } from './types.ts'

/** The pools of a workspace in the order of their names. */
export function poolEntries({ view, desiredState }: WorkspaceFacts, showing: Showing): WorkspaceDocument['pools'] {
  const known = new Map((view.pools ?? []).map((one) => [one.name, one]))
  return (desiredState?.resolution.pools ?? []).map(({ pool, members }) => ({
    name: showing.people.text(pool.name),
    credits: pool.credits,
    people: members.length,
    share: pool.share,
    ...poolFigures(known.get(pool.name) ?? {}, showing),
    source: placeOf(pool.at, showing, view.policy?.revision),
  }))
}

/** Pools that one answer has a series of. Choice. */
const MOST_SERIES = 20

/** Each pool from the first day of the cycle until today: as recorded at the end of each day, and as it is now. */
export function poolSeries({ view, journal }: WorkspaceFacts, showing: Showing): PoolSeries {
  const cycle = view.roster?.cycle ?? view.balance?.cycle
  const pools = view.pools ?? []
  const today = midnight(showing.now)
  const recorded = new Map(journal?.days.map((day) => [day.dayAt, day.pools]))
  return {
    ...headOf('PoolSeries', showing),
    workspace: view.workspace,
    ...(cycle && { cycle: { start: rfc3339(cycle.startAt), end: rfc3339(cycle.endAt) } }),
    pools: pools.slice(0, MOST_SERIES).map(({ name, credits, figures }) => {
      const days: PoolSeries['pools'][number]['days'][number][] = []
      for (let at = midnight(cycle?.startAt ?? today); cycle && at <= Math.min(today, cycle.endAt - 1); at += DAY_MS) {
        const byName = recorded.get(at)
        const known = at === today && figures ? figures : byName && Object.hasOwn(byName, name) ? byName[name] : undefined
        days.push({
          day: dayText(at),
          ...(known && { used: cents(known.used) }),
          ...(known?.dealt !== undefined && { dealt: cents(known.dealt) }),
        })
      }
      return {
        name: showing.people.text(name),
        credits,
        ...(figures?.exhaustedAt !== undefined && { exhaustion: rfc3339(figures.exhaustedAt) }),
        days,
      }
    }),
    poolsOmitted: Math.max(0, pools.length - MOST_SERIES),
  }
}
