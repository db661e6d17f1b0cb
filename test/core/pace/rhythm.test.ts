// How often a scope is read and why, in words and figures, what is due when, and the order of readings: first where credits could leak.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import {
  nextCycleDelay,
  nextGrantInstant,
  nextReadings,
  paceOf,
  readingIntervals,
  rhythmBound,
  rhythmOf,
  rhythmText,
  sweepRate,
} from '../../../src/core/pace/rhythm.ts'
import { CYCLE, DAY, type GrantSketch, NOW, policy } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { planInputs } from '../../support/plan.ts'

type Inputs = Parameters<typeof rhythmOf>[0]

const MINUTE = 60_000
const ada = userScope('ada@example.com')
const web = groupScope('web')
const capsOf = (caps: Readonly<Record<string, number>>) => (key: string) => (caps[key] === undefined ? undefined : credits(caps[key]))

/** 2,000 scopes at one request a second; the first has this risk. */
function slicing(risk: number, pace = 0, suspect = false): NonNullable<Inputs['slicing']> {
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
  return { readsPerSecond, watched, intervals, paces: new Map([[scopeKey(ada), pace]]) }
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
    const sliced = slicing(400, 40)
    const rhythm = rhythmOf({ ...inputs, scope: ada, intervalMs: 5 * MINUTE, slicing: sliced })
    expect(rhythm?.everyMs).toBe(Math.max(5 * MINUTE, sliced.intervals(400)))
    expect(rhythm?.everyMs).toBeLessThan(rhythm?.sliced?.atLeastEveryMs ?? 0)
    expect(rhythm && rhythmText(rhythm)).toMatch(/^read every \d+ min, at least every 46 min: 12 credits from the cap at 40 credits a day$/)
  })

  test('with a sign that its cap is wrong is read with the next sweep', () => {
    const rhythm = rhythmOf({ ...inputs, scope: ada, intervalMs: 5 * MINUTE, slicing: slicing(0, 0, true) })
    expect(rhythm && rhythmText(rhythm)).toMatch(/^read every 5 min, .*: there is a sign that its cap is wrong$/)
  })

  test.each([
    ['figures below ten to a tenth', 400, 9.96, 496.04, '8 credits from the cap at 10 credits a day'],
    ['what could leak, for a person without a cap', 12.6, 40, undefined, 'up to 13 credits could be used beyond the cap within half a day'],
    ['that nobody is near', 0, 0, 500, 'nobody is near the cap'],
  ])('tells %s', (_, risk, pace, most, expected) => {
    const declared = capsOf(most === undefined ? {} : { [scopeKey(ada)]: most })
    const rhythm = rhythmOf({ ...inputs, scope: ada, declared, intervalMs: 5 * MINUTE, slicing: slicing(risk, pace) })
    expect(rhythm && rhythmText(rhythm).replace(/^.*min: /, '')).toBe(expected)
  })

  test('has a bound even where use is not known', () => {
    const bound = rhythmBound({ ...inputs, scope: ada, toRead: Array.from({ length: 20_000 }, () => ada) }, 8)
    expect(bound && rhythmText(bound)).toBe(
      'read at least every 46 min, and sooner the more credits could leak there; how soon follows from use by day, which is not known here',
    )
    expect(rhythmBound({ ...inputs, scope: groupScope('other') }, 8)).toBeUndefined()
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

test.each<[string, readonly Omit<GrantSketch, 'on'>[], number | undefined]>([
  ['is unknown without grants', [], undefined],
  ['is later than now, never now itself', [{ from: NOW, until: NOW + 9 }], NOW + 9],
  ['is the nearest of all', [{ until: NOW + 9 }, { from: NOW + 7, until: NOW + 8 }, { until: NOW + 10 }], NOW + 7],
])('the next instant of a grant: %s', (_, grants, expected) => {
  expect(nextGrantInstant(policy({ grants: grants.map((one) => ({ on: 'bob', ...one })) }), CYCLE, NOW)).toBe(expected)
})

test('the delay to the next cycle never leaves 10 % either way', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: DAY }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (interval, roll) => {
      expect(Math.abs(nextCycleDelay(interval, roll) - interval)).toBeLessThanOrEqual(interval / 10 + 0.5)
    }),
  )
})

type Watched = Parameters<typeof nextReadings>[0][number]
type ScopeKey = Watched['key']

