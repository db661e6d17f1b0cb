// The deal of a pool: which cap each member gets now. Lowers free nothing until a later reading shows the use under the old caps; raises
// take only what is free (count.ts). It never lowers below known use, never gives less than 1, and a quiet pool keeps the deal it has.
import { type Credits, credits, type Instant } from '../model/units.ts'
import { dealtSum, finiteCount, fullCount, fullSum, isDealt, standingCount, standingSum } from './count.ts'
import { type Claim, highestLevel, type Levels, levelsOf } from './level.ts'
import { expectedUse } from './pace.ts'
import type { PoolMember, PoolState, PoolTerms } from './state.ts'

/** Dealt at most so often (product.md, section 2, Calm). */
const REST_MS = 4 * 3_600_000
/** Somebody whose use is within 15 % of the cap. */
const NEAR = 0.85
/** The deal moved by more than so much of it. */
const MOVED = 0.1
/** What a cap has to gain for a write, and what head-room has to lose; who is near their cap gets what there is. Choices, found by trial. */
const WORTH_RAISING = 0.1
const WORTH_LOWERING = 0.2
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
  const { targets, left } = targetsOf(terms, state)
  const isOver = dealtSum(state) > terms.credits
  const isRested = now - (state.dealtAt ?? 0) >= REST_MS && state.readAt > (state.dealtAt ?? 0)
  const isDue = always || hasChanged(terms, state) || (isRested && matters(targets, isOver))
  const after = isDue ? dealt(terms, state, targets, { now, isOver }) : state
  return {
    state: after,
    isNew: after !== state,
    isUsedUp: left < Math.max(1, targets.length),
    above: Math.max(0, standingSum(after) - terms.credits),
    blockers: Object.entries(state.members).flatMap(([email, member]) => (Number.isFinite(standingCount(member)) ? [] : [email])),
  }
}

const hasNewTerms = (terms: PoolTerms, { terms: before }: PoolState): boolean =>
  (['credits', 'share', 'min', 'max'] as const).some((key) => before?.[key] !== terms[key])

/** A changed declaration, a first deal, or somebody without a deal of their own. */
const hasChanged = (terms: PoolTerms, state: PoolState): boolean =>
  state.dealtAt === undefined ||
  hasNewTerms(terms, state) ||
  Object.values(state.members).some(
    (member) => isDealt(member) && member.dealt === undefined && member.inForce !== undefined && member.inForce.cap !== 0,
  )

/** What everybody should have at the end: user caps and grants of members first, then the others. `left`: above everybody's use. */
function targetsOf(terms: PoolTerms, state: PoolState): { readonly targets: readonly Target[]; readonly left: number } {
  const staying = Object.entries(state.members).filter(([, { left }]) => !left)
  const used = new Map(staying.map(([email, { use = 0 }]) => [email, use]))
  const { paces, daysLeft } = expectedUse(used, state.cycle, state.readAt)
  const claims = staying
    .filter(([, member]) => isDealt(member))
    .map(([email, member]) => ({ email, member, claim: claimOf(terms, email, member, { pace: paces.get(email) ?? 0, daysLeft }) }))
  const undealt = Object.values(state.members)
    .filter((member) => !isDealt(member))
    .reduce((sum, member) => sum + finiteCount(member), 0)
  const first = claims.filter(({ member }) => member.fixed !== undefined)
  const rest = claims.filter(({ member }) => member.fixed === undefined)
  const floorOf = (list: typeof claims): number => list.reduce((sum, { claim }) => sum + paid(claim, claim.floor), 0)
  const dealtFirst = spread(first, terms.credits - undealt - floorOf(rest))
  const taken = dealtFirst.reduce((sum, { claim, cap }) => sum + paid(claim, cap), 0)
  // What is left by rounding is theirs too: else more credits could give the others less.
  const isServed = dealtFirst.every(({ claim, cap }) => cap === claim.max)
  return {
    targets: [...dealtFirst, ...spread(rest, isServed ? terms.credits - undealt - taken : floorOf(rest))],
    left: terms.credits - undealt - floorOf(claims),
  }
}

const paid = ({ base, use }: Claim, cap: number): number => Math.max(0, use - base, cap - base)

