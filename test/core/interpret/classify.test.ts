import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify } from '../../../src/core/interpret/classify.ts'
import type { Observed } from '../../../src/core/model/observed.ts'
import { cap, type PlainCap } from '../../support/declare.ts'

type Verdict = ReturnType<typeof classify>

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

describe('a write', () => {
  test.each<readonly [string, PlainCap, PlainCap, Answer, Shown, More, Verdict]>([
    ['that reads as it was written has landed', 5, 6, 'accepted', 6, {}, 'landed'],
    ['whose answer was lost has landed when it reads as written', 5, 6, 'lost', 6, {}, 'landed'],
    ['that cannot be read is not decided', 5, 6, 'accepted', 'unknown', {}, 'unread'],
    ['whose answer was lost and that cannot be read is not decided', 5, 6, 'lost', 'unknown', {}, 'unread'],
    ['whose answer was lost and that reads as before has not landed', 5, 6, 'lost', 5, {}, 'notLanded'],
    ['that was accepted and reads as before has moved nothing yet', 5, 6, 'accepted', 5, {}, 'unmoved'],
    ['that reads a third value was overtaken by another client', 5, 6, 'accepted', 7, {}, 'foreign'],
    ['that reads a third value was overtaken, also when its answer was lost', 5, 6, 'lost', 7, {}, 'foreign'],
    ['that reads unset where a cap was set and another written was overtaken', 5, 6, 'accepted', 'none', {}, 'foreign'],
    ['that clears and reads unset has landed', 5, 'none', 'accepted', 'none', {}, 'landed'],
    [
      'that clears and reads the inherited value has landed where reads show inherited caps',
      5,
      'none',
      'accepted',
      9,
      { inherited: 9, reads: 'inherited' },
      'landed',
    ],
    [
      'that clears and reads the inherited value has landed while reads are open',
      5,
      'none',
      'accepted',
      9,
      { inherited: 9, reads: 'open' },
      'landed',
    ],
    [
      'that clears and reads the inherited value was overtaken where reads are explicit',
      5,
      'none',
      'accepted',
      9,
      { inherited: 9 },
      'foreign',
    ],
    [
      'that clears and reads as before has moved nothing, where that is not the inherited value',
      5,
      'none',
      'accepted',
      5,
      { inherited: 9, reads: 'open' },
      'unmoved',
    ],
    ...(
      [
        ['that clears a person has landed, whatever shows, where reads show inherited caps', 'accepted', 7, 'inherited', 'landed'],
        ['that clears a person has moved nothing yet where the old value shows', 'accepted', 5, 'inherited', 'unmoved'],
        ['that clears a person twice has landed, also where the old value shows', 'repeated', 5, 'inherited', 'landed'],
        ['that clears a person twice has moved nothing where reads are explicit', 'repeated', 5, 'explicit', 'unmoved'],
        ['that clears a person has landed, whatever shows, while reads are open', 'accepted', 7, 'open', 'landed'],
        ['that clears a person twice has landed, also where the old value shows while reads are open', 'repeated', 5, 'open', 'landed'],
        ['that clears a person was overtaken where reads are explicit', 'accepted', 7, 'explicit', 'foreign'],
        ['that clears a person was overtaken where its answer was lost', 'lost', 7, 'inherited', 'foreign'],
        ['that clears a person has not landed where the old value shows and its answer was lost', 'lost', 5, 'inherited', 'notLanded'],
      ] as const
    ).map(([title, answer, shows, reads, is]) => [title, 5, 'none', answer, shows, { reads, isPerson: true }, is] as const),
    [
      'that clears and still reads the inherited value, as before, has landed where it was accepted',
      9,
      'none',
      'accepted',
      9,
      { inherited: 9, reads: 'open' },
      'landed',
    ],
    [
      'that clears and still reads the inherited value, as before, has not landed where its answer was lost',
      9,
      'none',
      'lost',
      9,
      { inherited: 9, reads: 'open' },
      'notLanded',
    ],
    [
      'that sets what is inherited anyhow has landed where it was accepted',
      'none',
      9,
      'accepted',
      9,
      { inherited: 9, reads: 'open' },
      'landed',
    ],
    [
      'that sets what is inherited anyhow has not landed, as far as anybody can tell, where its answer was lost',
      'none',
      9,
      'lost',
      9,
      { inherited: 9, reads: 'open' },
      'notLanded',
    ],
    ['that sets what is inherited anyhow has landed where reads are explicit', 'none', 9, 'lost', 9, { inherited: 9 }, 'landed'],
    [
      'that sets and reads the inherited value has not landed by that',
      5,
      6,
      'accepted',
      9,
      { inherited: 9, reads: 'inherited' },
      'foreign',
    ],
    ['of 0 that reads 0 has landed', 5, 0, 'accepted', 0, {}, 'landed'],
    ['of 0 that reads as before has moved nothing yet', 5, 0, 'accepted', 5, {}, 'unmoved'],
    ['of 0 that reads unset was dropped', 5, 0, 'accepted', 'none', {}, 'zeroDropped'],
    ['of 0 that reads unset is not dropped where its answer was lost: it may never have come', 5, 0, 'lost', 'none', {}, 'notLanded'],
    ['of 0 over nothing whose answer was lost may not have landed either', 'none', 0, 'lost', 'none', {}, 'notLanded'],
    [
      'of 0 whose answer was lost may not have landed where a 0 was seen to be dropped',
      5,
      0,
      'lost',
      'none',
      { zero: 'omitted' },
      'notLanded',
    ],
    [
      'of 0 over a cap that reads unset was dropped, also where 0 was seen to be stored',
      5,
      0,
      'accepted',
      'none',
      { zero: 'stored' },
      'zeroDropped',
    ],
    [
      'of 0 over nothing that reads unset may be stale where 0 was seen to be stored',
      'none',
      0,
      'accepted',
      'none',
      { zero: 'stored' },
      'unmoved',
    ],
    [
      'of 0 over nothing whose answer was lost may not have landed where 0 is stored',
      'none',
      0,
      'lost',
      'none',
      { zero: 'stored' },
      'notLanded',
    ],
    [
      'of 0 over nothing that was in vain several times was dropped',
      'none',
      0,
      'accepted',
      'none',
      { zero: 'stored', wasInVain: true },
      'zeroDropped',
    ],
    [
      'of 0 over nothing that reads unset was dropped where no 0 was observed to be stored',
      'none',
      0,
      'accepted',
      'none',
      {},
      'zeroDropped',
    ],
  ])('%s', (_name, from, to, answer, shows, more, expected) => expect(verdict(from, to, answer, shows, more)).toBe(expected))
})

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
  test('no other client is blamed for a value that was set before, or is not known', () => {
    fc.assert(
      fc.property(all, ({ from, to, answer, shows, ...more }) => {
        if (verdict(from, to, answer, shows, more) === 'foreign') expect([from, to, 'unknown']).not.toContain(shows)
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
