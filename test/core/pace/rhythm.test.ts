// How often a scope is read and why, in words and figures, and what is due when.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import {
  nextCycleDelay,
  nextGrantInstant,
  nextWork,
  readingIntervals,
  rhythmBound,
  rhythmBoundText,
  rhythmOf,
  rhythmText,
  sweepRate,
} from '../../../src/core/pace/rhythm.ts'
import { CYCLE, DAY, type GrantSketch, NOW, policy } from '../../support/declare.ts'
import { planInputs } from '../../support/plan.ts'

type Inputs = Parameters<typeof rhythmOf>[0]

const MINUTE = 60_000
const ada = userScope('ada@example.com')
const web = groupScope('web')
const capsOf = (caps: Readonly<Record<string, number>>) => (key: string) => (caps[key] === undefined ? undefined : credits(caps[key]))

/** 2,000 scopes at one request a second; the first has this risk. */
function slicing(risk: number, paces: Readonly<Record<string, number>> = {}, suspect = false): NonNullable<Inputs['slicing']> {
  const { readsPerSecond } = sweepRate(1, 5 * MINUTE)
  const watched = Array.from({ length: 2_000 }, (_, index) => ({
    key: index === 0 ? scopeKey(ada) : index === 1 ? scopeKey(web) : scopeKey(userScope(`p${index}@example.com`)),
    risk: index === 0 ? risk : 1,
    ...(index === 0 && suspect && { suspect: true as const }),
  }))
  const intervals = readingIntervals(
    watched.map((one) => one.risk),
    readsPerSecond,
  )
  return { readsPerSecond, watched, intervals, paces: new Map(Object.entries(paces)) }
}

test('of ten requests a second, eight are for sweeps', () => {
  expect(sweepRate(10, 5 * MINUTE)).toEqual({ readsPerSecond: 8, count: 2400 })
})

describe('a scope', () => {
  const inputs = {
    people: planInputs({ people: ['ada'], used: { ada: 488 } }).people,
    toRead: [TEAM, web, ada],
    declared: capsOf({ [scopeKey(ada)]: 500 }),
  }

  test('is read with every sweep where those are whole', () => {
    const rhythm = rhythmOf({ ...inputs, scope: ada, intervalMs: 5 * MINUTE })
    expect(rhythm).toEqual({ key: scopeKey(ada), everyMs: 5 * MINUTE })
    expect(rhythm && rhythmText(rhythm)).toBe('read with every sweep, every 5 min')
  })

  test('is read sooner the more could leak, and the words have the figures', () => {
    const sliced = slicing(400, { [scopeKey(ada)]: 40 })
    const rhythm = rhythmOf({ ...inputs, scope: ada, intervalMs: 5 * MINUTE, slicing: sliced })
    expect(rhythm?.everyMs).toBe(Math.max(5 * MINUTE, sliced.intervals(400)))
    expect(rhythm?.everyMs).toBeLessThan(rhythm?.sliced?.atLeastEveryMs ?? 0)
    expect(rhythm && rhythmText(rhythm)).toMatch(
      /^read at least every 46 min \(a sweep of 2000 scopes takes 42 min at 0.8 readings\/s\); now every \d+ min: 12 credits from the cap at 40 credits a day$/,
    )
  })

  test('with a sign that its cap is wrong is read with the next sweep', () => {
    const rhythm = rhythmOf({ ...inputs, scope: ada, intervalMs: 5 * MINUTE, slicing: slicing(0, {}, true) })
    expect(rhythm && rhythmText(rhythm)).toMatch(/now every 5 min: there is a sign that its cap is wrong$/)
  })

  test('has a bound even where use is not known', () => {
    const bound = rhythmBound({ ...inputs, scope: ada, toRead: Array.from({ length: 20_000 }, () => ada) }, 8)
    expect(bound).toMatchObject({ key: scopeKey(ada), scopes: 20_000, atLeastEveryMs: 2_750_000 })
    expect(bound && rhythmBoundText(bound)).toBe(
      'read at least every 46 min (a sweep of 20000 scopes takes 42 min at 8 readings/s), and sooner the more credits could leak there; ' +
        'how soon follows from use by day, which is not known here',
    )
    expect(rhythmBound({ ...inputs, scope: groupScope('other') }, 8)).toBeUndefined()
  })

  test.each<readonly [string, number, Readonly<Record<string, number>>, number | undefined, string]>([
    ['figures below ten to a tenth', 400, { [scopeKey(ada)]: 9.96 }, 496.04, '8 credits from the cap at 10 credits a day'],
    [
      'what could leak, for a person without a cap',
      12.6,
      { [scopeKey(ada)]: 40 },
      undefined,
      'up to 13 credits could be used beyond the cap within half a day',
    ],
    ['that nobody is near', 0, {}, 500, 'nobody is near the cap'],
  ])('tells %s', (_name, risk, paces, most, expected) => {
    const declared = capsOf(most === undefined ? {} : { [scopeKey(ada)]: most })
    const rhythm = rhythmOf({ ...inputs, scope: ada, declared, intervalMs: 5 * MINUTE, slicing: slicing(risk, paces) })
    expect(rhythm && rhythmText(rhythm).replace(/^.*min: /, '')).toBe(expected)
    expect(rhythm?.sliced?.person?.pacePerDay).toBe(most === undefined ? undefined : (paces[scopeKey(ada)] ?? 0))
  })

  test('of a group tells of nobody in it', () => {
    const rhythm = rhythmOf({ ...inputs, scope: web, intervalMs: 5 * MINUTE, slicing: slicing(400) })
    expect(rhythm?.sliced?.person).toBeUndefined()
    expect(rhythm && rhythmText(rhythm)).toMatch(/up to 1 credits could be used/)
  })

  test.each([
    [100, '1 s'],
    [1_499, '1 s'],
    [60_000, '1 min'],
  ])('read every %i ms is read every %s', (everyMs, expected) =>
    expect(rhythmText({ key: scopeKey(ada), everyMs })).toBe(`read with every sweep, every ${expected}`),
  )

  test('that is not watched is read with every sweep, sliced or not', () => {
    const other = userScope('new@example.com')
    const rhythm = rhythmOf({ ...inputs, toRead: [other], scope: other, intervalMs: MINUTE, slicing: slicing(0) })
    expect(rhythm).toEqual({ key: scopeKey(other), everyMs: MINUTE })
  })

  test('whose cap is not read has no rhythm', () => {
    const bob = userScope('bob@example.com')
    const { people } = planInputs({ people: ['bob'], groups: { web: ['bob'] }, used: { bob: 10 } })
    expect(
      rhythmOf({ ...inputs, people, toRead: [ada], scope: bob, declared: capsOf({ 'group:web': 100 }), intervalMs: MINUTE }),
    ).toBeUndefined()
  })
})

