// What every operation works with: the data, the switches, and the time of the request. Types, and the two spellings of figures.
import type { Answers } from '../api/wire.ts'
import type { Instant } from '../core/model/units.ts'
import type { Operation } from '../ports.ts'
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
export type Answer = Answers[Operation] | undefined

/** A 64-bit figure, as the switch `--int64` says. */
export const int64 = (value: number, switches: Pick<Switches, 'int64'>): number | string =>
  switches.int64 === 'string' ? String(value) : value
