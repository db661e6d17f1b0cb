// Readings around a write: before it a fresh reading shows the cap that the plan assumed; after it no outcome is recorded, and
// the write is not sent again, before the scope was read.

import type { HistoryEntry, Intent } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { MAX_ATTEMPTS } from '../../../src/core/pace/backoff.ts'
import type { ModelCap } from '../lives/policy-model.ts'
import { invariant, type Scene, type Step } from '../steps.ts'

type Recorded = Extract<Step, { kind: 'recorded' }>

/** The intent that is recorded or closed by a step. */
export function intentOf({ method, values }: Recorded): Intent | undefined {
  if (method !== 'recordIntent' && method !== 'recordOutcome') return undefined
  return values.find((value): value is Intent => typeof value === 'object' && value !== null && 'planId' in value && 'change' in value)
}

const resultOf = ({ values: [, entry] }: Recorded): HistoryEntry['result'] | undefined =>
  typeof entry === 'object' && entry !== null && 'result' in entry ? (entry.result as HistoryEntry['result']) : undefined

const at = (process: number, scope: ScopeKey): string => `${process} ${scope}`

interface Reading {
  readonly observed: ModelCap | 'unknown'
  readonly atMs: number
}

/** The last reading of each scope by each process. A read has failed once its last attempt has; one that was cut short proves nothing. */
export function lastReadings(scene: Scene) {
  const last = new Map<string, Reading>()
  const failed = new Map<string, number>()
  return {
    of: (process: number, scope: ScopeKey): Reading | undefined => last.get(at(process, scope)),
    clear: () => last.clear(),
    note(step: Step): void {
      // The next read starts with its first attempt, also after one that was cut short.
      if (step.kind === 'told' && step.event.kind === 'cycle-finished') failed.clear()
      if (step.kind !== 'answered' || step.scope === undefined || step.observed === undefined) return
      const key = at(step.process, step.scope)
      const tries = step.observed === 'unknown' ? (failed.get(key) ?? 0) + 1 : 0
      failed.set(key, tries % MAX_ATTEMPTS)
      if (step.observed !== 'unknown' || tries === MAX_ATTEMPTS || !last.has(key))
        last.set(key, { observed: step.observed, atMs: scene.elapsed() })
    },
  }
}

/** A reading serves a write for 60 s, and for the time until the write is recorded. */
const FRESH_MS = 61_000

/** A cap that is shown and may only be inherited is set explicitly. */
const isPin = (from: ModelCap, to: ModelCap, observed: ModelCap | 'unknown'): boolean =>
  from === 'none' && typeof to === 'number' && observed === to

export const freshReading = invariant('each write follows a fresh reading of its scope that showed the planned cap', (scene, checker) => {
  const last = lastReadings(scene)
  return (step) => {
    // A clock that is set back makes an old reading seem fresh.
    if (step.kind === 'world' && step.what === 'wall-jump') last.clear()
    last.note(step)
    if (step.kind === 'told' && step.event.kind === 'planned')
      for (const { scope, from, to, disposition } of step.event.plan.changes) {
        // The restore of a cap that a team or group write has overwritten is planned from the overwritten cap.
        if (disposition?.kind === 'deferred' && disposition.reason.endsWith('overwrites it')) continue
        const seen = last.of(step.process, scopeKey(scope))
        // A failed check between the sweeps does not discard the reading; the write reads again.
        if (seen?.observed === 'unknown' && disposition.kind !== 'ready') continue
        if (seen && seen.observed !== from && !isPin(from, to, seen.observed))
          checker.violated(`${scopeKey(scope)} is planned from ${from}, and was last read as ${seen.observed}`)
      }
    if (step.kind !== 'recorded' || step.method !== 'recordIntent') return
    const change = intentOf(step)?.change
    const seen = change && last.of(step.process, scopeKey(change.scope))
    if (!change || !seen) return
    checker.checked()
    const what = `${scopeKey(change.scope)} is to go from ${change.from} to ${change.to}`
    if (seen.observed !== change.from && !isPin(change.from, change.to, seen.observed))
      checker.violated(`${what}, and was last read as ${seen.observed}`)
    const ageMs = Math.round(scene.elapsed() - seen.atMs)
    if (ageMs > FRESH_MS) checker.violated(`${what}, and was last read ${ageMs} ms before`)
  }
})

export const readBack = invariant('no outcome is recorded and no write is sent again before its scope was read', (_scene, checker) => {
  const unread = new Set<string>()
  const sent = new Set<string>()
  const seen = new Map<string, ModelCap | 'unknown'>()
  return (step) => {
    if (step.kind === 'request' && step.scope !== undefined) {
      const key = at(step.process, step.scope)
      if (step.operation === 'GetUsageConfig') sent.add(key)
      else {
        checker.checked()
        if (unread.has(key)) checker.violated(`${step.scope} is set to ${step.to} again, and the first write was not read back`)
        unread.add(key)
        sent.delete(key)
      }
    }
    if (step.kind === 'answered' && step.scope !== undefined) {
      const key = at(step.process, step.scope)
      if (step.refused) unread.delete(key)
      if (step.observed !== undefined) seen.set(key, step.observed)
      // An answer to a read that was sent before the write proves nothing.
      if (step.observed !== undefined && step.observed !== 'unknown' && sent.has(key)) unread.delete(key)
    }
    if (step.kind !== 'recorded' || step.method !== 'recordOutcome') return
    const [change, result] = [intentOf(step)?.change, resultOf(step)]
    if (!change || (result !== 'applied' && result !== 'verify_failed')) return
    checker.checked()
    const key = at(step.process, scopeKey(change.scope))
    const what = `${scopeKey(change.scope)} is said to be ${result}`
    const observed = seen.get(key)
    if (unread.has(key) || observed === undefined || observed === 'unknown') checker.violated(`${what}, and was not read back`)
    else if (result === 'applied' && change.to !== 'none' && observed !== change.to)
      checker.violated(`${what}; it was to be ${change.to}, and ${observed} was read back`)
  }
})
