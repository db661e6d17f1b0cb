// Watches how the changes of one run end, stops it when the service is to blame, and keeps in the ledger until when nothing is tried. Where
// the line is drawn is decided in core/plan/breaker.ts; here is what follows from it.

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
export interface Ended {
  readonly key: ScopeKey
  readonly end: End | undefined
  readonly error?: string
}

/** The breaker in one run of writes. What it changes in the ledger waits for whoever began the run to commit it. */
export interface BreakerWatch {
  /** Writes failed before and none has succeeded since: they go one at a time. */
  isProbing(): boolean
  /** What is to be tried first, and what next if none of that may go: what has failed goes last, one at a time, what failed longest ago first. */
  inTurn(changes: readonly Change[]): readonly (readonly Change[])[]
  /** True when nothing more is to be tried. */
  note(ended: Ended): boolean
  /** The run is over. True when its refusals speak of scopes. */
  finish(): boolean
}

export interface WatchInputs {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly limit: BreakerLimit | 'off'
  /** What is to be written. */
  readonly changes: readonly Change[]
  /** How many earlier passes have written. */
  readonly done: number
}

interface Run {
  /** What the ledger says, until something succeeds. */
  before: OpenBreaker | undefined
  tally: Tally
  stopped: boolean
  /** What each change that has failed failed with. */
  readonly failed: Map<ScopeKey, string>
  readonly untried: Set<ScopeKey>
  /** What has failed since writes began to, and not succeeded. */
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
    inTurn(ready) {
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
      // Trying again has failed, even if it was too little to fail by itself, and what was turned down then may be so for the same cause.
      const isStillFailing = run.before !== undefined && run.failed.size > 0
      const isOpening = run.stopped || isStillFailing || areShared(run.tally)
      if (isOpening && !isOff) ledger.saveFact('breaker', opened(run.before, failedRun(run, changes.length), clock.now()))
      // All that could be tried is turned down once more: that is about them, and others wait for them.
      const isAgain =
        run.before?.refused === true && run.tally.failed === 0 && [...run.failed.keys()].every((key) => before?.scopes.includes(key))
      const isAboutThem = isAgain && !run.stopped
      return !areShared(run.tally) && (!isStillFailing || isAboutThem)
    },
  }
}

function failedRun({ failed, untried, failing, tally }: Run, planned: number): FailedRun {
  const cause = [...failed.values()].at(-1) ?? ''
  const scopes = [...untried, ...failed.keys()]
  return { failed: failed.size, planned, cause, scopes, failing: [...failing], ...(tally.failed === 0 && { refused: true }) }
}