const key = (index: number): ScopeKey => `p${index}@example.com` as ScopeKey
const risks = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 10_000, noNaN: true })), { minLength: 1, maxLength: 60 })
const watched = risks.chain((all) =>
  fc
    .tuple(
      ...all.map((risk) =>
        fc.record({ readAt: fc.option(fc.nat(10_000_000), { nil: undefined }), suspect: fc.boolean(), risk: fc.constant(risk) }),
      ),
    )
    .map((rows) =>
      rows.map(
        ({ readAt, suspect, risk }, index): Watched => ({
          key: key(index),
          risk,
          ...(readAt !== undefined && { readAt }),
          ...(suspect && { suspect: true }),
        }),
      ),
    ),
)

describe('intervals', () => {
  test('use no more requests than there are, and nearly all of them where credits could leak', () => {
    fc.assert(
      fc.property(risks, fc.double({ min: 0.1, max: 50, noNaN: true }), (all, perSecond) => {
        const intervals = readingIntervals(all, perSecond)
        const asked = all.reduce((sum, risk) => sum + 1000 / intervals(risk), 0)
        expect(asked).toBeLessThanOrEqual(perSecond * 1.000_001)
        if (all.some((risk) => risk > 0)) expect(asked).toBeGreaterThanOrEqual(perSecond * 0.999)
      }),
      runs(150),
    )
  })

  test('are never longer than the bound, and shorter the more could leak', () => {
    fc.assert(
      fc.property(risks, fc.double({ min: 0.1, max: 50, noNaN: true }), (all, perSecond) => {
        const intervals = readingIntervals(all, perSecond)
        const sorted = all.toSorted((a, b) => a - b).map(intervals)
        expect(Math.max(...sorted)).toBeLessThanOrEqual(Math.round((1.1 * all.length * 1000) / perSecond))
        expect(sorted).toEqual(sorted.toSorted((a, b) => b - a))
      }),
      runs(150),
    )
  })
})

describe('the next readings', () => {
  test('are as many as requested, each once, whatever the order of scopes', () => {
    fc.assert(
      fc.property(watched, fc.nat(70), fc.nat(), (all, count, seed) => {
        const intervals = readingIntervals(
          all.map(({ risk }) => risk),
          1,
        )
        const next = nextReadings(all, count, intervals)
        expect(next.length).toBe(Math.min(count, all.length))
        expect(new Set(next).size).toBe(next.length)
        const turned = [...all.slice(seed % all.length), ...all.slice(0, seed % all.length)]
        expect(nextReadings(turned, count, intervals)).toEqual(next)
      }),
      runs(150),
    )
  })

  test('leave no scope out for longer than the bound and one slice, however many are suspects or at risk', () => {
    fc.assert(
      fc.property(
        watched.filter((all) => all.length >= 10),
        (start) => {
          const perSecond = 1
          const count = Math.ceil(start.length / 4)
          const sliceMs = (count * 1000) / perSecond
          const intervals = readingIntervals(
            start.map(({ risk }) => risk),
            perSecond,
          )
          const readAt = new Map(start.map((one) => [one.key, 0]))
          const suspects = start.filter(({ suspect }) => suspect).slice(0, 1)
          let now = 0
          let oldest = 0
          for (let slice = 0; slice < 40; slice += 1) {
            const all = start.map(
              ({ key: of, risk }): Watched => ({
                key: of,
                risk,
                readAt: readAt.get(of) ?? 0,
                ...(suspects.some((one) => one.key === of) && { suspect: true }),
              }),
            )
            for (const of of nextReadings(all, count, intervals)) {
              oldest = Math.max(oldest, now - (readAt.get(of) ?? 0))
              readAt.set(of, now)
              now += 1000 / perSecond
            }
          }
          // A suspect that stays one takes a reading of each slice from the others.
          const bound = 1.1 * start.length * 1000 * (count / (count - suspects.length || 1))
          expect(oldest).toBeLessThanOrEqual(bound + 2 * sliceMs)
        },
      ),
      runs(60),
    )
  })

  test('begin with suspects, at most half of them, then scopes never read, then by deadline', () => {
    const intervals = readingIntervals([0, 0, 9, 0, 0], 1)
    const all: readonly Watched[] = [
      { key: key(1), risk: 0, readAt: 100, suspect: true },
      { key: key(2), risk: 0 },
      { key: key(3), risk: 9, readAt: 100 },
      { key: key(4), risk: 0, readAt: 50 },
      { key: key(5), risk: 0, readAt: 60, suspect: true },
    ]
    expect(nextReadings(all, 2, intervals)).toEqual([key(5), key(2)])
    expect(nextReadings(all, 5, intervals)).toEqual([key(5), key(1), key(2), key(3), key(4)])
  })
})

test('what could leak goes by working days: 100 credits in two weeks are 10 a day', () => {
  expect(paceOf(credits(100), 14)).toBe(10)
  expect(paceOf(credits(100), 0)).toBe(0)
})
