import { describe, expect, it } from 'vitest'
import { answered, currentRate, earliestSendAt, learnedRate, sent, startPace } from '../../../src/core/pace/pacing.ts'
import { begin, drive, LATENCY_MS, OK, REFUSED, type Run, refuse } from '../../support/pacing.ts'

/** Refused after 5 s at 5/s, answered again after `blockMs`. */
const resumedAfter = (blockMs: number): Run => refuse(drive(begin({ start: 5, max: 5 }), 5_000), { retryAfterMs: blockMs })

/** Drives without a refusal until the rate is at least `rate`. */
function driveToRate(run: Run, rate: number): Run {
  let reached = run
  for (let turn = 0; turn < 1_000 && currentRate(reached.pace) < rate; turn += 1) reached = drive(reached, reached.nowMs + 1_000)
  return reached
}

describe('the first climb', () => {
  it('climbs on after a time without work', () => {
    const begun = drive(begin({ start: 5, max: 40 }), 500)
    expect(currentRate(drive({ pace: begun.pace, nowMs: 60_000 }, 65_000).pace)).toBe(40)
  })

  it('keeps its rate when its first request is refused', () => {
    const blocked = answered(sent(startPace({ start: 5, max: 40 }, 0), 0), 20, { kind: 'refused', retryAfterMs: 60_000 }, 0)
    const resumed = answered(sent(blocked, 60_020), 60_030, OK, 60_020)
    expect(currentRate(resumed)).toBe(5)
  })
})

