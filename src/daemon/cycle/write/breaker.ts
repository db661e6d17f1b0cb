// Watches how the changes of one run end, stops the run when the service is the cause, and records in the ledger until when no write is tried.
// core/plan/breaker.ts decides when that is so.
import type { BreakerLimit, Change } from '../../../core/model/change.ts'
import { byScope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import {
  areShared,
  type End,
  type FailedRun,
  isTripped,
  NO_ENDS,
  type OpenBreaker,
  opened,
  type Tally,
  tally,
} from '../../../core/plan/breaker.ts'
import type { Clock, Ledger } from '../../../ports.ts'

/** How a change ended and, when it did not succeed, why. */
interface Ended {
  readonly key: ScopeKey
  readonly end: End | undefined
  readonly error?: string
}

/** The breaker in one run of writes. Its changes to the ledger wait for the commit of the run. */
export interface BreakerWatch {
  /** Writes failed before and none has succeeded since: they go one at a time. */
  isProbing(): boolean
  /** Groups of changes in the order of trying: those that have not failed, then the failed ones one at a time, the oldest failure first. */
  inOrder(changes: readonly Change[]): readonly (readonly Change[])[]
  /** True when no more changes may be tried. */
  note(ended: Ended): boolean
  /** Ends the run. True when its refusals speak of scopes, and not of the service. */
  finish(): boolean
}

interface WatchInputs {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly limit: BreakerLimit | 'off'
  /** The changes of the plan. */
  readonly changes: readonly Change[]
  /** How many changes earlier passes have written. */
  readonly done: number
}

interface Run {
  /** The breaker in the ledger, until a write succeeds. */
  before: OpenBreaker | undefined
  tally: Tally
  stopped: boolean
  /** The error of each failed change. */
  readonly failed: Map<ScopeKey, string>
  readonly untried: Set<ScopeKey>
  /** Scopes that have failed since the breaker opened, and not succeeded since. */
  readonly failing: Set<ScopeKey>
}

/** Begins to watch a run. */
export function watchWrites({ ledger, clock, limit, changes, done }: WatchInputs): BreakerWatch {
  const isOff = limit === 'off'
  const before = isOff ? undefined : ledger.fact('breaker')
  const untried = new Set(changes.map(({ scope }) => scopeKey(scope)))
  const failing = new Set(before?.failing as readonly ScopeKey[] | undefined)
  const run: Run = { before, tally: { ...NO_ENDS, done }, stopped: false, failed: new Map(), untried, failing }
  return {
    isProbing: () => run.before !== undefined,
    inOrder(ready) {
      const rest = byScope(ready)
      const last = [...failing].flatMap((key) => rest.get(key) ?? [])
      for (const key of failing) rest.delete(key)
      return [[...rest.values()], ...last.map((one) => [one])]
    },
    note({ key, end, error = 'failed' }) {
      run.untried.delete(key)
      if (end === undefined) return run.stopped
      run.tally = tally(run.tally, end)
      failing.delete(key)
      if (end !== 'done') {
        failing.add(key)
        run.failed.set(key, error)
      } else if (run.before) {
        run.before = undefined
        ledger.saveFact('breaker', undefined)
      }
      run.stopped ||= !isOff && isTripped(run.tally, limit, changes.length)
      return run.stopped
    },
    finish() {
      // A failed retry keeps the breaker open, even where it has too few failures to open it.
      const isStillFailing = run.before !== undefined && run.failed.size > 0
      const isOpening = run.stopped || isStillFailing || areShared(run.tally)
      if (isOpening && !isOff) ledger.saveFact('breaker', opened(run.before, failedRun(run, changes.length), clock.now()))
      // Only the same scopes were refused once more: then the refusals are about these scopes, and others wait for them.
      const isSameRefusal =
        run.before?.refused === true && run.tally.failed === 0 && [...run.failed.keys()].every((key) => before?.scopes.includes(key))
      const isAboutScopes = isSameRefusal && !run.stopped
      return !areShared(run.tally) && (!isStillFailing || isAboutScopes)
    },
  }
}

function failedRun({ failed, untried, failing, tally }: Run, planned: number): FailedRun {
  const cause = [...failed.values()].at(-1) ?? ''
  const scopes = [...untried, ...failed.keys()]
  return { failed: failed.size, planned, cause, scopes, failing: [...failing], refused: tally.failed === 0 ? true : undefined }
}
