// What a write was, as the answer and the reading after it tell. A table and nothing else; what follows from it is decided where it is asked.
//
//   read back          written    answer      ->
//   -----------------  ---------  ----------  ------------------------------------------------------------
//   not readable       any        any         unread
//   what was written   any        accepted    landed
//   what was written   any        lost        landed; notLanded over nothing where it may be inherited, for then it showed before, too
//   may be inherited   none       any         landed, unless reads show only what is set at the very scope; where the value has not moved,
//                                             only an accepted answer tells
//   any number         none       accepted    landed for a person where reads show what applies: they may be in a group that no policy names;
//                                             where the value has not moved, only when it was sent twice
//   nothing            0          accepted    zeroDropped; unmoved over nothing where a kept 0 was seen, for then it may be stale
//   nothing            0          lost        notLanded: whether a 0 is kept nobody has seen, and it may never have come
//   the old value      any        accepted    unmoved: a stale reading, or a scope that keeps nothing
//   the old value      any        lost        notLanded
//   anything else      any        any         foreign
import type { Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { ServiceModel } from './service-model.ts'

export interface Sent {
  readonly from: Cap
  readonly to: Cap
  readonly answer: Answer
}

/** `repeated`: accepted, as it was just before, when the reading after it still showed the old value. */
export type Answer = 'accepted' | 'repeated' | 'lost'

export interface ReadBack {
  readonly observed: Observed
  /** It may be what applies where nothing is set at the scope. */
  readonly mayApply: boolean
  /** Something may apply there that nobody knows of: the cap of a group that no policy names. */
  readonly isPerson: boolean
  readonly model: Pick<ServiceModel, 'reads' | 'zero'>
  /** The same write was in vain several times: a reading that contradicts it is not stale any more. */
  readonly wasInVain: boolean
}

export type Verdict = 'unread' | 'landed' | 'zeroDropped' | 'notLanded' | 'unmoved' | 'foreign'

/** Judges one write by its reading back (product.md, section 6). */
export function classify({ from, to, answer }: Sent, { observed, mayApply, isPerson, model, wasInVain }: ReadBack): Verdict {
  if (observed === 'unknown') return 'unread'
  const mayBeInherited = mayApply && model.reads !== 'explicit'
  // It showed that value before, too.
  if (observed === to && to !== 'none' && from === 'none' && mayBeInherited && answer === 'lost') return 'notLanded'
  if (observed === to) return 'landed'
  if (to === 'none' && mayBeInherited && (observed !== from || answer !== 'lost')) return 'landed'
  const isAnswered = answer === 'repeated' || (answer === 'accepted' && observed !== from)
  if (to === 'none' && isPerson && isAnswered && model.reads === 'inherited') return 'landed'
  const isHiddenZero = to === 0 && observed === 'none'
  if (observed !== from && !isHiddenZero) return 'foreign'
  if (answer === 'lost') return 'notLanded'
  const mayBeStale = from === 'none' && model.zero === 'stored' && !wasInVain
  return isHiddenZero && !mayBeStale ? 'zeroDropped' : 'unmoved'
}
