// Approvals: each releases exactly one hold. When it is matched with the hold of its id, it keeps a copy of the released changes until each is
// verified, also across a crash. Then it is spent, and never releases anything again.
//
//   pending --matched--> pending with released changes --all verified--> spent
//      |                              |
//      +-- 14 days, or 25 % more people (of a deal: or credits) than shown, or another roster than the one shown --> void

import type { Approval, HeldChange, Hold, PlanApproval, Release } from '../model/change.ts'
import { onceFor } from '../model/once.ts'
import type { PolicyRevision } from '../model/policy.ts'
import { byScope, type ScopeKey, scopeKey } from '../model/scope.ts'
import { CLOCKS_APART_MS, DAY_MS, type Instant, isYounger } from '../model/units.ts'
import { isWaiting, isWhole, type PoolPeople } from '../pools/deal.ts'
import type { DealtPools } from '../resolve/pools.ts'
import { agree } from '../resolve/roster.ts'
import type { Diff } from './diff.ts'
import type { JudgementInputs } from './guards/round.ts'
import type { Difference, HoldsShown, PoolReview, Snapshot } from './snapshot.ts'

/** `PoolReview.key`. */
export function dealKey(workspace: string, { pool, members }: PoolPeople, digest: (text: string) => string): string {
  const { name, credits, share, min, max } = pool
  // A person who is only counted is told from a member: a deal to them as well is another deal.
  const emails = members.map((one) => (one.protected ? `${one.email} counted` : one.email)).sort()
  return digest(JSON.stringify([workspace, name, credits, share, min, max ?? null, emails])).slice(0, 32)
}

/** By the name of the pool. */
export function poolReviews(
  workspace: string,
  pools: readonly PoolPeople[],
  dealt: DealtPools,
  digest: (text: string) => string,
): ReadonlyMap<string, PoolReview> {
  return new Map(
    pools.map(({ pool, members }) => {
      const { name } = pool
      const key = dealKey(workspace, { pool, members }, digest)
      const state = Object.hasOwn(dealt, name) ? dealt[name] : undefined
      const isDealt = state?.dealtAt !== undefined && isWhole(pool, state)
      return [name, { name, key, isDealt, isWaiting: state !== undefined && isWaiting(pool, state), isReviewed: state?.reviewed === key }]
    }),
  )
}

/** `unknown`: what could not be read, and so was not judged. */
interface JudgedDeals extends Pick<Diff, 'differences' | 'desired' | 'unknown'> {
  readonly heldBy: ReadonlyMap<ScopeKey, string>
  readonly released: Pick<ReadonlyMap<ScopeKey, unknown>, 'has'>
}

/**
 * The deals that were judged whole, of which no change is held, and that were not reviewed before: later deals of the pool may move within them.
 * Raises that wait are judged when they come, unless a person approved the deal. `givenUp`: nothing waits for these scopes any more.
 */
export function passedDeals(
  { poolReviews, givenUp }: Pick<Snapshot, 'poolReviews' | 'givenUp'>,
  { differences, heldBy, desired, unknown, released }: JudgedDeals,
): readonly PoolReview[] {
  const held = differences.flatMap(({ key, pool }) => (pool && heldBy.has(key) ? [pool.name] : []))
  const unread = unknown.map(({ scope }) => scopeKey(scope)).filter((key) => givenUp?.has(key) !== true)
  const open = new Set([...held, ...unread.flatMap((key) => desired.get(key)?.origin.pool ?? [])])
  const approved = new Set(differences.flatMap(({ key, pool }) => (pool && released.has(key) ? [pool.name] : [])))
  return [...poolReviews.values()].filter(
    ({ name, isDealt, isWaiting, isReviewed }) => isDealt && !isReviewed && !open.has(name) && (!isWaiting || approved.has(name)),
  )
}

/** The credits that a set of changes moves; a first cap moves none. */
export const creditsMoved = (changes: readonly Pick<Difference, 'from' | 'to'>[]): number =>
  changes.reduce((sum, { from, to }) => sum + (from === 'none' || to === 'none' ? 0 : Math.abs(to - from)), 0)

