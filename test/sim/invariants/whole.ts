// The program as a whole: quiet in a quiet world, within its pace, never showing its key, and exact about approvals and foreign changes.
import { GUARD_CODES, type GuardCode, type Hold, type Plan, type ScopeChange } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/model/units.ts'
import { REVIEW_MS } from '../../../src/core/plan/reviewed.ts'
import { hasEnded } from '../../../src/core/resolve/grants.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import { type Checker, invariant, ownedAt, type Scene } from '../steps.ts'
import { nearBoundary } from './converges.ts'
import { isLayered } from './people.ts'
import { everPooled } from './pools.ts'

/** Every failure is handled: a `bug` event is a mistake of the program, or of an invariant. */
export const nothingUnexpected = invariant('every failure is handled', (_scene, checker) => {
  return (step) => {
    if (step.kind !== 'told') return
    if (step.event.kind === 'cycle-finished') checker.checked()
    if (step.event.kind === 'bug') checker.violated(step.event.message)
  }
})

export const quiet = invariant('an unchanged world gets zero writes and one read per managed scope', (scene, checker) => {
  let watching = false
  let retried: ReadonlySet<ScopeKey> = new Set()
  let reads = new Map<ScopeKey, number>()
  let sweeps = 0
  // Scopes that are no longer ours. A group remains known, and is read because its members' readings may show its cap, until groups are
  // listed.
  let letGo = new Set<unknown>()
  let plan: Plan | undefined
  return (step) => {
    if (step.kind === 'recorded' && step.method === 'releaseOwned') for (const key of [step.values[0]].flat()) letGo.add(key)
    if (step.kind === 'told' && step.event.kind === 'usage-read')
      letGo = new Set([...letGo].filter((key) => !isGroup(key) || reads.has(key as ScopeKey)))
    if (step.kind === 'told' && step.event.kind === 'planned') plan = step.event.plan
    if (step.kind === 'settled') {
      watching = true
      retried = withWaiting(retriedByTime(scene), plan)
      sweeps = 0
      reads = new Map()
    }
    if (step.kind === 'foreign' || step.kind === 'world' || step.kind === 'died' || step.kind === 'quiet') watching = false
    // A second reading that agrees makes a rule match, and the people it concerns are read between the sweeps.
    if (step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'conditions') watching = false
    if (step.kind === 'request' && step.operation === 'UsageConfig' && step.scope !== undefined && retried.has(step.scope)) watching = false
    const isNear = changesNear(scene)
    // Changes that a cycle had still to write when the world became quiet may be held by now, such as by the breaker.
    if (watching && isNear && step.kind === 'told' && step.event.kind === 'cycle-finished')
      retried = withWaiting(new Set([...retried, ...retriedByTime(scene)]), plan)
    if (!watching || isNear) return
    if (step.kind === 'request' && step.operation === 'UsageConfig')
      checker.violated(`${step.scope} is written to ${step.to} in a quiet world`)
    if (step.kind === 'request' && step.operation === 'GetUsageConfig' && step.scope !== undefined)
      reads.set(step.scope, (reads.get(step.scope) ?? 0) + 1)
    if (step.kind === 'told' && step.event.kind === 'cycle-finished') {
      // The first sweep may have begun before.
      if (sweeps > 0) checkReads(scene, reads, letGo, checker)
      sweeps += 1
      reads = new Map()
      letGo = new Set([...letGo].filter(isGroup))
    }
  }
})

/** With the changes that wait for one of these scopes, as a group's cap waits for a member whom a pool still deals. */
function withWaiting(scopes: ReadonlySet<ScopeKey>, plan: Plan | undefined): ReadonlySet<ScopeKey> {
  const all = new Set(scopes)
  for (let known = -1; known !== all.size; ) {
    known = all.size
    for (const { scope, disposition } of plan?.changes ?? [])
      if (disposition.kind === 'deferred' && disposition.waitsFor && all.has(scopeKey(disposition.waitsFor))) all.add(scopeKey(scope))
  }
  return all
}

const isGroup = (key: unknown): boolean => typeof key === 'string' && key.startsWith('group:')

