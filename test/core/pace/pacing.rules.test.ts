// How long a pace waits before it tries more, and on which clock; what it does then is in pacing.test.ts.
import { describe, expect, it } from 'vitest'
import {
  answered,
  currentRate,
  earliestSendAt,
  learnedRate,
  sent,
  startPace,
  succeeding,
  withSettings,
} from '../../../src/core/pace/pacing.ts'
import { begin, drive, LATENCY_MS, OK, REFUSED, type Run, refuseFor } from '../../support/pacing.ts'

type Pace = ReturnType<typeof sent>

const learned = (rate: number, more: { readonly tryMs?: number } = {}): Run =>
  begin({ start: 5, max: 50 }, { rate, limited: true, ...more })

/** The instants at which the rate changes until `untilMs`, in whole seconds, with the new rate. */
function changes(run: Run, untilMs: number): (readonly [number, number])[] {
  const seen: (readonly [number, number])[] = []
  let at = run
  while (at.nowMs < untilMs) {
    const next = drive(at, at.nowMs + 1_000)
    if (currentRate(next.pace) !== currentRate(at.pace)) seen.push([next.nowMs / 1_000, currentRate(next.pace)])
    at = next
  }
  return seen
}

/** `count` requests are refused together, then the first probe is answered. */
function refuseTogether(run: Run, count: number): Run {
  const first = earliestSendAt(run.pace, run.nowMs)
  const times = Array.from({ length: count }, (_, index) => first + index)
  const flying = times.reduce(sent, run.pace)
  const late = first + count + LATENCY_MS
  const blocked = times.reduce((pace, at) => answered(pace, late, REFUSED, at), flying)
  const probeAt = earliestSendAt(blocked, late)
  return { pace: answered(sent(blocked, probeAt), probeAt + LATENCY_MS, OK, probeAt), nowMs: probeAt + LATENCY_MS }
}

describe('the quiet time before a step up', () => {
  it.each([
    ['300 requests, a minute at least', 10, 60],
    ['300 requests', 2, 150],
    ['six minutes at most', 0.5, 360],
  ])('is %s', (_title, rate, seconds) => {
    const [[at, next] = [0, 0]] = changes(learned(rate), 400_000)
    expect(next).toBeCloseTo(rate * 1.03)
    expect(at - seconds).toBeGreaterThanOrEqual(0)
    expect(at - seconds).toBeLessThanOrEqual(1 / rate + 1)
  })

  it.each([
    [1, 60],
    [4, 124],
    [30, 360],
  ])('is longer after %i requests that were refused together', (count, seconds) => {
    const low = refuseTogether(drive(learned(10), 30_000), count)
    expect(currentRate(low.pace)).toBeCloseTo(9.7)
    const [[at] = [0]] = changes(low, low.nowMs + 400_000)
    expect(at - low.nowMs / 1_000 - seconds).toBeGreaterThan(-1)
    expect(at - low.nowMs / 1_000 - seconds).toBeLessThanOrEqual(1)
  })

  it('stops while there is nothing to send', () => {
    const worked = drive(learned(10), 30_000)
    const idle: Run = { pace: worked.pace, nowMs: 630_000 }
    expect(currentRate(drive(idle, 659_000).pace)).toBe(10)
    expect(currentRate(drive(idle, 661_000).pace)).toBeCloseTo(10.3)
  })
})

describe('a step up is believed after', () => {
  it.each([
    ['20 s', 10, 20],
    ['40 requests', 1, 39],
    ['a minute', 0.5, 60],
  ])('%s', (_title, rate, seconds) => {
    const [[first] = [0], [second, next] = [0, 0]] = changes(learned(rate), 500_000)
    expect(next).toBeCloseTo(rate * 1.03 * 1.06)
    expect(second - first - seconds).toBeGreaterThanOrEqual(0)
    expect(second - first - seconds).toBeLessThanOrEqual(1 / rate + 1)
  })

  it('as long as was learned, and the next ones by how much more they try', () => {
    const [[first] = [0], [second] = [0], [third] = [0], [fourth] = [0]] = changes(learned(10, { tryMs: 80_000 }), 300_000)
    expect([second - first, third - second, fourth - third]).toEqual([81, 26, 20])
  })
})

/** Sends each request `lateMs` after it was allowed. */
function lateBy(start: Pace, lateMs: number, untilMs: number): { readonly pace: Pace; readonly sends: number } {
  let pace = start
  let sends = 0
  for (let at = lateMs; at < untilMs; at = earliestSendAt(pace, at) + lateMs) {
    pace = answered(sent(pace, at), at + LATENCY_MS, OK, at)
    sends += 1
  }
  return { pace, sends }
}

