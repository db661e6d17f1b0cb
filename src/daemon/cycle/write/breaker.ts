// Watches how the changes of one run end, stops it when the service is to blame, and keeps in the ledger until when nothing is tried. Where
// the line is drawn is decided in core/plan/breaker.ts; here is what follows from it.

import type { BreakerLimit, Change } from '../../../core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { type End, type FailedRun, isTripped, NO_ENDS, type OpenBreaker, opened, type Tally, tally } from '../../../core/plan/breaker.ts'
import type { Clock, Ledger } from '../../../ports.ts'

/** How a change ended and, when it did not succeed, why. */
export interface Ended {
  readonly key: ScopeKey
  readonly end: End | undefined
  readonly error?: string
}

/** The breaker in one run of writes. What it changes in the ledger waits for whoever began the run to commit it. */
export interface BreakerWatch {
  /** Writes failed before and none has succeeded since: they go one at a time. */
  isProbing(): boolean
  /** Those that failed the last time go last. */
  inOrder(changes: readonly Change[]): readonly Change[]
  /** True when nothing more is to be tried. */
  note(ended: Ended): boolean
  /** The run is over. `isShared`: its refusals speak of the service and not of scopes. */
  finish(isShared: boolean): void
}

export interface WatchInputs {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly limit: BreakerLimit | 'off'
  /** How many changes are to be written. */
  readonly planned: number
}

const NO_WATCH: BreakerWatch = { isProbing: () => false, inOrder: (changes) => changes, note: () => false, finish: () => undefined }

interface Run {
  /** What the ledger says, until something succeeds. */
  before: OpenBreaker | undefined
  tally: Tally
  /** Nothing has succeeded since the breaker opened. */
  probing: boolean
  stopped: boolean
  readonly failed: Map<ScopeKey, string>
}

/** Begins to watch a run. */
export function watchWrites({ ledger, clock, limit, planned }: WatchInputs): BreakerWatch {
  if (limit === 'off') return NO_WATCH
  const before = ledger.fact('breaker')
  const late = new Set<string>(before?.scopes)
  const run: Run = { before, tally: NO_ENDS, probing: before !== undefined, stopped: false, failed: new Map() }
  const open = (): void => {
    run.stopped = true
    ledger.saveFact('breaker', opened(run.before, failedRun(run, planned), clock.now()))
  }
  return {
    isProbing: () => run.probing,
    inOrder: (changes) => (late.size === 0 ? changes : sorted(changes, late)),
    note(ended) {
      if (ended.end === undefined || run.stopped) return run.stopped
      run.tally = tally(run.tally, ended.end)
      if (ended.end !== 'done') run.failed.set(ended.key, ended.error ?? 'failed')
      else if (run.probing) {
        run.probing = false
        run.before = undefined
        ledger.saveFact('breaker', undefined)
      }
      if (isTripped(run.tally, limit, planned)) open()
      return run.stopped
    },
    finish(isShared) {
      // Trying again has failed, even if it was too little to fail by itself.
      const isStillFailing = run.probing && run.tally.failed > 0
      if (!run.stopped && (isShared || isStillFailing)) open()
    },
  }
}

function failedRun({ failed, tally }: Run, planned: number): FailedRun {
  const cause = [...failed.values()].at(-1) ?? ''
  return { failed: failed.size, planned, cause, scopes: [...failed.keys()], ...(tally.failed === 0 && { refused: true }) }
}

const sorted = (changes: readonly Change[], late: ReadonlySet<string>): readonly Change[] => [
  ...changes.filter((one) => !late.has(scopeKey(one.scope))),
  ...changes.filter((one) => late.has(scopeKey(one.scope))),
]
