// Pools: no write of ours takes the sum of a pool above its credits, where each member counts as the greater of the cap in force and the
// true use; in calm times the sum is within the credits, or the program says why not. The members and their use on joining are taken from
// the program, and compared with the policy in calm times; all else is the simulation's own.
import type { ScopeState } from '../../../src/core/model/events.ts'
import type { OwnedCap } from '../../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { PoolState } from '../../../src/core/pools/state.ts'
import { cycleAt } from '../../../src/sandbox/time.ts'
import type { ModelCap, PolicyModel, Truth } from '../lives/policy-model.ts'
import { type Checker, type InForce, invariant, managedScopes, ownedAt, type Scene, type Step } from '../steps.ts'
import { isWatched } from './converges.ts'
import { createListed, worth } from './people.ts'
import { intentOf } from './readings.ts'

const HOUR_MS = 3_600_000

/** Where the count of a member starts, and where it ended for one who left. */
interface Place {
  readonly base: number
  /** When they joined. */
  readonly sinceMs: number
  /** `openUntilMs`: until then use before they left, which no known cap bounds, may not show yet. */
  readonly left?: { readonly cap: ModelCap | undefined; readonly end?: number; readonly openUntilMs: number }
}

type Landed = Extract<Step, { kind: 'landed' }>

interface Book {
  startAt: number
  places: Map<string, Place>
}

type Kept = Readonly<Record<string, PoolState>>

/** All people to whom a pool deals, or has dealt, by any policy so far. */
export function everPooled({ scenario, policies, company }: Scene): ReadonlySet<string> {
  const emails = new Set<string>()
  if (!scenario.pools) return emails
  for (const { pools } of policies())
    for (const { emails: listed = [], groups = [], unit } of pools) {
      for (const email of listed) emails.add(email)
      // All people, because each may have been in a group of a pool, and a dealt cap remains until it is cleared.
      if (groups.length > 0 || unit !== undefined) for (const email of company.people.keys()) emails.add(email)
    }
  return emails
}

/** The caps that a step records as sent or as ours. */
function givenBy(step: Step): readonly string[] {
  const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
  if (intent) return [`${scopeKey(intent.change.scope)} ${intent.change.to}`]
  if (step.kind !== 'recorded' || step.method !== 'saveOwned') return []
  return (step.values as readonly OwnedCap[]).map(({ scope, cap }) => `${scopeKey(scope)} ${cap}`)
}

