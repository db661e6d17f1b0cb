// The verdict on a write, by its answer and the reading after it. Only a table: the callers decide what follows.
// Below, what it proves of the deployment.
//
//   read back          written    answer      ->
//   -----------------  ---------  ----------  ------------------------------------------------------------
//   not readable       any        any         unread
//   what was written   any        accepted    landed
//   what was written   any        lost        landed; notLanded where nothing was set and the value may be inherited: it showed before, too
//   may be inherited   none       any         landed, unless reads are explicit; where the value has not changed, only if accepted
//   any number         none       accepted    landed for a person, unless reads are explicit: they may be in a group that no policy names;
//                                             where the value has not changed, only if it was sent twice
//   nothing            0          accepted    zeroDropped; unmoved where nothing was set and 0 is known to be stored: the reading may be stale
//   nothing            0          lost        notLanded: the 0 may not be stored, or may never have arrived
//   the old value      any        accepted    unmoved: a stale reading, or a scope that keeps nothing
//   the old value      any        lost        notLanded
//   anything else      any        any         foreign

import type { ScopeChange } from '../model/change.ts'
import type { CapReading, Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { scopeKey } from '../model/scope.ts'
import type { Observation } from './evidence.ts'
import type { ServiceModel } from './service-model.ts'

// What the descendants of a team or group show after a write to it proves how the deployment treats caps: it copied the cap to them, kept
// their own, or shows the inherited one.

type AncestorChange = Pick<ScopeChange, 'scope' | 'from' | 'to'>

/** Up to so many descendants of a written scope are read to observe the effect. */
const MOST_SAMPLED = 5

/**
 * What one descendant proves by its readings before and after a write to the ancestor; nothing when they allow several explanations. Caps
 * are copied to people: a group that keeps its own cap under the team proves nothing about them.
 */
export function observeDescendant(
  ancestor: AncestorChange,
  before: CapReading,
  after: CapReading,
  model: ServiceModel,
): Observation | undefined {
  const key = scopeKey(after.scope)
  const wrote = `after ${scopeKey(ancestor.scope)} was written (${ancestor.from} to ${ancestor.to}), ${key}`
  const [was, is] = [before.observed, after.observed]
  if (isOwn(was, ancestor) && is === ancestor.to)
    return { aspect: 'caps', value: 'copied', evidence: `${wrote} changed from ${was} to ${is} without a write of its own` }
  const isPerson = after.scope.kind === 'user'
  if (isPerson && isOwn(was, ancestor) && is === was) return { aspect: 'caps', value: 'layered', evidence: `${wrote} kept its ${was}` }
  if (typeof ancestor.to === 'number' && was === ancestor.from && is === ancestor.to && ancestor.from !== ancestor.to)
    return { aspect: 'reads', value: 'inherited', evidence: `${wrote} reads ${is} as well` }
  if (was === 'none' && is === 'none' && typeof ancestor.to === 'number' && ancestor.to > 0) {
    const evidence = `${wrote} still reads unset`
    if (model.reads !== 'explicit') return { aspect: 'reads', value: 'explicit', evidence }
    return isPerson ? { aspect: 'caps', value: 'layered', evidence } : undefined
  }
  return undefined
}

/** Whether the scope showed a number of its own: neither the ancestor's old cap nor its new one. */
const isOwn = (was: Observed, { from, to }: AncestorChange): boolean => typeof was === 'number' && was !== from && was !== to

/** Whether a write to the ancestor may have changed what this scope shows. */
export function mayHaveMoved(ancestor: AncestorChange, before: Observed | undefined, model: ServiceModel): boolean {
  if (!model.layersProven) return true
  if (model.reads === 'explicit') return false
  return before === 'none' || before === ancestor.from || before === ancestor.to
}

/** The descendants that can prove most: those with numbers of their own and, where reads are open, those with nothing set or the old cap. */
export function sampleDescendants(
  ancestor: AncestorChange,
  descendants: readonly CapReading[],
  model: ServiceModel,
): readonly CapReading[] {
  const own = peopleFirst(descendants.filter(({ observed }) => isOwn(observed, ancestor)))
  const unset = peopleFirst(descendants.filter(({ observed }) => observed === 'none'))
  // Where reads show what applies nobody has nothing set, and whoever shows the old cap follows the write.
  const isOpen = model.reads === 'open' && own.length > 0 && ancestor.from !== 'none'
  const equal = isOpen ? peopleFirst(descendants.filter(({ observed }) => observed === ancestor.from)) : []
  const needsUnset = model.reads !== 'explicit' || own[0]?.scope.kind !== 'user'
  const sample = [...own.slice(0, MOST_SAMPLED - 2), ...(needsUnset ? [...unset, ...equal].slice(0, 2) : [])]
  return sample.length > 0 ? sample : descendants.slice(0, MOST_SAMPLED)
}

const peopleFirst = (readings: readonly CapReading[]): readonly CapReading[] =>
  readings.toSorted((a, b) => Number(b.scope.kind === 'user') - Number(a.scope.kind === 'user'))

interface Sent {
  readonly from: Cap
  readonly to: Cap
  readonly answer: Answer
}

/** `repeated`: accepted for the second time, because the reading after the first still showed the old value. */
export type Answer = 'accepted' | 'repeated' | 'lost'

interface ReadBack {
  readonly observed: Observed
  /** The observed value may be the one that applies where nothing is set at the scope. */
  readonly mayApply: boolean
  /** A person may also inherit the cap of a group that no policy names. */
  readonly isPerson: boolean
  readonly model: Pick<ServiceModel, 'reads' | 'zero'>
  /** The same write had no effect several times: a reading that contradicts it is not stale. */
  readonly wasInVain: boolean
}

export type Verdict = 'unread' | 'landed' | 'zeroDropped' | 'notLanded' | 'unmoved' | 'foreign'

/** Judges one write by its read-back (docs/operations.md). */
export function classify({ from, to, answer }: Sent, { observed, mayApply, isPerson, model, wasInVain }: ReadBack): Verdict {
  if (observed === 'unknown') return 'unread'
  const mayBeInherited = mayApply && model.reads !== 'explicit'
  // The scope may have shown that value before the write, too.
  if (observed === to && to !== 'none' && from === 'none' && mayBeInherited && answer === 'lost') return 'notLanded'
  if (observed === to) return 'landed'
  if (to === 'none' && mayBeInherited && (observed !== from || answer !== 'lost')) return 'landed'
  const isAnswered = answer === 'repeated' || (answer === 'accepted' && observed !== from)
  if (to === 'none' && isPerson && isAnswered && model.reads !== 'explicit') return 'landed'
  const isHiddenZero = to === 0 && observed === 'none'
  if (observed !== from && !isHiddenZero) return 'foreign'
  if (answer === 'lost') return 'notLanded'
  const mayBeStale = from === 'none' && model.zero === 'stored' && !wasInVain
  return isHiddenZero && !mayBeStale ? 'zeroDropped' : 'unmoved'
}
