// When another billing cycle is believed, and which figures are shown until then.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { groupsOfTurn, takeCycle } from '../../../src/core/resolve/roster.ts'
import { CYCLE, DAY, email, HOUR, members, rosterOfUse } from '../../support/declare.ts'

type Roster = Parameters<typeof takeCycle>[0]
type CycleFacts = ReturnType<typeof takeCycle>

const MINUTE = 60_000
const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 31 * DAY }
const MIDDLE = CYCLE.startAt + 15 * DAY

const reading = (readAt: number, used: Readonly<Record<string, number | undefined>>, cycle?: Roster['cycle']) =>
  rosterOfUse(used, cycle, readAt)

/** Readings one after the other, by clocks that agree or are `aheadMs` apart. */
const believed = (readings: readonly Roster[], aheadMs = 0): CycleFacts => {
  let facts: CycleFacts | undefined
  for (const one of readings) facts = takeCycle(one, facts, one.readAt, one.readAt + aheadMs)
  if (!facts) throw new Error('no reading')
  return facts
}

const shown = ({ roster }: CycleFacts): string =>
  [roster.cycle === NEXT ? 'next' : roster.cycle ? 'present' : 'none', ...roster.people.map(({ used }) => used ?? '?')].join(' ')

describe('a later cycle', () => {
  test.each<readonly [string, readonly (readonly [number, number, 'next' | 'present'])[], string]>([
    ['has figures with half of the last ones', [[NEXT.startAt + HOUR, 45, 'next']], 'next 45'],
    [
      'has them as soon as they are its own, and keeps them',
      [
        [NEXT.startAt + HOUR, 90, 'next'],
        [NEXT.startAt + 2 * HOUR, 40, 'next'],
        [NEXT.startAt + 3 * HOUR, 80, 'next'],
      ],
      'next 80',
    ],
    [
      'has none beside one answer that names the last one again',
      [
        [NEXT.startAt + HOUR, 90, 'next'],
        [NEXT.startAt + 2 * HOUR, 90, 'present'],
        [NEXT.startAt + 3 * HOUR, 90, 'next'],
      ],
      'next ?',
    ],
  ])('%s', (_name, readings, expected) => {
    const all = readings.map(([at, used, of]) => reading(at, { a: used }, of === 'next' ? NEXT : CYCLE))
    expect(shown(believed([reading(MIDDLE - HOUR, { a: 90 }, CYCLE), ...all]))).toBe(expected)
  })

  test.each([['a year behind', 365 * DAY]])('whose figures are the old ones has none for six hours by a clock %s', (_name, behindMs) => {
    const at = (sinceMs: number) => NEXT.startAt + sinceMs - behindMs
    const before = [reading(at(-HOUR), { a: 90 }, CYCLE), reading(at(MINUTE), { a: 90 }, NEXT)]
    const until = (sinceMs: number) =>
      shown(believed([...before, reading(at(15 * MINUTE), { a: 90 }, NEXT), reading(at(sinceMs), { a: 90 }, NEXT)]))
    expect([until(6 * HOUR - 1), until(6 * HOUR + MINUTE)]).toEqual(['next ?', 'next 90'])
  })

  test('has its figures at once where nobody had used anything', () =>
    expect(shown(believed([reading(MIDDLE, { a: 0 }, CYCLE), reading(NEXT.startAt + HOUR, { a: 5 }, NEXT)]))).toBe('next 5'))

  test('keeps what everybody had used, without those of whom it is not known', () => {
    const ended = { cycle: CYCLE, used: { [email('a')]: 90 }, readAt: MIDDLE }
    const first = believed([reading(MIDDLE, { a: 90, b: undefined }, CYCLE), reading(NEXT.startAt, { a: 90, b: 1 }, NEXT)])
    expect(first.previousCycle).toEqual(ended)
    expect(takeCycle(reading(NEXT.startAt + DAY, { a: 2 }, NEXT), first, NEXT.startAt + DAY, NEXT.startAt + DAY)).toEqual({
      roster: reading(NEXT.startAt + DAY, { a: 2 }, NEXT),
      previousCycle: ended,
    })
  })

  test('that was named ahead of the clock is waited for from now on', () => {
    const named = believed([reading(MIDDLE, { a: 90 }, CYCLE), reading(MIDDLE + 9 * DAY, { a: 1 }, NEXT)])
    const back = takeCycle(reading(MIDDLE, { a: 1 }, NEXT), named, MIDDLE, MIDDLE)
    expect([shown(back), back.turn?.namedAt]).toEqual(['present 90', MIDDLE])
    expect(shown(takeCycle(reading(MIDDLE + 10 * MINUTE, { a: 1 }, NEXT), back, MIDDLE + 10 * MINUTE, MIDDLE))).toBe('next 1')
  })
})

describe('while a later cycle was named once', () => {
  const facts = believed([
    reading(MIDDLE, { a: 90, gone: 5 }, CYCLE),
    reading(MIDDLE + HOUR, { a: 1, came: 7 }, NEXT),
    reading(MIDDLE + HOUR + MINUTE, { a: 1, came: 7 }, NEXT),
  ])
  test('people are those of the new reading, with the figures and the cycle of the last one', () => {
    expect(facts).toEqual({
      roster: reading(MIDDLE + HOUR + MINUTE, { a: 90, came: undefined }, CYCLE),
      turn: { cycle: NEXT, namedAt: MIDDLE + HOUR, figuresAt: MIDDLE },
    })
  })
  test('groups keep their last figures as well, and have none while the old ones are shown', () => {
    const groups = (used?: number) => members({ g: ['a'] }).map((one) => ({ ...one, ...(used !== undefined && { used: credits(used) }) }))
    expect(groupsOfTurn(facts.turn, groups(3), groups(90))).toEqual(groups(90))
    expect(groupsOfTurn(facts.turn, groups(3), [])).toEqual(groups())
    expect(groupsOfTurn({ cycle: NEXT, namedAt: MIDDLE }, groups(90), groups(90))).toEqual(groups())
    expect(groupsOfTurn(undefined, groups(3), groups(90))).toEqual(groups(3))
  })
})

test.each([
  ['a cycle where none was named', [reading(MIDDLE, { a: 90 }), reading(MIDDLE + 1, { a: 1 }, NEXT)]],
  ['a reading without a cycle', [reading(MIDDLE, { a: 90 }, CYCLE), reading(MIDDLE + 1, { a: 1 })]],
  ['figures where there were none', [reading(MIDDLE, { a: undefined }, CYCLE), reading(MIDDLE + 1, { a: 1 }, CYCLE)]],
])('what is taken as it comes: %s', (_name, readings) => expect(believed(readings)).toEqual({ roster: readings.at(-1) }))
