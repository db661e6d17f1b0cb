// The verdict on a write, by its answer and the reading after it. Only a table: the callers decide what follows.
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
import type { Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { ServiceModel } from './service-model.ts'

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
