// The four guards that count people of a class: affected, lowered, blocked, cleared. A share with a floor is the limit.
import type { ShareLimit } from '../../model/change.ts'
import type { ScopeKey } from '../../model/scope.ts'
import type { AddOnSource } from '../../use/add-on.ts'
import type { NetEffect } from '../impact.ts'
import { type Guard, isCounted, mayHold, type Round, shareAbove } from './round.ts'

export type ShareGuard = 'maxAffected' | 'maxLowered' | 'maxBlocked' | 'maxCleared'

/** The effects that each of them counts. */
export const CLASSES: Record<ShareGuard, { readonly effects: ReadonlySet<NetEffect>; readonly words: string }> = {
  maxAffected: { effects: new Set(['lowered', 'blocked', 'cleared']), words: 'would be lowered, blocked or cleared' },
  maxLowered: { effects: new Set(['lowered']), words: 'would be lowered' },
  maxBlocked: { effects: new Set(['blocked']), words: 'would be blocked, by a cap of 0 or one at or below their use' },
  maxCleared: { effects: new Set(['cleared']), words: 'would be left without any cap' },
}

/** Counts people of a class, and holds all changes of the class when they are too many. */
export const shareGuard =
  (guard: ShareGuard): Guard =>
  (round) => {
    const limit = round.inputs.settings[guard]
    if (limit === 'off') return undefined
    const { effects, words } = CLASSES[guard]
    const judged = round.impacts.filter((one) => effects.has(one.effect) && isCounted(one, round, guard))
    const total = round.inputs.impact.people.total
    const allowed = allowance(limit, total)
    const teamClear = guard === 'maxCleared' ? teamWideClear(round) : undefined
    const counted = new Set([...(round.counted.get(guard) ?? []), ...judged.map(({ person }) => person)])
    if (counted.size <= allowed && !teamClear) return undefined
    const held = new Set(judged.flatMap((one) => one.changes).filter((key) => mayHold(key, round, guard)))
    if (teamClear) held.add(teamClear)
    const why =
      counted.size > allowed
        ? `${counted.size} of ${total} people ${words} (${shareAbove(limit.percent, counted.size, total)}), the limit is ${limitText(limit, total)}${sourceText(guard, round)}`
        : 'the team cap would be cleared'
    return { guard, held: [...held], why, ...(counted.size > allowed && { counted }) }
  }

/** Without the balance the credits that a seat includes are not known, so all use counts, and more people seem blocked than are. */
const SOURCE_TEXT: Readonly<Record<AddOnSource, string>> = {
  measured: ' (use is measured)',
  estimated: '',
  upperBound: ' (use is an upper bound while the balance is unknown)',
}

const sourceText = (guard: ShareGuard, round: Round): string =>
  guard === 'maxBlocked' ? SOURCE_TEXT[round.inputs.impact.people.useSource] : ''

const teamWideClear = (round: Round): ScopeKey | undefined =>
  [...round.active.values()].find((one) => one.scope.kind === 'team' && one.to === 'none' && mayHold(one.key, round, 'maxCleared'))?.key

/** A share with a floor, in people. */
export const allowance = (limit: ShareLimit, total: number): number => Math.max(limit.floor, (limit.percent * total) / 100)

const limitText = (limit: ShareLimit, total: number): string =>
  (limit.percent * total) / 100 >= limit.floor ? `${limit.percent} %` : `${limit.floor} people`
