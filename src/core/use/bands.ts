// How near people are to their caps, in bands, for gauges, the page, reports and audits alike.
import { BANDS, type Band } from '../model/events.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits } from '../model/units.ts'

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