function claimOf(
  { share, min, max, credits: most }: PoolTerms,
  email: string,
  { use = credits(0), base, fixed }: PoolMember,
  { pace, daysLeft }: { readonly pace: number; readonly daysLeft: number },
): Claim {
  const floor = Math.max(1, Math.ceil(use))
  const own = { email, use, base, pace }
  if (fixed !== undefined) {
    // Their own cap is all they get, also where it is below their use.
    const cap = Math.max(1, fixed)
    return { ...own, floor: Math.min(floor, cap), min: 0, max: cap, top: cap, expected: Math.min(Math.ceil(use), cap), weight: 1 }
  }
  const top = max ?? most
  const bounds = { min: Math.min(min, top), max: Math.max(floor, top), top }
  if (share === 'equal') return { ...own, floor, ...bounds, expected: Math.ceil(use), weight: 1 }
  return { ...own, floor, ...bounds, expected: use + pace * daysLeft, weight: pace }
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

/** The cap that a member has now by the deal or by a reading; undefined without one, or while none is set. */
const present = ({ dealt: given, inForce }: PoolMember): number | undefined => {
  const cap = given ?? inForce?.cap
  return cap === undefined || cap === 'none' ? undefined : cap
}

/** Somebody near their cap would get more, the whole would move, or it has to come down. */
function matters(targets: readonly Target[], isOver: boolean): boolean {
  let [moved, total] = [0, 0]
  for (const target of targets) {
    const now = present(target.member)
    if (now === undefined || wants(target) || (isOver && target.cap < now)) return true
    moved += Math.abs(target.cap - now)
    total += now
  }
  return moved > MOVED * total
}

/** Somebody near the cap would get more, by a part of their head-room at least. */
function wants({ member, claim, cap }: Target): boolean {
  const now = present(member)
  if (now === undefined || claim.use < NEAR * now) return false
  return isHelped(claim, now, cap) && cap - now >= WORTH_RAISING * (now - claim.use)
}

/** What only lifts the cap to use helps nobody, and above `max` nobody rises. */
const isHelped = ({ use, top }: Claim, now: number, cap: number): boolean => Math.min(cap, top) > now && cap > Math.ceil(use)

interface Moment {
  readonly now: Instant
  readonly isOver: boolean
}

/** Raises as far as the sum allows, user caps and grants first, each list to the same level; the others are lowered or stay. */
function dealt(terms: PoolTerms, state: PoolState, targets: readonly Target[], { now, isOver }: Moment): PoolState {
  const given = new Map<string, Credits>()
  let room = terms.credits - fullSum(state)
  for (const isFixed of [true, false]) {
    const list = targets.filter(({ member }) => (member.fixed !== undefined) === isFixed && member.inForce !== undefined)
    const raised = raisesWithin(list, room)
    for (const one of list) {
      const cap = raised.caps.get(one.email) ?? lowered(one, isOver)
      // Somebody at 0 to whom nothing can be given yet is not dealt: no deal writes less than 1.
      if (cap >= 1) given.set(one.email, credits(cap))
    }
    room -= raised.cost
  }
  const isSame = targets.every(({ email, member }) => given.get(email) === member.dealt) && !hasNewTerms(terms, state)
  if (isSame && state.dealtAt !== undefined) return state
  const members = Object.fromEntries(
    Object.entries(state.members).map(([email, member]): [string, PoolMember] => {
      const cap = given.get(email)
      return [email, cap === undefined ? member : { ...member, dealt: cap }]
    }),
  )
  return { ...state, terms, dealtAt: now, members }
}

/** The highest common level whose raises the room pays for; none while the sum is above. Up to what somebody counts at a raise costs nothing. */
function raisesWithin(targets: readonly Target[], room: number): { readonly caps: ReadonlyMap<string, number>; readonly cost: number } {
  if (room < 0) return { caps: new Map(), cost: 0 }
  const wanting = targets.filter((target) => {
    const now = present(target.member)
    return wants(target) || (now !== undefined && isHelped(target.claim, now, target.cap) && target.cap > now * (1 + WORTH_RAISING))
  })
  const counts = new Map(wanting.map(({ email, member }) => [email, fullCount(member)]))
  const capAt = (one: Target, level: number): number => Math.max(present(one.member) ?? 0, Math.min(one.cap, one.claim.top, one.at(level)))
  const cost = (level: number): number =>
    wanting.reduce((sum, one) => sum + Math.max(0, paid(one.claim, capAt(one, level)) - (counts.get(one.email) ?? 0)), 0)
  const level = highestLevel(cost, room, wanting[0]?.level ?? 0)
  if (level === undefined) return { caps: new Map(), cost: 0 }
  const helped = wanting.filter((one) => isHelped(one.claim, present(one.member) ?? 0, capAt(one, level)))
  return { caps: new Map(helped.map((one) => [one.email, capAt(one, level)])), cost: cost(level) }
}

/** The target, where it is lower; while the sum holds, not below use and most of a day's pace. Who gets nothing more keeps what is there. */
function lowered({ member, claim, cap }: Target, isOver: boolean): number {
  const now = present(member)
  if (now === undefined) return cap
  if (cap >= now) return now
  if (isOver || member.fixed !== undefined) return cap
  if (now - cap < WORTH_LOWERING * (now - claim.use)) return now
  return Math.min(now, Math.max(cap, Math.ceil(claim.use + SLACK_DAYS * claim.pace)))
}