/** Scopes that are tried again after a time: held by a guard with a time limit, rejected for a day, or with a grant that ends. */
function retriedByTime(scene: Scene): ReadonlySet<ScopeKey> {
  const view = scene.view()
  const isOver = isDayEnding(scene)
  // When a grant ends, guards release its scope, even if no policy declares it any more, and changes that were held because of it.
  const granted = (scene.ledger()?.owned() ?? []).filter(({ grant }) => grant !== undefined && isEndingAbout(grant, scene))
  const ending = new Set(granted.map(({ scope }) => scopeKey(scope)))
  const holds = view?.holds ?? []
  const eased = new Set<string>(
    holds.flatMap(({ guards, changes }) => (changes.some(({ scope }) => ending.has(scopeKey(scope))) ? guards : [])),
  )
  const reviewed = reviewedAbout(scene)
  const isTimed = (guard: string): boolean =>
    TIMED.has(guard) ||
    reviewed.guards.has(guard) ||
    (BY_USE.has(guard) && isUseTurning(scene)) ||
    (BY_COUNT.has(guard) && (isOver || eased.has(guard)))
  const overwritten = overwrittenUntilNow(scene)
  const isProtectedNoMore = (change: Pick<ScopeChange, 'scope'>): boolean =>
    reviewed.protects(change) || overwritten.has(scopeKey(change.scope))
  const held = holds.flatMap(({ guards, changes }) =>
    guards.some(isTimed) ? changes : guards.includes('protected') ? changes.filter(isProtectedNoMore) : [],
  )
  const rejected = (view?.scopes ?? []).filter(({ state }) => state === 'rejected')
  // A deal continues for hours after it has lowered caps: use under the old caps must have time to show.
  const pooled = [...everPooled(scene)].map((email) => scopeKey({ kind: 'user', email }))
  return new Set([...[...held, ...rejected].map(({ scope }) => scopeKey(scope)), ...ending, ...pooled])
}

/** From the last sweeps until after the last one of a quiet world. */
const aboutNow = ({ scenario, now }: Scene): { readonly fromAt: number; readonly untilAt: number } => ({
  fromAt: now() - 3 * scenario.intervalMs - scenario.usageIntervalMs,
  untilAt: now() + 4 * scenario.intervalMs,
})

function isEndingAbout(grant: string, scene: Scene): boolean {
  const { fromAt, untilAt } = aboutNow(scene)
  const hasEndedBy = (now: number): boolean => hasEnded(grant, { now, cycle: cycleAt(now), grantsFrozen: false })
  return hasEndedBy(untilAt) && !hasEndedBy(fromAt)
}

/**
 * For a day, an interrupted plan is counted from where it began, and releases with the changes held beside them (docs/guards-and-approvals.md).
 */
function isDayEnding(scene: Scene): boolean {
  const days = (scene.ledger()?.approvals() ?? []).map(({ releasedAt }) => releasedAt)
  return isPlanEnding(scene) || days.some((at) => isDayOver(at, scene))
}

function isDayOver(at: number | undefined, scene: Scene, dayMs = DAY_MS): boolean {
  const { fromAt, untilAt } = aboutNow(scene)
  return at !== undefined && at + dayMs > fromAt && at + dayMs < untilAt
}

const isPlanEnding = (scene: Scene): boolean =>
  scene.ledger()?.fact('planBaseline') !== undefined && isDayOver(scene.ledger()?.fact('planBegunAt'), scene)

/**
 * People whom a team or group write of that plan has overwritten, or may have. Protected people among them count from where the plan began;
 * after that day no guard protects their present cap, such as none.
 */
const overwrittenUntilNow = (scene: Scene): ReadonlySet<string> =>
  new Set(isLayered(scene) || !isPlanEnding(scene) ? [] : Object.keys(scene.ledger()?.fact('planBaseline') ?? {}))