function createBooks(scene: Scene) {
  const books = new Map<string, Book>()
  // Every cap that we have sent, or found to be as desired, with its scope.
  const given = new Set<string>()
  // Whether a pool asked for each value when it was last sent.
  const isDealt = new Map<string, boolean>()
  /**
   * Another client has set the same cap that was dealt, and it was never read: it is no cap of the pool, and the program cannot know of it.
   */
  const isForeign = (email: string, dealt: ModelCap): boolean => scene.inForce().get(email) === dealt && !given.has(`${email} ${dealt}`)
  // People without a cap; and when people last had none, or one that was never read: use under it may not show yet.
  let uncapped: ReadonlySet<string> = new Set()
  const unboundAt = new Map<string, number>()
  const isUnseen = (email: string): boolean => scene.elapsed() - (unboundAt.get(email) ?? -1e12) < unseenMs(scene)
  // When people left the team.
  const goneAt = new Map<string, number>()
  const enter = (name: string, { cycle, members }: PoolState): void => {
    const before = books.get(name)
    const isNew = before?.startAt !== cycle.startAt
    const places = new Map<string, Place>()
    for (const [email, { left, dealt, inForce, use = 0 }] of Object.entries(members)) {
      if (!inForce || uncapped.has(email)) unboundAt.set(email, scene.elapsed())
      const was = before?.places.get(email)
      const old = isNew ? undefined : was
      // The pool pays for a later member from when they join; for a member at the first deal, or at the start of the cycle, for the whole
      // cycle.
      const base = old?.base ?? (before === undefined || (was && !was.left) ? 0 : scene.used(email))
      const sinceMs = old?.sinceMs ?? scene.elapsed()
      // A member who left without a dealt cap costs the pool nothing from then on.
      const isPaid = left && !old?.left && dealt !== undefined && !isForeign(email, dealt)
      const paid = isPaid ? {} : { end: scene.used(email) }
      // Use that did not show before a person left the team, with the pool or after it, can never be read. It is unbounded if they had no cap,
      // or one that was never read, when they left the pool or shortly before: known use counts (docs/policies.md).
      const isUnbounded = scene.stored(email as ScopeKey) === 'none' || isUnseen(email) || left?.cap === undefined
      const openUntilMs = isUnbounded ? scene.elapsed() + unseenMs(scene) : 0
      const since = left && (old?.left ?? { cap: dealt, ...paid, openUntilMs })
      const isLost = (since?.openUntilMs ?? 0) > (goneAt.get(email) ?? Number.POSITIVE_INFINITY)
      places.set(email, { base, sinceMs, ...(since && { left: isLost ? { ...since, end: use } : since }) })
    }
    books.set(name, { startAt: cycle.startAt, places })
  }
  /** From now on the pool does not pay for a person who left. */
  const end = (places: Book['places'], email: string): void => {
    const place = places.get(email)
    if (place?.left && place.left.end === undefined) places.set(email, { ...place, left: { ...place.left, end: scene.used(email) } })
  }
  /** The person got a cap that no pool has dealt, or lost their own: the pool does not pay for it, even if it equals the dealt cap. */
  const leaveWith = (email: string): void => {
    for (const { places } of books.values()) end(places, email)
  }
  return {
    books,
    /** Recent use of this person may not show yet: they had no cap, or one that was never read. */
    isUnseen,
    /** Call it when the caps in force have changed. */
    settle(caps: InForce): void {
      for (const email of uncapped) unboundAt.set(email, scene.elapsed())
      uncapped = new Set([...caps].flatMap(([email, cap]) => (cap === 'none' ? [email] : [])))
      for (const { places } of books.values())
        for (const [email, { left }] of places) if (left && caps.get(email) !== left.cap) end(places, email)
    },
    note(step: Step): void {
      if (step.kind === 'world') {
        for (const email of goneAt.keys()) if (scene.company.people.has(email)) goneAt.delete(email)
        for (const email of scene.company.left) if (!goneAt.has(email)) goneAt.set(email, scene.elapsed())
      }
      for (const one of givenBy(step)) given.add(one)
      const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
      if (intent) isDealt.set(`${scopeKey(intent.change.scope)} ${intent.change.to}`, intent.entry.kind === 'pool')
      if (step.kind === 'landed' && isDealt.get(`${step.scope} ${step.to}`) === false) leaveWith(step.scope)
      if (step.kind !== 'recorded' || step.method !== 'saveFact' || step.values[0] !== 'pools') return
      const kept = (step.values[1] ?? {}) as Kept
      for (const name of books.keys()) if (!Object.hasOwn(kept, name)) books.delete(name)
      for (const [name, state] of Object.entries(kept)) enter(name, state)
    },
  }
}

/** The count of a member with these caps in force; people who are not approved use no more. */
function countOf(scene: Scene, email: string, { base, left }: Place, caps: InForce): number {
  if (left && (left.end !== undefined || caps.get(email) !== left.cap)) return Math.max(0, (left.end ?? scene.used(email)) - base)
  return Math.max(0, Math.max(scene.used(email), caps.has(email) ? worth(caps.get(email)) : 0) - base)
}

const sumOf = (scene: Scene, { places }: Book, caps: InForce, lately: (email: string, sinceMs: number) => number = () => 0): number =>
  [...places].reduce((sum, [email, place]) => {
    const was = place.left ? 0 : Math.max(0, lately(email, place.sinceMs) - place.base)
    return sum + Math.max(was, countOf(scene, email, place, caps))
  }, 0)

