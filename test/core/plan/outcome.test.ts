// What a write comes to: the verdict on it, how it may have ended, and what the ledger remembers of the scope after it. `vitest run -u` on this file
// alone writes what came of the entries into the tables of outcome/, for review as a change of text.
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterEnd,
  classify,
  isInDoubt,
  mayHaveLanded,
  ownedFrom,
  setBefore,
  stillToLand,
  withTried,
} from '../../../src/core/plan/outcome.ts'
import { cap, email, entryOf, NOW, type OwnedSketch, ownedCaps, type PlainCap, scope } from '../../support/declare.ts'
import { type PlanSketch, planInputs, planOf } from '../../support/plan.ts'
import { playTables, recordTold } from '../../support/tables.ts'

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

interface Part extends More, PlanSketch {
  readonly from?: PlainCap
  readonly to?: PlainCap
  readonly answer?: Answer
  readonly shows?: Shown
  /** What is ours at p0. */
  readonly ours?: OwnedSketch
  /** What was found there before our write, and what stays there in place of a 0. */
  readonly before?: PlainCap
  readonly kept?: number
  /** What is left there once a cap of ours has ended. */
  readonly left?: PlainCap
  /** The writes of p0, newest first. */
  readonly sent?: ReturnType<Parameters<typeof stillToLand>[1]>
}

function told({ from = 'none', to = 'none', answer, shows = 'none', ours, before, kept, left, sent, ...more }: Part): string {
  if (answer) return verdict(from, to, answer, shows, more)
  const owned = ours && ownedCaps({ p0: ours }).get(email('p0') as never)
  if (left !== undefined) return recorded(afterEnd(cap(left), owned, NOW))
  const lately = (_scope: unknown, since: number) => (sent ?? []).filter(({ at }) => at >= since)
  if (sent) return recorded(stillToLand({ scope: scope('p0'), ...owned }, lately, { zero: more.zero ?? 'open' }, NOW))
  const [desired] = planInputs(more).resolution.desired
  const instead = kept !== undefined && { cap: cap(kept), entry: entryOf('kept', kept) }
  return recorded(ownedFrom({ ...(desired ?? expect.unreachable()), ...instead }, owned, cap(before ?? 'none'), NOW))
}
const recorded = (one: ReturnType<typeof afterEnd> | undefined): string => (typeof one === 'object' ? recordTold(one) : 'nothing')

playTables<Part>(join(import.meta.dirname, 'outcome'), (part) => [[told(part)]])

describe('laws', () => {
  const amount = fc.constantFrom<PlainCap>('none', 0, 5, 6)
  const shown = fc.oneof(amount, fc.constant('unknown' as const))
  const all = fc.record({
    ...{ from: amount, to: amount, answer: fc.constantFrom<Answer>('accepted', 'lost'), shows: shown, inherited: shown },
    ...{ reads: fc.constantFrom('explicit' as const, 'inherited' as const, 'open' as const), wasInVain: fc.boolean() },
    zero: fc.constantFrom('stored' as const, 'omitted' as const, 'rejected' as const, 'open' as const),
  })
  test('what reads as written has landed, if it did not so before, and nothing else but a clearing that shows what is inherited', () => {
    fc.assert(
      fc.property(all, ({ from, to, answer, shows, ...more }) => {
        const hasMoved = shows !== from || answer === 'accepted'
        const isClearing = to === 'none' && more.reads !== 'explicit' && shows === more.inherited && shows !== 'unknown' && hasMoved
        const isOld = from === 'none' && to !== 'none' && shows === more.inherited && more.reads !== 'explicit' && answer === 'lost'
        expect(verdict(from, to, answer, shows, more) === 'landed').toBe(shows !== 'unknown' && ((shows === to && !isOld) || isClearing))
      }),
    )
  })
  test('the answer only tells a write that did not arrive from one that moved nothing, that was a dropped 0, or that shows what is inherited', () => {
    fc.assert(
      fc.property(all, ({ from, to, shows, answer: _, ...more }) => {
        const both = [verdict(from, to, 'accepted', shows, more), verdict(from, to, 'lost', shows, more)]
        const mayShow = to === 'none' || (from === 'none' && shows === more.inherited)
        const known = ['unmoved', ...(to === 0 ? ['zeroDropped'] : []), ...(mayShow ? ['landed'] : [])]
        if (both[0] !== both[1]) expect(known.map((one) => `${one},notLanded`)).toContain(both.join())
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

test('a cap that is only inherited, or was copied, was not set', () => {
  const was = (value: PlainCap, wider: PlainCap, more: PlanSketch = { readsExplicit: false }) =>
    setBefore(cap(value), planOf({ observed: { p0: value, team: wider }, ...more }).slots, email('p0') as never)
  expect([was(5, 5), was(5, 6), was('none', 'none'), was(5, 5, {})]).toEqual(['none', 5, 'none', 5])
  expect([was(5, 5, { capSemantics: 'copied' }), was(5, 6, { capSemantics: 'copied' })]).toEqual(['none', 5])
})
