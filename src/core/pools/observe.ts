// Takes readings into the state of a pool: use, caps in force, membership. Use never falls within a cycle. A lowered cap counts at its old
// value until use under it must have shown. A new cycle needs two readings. It never decides about caps.
import { LANDING_MS } from '../model/change.ts'
import { areStillOld, type Cycle, isAgreed, isSameCycle } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type Credits, credits, DAY_MS, type Instant, notAhead } from '../model/units.ts'
import { type CapSince, type MemberNow, memberOf, type PoolMember, type PoolState } from './state.ts'

/** A good reading of use, or why there is none. */
export type UseNow =
  | { readonly kind: 'known'; readonly readAt: Instant; readonly cycle?: Cycle; readonly used: ReadonlyMap<string, Credits> }
  | { readonly kind: 'unknown'; readonly why: string }

interface PoolObservation {
  readonly now: Instant
  readonly use: UseNow
  /** The last readings of caps in force, of members and of those who left; a person who was never read is missing. */
  readonly caps: ReadonlyMap<string, CapSince>
  /** The last caps that we wrote and read back: each was in force from then on. */
  readonly verified?: ReadonlyMap<string, CapSince>
  /** Values sent with an unknown outcome, by e-mail: the answer was lost and the value did not read back, or the write is still open. */
  readonly sent: ReadonlyMap<string, readonly CapSince[]>
  /** Higher caps of people who join now, and when a write of ours lowered each. */
  readonly lowered?: ReadonlyMap<string, readonly CapSince[]>
  readonly members: readonly MemberNow[]
  /** A person's cap that is ours; given where the last deal `isOfOthers`. */
  readonly oursOf?: (email: string) => Cap | undefined
  /** The greatest age of a reading's figures. */
  readonly usageLagMs: number
}

/** The state with no time later than now. */
function rewound(state: PoolState, now: Instant): PoolState {
  const cap = (one: CapSince): CapSince => ({ ...one, at: notAhead(one.at, now) })
  return {
    ...state,
    later: state.later && { ...state.later, readAt: notAhead(state.later.readAt, now) },
    readAt: notAhead(state.readAt, now),
    dealtAt: state.dealtAt && notAhead(state.dealtAt, now),
    members: mapMembers(state, (one) => ({
      ...one,
      inForce: one.inForce && cap(one.inForce),
      lowered: one.lowered.map(cap),
      left: one.left && { ...one.left, at: notAhead(one.left.at, now) },
    })),
  }
}

/** Older readings of use are no basis for a deal. Choice. */
const LONGEST_AGE_MS = DAY_MS

/** Uncapped is more than any cap. */
export const amountOf = (cap: Cap): number => (cap === 'none' ? Number.POSITIVE_INFINITY : cap)

/** The state after a reading. `hasShown`: use under all lowered caps shows now. The same observation twice changes nothing. */
export function observePool(known: PoolState | undefined, observation: PoolObservation): Taken & { readonly hasShown: boolean } {
  const { now, usageLagMs, oursOf } = observation
  const before = known && rewound(known, now)
  const use = ofThisClock(observation)
  const taken = takeUse(before, use)
  if (!taken.state) return { ...taken, hasShown: false }
  const isNewer = use.kind === 'known' && taken.state.readAt > (before?.readAt ?? Number.NEGATIVE_INFINITY)
  const joined = joinAndLeave(taken.state, { ...observation, use }, before === undefined)
  const dataAt = taken.state.readAt - usageLagMs
  const members: Record<string, PoolMember> = {}
  for (const [email, member] of Object.entries(joined)) {
    const was = before && memberOf(before, email)
    const isUnread = was !== undefined && !was.inForce && !was.left
    const sent = sentTo(observation, email)
    const written = member.inForce ? takeCap(member, observation.verified?.get(email), sent, isUnread) : member
    const read = takeCap(written, capNow(observation, email), sent, isUnread)
    const isListed = use.kind === 'known' && use.used.has(email)
    const shown = takeReading(oursOf ? takenBack(read, oursOf(email)) : read, dataAt, isListed)
    members[email] = aboveUse(isNewer && isListed ? settle(shown, dataAt) : shown)
  }
  const frozen = taken.frozen ?? outdated(taken.state, now) ?? unknownUse(members)
  const { hasShown: hadShown = false, ...rest } = taken.state
  const state = { ...rest, members }
  const hasShown = (hadShown || (before !== undefined && openLowers(before).length > 0)) && openLowers(state).length === 0
  if (frozen === undefined) return { state, hasShown }
  // The raises that it pays for are dealt once the pool is no longer frozen.
  return { state: hasShown ? { ...state, hasShown } : state, frozen, hasShown }
}

/** What was dealt to or by others and never written, as while it was held, is no deal any more: the cap that is ours stands. */
function takenBack(member: PoolMember, ours: Cap | undefined): PoolMember {
  if (member.dealt === undefined || member.left) return member
  return { ...member, dealt: typeof ours === 'number' && ours > 0 ? credits(ours) : undefined }
}

