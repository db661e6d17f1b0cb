// Holds changes of scopes that somebody else keeps changing: they are shown, and not fought over.
import { CONTEST_MS } from '../contested.ts'
import type { Difference } from '../diff.ts'
import { type Finding, type Guard, holdWhere, type Round } from './round.ts'

/** Others write there again and again: it is shown, and not fought over. */
export const contested: Guard = (round): Finding | undefined => {
  const { facts, settings } = round.inputs
  const known = facts.contested
  const hit = known ? [...round.active.values()].filter((one) => known.has(one.key)) : []
  if (settings.contested === 'off' || !known || hit.length === 0) return undefined
  const named = hit.slice(0, 3).map((one) => describe(one, round))
  const more = hit.length > named.length ? ` and ${hit.length - named.length} more` : ''
  const why = `${named.join(', ')}${more}; the limit is ${settings.contested} in 24 h, so they are not healed for 24 h`
  return holdWhere('contested', round, why, (one) => known.has(one.key))
}

function describe({ key, from, to }: Difference, { inputs }: Round): string {
  const contest = inputs.facts.contested?.get(key)
  const until = contest ? `, left alone until ${inputs.instantText(contest.at + CONTEST_MS)}` : ''
  return `${key} was changed by others ${contest?.changes ?? 0} times (now ${from}, not ${to}${until})`
}