it.each([
  ['cost no rate up to 20 ms', 30, 20, 300],
  ['cost the rest when they are later', 20, 45, 133],
  ['cost what is more than that', 10.9, 15, 103],
])('requests that go out a little late: %s', (_title, rate, lateMs, expected) => {
  const { sends } = lateBy(startPace({ start: rate, max: rate }, 0), lateMs, 10_000)
  expect(Math.abs(sends - expected)).toBeLessThanOrEqual(1)
})

describe('what a refusal in the first climb says', () => {
  /** Refused after so many answers at 5/s, for `blockMs`. */
  const after = (successes: number): number => {
    let pace = startPace({ start: 5, max: 5 }, 0)
    for (let turn = 0; turn < successes; turn += 1) pace = answered(sent(pace, turn * 200), turn * 200 + LATENCY_MS, OK, turn * 200)
    const at = successes * 200
    const blocked = answered(sent(pace, at), at + LATENCY_MS, { kind: 'refused', retryAfterMs: 60_000 }, at)
    const probeAt = at + LATENCY_MS + 60_000
    return currentRate(answered(sent(blocked, probeAt), probeAt, OK, probeAt))
  }
  it.each([
    ['nothing after four answers', 4, 5],
    ['what went through after five', 5, (0.97 * 6) / 61],
  ])('is %s', (_title, successes, rate) => expect(after(successes)).toBeCloseTo(Math.max(0.1, rate), 2))
})

describe('the rate after a refusal', () => {
  it('is what two steps were tried from while the third has not begun', () => {
    const second = drive(learned(10, { tryMs: 120_000 }), 60_000 + 120_000 + 38_000)
    expect(currentRate(second.pace)).toBeCloseTo(10 * 1.03 * 1.06)
    expect(currentRate(refuseFor(second, 1_000).pace)).toBe(10)
  })

  const low = refuseFor(drive(learned(2), 100_000), 100_000)
  it('is what went through since the last one, when that is more than a minute ago', () => {
    expect(currentRate(low.pace)).toBeCloseTo((0.97 * 201) / 200, 1)
    expect(learnedRate(low.pace).tryMs).toBe(20_000)
  })

  it('goes halfway back to the usual one within 5 minutes, after 100 requests', () => {
    const halfway = Math.sqrt(2 * currentRate(low.pace))
    const [[at, next] = [0, 0]] = changes(low, low.nowMs + 200_000)
    expect(next).toBeCloseTo(halfway)
    expect(Math.abs(at - low.nowMs / 1_000 - 100 / halfway)).toBeLessThan(2)
  })

  it('takes twice the requests when two were refused', () => {
    const held = drive(learned(2), 100_000)
    const at = earliestSendAt(held.pace, held.nowMs)
    const told = { kind: 'refused', retryAfterMs: 100_000 } as const
    const blocked = answered(answered(sent(sent(held.pace, at), at), at, told, at), at, told, at)
    const low = { pace: answered(sent(blocked, at + 100_000), at + 100_000, OK, at + 100_000), nowMs: at + 100_000 }
    const [[backAt, next] = [0, 0]] = changes(low, low.nowMs + 200_000)
    expect(Math.abs(backAt - low.nowMs / 1_000 - 200 / next)).toBeLessThan(2)
  })

  it('goes back to what was usual lately, not to what was long ago', () => {
    const start = begin({ start: 5, max: 10 }, { rate: 10, limited: true })
    const outage = refuseFor(drive(start, 100_000), 600_000)
    const usual = drive(outage, outage.nowMs + 2_000_000)
    expect(currentRate(usual.pace)).toBe(10)
    const once = refuseFor(usual, 1_000)
    const low = refuseFor(refuseFor(once, 1_000), 1_000)
    expect(currentRate(low.pace)).toBeLessThan(2)
    expect(learnedRate(low.pace).rate).toBeCloseTo(0.97 * currentRate(once.pace))
    expect(learnedRate(low.pace).rate).toBeGreaterThan(8.5)
  })

  it.each([
    ['after a longer time without one', () => refuseFor(drive(learned(0.5), 320_000), 320_000)],
    ['in the first climb', () => refuseFor(drive(begin({ start: 5, max: 5 }), 5_000), 20_000)],
    ['of a try', () => refuseFor(drive(learned(10), 61_000), 20_000)],
  ])('is left alone %s', (_title, low: () => Run) => {
    const run = low()
    const rate = currentRate(run.pace)
    const [[at, next] = [0, 0]] = changes(run, run.nowMs + 400_000)
    expect(next).toBeCloseTo(rate * 1.03)
    expect(at - run.nowMs / 1_000).toBeGreaterThan(59)
  })

  it('waits for its first request as for any other', () =>
    expect(earliestSendAt(low.pace, low.nowMs)).toBeCloseTo(low.nowMs + 1_000 / currentRate(low.pace)))
})