/** Lowered caps of present members, under which use may not show yet. */
const openLowers = ({ members }: PoolState): readonly CapSince[] =>
  Object.values(members).flatMap(({ left, lowered }) => (left ? [] : lowered))

/** A reading from the future was stamped by a clock that has since been set back: its age is not known. */
const ofThisClock = ({ use, now }: PoolObservation): UseNow =>
  use.kind === 'known' && use.readAt > now ? { kind: 'unknown', why: 'use was not read since the clock went back' } : use

/** The reading is too old, or of a cycle that has ended: it says nothing of what the caps allow now. */
function outdated({ readAt, cycle }: PoolState, now: Instant): string | undefined {
  if (now - readAt > LONGEST_AGE_MS) return 'use was not read for a day'
  return now >= cycle.endAt ? 'the billing cycle is over, and the use of the next one is not known yet' : undefined
}

function unknownUse(members: Readonly<Record<string, PoolMember>>): string | undefined {
  const missing = Object.entries(members).filter(([, { use, left }]) => use === undefined && !left)
  return missing.length > 0 ? `the use of ${missing.length === 1 ? 'a member' : `${missing.length} members`} is not known` : undefined
}

interface Taken {
  /** Absent while no use of the cycle was ever known. */
  readonly state?: PoolState
  /** Why the last deal has to stay. */
  readonly frozen?: string
}

/** Takes in use and cycle; members otherwise stay as they were. */
function takeUse(before: PoolState | undefined, use: UseNow): Taken {
  const stays = before && { state: before }
  if (use.kind === 'unknown') return { ...stays, frozen: use.why }
  if (!use.cycle) return { ...stays, frozen: 'the service names no billing cycle' }
  if (!before) return { state: { cycle: use.cycle, readAt: use.readAt, members: {} } }
  if (use.readAt <= before.readAt && !before.later) return { state: before }
  if (isSameCycle(use.cycle, before.cycle)) return { state: sameCycle(before, use.cycle, use) }
  if (use.cycle.startAt < before.cycle.startAt) return { state: before, frozen: 'the service names an earlier billing cycle' }
  return laterCycle(before, use.cycle, use)
}

type KnownUse = Extract<UseNow, { kind: 'known' }>

function sameCycle(before: PoolState, cycle: Cycle, use: KnownUse): PoolState {
  const { later: _, ...rest } = before
  return use.readAt <= before.readAt ? rest : { ...rest, cycle, readAt: use.readAt, members: withUse(before, use) }
}

/** Use never falls. */
const withUse = (before: PoolState, { used }: KnownUse): PoolState['members'] =>
  mapMembers(before, (member, email) => {
    const read = used.get(email)
    if (read === undefined || member.left?.settled || read <= (member.use ?? -1)) return member
    return { ...member, use: read }
  })

function laterCycle(before: PoolState, cycle: Cycle, use: KnownUse): Taken {
  const { later } = before
  if (!later || !isSameCycle(later, cycle)) {
    return { state: { ...before, later: { startAt: cycle.startAt, readAt: use.readAt } }, frozen: 'a new billing cycle was named once' }
  }
  if (!isAgreed(later.readAt, use.readAt)) return { state: before, frozen: 'a new billing cycle was named once' }
  if (isUnsettled(before, later, use)) return { state: before, frozen: 'the new billing cycle still shows the figures of the last one' }
  const { later: _, dealtAt: _dealt, ...rest } = before
  const staying = Object.entries(before.members).filter(([, { left }]) => !left)
  const members = Object.fromEntries(
    staying.map(([email, { use: _old, ...member }]): [string, PoolMember] => {
      const read = use.used.get(email)
      return [email, { ...member, base: credits(0), use: read }]
    }),
  )
  return { state: { ...rest, cycle, readAt: use.readAt, members } }
}

function isUnsettled({ members }: PoolState, later: NonNullable<PoolState['later']>, { readAt, used }: KnownUse): boolean {
  let [old, fresh] = [0, 0]
  for (const [email, { use = 0 }] of Object.entries(members)) {
    old += use
    fresh += used.get(email) ?? 0
  }
  return areStillOld(old, fresh, readAt - Math.min(later.startAt, later.readAt))
}

const mapMembers = ({ members }: PoolState, change: (member: PoolMember, email: string) => PoolMember): PoolState['members'] =>
  Object.fromEntries(Object.entries(members).map(([email, member]) => [email, change(member, email)]))

/**
 * A person who joins counts from their use at joining, and at a higher cap that was lowered before, as members do. A person who leaves stays in
 * the sum. At the first deal everybody counts with all of the cycle's use.
 */
