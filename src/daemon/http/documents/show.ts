// How documents write values: instants, days, figures and scopes.

import { isEmail, type Scope, scopeKey } from '../../../core/model/scope.ts'
import { DAY_MS, type Instant, wholeCents } from '../../../core/model/units.ts'
import type { Clock } from '../../../ports.ts'
import { lifted } from '../labels.ts'
import type { Showing } from './types.ts'

export const rfc3339 = lifted((at: Instant) => new Date(at).toISOString())

/** The day of an instant, in UTC. */
export const dayText = lifted((at: Instant) => rfc3339(at).slice(0, 10))

/** The days from the first of these midnights until the second instant. */
export const daysFrom = (fromAt: Instant, untilAt: Instant): readonly Instant[] =>
  Array.from({ length: Math.max(0, Math.ceil((untilAt - fromAt) / DAY_MS)) }, (_, index) => fromAt + index * DAY_MS)

/** Whole cents. */
export const cents = lifted((amount: number): number => wholeCents(amount))

/** Four decimals. */
export const ratio = lifted((value: number) => Math.round(value * 10_000) / 10_000)

/** `team`, `group:ID`, or the label of a person. */
export const scopeText = (scope: Scope, { people }: Pick<Showing, 'people'>): string =>
  scope.kind === 'user' ? people.label(scope.email) : people.text(scopeKey(scope))

/** The same from the key of a scope. */
export const keyText = (key: string, { people }: Showing): string => (isEmail(key) ? people.label(key) : people.text(key))

/** How long a list is mapped without a pause for other work. */
const STRETCH_MS = 8

/** Maps a long list while other work goes on. */
export async function mapYielding<A, B>(items: readonly A[], { clock }: { readonly clock: Clock }, map: (item: A) => B): Promise<B[]> {
  const mapped: B[] = []
  let beganMs = clock.monotonic()
  for (const item of items) {
    mapped.push(map(item))
    if (clock.monotonic() - beganMs < STRETCH_MS) continue
    await clock.sleep(1)
    beganMs = clock.monotonic()
  }
  return mapped
}
