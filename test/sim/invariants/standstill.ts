// Writes that must wait: all of them during a pause; the start and the end of a grant while the clocks disagree; team and group writes and
// lower caps while the roster is in doubt; and all writes to people who are not approved.
import type { Change, Plan } from '../../../src/core/model/change.ts'
import type { LedgerFacts } from '../../../src/core/model/facts.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { invariant, ownedAt, type Scene } from '../steps.ts'
import { isDiskFull, isLayered } from './people.ts'
import { intentOf } from './readings.ts'
import { createReleases } from './releases.ts'

const HOUR_MS = 3_600_000

export const paused = invariant('during a pause no write begins, except those under way', (scene, checker) => {
  let begun = 0
  let since: string | undefined
  return (step) => {
    if (step.kind === 'started') since = undefined
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    const plan = step.kind === 'told' && step.event.kind === 'planned' ? step.event : undefined
    const at = intent?.at ?? plan?.at
    if (at === undefined) return
    const now = whyStill(scene, at)
    if (now !== since) begun = 0
    since = now
    if (now === undefined) return
    // Only a plan with changes that could be written tests this.
    if (plan?.plan.changes.some(({ disposition }) => disposition.kind === 'ready' || disposition.kind === 'excluded')) checker.checked()
    if (!intent) return
    begun += 1
    const concurrency = Math.max(...scene.settingsSince(scene.elapsed() - HOUR_MS).map(({ rate }) => rate.concurrency))
    if (begun > concurrency) checker.violated(`${begun} writes begin while paused; ${concurrency} may have been under way`)
  }
})

/** A pause in the ledger, or a mode that does not write; undefined when writes may begin. */
function whyStill(scene: Scene, at: number): string | undefined {
  const pause = scene.ledger()?.pause(at)
  return pause ? `paused at ${pause.pausedAt}` : scene.mode() === 'enforce' ? undefined : scene.mode()
}

/** The limit of 5 min, plus the error that a slow answer can cause. */
const SKEW_MS = 6.5 * 60_000

export const wrongClock = invariant('no grant starts or ends while the clocks are known to disagree', (scene, checker) => {
  let isKnown = false
  let frozenPlan: string | undefined
  return (step) => {
    const isWrong = Math.abs(scene.skewMs()) > SKEW_MS
    if (!isWrong || step.kind === 'started' || (step.kind === 'world' && ['clock-skew', 'wall-jump'].includes(step.what))) isKnown = false
    else if (step.kind === 'answered' && step.observed !== undefined && step.observed !== 'unknown') isKnown = true
    if (step.kind === 'told' && step.event.kind === 'planned') frozenPlan = isKnown ? step.event.plan.id : undefined
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (!intent || intent.planId !== frozenPlan) return
    checker.checked()
    const { scope, from, to, grantEnd } = intent.change
    const starts = intent.entry.kind === 'grant' && ownedAt(scene, scopeKey(scope))?.owner !== 'grant'
    if (grantEnd || starts) checker.violated(`a grant of ${scopeKey(scope)} ${grantEnd ? 'ends' : 'starts'}: ${from} to ${to}`)
  }
})

/** Two readings agree only if they are at least this far apart. */
const AGREEMENT_MS = 10 * 60_000

/** A roster with approved people; one without any counts as not read. */
interface Reading {
  readonly approved: number
  readonly atMs: number
}

const agree = (one: number, other: number): boolean => Math.abs(one - other) <= Math.max(1, Math.max(one, other) / 100)

const isWideOrLess = ({ scope, from, to }: Change): boolean => scope.kind !== 'user' || (from !== 'none' && (to === 'none' || to < from))

