// How the matches of one person count over several readings of the roster, and what is remembered of them; what a row answers is in
// rules.txt.
import { describe, expect, test } from 'vitest'
import { declaredIn } from '../../../src/core/resolve/desired.ts'
import { desiredInputs, email, members, ownedCaps, type PolicySketch, type RowSketch, rosterRows } from '../../support/declare.ts'

type Rows = Readonly<Record<string, RowSketch>>
type More = NonNullable<Parameters<typeof desiredInputs>[1]>
type Rules = ReturnType<typeof declaredIn>['rules']
type When = NonNullable<PolicySketch['rules']>[number]['when']

/** Rules by one letter: a person with the role `a` matches `a`. */
const rulesOf = (letters: string): readonly When[] => [...letters].map((role) => ({ role }))

const judged = (whens: readonly When[], rows: Rows | undefined, before: Rules['memory'] = {}, more: More = {}): Rules => {
  const rules = whens.map((when, index) => ({ when, cap: index }))
  return declaredIn(desiredInputs({ rules }, { ...(rows && { roster: rosterRows(rows) }), conditions: before, ...more })).rules
}

const row = (sign: string): RowSketch => (sign === '?' ? {} : { role: sign })

/**
 * Each sign is the role in a good reading, or after a dot in one that was looked at before; `?`: the row has none; `x`: one that no rule
 * names. `[abc]` is an edit of the rules. The answer: a rule, `x` for none, a dash for unknown.
 */
function counted(readings: string): string {
  let memory: Rules['memory'] = {}
  let list = ''
  let answers = ''
  for (const [, edit, old, sign = ''] of readings.matchAll(/\[(\w*)\]|(\.?)(.)/g)) {
    if (edit !== undefined) list = edit
    else {
      const one = judged(rulesOf(list), { ada: row(sign) }, memory, old === '' ? {} : { newReading: undefined })
      memory = one.memory
      const verdict = one.verdictOf(email('ada'))
      answers += verdict.kind === 'match' ? (verdict.rule.when.role ?? '') : verdict.kind === 'unknown' ? '-' : 'x'
    }
  }
  return answers
}

test.each([
  ['counts at once when it is the first', '[a]a', 'a'],
  ['turns when two good readings in a row agree on another', '[a]axx', 'aax'],
  ['turns back in the same way', '[a]axxaa', 'aaxxa'],
  ['does not turn by one reading that is evaluated twice', '[a]ax.x.x', 'aaaa'],
  ['turns by the second good one, whatever was evaluated again between them', '[a]ax.xx', 'aaax'],
  ['is not known while the row does not say', '[a]a?', 'a-'],
  ['turns by two readings with one between them that does not say', '[a]ax?x', 'aa-x'],
  ['does not count by one odd reading after one that did not tell', '[ab]?a?b', '----'],
  ['turns to the rule on which two readings agree', '[abc]cbaa', 'cc-a'],
  ['counts a new rule at once, with a new reading as well', '[b]x[ab]a', 'xa'],
  ['counts a new last rule at once', '[a]x[ab].b', 'xb'],
  ['counts a removed rule at once', '[ab]a[b].a', 'ax'],
  ['does not turn by an odd reading because another rule was edited', '[ab]b[abc]xb', 'bbb'],
  ['is not known where the edited rules ask what the row does not say', '[a]a[ba]?b', 'a-a'],
])('a match, %s: %s', (_name, readings, expected) => expect(counted(readings)).toBe(expected))

test('a rule after one without an answer was never a match', () => {
  const rules: readonly When[] = [{ groups: ['g'], joinedWithinDays: 7 }, { groups: ['g'] }]
  let before: Rules['memory'] = {}
  const kinds = [['eve'], ['eve'], [], []].map((emails) => {
    const one = judged(rules, { eve: {} }, before, { groups: members({ g: emails }) })
    before = one.memory
    return one.verdictOf(email('eve')).kind
  })
  expect(kinds).toEqual(['unknown', 'unknown', 'unknown', 'none'])
})

test('a reading says nothing of a group that was not listed with it', () => {
  const groups = (...emails: string[]) => ({ groups: members({ g: emails }), newReading: { groups: [] } })
  const first = judged([{ groups: ['g'] }], { eve: {} }, {}, groups('eve')).memory
  expect(judged([{ groups: ['g'] }], { eve: {} }, first, groups()).memory).toEqual(first)
})

