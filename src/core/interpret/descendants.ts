// What the scopes beneath a team or group show after it was written tells how the deployment treats caps: whether it copied the cap there,
// kept the one that was set, or shows the inherited one. Evidence only; what follows from it is for others.
import type { ScopeChange } from '../model/change.ts'
import type { CapReading, Observed } from '../model/observed.ts'
import { scopeKey } from '../model/scope.ts'
import type { Observation } from './evidence.ts'
import type { ServiceModel } from './service-model.ts'

type AncestorChange = Pick<ScopeChange, 'scope' | 'from' | 'to'>

/** So many scopes beneath a wide write are read to see what it did to them. */
export const MOST_SAMPLED = 5

/**
 * What one scope beneath a wide write proves by what it showed before and shows after; nothing when it could be either. Caps are copied to people:
 * that a group keeps its own beneath the team tells nothing of them.
 */
export function observeDescendant(
  wide: AncestorChange,
  before: CapReading,
  after: CapReading,
  model: ServiceModel,
): Observation | undefined {
  const key = scopeKey(after.scope)
  const wrote = `after ${scopeKey(wide.scope)} was written (${wide.from} to ${wide.to}), ${key}`
  const [was, is] = [before.observed, after.observed]
  if (isOwn(was, wide) && is === wide.to)
    return { aspect: 'caps', value: 'copied', evidence: `${wrote} changed from ${was} to ${is} without a write of its own` }
  const isPerson = after.scope.kind === 'user'
  if (isPerson && isOwn(was, wide) && is === was) return { aspect: 'caps', value: 'layered', evidence: `${wrote} kept its ${was}` }
  if (typeof wide.to === 'number' && was === wide.from && is === wide.to && wide.from !== wide.to)
    return { aspect: 'reads', value: 'inherited', evidence: `${wrote} reads ${is} as well` }
  if (was === 'none' && is === 'none' && typeof wide.to === 'number' && wide.to > 0) {
    if (model.reads === 'explicit')
      return isPerson ? { aspect: 'caps', value: 'layered', evidence: `${wrote} still reads unset` } : undefined
    return { aspect: 'reads', value: 'explicit', evidence: `${wrote} still reads unset` }
  }
  return undefined
}

/** A number of its own, that is neither what the wide scope had nor what it has now. */
const isOwn = (was: Observed, { from, to }: AncestorChange): boolean => typeof was === 'number' && was !== from && was !== to

/** May a wide write have changed what this scope shows? */
export function mayHaveMoved(wide: AncestorChange, before: Observed | undefined, model: ServiceModel): boolean {
  if (!model.layersProven) return true
  if (model.reads === 'explicit') return false
  return before === 'none' || before === wide.from || before === wide.to
}

/** The scopes descendants that can prove most: numbers of their own, and where reads are open, scopes with nothing set. */
export function sampleDescendants(wide: AncestorChange, descendants: readonly CapReading[], model: ServiceModel): readonly CapReading[] {
  const own = peopleFirst(descendants.filter(({ observed }) => isOwn(observed, wide)))
  const unset = peopleFirst(descendants.filter(({ observed }) => observed === 'none'))
  const some = [
    ...own.slice(0, MOST_SAMPLED - 2),
    ...(model.reads === 'explicit' && own[0]?.scope.kind === 'user' ? [] : unset.slice(0, 2)),
  ]
  return some.length > 0 ? some : descendants.slice(0, MOST_SAMPLED)
}

const peopleFirst = (readings: readonly CapReading[]): readonly CapReading[] =>
  readings.toSorted((a, b) => Number(b.scope.kind === 'user') - Number(a.scope.kind === 'user'))
