import { describe, expect, test } from 'vitest'
import type { Roster } from '../../src/core/observed.ts'
import { AGREEMENT_MS, type Doubt, judgeRoster } from '../../src/core/roster.ts'
import { NOW, roster } from '../support/declare.ts'
import { each } from '../support/plan.ts'

const of = (count: number): Roster => roster(each(count, 'approved' as const))
const doubt = (count: number, since = NOW): Doubt => ({ roster: of(count), since })

describe('a new reading of the roster', () => {
  const TABLE: readonly (readonly [string, number, { roster: Roster; doubted?: Doubt } | undefined, number, number | 'doubted'])[] = [
    ['the first one is believed', 5, undefined, NOW, 5],
    ['growth is believed', 120, { roster: of(100) }, NOW, 120],
    ['a fall of 20 % is believed', 80, { roster: of(100) }, NOW, 80],
    ['a fall of 21 % is doubted', 79, { roster: of(100) }, NOW, 'doubted'],
    ['a second one too soon is still doubted', 60, { roster: of(100), doubted: doubt(60) }, NOW + AGREEMENT_MS - 1, 'doubted'],
    ['a second one that agrees 10 min later is believed', 60, { roster: of(100), doubted: doubt(60) }, NOW + AGREEMENT_MS, 60],
    ['a second one that differs begins the doubt anew', 70, { roster: of(100), doubted: doubt(60) }, NOW + AGREEMENT_MS, 'doubted'],
    [
      'a fall of more than half is never believed by itself',
      49,
      { roster: of(100), doubted: doubt(49) },
      NOW + 9 * AGREEMENT_MS,
      'doubted',
    ],
    ['one that is whole again is believed', 100, { roster: of(100), doubted: doubt(60) }, NOW, 100],
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
  test('the guard can be switched off', () => expect(judgeRoster(of(1), { roster: of(100) }, 'off', NOW).roster.people).toHaveLength(1))
})
