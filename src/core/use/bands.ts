// How near a person is to their cap. The service does not say what part of a person's use was paid from add-on credits, so this file
// estimates it in one place for the guards, the gauges and the page alike; it must never guess where a figure is missing.
import { BANDS, type Band, type PersonStatus } from '../model/events.ts'
import type { Cap } from '../model/policy.ts'
import { type Credits, wholeCents } from '../model/units.ts'

/**
 * A person's estimated add-on use in credits, to the cent: max(0, used − credits per seat); all credits used, an upper bound, while the credits per
 * seat are unknown. Absent when `used` is. interface-spec.md, Team credit balance object; the estimate is a choice (product.md, section 5).
 */
export function estimatedAddOnUse(used: Credits | undefined, creditsPerSeat: Credits | undefined): Credits | undefined {
  if (used === undefined) return undefined
  return wholeCents(Math.max(0, used - (creditsPerSeat ?? 0)))
}

/**
 * The band of a person with this cap in force and this add-on use: each band includes its lower bound, and a cap of 0 is always at its
 * cap. Absent while the cap, or the use of a capped person, is unknown. Choice.
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

/** How many people stand in each band; people without a band are in none. */
export function countBands(people: readonly PersonStatus[]): Readonly<Record<Band, number>> {
  const counts: Record<Band, number> = { uncapped: 0, under_50: 0, '50_to_85': 0, '85_to_95': 0, '95_to_100': 0, at_cap: 0 }
  for (const { band } of people) if (band !== undefined) counts[band] += 1
  return counts
}

/** The nearer to the cap, the higher: `uncapped` is 0, `at_cap` the highest; −1 without a band. */
export const bandRank = (band: Band | undefined): number => (band === undefined ? -1 : BANDS.indexOf(band))
