// What a person should know of pools beside their deals: that the last deal stays and why, that the sum is above the credits, that everything
// is used, that raises wait, that its members are more than its min can be paid for, that it has none. It changes nothing.

import type { Pool, PoolMembers } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import { standingCount, standingSum } from './count.ts'
import { poolFigures } from './figures.ts'
import type { MemberNow, PoolState, PoolTerms } from './state.ts'
import { waitingRaises } from './waits.ts'

/** What is said of one pool, at its credits. `POOL_BOUNDS` is an error: the declaration cannot be kept for those who are in it now. */
export interface PoolNote {
  readonly code: 'POOL_FROZEN' | 'POOL_ABOVE' | 'POOL_USED_UP' | 'POOL_BOUNDS' | 'POOL_NOBODY' | 'POOL_WAITS'
  readonly pool: string
  readonly message: string
  /** The same as long as it says the same, whatever its figures. */
  readonly version: string
  readonly at: Position
}

/** `frozen`: why a pool keeps its last deal, by name. */
export function poolNotes(
  pools: readonly { readonly pool: Pool; readonly members: readonly MemberNow[] }[],
  dealt: Readonly<Record<string, PoolState>>,
  frozen: Readonly<Record<string, string>>,
): readonly PoolNote[] {
  return pools.flatMap(({ pool, members }) => {
    const { name, credits, min, members: asked, at } = pool
    const state = Object.hasOwn(dealt, name) ? dealt[name] : undefined
    const why = Object.hasOwn(frozen, name) ? frozen[name] : undefined
    const note = (code: PoolNote['code'], text: string, version = ''): PoolNote => ({
      code,
      pool: name,
      message: `pool ${name}: ${text}`,
      version,
      at,
    })
    const notes: PoolNote[] = []
    if (members.length === 0 && why === undefined) notes.push(note('POOL_NOBODY', `has no members: ${whoItAsksFor(asked)}`))
    const least = min * members.length
    if (least > credits)
      notes.push(note('POOL_BOUNDS', `cannot pay its min: ${members.length} members at ${min} are ${least} credits, it has ${credits}`))
    if (why !== undefined)
      notes.push(note('POOL_FROZEN', `${state?.dealtAt === undefined ? 'nothing is dealt' : 'the last deal stays'}: ${why}`, why))
    if (!state || state.dealtAt === undefined) return notes
    const { used, isUsedUp } = poolFigures({ credits }, state)
    if (isUsedUp)
      notes.push(
        note('POOL_USED_UP', `${Math.round(used)} of ${credits} credits are used; everybody stays at their use until the next cycle`),
      )
    const above = aboveText(state, credits)
    if (above !== undefined && !isUsedUp) notes.push(note('POOL_ABOVE', above))
    const waiting = waitingTextOf(pool, state)
    if (waiting !== undefined) notes.push(note('POOL_WAITS', waiting))
    return notes
  })
}

const NOBODY = 'no approved person, who is in no other pool,'

function whoItAsksFor(asked: PoolMembers): string {
  if (asked.kind === 'emails') return `${NOBODY} has one of its e-mails`
  if (asked.kind === 'groups') return `${NOBODY} is in ${asked.ids.length === 1 ? 'group' : 'one of the groups'} ${asked.ids.join(', ')}`
  return `${NOBODY} meets its condition in two readings that agree`
}

function aboveText(state: PoolState, credits: number): string | undefined {
  // Who is about to get a first cap stops nothing for long.
  const open = Object.entries(state.members).flatMap(([email, member]) =>
    Number.isFinite(standingCount(member)) || member.dealt !== undefined ? [] : [email],
  )
  const [first] = open
  if (first !== undefined) {
    const who = open.length === 1 ? first : `${open.length} members, ${first} first,`
    return `${who} ${open.length === 1 ? 'has' : 'have'} no known cap in force, so nobody is raised`
  }
  const sum = standingSum(state)
  if (sum <= credits || !Number.isFinite(sum)) return undefined
  return `use and caps come to ${Math.ceil(sum)}, above its ${credits} credits; caps are only lowered, never below use, until they fit`
}

/** So many members are named. */
const NAMED = 3

function waitingTextOf(terms: PoolTerms, state: PoolState): string | undefined {
  const raises = [...waitingRaises(terms, state)]
  const [first] = raises
  if (!first) return undefined
  const named = raises.slice(0, NAMED).map(([email, { to }]) => `${email} to ${to}`)
  const more = raises.length > NAMED ? ` and ${raises.length - NAMED} more` : ''
  const what = raises.length === 1 ? '1 raise waits' : `${raises.length} raises wait`
  return `${what} ${first[1].until}: ${named.join(', ')}${more}`
}
