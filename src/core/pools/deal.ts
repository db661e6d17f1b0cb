// The deal of a pool: which cap each member gets now. A pool is dealt again at most every 4 h, and only where it matters; else the deal stays.
// share-out.ts shares the credits out. The raises that a deal's lowered caps pay for belong to that deal: they are given as soon as use under
// the old caps shows, without another deal.
import { type Credits, credits, HOUR_MS, type Instant } from '../model/units.ts'
import { dealtSum, fullSum, isDealt, standingCount } from './figures.ts'
import { type Aim, aim, give, matters } from './share-out.ts'
import { memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'
import { type Laid, layOut } from './table.ts'

/** The least time between two deals (docs/policies.md, Pools). */
const REST_MS = 4 * HOUR_MS

interface DealOptions {
  /** Deal whatever `Calm` says; only laws and figures set it. */
  readonly always?: boolean
  /** Use under all lowered caps shows now. */
  readonly hasShown?: boolean
}

export interface Deal {
  readonly state: PoolState
  /** The deal differs from the one before. */
  readonly isNew: boolean
  /** Nothing is left to deal: everybody is at their use. */
  readonly isUsedUp: boolean
  /** Members without a known cap, or uncapped: they stop raises. */
  readonly blockers: readonly string[]
}

/** Deals again where that matters; else the deal stays. The state must come from `observePool`, with known use. */
export function dealPool(terms: PoolTerms, state: PoolState, now: Instant, { always = false, hasShown = false }: DealOptions = {}): Deal {
  const laid = layOut(terms, state)
  const aimed = aim(laid.table, terms, laid.undealt)
  const isOver = dealtSum(state) > terms.credits
  const isRested = now - (state.dealtAt ?? 0) >= REST_MS && state.readAt > (state.dealtAt ?? 0)
  const isDue = always || hasChanged(terms, state) || (isRested && matters(laid.table, aimed, isOver))
  const after = isDue || hasShown ? dealt(terms, state, { ...laid, aimed }, { now, isOver, raisesOnly: !isDue }) : state
  return {
    state: after,
    isNew: after !== state,
    isUsedUp: aimed.left < Math.max(1, laid.table.size),
    blockers: Object.entries(state.members).flatMap(([email, member]) => (Number.isFinite(standingCount(member)) ? [] : [email])),
  }
}

const hasNewTerms = (terms: PoolTerms, { terms: before }: PoolState): boolean =>
  (['credits', 'share', 'min', 'max'] as const).some((key) => before?.[key] !== terms[key])

/** The declaration changed, nothing was dealt yet, or a member has no deal. */
const hasChanged = (terms: PoolTerms, state: PoolState): boolean =>
  state.dealtAt === undefined ||
  hasNewTerms(terms, state) ||
  Object.values(state.members).some(
    (member) => isDealt(member) && member.dealt === undefined && member.inForce !== undefined && member.inForce.cap !== 0,
  )

interface Moment {
  readonly now: Instant
  readonly isOver: boolean
  /** Only the raises that the last deal's lowered caps pay for: nobody is lowered, and the time of the next deal stays. */
  readonly raisesOnly: boolean
}

/** The state with the caps given now; the same object where nobody's cap changes. */
function dealt(
  terms: PoolTerms,
  state: PoolState,
  { emails, table, aimed }: Laid & { readonly aimed: Aim },
  { now, isOver, raisesOnly }: Moment,
): PoolState {
  give(table, aimed, { room: terms.credits - fullSum(state), isOver, raisesOnly })
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
  return raisesOnly ? { ...state, members } : { ...state, terms, dealtAt: now, members }
}
