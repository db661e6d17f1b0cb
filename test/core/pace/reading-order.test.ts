// The order of readings: it uses the available requests, keeps every scope within the bound, and goes first where credits could leak.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { nextReadings, paceOf, readingIntervals } from '../../../src/core/pace/rhythm.ts'
import { runs } from '../../support/fuzz.ts'

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

describe('what could leak', () => {
  test('goes by working days: 100 credits in two weeks are 10 a day', () => {
    expect(paceOf(credits(100), 14)).toBe(10)
    expect(paceOf(credits(100), 0)).toBe(0)
  })
})