export const APPROVAL_LIFE_MS = 14 * DAY_MS

/** An approval is void when more than this many times the people or, of a deal, the credits shown are affected. */
export const APPROVAL_GROWTH = 1.25

const hasGrown = (now: { readonly people: number; readonly credits: number }, shown: Pick<Approval, 'people' | 'credits'>): boolean =>
  (shown.people !== undefined && now.people > shown.people * APPROVAL_GROWTH) ||
  (shown.credits !== undefined && now.credits > shown.credits * APPROVAL_GROWTH)

/** An operator must type at least so many digits of a hold's id. */
const MIN_HOLD_PREFIX = 8

/**
 * The ledger's approvals joined with the ids that policy lists and that commands give. An approval that is too old, or of unknown age, is void;
 * it may have been given on another machine, so the clocks may differ. One that policy no longer lists is withdrawn, unless it has released
 * something already: otherwise an approval that arrived with its change would count after its removal, and a void one could not be given anew.
 */
export function currentApprovals(
  known: readonly Approval[],
  fresh: { readonly policy?: readonly string[]; readonly command?: readonly string[] },
  now: Instant,
): readonly Approval[] {
  const isWithdrawn = ({ id, via, state, released, withdrawn }: Approval): boolean =>
    withdrawn === true || (via === 'policy' && state !== 'spent' && released.length === 0 && fresh.policy?.includes(id) === false)
  const byId = new Map(known.filter((one) => !isWithdrawn(one)).map((one) => [one.id, one]))
  const add = (id: string, via: Approval['via']): void => {
    byId.set(id, { id, via, approvedAt: now, state: 'pending', released: [] })
  }
  for (const id of fresh.policy ?? []) if (!byId.has(id)) add(id, 'policy')
  for (const id of fresh.command ?? []) {
    const one = byId.get(id)
    // An approval by command needs no second step.
    if (one?.state !== 'pending' || (one.via === 'policy' && one.released.length === 0)) add(id, 'command')
  }
  const isYoung = ({ approvedAt }: Approval): boolean => isYounger(approvedAt, now, APPROVAL_LIFE_MS + 1, CLOCKS_APART_MS)
  return [...byId.values()].map((one) => (one.state === 'pending' && !isYoung(one) ? { ...one, state: 'void' } : one))
}

/** Pending approvals with the figures of their hold as it was last shown before the approval was given. */
export const asShown = (approvals: readonly Approval[], shown: HoldsShown): readonly Approval[] =>
  approvals.map((one) => {
    const hold = shown[one.id]
    if (!hold || one.state !== 'pending' || one.people !== undefined) return one
    return { ...one, people: hold.people, roster: hold.roster ?? one.roster, credits: hold.credits ?? one.credits }
  })

/** Every step looks a change up by its scope. */
const byKeyIn = onceFor((differences: readonly Difference[]) => byScope(differences))

/** Marks released changes that have landed as verified. An approval with nothing left to verify is spent. */
export function verifyApprovals(approvals: readonly Approval[], inputs: JudgementInputs): readonly Approval[] {
  if (approvals.length === 0) return []
  const { slots, inSync, owned, readings, contests, poolReviews } = inputs
  const wanted = byKeyIn(inputs.differences)
  const synced = new Set(inSync.map(({ scope }) => scopeKey(scope)))
  // Deals that passed the guards: their changes need no release any more.
  const reviewed = new Set([...poolReviews.values()].flatMap(({ key, isReviewed }) => (isReviewed ? [key] : [])))
  /** No cap of ours is set at the scope, and it shows an inherited cap at most, or is no longer read. */
  const isBare = (key: ScopeKey): boolean =>
    !owned.has(key) && slots.shown(key) !== 'unknown' && (slots.mayBeInherited(key) || !readings.has(key))
  const isThere = ({ scope, to }: HeldChange, since = Number.POSITIVE_INFINITY): boolean => {
    const key = scopeKey(scope)
    // A change that the plan still contains has not landed, though its value may show already because it is inherited.
    if (wanted.get(key)?.to === to) return false
    if (slots.shown(key) === to || synced.has(key) || (to === 'none' && isBare(key))) return true
    // The scope may never be read again, as when the person has left.
    return contests.written(scope, since).some((one) => one.to === to && one.result === 'applied')
  }
  return approvals.map((one) => {
    if (one.state !== 'pending' || one.released.length === 0) return one
    const released = one.released.map((change) => {
      const isReviewed = change.pool !== undefined && reviewed.has(change.pool)
      return { ...change, verified: change.verified || isReviewed || isThere(change, one.releasedAt) }
    })
    return { ...one, released, state: released.every((change) => change.verified) ? 'spent' : 'pending' }
  })
}

