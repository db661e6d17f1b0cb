// Replays the demand of one cycle, day by day, under given caps. Credits of the seat come first, so caps limit add-on use only. A person is
// blocked on a day when the cap allows less than they would have used.

import { DAY_MS } from '../../model/units.ts'
import { type CapSource, type CapsOfDay, type CutOff, type CycleDemand, DUST } from './demand.ts'

/** How much of the demand that a cap cut off counts: nothing, the estimate, or the upper end. */
export const BANDS = ['low', 'middle', 'high'] as const
export type BandEnd = (typeof BANDS)[number]

/** How far each cap was used, by place in `CapSource.scopes`. */
export interface CapUse {
  /** The highest add-on use under it in any cycle; credits. */
  readonly highest: number[]
  /** The cap at that time. */
  readonly cap: number[]
  readonly isReached: boolean[]
}

export const noCapUse = (): CapUse => ({ highest: [], cap: [], isReached: [] })

/**
 * The outcome for everybody in one cycle; by place. `from`: by person, the place of the scope that set the cap on the last day; -1 for none. Absent for
 * the recorded outcome.
 */
export type Outcome = ReturnType<typeof emptyOutcome> & { readonly from?: Int32Array }

const emptyOutcome = (people: number) => ({
  /** Add-on credits used. */
  addOn: new Float64Array(people),
  /** Working days on which less was allowed than wanted; a day that is only probably a working day counts in part. */
  blockedDays: new Float64Array(people),
  /** Place of the first blocked day in the cycle's days; -1 without one. */
  firstBlocked: new Int32Array(people).fill(-1),
  /** The cap on that day. */
  capThen: new Float64Array(people).fill(Number.POSITIVE_INFINITY),
})

/** Adds one blocked day, or a part of one. */
function noteBlocked(
  { blockedDays, firstBlocked, capThen }: Outcome,
  person: number,
  day: number,
  share: number,
  cap = Number.POSITIVE_INFINITY,
) {
  blockedDays[person] = (blockedDays[person] ?? 0) + share
  if (firstBlocked[person] !== -1) return
  firstBlocked[person] = day
  capThen[person] = cap
}

/** Replays a cycle under these caps; records in `capUse`, when given, how far each cap was used. */
export function replayCycle({ cycle, days, atCap }: CycleDemand, caps: CapSource, band: BandEnd, capUse?: CapUse): Outcome {
  const outcome = emptyOutcome(atCap.length)
  const { addOn } = outcome
  let from: Int32Array | undefined
  for (const [index, day] of days.entries()) {
    const held = caps.capsOn({ at: day.dayAt + DAY_MS / 2, cycle, used: addOn })
    let next = 0
    for (let person = 0; person < atCap.length; person += 1) {
      const more = day.cutOff[next]?.person === person ? day.cutOff[next] : undefined
      if (more) next += 1
      const wanted = (day.addOn[person] ?? 0) + (more ? extraOf(more, band) : 0)
      if (wanted <= 0) continue
      const cap = held.caps[person] ?? Number.POSITIVE_INFINITY
      const before = addOn[person] ?? 0
      const got = Math.min(wanted, Math.max(0, cap - before))
      const isBlocked = wanted - got > DUST
      addOn[person] = before + got
      if (isBlocked) noteBlocked(outcome, person, index, more?.share ?? 1, cap)
      const place = held.from[person] ?? -1
      if (capUse && place >= 0) noteUse(capUse, place, cap, before + got, isBlocked)
    }
    // A cap without any use is also one that was not reached.
    if (capUse && index === days.length - 1) noteHolders(capUse, held)
    from = held.from
  }
  return { ...outcome, ...(from && { from }) }
}

function noteUse({ highest, cap: caps, isReached }: CapUse, place: number, cap: number, used: number, isBlocked: boolean): void {
  if (isBlocked || (used > 0 && used >= cap - DUST)) isReached[place] = true
  if (used <= (highest[place] ?? -1)) return
  highest[place] = used
  caps[place] = cap
}

function noteHolders(capUse: CapUse, { caps, from }: CapsOfDay): void {
  for (const [person, place] of from.entries()) if (place >= 0) noteUse(capUse, place, caps[person] ?? 0, 0, false)
}

const extraOf = ({ middle, high }: CutOff, band: BandEnd): number => (band === 'low' ? 0 : band === 'high' ? high : middle)

/** The recorded outcome: use as recorded, and a person blocked where more demand is estimated. */
export function recordedCycle({ days, atCap, addOn }: CycleDemand, band: BandEnd): Outcome {
  const outcome = { ...emptyOutcome(atCap.length), addOn }
  for (const [index, { cutOff, caps }] of days.entries())
    for (const more of cutOff) if (extraOf(more, band) > DUST) noteBlocked(outcome, more.person, index, more.share, caps[more.person])
  return outcome
}
