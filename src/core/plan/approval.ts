// Approvals: the release of exactly one hold. An approval is first matched with the hold that carries its id; from then on the changes it
// released are remembered until each was verified, also over a crash in the middle, and then it is spent and never releases anything again.
//
//   pending --matched--> pending with released changes --all verified--> spent
//      |                              |
//      +-- 14 days, or 25 % more people than shown, or another roster than the one shown --> void
import type { CapAt } from '../interpret/effective.ts'
import { CLOCKS_APART_MS, isYounger } from '../model/age.ts'
import type { Approval, HeldChange, Hold } from '../model/change.ts'
import { type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import { agree } from '../resolve/roster.ts'
import type { Difference } from './diff.ts'
import type { Impact } from './impact.ts'
import { creditsMoved } from './pool-review.ts'

export const APPROVAL_LIFE_MS = 14 * 86_400_000

/** An approval is void when more than this many times the people shown are affected. */
export const APPROVAL_GROWTH = 1.25

/** 128 bits: nobody can make two sets of changes with one id. */
export const HOLD_ID_DIGITS = 32

/** So many digits of a hold's id tell it from others when an operator types it. */
export const MIN_HOLD_PREFIX = 8

/** A hold as it was shown. */
export interface HoldShown {
  /** How many people it affected when it was shown last. */
  readonly people: number
  /** When it was shown first. */
  readonly at: Instant
  /** How many approved people were on the doubted roster. */
  readonly roster?: number
  /** Credits that the deal of a pool moved. */
  readonly credits?: number
  /** It was shown under a revision that did not list its approval, so that somebody could have reviewed it. */
  readonly reviewed?: boolean
  /** The first plan without it; absent while it stands. */
  readonly goneAt?: Instant
}

export type HoldsShown = Readonly<Record<string, HoldShown>>

/**
 * The ledger's approvals joined with ids listed in policy and given on the command line; those that have aged out, or are of unknown age, become
 * void: they are given again where they are still meant. Whoever gave them may have sat at another machine. What policy does not list any more
 * was withdrawn, unless it has released something: else an approval that came with its change would count once it is gone.
 */
export function currentApprovals(
  known: readonly Approval[],
  fresh: { readonly policy?: readonly string[]; readonly command?: readonly string[] },
  now: Instant,
): readonly Approval[] {
  const isWithdrawn = ({ id, via, state, released, withdrawn }: Approval): boolean =>
    withdrawn === true || (via === 'policy' && state === 'pending' && released.length === 0 && fresh.policy?.includes(id) === false)
  const byId = new Map(known.filter((one) => !isWithdrawn(one)).map((one) => [one.id, one]))
  const add = (id: string, via: Approval['via']): void => {
    byId.set(id, { id, via, approvedAt: now, state: 'pending', released: [] })
  }
  for (const id of fresh.policy ?? []) if (!byId.has(id)) add(id, 'policy')
  for (const id of fresh.command ?? []) {
    const one = byId.get(id)
    // An operator's word needs no second step.
    if (one?.state !== 'pending' || (one.via === 'policy' && one.released.length === 0)) add(id, 'command')
  }
  const isYoung = ({ approvedAt }: Approval): boolean => isYounger(approvedAt, now, APPROVAL_LIFE_MS + 1, CLOCKS_APART_MS)
  return [...byId.values()].map((one) => (one.state === 'pending' && !isYoung(one) ? { ...one, state: 'void' } : one))
}

interface Landing {
  readonly shown: CapAt
  /** Nothing of ours is set there, and what it shows may only be inherited, or nobody looks there any more. */
  readonly isBare?: (key: ScopeKey) => boolean
  readonly inSync: ReadonlySet<ScopeKey>
  /** Deals that the guards let through. */
  readonly reviewedPools?: ReadonlySet<string>
  /** The plan asks for the change. */
  readonly isWanted?: (change: HeldChange) => boolean
  /** It was written since then, and read back: nobody may look there again, as where the person has left. */
  readonly wasWritten?: (change: HeldChange, since: Instant) => boolean
}

/** What was seen by whoever gave an approval: the hold as it was shown last before that. */
export const asShown = (approvals: readonly Approval[], shown: HoldsShown): readonly Approval[] =>
  approvals.map((one) => {
    const hold = shown[one.id]
    if (!hold || one.state !== 'pending' || one.people !== undefined) return one
    const { people, roster, credits } = hold
    return { ...one, people, ...(roster !== undefined && { roster }), ...(credits !== undefined && { credits }) }
  })

/** Marks released changes that the service now shows as verified; an approval with nothing left to verify is spent. */
export function verifyApprovals(
  approvals: readonly Approval[],
  { shown, isBare = () => false, inSync, reviewedPools = new Set(), isWanted = () => false, wasWritten = () => false }: Landing,
): readonly Approval[] {
  const isSeen = (change: HeldChange, key: ScopeKey): boolean =>
    shown(key) === change.to || inSync.has(key) || (change.to === 'none' && isBare(key))
  // What is still to be written may show before because it is inherited.
  const isThere = (change: HeldChange, key: ScopeKey, since = Number.POSITIVE_INFINITY): boolean =>
    !isWanted(change) && (isSeen(change, key) || wasWritten(change, since))
  return approvals.map((one) => {
    if (one.state !== 'pending' || one.released.length === 0) return one
    const released = one.released.map((change) => {
      const key = scopeKey(change.scope)
      const isReviewed = change.pool !== undefined && reviewedPools.has(change.pool)
      return { ...change, verified: change.verified || isReviewed || isThere(change, key, one.releasedAt) }
    })
    return { ...one, released, state: released.every((change) => change.verified) ? 'spent' : 'pending' }
  })
}

/**
 * The changes that pending approvals have already released and that were not verified yet. They are released as they were shown: from
 * another value it is another change, unless it was our own wide write that put that value there (`isOverwritten`).
 */
export function releasedChanges(
  approvals: readonly Approval[],
  differences: readonly Difference[],
  isOverwritten: (key: ScopeKey) => boolean = () => false,
): ReadonlyMap<ScopeKey, Approval> {
  const wanted = new Map(differences.map((one) => [one.key, one]))
  const released = new Map<ScopeKey, Approval>()
  for (const approval of approvals) {
    if (approval.state !== 'pending') continue
    for (const change of approval.released) {
      const key = scopeKey(change.scope)
      const one = change.verified ? undefined : wanted.get(key)
      if (change.pool !== undefined && !change.verified) {
        for (const { key: dealt, pool } of differences) if (pool?.key === change.pool) released.set(dealt, approval)
      } else if (one?.to === change.to && (one.from === change.from || isOverwritten(key))) released.set(key, approval)
    }
  }
  return released
}

/** An approval whose open changes have come to affect more than a quarter more people than shown is void, also after it was matched. */
export function voidGrown(approvals: readonly Approval[], impacts: readonly Impact[]): readonly Approval[] {
  return approvals.map((approval) => {
    if (approval.state !== 'pending' || approval.people === undefined) return approval
    const open = new Set(approval.released.filter((one) => !one.verified).map((one) => scopeKey(one.scope)))
    const people = open.size === 0 ? 0 : impacts.filter((impact) => impact.changes.some((key) => open.has(key))).length
    return people > approval.people * APPROVAL_GROWTH ? { ...approval, state: 'void' } : approval
  })
}

/** An approval that releases nothing, and why. */
export interface Unmatched {
  readonly id: string
  readonly note: string
}

interface Matching {
  /** Approved people on the roster that is doubted now. */
  readonly roster?: number
  /** A policy's approval needs a hold that was shown before it. */
  readonly isSeparate: boolean
  /** The deal of a pool that a change is a part of. */
  readonly poolOf?: (key: ScopeKey) => string | undefined
}

/**
 * Matches pending approvals with the holds of a plan: each either releases the hold's changes or is void, because the hold grew or is about
 * another roster than the one shown.
 */
export function matchApprovals(
  approvals: readonly Approval[],
  holds: readonly Hold[],
  shown: HoldsShown,
  { roster, isSeparate, poolOf = () => undefined }: Matching,
): { readonly approvals: readonly Approval[]; readonly matched: readonly Hold[]; readonly unmatched: readonly Unmatched[] } {
  const byId = new Map(holds.map((hold) => [hold.id, hold]))
  const matched: Hold[] = []
  const unmatched: Unmatched[] = []
  const next = approvals.map((approval): Approval => {
    const hold = byId.get(approval.id)
    if (!hold || approval.state !== 'pending') return approval
    if (isSeparate && approval.via === 'policy' && !shown[hold.id]?.reviewed) {
      unmatched.push({ id: hold.id, note: TOO_EARLY })
      return approval
    }
    const people = approval.people ?? shown[hold.id]?.people ?? hold.people
    const isOfRoster = hold.guards.includes('rosterShrink')
    const rosterShown = isOfRoster ? (approval.roster ?? shown[hold.id]?.roster) : undefined
    const isAnother = rosterShown !== undefined && roster !== undefined && !agree(rosterShown, roster)
    const isDeal = hold.changes.some(({ scope }) => poolOf(scopeKey(scope)) !== undefined)
    const moved = isDeal ? { credits: approval.credits ?? shown[hold.id]?.credits ?? creditsMoved(hold.changes) } : {}
    const hasGrown =
      hold.people > people * APPROVAL_GROWTH || (isDeal && creditsMoved(hold.changes) > (moved.credits ?? 0) * APPROVAL_GROWTH)
    if (isAnother || hasGrown) return { ...approval, people, ...moved, state: 'void' }
    matched.push(hold)
    const released = hold.changes.map((change) => {
      const pool = poolOf(scopeKey(change.scope))
      return { ...change, verified: false, ...(pool !== undefined && { pool }) }
    })
    return { ...approval, people, ...moved, released, ...(isOfRoster && roster !== undefined && { roster }) }
  })
  return { approvals: next, matched, unmatched }
}

const TOO_EARLY =
  'it came with the change it releases, or ahead of it, and releases nothing (approvals: separate); approve the hold by command, or list the id once the hold was shown without it'