function joinAndLeave(state: PoolState, { members, use, lowered, now }: PoolObservation, isFirst: boolean): PoolState['members'] {
  const present = new Map(members.map((member) => [member.email, member]))
  const known = use.kind === 'known' ? use.used : new Map<string, Credits>()
  const after: Record<string, PoolMember> = mapMembers(state, (member, email) => {
    const here = present.get(email)
    if (here) return withRole(member, here)
    return member.left ? member : leave(member, now)
  })
  for (const here of members) {
    if (memberOf(state, here.email)) continue
    const used = known.get(here.email)
    const base = isFirst ? credits(0) : (used ?? credits(0))
    const member = { base, use: used, sent: [], lowered: lowered?.get(here.email) ?? [] }
    after[here.email] = withRole(member, here)
  }
  return after
}

/**
 * The cap in force when a person leaves is still the pool's, whatever lower cap was dealt. Where the pool never gave it, use under it may not
 * show yet. A cap that was never read bounds nothing.
 */
function leave(member: PoolMember, now: Instant): PoolMember {
  const { inForce } = member
  const after = { ...withoutRole(member), left: { at: now, ...(inForce && { cap: inForce.cap }) } }
  return isGone(after) ? { ...after, lowered: [...after.lowered, { cap: inForce?.cap ?? 'none', at: now }] } : after
}

/** A person who returns within the cycle keeps their use and base, but is dealt again, and so is a person whose own cap changed. */
function withRole(member: PoolMember, here: MemberNow): PoolMember {
  const isSame = !member.left && member.fixed === here.fixed && (member.protected ?? false) === (here.protected ?? false)
  if (isSame) return member
  const { left: _left, dealt: _dealt, ...rest } = withoutRole(member)
  return { ...rest, ...(here.fixed !== undefined && { fixed: here.fixed }), ...(here.protected && { protected: true }) }
}

function withoutRole(member: PoolMember): PoolMember {
  const { fixed: _fixed, protected: _protected, ...rest } = member
  return rest
}

/** Values sent longer ago will not land any more. */
const sentTo = ({ sent, now }: PoolObservation, email: string): readonly CapSince[] =>
  (sent.get(email) ?? []).filter(({ at }) => now - at < LANDING_MS)

const capNow = ({ caps, now }: PoolObservation, email: string): CapSince | undefined => {
  const read = caps.get(email)
  return read && read.at > now ? { ...read, at: now } : read
}

/**
 * A lowered cap counts on at its old value, and so does the pool's cap of a person who left when another replaces it. `isUnread`: the person
 * joined before, and their cap in force could not be read until now.
 */
function takeCap(member: PoolMember, read: CapSince | undefined, sent: readonly CapSince[], isUnread: boolean): PoolMember {
  const kept = sent.length === 0 && member.sent.length === 0 ? member : { ...member, sent }
  const { inForce } = kept
  if (!read || (inForce && (read.at <= inForce.at || read.cap === inForce.cap))) return kept
  const after = { ...kept, inForce: read }
  if (!inForce) return isUnread ? { ...after, lowered: [...kept.lowered, { cap: 'none', at: read.at }] } : after
  const isOver = amountOf(read.cap) < amountOf(inForce.cap) || (isGone(after) && !isGone(kept))
  return isOver ? { ...after, lowered: [...kept.lowered, { cap: inForce.cap, at: read.at }] } : after
}

/**
 * `dataAt`: the figures are at least as new as this. They include use under a cap that was lowered before, except for people whom they do not
 * list, such as those who left the team: their use will never show, and only the cap bounds it. Without a cap, known use has to do.
 */
function takeReading(member: PoolMember, dataAt: Instant, isListed: boolean): PoolMember {
  const lowered = member.lowered.filter(({ cap, at }) => at > dataAt || (!isListed && cap !== 'none'))
  return lowered.length === member.lowered.length ? member : { ...member, lowered }
}

/** After a person left, nothing more is added once another cap is in force and the use until then is known. */
function settle(member: PoolMember, dataAt: Instant): PoolMember {
  if (!member.left || member.left.settled || !isGone(member)) return member
  const goneAt = Math.max(member.left.at, member.inForce?.at ?? member.left.at)
  return goneAt <= dataAt && member.lowered.length === 0 && member.sent.length === 0
    ? { ...member, left: { ...member.left, settled: true } }
    : member
}

/** After a lower that did not land before more use showed, or a foreign raise: the cap that is put back is not below known use. */
function aboveUse(member: PoolMember): PoolMember {
  const { dealt, use = credits(0), inForce, fixed } = member
  if (dealt === undefined || dealt >= use || !inForce || amountOf(inForce.cap) <= dealt) return member
  const least = Math.min(Math.ceil(use), amountOf(inForce.cap), fixed ?? Number.POSITIVE_INFINITY)
  return least > dealt ? { ...member, dealt: credits(least) } : member
}

/** Whether the pool's cap of a person who left is no longer in force, or never was. */
export function isGone({ left, inForce, dealt }: PoolMember): boolean {
  if (!left) return false
  if (left.settled || dealt === undefined || inForce?.cap === 'none') return true
  return inForce !== undefined && inForce.cap !== dealt && inForce.cap !== left.cap
}
