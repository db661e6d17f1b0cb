// What one guard sees in one round, and the few words that all of them are written with. It judges nothing itself.

import type { CountedPerson } from '../../interpret/effective.ts'
import type { GuardCode, GuardSettings, Hold } from '../../model/change.ts'
import type { ScopeKey } from '../../model/scope.ts'
import type { Instant } from '../../model/units.ts'
import type { OpenBreaker } from '../breaker.ts'
import type { Contest } from '../contested.ts'
import type { Difference } from '../diff.ts'
import type { Impact, ImpactInputs } from '../impact.ts'

/** What is known beside the plan itself. */
export interface GuardFacts {
  readonly workspace: string
  /** Approved people now and at the last good read, while the new roster is doubted. */
  readonly rosterDoubt?: { readonly before: number; readonly now: number; readonly since?: Instant }
  /** Declared scopes now, and of the set last verified in enforce mode. */
  readonly declared: number
  readonly verifiedDeclared?: number
  /** Failed reads with a shared cause, and all reads. */
  readonly reads: { readonly failed: number; readonly total: number; readonly teamFailed: boolean; readonly cause?: string }
  /** No roster ever, or none within 24 h: people cannot be counted, nothing is written; without any, whatever is approved. */
  readonly rosterMissing: 'never' | 'old' | 'ahead' | false
  /** Groups whose members were never listed. */
  readonly unlistedGroups?: ReadonlySet<ScopeKey>
  /** The evidence that this service copies team and group caps. */
  readonly copying?: string
  readonly protectedPeople: ReadonlySet<string>
  /** Add-on credits that nobody has used yet; absent while the balance is not known. */
  readonly creditsRemaining?: number
  /** Present while no write is to be tried. */
  readonly breaker?: OpenBreaker
  /** Scopes that others change again and again. */
  readonly contested?: ReadonlyMap<ScopeKey, Contest>
}

export interface GuardInputs {
  readonly differences: readonly Difference[]
  /** Released by approvals: counted, and not held. */
  readonly released: ReadonlySet<ScopeKey>
  /** Those of them that were released since the breaker opened. */
  readonly tryAnyway?: ReadonlySet<ScopeKey>
  readonly impact: ImpactInputs
  readonly facts: GuardFacts
  readonly settings: GuardSettings
  /** Why nothing is going to be written, whatever is approved. */
  readonly idle?: string
  /** SHA-256, for ids. */
  readonly digest: (text: string) => string
  /** An instant for people to read. */
  readonly instantText: (at: Instant) => string
  /** What all differences together do. */
  readonly whole: readonly Impact[]
  /** The same plan as it was before anything of it was released, and what was held then; absent while nothing was. */
  readonly unreleased?: Pick<GuardInputs, 'differences' | 'impact' | 'whole'> & { readonly held: ReadonlySet<ScopeKey> }
}

export interface Judgement {
  readonly holds: readonly Hold[]
  readonly heldBy: ReadonlyMap<ScopeKey, string>
  /** Guards that found something wrong and nothing to hold back. */
  readonly warnings: readonly { readonly guard: GuardCode; readonly message: string }[]
}

/** One guard's finding in one round: the changes it refuses, and why in words without the way out. */
export interface Finding {
  readonly guard: GuardCode
  readonly held: readonly ScopeKey[]
  readonly why: string
  /** Whom it counts, in this round and in those before. */
  readonly counted?: ReadonlySet<CountedPerson>
}

/** What a guard looks at. */
export interface Round {
  readonly inputs: GuardInputs
  readonly active: ReadonlyMap<ScopeKey, Difference>
  readonly impacts: readonly Impact[]
  /**
   * Whom a guard that found too many has counted in the rounds before: they still count when what it holds of them is taken out, as they will when
   * that is released. Else what comes upon them in its place would join their hold only then, and give it another id.
   */
  readonly counted: ReadonlyMap<GuardCode, ReadonlySet<CountedPerson>>
}

/** Undefined when it finds nothing wrong. */
export type Guard = (round: Round) => Finding | undefined

/** An approval has released it. */
export const isReleased = (key: ScopeKey, round: Round): boolean => round.inputs.released.has(key)

/** Every change for which `test` is true, save those that were released or are exempt. */
export function holdWhere(guard: GuardCode, round: Round, why: string, test: (one: Difference) => boolean): Finding {
  const held = [...round.active.values()].filter((one) => test(one) && mayHold(one.key, round, guard)).map((one) => one.key)
  return { guard, held, why }
}

/** Which guards a healing change, and a grant's end, are exempt from (product.md, sections 2 and 5); and what undoes a 0 of ours. */
const HEALING_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise'])
const GRANT_END_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'protected'])

/** The 0 itself was let through, or released, and reached the same people. */
const GIVEN_BACK_EXEMPT: ReadonlySet<GuardCode> = new Set([...HEALING_EXEMPT, 'protected', 'semantics'])

/** Later deals of a pool move within what was judged (product.md, section 2). */
const POOL_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'])

const isExempt = ({ healing, grantEnd, pool, entry, cause }: Difference, guard: GuardCode): boolean =>
  (entry.kind === 'kept' && cause !== 'external' && GIVEN_BACK_EXEMPT.has(guard)) ||
  (healing && HEALING_EXEMPT.has(guard)) ||
  (grantEnd && GRANT_END_EXEMPT.has(guard)) ||
  (pool?.isReviewed === true && POOL_EXEMPT.has(guard))

/** Is the change one that this guard may hold? */
export function mayHold(key: ScopeKey, round: Round, guard: GuardCode): boolean {
  const one = round.active.get(key)
  return one !== undefined && !isReleased(key, round) && !isExempt(one, guard)
}

/**
 * Does this guard count the person? What was released counts, and so does what an interrupted plan has already done: releasing one hold
 * never lets another through.
 */
export const isCounted = ({ changes }: Impact, { active }: Pick<Round, 'active'>, guard: GuardCode): boolean =>
  changes.length === 0 ||
  changes.some((key) => {
    const one = active.get(key)
    return one !== undefined && !isExempt(one, guard)
  })

/** Digits behind the point that tell any two shares of people apart. */
const MOST_DIGITS = 9

/** `15.1 %`: a part that is above a limit in percent, in as few digits as show that it is. */
export function shareAbove(limit: number, part: number, whole: number): string {
  const percent = whole === 0 ? 100 : (part / whole) * 100
  for (let digits = 0; digits < MOST_DIGITS; digits += 1) if (Number(percent.toFixed(digits)) > limit) return `${percent.toFixed(digits)} %`
  return `${percent} %`
}