/**
 * The changes that pending approvals have released and that are not verified yet. From another value it is another change, which is not
 * released, unless a team or group write of ours has caused that value.
 */
export function releasedChanges(approvals: readonly Approval[], { differences, slots }: JudgementInputs): ReadonlyMap<ScopeKey, Approval> {
  const wanted = byKeyIn(differences)
  const released = new Map<ScopeKey, Approval>()
  for (const approval of approvals) {
    if (approval.state !== 'pending') continue
    for (const change of approval.released) {
      const key = scopeKey(change.scope)
      const one = change.verified ? undefined : wanted.get(key)
      if (change.pool !== undefined && !change.verified) {
        for (const { key: dealt, pool } of differences) if (pool?.key === change.pool) released.set(dealt, approval)
      } else if (one?.to === change.to && (one.from === change.from || slots.isFromAncestorWrite(key))) released.set(key, approval)
    }
  }
  return released
}

/**
 * Voids approvals whose open changes affect over a quarter more people than were shown, also after they were matched. An open change of a deal
 * releases all of it, so people and credits of the whole deal count.
 */
export function voidGrown(approvals: readonly Approval[], { whole, differences }: JudgementInputs): readonly Approval[] {
  return approvals.map((approval) => {
    if (approval.state !== 'pending' || approval.people === undefined) return approval
    const open = approval.released.filter((one) => !one.verified)
    const deals = new Set(open.flatMap(({ pool }) => pool ?? []))
    const dealt = deals.size === 0 ? [] : differences.filter(({ pool }) => pool !== undefined && deals.has(pool.key))
    const keys = new Set([...open.map(({ scope }) => scopeKey(scope)), ...dealt.map(({ key }) => key)])
    const people = keys.size === 0 ? 0 : whole.filter((impact) => impact.changes.some((key) => keys.has(key))).length
    return hasGrown({ people, credits: creditsMoved(dealt) }, approval) ? { ...approval, state: 'void' } : approval
  })
}

/** An approval that releases nothing, and why. */
export interface Unmatched {
  readonly id: string
  readonly note: string
}

/** Matches pending approvals with the holds of a plan. Each releases its hold, or is void because the hold has grown or the roster is another. */
export function matchApprovals(approvals: readonly Approval[], holds: readonly Hold[], inputs: JudgementInputs) {
  const { holdsShown: shown, facts, approvalSteps } = inputs
  const roster = facts.rosterDoubt?.now
  const poolOf = ({ scope }: HeldChange): string | undefined => byKeyIn(inputs.differences).get(scopeKey(scope))?.pool?.key
  const byId = new Map(holds.map((hold) => [hold.id, hold]))
  const matched: Hold[] = []
  const unmatched: Unmatched[] = []
  const next = approvals.map((approval): Approval => {
    const hold = byId.get(approval.id)
    if (!hold || approval.state !== 'pending') return approval
    if (approvalSteps !== 'together' && approval.via === 'policy' && !shown[hold.id]?.reviewed) {
      unmatched.push({ id: hold.id, note: TOO_EARLY })
      return approval
    }
    const people = approval.people ?? shown[hold.id]?.people ?? hold.people
    const isOfRoster = hold.guards.includes('rosterShrink')
    const rosterShown = isOfRoster ? (approval.roster ?? shown[hold.id]?.roster) : undefined
    const isAnother = rosterShown !== undefined && roster !== undefined && !agree(rosterShown, roster)
    const isDeal = hold.changes.some((change) => poolOf(change) !== undefined)
    const moved = isDeal ? { credits: approval.credits ?? shown[hold.id]?.credits ?? creditsMoved(hold.changes) } : {}
    const now = { people: hold.people, credits: creditsMoved(hold.changes) }
    if (isAnother || hasGrown(now, { people, ...moved })) return { ...approval, people, ...moved, state: 'void' }
    matched.push(hold)
    const released = hold.changes.map((change) => ({ ...change, verified: false, pool: poolOf(change) }))
    return { ...approval, people, ...moved, released, ...(isOfRoster && roster !== undefined && { roster }) }
  })
  return { approvals: next, matched, unmatched }
}