/** Use may show this late (docs/policies.md), so a cap that was lowered counts as before for this time. */
const LAG_MS = 3.5 * HOUR_MS

/** The highest caps that were in force in the last hours, before writes lowered them. */
function createPast(scene: Scene) {
  const lowered = new Map<string, readonly { readonly cap: number; readonly atMs: number }[]>()
  const young = (email: string) => (lowered.get(email) ?? []).filter(({ atMs }) => scene.elapsed() - atMs < LAG_MS)
  return {
    note({ before, after }: Landed): void {
      for (const [email, cap] of before)
        if (worth(after.get(email)) < worth(cap)) lowered.set(email, [...young(email), { cap: worth(cap), atMs: scene.elapsed() }])
    },
    /** Without caps from before they joined. */
    since: (email: string, sinceMs: number): number =>
      young(email).reduce((most, { cap, atMs }) => (atMs < sinceMs ? most : Math.max(most, cap)), 0),
  }
}

/** How long the use under a cap that could not be read remains unknown. */
const unseenMs = ({ scenario }: Scene): number => 3.5 * HOUR_MS + 2 * (scenario.usageIntervalMs + scenario.intervalMs)

interface Blind {
  readonly lacks: ReturnType<typeof createListed>['lacks']
  /** The last read of the scope has failed. */
  readonly isUnread: (scope: ScopeKey) => boolean
}

/**
 * Finds people whose cap in force the program could not know before or after this write. They have no cap of their own, and one of their
 * groups has a cap but cannot be listed or read, was listed without them, or is not managed; or they have a 0 that reads as unset; or
 * another client has cleared a cap that we wrote, and they inherit the same.
 */
function createHidden(scene: Scene, { lacks, isUnread }: Blind, { scope, from, before }: Landed): (email: string) => boolean {
  const { company, stored } = scene
  const managed = scene.view() && managedScopes(scene)
  const isHiding = (email: string, group: ScopeKey, id: string): boolean =>
    stored(group) !== 'none' && (company.dark.has(id) || isUnread(group) || managed?.has(group) === false || lacks(id, email as ScopeKey))
  return (email) => {
    const isUnset = scope === email && from === 'none'
    if (!isUnset && stored(email as ScopeKey) !== 'none') return false
    const groups = company.groupsOf(email).map((id): [ScopeKey, string] => [scopeKey({ kind: 'group', id }), id])
    // A person with a group cap does not inherit the team's.
    const above = groups.flatMap(([group]) => (stored(group) === 'none' ? [] : stored(group)))
    const isZeroAbove = (): boolean => (above.length > 0 ? above.includes(0) : stored(scopeKey({ kind: 'team' })) === 0)
    // A service that omits zeros shows none.
    const isZeroSeen = (): boolean => scene.scenario.switches.zeroCap !== 'omitted' && isZeroAbove()
    if (isLikeOurs(scene, email as ScopeKey, before)) return true
    return (isUnset && before.get(email) === 0 && !isZeroSeen()) || groups.some(([group, id]) => isHiding(email, group, id))
  }
}

/** Another client has cleared the cap that we wrote, and the inherited cap is the same. */
const isLikeOurs = (scene: Scene, email: ScopeKey, before: InForce): boolean => {
  const ours = ownedAt(scene, email)
  return ours?.written === true && ours.cap === before.get(email)
}

