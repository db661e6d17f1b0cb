// What is remembered of each message: what counts in which cycle, how long a try waits, and how a message ends.
import { describe, expect, test } from 'vitest'
import {
  type Delivery,
  isDue,
  markEnded,
  settleOpen,
  type Told,
  type ToldEntry,
  toldIn,
  waitMs,
  withDigests,
} from '../../../src/core/notify/told.ts'

const DAY = 86_400_000
const START = 100 * DAY
const PERSON = '["person","ada"]'
const DIGEST = '["digest","daily"]'

const entry = (state: ToldEntry['state'], more: Partial<ToldEntry> = {}): ToldEntry => ({ level: 85, state, at: START, tries: 1, ...more })
const told = (entries: Told['entries'] = { [PERSON]: entry('sent'), [DIGEST]: entry('sent') }): Told => ({ cycleStartAt: START, entries })

test.each([
  [0, 60_000],
  [1, 60_000],
  [2, 120_000],
  [3, 240_000],
  [6, 1_920_000],
  [7, 3_600_000],
  [10, 3_600_000],
])('after %i tries the next waits %i ms', (tries, ms) => expect(waitMs(tries)).toBe(ms))

describe('what was told', () => {
  test.each<readonly [string, number, readonly string[] | undefined]>([
    ['counts in its cycle', 0, [PERSON, DIGEST]],
    ['counts where the cycle seems to begin a little earlier', 1 - DAY, [PERSON, DIGEST]],
    ['counts where the cycle seems to begin a little later', DAY - 1, [PERSON, DIGEST]],
    ['is forgotten in the next cycle, but for digests', DAY, [DIGEST]],
    ['tells nothing in an earlier cycle', -DAY, undefined],
  ])('%s', (_title, later, keys) => {
    const found = toldIn(told(), { startAt: START + later, endAt: START + 30 * DAY })
    expect(found && Object.keys(found.entries)).toEqual(keys)
  })
})

describe('a message is due', () => {
  test.each<readonly [string, ToldEntry | undefined, number, number, boolean]>([
    ['of which nothing was told', undefined, 85, 0, true],
    ['of a higher level', entry('sent'), 100, 0, true],
    ['that waits, once its wait is over', entry('waiting'), 85, 60_000, true],
    ['not before', entry('waiting'), 85, 59_999, false],
    ['that waits since a clock was ahead', entry('waiting', { at: START + DAY }), 85, 0, true],
    ['not when a clock ahead has told it', entry('sent', { at: START + DAY }), 85, 0, false],
    ['not of a lower level', entry('waiting'), 80, 60_000, false],
    ['not when it was given up', entry('failed'), 85, 60_000, false],
  ])('%s', (_title, one, level, after, expected) =>
    expect(isDue(told(one ? { [PERSON]: one } : {}), PERSON, level, START + after)).toBe(expected),
  )
})

test.each<readonly [string, number, boolean]>([
  ['that was recorded for a later day by a clock ahead is due on each day until then', START + DAY, true],
  ['of a later day is not due where only the time zone differed', START, false],
  ['of a later day is not due where another machine is a little ahead', START + 5 * 60_000, false],
])('a digest %s', (_title, at, expected) => expect(isDue(told({ [DIGEST]: entry('sent', { at }) }), DIGEST, 84, START)).toBe(expected))

describe('digests that are asked for', () => {
  const asks = (entries: Told['entries'], ...keys: readonly string[]) =>
    withDigests(
      told(entries),
      keys.map((key) => ({ key, level: 84 })),
      START,
    ).entries
  const asking = { level: 84, state: 'asked', at: START, tries: 0 } as const

  test.each<readonly [string, Told['entries'], Told['entries']]>([
    ['for the first time are not due before the next one', {}, { [DIGEST]: asking }],
    ['again are as they were', { [DIGEST]: entry('sent', { level: 83 }) }, { [DIGEST]: entry('sent', { level: 83 }) }],
    ['since a clock was ahead count from now', { [DIGEST]: { ...asking, level: 90, at: START + DAY } }, { [DIGEST]: asking }],
    ['count beside what people were told', { [PERSON]: entry('sent') }, { [PERSON]: entry('sent'), [DIGEST]: asking }],
    ['no more are forgotten', { '["digest","monthly"]': entry('sent') }, { [DIGEST]: asking }],
  ])('%s', (_title, before, after) => expect(asks(before, DIGEST)).toEqual(after))

  test('change nothing while the same are asked for', () => {
    const before = told({ [PERSON]: entry('sent'), [DIGEST]: asking })
    expect(withDigests(before, [{ key: DIGEST, level: 85 }], START)).toBe(before)
  })
})

describe('a message that was under way', () => {
  test.each<readonly [Delivery, number, Partial<ToldEntry>]>([
    [{ kind: 'sent' }, 1, { state: 'sent' }],
    [{ kind: 'refused', reason: 'busy' }, 10 - 1, { state: 'waiting', reason: 'busy' }],
    [{ kind: 'refused', reason: 'busy' }, 10, { state: 'failed', reason: 'busy' }],
    [{ kind: 'rejected', reason: 'no such address' }, 1, { state: 'failed', reason: 'no such address' }],
    [{ kind: 'unknown', reason: 'no answer' }, 1, { state: 'unknown', reason: 'no answer' }],
  ])('gets its outcome: %j after %i tries', (delivery, tries, expected) => {
    const open = told({ [PERSON]: entry('sending', { tries, reason: 'of the last try' }), [DIGEST]: entry('sending') })
    const { [PERSON]: ended, ...rest } = markEnded(open, new Map([[PERSON, delivery]]), 7).entries
    expect(ended).toEqual({ level: 85, at: 7, tries, ...expected })
    expect(rest).toEqual({ [DIGEST]: entry('sending') })
  })

  test('counts as told when the process ended before the answer', () => {
    const open = told({ [PERSON]: entry('sending'), [DIGEST]: entry('waiting', { reason: 'busy' }) })
    const reason = 'the process ended before the answer'
    expect(settleOpen(open, 7).entries).toEqual({ ...open.entries, [PERSON]: entry('unknown', { at: 7, reason }) })
  })
})

test('a message that was not under way gets no outcome', () => {
  const before = told({ [PERSON]: entry('waiting') })
  const sent = { kind: 'sent' } as const
  expect(
    markEnded(
      before,
      new Map([
        [PERSON, sent],
        [DIGEST, sent],
      ]),
      7,
    ),
  ).toEqual(before)
  expect(settleOpen(before, 7)).toBe(before)
})
