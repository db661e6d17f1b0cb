// What every operation works with: the data, the switches, and the instant it is asked at. Types, and the two spellings of figures.
import type { Instant } from '../core/units.ts'
import type { CapBook } from './caps.ts'
import type { Store } from './store.ts'
import type { Switches } from './switches.ts'

export interface ServiceContext {
  readonly store: Store
  readonly caps: CapBook
  readonly switches: Switches
  readonly now: Instant
  /** Faults that change what an answer says. */
  readonly quirks?: { readonly staleRead?: boolean; readonly shortRoster?: boolean }
}

/** The body of a 200; undefined: zero bytes. */
export type Answer = Readonly<Record<string, unknown>> | undefined

/** A 64-bit figure, as the switch `--int64` says. */
export const int64 = (value: number, switches: Pick<Switches, 'int64'>): number | string =>
  switches.int64 === 'string' ? String(value) : value
