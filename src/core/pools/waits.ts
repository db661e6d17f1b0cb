// Which raises of a pool wait for newer figures: a lowered cap counts at its old value until use under it shows, and only then is it known what
// may be raised. For display only.
import { type Credits, formatInstant } from '../model/units.ts'
import { capToAsk, keepsCap, keptCap } from './ask.ts'
import { dealPool } from './deal.ts'
import { type CapSince, memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'

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