describe('the next instant of a grant', () => {
  test.each<[string, readonly Omit<GrantSketch, 'on'>[], number | undefined]>([
    ['is unknown without grants', [], undefined],
    ['is later than now, never now itself', [{ from: NOW, until: NOW + 9 }], NOW + 9],
    ['is the nearest of all', [{ until: NOW + 9 }, { from: NOW + 7, until: NOW + 8 }, { until: NOW + 10 }], NOW + 7],
  ])('%s', (_, grants, expected) => {
    expect(nextGrantInstant(policy({ grants: grants.map((one) => ({ on: 'bob', ...one })) }), CYCLE, NOW)).toBe(expected)
  })
})

describe('the delay to the next cycle', () => {
  test('never leaves 10 % either way', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: DAY }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (interval, roll) => {
        expect(Math.abs(nextCycleDelay(interval, roll) - interval)).toBeLessThanOrEqual(interval / 10 + 0.5)
      }),
    )
  })
})

describe('work', () => {
  const usage = { lastAt: 0, delayMs: 15 * MINUTE }
  test.each<[string, { at: number; grantAt?: number; lastAt?: undefined }, [boolean, boolean, number]]>([
    ['that never ran is due', { at: 7, lastAt: undefined }, [true, false, 0]],
    ['rests until caps are due', { at: MINUTE }, [false, false, 4 * MINUTE]],
    ['takes up usage when it is due', { at: 15 * MINUTE }, [true, true, 0]],
    ['takes up caps early when a grant starts or ends', { at: MINUTE, grantAt: NOW }, [true, false, 0]],
    ['checks the wall clock now and then while a grant is awaited', { at: 0, grantAt: NOW + DAY }, [false, false, 60_000]],
  ])('%s', (_, { at, grantAt, ...last }, [capsDue, usageDue, sleepMs]) => {
    const waiting = {
      caps: { lastAt: 0, delayMs: 5 * MINUTE, ...last },
      usage,
      now: NOW,
      monotonicNow: at,
      ...(grantAt !== undefined && { grantAt }),
    }
    expect(nextWork(waiting)).toEqual({ capsDue, usageDue, sleepMs })
  })
})
