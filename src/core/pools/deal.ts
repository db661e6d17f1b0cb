// The deal of a pool: which cap each member gets now. Lowers free nothing until a later reading shows the use under the old caps; raises
// take only what is free (count.ts). It never lowers below known use, never gives less than 1, and a quiet pool keeps the deal it has.
import { type Credits, credits, type Instant } from '../model/units.ts'
import { fullCount, fullSum, paidSum, paidUse, standingCount, standingSum } from './count.ts'
import { type Claim, highestLevel, type Levels, levelsOf } from './level.ts'
import { expectedUse } from './pace.ts'
import type { PoolMember, PoolState, PoolTerms } from './state.ts'

/** Dealt at most so often (product.md, section 2, Calm). */
const REST_MS = 4 * 3_600_000
/** Somebody whose use is within 15 % of the cap. */
const NEAR = 0.85
/** The deal moved by more than so much of it. */
const MOVED = 0.1
/** Nobody is lowered below use and so much of a day's pace (goals.md: found by trial). */
const SLACK_DAYS = 0.9

export interface DealOptions {
  /** Deal whatever is said by `Calm`: only laws and figures ask for it. */
  readonly always?: boolean
}

export interface Deal {
  readonly state: PoolState
  /** Another deal than the one before. */
  readonly isNew: boolean
  /** Nothing is left to deal: everybody is at their use. */
  readonly isUsedUp: boolean
  /** By how much the sum exceeds the credits though everything was lowered that can be; 0 when it does not. */
  readonly above: number
  /** Who stops raises: no known cap, or none at all. */
  readonly blockers: readonly string[]
}

interface Target {
  readonly email: string
  readonly member: PoolMember
  readonly claim: Claim
  /** The cap at a level. */
  readonly at: (level: number) => number
  readonly level: number
  readonly cap: number
}

/** Deals anew where that matters; else the deal stays. The state has to be as `observePool` left it, with known use. */
export function dealPool(terms: PoolTerms, state: PoolState, now: Instant, { always = false }: DealOptions = {}): Deal {
  const targets = targetsOf(terms, state)
  const isOver = standingSum(state) > terms.credits
  const changed = hasChanged(terms, state)
  const isDue = always || changed || (now - (state.dealtAt ?? 0) >= REST_MS && state.readAt > (state.dealtAt ?? 0) && matters(targets))
  const after = isDue ? dealt(terms, state, targets, { now, isOver }) : state
  return {
    state: after,
    isNew: after !== state,
    isUsedUp: paidSum(state) >= terms.credits || (targets.length > 0 && targets.every(({ cap, claim }) => cap <= claim.floor)),
    above: Math.max(0, standingSum(after) - terms.credits),
    blockers: Object.entries(state.members).flatMap(([email, member]) => (Number.isFinite(standingCount(member)) ? [] : [email])),
  }
}

const isDealt = ({ protected: isProtected, left }: PoolMember): boolean => !isProtected && !left

/** A changed declaration, a first deal, or somebody without a deal of their own. */
const hasChanged = (terms: PoolTerms, { terms: before, dealtAt, members }: PoolState): boolean =>
  dealtAt === undefined ||
  before === undefined ||
  (['credits', 'share', 'min', 'max'] as const).some((key) => before[key] !== terms[key]) ||
  Object.values(members).some((member) => isDealt(member) && member.dealt === undefined)

/** What everybody should have at the end: user caps and grants of members first, then the others. */
function targetsOf(terms: PoolTerms, state: PoolState): readonly Target[] {
  const present = Object.entries(state.members).filter(([, { left }]) => !left)
  const used = new Map(present.map(([email, { use = 0 }]) => [email, use]))
  const { paces, daysLeft } = expectedUse(used, state.cycle, state.readAt)
  const claims = present
    .filter(([, member]) => isDealt(member))
    .map(([email, member]) => ({ email, member, claim: claimOf(terms, email, member, { pace: paces.get(email) ?? 0, daysLeft }) }))
  const undealt = Object.values(state.members)
    .filter((member) => !isDealt(member))
    .reduce((sum, member) => sum + countOf(member), 0)
  const first = claims.filter(({ member }) => member.fixed !== undefined)
  const rest = claims.filter(({ member }) => member.fixed === undefined)
  const floorOf = (list: typeof claims): number => list.reduce((sum, { claim }) => sum + paid(claim, claim.floor), 0)
  const dealtFirst = spread(first, terms.credits - undealt - floorOf(rest))
  const taken = dealtFirst.reduce((sum, { claim, cap }) => sum + paid(claim, cap), 0)
  return [...dealtFirst, ...spread(rest, terms.credits - undealt - taken)]
}

/** Without a known cap use is all that can be counted; raises stop anyway. */
function countOf(member: PoolMember): number {
  const count = standingCount(member)
  return Number.isFinite(count) ? count : paidUse(member)
}

const paid = ({ base }: Claim, cap: number): number => Math.max(0, cap - base)

