// What is remembered of each message: what counts in which cycle, how long a try waits, and how a message ends.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { afterwards, begun, due, NOTIFY } from '../../support/notify.ts'

type Told = Parameters<typeof begun>[0]
type ToldEntry = Told['entries'][string]
type Outcome = NonNullable<Parameters<typeof afterwards>[1]>

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = 100 * DAY
const CYCLE = { startAt: START, endAt: START + 30 * DAY }
const PERSON = '["person","ada"]'
/** Of the day before `START`, until eight. */
const DIGEST = '["digest","daily","group","g1","webhook chat"]'
const LEVEL = 19_700_410
const SETTINGS: typeof NOTIFY = {
  ...NOTIFY,
  people: [80, 85, 100],
  digest: 'daily',
  owners: [{ of: { kind: 'group', id: 'g1' }, targets: [{ kind: 'webhook', name: 'chat' }] }],
}

const entry = (state: ToldEntry['state'], more: Partial<ToldEntry> = {}): ToldEntry => ({ level: 85, state, at: START, tries: 1, ...more })
const told = (entries: Told['entries'] = { [PERSON]: entry('sent'), [DIGEST]: entry('sent') }): Told => ({ cycleStartAt: START, entries })

/** The messages that are due where ada has used so much of 100 credits; she is the group of the digest. */
const found = (one: Told, used: number, now = START) =>
  due({
    ...{ now, told: one, cycle: CYCLE, settings: SETTINGS, groups: [{ id: 'g1', name: 'R', emails: ['ada'] }] },
    people: [{ email: 'ada', used: credits(used), cap: credits(100), source: 'measured' }],
  })

test.each<readonly [string, number, readonly string[] | undefined]>([
  ['counts where the cycle seems to begin a little later', DAY - 1, [PERSON, DIGEST]],
  ['is forgotten in the next cycle, but for digests', DAY, [DIGEST]],
  ['tells nothing in an earlier cycle', -DAY, undefined],
])('what was told %s', (_title, later, keys) => {
  const { told: kept } = due({ now: START + 2 * DAY, told: told(), cycle: { startAt: START + later, endAt: START + 30 * DAY } })
  expect(kept && Object.keys(kept.entries)).toEqual(keys)
})

test.each<readonly [string, string, ToldEntry, number, number, boolean]>([
  ['message is due of a higher level', PERSON, entry('sent'), 100, 0, true],
  ['message is not due of a lower level', PERSON, entry('sent'), 80, 60_000, false],
  ['message is due of a lower level where the higher did not arrive', PERSON, entry('waiting'), 80, 60_000, true],
  ['message is not due of the level that was told before that', PERSON, entry('waiting', { beneath: 80 }), 80, 60_000, false],
  ['message waits four minutes after three tries', PERSON, entry('waiting', { tries: 3 }), 85, 239_999, false],
  ['message is due once its wait is over', PERSON, entry('waiting', { tries: 3 }), 85, 240_000, true],
  ['message waits no longer than an hour', PERSON, entry('waiting', { tries: 9 }), 85, 3_600_000, true],
  ['message that waits since a clock was ahead is due', PERSON, entry('waiting', { at: START + DAY }), 85, 0, true],
  ['message is not due when a clock ahead has told it', PERSON, entry('sent', { at: START + DAY }), 85, 0, false],
  ['message is not due when it was given up', PERSON, entry('failed'), 85, 60_000, false],
  ['digest of a later day is due where a clock ahead has dated it', DIGEST, entry('sent', { at: START + DAY }), 0, 0, true],
  ['digest of a later day is not due where a machine is a little ahead', DIGEST, entry('sent', { at: START + 300_000 }), 0, 0, false],
  ['digest that was never sent is not due before eight', '', entry('sent'), 0, 8 * HOUR - 1, false],
  ['digest that was never sent is due from eight on', '', entry('sent'), 0, 8 * HOUR, true],
])('a %s', (_title, key, one, used, after, expected) => {
  const before = key === DIGEST ? { ...one, level: LEVEL + 1 } : one
  expect(found(told({ [key]: before }), used, START + after).messages.some((message) => message.key === (key || DIGEST))).toBe(expected)
})

describe('a message that was under way', () => {
  test.each<readonly [Outcome, number, Partial<ToldEntry>]>([
    ['sent', 1, { state: 'sent' }],
    ['refused', 10 - 1, { state: 'waiting', reason: 'why' }],
    ['refused', 10, { state: 'failed', reason: 'why' }],
    ['rejected', 1, { state: 'failed', reason: 'why' }],
    ['unknown', 1, { state: 'unknown', reason: 'why' }],
  ])('gets its outcome: %s after %i tries', (outcome, tries, expected) => {
    const before = tries === 1 ? entry('sent', { level: 80 }) : entry('waiting', { tries: tries - 1, reason: 'of the last try' })
    const others = { [DIGEST]: entry('sending', { level: LEVEL + 1 }) }
    const now = START + DAY
    const { [PERSON]: ended, ...rest } = afterwards(found(told({ [PERSON]: before, ...others }), 85, now), outcome, now).entries
    expect(ended).toEqual({ level: 85, at: now, tries, ...expected })
    expect(rest).toEqual(others)
  })

  test('counts as told when the process ended before the answer', () => {
    const open = told({ [PERSON]: entry('sending'), [DIGEST]: entry('waiting', { reason: 'busy' }) })
    const reason = 'the process ended before the answer'
    expect(begun(open, START).entries).toEqual({ ...open.entries, [PERSON]: entry('unknown', { reason }) })
  })
})
