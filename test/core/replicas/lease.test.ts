import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leftMs, mayLeave, quietUntil } from '../../../src/core/replicas/lease.ts'

const lease: Parameters<typeof leftMs>[0] = { token: 7, askedAt: { wall: 1_000_000, monotonic: 500 }, lastsMs: 20_000 }
const passed = (wallMs: number, monotonicMs = wallMs) => ({ wall: 1_000_000 + wallMs, monotonic: 500 + monotonicMs })

describe('a lease', () => {
  test.each<[string, ReturnType<typeof passed>, number]>([
    ['ends early when the wall clock was set on', passed(19_000, 1_000), 1_000],
    ['is not longer because the wall clock was set back', passed(-3_600_000, 5_000), 15_000],
    ['ends although the machine slept and one clock with it', passed(60_000, 10), -40_000],
  ])('%s', (_, now, left) => expect(leftMs(lease, now)).toBe(left))

  test('lets a request go only if it outlasts the request with a margin; without a lease none goes', () => {
    expect(mayLeave(lease, passed(9_000), 10_000)).toBe(true)
    expect(mayLeave(lease, passed(9_001), 10_000)).toBe(false)
    expect(mayLeave(undefined, passed(0), 0)).toBe(false)
  })

  test('never lets a request go that could still be under way when the database gives the workspace to another', () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.integer({ min: -90_000, max: 90_000 }), fc.nat(5_000), fc.nat(20_000), (ms, jump, way, takesMs) => {
        // The database gave it `way` after it was asked; `ms` is true time, and the wall clock jumps.
        const endsAt = way + lease.lastsMs
        const now = passed(ms + jump, ms)
        if (mayLeave(lease, now, takesMs)) expect(ms + takesMs).toBeLessThan(endsAt)
      }),
    )
  })
})

describe('the time in which a write of the previous holder may land', () => {
  const quiet = { from: { wall: 1_000_000, monotonic: 500 }, lastsMs: 10_000 }

  test.each<[string, ReturnType<typeof passed>, boolean, boolean]>([
    ['has just begun', passed(0), true, false],
    ['goes on although the wall clock was set on', passed(3_600_000, 5_000), true, false],
    ['is over although the wall clock was set back', passed(-3_600_000, 10_001), false, true],
  ])('%s', (_, now, goesOn, counts) => {
    expect(now.wall < quietUntil(quiet, now)).toBe(goesOn)
    // A reading of this very moment.
    expect(now.wall >= quietUntil(quiet, now)).toBe(counts)
  })

  test('is none without a previous holder; readings before its end do not count', () => {
    expect(quietUntil(undefined, passed(0))).toBe(Number.NEGATIVE_INFINITY)
    expect(quietUntil(quiet, passed(25_000))).toBe(1_010_000)
    // The clock was set back by an hour: so was that end.
    expect(quietUntil(quiet, passed(25_000 - 3_600_000, 25_000))).toBe(1_010_000 - 3_600_000)
  })
})