test('a match that two readings in a row disprove is settled no more, also when the second did not list the group of a later rule', () => {
  const rules = [{ role: 'a' }, { groups: ['g'] }]
  const read = (role: string, before: Rules['memory'], listed: readonly string[]) =>
    judged(rules, { eve: { role } }, before, { groups: members({ g: [] }), newReading: { groups: listed } })
  const first = read('b', read('a', {}, ['g']).memory, ['g'])
  expect(first.verdictOf(email('eve'))).toMatchObject({ kind: 'match', rule: { when: { role: 'a' } } })
  expect(read('b', first.memory, []).verdictOf(email('eve'))).toMatchObject({ kind: 'unknown', settled: undefined })
  expect(read('a', first.memory, []).memory['rules']?.turning).toEqual({})
})

test('a match on which no two readings agree is explained by the rule that the last one shows, which is not hidden by the others', () => {
  const rows = [...'cab'].map((role) => ({ ada: { role } }))
  const last = rows.reduce((before, one) => judged(rulesOf('abc'), one, before.memory), judged([], {}))
  expect(last.verdictOf(email('ada'))).toMatchObject({ kind: 'unknown', rule: { when: { role: 'b' } } })
  expect(last.statuses.map(({ holds, unknown }) => [holds, unknown])).toEqual([
    [0, 0],
    [0, 1],
    [0, 0],
  ])
  expect(judged([], { ada: {} }).memory).toEqual({})
})

/** Settled or not after each reading, of which those with a dot were looked at before, with a rule for the role `a` before one that no row answers. */
function settledAfter(roles: readonly string[], rules: readonly When[]): readonly boolean[] {
  let before: Rules['memory'] = {}
  return roles.map((role) => {
    const one = judged(rules, { ada: { role: role.replace('.', '') } }, before, role.startsWith('.') ? { newReading: undefined } : {})
    before = one.memory
    const verdict = one.verdictOf(email('ada'))
    return verdict.kind === 'match' || (verdict.kind === 'unknown' && verdict.settled !== undefined)
  })
}

test.each<readonly [string, string, readonly boolean[]]>([
  [
    'is settled no more when two readings in a row say that it does not hold',
    'a x a x x a a',
    [true, true, true, true, false, false, true],
  ],
  ['is not settled by two readings that do not follow each other', 'x a x a a', [false, false, false, false, true]],
  ['stays settled by what was read before', 'a .x .x', [true, true, true]],
])('a match before a rule without an answer %s', (_name, roles, settled) => {
  expect(settledAfter(roles.split(' '), [{ role: 'a' }, { inactiveDays: 5 }])).toEqual(settled)
})

describe('what is remembered', () => {
  const both = [email('ada'), email('bob')]
  const rows = (bob: string, ada: string): Rows => ({ bob: row(bob), ada: row(ada), cyd: row('x') })
  const first = judged(rulesOf('a'), rows('a', 'a')).memory
  const [KEY = ''] = first['rules']?.conditions ?? []

  test('is in the order of addresses, whatever the order of the roster', () => {
    expect(first['rules']).toEqual({ conditions: [KEY], matched: { [KEY]: both }, turning: {}, open: [] })
    const turning = judged(rulesOf('a'), rows('x', 'x'), first).memory
    expect(turning['rules']).toEqual({ conditions: [KEY], matched: { [KEY]: both }, turning: { none: both }, open: [] })
    expect(judged(rulesOf('a'), rows('?', '?')).memory['rules']).toEqual({ conditions: [KEY], matched: {}, turning: {}, open: both })
  })

  test.each<readonly [string, Rows | undefined, boolean, boolean]>([
    ['is still a match for a person who is away and has a cap of ours', { bob: {} }, true, true],
    ['is no match for a person who is away without one', { bob: {} }, false, false],
    ['is no match for a present person whose row says otherwise twice, even with a cap of ours', { ada: { role: 'x' } }, true, false],
    ['is still a match for everybody while there is no roster', undefined, false, true],
  ])('%s', (_name, present, isOurs, expected) => {
    const rules = { conditions: [KEY], matched: { [KEY]: [email('ada')] }, turning: { none: [email('ada')] }, open: [] }
    const owned = isOurs ? ownedCaps({ ada: { cap: 5 } }) : new Map()
    const next = judged(rulesOf('a'), present, { rules }, { owned }).memory
    expect(next['rules']?.matched[KEY]?.includes(email('ada')) ?? false).toBe(expected)
  })

  test('goes by a key that is no address, and another one for each condition', () => {
    const keys =
      judged([{ email: '*@x.y' }, { email: '*x.y' }, { role: '*@x.y' }, { email: '*%x.y' }], {}).memory['rules']?.conditions ?? []
    expect(new Set(keys).size).toBe(4)
    expect(keys.join('')).not.toContain('@')
  })
})
