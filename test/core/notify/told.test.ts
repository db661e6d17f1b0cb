// What is remembered of each message: what counts in which cycle, how long a try waits, and how a message ends.
import { describe, expect, test } from 'vitest'
import { isDue, markEnded, settleOpen, withDigests } from '../../../src/core/notify/told.ts'
import { due } from '../../support/notify.ts'

type Told = Parameters<typeof settleOpen>[0]
type ToldEntry = Told['entries'][string]
type Delivery = Parameters<typeof markEnded>[1] extends ReadonlyMap<string, infer One> ? One : never

const DAY = 86_400_000
const START = 100 * DAY
const PERSON = '["person","ada"]'
const DIGEST = '["digest","daily"]'

const entry = (state: ToldEntry['state'], more: Partial<ToldEntry> = {}): ToldEntry => ({ level: 85, state, at: START, tries: 1, ...more })
const told = (entries: Told['entries'] = { [PERSON]: entry('sent'), [DIGEST]: entry('sent') }): Told => ({ cycleStartAt: START, entries })

test.each<readonly [string, number, readonly string[] | undefined]>([
  ['counts where the cycle seems to begin a little later', DAY - 1, [PERSON, DIGEST]],
  ['is forgotten in the next cycle, but for digests', DAY, [DIGEST]],
  ['tells nothing in an earlier cycle', -DAY, undefined],
])('what was told %s', (_title, later, keys) => {
  const found = due({ now: START + 2 * DAY, told: told(), cycle: { startAt: START + later, endAt: START + 30 * DAY } }).told
  expect(found && Object.keys(found.entries)).toEqual(keys)
})

test.each<readonly [string, string, ToldEntry, number, number, boolean]>([
  ['message is due of a higher level', PERSON, entry('sent'), 100, 0, true],
  ['message is not due of a lower level', PERSON, entry('waiting'), 80, 60_000, false],
  ['message waits four minutes after three tries', PERSON, entry('waiting', { tries: 3 }), 85, 239_999, false],
  ['message is due once its wait is over', PERSON, entry('waiting', { tries: 3 }), 85, 240_000, true],
  ['message waits no longer than an hour', PERSON, entry('waiting', { tries: 9 }), 85, 3_600_000, true],
  ['message that waits since a clock was ahead is due', PERSON, entry('waiting', { at: START + DAY }), 85, 0, true],
  ['message is not due when a clock ahead has told it', PERSON, entry('sent', { at: START + DAY }), 85, 0, false],
  ['message is not due when it was given up', PERSON, entry('failed'), 85, 60_000, false],
  ['digest that a clock ahead dated to a later day is due each day until then', DIGEST, entry('sent', { at: START + DAY }), 84, 0, true],
  ['digest of a later day is not due where a machine is a little ahead', DIGEST, entry('sent', { at: START + 300_000 }), 84, 0, false],
])('a %s', (_title, key, one, level, after, expected) => expect(isDue(told({ [key]: one }), key, level, START + after)).toBe(expected))

describe('digests that are asked for', () => {
  const asked = (entries: Told['entries']) => withDigests(told(entries), [{ key: DIGEST, level: 84 }], START).entries
  const asking = { level: 84, state: 'asked', at: START, tries: 0 } as const

  test.each<readonly [string, Told['entries'], Told['entries']]>([
    ['since a clock was ahead count from now', { [DIGEST]: { ...asking, level: 90, at: START + DAY } }, { [DIGEST]: asking }],
    ['count beside what people were told', { [PERSON]: entry('sent') }, { [PERSON]: entry('sent'), [DIGEST]: asking }],
    ['no more are forgotten', { '["digest","monthly"]': entry('sent') }, { [DIGEST]: asking }],
  ])('%s', (_title, before, after) => expect(asked(before)).toEqual(after))

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

  test('and one that was not gets no outcome', () => {
    const before = told({ [PERSON]: entry('waiting') })
    expect(markEnded(before, new Map([PERSON, DIGEST].map((key) => [key, { kind: 'sent' }])), 7)).toEqual(before)
    expect(settleOpen(before, 7)).toBe(before)
  })
})
