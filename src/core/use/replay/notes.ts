// The notes of a simulation: what recorded use cannot tell, and what makes the figures less reliable than they look. Each note names a number and,
// where there is one, the way out.

import { groupScope, scopeKey } from '../../model/scope.ts'
import { DAY_MS } from '../../model/units.ts'
import type { RejectedScope } from '../../resolve/candidate.ts'
import type { Counts, SimulationInputs } from './document.ts'
import { isWeekend, type RecordedDays, type ReplayPeople } from './recorded.ts'

export interface Found {
  readonly tally: Counts
  readonly rejected: readonly RejectedScope[]
}

/** The most important first. */
export function simulationNotes(inputs: SimulationInputs, people: ReplayPeople, { tally, rejected }: Found): readonly string[] {
  const { creditsPerSeat, recorded } = inputs
  return [
    ...unknownMembers(inputs),
    ...rejected.map(({ message }) => message),
    ...(creditsPerSeat === undefined ? ['What a seat includes is not known, so all use counts as add-on use: an upper bound.'] : []),
    ...(recorded.addOn === 'estimated' && creditsPerSeat !== undefined
      ? [`Add-on use is estimated: what a person used in a cycle beyond the ${creditsPerSeat} credits of a seat, as they are today.`]
      : []),
    ...atCapNotes(tally),
    ...withoutCap(inputs, people),
    ...poolNotes(inputs),
    ...silentDays(recorded, inputs),
    'Groups and roles are those of today. Recorded use does not tell what people would have done had they known of another cap.',
  ]
}

function unknownMembers({ policy, groups }: SimulationInputs): readonly string[] {
  const known = new Set(groups.map(({ id }) => id))
  const unknown = policy.set.groups.filter(({ scope }) => !known.has(scope.id))
  if (unknown.length === 0) return []
  const names = unknown.slice(0, 5).map(({ scope, name }) => `${scopeKey(groupScope(scope.id))} (${name})`)
  const rest = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  return [
    `The ledger does not know the members of ${names.join(', ')}${rest}, so their caps reach nobody here; a daemon lists them once its policies declare them.`,
  ]
}

function atCapNotes({ atCap, unknown }: Counts): readonly string[] {
  if (atCap === 0) return []
  const were = atCap === 1 ? '1 person was' : `${atCap} people were`
  return [
    `${were} at a cap: what they would have used is the mean of up to four earlier equal weekdays; ranges go from nothing more to the highest of them.`,
    ...(unknown > 0 ? [`For ${unknown} of them no earlier day tells what they would have used; nothing is added for those days.`] : []),
  ]
}

const OTHERS =
  'In force counts what the ledger knows: caps that capkeeper wrote or declared, and what it saw other clients write there. A cap that was set ' +
  'where no policy declares one is not in the ledger and counts as none.'

function withoutCap({ against, owned, history }: SimulationInputs, { emails }: ReplayPeople): readonly string[] {
  if (against || emails.length === 0) return []
  if (owned.length > 0 || history.length > 0) return [OTHERS]
  return ['The ledger knows of no cap that was in force: people count as without one, and nobody as blocked.']
}

function poolNotes({ policy, against }: SimulationInputs): readonly string[] {
  if (policy.set.pools.length === 0 && (against?.set.pools.length ?? 0) === 0) return []
  return [
    'Pools are dealt once a day from the use of the days before, with a first deal on the first day shown; a daemon deals up to every 4 h, and so blocks fewer.',
  ]
}

/** Weekdays without any use: more likely no daemon was running than that nobody worked. */
function silentDays({ days }: RecordedDays, { cycles, shown }: SimulationInputs): readonly string[] {
  const [first, last] = [cycles.at(-shown) ?? cycles[0], cycles.at(-1)]
  const inside = days.filter(({ dayAt }) => first && last && dayAt >= first.startAt && dayAt < last.endAt)
  let silent = 0
  for (const [index, { dayAt }] of inside.entries()) {
    const previous = inside[index - 1]?.dayAt ?? dayAt
    for (let at = previous + DAY_MS; at < dayAt; at += DAY_MS) if (!isWeekend(at)) silent += 1
  }
  if (silent === 0) return []
  const on = silent === 1 ? '1 weekday has' : `${silent} weekdays have`
  return [`${on} no use at all: if no daemon ran then, that use counts on the day after, or is missing.`]
}
