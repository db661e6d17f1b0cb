// How far back the use of the workspace was read. Types only, no code.
import type { Instant } from '../model/units.ts'

/** Every day from `fromAt` to `throughAt` was read; both are UTC midnights. */
export interface RunsAsked {
  readonly fromAt: Instant
  readonly throughAt: Instant
  readonly readAt: Instant
  /** When the earlier days were last read again, because the service may amend them. */
  readonly wideAt: Instant
}

/** The days for which add-on use was read, and how far back it goes. */
export interface AddOnAsked extends RunsAsked {
  /** The service has ever returned a row: without any, nothing follows from missing rows. */
  readonly hasRows: boolean
  /** The number of the earliest days read that had no rows. */
  readonly emptyDays: number
  /** Days before `fromAt` need not be read. */
  readonly isWhole: boolean
}
