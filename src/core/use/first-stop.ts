// What stops a person first in this cycle: their own cap, the pool that deals it, or the add-on credits of the workspace. It decides nothing else.
import type { Cycle } from '../model/observed.ts'
import type { Instant } from '../model/units.ts'
import { exhaustionAt, workingDays } from '../pools/figures.ts'

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
