// Notes about pools: the last deal stays and why, the sum is above the credits, everything is used, raises wait, the credits do not pay for
// `min`, there are no members, or it is not known who is one. They change nothing.
import type { Pool, PoolMembers } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import { type Credits, formatInstant } from '../model/units.ts'
import { capToAsk, dealPool, keepsCap, keptCap } from './deal.ts'
import { fullCount, fullSum, poolFigures } from './figures.ts'
import { type CapSince, cannotPay, type MemberNow, memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'

/** A raise that waits, and until when, as a clause. */
interface WaitingRaise {
  readonly to: Credits
  readonly until: string
}

const known = new WeakMap<PoolState, { readonly terms: PoolTerms; readonly raises: ReadonlyMap<string, WaitingRaise> }>()

/** By e-mail: the higher caps that would be given if use under all lowered caps already showed. */
export function waitingRaises(terms: PoolTerms, state: PoolState): ReadonlyMap<string, WaitingRaise> {
  const before = known.get(state)
  if (before?.terms === terms) return before.raises
  const raises = findRaises(terms, state)
  known.set(state, { terms, raises })
  return raises
}

function findRaises(terms: PoolTerms, state: PoolState): ReadonlyMap<string, WaitingRaise> {
  const all = Object.entries(state.members)
  const lowered = all.flatMap(([, member]) => member.lowered.filter((one) => willShow(member, one)))
  if (state.dealtAt === undefined || lowered.length === 0) return new Map()
  const lastAt = lowered.reduce((last, { at }) => Math.max(last, at), 0)
  const until = `until use up to ${formatInstant(lastAt)} shows`
  const shown = { ...state, readAt: Math.max(state.readAt, state.dealtAt + 1) }
  const members = Object.fromEntries(
    all.map(([email, member]) => [email, { ...member, lowered: member.lowered.filter((one) => !willShow(member, one)) }]),
  )
  const next = dealPool(terms, { ...shown, members }, lastAt, { hasShown: true }).state
  return new Map(
    all.flatMap(([email]): readonly (readonly [string, WaitingRaise])[] => {
      const to = asked(terms, next, email)
      return to !== undefined && to > (asked(terms, state, email) ?? Number.POSITIVE_INFINITY) ? [[email, { to, until }]] : []
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
export const waitingText = ({ to, until }: WaitingRaise): string => `a raise to ${to} waits ${until}`

/** A note about one pool, placed at its credits. `POOL_BOUNDS` is an error: the declaration cannot be kept for the present members. */
export interface PoolNote {
  readonly code: 'POOL_FROZEN' | 'POOL_ABOVE' | 'POOL_USED_UP' | 'POOL_BOUNDS' | 'POOL_NOBODY' | 'POOL_UNKNOWN' | 'POOL_WAITS'
  readonly pool: string
  readonly message: string
  /** Stays the same while the note says the same, whatever its figures. */
  readonly version: string
  readonly at: Position
}

/** `unknown`: people of whom it is not known whether the condition of the pool holds, and what is missing of the first. */
interface PoolNow {
  readonly pool: Pool
  readonly members: readonly MemberNow[]
  readonly unknown?: { readonly emails: readonly string[]; readonly why: string }
}

/** `frozen`: why a pool keeps its last deal, by name. */
export function poolNotes(
  pools: readonly PoolNow[],
  dealt: Readonly<Record<string, PoolState>>,
  frozen: Readonly<Record<string, string>>,
): readonly PoolNote[] {
  return pools.flatMap(({ pool, members, unknown }) => {
    const { name, credits, min, members: asked, at } = pool
    const state = Object.hasOwn(dealt, name) ? dealt[name] : undefined
    const why = Object.hasOwn(frozen, name) ? frozen[name] : undefined
    const notes: PoolNote[] = []
    const add = (code: PoolNote['code'], text: string, version = '') =>
      notes.push({ code, pool: name, message: `pool ${name}: ${text}`, version, at })
    if (members.length === 0 && why === undefined) add('POOL_NOBODY', `has no members: ${whyNobody(asked)}`)
    if (unknown) add('POOL_UNKNOWN', unknownText(unknown))
    const least = `${members.length} members at ${min} are ${min * members.length} credits`
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

function unknownText({ emails, why }: NonNullable<PoolNow['unknown']>): string {
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
