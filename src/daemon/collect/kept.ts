// What a workspace keeps between readings of what is only shown: runs, add-on use, and caps of people that nobody declares. It reads nothing.
import { isAhead } from '../../core/model/age.ts'
import type { Finding } from '../../core/model/condition.ts'
import type { WorkspaceView } from '../../core/model/events.ts'
import type { CapReading, RunUse } from '../../core/model/observed.ts'
import type { Scope, ScopeKey } from '../../core/model/scope.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'
import type { RunsAsked } from '../../ports.ts'

/** As many days are asked for at once, where the service does not say that it is too much. */
export const CHUNK_DAYS = 30

/** What is older than that is not kept. */
export const LONGEST_BACK_DAYS = 400

/**
 * What was asked for, as far as it can be believed: a clock that was ahead has asked for days that were yet to come, and nobody knows from
 * which on. Its days are asked for again.
 */
export function believed<T extends RunsAsked>(asked: T | undefined, now: Instant): T | undefined {
  // Somewhere the next day has begun.
  return asked && isAhead(Math.max(asked.readAt, asked.throughAt - DAY_MS), now) ? undefined : asked
}

/** Why add-on use is not measured. */
export type WhyNot = NonNullable<WorkspaceView['notMeasured']>

/** The runs of the team as the ledger has them. */
export interface KnownRuns {
  readonly asked: RunsAsked
  readonly rows: readonly RunUse[]
}

/** What collecting remembers while the process lives. */
export interface Collector {
  /** How many days are asked for at once, where it is not 30. */
  readonly chunkDays: Map<ScopeKey, number>
  /** When each group was last tried, on the monotonic clock. */
  readonly triedAt: Map<ScopeKey, number>
  readonly addOn: AddOnCollector
}

export interface AddOnCollector {
  /** Until then it is not asked for, on the monotonic clock. */
  restUntil: number
  whyNot: WhyNot | undefined
  /** What holds until then. */
  found: readonly Finding[]
  chunkDays: number
  /** Everybody at once was refused, or too much. */
  byPerson: boolean
}

export const idleCollector = (): AddOnCollector => ({
  restUntil: Number.NEGATIVE_INFINITY,
  whyNot: undefined,
  found: [],
  chunkDays: CHUNK_DAYS,
  byPerson: false,
})

/** Where the sweep is. */
export interface UndeclaredPass {
  /** On the monotonic clock: the next reads. */
  readonly dueAt: number
  /** Still to be read in this pass. */
  readonly left: readonly Scope[]
  readonly readings: Map<ScopeKey, CapReading>
}