function claimOf(
  { share, min, max, credits: most }: PoolTerms,
  email: string,
  { use = credits(0), base, fixed }: PoolMember,
  { pace, daysLeft }: { readonly pace: number; readonly daysLeft: number },
): Claim {
  const floor = Math.max(1, Math.ceil(use))
  if (fixed !== undefined) {
    // Their own cap is all they get, also where it is below their use.
    const cap = Math.max(1, fixed)
    return { email, floor: Math.min(floor, cap), min: 0, max: cap, expected: Math.min(floor, cap), weight: 1, pace, base }
  }
  const bounds = { min: Math.min(min, max ?? most), max: Math.max(floor, max ?? most) }
  if (share === 'equal') return { email, floor, ...bounds, expected: floor, weight: 1, pace, base }
  return { email, floor, ...bounds, expected: use + pace * daysLeft, weight: Math.max(pace, 1e-9), pace, base }
}

type Named = Pick<Target, 'email' | 'member' | 'claim'>

/** The highest level that the budget pays for; use itself where it pays for nothing. */
function spread(named: readonly Named[], budget: number): readonly Target[] {
  const capAt: Levels = levelsOf(
    named.map(({ claim }) => claim),
    MOST_EXTRA,
  )
  const cost = (level: number): number => named.reduce((sum, { claim }) => sum + paid(claim, capAt(claim, level)), 0)
  const level = highestLevel(cost, budget) ?? 0
  return named.map((one) => ({ ...one, level, at: (at) => capAt(one.claim, at), cap: capAt(one.claim, level) }))
}

/** Head-room beyond which nobody is lifted: more than any cap. */
const MOST_EXTRA = 2_147_483_648

/** The cap that a member has now, as far as it is known. */
const present = ({ dealt: given, inForce }: PoolMember): number | undefined => {
  const cap = given ?? inForce?.cap
  return cap === undefined || cap === 'none' ? undefined : cap
}

/** Somebody near their cap would get more, or the whole would move. */
function matters(targets: readonly Target[]): boolean {
  let [moved, total] = [0, 0]
  for (const { member, cap } of targets) {
    const now = present(member)
    if (now === undefined || (isNear(member, now) && cap > now)) return true
    moved += Math.abs(cap - now)
    total += now
  }
  return moved > MOVED * total
}

const isNear = ({ use = credits(0) }: PoolMember, cap: number): boolean => use >= NEAR * cap

interface Moment {
  readonly now: Instant
  readonly isOver: boolean
}

/** Lowers first; then raises as far as the sum allows, each list to the same level. */
function dealt(terms: PoolTerms, state: PoolState, targets: readonly Target[], moment: Moment): PoolState {
  const given = new Map<string, Credits>()
  let room = Math.max(0, terms.credits - fullSum(state))
  if (Number.isNaN(room)) room = 0
  for (const group of [targets.filter(({ member }) => member.fixed !== undefined), targets.filter(({ member }) => member.fixed === undefined)]) {
    const raised = raisesWithin(group, room)
    for (const one of group) {
      const cap = raised.caps.get(one.email) ?? lowered(one, moment.isOver)
      given.set(one.email, credits(cap))
    }
    room -= raised.cost
  }
  const members = Object.fromEntries(
    Object.entries(state.members).map(([email, member]): [string, PoolMember] => {
      const cap = given.get(email)
      return [email, cap === undefined ? member : { ...member, dealt: cap }]
    }),
  )
  return { ...state, terms, dealtAt: moment.now, members }
}

/** The highest common level whose raises the room pays for. Up to what somebody counts at anyway a raise costs nothing. */
function raisesWithin(targets: readonly Target[], room: number): { readonly caps: ReadonlyMap<string, number>; readonly cost: number } {
  const wanting = targets.filter(({ member, cap }) => {
    const now = present(member)
    return now !== undefined && cap > now
  })
  const counts = new Map(wanting.map(({ email, member }) => [email, fullCount(member)]))
  const capAt = (one: Target, level: number): number => Math.max(present(one.member) ?? 0, Math.min(one.cap, one.at(level)))
  const cost = (level: number): number =>
    wanting.reduce((sum, one) => sum + Math.max(0, paid(one.claim, capAt(one, level)) - (counts.get(one.email) ?? 0)), 0)
  const level = highestLevel(cost, room, wanting[0]?.level ?? 0)
  if (level === undefined) return { caps: new Map(), cost: 0 }
  return { caps: new Map(wanting.map((one) => [one.email, capAt(one, level)])), cost: cost(level) }
}

/** The target, where it is lower; while the sum holds, not below use and most of a day's pace. Who wants more and gets nothing keeps what is there. */
function lowered({ member, claim, cap }: Target, isOver: boolean): number {
  const now = present(member)
  if (now === undefined) return cap
  if (cap >= now) return now
  if (isOver || member.fixed !== undefined) return cap
  return Math.min(now, Math.max(cap, Math.ceil((member.use ?? 0) + SLACK_DAYS * claim.pace), claim.floor))
}
