// The deal of a pool: which cap each member gets now, which raises wait, and what is to be said of it. A pool is dealt again at most every 4 h, and
// only where it matters; else the deal stays. share-out.ts shares the credits out. The raises that a deal's lowered caps pay for belong to that deal:
// they are given as soon as use under the old caps shows, without another deal. Notes change nothing.
import type { Note } from '../model/condition.ts'
import { onceFor } from '../model/once.ts'
import type { Pool, PoolMembers } from '../model/policy.ts'
import { type Credits, count, credits, formatInstant, HOUR_MS, type Instant } from '../model/units.ts'
import { dealtSum, finiteCount, fullCount, fullSum, isDealt, poolFigures } from './figures.ts'
import { aim, give, matters } from './share-out.ts'
import { type CapSince, cannotPay, type MemberNow, memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'
import { layOut } from './table.ts'

/**
 * The cap to ask for. Undefined while nothing was dealt, for members who are not dealt, and for members at 0 who cannot be raised: no deal asks
 * for 0. While the sum is above the credits, a raise that is not yet in force waits.
 */
export function capToAsk({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): Credits | undefined {
  const member = memberOf(state, email)
  if (!member || !isDealt(member) || member.dealt === undefined) return undefined
  const inForce = member.inForce?.cap
  if (inForce === undefined || inForce === 'none' || inForce >= member.dealt || !isAbove(state, credits)) return member.dealt
  return inForce < 1 ? undefined : inForce
}

/**
 * Whether a member keeps the cap in force because a raise has to wait. That is so for a member at 0 who was dealt more, while the sum is above
 * the credits. Protected members are not dealt and get the cap declared for them; but while the raises of all of them together do not fit into
 * the credits, each keeps the cap in force.
 */
export function keepsCap({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): boolean {
  const member = memberOf(state, email)
  const kept = keptCap(member)
  if (!member || !kept || member.left) return false
  if (!member.protected) return kept.cap < 1 && (member.dealt ?? 0) > kept.cap && isAbove(state, credits)
  if ((member.fixed ?? 0) <= kept.cap) return false
  const more = Object.values(state.members).reduce((sum, one) => sum + (one.protected && !one.left ? wantedBy(one) : 0), 0)
  return more > credits - fullSum(state)
}

/** The cap in force, where there is one. */
export function keptCap(member: PoolMember | undefined) {
  const { cap, at } = member?.inForce ?? {}
  return cap === undefined || cap === 'none' || at === undefined ? undefined : { cap, at }
}

/** The cap in force, and when it was first read. */
export type KeptCap = NonNullable<ReturnType<typeof keptCap>>

/**
 * Members without a cap to ask for, because nothing is dealt to them yet or a rule's answer is not known: they may inherit a higher cap only as
 * far as the credits pay for it.
 */
export type Followers = Readonly<ReturnType<typeof followersIn>>

/** The members who may inherit a higher cap, and the credits for all of them together. */
export function followersIn(terms: Pick<PoolTerms, 'credits'>, state: PoolState) {
  const staying = Object.entries(state.members).filter(([, { left }]) => !left)
  const wanted = staying.reduce((sum, [, one]) => sum + (one.protected ? wantedBy(one) : 0), 0)
  const free = terms.credits - fullSum(state)
  const members = staying.map(([email, one]) => {
    const isAtZero = state.dealtAt !== undefined && isDealt(one) && one.inForce?.cap === 0
    // The deal asks for nothing: no inherited raise applies, whatever the credits pay for.
    const isLeftAtZero = isAtZero && capToAsk(terms, state, email) === undefined
    return { email, base: one.base, count: knownCount(one), isLeftAtZero }
  })
  // Credits that are neither counted for a member nor promised to one.
  return { room: wanted > free ? free : free - wanted, members }
}

/** Where the full count is infinite (never read, or uncapped lately), the finite count. */
const knownCount = (member: PoolMember): number => (Number.isFinite(fullCount(member)) ? fullCount(member) : finiteCount(member))

/** What a member with a cap of their own would add to the sum. */
const wantedBy = (member: PoolMember): number => Math.max(0, (member.fixed ?? 0) - member.base - fullCount(member))

/** It is asked for each member of the same state. */
const sumOf = onceFor(fullSum)

const isAbove = (state: PoolState, credits: number): boolean => sumOf(state) > credits

/** The least time between two deals (docs/policies.md, Pools). */
const REST_MS = 4 * HOUR_MS

/**
 * Deals again where that matters; else the deal stays, and the state is the same object. It must come from `observePool`, with known use.
 * `always`: whatever `Calm` says; only laws and figures set it. `hasShown`: use under all lowered caps shows now.
 */
export function dealPool(
  terms: PoolTerms,
  state: PoolState,
  now: Instant,
  { always = false, hasShown = false }: { readonly always?: boolean; readonly hasShown?: boolean } = {},
): PoolState {
  const { emails, table, undealt } = layOut(terms, state)
  const aimed = aim(table, terms, undealt)
  const isOver = dealtSum(state) > terms.credits
  const isRested = now - (state.dealtAt ?? 0) >= REST_MS && state.readAt > (state.dealtAt ?? 0)
  const isDue = always || hasChanged(terms, state) || (isRested && matters(table, aimed, isOver))
  if (!isDue && !hasShown) return state
  // Without a deal that is due only the raises that the last deal's lowered caps pay for: nobody is lowered, and the time of the next deal stays.
  give(table, aimed, { room: terms.credits - fullSum(state), isOver, raisesOnly: !isDue })
  const given = new Map<string, Credits>()
  for (const [place, email] of emails.entries()) {
    const cap = table.given[place] ?? Number.NaN
    if (!Number.isNaN(cap)) given.set(email, credits(cap))
  }
  const isSame = emails.every((email) => given.get(email) === memberOf(state, email)?.dealt) && !hasNewTerms(terms, state)
  if (isSame && state.dealtAt !== undefined) return state
  const members = Object.fromEntries(
    Object.entries(state.members).map(([email, member]): [string, PoolMember] => {
      const cap = given.get(email)
      return [email, cap === undefined ? member : { ...member, dealt: cap }]
    }),
  )
  return isDue ? { ...state, terms, dealtAt: now, members } : { ...state, members }
}

const hasNewTerms = (terms: PoolTerms, { terms: before }: PoolState): boolean =>
  (['credits', 'share', 'min', 'max'] as const).some((key) => before?.[key] !== terms[key])

/** The declaration changed, nothing was dealt yet, or a member has no deal. */
const hasChanged = (terms: PoolTerms, state: PoolState): boolean =>
  state.dealtAt === undefined ||
  hasNewTerms(terms, state) ||
  Object.values(state.members).some(
    (member) => isDealt(member) && member.dealt === undefined && member.inForce && (member.inForce.cap !== 0 || Number(member.fixed) > 0),
  )

/**
 * Whether the last deal is one of these terms to everybody who is in the pool now. It is not while the pool is frozen since either changed, while a
 * member's cap was never read, or while nothing was dealt since somebody left. A member at 0 may wait for credits.
 */
export const isWhole = (terms: PoolTerms, state: PoolState): boolean =>
  !hasNewTerms(terms, state) &&
  Object.values(state.members).every((member) =>
    member.left
      ? member.left.at <= (state.dealtAt ?? Number.NEGATIVE_INFINITY)
      : !isDealt(member) || member.dealt !== undefined || member.inForce?.cap === 0,
  )

/**
 * Whether the last deal was by other terms, or to other people than those of now. The latter counts only where the guards have let a deal to these
 * through (`isReviewed`): none holds what follows from it.
 */
export function isOfOthers({ pool, members }: PoolPeople, state: PoolState, isReviewed: boolean): boolean {
  const staying = new Set(Object.entries(state.members).flatMap(([email, { left }]) => (left ? [] : email)))
  return hasNewTerms(pool, state) || (isReviewed && staying.symmetricDifference(new Set(members.map(({ email }) => email))).size > 0)
}

/** Whether raises of the last deal have to wait: the sum is above the credits, or use under a lowered cap does not show yet. */
export const isWaiting = (terms: PoolTerms, state: PoolState): boolean =>
  isAbove(state, terms.credits) || waitingRaises(terms, state).size > 0

const known = new WeakMap<PoolState, { readonly terms: PoolTerms; readonly raises: ReturnType<typeof findRaises> }>()

/** By e-mail: the higher caps that would be given if use under all lowered caps already showed, and until when, as a clause. */
export function waitingRaises(terms: PoolTerms, state: PoolState): ReturnType<typeof findRaises> {
  const before = known.get(state)
  if (before?.terms === terms) return before.raises
  const raises = findRaises(terms, state)
  known.set(state, { terms, raises })
  return raises
}

function findRaises(terms: PoolTerms, state: PoolState): ReadonlyMap<string, { readonly to: Credits; readonly until: string }> {
  const all = Object.entries(state.members)
  const lowered = all.flatMap(([, member]) => member.lowered.filter((one) => willShow(member, one)))
  if (state.dealtAt === undefined || lowered.length === 0) return new Map()
  const lastAt = lowered.reduce((last, { at }) => Math.max(last, at), 0)
  const until = `until use up to ${formatInstant(lastAt)} shows`
  const shown = { ...state, readAt: Math.max(state.readAt, state.dealtAt + 1) }
  const members = Object.fromEntries(
    all.map(([email, member]) => [email, { ...member, lowered: member.lowered.filter((one) => !willShow(member, one)) }]),
  )
  const next = dealPool(terms, { ...shown, members }, lastAt, { hasShown: true })
  return new Map(
    all.flatMap(([email]) => {
      const to = asked(terms, next, email)
      return to !== undefined && to > (asked(terms, state, email) ?? Number.POSITIVE_INFINITY) ? [[email, { to, until }] as const] : []
    }),
  )
}

/** Whether use under a lowered cap will show: under a cap of a person who left perhaps never (`takeReading` in observe.ts). */
const willShow = ({ left }: PoolMember, { cap }: CapSince): boolean => !left || cap === 'none'

/** The cap that a person is to have: what is kept, their own cap where they are protected, or the deal. */
function asked(terms: PoolTerms, state: PoolState, email: string): Credits | undefined {
  const member = memberOf(state, email)
  if (keepsCap(terms, state, email)) return keptCap(member)?.cap
  return member?.protected && !member.left ? member.fixed : capToAsk(terms, state, email)
}

/** `a raise to 40 waits until use up to 2026-11-20 12:00 UTC shows`. */
export const waitingText = ({ to, until }: { readonly to: Credits; readonly until: string }): string => `a raise to ${to} waits ${until}`

/** A note about one pool. `POOL_BOUNDS` is an error: the declaration cannot be kept for the present members. */
export type PoolNote = Note<'POOL_FROZEN' | 'POOL_ABOVE' | 'POOL_USED_UP' | 'POOL_BOUNDS' | 'POOL_NOBODY' | 'POOL_UNKNOWN' | 'POOL_WAITS'>

/** A pool and who is in it now. */
export interface PoolPeople {
  readonly pool: Pool
  readonly members: readonly MemberNow[]
  /** Approved people of whom it is not known whether the pool's condition holds: they stay in or out of it. `why`: what is missing of the first. */
  readonly unknown?: { readonly emails: readonly string[]; readonly why: string }
}

/** `frozen`: why a pool keeps its last deal, by name. */
export function poolNotes(
  pools: readonly PoolPeople[],
  dealt: Readonly<Record<string, PoolState>>,
  frozen: Readonly<Record<string, string>>,
): readonly PoolNote[] {
  return pools.flatMap(({ pool, members, unknown }) => {
    const { name, credits, min, members: asked, at } = pool
    const state = Object.hasOwn(dealt, name) ? dealt[name] : undefined
    const why = Object.hasOwn(frozen, name) ? frozen[name] : undefined
    const notes: PoolNote[] = []
    // The version stays the same while the note says the same, whatever its figures.
    const add = (code: PoolNote['code'], text: string, version = '') =>
      notes.push({ code, subject: `pool ${name}`, message: `pool ${name}: ${text}`, version, at })
    if (members.length === 0 && why === undefined) add('POOL_NOBODY', `has no members: ${whyNobody(asked)}`)
    if (unknown) add('POOL_UNKNOWN', unknownText(unknown))
    const least = `${count(members.length, `member at ${min} is`, `members at ${min} are`)} ${min * members.length} credits`
    if (cannotPay(pool, members.length)) add('POOL_BOUNDS', `cannot pay its min, so nothing is dealt: ${least}, it has ${credits}`)
    if (why !== undefined) add('POOL_FROZEN', `${state?.dealtAt === undefined ? 'nothing is dealt' : 'the last deal stays'}: ${why}`, why)
    if (!state || state.dealtAt === undefined) return notes
    const { used, isUsedUp } = poolFigures({ credits }, state)
    const above = isUsedUp ? undefined : aboveText(state, credits)
    if (isUsedUp)
      add('POOL_USED_UP', `${Math.round(used)} of ${credits} credits are used; everybody stays at their use until the next cycle`)
    if (above !== undefined) add('POOL_ABOVE', above)
    const waiting = waitingTextOf(pool, state)
    if (waiting !== undefined) add('POOL_WAITS', waiting)
    return notes
  })
}

const NOBODY = 'no approved person'

function whyNobody(asked: PoolMembers): string {
  if (asked.kind === 'emails') return `${NOBODY} has one of its e-mails`
  if (asked.kind === 'groups') return `${NOBODY} is in ${asked.ids.length === 1 ? 'group' : 'one of the groups'} ${asked.ids.join(', ')}`
  return `${NOBODY} meets its condition in two readings that agree`
}

function unknownText({ emails, why }: NonNullable<PoolPeople['unknown']>): string {
  const whom = emails.length === 1 ? '1 person, who stays' : `${emails.length} people, who stay`
  return `whether its condition holds is not known for ${whom} in or out of it as before (${why})`
}

function aboveText(state: PoolState, credits: number): string | undefined {
  const sum = fullSum(state)
  if (sum <= credits) return undefined
  const open = Object.entries(state.members).flatMap(([email, member]) => (Number.isFinite(fullCount(member)) ? [] : [email]))
  const [first] = open
  if (first === undefined)
    return `use and caps count at ${Math.ceil(sum)}, above its ${credits} credits; caps are only lowered, never below use, until they fit`
  const [who, has] = open.length === 1 ? [first, 'has'] : [`${open.length} members, ${first} first,`, 'have']
  return `${who} ${has} no known cap in force, or had none lately, so nobody is raised`
}

/** How many members are named at most. */
const NAMED = 3

function waitingTextOf(terms: PoolTerms, state: PoolState): string | undefined {
  const raises = waitingRaises(terms, state)
  const [first] = raises.values()
  const what = raises.size === 1 ? '1 raise waits' : `${raises.size} raises wait`
  const unpaid = Object.entries(state.members).filter(
    ([email, one]) => one.protected && !raises.has(email) && keepsCap(terms, state, email),
  )
  const texts = [
    ...(first ? [`${what} ${first.until}: ${listed([...raises].map(([email, { to }]) => `${email} to ${to}`))}`] : []),
    ...(unpaid.length > 0
      ? [`the credits do not pay for ${listed(unpaid.map(([email, { fixed }]) => `${email} at ${fixed}`))}; what is in force stays`]
      : []),
  ]
  return texts.length > 0 ? texts.join('; ') : undefined
}

const listed = (all: readonly string[]): string =>
  `${all.slice(0, NAMED).join(', ')}${all.length > NAMED ? ` and ${all.length - NAMED} more` : ''}`
