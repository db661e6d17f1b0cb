import { describe, expect, test } from 'vitest'
import { emptied, judgeRoster, keepGroups } from '../../../src/core/resolve/roster.ts'
import { DAY, members, NOW, policy, roster } from '../../support/declare.ts'
import { each } from '../../support/plan.ts'

type Roster = ReturnType<typeof roster>
type Doubt = NonNullable<ReturnType<typeof judgeRoster>['doubted']>

const of = (count: number): Roster => roster(each(count, 'approved' as const))
const doubt = (count: number, since = NOW): Doubt => ({ roster: of(count), since })

describe('a new reading of the roster', () => {
  const TABLE: readonly (readonly [string, number, { roster: Roster; doubted?: Doubt } | undefined, number, number | 'doubted'])[] = [
    ['the first one is believed', 5, undefined, NOW, 5],
    ['a fall of 20 % is believed', 80, { roster: of(100) }, NOW, 80],
    ['a fall of 21 % is doubted', 79, { roster: of(100) }, NOW, 'doubted'],
    ['a second one too soon is still doubted', 60, { roster: of(100), doubted: doubt(60) }, NOW + 599_999, 'doubted'],
    ['a second one that agrees 10 min later is believed', 60, { roster: of(100), doubted: doubt(60) }, NOW + 600_000, 60],
    ['a fall of more than half is never believed by itself', 49, { roster: of(100), doubted: doubt(49) }, NOW + 5_400_000, 'doubted'],
    ['a fall from nobody is none', 0, { roster: of(0) }, NOW, 0],
    ['a fall of just half is believed when a second reading agrees', 50, { roster: of(100), doubted: doubt(50) }, NOW + 600_000, 50],
    ['a second one that differs by one of a few is believed', 6, { roster: of(10), doubted: doubt(5) }, NOW + 600_000, 6],
    ['a second one that differs by two of a few is doubted', 7, { roster: of(10), doubted: doubt(5) }, NOW + 600_000, 'doubted'],
    ['a second one that differs by more than 1 % is doubted', 989, { roster: of(1500), doubted: doubt(1000) }, NOW + 600_000, 'doubted'],
    ['a second one that differs by 1 % of many is believed', 990, { roster: of(1500), doubted: doubt(1000) }, NOW + 600_000, 990],
  ]
  test.each(TABLE)('%s', (_name, count, known, now, expected) => {
    const judged = judgeRoster(of(count), known, 20, now)
    expect(judged.doubted ? 'doubted' : judged.roster.people.length).toBe(expected)
    if (judged.doubted) expect(judged.roster).toBe(known?.roster)
  })
  test('a doubt keeps its beginning while readings agree', () => {
    const judged = judgeRoster(of(49), { roster: of(100), doubted: doubt(49, NOW - 5) }, 20, NOW)
    expect(judged.doubted?.since).toBe(NOW - 5)
  })
  test('a doubt that is dated ahead begins when the clock is set back', () =>
    expect(judgeRoster(of(60), { roster: of(100), doubted: doubt(60, NOW + 9) }, 20, NOW).doubted?.since).toBe(NOW))
  test('the guard can be switched off', () => expect(judgeRoster(of(1), { roster: of(100) }, 'off', NOW).roster.people).toHaveLength(1))
})

describe('around the roster', () => {
  test('a doubt that begins anew has the new reading and its time', () =>
    expect(judgeRoster(of(70), { roster: of(100), doubted: doubt(60) }, 20, NOW + 9)).toEqual({
      roster: of(100),
      doubted: { roster: of(70), since: NOW + 9 },
    }))
  test('people count who are approved, also without access, and everybody where no row has a status', () => {
    const doubted = (fewer: Roster) => judgeRoster(fewer, { roster: of(100) }, 20, NOW).doubted !== undefined
    const fewer = roster({ ...each(100, 'pending' as const), ...each(79, 'disabled' as const) })
    expect([fewer, { ...fewer, statusesAbsent: true }, roster(each(80, 'disabled' as const))].map(doubted)).toEqual([true, false, false])
  })
  test('groups that are still declared are kept, in the order declared', () =>
    expect(
      keepGroups(members({ a: [], b: [], c: [] }), [
        { id: 'c', name: 'C' },
        { id: 'x', name: 'X' },
        { id: 'a', name: 'A' },
        { id: 'b', name: 'Renamed' },
      ]).map((one) => one.id),
    ).toEqual(['c', 'a']))
})

test.each<readonly [string, Parameters<typeof policy>[0]]>([
  ['a cap', { caps: { team: 5 } }],
  ['a grant', { grants: [{ on: 'p0', until: NOW + DAY }] }],
  ['a group', { bare: ['g'] }],
  ['a protected person', { protect: ['p0'] }],
  ['an approval', { approvalIds: ['a'] }],
  ['a rule', { rules: [{ when: { role: 'r' }, cap: 5 }] }],
  ['a pool', { pools: [{ members: { kind: 'emails', emails: [] }, credits: 5 }] }],
])('a file that held %s and is empty now is broken, and one that held nothing is not', (_name, sketch) => {
  const kept = policy(sketch)
  const now = { set: policy({}), digest: '', revision: '', empty: ['other.yaml', 'an-acme.yaml', '../../policies/acme.yaml'] }
  expect(emptied(now, kept)).toMatchObject([{ code: 'EMPTY_FILE', at: { file: '../../policies/acme.yaml' } }])
  expect([...emptied(now, undefined), ...emptied({ ...now, set: kept }, kept)]).toEqual([])
})