describe('what is learned', () => {
  it('halves the time for steps with each gain of more than 5 %, to 20 s at least', () => {
    expect(learnedRate(drive(learned(10, { tryMs: 80_000 }), 70_000).pace).tryMs).toBe(80_000)
    const gained = drive(learned(10, { tryMs: 30_000 }), 1_000_000)
    expect(learnedRate(gained.pace)).toEqual({ rate: 50, limited: true, tryMs: 20_000 })
  })

  it('is what was proven while a block lasts', () => {
    const { pace, nowMs } = drive(learned(10, { tryMs: 30_000 }), 90_000)
    const at = earliestSendAt(pace, nowMs)
    expect(learnedRate(answered(sent(pace, at), at, REFUSED, at))).toEqual({ rate: 10, limited: true, tryMs: 30_000 })
  })

  it('is the rate after the first block before anything is proven, and a second block says nothing of a false gain', () => {
    const first = refuseFor(drive(begin({ start: 5, max: 40 }), 10_000), 1_000)
    expect(learnedRate(first.pace)).toEqual({ rate: currentRate(first.pace), limited: true, tryMs: 20_000 })
    const second = refuseFor(drive(first, first.nowMs + 10_000), 1_000)
    expect(learnedRate(second.pace).tryMs).toBe(20_000)
  })

  it('is the highest rate that there may be once that has held for its try and a minute', () => {
    const settings = { start: 5, max: 11 }
    const run = begin(settings, { rate: 10, limited: true })
    const [reachedAt] = changes(run, 400_000).at(-1) ?? [0]
    const learnedAt = (seconds: number) => learnedRate(drive(run, (reachedAt + seconds) * 1_000).pace).rate
    expect([learnedAt(22), learnedAt(75), learnedAt(85)]).toEqual([10, 10, 11])
  })
})

const climbing = startPace({ start: 5, max: 40 }, 0)
const holding = startPace({ start: 5, max: 40 }, 0, { rate: 10, limited: true })
it.each<readonly [string, Pace, number, number]>([
  ['the quiet time is not over a millisecond early', holding, 59_999, 10],
  ['the quiet time is over at its end', holding, 60_000, 10.3],
  ['a tenth of idleness is little', sent(climbing, 120), 1_100, 10],
  ['more than a tenth is not', sent(climbing, 121), 1_101, 5],
])('to the millisecond: %s', (_name, pace, at, rate) => expect(currentRate(answered(pace, at, OK, at - 10))).toBeCloseTo(rate))

describe('other settings', () => {
  const settings = { start: 5, max: 10 }
  /** At 10/s, the last request a moment ago. */
  const { pace } = drive(begin(settings, { rate: 10, limited: true }), 1_000)
  const at = pace.sentAtMs ?? 0

  it('that are the same change nothing', () => expect(withSettings(pace, { ...settings })).toBe(pace))
  it('with another start and a higher max are taken on, and leave the rate and the next request as they are', () => {
    const freer = withSettings(pace, { start: 7, max: 40 })
    expect([currentRate(freer), earliestSendAt(freer, at), freer.settings]).toEqual([10, earliestSendAt(pace, at), { start: 7, max: 40 }])
  })
  it('that take a try back to where it began keep no later one from its end', () => {
    const edited = (run: Run, max: number) => drive({ ...run, pace: withSettings(run.pace, { start: 5, max }) }, run.nowMs + 70_000)
    const run = [40, 10, 40, 40].reduce(edited, begin(settings, { rate: 10, limited: true }))
    expect(currentRate(run.pace)).toBeGreaterThan(10)
  })
  it('before anything was sent let the first request go at once', () =>
    expect(earliestSendAt(withSettings(startPace(settings, 50), { start: 5, max: 2 }), 0)).toBe(50))
})

describe('a key that takes the place of another', () => {
  const { pace } = drive(begin({ start: 5, max: 40 }, { rate: 10, limited: true }), 1_000)
  const at = pace.sentAtMs ?? 0
  it('knows the rate, and keeps the gap to the last request', () => {
    const next = succeeding(pace, at + 10)
    expect([currentRate(next), earliestSendAt(next, at + 10)]).toEqual([10, at + 100])
    expect(learnedRate(next)).toEqual(learnedRate(pace))
  })
  it('sends at once when that is long ago, or nothing was sent', () => {
    expect(earliestSendAt(succeeding(pace, at + 5_000), at)).toBe(at + 5_000)
    expect(earliestSendAt(succeeding(startPace({ start: 5, max: 40 }, 0), 7), 0)).toBe(7)
  })
  it('is not blocked because the other was', () => {
    const blocked = answered(sent(pace, at + 100), at + 110, { kind: 'refused', retryAfterMs: 60_000 }, at + 100)
    expect(earliestSendAt(succeeding(blocked, at + 120), at + 120)).toBe(at + 200)
  })
})
