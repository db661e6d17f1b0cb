// The adversary's own reading of docs/words.md and docs/guards-and-approvals.md: which cap applies to a person, and how many people a change
// affects in which way. Written from these pages alone; must never import from src.
import { approved, type Company } from './company.ts'

/** Caps by scope: `team`, `group:ID` or an e-mail. */
export type State = ReadonlyMap<string, number>
export type Cap = number | 'none'

/** The cap that applies to a person: user before group before team; the lowest of several groups; Infinity without any. */
export function effective(state: State, company: Company, email: string): number {
  const own = state.get(email)
  if (own !== undefined) return own
  const ofGroups = company.groups.filter((g) => g.members.includes(email)).flatMap((g) => state.get(`group:${g.id}`) ?? [])
  if (ofGroups.length > 0) return Math.min(...ofGroups)
  return state.get('team') ?? Number.POSITIVE_INFINITY
}

/** The state after some scopes were set or cleared. */
export function after(state: State, changes: Iterable<readonly [string, Cap]>): State {
  const next = new Map(state)
  for (const [scope, to] of changes) to === 'none' ? next.delete(scope) : next.set(scope, to)
  return next
}

export interface Counts {
  readonly people: number
  readonly lowered: readonly string[]
  readonly blocked: readonly string[]
  readonly cleared: readonly string[]
  /** People for whom the documents leave open whether they count as blocked: raised, and still at or below their use. */
  readonly unsure: number
}

/** The effects of a whole plan on people, each counted once by net effect (docs/guards-and-approvals.md). */
export function countsOf(company: Company, before: State, now: State): Counts {
  const lowered: string[] = []
  const blocked: string[] = []
  const cleared: string[] = []
  let unsure = 0
  const counted = approved(company).filter((p) => !p.disabled)
  for (const p of counted) {
    const was = effective(before, company, p.email)
    const is = effective(now, company, p.email)
    if (was === is) continue
    const use = Math.max(0, p.used - company.creditsPerSeat)
    const blocks = is === 0 || (use > 0 && is <= use)
    if (blocks && is > was) unsure += 1
    else if (blocks) blocked.push(p.email)
    else if (is === Number.POSITIVE_INFINITY) cleared.push(p.email)
    else if (is < was && was !== Number.POSITIVE_INFINITY) lowered.push(p.email)
  }
  return { people: counted.length, lowered, blocked, cleared, unsure }
}

export interface Limits {
  readonly maxAffected: { readonly percent: number; readonly floor: number }
  readonly maxLowered: { readonly percent: number; readonly floor: number }
  readonly maxBlocked: { readonly percent: number; readonly floor: number }
  readonly maxCleared: { readonly percent: number; readonly floor: number }
}

/** The defaults of docs/guards-and-approvals.md. */
export const defaults: Limits = {
  maxAffected: { percent: 25, floor: 5 },
  maxLowered: { percent: 15, floor: 3 },
  maxBlocked: { percent: 2, floor: 3 },
  maxCleared: { percent: 5, floor: 3 },
}

/** Whether a count exceeds a share, which is never below its floor. */
const exceeds = (count: number, people: number, limit: { readonly percent: number; readonly floor: number }): boolean =>
  count > limit.floor && count * 100 > people * limit.percent

/** The guards by share that must hold at this count. */
export function guardsDue(counts: Counts, limits: Limits): readonly (keyof Limits)[] {
  const { lowered, blocked, cleared, people } = counts
  const due: (keyof Limits)[] = []
  if (exceeds(lowered.length + blocked.length + cleared.length, people, limits.maxAffected)) due.push('maxAffected')
  if (exceeds(lowered.length, people, limits.maxLowered)) due.push('maxLowered')
  if (exceeds(blocked.length, people, limits.maxBlocked)) due.push('maxBlocked')
  if (exceeds(cleared.length, people, limits.maxCleared)) due.push('maxCleared')
  return due
}
