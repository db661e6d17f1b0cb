// The caps that were in force on past days, out of what was written and what is ours now.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistoryEntry } from '../../../../src/core/model/change.ts'
import type { JournalEntry } from '../../../../src/core/model/events.ts'
import { type ScopeKey, scopeKey } from '../../../../src/core/model/scope.ts'
import { credits } from '../../../../src/core/model/units.ts'
import { capsInForce } from '../../../../src/core/use/replay/in-force.ts'
import { replayPeople } from '../../../../src/core/use/replay/recorded.ts'
import { cap, DAY, email, type PlainCap, roster, scope } from '../../../support/declare.ts'
import { historyOf, ownedCap, raise } from '../../../support/ledger.ts'
import { cyclesOf, group } from '../../../support/replay.ts'

const [CYCLE] = cyclesOf(1)
const NAMES = ['ada', 'bob']
const PEOPLE = replayPeople(
  { addOn: 'estimated', people: [], days: [] },
  roster(Object.fromEntries(NAMES.map((name) => [name, 'approved']))).people,
  [group('a', 'ada', 'bob'), group('b', 'bob')],
)

function capsOver(days: number, owned: Parameters<typeof capsInForce>[1], history: readonly HistoryEntry[]) {
  const source = capsInForce(PEOPLE, owned, history)
  return Array.from({ length: days }, (_, day) => {
    if (!CYCLE) throw new Error('no cycle')
    const { caps } = source.capsOn({ at: day * DAY + DAY / 2, cycle: CYCLE, used: new Float64Array(NAMES.length) })
    return NAMES.map((name) => caps[PEOPLE.emails.indexOf(email(name))])
  })
}

const written = (name: string, day: number, from: PlainCap, to: PlainCap, result: HistoryEntry['result'] = 'applied'): HistoryEntry => ({
  ...historyOf(raise(scope(name), 0, 0), day * DAY),
  from: cap(from),
  to: cap(to),
  result,
})

test('before the first write the cap was what it replaced, after the last what it set; a failed one changed nothing', () => {
  const history = [written('team', 3, 300, 400), written('team', 1, 200, 300), written('team', 2, 300, 999, 'failed')]
  expect(capsOver(4, [ownedCap(scope('team'), 400)], history)).toEqual([
    [200, 200],
    [300, 300],
    [300, 300],
    [400, 400],
  ])
})

test('what another client wrote was in force until it was reverted, or until now', () => {
  const foreign = (day: number, observed: PlainCap | 'unknown'): JournalEntry => ({
    at: day * DAY,
    kind: 'foreign',
    scope: scope('ada'),
    verified: cap(70),
    observed: observed === 'unknown' ? observed : cap(observed),
  })
  const source = (history: readonly HistoryEntry[], journal: readonly JournalEntry[]) =>
    Array.from({ length: 4 }, () => capsInForce(PEOPLE, [ownedCap(scope('ada'), 70)], history, journal)).map((one, day) => {
      if (!CYCLE) throw new Error('no cycle')
      const used = new Float64Array(NAMES.length)
      return one.capsOn({ at: day * DAY + DAY / 2, cycle: CYCLE, used }).caps[PEOPLE.emails.indexOf(email('ada'))]
    })
  expect(source([written('ada', 2, 900, 70)], [foreign(1, 900), { at: DAY, kind: 'resume' }])).toEqual([70, 900, 70, 70])
  expect(source([], [foreign(2, 900), foreign(1, 'unknown')])).toEqual([70, 70, 900, 900])
})

test('what was written at noon holds for that day, and an answer stays as it was', () => {
  const at = (day: number, from: number, to: number) => ({ ...written('ada', 0, from, to), at: (day + 0.5) * DAY })
  const source = capsInForce(PEOPLE, [], [at(1, 200, 300), { ...at(2, 300, 400), at: 2.5 * DAY + 1 }])
  const answers = Array.from({ length: 4 }, (_, day) => {
    if (!CYCLE) throw new Error('no cycle')
    return source.capsOn({ at: (day + 0.5) * DAY, cycle: CYCLE, used: new Float64Array(NAMES.length) })
  })
  const ada = PEOPLE.emails.indexOf(email('ada'))
  expect(answers.map(({ caps, from }) => [caps[ada], source.scopes[from[ada] ?? -1]])).toEqual([
    ...[200, 300, 300, 400].map((cap) => [cap, email('ada')]),
  ])
  // A day on which nothing was written costs nothing.
  expect(answers[2]).toBe(answers[1])
})

test('the scope that gives a cap goes with the cap, whatever was written', () => {
  const source = capsInForce(PEOPLE, [ownedCap(scope('team'), 50)], [written('ada', 1, 'none', 70), written('ada', 2, 70, 'none')])
  const given = Array.from({ length: 3 }, (_, day) => {
    if (!CYCLE) throw new Error('no cycle')
    return source.capsOn({ at: (day + 0.5) * DAY, cycle: CYCLE, used: new Float64Array(NAMES.length) })
  })
  expect(given.map(({ from }) => source.scopes[from[PEOPLE.emails.indexOf(email('ada'))] ?? -1])).toEqual(['team', email('ada'), 'team'])
})

test('a cap of ours that was never written was always there; an unknown one is none', () => {
  expect(capsOver(2, [ownedCap(scope('ada'), 70)], [])).toEqual([
    [70, Number.POSITIVE_INFINITY],
    [70, Number.POSITIVE_INFINITY],
  ])
})

test('whatever was written, each day has the caps that computing every scope anew gives', () => {
  const write = fc.record({
    name: fc.constantFrom('team', 'group:a', 'group:b', 'ada', 'bob'),
    day: fc.integer({ min: 0, max: 5 }),
    to: fc.oneof(fc.constant('none' as const), fc.integer({ min: 1, max: 9 })),
  })
  fc.assert(
    fc.property(fc.array(write, { maxLength: 12 }), (writes) => {
      const standing = new Map<ScopeKey, PlainCap>()
      const history = writes
        .toSorted((a, b) => a.day - b.day)
        .map(({ name, day, to }, index) => {
          const from = standing.get(scopeKey(scope(name))) ?? 'none'
          standing.set(scopeKey(scope(name)), to)
          return { ...written(name, day, from, to), at: day * DAY + index }
        })
      const at = (name: string, day: number): number => {
        const last = (key: string): number | undefined => {
          const found = history.findLast((one) => scopeKey(one.scope) === scopeKey(scope(key)) && one.at <= day * DAY + DAY / 2)?.to
          return found === undefined || found === 'none' ? undefined : Number(credits(Number(found)))
        }
        const groups = (name === 'bob' ? ['group:a', 'group:b'] : ['group:a']).flatMap((key) => last(key) ?? [])
        return last(name) ?? (groups.length > 0 ? Math.min(...groups) : (last('team') ?? Number.POSITIVE_INFINITY))
      }
      const expected = Array.from({ length: 6 }, (_, day) => NAMES.map((name) => at(name, day)))
      expect(capsOver(6, [], history)).toEqual(expected)
    }),
  )
})
