// Watches how the changes of one run end, stops the run when the service is the cause, and records in the ledger until when no write is tried.
// core/plan/breaker.ts decides when that is so.
import type { Change } from '../../../core/model/change.ts'
import { byScope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import { areShared, type End, isTripped, NO_ENDS, opened, tally } from '../../../core/plan/breaker.ts'
import type { CycleRun } from '../options.ts'

/** The breaker in one run of writes. Its changes to the ledger wait for the commit of the run. */
export type BreakerWatch = ReturnType<typeof watchWrites>

/** Begins to watch a run. `changes`: those of the plan; `done`: how many changes earlier passes have written. */
export function watchWrites({ workspace, state }: CycleRun, changes: readonly Change[], done: number) {
  const { ledger, clock, config } = workspace
  const { refusedWrites: refused } = state
  const limit = config.guards.breaker
  const isOff = limit === 'off'
  const found = isOff ? undefined : ledger.fact('breaker')
  // The same, until a write succeeds.
  let before = found
  let ends = { ...NO_ENDS, done }
  let stopped = false
  // The error of each failed change.
  const failed = new Map<ScopeKey, string>()
  const untried = new Set(changes.map(({ scope }) => scopeKey(scope)))
  // Scopes that have failed since the breaker opened, and not succeeded since.
  const failing = new Set(found?.failing as readonly ScopeKey[] | undefined)
  return {
    /** Writes failed before and none has succeeded since: they go one at a time. */
    isProbing: (): boolean => before !== undefined,
    /** Groups of changes in the order of trying: those that have not failed, then the failed ones one at a time, the oldest failure first. */
    inOrder(ready: readonly Change[]): readonly (readonly Change[])[] {
      const rest = byScope(ready)
      const all = failing.union(refused)
      const last = [...all].flatMap((key) => rest.get(key) ?? [])
      for (const key of all) rest.delete(key)
      return [[...rest.values()], ...last.map((one) => [one])]
    },
    /** Notes how a change ended and, when it did not succeed, why. True when no more changes may be tried. */
    note(key: ScopeKey, end: End | 'key' | undefined, error = 'failed'): boolean {
      untried.delete(key)
      refused.delete(key)
      // A refused key halts the writes by itself; the others are tried before this one from now on.
      if (end === 'key') refused.add(key)
      if (end === undefined || end === 'key') return stopped
      ends = tally(ends, end)
      failing.delete(key)
      if (end !== 'done') {
        failing.add(key)
        failed.set(key, error)
      } else if (before) {
        before = undefined
        ledger.saveFact('breaker', undefined)
      }
      stopped ||= !isOff && isTripped(ends, limit, changes.length)
      return stopped
    },
    /** Ends the run. True when its refusals speak of scopes, and not of the service. */
    finish(): boolean {
      const isRefused = ends.failed === 0
      // A failed retry keeps the breaker open, even where it has too few failures to open it.
      const isStillFailing = before !== undefined && failed.size > 0
      if (!isOff && (stopped || isStillFailing || areShared(ends))) {
        const counts = { failed: failed.size, planned: changes.length, cause: [...failed.values()].at(-1) ?? '' }
        const scopes = { scopes: [...untried, ...failed.keys()], failing: [...failing] }
        ledger.saveFact('breaker', opened(before, { ...counts, ...scopes, refused: isRefused ? true : undefined }, clock.now()))
      }
      // Only the same scopes were refused once more: then the refusals are about these scopes, and others wait for them.
      const isSameRefusal = before?.refused === true && isRefused && [...failed.keys()].every((key) => found?.scopes.includes(key))
      return !areShared(ends) && (!isStillFailing || (isSameRefusal && !stopped))
    },
  }
}