/** Earlier, stricter guards that cease to count about now, a day after they were weakened (docs/guards-and-approvals.md, Two steps). */
function reviewedAbout(scene: Scene) {
  const before = scene.ledger()?.fact('rules')?.before ?? []
  const ending = before.filter(({ weakenedAt }) => isDayOver(weakenedAt, scene, REVIEW_MS))
  const isSet = (code: GuardCode): boolean => ending.some(({ guards }) => guards[code] !== 'off' && guards[code] !== false)
  const people = new Set<string>(ending.flatMap(({ protectedEmails }) => protectedEmails))
  return {
    guards: new Set<string>(GUARD_CODES.filter((code) => code !== 'protected' && isSet(code))),
    protects: ({ scope }: Pick<ScopeChange, 'scope'>): boolean => people.size > 0 && (scope.kind !== 'user' || people.has(scope.email)),
  }
}

const BY_COUNT: ReadonlySet<string> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared'])

/** Blocking depends on use, and the use of the previous cycle counts for the first 6 h of the next (docs/guards-and-approvals.md). */
const BY_USE: ReadonlySet<string> = new Set(['maxBlocked', 'maxAffected', 'protected'])

/** A cycle begins about now, or its first hours end. */
const isUseTurning = (scene: Scene): boolean => cycleAt(scene.now() + 4 * HOUR_MS).startAt > scene.now() - 7 * HOUR_MS

const TIMED: ReadonlySet<string> = new Set(['breaker', 'contested', 'rosterShrink', 'maxRaise'])

/** The start or the end of a grant is a change of the world. */
const changesNear = (scene: Scene): boolean => nearBoundary(scene, 3 * scene.scenario.intervalMs + scene.scenario.usageIntervalMs)

function checkReads(scene: Scene, reads: ReadonlyMap<ScopeKey, number>, letGo: ReadonlySet<unknown>, checker: Checker): void {
  checker.checked()
  const states = new Map((scene.view()?.scopes ?? []).map((one) => [scopeKey(one.scope), one.state]))
  // A scope of ours that shows another value may be a stale reading, and is read for one more day.
  const owned = new Set((scene.ledger()?.owned() ?? []).map((one) => scopeKey(one.scope)))
  const isReport = scene.scenario.undeclaredUsers === 'report'
  const pooled = everPooled(scene)
  for (const [scope, count] of reads) {
    // People for whom nothing is declared are read between the sweeps.
    if (isReport && scope.includes('@') && (states.get(scope) ?? 'undeclared') === 'undeclared') continue
    if (count > 1) checker.violated(`${scope} is read ${count} times in one sweep of a quiet world`)
    const state = states.get(scope)
    // Members of a pool are read for its sum, even without a desired cap.
    if (state === undefined && scope !== 'team' && !owned.has(scope) && !letGo.has(scope) && !pooled.has(scope))
      checker.violated(`${scope} is read and not managed`)
  }
  // With a slow key each sweep reads only some scopes.
  if (scene.scenario.isSlow) return
  for (const [scope, state] of states)
    if ((state === 'in_sync' || state === 'held') && !reads.has(scope)) checker.violated(`${scope} is managed and was not read in a sweep`)
}

const WINDOW_MS = 10_000

export const pace = invariant('the pace never exceeds rate.max', (scene, checker) => {
  const sentAt: number[] = []
  let process = 0
  return (step) => {
    // Each key has its own pace.
    if (step.kind === 'world' && step.what === 'key-rotated') sentAt.length = 0
    if (step.kind !== 'request') return
    checker.checked()
    if (step.process !== process) sentAt.length = 0
    process = step.process
    const now = scene.elapsed()
    while (sentAt[0] !== undefined && sentAt[0] <= now - WINDOW_MS) sentAt.shift()
    sentAt.push(now)
    const highest = Math.max(...scene.settingsSince(now - WINDOW_MS).map(({ rate }) => rate.max))
    const most = (highest * WINDOW_MS) / 1000 + 1
    if (sentAt.length > most) checker.violated(`${sentAt.length} requests within ${WINDOW_MS} ms; ${most} may be`)
  }
})

/** Parts of the key as they would appear in JSON, in a URL or in plain text. */
export const secrecy = (keys: readonly string[]) => {
  const all = new Set(keys.flatMap((key) => [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), key.slice(4, -2)]))
  // A text that contains a spelling contains each part of it.
  const spellings = [...all].filter((one) => ![...all].some((other) => other !== one && one.includes(other)))
  const shows = (text: string): boolean => spellings.some((one) => text.includes(one))
  return invariant('the key is in no output', (_scene, checker) => (step) => {
    if (step.kind === 'output') {
      checker.checked()
      if (shows(step.text)) checker.violated(`the key is in ${step.where}`)
    }
    if (step.kind === 'recorded') {
      checker.checked()
      if (shows(JSON.stringify(step.values))) checker.violated(`the key is in the ledger, by ${step.method}`)
    }
  })
}