export const poolSum = invariant('no write of ours takes the caps and use of a pool above its credits', (scene, checker) => {
  if (!scene.scenario.pools) return () => undefined
  const { books, note, settle } = createBooks(scene)
  const past = createPast(scene)
  const listed = createListed(scene)
  const unread = new Set<ScopeKey>()
  const blind: Blind = { lacks: listed.lacks, isUnread: (scope) => unread.has(scope) }
  let jumpedMs = -LAG_MS
  // When each member last had a cap in force that could not have been read yet.
  const unseenAt = new Map<string, number>()
  // The policy under which each value was last sent: a request that is under way when credits are cut may still land.
  const sentUnder = new Map<string, PolicyModel | undefined>()
  // When each value was last sent.
  const sentAt = new Map<string, number>()
  // When a landed write last raised a member of each pool.
  const raisedAt = new Map<string, number>()
  let caps: InForce = new Map()
  const creditsOf = (policy: PolicyModel | undefined, name: string): number => policy?.pools.find((one) => one.name === name)?.credits ?? 0
  return (step) => {
    note(step)
    listed.note(step)
    if (step.kind === 'answered' && step.scope !== undefined && step.observed !== undefined) {
      if (step.observed === 'unknown') unread.add(step.scope)
      else unread.delete(step.scope)
    }
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (intent) {
      sentUnder.set(`${scopeKey(intent.change.scope)} ${intent.change.to}`, scene.policyNamed(intent.digest))
    }
    if (step.kind === 'request' && step.operation === 'UsageConfig') sentAt.set(`${step.scope} ${step.to}`, scene.elapsed())
    if (step.kind === 'foreign' || step.kind === 'world') {
      const now = scene.inForce()
      // A foreign change may hide use as well: the cap before it may never have been read.
      if (step.kind === 'foreign') for (const [email, cap] of now) if (cap !== caps.get(email)) unseenAt.set(email, scene.elapsed())
      settle(now)
      caps = now
    }
    // A jump of the wall clock, as at the start of a calm time, makes readings seem older or younger than they are.
    if (step.kind === 'calm' || (step.kind === 'world' && step.what === 'wall-jump')) jumpedMs = scene.elapsed()
    if (step.kind !== 'landed') return
    caps = step.after
    const isHidden = createHidden(scene, blind, step)
    for (const email of caps.keys()) if (isHidden(email)) unseenAt.set(email, scene.elapsed())
    for (const [name, book] of books) {
      judge(name, book, step)
      if ([...book.places.keys()].some((email) => worth(step.after.get(email)) > worth(step.before.get(email))))
        raisedAt.set(name, scene.elapsed())
    }
    past.note(step)
    settle(step.after)
  }
  /** Without members who joined while the write was under way: it may still land. With them once another member was raised since. */
  function asSent(sent: string, name: string, { places }: Book, before: InForce, after: InForce): InForce {
    const sentMs = sentAt.get(sent) ?? Number.POSITIVE_INFINITY
    const isNew = ({ sinceMs }: Place): boolean => sinceMs > sentMs && (raisedAt.get(name) ?? -1) < sinceMs
    const newer = [...places].filter(([, place]) => isNew(place)).map(([email]) => [email, before.get(email) ?? 'none'] as const)
    return new Map([...after, ...newer])
  }
  function judge(name: string, book: Book, { scope, from, to, before, after, late }: Landed): void {
    const isMoved = [...book.places.keys()].some((email) => before.get(email) !== after.get(email))
    const isUnseen = [...book.places.keys()].some((email) => scene.elapsed() - (unseenAt.get(email) ?? -1e12) < unseenMs(scene))
    const allowed = Math.max(creditsOf(scene.policy(), name), creditsOf(sentUnder.get(`${scope} ${to}`), name))
    if (!isMoved || isUnseen || allowed === 0) return
    checker.checked()
    const lately = scene.elapsed() - jumpedMs < 2 * LAG_MS ? () => 0 : past.since
    const [was, is] = [sumOf(scene, book, before, lately), sumOf(scene, book, asSent(`${scope} ${to}`, name, book, before, after), lately)]
    // Until a first deal is complete, changes of group caps move members without a dealt cap. A cap below the use is raised to the next
    // whole credit.
    if (is > allowed && is > was + 1 && (was <= allowed || scope.includes('@')))
      checker.violated(
        `${scope} goes from ${from} to ${to}${late ? ', late' : ''}, and pool ${name} from ${was} to ${is} of ${allowed} credits`,
      )
  }
})

