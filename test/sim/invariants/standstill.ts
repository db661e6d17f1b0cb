// What must not be written for now: nothing while paused, no start and no end of a grant while the clocks disagree, nothing wide and nothing
// less while a roster that shrank is in doubt, and never to people who are not approved.
import type { Change, Plan } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import type { LedgerFacts } from '../../../src/ports.ts'
import { type Invariant, ownedAt, type Scene } from '../steps.ts'
import { intentOf } from './looks.ts'
import { isDiskFull, isLayered } from './people.ts'
import { createReleases } from './releases.ts'

const HOUR_MS = 3_600_000

export const paused: Invariant = {
  name: 'while paused no write begins but those that were under way',
  watch(scene, checker) {
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
      // There is something that would be written.
      if (plan?.plan.changes.some(({ disposition }) => disposition.kind === 'ready' || disposition.kind === 'excluded')) checker.checked()
      if (!intent) return
      begun += 1
      const concurrency = Math.max(...scene.settingsSince(scene.elapsed() - HOUR_MS).map(({ rate }) => rate.concurrency))
      if (begun > concurrency) checker.violated(`${begun} writes begin while paused; ${concurrency} may have been under way`)
    }
  },
}

/** A pause in the ledger, or a mode that does not write; undefined where writes may begin. */
function whyStill(scene: Scene, at: number): string | undefined {
  const pause = scene.ledger()?.pause(at)
  return pause ? `paused at ${pause.pausedAt}` : scene.mode() === 'enforce' ? undefined : scene.mode()
}

/** Beyond the limit of 5 min by what a slow answer can hide. */
const SKEW_MS = 6.5 * 60_000

export const wrongClock: Invariant = {
  name: 'no grant starts or ends while the clocks are known to disagree',
  watch(scene, checker) {
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
  },
}

/** Two readings so far apart may agree. */
const AGREEMENT_MS = 10 * 60_000

/** A roster with somebody on it: one without anybody counts as not read. */
interface Reading {
  readonly approved: number
  readonly atMs: number
}

const agree = (one: number, other: number): boolean => Math.abs(one - other) <= Math.max(1, Math.max(one, other) / 100)

const isWideOrLess = ({ scope, from, to }: Change): boolean => scope.kind !== 'user' || (from !== 'none' && (to === 'none' || to < from))

export const rosterDoubt: Invariant = {
  name: 'while a roster that shrank is in doubt nothing wide is written and nobody gets less',
  watch(scene, checker) {
    const releases = createReleases(scene)
    // Where caps are copied, a wide write of our own may since have put another value where a released one is still to come.
    const isReleased = (change: Change): boolean => releases.has(change) || (!isLayered(scene) && releases.hasGoal(change))
    let read: Reading | undefined
    let shortAt: number | undefined
    let good: number | undefined
    let doubt: Reading | undefined
    let doubted: Plan | undefined
    // Told, and kept before the next plan; whether a roster from before a start is doubted, only the ledger knows.
    let told: Reading | undefined
    let toldMs = 0
    let isDoubtKept = false
    const isShort = (approved: number): boolean => good !== undefined && 5 * approved < 4 * good
    const believe = ({ approved, atMs }: Reading): void => {
      // The time between two readings that agree counts from the first of them.
      const first = doubt && agree(doubt.approved, approved) ? doubt : undefined
      // Of people who fell by more than half only an approval is believed.
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
      // What a process knew when it died, the next one may not; what somebody approves may be the new roster; and a wall that moves, as it does
      // when things calm down, may bring two readings far apart.
      const isMoved = step.kind === 'calm' || (step.kind === 'world' && step.what === 'wall-jump')
      if (isMoved || step.kind === 'started' || isDiskFull(step) || (step.kind === 'recorded' && step.method === 'saveApproval')) {
        read = told = undefined
        shortAt = good = undefined
        doubt = doubted = undefined
      }
      if (step.kind === 'answered' && step.operation === 'UserPageAnalytics' && step.approved !== undefined) {
        settle()
        // What is told is the last reading: one that an edit cut off is not.
        read = step.approved === 'unread' ? undefined : { approved: step.approved, atMs: scene.elapsed() }
        // Also when the reading is not told, because the disk is full.
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
        // There is something that would be written.
        if (doubted?.changes.some((change) => isWideOrLess(change) && !isReleased(change))) checker.checked()
      }
      if (step.kind !== 'request' || step.operation !== 'UsageConfig' || !doubted) return
      const change = doubted.changes.find(({ scope, to }) => scopeKey(scope) === step.scope && to === step.to)
      if (change && !isReleased(change) && isWideOrLess(change))
        checker.violated(`${step.scope} goes from ${change.from} to ${change.to} while the roster has fallen below 80 % of ${good}`)
    }
  },
}

export const alertOnly: Invariant = {
  name: 'what others changed is shown and not put back where onDrift is alert',
  watch(scene, checker) {
    let isApplying = false
    return (step) => {
      // Whoever says `apply` wants it written.
      if (step.kind === 'world') isApplying = step.what === 'apply'
      const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
      if (!intent || isApplying || scene.scenario.onDrift !== 'alert') return
      checker.checked()
      const { scope, from, to, cause } = intent.change
      if (cause === 'external') checker.violated(`${scopeKey(scope)} goes from ${from} to ${to}, because others changed it`)
    }
  },
}

export const approvedOnly: Invariant = {
  name: 'people who are not approved are not written',
  watch(scene, checker) {
    return (step) => {
      const scope = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step)?.change.scope : undefined
      if (scope?.kind !== 'user') return
      checker.checked()
      const roster = scene.view()?.roster
      const person = roster?.people.find(({ email }) => email === scope.email)
      if (person && person.status !== 'approved' && !roster?.statusesAbsent)
        checker.violated(`${scope.email} is ${person.status}, and written`)
    }
  },
}
