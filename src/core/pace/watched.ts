// The risk of each scope: how much the people whose cap it sets could use beyond it before the next reading. A group or the team carries the
// risk of everybody who inherits its cap. reading-order.ts decides the order.
import { type CapAt, type CountedPerson, effectiveCap, type People } from '../interpret/effective.ts'
import { type Scope, type ScopeKey, scopeKey } from '../model/scope.ts'
import type { Credits, Instant } from '../model/units.ts'
import { riskOf, type Watched } from './reading-order.ts'

export interface WatchInputs {
  readonly scopes: readonly Scope[]
  /** When a scope was last read successfully. */
  readonly readAt: (key: ScopeKey) => Instant | undefined
  readonly people: People
  /** Declared caps. */
  readonly declared: CapAt
  /** Credits that a person uses on a working day. */
  readonly pacePerDay: (email: string) => number
  /** What a person had used when the scope that sets their cap was last read, as far as that is remembered. */
  readonly useWhenRead: (email: string) => Credits | undefined
  /** Whether another client changed the scope lately. */
  readonly changedByOthers: (scope: Scope) => boolean
}

/** Every scope with its risk, in the given order. */
export function watchedScopes(inputs: WatchInputs): readonly Watched[] {
  const risks = new Map<ScopeKey, number>()
  const suspects = new Set<ScopeKey>()
  for (const person of inputs.people.approved) {
    const { cap, from } = effectiveCap(person, inputs.declared)
    if (typeof cap !== 'number' || from === undefined) continue
    const risk = riskOf({ pacePerDay: inputs.pacePerDay(person.email), headRoom: cap - person.use })
    risks.set(from, (risks.get(from) ?? 0) + risk)
    if (usesBeyond(person, cap, inputs.useWhenRead(person.email))) suspects.add(from)
  }
  return inputs.scopes.map((scope) => {
    const key = scopeKey(scope)
    const readAt = inputs.readAt(key)
    const isSuspect = suspects.has(key) || inputs.changedByOthers(scope)
    return { key, risk: risks.get(key) ?? 0, ...(readAt !== undefined && { readAt }), ...(isSuspect && { suspect: true }) }
  })
}

/** A cap that holds stops use: a person whose use grew beyond it since it was read must have another cap. */
const usesBeyond = ({ use }: CountedPerson, cap: Credits, whenRead: Credits | undefined): boolean =>
  use > cap && use > (whenRead ?? Number.POSITIVE_INFINITY)
