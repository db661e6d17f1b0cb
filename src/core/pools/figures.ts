// What is shown of a pool: credits, used, dealt, when it is expected to run out, and one person's deal in words. It decides nothing.

import type { Instant } from '../model/units.ts'
import { fullSum, isDealt, paidSum, paidUse } from './count.ts'
import { exhaustionAt, ownPace, poolPace } from './pace.ts'
import { memberOf, type PoolState, type PoolTerms } from './state.ts'

export interface PoolFigures {
  /** When the use was read. */
  readonly readAt: Instant
  readonly credits: number
  /** Of the credits, by members and by those who left. */
  readonly used: number
  /** The sum that is kept within the credits (`fullSum`). Absent while somebody counts at no cap. */
  readonly dealt?: number
  /** When the credits are expected to be used up; absent when not within the cycle. */
  readonly exhaustedAt?: Instant
  readonly members: number
  /** Everything is used: everybody is at their use. */
  readonly isUsedUp: boolean
}

/** The figures as of the last reading. */
export function poolFigures({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState): PoolFigures {
  const used = paidSum(state)
  const dealt = fullSum(state)
  const staying = Object.entries(state.members).filter(([, { left }]) => !left)
  const total = staying.reduce((sum, [, { use = 0 }]) => sum + use, 0)
  const average = poolPace(total, staying.length, state.cycle, state.readAt)
  const pace = total === 0 ? 0 : staying.reduce((sum, [, { use = 0 }]) => sum + ownPace(average, use), 0)
  const exhaustedAt = exhaustionAt(credits - used, pace, state.readAt, state.cycle.endAt)
  return {
    readAt: state.readAt,
    credits,
    used,
    ...(Number.isFinite(dealt) && { dealt }),
    ...(exhaustedAt !== undefined && { exhaustedAt }),
    members: staying.length,
    // The rest is less than one credit for each member.
    isUsedUp: credits - used < Math.max(1, staying.filter(([, member]) => isDealt(member)).length),
  }
}

const amount = (credits: number): string => String(Math.round(credits * 100) / 100)

/** The deal of a pool for one person, as `explain` shows it; `instantText` writes an instant for people. */
export function dealLines(
  name: string,
  terms: PoolTerms,
  state: PoolState,
  email: string,
  instantText: (at: Instant) => string,
): readonly string[] {
  const { credits, used, dealt, exhaustedAt, members } = poolFigures(terms, state)
  const member = memberOf(state, email)
  const within = `${terms.min > 0 ? `, at least ${terms.min}` : ''}${terms.max === undefined ? '' : `, at most ${terms.max}`}`
  const lines = [
    `pool ${name}: ${credits} credits for ${members} ${members === 1 ? 'member' : 'members'}, ${terms.share === 'equal' ? 'the same head-room for everybody' : 'by need'}${within}`,
    `used ${amount(used)}, counted at ${dealt === undefined ? 'more than the credits: a member has no known cap, or had none lately' : amount(dealt)}`,
  ]
  if (state.dealtAt !== undefined) lines.push(`dealt ${instantText(state.dealtAt)}, use read ${instantText(state.readAt)}`)
  if (exhaustedAt !== undefined) lines.push(`expected to be used up ${instantText(exhaustedAt)}`)
  if (!member) return lines
  const own = [
    ...(member.use === undefined ? [] : [`used ${amount(paidUse(member))} of it`]),
    ...(member.base > 0 ? [`joined at a use of ${amount(member.base)}`] : []),
    ...(member.dealt === undefined ? [] : [`dealt ${member.dealt}`]),
    ...(member.fixed === undefined ? [] : [`own cap ${member.fixed}, dealt first`]),
    ...(member.protected ? ['not dealt, counts at the cap in force'] : []),
    ...member.lowered.map(({ cap, at }) => `counts at ${cap === 'none' ? 'no cap' : cap} until use up to ${instantText(at)} shows`),
    ...member.sent.map(({ cap, at }) => `${cap} sent ${instantText(at)} may still land`),
  ]
  return [...lines, `${email}: ${own.join(', ')}`]
}
