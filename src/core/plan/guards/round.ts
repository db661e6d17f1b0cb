// The input and output of one guard in one round, and the helpers that all guards share. It judges nothing itself.

import { type CapAt, type CountedPerson, TEAM_KEY } from '../../interpret/effective.ts'
import type { Slots } from '../../interpret/slots.ts'
import type { GuardCode } from '../../model/change.ts'
import type { PolicyEntry } from '../../model/policy.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import type { DesiredCap } from '../../resolve/desired.ts'
import { type Impact, type ImpactInputs, impactOn, isFree } from '../impact.ts'
import type { Contest, Difference, Snapshot } from '../snapshot.ts'

/** What the changes of a plan are judged by. */
export interface JudgementInputs extends Snapshot {
  /** In the order of scopes, with the clears that they may reveal. */
  readonly differences: readonly Difference[]
  readonly impact: ImpactInputs
  /** The impact of all differences together. */
  readonly whole: readonly Impact[]
  readonly slots: Slots
  readonly inSync: readonly DesiredCap[]
  /** Scopes that another client keeps changing. */
  readonly contested: ReadonlyMap<ScopeKey, Contest>
}

/** One judgement. `guards` are those of the rules that it is made by. */
export interface GuardInputs extends JudgementInputs {
  readonly protectedEmails: readonly string[]
  /** Changes that approvals have released: they are counted, and not held. */
  readonly released: ReadonlySet<ScopeKey>
  /** Those that were released since the breaker opened. */
  readonly tryAnyway: ReadonlySet<ScopeKey>
  /** Absent where nothing is held since an earlier judgement. */
  readonly unreleased?: Unreleased
}

/** The plan as it was before any release. */
export interface Unreleased extends Pick<GuardInputs, 'differences' | 'impact' | 'whole' | 'released'> {
  /** The changes that were held then and are not released. */
  readonly held: ReadonlySet<ScopeKey>
  /** Those that were released since, landed or not. */
  readonly freed: ReadonlySet<ScopeKey>
}

/** One guard's finding in one round: the changes to hold, and why, without the way out. */
export interface Finding {
  readonly guard: GuardCode
  readonly held: readonly ScopeKey[]
  readonly why: string
  /** Command lines that change what it goes by. */
  readonly edits?: readonly string[]
  /** The people it counts, in this round and in earlier ones. */
  readonly counted?: ReadonlySet<CountedPerson>
}

/** What a guard judges. */
export interface Round {
  readonly inputs: GuardInputs
  readonly active: ReadonlyMap<ScopeKey, Difference>
  readonly impacts: readonly Impact[]
  /**
   * The people whom each guard over its limit has counted in earlier rounds. They still count though their held changes are taken out:
   * otherwise another change that affects them instead would join the hold only after its release, under another id.
   */
  readonly counted: ReadonlyMap<GuardCode, ReadonlySet<CountedPerson>>
}

/** Returns undefined when it finds nothing wrong. */
export type Guard = (round: Round) => Finding | undefined

/** What a scope's cap comes from: what is not declared any more came from what owns it. */
export const originAt = (key: ScopeKey, kind: PolicyEntry['kind'], { owned }: Pick<GuardInputs, 'owned'>) =>
  kind === 'undeclared' ? owned.get(key)?.owner : kind

/** The groups of these whose caps a person's change follows from: by the conflict rule, as a copy, or as what a grant adds to. */
export function groupsBehind({ key, entry }: Difference, inputs: GuardInputs, isAmong: (group: ScopeKey) => boolean): readonly ScopeKey[] {
  const { people, model, policy } = inputs
  const groups = (people.byKey.get(key)?.groups ?? []).filter(isAmong)
  if (groups.length === 0) return groups
  const isAt = (one: { readonly scope: Scope }): boolean => scopeKey(one.scope) === key
  const isAdding = (): boolean => policy.set.grants.some((one) => one.amount.kind === 'add' && isAt(one)) && !policy.set.rules.some(isAt)
  const origin = originAt(key, entry.kind, inputs)
  const isCopied = origin === 'copied' || (model.layers === 'copied' && 'cap' in entry && entry.cap === 'none')
  return isCopied || origin === 'conflict' || (origin === 'grant' && isAdding()) ? groups : []
}

