// How the answers of one condition count over several readings of the roster, and what is remembered of them; what a row answers is in
// rules.test.ts.
import { describe, expect, test } from 'vitest'
import type { When } from '../../../src/core/model/policy.ts'
import {
  type ConditionInputs,
  type ConditionMemory,
  conditionKey,
  type JudgedCondition,
  judgeCondition,
  rowFacts,
} from '../../../src/core/resolve/conditions.ts'
import { email, ownedCaps, type RowSketch, rosterRows } from '../../support/declare.ts'

const NEW = { groups: [] }
const WHEN: When = { role: 'member' }
const KEY = conditionKey(WHEN)
type Rows = Readonly<Record<string, RowSketch>>
const ROLES: Rows = { y: { role: 'member' }, n: { role: 'guest' }, '?': {} }

const judged = (rows: Rows | undefined, memory: ConditionMemory, more: Partial<ConditionInputs> = {}): JudgedCondition => {
  const inputs = { groups: [], unknownGroups: [], memory, newReading: NEW, owned: new Map(), clockDoubted: false, ...more }
  const all = { ...inputs, ...(rows && { roster: rosterRows(rows) }) }
  return judgeCondition(WHEN, rowFacts(all, new Set()), all)
}

/** Each sign is a good reading, or after a dot one that was looked at before: yes, no or unknown. A dash is an answer that is not known. */
function counted(readings: string): string {
  let memory: ConditionMemory = {}
  return [...readings.matchAll(/(\.?)(.)/g)]
    .map(([, old, sign = '']) => {
      const one = judged({ ada: ROLES[sign] ?? {} }, memory, { newReading: old === '' ? NEW : undefined })
      memory = { [KEY]: one.settled }
      const truth = one.truthOf(email('ada'))
      return truth === 'unknown' ? '-' : truth ? 'y' : 'n'
    })
    .join('')
}

describe('an answer', () => {
  test.each([
    ['counts at once when it is the first', 'y', 'y'],
    ['counts at once when it is the first, also where it is no', 'n', 'n'],
    ['turns when two good readings in a row say otherwise', 'ynn', 'yyn'],
    ['turns back in the same way', 'ynnyy', 'yynny'],
    ['does not turn by one reading after others that agreed', 'yyyn', 'yyyy'],
    ['does not turn by one reading after two that agreed', 'yyn', 'yyy'],
    ['does not turn by readings that do not follow each other', 'ynyny', 'yyyyy'],
    ['does not turn by one reading that is evaluated twice', 'yn.n.n', 'yyyy'],
    ['turns by the second good one, whatever was evaluated again between them', 'yn.nn', 'yyyn'],
    ['is not confirmed by what was read before', 'yn.yn', 'yyyn'],
    ['is not known while the row does not say', 'y?', 'y-'],
    ['counts again as before when the row says it once more', 'y?y', 'y-y'],
    ['turns by two readings with one between them that does not say', 'yn?n', 'yy-n'],
    ['counts by the first good reading that tells, when none has', '?.yy', '--y'],
  ])('%s: %s', (_name, readings, expected) => expect(counted(readings)).toBe(expected))
})

describe('what is remembered', () => {
  test('is in the order of addresses, whatever the order of the roster', () => {
    const rows = (bob: string, ada: string) => ({ bob: ROLES[bob] ?? {}, ada: ROLES[ada] ?? {} })
    const both = [email('ada'), email('bob')]
    const first = judged(rows('y', 'y'), {})
    expect(first.settled).toEqual({ holds: both, turning: [], open: [] })
    expect(judged(rows('n', 'n'), { [KEY]: first.settled }).settled).toEqual({ holds: both, turning: both, open: [] })
    expect(judged(rows('?', '?'), {}).settled).toEqual({ holds: [], turning: [], open: both })
  })

  test.each<readonly [string, Rows | undefined, boolean, boolean]>([
    ['still holds for a person who is away and has a cap of ours', { bob: {} }, true, true],
    ['does not hold for a person who is away without one', { bob: {} }, false, false],
    ['does not hold for a present person whose row says otherwise, even with a cap of ours', { ada: { role: 'guest' } }, true, false],
    ['still holds for everybody while there is no roster', undefined, false, true],
  ])('%s', (_name, rows, isOurs, expected) => {
    const settled = { holds: [email('ada')], turning: [email('ada')], open: [] }
    const owned = isOurs ? ownedCaps({ ada: { cap: 5 } }) : new Map()
    expect(judged(rows, { [KEY]: settled }, { owned }).holds(email('ada'))).toBe(expected)
  })

  test('goes by a key that is no address, and another one for each condition', () => {
    const keys = [{ email: '*@x.y' }, { email: '*x.y' }, { role: '*@x.y' }, { email: '*%x.y' }].map(conditionKey)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.join('')).not.toContain('@')
  })
})
