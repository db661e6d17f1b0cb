// State of a workspace for readings that are only shown: runs, add-on use, and undeclared caps. It reads nothing itself.

import type { Finding } from '../../core/model/condition.ts'
import type { CapReading, Roster, RunUse } from '../../core/model/observed.ts'
import type { RunsAsked } from '../../core/model/past.ts'
import type { Scope, ScopeKey } from '../../core/model/scope.ts'
import type { Clock, Ledger, ReadClient } from '../../ports.ts'
import type { WorkspaceSettings } from '../config/settings.ts'
import type { WorkspaceState } from '../cycle/state.ts'
import { keyedHash } from '../ledger/forget.ts'
import type { ChunkDays } from './asking.ts'

/** The people of a roster who were forgotten: nothing of their past is read. */
export function skippedPeople(ledger: Pick<Ledger, 'fact'>, { people }: Roster): ReadonlySet<string> {
  const hashes = new Set(ledger.fact('forgottenHashes') ?? [])
  const salt = ledger.fact('peopleSalt')
  if (salt === undefined || hashes.size === 0) return new Set()
  return new Set(people.flatMap(({ email }) => (hashes.has(keyedHash(salt, email)) ? [email] : [])))
}

/** Why add-on use is not measured. */

/** The runs of the team as the ledger has them. */
export interface KnownRuns {
  readonly asked: RunsAsked
  readonly rows: readonly RunUse[]
}

/** What collecting needs of a workspace, in the daemon and in a command. */
export interface CollectParts {
  readonly config: Pick<WorkspaceSettings, 'name' | 'usageLagMs' | 'creditsPerSeat'>
  readonly client: ReadClient
  readonly ledger: Ledger
  readonly clock: Clock
  readonly collector: Collector
}

/** What it needs of the workspace's state. */
export type CollectState = Pick<WorkspaceState, 'policy' | 'usage' | 'measured' | 'unknownGroups'>

/** No request before `restUntil`, on the monotonic clock; the findings until then. */
const resting = () => ({ restUntil: Number.NEGATIVE_INFINITY, found: [] as readonly Finding[] })

/** The memory of collecting, for the life of the process. `by`: this process, in claims of people. */
export const newCollector = (by: string) => ({
  chunkDays: new Map() as ChunkDays,
  /** When each group was last tried, on the monotonic clock. */
  triedAt: new Map<ScopeKey, number>(),
  /** `moved`: people whose use may have been told under another address before; `isMoved`: so that the days of the cycle are to be read again. */
  addOn: { ...resting(), whyNot: undefined as 'absent' | 'denied' | undefined, moved: new Set<string>(), isMoved: false },
  /** Reading the past of people. */
  past: { ...resting(), underWay: undefined as Promise<void> | undefined },
  by,
})
export type Collector = ReturnType<typeof newCollector>

/** The progress of reading undeclared caps. */
export interface UndeclaredPass {
  /** When the next reads are due, on the monotonic clock. */
  readonly dueAt: number
  /** Still to be read in this pass. */
  readonly left: readonly Scope[]
  readonly readings: Map<ScopeKey, CapReading>
}