describe('a block', () => {
  const climbed = drive(begin({ start: 5, max: 40 }), 10_000)
  const at = earliestSendAt(climbed.pace, climbed.nowMs)
  const block = (retryAfterMs?: number): ReturnType<typeof sent> =>
    answered(sent(climbed.pace, at), at + 20, retryAfterMs === undefined ? REFUSED : { kind: 'refused', retryAfterMs }, at)

  it.each([
    ['what Retry-After says', 17_000, 17_000],
    ['a second when Retry-After is no number', Number.NaN, 1_000],
    ['an hour when Retry-After is absurd', 1e12, 3_600_000],
  ])('waits %s before the first probe', (_title, retryAfterMs, waitMs) => {
    expect(earliestSendAt(block(retryAfterMs), at + 20)).toBe(at + 20 + waitMs)
  })

  it('sends one probe and then nothing until it is answered or half a minute is over', () => {
    const probing = sent(block(), at + 1_020)
    expect(earliestSendAt(probing, at + 1_020)).toBe(at + 1_020 + 30_000)
    expect(earliestSendAt(answered(probing, at + 1_040, OK, at + 1_020), at + 1_040)).toBeLessThan(at + 1_240)
  })

  it('waits longer after each refused probe, finding the end of 300 s with few of them', () => {
    let { pace, nowMs } = { pace: block(), nowMs: at + 20 }
    const waits: number[] = []
    while (nowMs < at + 300_000) {
      const probeAt = earliestSendAt(pace, nowMs)
      waits.push(probeAt - nowMs)
      nowMs = probeAt + LATENCY_MS
      pace = answered(sent(pace, probeAt), nowMs, REFUSED, probeAt)
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(waits.length).toBeLessThanOrEqual(18)
    expect(nowMs - at - 300_000).toBeLessThan(45_000)
  })

  /** How long it waits before each probe, when all of them are refused within `latencyMs`. */
  function waits(answer: Parameters<typeof answered>[2], count: number, latencyMs = LATENCY_MS): number[] {
    let { pace, nowMs } = { pace: block(answer.kind === 'refused' ? answer.retryAfterMs : undefined), nowMs: at + 20 }
    return Array.from({ length: count }, () => {
      const probeAt = earliestSendAt(pace, nowMs)
      const waitedMs = probeAt - nowMs
      nowMs = probeAt + latencyMs
      pace = answered(sent(pace, probeAt), nowMs, answer, probeAt)
      return waitedMs
    })
  }

  it('waits half as long again after each refused probe, up to half a minute, later an eighth of the time it lasts', () => {
    const all = waits(REFUSED, 16)
    expect(all.slice(0, 4)).toEqual([1_000, 1_500, 2_250, 3_375])
    expect(all.slice(9, 13)).toEqual([30_000, 30_000, 30_000, 30_000])
    const beforeMs = all.slice(0, 15).reduce((sum, one) => sum + one + LATENCY_MS, 0)
    expect(all[15]).toBeCloseTo(beforeMs / 8)
  })

  it('believes Retry-After twice, then only when that is longer than it would wait itself', () => {
    expect(waits({ kind: 'refused', retryAfterMs: 2_000 }, 5)).toEqual([2_000, 2_000, 2_250, 3_375, 5_062.5])
    expect(waits({ kind: 'refused', retryAfterMs: 1_000 }, 4)).toEqual([1_000, 1_000, 2_250, 3_375])
    expect(waits({ kind: 'refused', retryAfterMs: 0 }, 3)).toEqual([1_000, 1_500, 2_250])
    expect(waits({ kind: 'refused', retryAfterMs: 9_000 }, 4)).toEqual([9_000, 9_000, 9_000, 9_000])
  })

  it('sends the next probe when one was never answered', () => {
    const probing = sent(block(), at + 1_020)
    const again = sent(probing, at + 31_020)
    expect(earliestSendAt(again, at + 31_020)).toBe(at + 61_020)
    expect(currentRate(answered(again, at + 31_030, OK, at + 31_020))).toBeLessThan(40)
  })

  it('is as long as the latest refusal says, also of a request sent before it', () => {
    const two = sent(sent(climbed.pace, at), at + 25)
    const blocked = answered(two, at + 40, REFUSED, at)
    const late = (retryAfterMs: number) => earliestSendAt(answered(blocked, at + 60, { kind: 'refused', retryAfterMs }, at + 25), at + 60)
    expect(late(5_000)).toBe(at + 5_060)
    expect(late(100)).toBe(at + 1_060)
    expect(earliestSendAt(answered(blocked, at + 30, REFUSED, at + 25), at + 60)).toBe(at + 1_040)
  })

  it('goes on probing when the service keeps promising too early', () => {
    let pace = block(1_000)
    let nowMs = at + 20
    for (let probe = 0; probe < 8; probe += 1) {
      nowMs = earliestSendAt(pace, nowMs)
      pace = answered(sent(pace, nowMs), nowMs, { kind: 'refused', retryAfterMs: 1_000 }, nowMs)
    }
    expect(earliestSendAt(pace, nowMs) - nowMs).toBeGreaterThan(10_000)
  })

  it('is not over when a request is answered that was sent before it', () => {
    const two = sent(sent(climbed.pace, at), at + 25)
    const blocked = answered(answered(two, at + 40, REFUSED, at), at + 60, OK, at + 25)
    expect(earliestSendAt(blocked, at + 60)).toBe(at + 1_040)
  })

  it('ignores an older refusal that arrives after its end', () => {
    const probed = answered(sent(block(), at + 1_020), at + 1_030, OK, at + 1_020)
    expect(answered(probed, at + 1_040, REFUSED, at - 10)).toBe(probed)
  })
})

describe('the rate after a block', () => {
  it('is 0.97 x the goodput with the block counted in', () => {
    // 5/s for 5.2 s and one probe, then silence until 25.22 s. The climb's last step began at 0: there is no faster one.
    const resumed = resumedAfter(20_000)
    expect(currentRate(resumed.pace)).toBeCloseTo((0.97 * 27) / 25.22, 1)
  })

  it('stays for a quiet minute, then takes a step of 3 %, then of 6 %', () => {
    const resumed = resumedAfter(3_000)
    const rate = currentRate(resumed.pace)
    const settings = { ...resumed, pace: { ...resumed.pace, settings: { start: 5, max: 50 } } }
    const quietMs = Math.max(60_000, (300 * 1000) / rate)
    expect(currentRate(drive(settings, resumed.nowMs + quietMs - 500).pace)).toBe(rate)
    expect(currentRate(drive(settings, resumed.nowMs + quietMs + 1_000).pace)).toBeCloseTo(rate * 1.03)
    expect(currentRate(drive(settings, resumed.nowMs + quietMs + 22_000).pace)).toBeCloseTo(rate * 1.03 * 1.06)
  })

  it('falls back to the rate tried from when the first step is refused', () => {
    const held = drive(begin({ start: 5, max: 50 }, { rate: 10, limited: true }), 61_000)
    expect(currentRate(held.pace)).toBeCloseTo(10.3)
    const at = earliestSendAt(held.pace, held.nowMs)
    const blocked = answered(sent(held.pace, at), at + 10, REFUSED, at)
    expect(currentRate(answered(sent(blocked, at + 1_010), at + 1_020, OK, at + 1_010))).toBe(10)
  })

  it('is believed after two steps held, and given up when it is refused soon after', () => {
    const tried = driveToRate(begin({ start: 5, max: 50 }, { rate: 10, limited: true }), 12)
    const gained = refuse(drive(tried, tried.nowMs + 5_000))
    expect(currentRate(gained.pace)).toBeGreaterThan(10)
    expect(currentRate(gained.pace)).toBeLessThan(currentRate(tried.pace))
    const lost = refuse(drive(gained, gained.nowMs + 5_000))
    expect(currentRate(lost.pace)).toBe(10)
    expect(learnedRate(lost.pace).tryMs).toBe(40_000)
  })

  it('is proven when it holds for its quiet time, and later steps are shorter then', () => {
    const tried = driveToRate(begin({ start: 5, max: 50 }, { rate: 10, limited: true, tryMs: 80_000 }), 12)
    const gained = refuse(drive(tried, tried.nowMs + 15_000))
    const proven = drive(gained, gained.nowMs + 62_000)
    expect(learnedRate(proven.pace)).toEqual({ rate: currentRate(gained.pace), limited: true, tryMs: 40_000 })
  })

  it('is cut by 3 % at most in one short cycle, and by what two of them measured', () => {
    const once = refuse(drive(begin({ start: 5, max: 50 }, { rate: 10, limited: true }), 30_000))
    expect(currentRate(once.pace)).toBeCloseTo(9.7)
    const twice = refuse(drive(once, once.nowMs + 5_000))
    expect(currentRate(twice.pace)).toBeLessThan(9.4)
    expect(currentRate(twice.pace)).toBeGreaterThan(8.8)
  })

  it('goes back to the usual rate in one step after a low by chance, and waits twice as long when that fails', () => {
    const held = drive(begin({ start: 5, max: 50 }, { rate: 10, limited: true }), 30_000)
    const low = refuse(refuse(refuse(held)))
    const rate = currentRate(low.pace)
    expect(rate).toBeLessThan(2)
    expect(learnedRate(low.pace).rate).toBeGreaterThan(7)
    const back = driveToRate(drive(low, low.nowMs + 14_000), 7)
    expect(back.nowMs - low.nowMs).toBeLessThan(18_000)
    const failed = refuse(back)
    expect(currentRate(failed.pace)).toBe(rate)
    expect(currentRate(drive(failed, failed.nowMs + 25_000).pace)).toBe(rate)
    expect(currentRate(drive(failed, failed.nowMs + 40_000).pace)).toBeGreaterThan(2 * rate)
  })

  it('never more than doubles in a step', () => {
    let run = begin({ start: 5, max: 2_000 }, { rate: 2, limited: true })
    for (let turn = 0; turn < 600; turn += 1) {
      const before = currentRate(run.pace)
      run = drive(run, run.nowMs + 1_000)
      expect(currentRate(run.pace)).toBeLessThanOrEqual(2 * before)
    }
    expect(currentRate(run.pace)).toBeGreaterThan(100)
  })
})

describe('what was learned', () => {
  it.each([
    ['null', null],
    ['a negative rate', { rate: -1, limited: true }],
    ['no rate at all', { rate: 0, limited: true }],
    ['infinity', { rate: Number.POSITIVE_INFINITY, limited: true }],
    ['limited as text', { rate: 10, limited: 'yes' }],
  ])('is ignored when it is %s', (_title, learned) => {
    expect(startPace({ start: 5, max: 20 }, 7, learned)).toEqual(startPace({ start: 5, max: 20 }, 7))
  })

  it.each([
    ['begins at the learned rate', { rate: 7.5, limited: true }, 7.5],
    ['begins at max when more was learned', { rate: 75, limited: true }, 20],
    ['goes on climbing from where it was never refused', { rate: 9, limited: false }, 9],
  ])('%s', (_title, learned, rate) => {
    expect(currentRate(startPace({ start: 5, max: 20 }, 0, learned))).toBe(rate)
  })

  it('survives JSON and ignores a time for steps that is out of bounds', () => {
    const learned = learnedRate(drive(begin({ start: 5, max: 20 }, { rate: 7, limited: true, tryMs: 80_000 }), 10_000).pace)
    expect(learned).toEqual({ rate: 7, limited: true, tryMs: 80_000 })
    expect(JSON.parse(JSON.stringify(learned))).toEqual(learned)
    expect(learnedRate(startPace({ start: 5, max: 20 }, 0, { rate: 7, limited: true, tryMs: 1e9 })).tryMs).toBe(120_000)
    for (const tryMs of ['x', '90000', Number.NaN, -1]) {
      expect(learnedRate(startPace({ start: 5, max: 20 }, 0, { rate: 7, limited: true, tryMs })).tryMs).toBe(20_000)
    }
  })

  it('is the present rate while nothing was refused', () =>
    expect(learnedRate(drive(begin({ start: 5, max: 40 }), 1_900).pace)).toEqual({ rate: 10, limited: false }))

  it('is nothing while the first block lasts', () => {
    const { pace, nowMs } = drive(begin({ start: 5, max: 40 }), 10_000)
    const at = earliestSendAt(pace, nowMs)
    expect(learnedRate(answered(sent(pace, at), at, REFUSED, at))).toEqual({ rate: 5, limited: false })
  })

  it('is the rate that held, not one that is being tried', () => {
    const held = drive(begin({ start: 5, max: 50 }, { rate: 10, limited: true }), 90_000)
    expect(currentRate(held.pace)).toBeGreaterThan(10)
    expect(learnedRate(held.pace).rate).toBe(10)
  })
})

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
