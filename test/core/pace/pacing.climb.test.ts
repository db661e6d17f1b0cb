// How the first climb ends: what a refusal in it says, and how it goes on below a rate that was refused.
import { describe, expect, it } from 'vitest'
import { answered, currentRate, earliestSendAt, learnedRate, sent, startPace } from '../../../src/core/pace/pacing.ts'
import { begin, drive, OK, REFUSED, type Run, refuse } from '../../support/pacing.ts'

/** The rates that it takes on for `forMs`, the first included. */
function ratesOf(run: Run, forMs: number): number[] {
  const rates = [currentRate(run.pace)]
  let at = run
  while (at.nowMs < run.nowMs + forMs) {
    at = drive(at, at.nowMs + 100)
    if (rates.at(-1) !== currentRate(at.pace)) rates.push(currentRate(at.pace))
  }
  return rates
}

const rounded = (rates: readonly number[]): number[] => rates.map((rate) => Math.round(100 * rate) / 100)

/** At 20/s for a moment, after 5/s and 10/s. */
const climbing = (max = 60): Run => drive(begin({ start: 5, max }), 2_200)

describe('a climb that is refused', () => {
  it('goes on from the rate that held, halfway to the refused one each clean second, until that is close', () => {
    const low = refuse(climbing())
    expect(rounded(ratesOf(low, 59_000))).toEqual([10, 14.14, 16.82])
    expect(learnedRate(drive(low, low.nowMs + 1_500).pace)).toEqual({ rate: 10, limited: true, tryMs: 20_000 })
  })

  it('tries more once the last rate has held for a minute', () => {
    const low = refuse(climbing())
    expect(rounded(ratesOf(low, 70_000))).toEqual([10, 14.14, 16.82, 17.32])
  })

  it('begins lower when it never had a clean second', () =>
    expect(currentRate(refuse(drive(begin({ start: 20, max: 60 }), 800)).pace)).toBeCloseTo(20 / 1.2))

  it('narrows the way when a rate on it is refused', () => {
    const once = refuse(climbing())
    const twice = refuse(drive(once, once.nowMs + 1_300))
    expect(rounded(ratesOf(twice, 20_000))).toEqual([10, 11.89])
  })

  it.each([
    ['a sixth when the rate that held is refused soon', 500, 10 / 1.2],
    ['a twentieth when that rate is refused after 40 requests', 20_000, 16.82 / 1.05],
  ])('gives up %s', (_title, afterMs, rate) => {
    const low = refuse(climbing())
    expect(currentRate(refuse(drive(low, low.nowMs + afterMs)).pace)).toBeCloseTo(rate, 1)
  })

  it('believes the goodput when that is more than the rate that held', () => {
    const climbed = drive(begin({ start: 40, max: 40 }), 30_000)
    const rate = currentRate(refuse(climbed).pace)
    expect(rate).toBeGreaterThan(40 / 1.2)
    expect(rate).toBeLessThan(40 * 0.97)
  })

  it('takes a refusal of its first requests for no limit', () => {
    const low = refuse(drive(begin({ start: 5, max: 60 }), 100))
    expect(rounded(ratesOf(low, 10_000))).toEqual([5, 10, 20, 40, 60])
  })

  it('never climbs above max', () => expect(rounded(ratesOf(refuse(climbing(16)), 10_000))).toEqual([8, 11.31, 13.45]))

  it('is over when the first probe is refused', () => {
    const { pace, nowMs } = climbing()
    const at = earliestSendAt(pace, nowMs)
    const blocked = answered(sent(pace, at), at, REFUSED, at)
    const again = answered(sent(blocked, at + 1_000), at + 1_000, REFUSED, at + 1_000)
    const low = answered(sent(again, at + 2_500), at + 2_500, OK, at + 2_500)
    expect(ratesOf({ pace: low, nowMs: at + 2_500 }, 50_000)).toHaveLength(1)
  })

  it('is over after five refusals: then the goodput decides', () => {
    let run = climbing()
    const rates: number[] = []
    for (let turn = 0; turn < 6; turn += 1) {
      run = refuse(run)
      rates.push(currentRate(run.pace))
    }
    expect(rounded(rates.slice(0, 5))).toEqual(
      [10, 10 / 1.2, 10 / 1.2 ** 2, 10 / 1.2 ** 3, 10 / 1.2 ** 4].map((rate) => Math.round(100 * rate) / 100),
    )
    expect(ratesOf(run, 50_000)).toHaveLength(1)
  })
})

describe('after a climb that was refused', () => {
  /** The gap before the next request when one goes out `lateMs` late. */
  const gapAfter = (start: ReturnType<typeof sent>, lateMs: number): number => {
    const at = earliestSendAt(start, 0) + lateMs
    return earliestSendAt(sent(start, at), at) - at
  }

  it.each([
    ['makes lateness up by a tenth of each gap when few requests went through', 2_200, 0.9],
    ['makes lateness up at once when many went through', 2_900, 0.8],
  ])('%s', (_title, afterMs, share) => {
    const { pace } = refuse(drive(begin({ start: 5, max: 40 }), afterMs))
    expect(gapAfter(pace, 20)).toBeCloseTo((share * 1_000) / currentRate(pace))
    expect(gapAfter(pace, 1)).toBeCloseTo(1_000 / currentRate(pace) - 1)
  })

  it('keeps the plain rhythm before anything was refused', () => expect(gapAfter(startPace({ start: 10, max: 40 }, 0), 20)).toBeCloseTo(80))
})
