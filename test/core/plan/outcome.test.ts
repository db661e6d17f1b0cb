// What a write comes to: the verdict on it, how it may have ended, and what the ledger remembers of the scope after it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify, isInDoubt, mayHaveLanded, ownedFrom, setBefore, withTried } from '../../../src/core/plan/outcome.ts'
import { cap, DAY, email, entryOf, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

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
  readonly isAsked?: boolean
}
const observed = (value: Shown): Observed => (value === 'unknown' ? value : cap(value))
const verdict = (from: PlainCap, to: PlainCap, answer: Answer, shows: Shown, more: More = {}): Verdict => {
  const { inherited = 'none', reads = 'explicit', zero = 'open', wasInVain = false, isPerson = false, isAsked = true } = more
  const back: Parameters<typeof classify>[1] = {
    observed: observed(shows),
    mayApply: shows === inherited,
    isPerson,
    isAsked,
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
  ['that clears a person may have been overtaken where another value shows', 5, 'none', 'accepted', 7, PERSON, 'foreign'],
  ['that clears what nobody asks for has landed, whatever shows', 5, 'none', 'accepted', 7, { ...PERSON, isAsked: false }, 'landed'],
  ['that clears a person twice has landed, whatever shows', 5, 'none', 'repeated', 7, { ...PERSON, reads: 'open' }, 'landed'],
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

test.each<readonly [string, Parameters<typeof isInDoubt>[0], { readonly landed: boolean; readonly doubted: boolean }]>([
  ['that was read back has landed without doubt', { result: 'applied' }, { landed: true, doubted: false }],
  ['whose answer was lost may land yet', { result: 'ambiguous' }, { landed: true, doubted: true }],
  ['that did not read back may show later', { result: 'verify_failed' }, { landed: true, doubted: true }],
  ['that the service refused left nothing behind', { result: 'failed' }, { landed: false, doubted: false }],
  ['that failed on the word of a reading that may be too early', { result: 'failed', unproven: true }, { landed: true, doubted: true }],
  ['that was never sent left nothing behind', { result: 'skipped' }, { landed: false, doubted: false }],
])('a write: %s', (_name, end, { landed, doubted }) => expect([mayHaveLanded(end), isInDoubt(end)]).toEqual([landed, doubted]))

describe('a write that did not read back', () => {
  const [ada] = ownedCaps({ ada: { cap: 500, owner: 'grant', baseline: 300 } }).values()
  const before = { ...(ada ?? expect.unreachable()), written: true }

  test('is remembered beside what was verified, which stays as it was', () =>
    expect(withTried(before, cap(900), false)).toEqual({ ...before, tried: cap(900) }))
  test('for a grant is remembered as one, so that it is given back when the grant is over', () =>
    expect(withTried(before, cap(900), true)).toEqual({ ...before, tried: cap(900), triedByGrant: true }))
  test('takes the place of what was tried before it, and of who asked for that', () =>
    expect(withTried(withTried(before, cap(900), true), cap(700), false)).toEqual({ ...before, tried: cap(700) }))
})

const running = { on: 'p0', cap: 6000, until: NOW + 9 * DAY }
const granted = (more: Partial<OwnedSketch> = {}): OwnedSketch => ({ cap: 6000, owner: 'grant', grant: running, ...more })
const OPEN_READS = { readsExplicit: false }

describe('what the ledger is to remember', () => {
  const desired = (sketch: PlanSketch) => {
    const [one] = planInputs(sketch).resolution.desired
    if (!one) throw new Error('nothing is asked')
    return one
  }
  const rule = desired({ caps: { p0: 500 } })
  const grant = desired({ grants: [running] })
  const based = desired({ caps: { p0: 500 }, grants: [running] })
  const ledger = (one: OwnedSketch) => ownedCaps({ p0: one }).values().next().value
  const id = ledger(granted())?.grant
  const ofRule = { cap: 500, owner: 'policy', entry: entryOf('cap', 500) }
  const ofGrant = (baseline: PlainCap, more: object = {}) => ({
    ...{ cap: 6000, owner: 'grant', entry: entryOf('grant', 6000), grant: id, baseline },
    ...more,
  })
  const OURS = { baselineIsOurs: true }
  const NEW = { baselineIsOurs: true, baselineIsNew: true }

  test.each<readonly [string, Parameters<typeof ownedFrom>[0], OwnedSketch | undefined, PlainCap, object]>([
    ['of a rule: no base', rule, undefined, 9, ofRule],
    ['of a grant over a rule: the rule’s cap as ours, for the rule may go', based, { cap: 500 }, 9, ofGrant(500, OURS)],
    ['of a grant over a rule whose cap was found there: the same', based, undefined, 500, ofGrant(500, OURS)],
    ['of a grant over a rule whose cap was never there: that it was not', based, undefined, 9, ofGrant(500, NEW)],
    ['of a grant under which a rule comes: the same', based, granted({ baseline: 7, more: OURS }), 6000, ofGrant(500, NEW)],
    ['of a grant after one over the same rule: the same', based, granted({ baseline: 500, more: NEW }), 6000, ofGrant(500, NEW)],
    ['of a grant over what was tried: that it was ours as well', grant, { cap: 8, tried: 9 }, 9, ofGrant(9, OURS)],
    [
      'of a grant that was found in place, where we knew of another cap of ours: that one',
      ...([grant, { cap: 500, tried: 6000 }, 6000, ofGrant(500, OURS)] as const),
    ],
    ['of a grant over a foreign change of a cap of ours: the foreign cap', grant, { cap: 500 }, 9, ofGrant(9)],
    ['of a grant after a grant without a base: nothing comes back', grant, granted(), 9, ofGrant('none')],
    ['of a grant after a grant over what was ours: that it was', grant, granted({ baseline: 7, more: OURS }), 9, ofGrant(7, OURS)],
    [
      'of what stays in place of a grant’s 0 that is not kept: that very cap, for it stood there before',
      { ...grant, cap: 7 as never, entry: entryOf('kept', 7) },
      ...([undefined, 'none', { ...ofGrant(7), cap: 7, entry: entryOf('kept', 7) }] as const),
    ],
    ['of a cap that a write of ours has set: that it did', rule, { cap: 500, more: { written: true } }, 500, { ...ofRule, written: true }],
    ['of a cap that is found where a write of ours had set another: no write', rule, { cap: 400, more: { written: true } }, 500, ofRule],
  ])('%s', (_name, one, owned, before, expected) =>
    expect(ownedFrom(one, owned && ledger(owned), cap(before), NOW)).toStrictEqual({ scope: scope('p0'), verifiedAt: NOW, ...expected }),
  )

  test('a cap that is only inherited, or was copied, was not set', () => {
    const was = (value: PlainCap, wider: PlainCap, more: PlanSketch = OPEN_READS) =>
      setBefore(cap(value), planOf({ observed: { p0: value, team: wider }, ...more }).slots, email('p0') as never)
    expect([was(5, 5), was(5, 6), was('none', 'none'), was(5, 5, {})]).toEqual(['none', 5, 'none', 5])
    expect([was(5, 5, { capSemantics: 'copied' }), was(5, 6, { capSemantics: 'copied' })]).toEqual(['none', 5])
  })
})
