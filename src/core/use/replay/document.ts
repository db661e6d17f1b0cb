// The data of a simulation: its inputs, one replayed cycle, and the document, which every rendering reads. Types only.

import type { HistoryEntry } from '../../model/change.ts'
import type { JournalEntry } from '../../model/journal.ts'
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../../model/observed.ts'
import type { PolicyRevision } from '../../model/policy.ts'
import type { Credits, Instant } from '../../model/units.ts'
import type { CycleDemand, ReplayCycle } from './demand.ts'
import type { RecordedDays } from './recorded.ts'
import type { BandEnd, Outcome } from './replay.ts'

/** A figure, and what it would be if cut-off demand were nothing, or the highest. */
export interface Banded {
  readonly low: number
  readonly middle: number
  readonly high: number
}

/** The sums under one side. Credits are add-on credits. */
export interface SideFigures {
  readonly credits: Banded
  readonly blockedPeople: Banded
  /** Working days on which a person was blocked, summed over people. */
  readonly blockedDays: Banded
}

export interface SimulationRow {
  /** `team`, `group:ID`, or `-` for people in no group. */
  readonly key: string
  readonly name: string
  /** Approved today, or with use in the cycle. */
  readonly people: number
  readonly workingDays: number
  readonly policy: SideFigures
  readonly beside: SideFigures
  /** Add-on credits that the policy would have saved; negative: spent in addition. */
  readonly kept: number
  /** In the currency of the configured price. */
  readonly keptMoney?: number
}

/** A pool of the policy; `key` is `pool:NAME`. */
interface PoolRow extends SimulationRow {
  /** The pool's credits for a cycle. */
  readonly credits: number
}

export interface SimulatedCycle extends Cycle {
  readonly isWhole: boolean
  readonly total: SimulationRow
  readonly groups: readonly SimulationRow[]
  readonly pools: readonly PoolRow[]
}

/** How a cap stopped one person in one cycle. */
export interface Blocked {
  /** The first day; midnight, UTC. */
  readonly fromAt: Instant
  readonly days: number
  readonly cap: number
}

export interface BlockedPerson {
  readonly email: string
  readonly cycleStartAt: Instant
  readonly workingDays: number
  readonly policy?: Blocked
  readonly beside?: Blocked
}

/** How far a cap was used. */
export interface CapReach {
  readonly scope: string
  readonly cap: number
  /** The highest add-on use of one person in one cycle. */
  readonly highest: number
  readonly isReached: boolean
  /** People who had this cap at a cycle's end, summed over the cycles. */
  readonly personCycles: number
  /** How many of them were blocked. */
  readonly blocked: number
}

/** A person for whom the two sides differ, over all cycles. */
export interface PersonChange {
  readonly email: string
  readonly credits: { readonly policy: number; readonly beside: number }
  readonly blockedDays: { readonly policy: number; readonly beside: number }
}

export interface Simulation {
  readonly workspace: string
  readonly policy: { readonly digest: string; readonly revision: string }
  readonly beside: { readonly kind: 'inForce' } | { readonly kind: 'policy'; readonly digest: string; readonly revision: string }
  readonly addOn: RecordedDays['addOn']
  readonly creditsPerSeat?: number
  readonly pricePerCredit?: number
  readonly recorded: { readonly firstAt: Instant; readonly lastAt: Instant }
  readonly cycles: readonly SimulatedCycle[]
  /** The longest blocked under the policy first. */
  readonly blocked: readonly BlockedPerson[]
  readonly caps: readonly CapReach[]
  /** Blocked on fewer days, or allowed more use; the most first. */
  readonly gains: readonly PersonChange[]
  /** Blocked on more days. */
  readonly losses: readonly PersonChange[]
  readonly notes: readonly string[]
}

export interface SimulationInputs {
  readonly workspace: string
  readonly policy: PolicyRevision
  /** Absent: compare with what was in force. */
  readonly against?: PolicyRevision
  readonly recorded: RecordedDays
  /** All since the first recorded day, in the order of time; those before the shown ones tell what people usually used. */
  readonly cycles: readonly ReplayCycle[]
  /** How many of the last cycles are shown. */
  readonly shown: number
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly owned: readonly OwnedCap[]
  /** Among others, what other clients were seen to write. */
  readonly journal?: readonly JournalEntry[]
  readonly history: readonly HistoryEntry[]
  readonly creditsPerSeat?: Credits
  readonly pricePerCredit?: number
  /** What could not be gathered. */
  readonly notes: readonly string[]
  /** Called after each cycle. */
  readonly onCycle?: () => void
}

/** One side of one cycle at each end of the band. */
export type Outcomes = Readonly<Record<BandEnd, Outcome>>

/** One cycle, replayed. */
export interface ReplayedCycle {
  readonly demand: CycleDemand
  readonly workingDays: Float64Array
  readonly policy: Outcomes
  readonly beside: Outcomes
}

/** Counts for the notes. */
export interface Counts {
  /** People who were at their cap in force in a shown cycle, and those among them for whom no earlier day tells what they would have used. */
  readonly atCap: number
  readonly unknown: number
}