const TOO_EARLY =
  'it came with the change it releases, or ahead of it (approvals: separate); approve the hold by command, or list the id once the hold was shown without it'

/** The ids that an operator typed: each may be cut to a beginning that only one hold has. */
export function typedApprovals(commands: readonly string[], holds: readonly Hold[], approvals: readonly Approval[]) {
  const ids: string[] = []
  const unmatched: Unmatched[] = []
  for (const typed of commands) {
    const found = holds.filter(({ id }) => id.startsWith(typed))
    const [only, ...others] = found
    if (only && others.length === 0 && typed.length >= MIN_HOLD_PREFIX) ids.push(only.id)
    else if (only) {
      const begins = others.length > 0 ? `${found.length} holds begin` : 'a hold begins'
      unmatched.push({ id: typed, note: `${begins} with ${typed}; type more of the id` })
    } else if (!approvals.some(({ id, state }) => id.startsWith(typed) && state === 'pending')) unmatched.push({ id: typed, note: NO_HOLD })
  }
  return { ids, unmatched }
}

export function releaseOf({ id, via }: Approval, { set }: PolicyRevision): Release {
  const at = set.approvals.find((one) => one.id === id)?.at
  return { id, via, at: via === 'policy' && at ? at : undefined }
}

interface Showing {
  readonly released: ReadonlyMap<ScopeKey, Approval>
  readonly holds: readonly Hold[]
  readonly unmatched: readonly Unmatched[]
  /** Holds that an approval releases once changes may be written again. */
  readonly waiting: readonly Hold[]
}

/** Approvals that are listed in policy, pending, or void while their hold exists: each with the changes it releases, now or once changes may be written. */
export function shownApprovals(
  approvals: readonly Approval[],
  { released, holds, unmatched, waiting }: Showing,
  { policy, differences }: JudgementInputs,
): readonly PlanApproval[] {
  const notes = new Map(unmatched.map(({ id, note }) => [id, note]))
  const byKey = byKeyIn(differences)
  const placeOf = new Map(policy.set.approvals.map(({ id, at }) => [id, at]))
  const present = new Set(holds.map(({ id }) => id))
  const known = approvals.filter(({ id, state }) => state === 'pending' || placeOf.has(id) || (state === 'void' && present.has(id)))
  const shown = known.map((one): PlanApproval => {
    const now = [...released].flatMap(([key, by]) => (by.id === one.id ? (byKey.get(key) ?? []) : []))
    const later = waiting.find(({ id }) => id === one.id)?.changes ?? []
    const releases = [...now, ...later].map(({ scope, from, to }) => ({ scope, from, to }))
    const note = releases.length > 0 ? undefined : (notes.get(one.id) ?? WHY_NOTHING[one.state])
    // An approval that is over can be removed from the policy, also when a command gave it.
    const at = one.state === 'pending' ? undefined : placeOf.get(one.id)
    return { ...releaseOf(one, policy), ...(at && { at }), state: one.state, releases, note }
  })
  const typed = unmatched.filter(({ id }) => !known.some((one) => one.id === id))
  return [...shown, ...typed.map(({ id, note }): PlanApproval => ({ id, via: 'command', state: 'pending', releases: [], note }))]
}

const NO_HOLD = 'no hold has this id now'

const WHY_NOTHING: Readonly<Record<Approval['state'], string>> = {
  pending: NO_HOLD,
  spent: 'it was used',
  void: 'it is void, because it reaches more people (of a pool’s deal: or credits) than were shown or is too old; review its hold again and approve it anew',
}