export const isReleased = (key: ScopeKey, round: Round): boolean => round.inputs.released.has(key)

/** Holds every change for which `test` is true and that is neither released nor exempt. */
export function holdWhere(guard: GuardCode, round: Round, why: string, test: (one: Difference) => boolean): Finding {
  const held = [...round.active.values()].filter((one) => test(one) && mayHold(one.key, round, guard)).map((one) => one.key)
  return { guard, held, why }
}

/** The guards that a revert and a grant's end are exempt from (docs/guards-and-approvals.md). Neither follows from the people file. */
const HEALING_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxRaise', 'directoryShrink'])
const GRANT_END_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'protected', 'directoryShrink'])

/** The same for restoring the cap before a 0 that was not stored: the 0 itself was judged, and affects the same people. */
const RESTORE_EXEMPT: ReadonlySet<GuardCode> = new Set([...HEALING_EXEMPT, 'protected', 'semantics'])

/** Later deals of a pool stay within the deal that was judged (docs/policies.md). */
const POOL_EXEMPT: ReadonlySet<GuardCode> = new Set(['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'])

const isExempt = ({ healing, grantEnd, pool, entry, cause }: Difference, guard: GuardCode): boolean =>
  (entry.kind === 'kept' && cause !== 'external' && RESTORE_EXEMPT.has(guard)) ||
  (healing && HEALING_EXEMPT.has(guard)) ||
  (grantEnd && GRANT_END_EXEMPT.has(guard)) ||
  (pool?.isReviewed === true && POOL_EXEMPT.has(guard))

/** Whether this guard may hold the change. */
export function mayHold(key: ScopeKey, round: Round, guard: GuardCode): boolean {
  const one = round.active.get(key)
  return one !== undefined && !isReleased(key, round) && !isExempt(one, guard)
}

/**
 * Whether this guard counts the person. Released changes count, as do those that an interrupted plan has made already: releasing one hold
 * must never let another through.
 */
export const isCounted = (impact: Impact, round: Planned, guard: GuardCode): boolean =>
  impact.changes.length === 0 ||
  (impact.changes.some((key) => {
    const one = round.active.get(key)
    return one !== undefined && !isExempt(one, guard)
  }) &&
    !(GRANT_END_EXEMPT.has(guard) && isOnlyGivenBack(impact.person, round)))

/** A plan's changes, and what they are counted by. */
interface Planned extends Pick<Round, 'active'> {
  readonly inputs: Pick<GuardInputs, 'impact'>
}

/** Whether a grant that ends takes from the person, and the other changes take nothing from what they have after it. */
function isOnlyGivenBack(person: CountedPerson, { active, inputs: { impact } }: Planned): boolean {
  const chain = [person.key, ...person.groups, TEAM_KEY].flatMap((key) => active.get(key) ?? [])
  if (!chain.some(({ grantEnd }) => grantEnd)) return false
  const ends = byScope(chain.filter(({ grantEnd }) => grantEnd))
  const others = byScope(chain.filter(({ grantEnd }) => !grantEnd))
  const readings: CapAt = (key) => ends.get(key)?.to ?? impact.readings(key)
  return impactOn([person], others, { ...impact, readings }).every(({ effect }) => isFree(effect))
}

const MOST_DIGITS = 9

/** `15.1 %`: a share above a limit, with as few digits as show that it is above. */
export function shareAbove(limit: number, part: number, whole: number): string {
  const percent = whole === 0 ? 100 : (part / whole) * 100
  for (let digits = 0; digits < MOST_DIGITS; digits += 1) if (Number(percent.toFixed(digits)) > limit) return `${percent.toFixed(digits)} %`
  return `${percent} %`
}
