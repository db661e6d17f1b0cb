import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areShared, isOpen, isTripped, NO_ENDS, opened, tally } from '../../../src/core/plan/breaker.ts'
import { HOUR, NOW } from '../../support/declare.ts'

type End = Parameters<typeof tally>[1]
type OpenBreaker = ReturnType<typeof opened>

const LIMIT = { inARow: 3, percent: 10 }
const RUN = { failed: 3, planned: 20, cause: 'UsageConfig: 503', scopes: ['ada@example.com'] }

const tallied = (ends: string): Parameters<typeof isTripped>[0] =>
  [...ends].map((one): End => (one === 'o' ? 'done' : one === 'x' ? 'service' : 'scope')).reduce(tally, NO_ENDS)

describe('when writes stop', () => {
  // o: written, x: failed for a shared cause, s: refused for itself.
  test.each([
    ['two failures in a row are borne', 'oxx', 5, false],
    ['three in a row are enough', 'xxx', 500, true],
    ['a success between ends the row', 'xxoxx', 500, false],
    ['a refusal of one scope does not end the row', 'xxsx', 500, true],
    ['10 % are allowed', 'xoxox', 30, false],
    ['more than 10 % are not', 'xoxox', 29, true],
    ['a share of fewer than three failures is borne', 'xox', 3, false],
    ['refusals alone are left to be judged at the end', 'sssssssss', 9, false],
    ['ten refusals and nothing else speak of the service', 'ssssssssss', 500, true],
    ['ten refusals among as many failures and successes do not', 'sxxosxxosxxoxosssssss', 500, false],
    ['ten refusals among as many successes do not', 'ooooossssssssssooooo', 500, false],
  ])('%s', (_name, ends, planned, tripped) => expect(isTripped(tallied(ends), LIMIT, planned)).toBe(tripped))

  test.each([
    ['two of two', 'ss', false],
    ['three of three', 'sss', true],
    ['half', 'ssssoxoo', false],
    ['more than half, as others fail as well', 'ssssoxx', true],
  ])('refusals of a whole run speak of the service: %s', (_name, ends, shared) => expect(areShared(tallied(ends))).toBe(shared))

  test('a run without failures never stops, whatever its size and its limit', () =>
    fc.assert(
      fc.property(
        fc.array(fc.constant<End>('done'), { maxLength: 50 }),
        fc.record({ inARow: fc.integer({ min: 1, max: 9 }), percent: fc.integer({ min: 0, max: 100 }) }),
        fc.nat(50),
        (ends, limit, planned) => !isTripped(ends.reduce(tally, NO_ENDS), limit, planned),
      ),
    ))

  test('one more failure never makes a run go on that was stopped', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom<End>('done', 'service', 'scope'), { maxLength: 40 }), fc.nat(60), (ends, planned) => {
        const before = ends.reduce(tally, NO_ENDS)
        return !isTripped(before, LIMIT, planned) || isTripped(tally(before, 'service'), LIMIT, planned)
      }),
    ))
})

describe('how long nothing is tried', () => {
  const first = opened(undefined, RUN, NOW)

  test('twice as long each time, up to 2 h', () => {
    const waits: number[] = []
    let breaker: OpenBreaker = first
    for (let round = 0; round < 6; round += 1) {
      waits.push(breaker.waitMs / 60_000)
      breaker = opened(breaker, RUN, breaker.retryAt)
      expect(breaker.retryAt - breaker.openedAt).toBe(breaker.waitMs)
    }
    expect(waits).toEqual([10, 20, 40, 80, 120, 120])
    expect(breaker.waitMs).toBe(2 * HOUR)
  })

  test('what was only turned down stays known by its scopes, until something fails otherwise', () => {
    const turnedDown = (scope: string) => ({ ...RUN, scopes: [scope], refused: true })
    const ahead = opened(opened(undefined, turnedDown('a'), NOW), turnedDown('b'), NOW + 1000)
    expect(ahead).toMatchObject({ scopes: ['a', 'b'], refused: true, retryAt: NOW + 600_000 })
    const later = opened(ahead, turnedDown('a'), ahead.retryAt)
    expect(later).toMatchObject({ scopes: ['a', 'b'], refused: true, waitMs: 1_200_000 })
    const failing = [opened(ahead, RUN, NOW + 2000), opened(ahead, RUN, ahead.retryAt), opened(first, turnedDown('a'), NOW + 1000)]
    expect(failing.map((one) => one.refused)).toEqual([undefined, undefined, undefined])
  })

  test('an outage of another day begins with 10 min again', () =>
    expect(opened({ ...first, waitMs: 2 * HOUR }, RUN, first.retryAt + 24 * HOUR).waitMs).toBe(600_000))

  test('a clock that was set back does not make it last', () => expect(isOpen(first, NOW - 1)).toBe(false))

  test('whatever fails when, nothing is kept back for more than 2 h', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 * HOUR }), { minLength: 1, maxLength: 20 }), (steps) => {
        let now = NOW
        let breaker: OpenBreaker | undefined
        for (const step of steps) {
          now += step
          breaker = opened(breaker, RUN, now)
          if (breaker.retryAt - now > 2 * HOUR) return false
        }
        return !isOpen(breaker, now + 2 * HOUR)
      }),
    ))
})
