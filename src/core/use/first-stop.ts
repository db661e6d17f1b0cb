// How near people are to their caps, and what stops a person first in this cycle: their own cap, the pool that deals it, or the add-on credits of the workspace.

import { BANDS, type Band } from '../model/events.ts'
import type { Cycle } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'
import { exhaustionAt, workingDays } from '../pools/figures.ts'

// How near people are to their caps, in bands, for gauges, the page, reports and audits alike.

/**
 * The band for a cap in force and add-on use. Each band includes its lower bound; with a cap of 0 a person is always at their cap. Undefined
 * while the cap, or the use of a capped person, is not known. Choice.
 */
export function bandOf(cap: Cap | undefined, addOnUse: Credits | undefined): Band | undefined {
  if (cap === undefined) return undefined
  if (cap === 'none') return 'uncapped'
  if (addOnUse === undefined) return undefined
  if (addOnUse >= cap) return 'at_cap'
  const isUnder = (percent: number) => addOnUse * 100 < cap * percent
  if (isUnder(50)) return 'under_50'
  if (isUnder(85)) return '50_to_85'
  return isUnder(95) ? '85_to_95' : '95_to_100'
}

/** How many people are in each band; people without a band are not counted. Undefined where no person has one, because unknown is not 0. */
export function countBands(people: readonly { readonly band?: Band | undefined }[]): Readonly<Record<Band, number>> | undefined {
  const counts: Record<Band, number> = { uncapped: 0, under_50: 0, '50_to_85': 0, '85_to_95': 0, '95_to_100': 0, at_cap: 0 }
  for (const { band } of people) if (band !== undefined) counts[band] += 1
  return people.some(({ band }) => band !== undefined) ? counts : undefined
}

/** Higher when nearer to the cap: `uncapped` is 0, `at_cap` the highest; −1 without a band. */
export const bandRank = (band: Band | undefined): number => (band === undefined ? -1 : BANDS.indexOf(band))

export const STOPS = ['cap', 'pool', 'balance', 'nothing'] as const
type Stop = (typeof STOPS)[number]

export const STOP_TEXT: Readonly<Record<Stop, string>> = {
  cap: 'your cap',
  pool: 'the pool',
  balance: "the workspace's balance",
  nothing: 'nothing in this cycle',
}

/** `at`: when it is expected, within the cycle; an instant at or before now: it has happened. Absent only with `nothing`. */
export interface FirstStop {
  readonly what: Stop
  readonly at?: Instant
}

/** When something runs out; absent: not within the cycle, or not known. */
interface Limit {
  readonly exhaustedAt?: Instant | undefined
}

interface OwnUse {
  readonly cap: number
  /** Add-on credits used in the cycle, which the cap counts. */
  readonly addOn: number
  /** All credits used in the cycle. */
  readonly used: number | undefined
  readonly creditsPerSeat: number | undefined
}

interface StopInputs {
  readonly now: Instant
  readonly cycle: Cycle | undefined
  /** Absent without a cap. */
  readonly own?: OwnUse | undefined
  readonly pool?: Limit & { readonly isUsedUp: boolean }
  readonly balance?: Limit
}

/** A pace is not taken from less than this part of a working day. */
const FEWEST_DAYS = 0.5

/** The earliest counts; of two at once the one that is nearer to the person. */
export function firstStop({ now, cycle, own, pool, balance }: StopInputs): FirstStop {
  const limits: readonly (readonly [Stop, Instant | undefined])[] = [
    ['cap', own && capReachedAt(own, now, cycle)],
    ['pool', pool?.isUsedUp ? now : pool?.exhaustedAt],
    ['balance', balance?.exhaustedAt],
  ]
  let first: FirstStop = { what: 'nothing' }
  for (const [what, at] of limits) if (at !== undefined && (first.at === undefined || at < first.at)) first = { what, at }
  return first
}

/** At the person's own pace of the cycle so far, on working days. */
function capReachedAt({ cap, addOn, used, creditsPerSeat = 0 }: OwnUse, now: Instant, cycle: Cycle | undefined): Instant | undefined {
  // Credits of the seat are used before add-on credits are.
  const left = cap - addOn + (addOn > 0 || used === undefined ? 0 : Math.max(0, creditsPerSeat - used))
  if (left <= 0) return now
  if (!cycle || now >= cycle.endAt) return undefined
  const pace = (used ?? 0) / Math.max(FEWEST_DAYS, workingDays(cycle.startAt, now))
  return exhaustionAt(left, pace, now, cycle.endAt)
}