export const rosterDoubt = invariant(
  'while the roster is in doubt no team or group cap is written and no cap is lowered',
  (scene, checker) => {
    const releases = createReleases(scene)
    // Where caps are copied, a team or group write of ours may have changed the cap from which a change was released.
    const isReleased = (change: Change): boolean => releases.has(change) || (!isLayered(scene) && releases.hasGoal(change))
    let read: Reading | undefined
    let shortAt: number | undefined
    let good: number | undefined
    let doubt: Reading | undefined
    let doubted: Plan | undefined
    // A reading counts once its event and its ledger record were seen before the next plan; only the ledger knows a doubt from before a
    // start.
    let told: Reading | undefined
    let toldMs = 0
    let isDoubtKept = false
    const isShort = (approved: number): boolean => good !== undefined && 5 * approved < 4 * good
    const believe = ({ approved, atMs }: Reading): void => {
      // The time between two readings that agree counts from the first.
      const first = doubt && agree(doubt.approved, approved) ? doubt : undefined
      // When more than half of the people are gone, only an approval makes the roster believed.
      const isBelieved = first && 2 * approved >= (good ?? 0) && toldMs - first.atMs >= AGREEMENT_MS
      const sinceMs = doubt ? atMs : (shortAt ?? atMs)
      if (!isShort(approved) || isBelieved) [good, doubt] = [approved, undefined]
      else doubt = { approved, atMs: first?.atMs ?? sinceMs }
    }
    const settle = (): void => {
      if (told && (good !== undefined || !isDoubtKept)) believe(told)
      told = undefined
    }
    return (step) => {
      releases.note(step)
      // The next process may not know what one that died had read; an approval may accept the new roster; and a jump of the wall clock, as
      // at the start of a calm time, changes the time between two readings.
      const isMoved = step.kind === 'calm' || (step.kind === 'world' && step.what === 'wall-jump')
      if (isMoved || step.kind === 'started' || isDiskFull(step) || (step.kind === 'recorded' && step.method === 'saveApproval')) {
        read = told = undefined
        shortAt = good = undefined
        doubt = doubted = undefined
      }
      if (step.kind === 'answered' && step.operation === 'UserPageAnalytics' && step.approved !== undefined) {
        settle()
        // The event has the last reading, but not one that an edit has interrupted.
        read = step.approved === 'unread' ? undefined : { approved: step.approved, atMs: scene.elapsed() }
        // Also for a reading without an event, because of a full disk.
        if (read) shortAt = isShort(read.approved) ? (shortAt ?? read.atMs) : undefined
      }
      if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'usage')
        isDoubtKept = (step.values[1] as LedgerFacts['usage'])?.doubted !== undefined
      if (step.kind === 'told' && step.event.kind === 'usage-read') {
        settle()
        told = read
        toldMs = scene.elapsed()
        read = undefined
      }
      if (step.kind === 'told' && step.event.kind === 'planned') {
        settle()
        doubted = doubt && step.event.plan
        // Only a plan with changes that could be written tests this.
        if (doubted?.changes.some((change) => isWideOrLess(change) && !isReleased(change))) checker.checked()
      }
      if (step.kind !== 'request' || step.operation !== 'UsageConfig' || !doubted) return
      const change = doubted.changes.find(({ scope, to }) => scopeKey(scope) === step.scope && to === step.to)
      if (change && !isReleased(change) && isWideOrLess(change))
        checker.violated(`${step.scope} goes from ${change.from} to ${change.to} while the roster has fallen below 80 % of ${good}`)
    }
  },
)

export const alertOnly = invariant('with onDrift: alert foreign changes are shown and not reverted', (scene, checker) => {
  let isApplying = false
  return (step) => {
    // `apply` reverts foreign changes, because a person asks for it.
    if (step.kind === 'world') isApplying = step.what === 'apply'
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (!intent || isApplying || scene.scenario.onDrift !== 'alert') return
    checker.checked()
    const { scope, from, to, cause } = intent.change
    if (cause === 'external') checker.violated(`${scopeKey(scope)} goes from ${from} to ${to}, because others changed it`)
  }
})

export const approvedOnly = invariant('people who are not approved are not written', (scene, checker) => {
  return (step) => {
    const scope = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step)?.change.scope : undefined
    if (scope?.kind !== 'user') return
    checker.checked()
    const roster = scene.view()?.roster
    const person = roster?.people.find(({ email }) => email === scope.email)
    if (person && person.status !== 'approved' && !roster?.statusesAbsent)
      checker.violated(`${scope.email} is ${person.status}, and written`)
  }
})
