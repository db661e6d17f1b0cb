// Holds changes of scopes that another client keeps changing: they are shown, and not reverted for a day.
import { CONTEST_MS, type Contest } from '../contested.ts'
import type { Difference } from '../diff.ts'
import { type Finding, type Guard, holdWhere } from './round.ts'

export const contested: Guard = (round): Finding | undefined => {
  const { facts, settings, instantText } = round.inputs
  const known = facts.contested
  if (settings.contested === 'off' || !known) return undefined
  const found = [...round.active.values()].flatMap((one) => {
    const contest = known.get(one.key)
    return contest ? describe(one, contest, instantText(contest.at + CONTEST_MS)) : []
  })
  if (found.length === 0) return undefined
  const named = found.slice(0, 3)
  const more = found.length > named.length ? ` and ${found.length - named.length} more` : ''
  const why = `${named.join(', ')}${more}; the limit is ${settings.contested} in 24 h, so they are not healed for 24 h`
  return holdWhere('contested', round, why, (one) => known.has(one.key))
}

const describe = ({ key, from, to }: Difference, { changes }: Contest, until: string): string =>
  `${key} was changed by others ${changes} times (now ${from}, not ${to}, left alone until ${until})`
