import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify } from '../../../src/core/interpret/classify.ts'
import { cap, type PlainCap } from '../../support/declare.ts'

type Verdict = ReturnType<typeof classify>
type Observed = Parameters<typeof classify>[1]['observed']
type Answer = Parameters<typeof classify>[0]['answer']
type Shown = PlainCap | 'unknown'
interface More {
  readonly inherited?: Shown
  readonly reads?: 'explicit' | 'inherited' | 'open'
  readonly zero?: 'stored' | 'omitted' | 'rejected' | 'open'
  readonly wasInVain?: boolean
  readonly isPerson?: boolean
}
const observed = (value: Shown): Observed => (value === 'unknown' ? value : cap(value))
const verdict = (from: PlainCap, to: PlainCap, answer: Answer, shows: Shown, more: More = {}): Verdict => {
  const { inherited = 'none', reads = 'explicit', zero = 'open', wasInVain = false, isPerson = false } = more
  const back: Parameters<typeof classify>[1] = {
    observed: observed(shows),
    mayApply: shows === inherited,
    isPerson,
    model: { reads, zero },
    wasInVain,
  }
  return classify({ from: cap(from), to: cap(to), answer }, back)
}

/** Reads 9 where nothing is set. */
const OPEN: More = { inherited: 9, reads: 'open' }
const PERSON: More = { isPerson: true, reads: 'inherited' }

test.each<readonly [string, PlainCap, PlainCap, Answer, Shown, More, Verdict]>([
  ['that reads as it was written has landed', 5, 6, 'accepted', 6, {}, 'landed'],
  ['that cannot be read is not decided, also where its answer was lost', 5, 6, 'lost', 'unknown', {}, 'unread'],
  ['that was accepted and reads as before has moved nothing yet', 5, 6, 'accepted', 5, {}, 'unmoved'],
  ['whose answer was lost and that reads as before has not landed', 5, 6, 'lost', 5, {}, 'notLanded'],
  ['that reads a third value was overtaken by another client', 5, 6, 'accepted', 7, {}, 'foreign'],
  ['that clears and reads the inherited value has landed', 5, 'none', 'accepted', 9, OPEN, 'landed'],
  ['that clears and reads as before has moved nothing, where that is not inherited', 5, 'none', 'accepted', 5, OPEN, 'unmoved'],
  ['that clears a person has moved nothing yet where the old value shows', 5, 'none', 'accepted', 5, PERSON, 'unmoved'],
  ['that clears a person twice has landed, also where it shows', 5, 'none', 'repeated', 5, { ...PERSON, reads: 'open' }, 'landed'],
  ['that clears a person has landed, whatever shows', 5, 'none', 'accepted', 7, { ...PERSON, reads: 'open' }, 'landed'],
  ['that clears a person was overtaken where reads are explicit', 5, 'none', 'accepted', 7, { isPerson: true }, 'foreign'],
  ['that clears a person was overtaken where its answer was lost', 5, 'none', 'lost', 7, PERSON, 'foreign'],
  ['that clears a person has not landed where its answer was lost and the old value shows', 5, 'none', 'lost', 5, PERSON, 'notLanded'],
  ['that clears and still reads the inherited value has landed where it was accepted', 9, 'none', 'accepted', 9, OPEN, 'landed'],
  ['that clears and still reads the inherited value has not landed where its answer was lost', 9, 'none', 'lost', 9, OPEN, 'notLanded'],
  ['that sets what is inherited anyhow has landed where it was accepted', 'none', 9, 'accepted', 9, OPEN, 'landed'],
  ['that sets what is inherited anyhow has not landed where its answer was lost', 'none', 9, 'lost', 9, OPEN, 'notLanded'],
  ['of 0 that reads as before has moved nothing yet', 5, 0, 'accepted', 5, {}, 'unmoved'],
  ['of 0 that reads unset was dropped, also where 0 was seen to be stored', 5, 0, 'accepted', 'none', { zero: 'stored' }, 'zeroDropped'],
  ['of 0 that reads unset may never have come where its answer was lost', 5, 0, 'lost', 'none', {}, 'notLanded'],
  ['of 0 over nothing that reads unset may be stale where 0 was seen stored', 'none', 0, 'accepted', 'none', { zero: 'stored' }, 'unmoved'],
  ['of 0 over nothing, often sent in vain, was dropped', 'none', 0, 'accepted', 'none', { zero: 'stored', wasInVain: true }, 'zeroDropped'],
  ['of 0 over nothing that reads unset was dropped where no 0 was seen to be stored', 'none', 0, 'accepted', 'none', {}, 'zeroDropped'],
])('a write %s', (_name, from, to, answer, shows, more, expected) => expect(verdict(from, to, answer, shows, more)).toBe(expected))

describe('laws', () => {
  const amount = fc.constantFrom<PlainCap>('none', 0, 5, 6)
  const shown = fc.oneof(amount, fc.constant('unknown' as const))
  const all = fc.record({
    ...{ from: amount, to: amount, answer: fc.constantFrom<Answer>('accepted', 'lost'), shows: shown, inherited: shown },
    ...{ reads: fc.constantFrom('explicit' as const, 'inherited' as const, 'open' as const), wasInVain: fc.boolean() },
    zero: fc.constantFrom('stored' as const, 'omitted' as const, 'rejected' as const, 'open' as const),
  })
  test('what reads as written has landed, and nothing lands that reads something else, but a clearing that shows what is inherited', () => {
    fc.assert(
      fc.property(all, ({ from, to, answer, shows, ...more }) => {
        const hasMoved = shows !== from || answer === 'accepted'
        const isClearing = to === 'none' && more.reads !== 'explicit' && shows === more.inherited && shows !== 'unknown' && hasMoved
        expect(verdict(from, to, answer, shows, more) === 'landed').toBe(shows !== 'unknown' && (shows === to || isClearing))
      }),
    )
  })
  test('the answer only tells a write that did not arrive from one that moved nothing, that was a dropped 0, or that left what is inherited', () => {
    fc.assert(
      fc.property(all, ({ from, to, shows, answer: _, ...more }) => {
        const both = [verdict(from, to, 'accepted', shows, more), verdict(from, to, 'lost', shows, more)]
        const told = ['unmoved', ...(to === 0 ? ['zeroDropped'] : []), ...(to === 'none' ? ['landed'] : [])]
        if (both[0] !== both[1]) expect(told.map((one) => `${one},notLanded`)).toContain(both.join())
      }),
    )
  })
})