const EXCUSED: ReadonlySet<ScopeState> = new Set(['held', 'rejected', 'contested', 'skipped'])
/** Under these conditions the members cannot be determined. */
const HIDING: ReadonlySet<string> = new Set(['PoolFrozen', 'PoolBounds', 'RosterDoubted', 'PolicyInvalid'])
const TOLD: ReadonlySet<string> = new Set(['PoolFrozen', 'PoolAbove', 'PoolBounds', 'PoolUsedUp', 'RosterDoubted', 'PolicyInvalid'])

export const poolsKept = invariant(
  'in calm times each pool has its members, their caps and its sum, or the reason is shown',
  (scene, checker) => {
    if (!scene.scenario.pools) return () => undefined
    const { books, note, settle, isUnseen } = createBooks(scene)
    return (step) => {
      note(step)
      if (step.kind === 'landed' || step.kind === 'foreign') settle(scene.inForce())
      if (step.kind === 'settled') for (const [name, book] of books) check(name, book, { scene, checker, isUnseen })
    }
  },
)

interface Judge {
  readonly scene: Scene
  readonly checker: Checker
  readonly isUnseen: (email: string) => boolean
}

function check(name: string, book: Book, { scene, checker, isUnseen }: Judge): void {
  const view = scene.view()
  const pool = scene.policy().pools.find((one) => one.name === name)
  if (!view || !pool || view.conditions.some(({ type }) => HIDING.has(type))) return
  // The program still counts the previous cycle.
  if (cycleAt(scene.now()).startAt !== book.startAt) return
  const states = new Map(view.scopes.map((one) => [scopeKey(one.scope), one.state]))
  const watched = new Set(view.scopes.filter(isWatched).map((one) => scopeKey(one.scope)))
  const isExcused = (email: string): boolean => EXCUSED.has(states.get(email as ScopeKey) ?? 'skipped') || watched.has(email as ScopeKey)
  const caps = scene.inForce()
  checker.checked()
  const isOfUnit = (email: string): Truth => pool.unit !== undefined && scene.company.holds({ unit: pool.unit, cap: 0 }, email)
  const asked = scene.company.approved.filter(
    (email) =>
      pool.emails?.includes(email) ?? (isOfUnit(email) === true || scene.company.groupsOf(email).some((id) => pool.groups?.includes(id))),
  )
  const present = [...book.places].flatMap(([email, { left }]) => (left ? [] : [email]))
  const isTwice = (email: string): boolean => states.get(email as ScopeKey) === 'rejected'
  const missing = asked.filter((email) => !present.includes(email) && !isTwice(email))
  const extra = present.filter((email) => !asked.includes(email) && isOfUnit(email) !== 'open')
  if (missing.length + extra.length > 0) checker.violated(`pool ${name} lacks ${missing.join()} and has ${extra.join()}`)
  // Held changes, and changes that the pool reports as pending, are not in force yet.
  if (view.conditions.some(({ type }) => TOLD.has(type)) || view.holds.length > 0) return
  for (const email of asked)
    if (!isExcused(email) && !scene.policy().protectedPeople.has(email) && typeof caps.get(email) !== 'number')
      checker.violated(`${email} is a member of pool ${name} and has no cap`)
  // The last use of people who have left the team can never be read.
  const listed = [...book.places].filter(([email, { left }]) => !left || scene.company.people.has(email))
  const sum = sumOf(scene, { ...book, places: new Map(listed) }, caps)
  if (sum > pool.credits && !present.some((email) => isExcused(email) || isUnseen(email)))
    checker.violated(`pool ${name} comes to ${sum} of ${pool.credits} credits, without a reason`)
}