export const approvals = invariant('an approval releases the changes that were shown, once', (scene, checker) => {
  const approved = new Map<string, number>()
  const shown = new Map<string, Hold>()
  const uses = new Map<string, number>()
  const spent = new Set<string>()
  return (step) => {
    if (step.kind === 'approved') {
      approved.set(step.id, (approved.get(step.id) ?? 0) + 1)
      spent.delete(step.id)
    }
    if (step.kind === 'told' && step.event.kind === 'planned') {
      for (const hold of step.event.plan.holds) shown.set(hold.id, hold)
    }
    if (step.kind !== 'recorded' || step.method !== 'saveApproval') return
    const [saved] = step.values
    if (typeof saved !== 'object' || saved === null || !('id' in saved) || !('state' in saved) || typeof saved.id !== 'string') return
    checker.checked()
    if (!approved.has(saved.id)) checker.violated(`approval ${saved.id} is recorded, and was not given`)
    if (spent.has(saved.id) && saved.state === 'pending') checker.violated(`approval ${saved.id} was spent and releases again`)
    if (saved.state === 'spent' && !spent.has(saved.id)) {
      spent.add(saved.id)
      uses.set(saved.id, (uses.get(saved.id) ?? 0) + 1)
      if ((uses.get(saved.id) ?? 0) > (approved.get(saved.id) ?? 0))
        checker.violated(`approval ${saved.id} was spent more often than given`)
    }
    if ('released' in saved && Array.isArray(saved.released))
      checkReleased(saved.id, saved.released, { shown, pooled: everPooled(scene) }, checker)
  }
})

function checkReleased(
  id: string,
  released: readonly unknown[],
  { shown, pooled }: { readonly shown: ReadonlyMap<string, Hold>; readonly pooled: ReadonlySet<string> },
  checker: Checker,
): void {
  const hold = shown.get(id)
  const held = new Set(hold?.changes.map(({ scope, from, to }) => `${scopeKey(scope)} ${from} ${to}`))
  for (const one of released) {
    if (typeof one !== 'object' || one === null || !('scope' in one) || !('from' in one) || !('to' in one)) continue
    const key = scopeKey(one.scope as Parameters<typeof scopeKey>[0])
    // The release of a deal holds for its present amounts.
    if (pooled.has(key)) continue
    const text = `${key} ${one.from} ${one.to}`
    if (hold && !held.has(text)) checker.violated(`approval ${id} releases ${text}, which its hold did not show`)
  }
}

/** Guards that count people; a revert is exempt from them. */
const COUNTING: ReadonlySet<string> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise'])

export const healed = invariant('a foreign change is reverted to the verified cap, however many people it affects', (scene, checker) => {
  return (step) => {
    // Where caps are copied, a team or group write also overwrites people, and waits for held changes of theirs.
    if (step.kind !== 'settled' || scene.scenario.capSemantics === 'copied') return
    const view = scene.view()
    // A change that was held when another hold was released stays held for a day, even if policy goes back to the cap before.
    const beside = new Set((scene.ledger()?.approvals() ?? []).flatMap((one) => (one.beside ?? []).map(({ scope }) => scopeKey(scope))))
    for (const hold of view?.holds ?? []) {
      if (!hold.guards.every((guard) => COUNTING.has(guard))) continue
      for (const { scope, to } of hold.changes) {
        checker.checked()
        const owned = ownedAt(scene, scopeKey(scope))
        const status = view?.scopes.find((one) => scopeKey(one.scope) === scopeKey(scope))
        const isOldWish = owned !== undefined && owned.cap === to && status?.desired === to && status.cause === 'external'
        if (isOldWish && owned.owner === 'policy' && !beside.has(scopeKey(scope)))
          checker.violated(`${scopeKey(scope)} was ${to}, another client changed it, and ${hold.guards} holds the revert`)
      }
    }
  }
})
