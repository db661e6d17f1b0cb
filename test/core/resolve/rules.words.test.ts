// What is noted of a rule: that it matches nobody, and why; that this is not known; that it matches everybody.
import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import { nearest } from '../../../src/policy/suggest.ts'
import { desiredInputs, members, type PolicySketch, type RowSketch, roster, rosterRows } from '../../support/declare.ts'

type More = NonNullable<Parameters<typeof desiredInputs>[1]>
type Rows = Readonly<Record<string, RowSketch>>

const MEMBERS = { role: 'member' } as const
const rowsOf = (rows: Rows): More => ({ roster: rosterRows(rows) })
const KNOWN: Rows = {
  ada: { role: ' Admin ', usedDaysAgo: 0, joinedDaysAgo: 400, activeDays: { 30: 20 } },
  bob: { role: 'Member', usedDaysAgo: 30, joinedDaysAgo: 300, activeDays: { 30: 4 } },
  cyd: { role: 'member', joinedDaysAgo: 14, activeDays: { 30: 5 } },
}
const resolve = (sketch: PolicySketch, more: More = {}) =>
  resolveDesired(desiredInputs(sketch, { ...rowsOf({ ...KNOWN, dan: {} }), nearest, ...more }))

describe('what a person should know of a rule', () => {
  const five = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name): [string, RowSketch] => [name, { role: 'x' }]))
  const at = (...domains: readonly string[]): More => ({
    roster: roster(Object.fromEntries(domains.map((domain, index) => [`p${index}@${domain}`, 'approved' as const]))),
  })
  const notes = (rules: PolicySketch['rules'], more: More): string =>
    resolve(rules ? { rules } : {}, more)
      .ruleNotes.map(({ code, message, at: place }) => `${place.line} ${code} ${message}`)
      .join()
  const NOBODY = '201 RULE_NOBODY rule r1 matches nobody: '
  const OPEN = '201 RULE_UNKNOWN rule r1: whether it matches is not known for '
  const sevenDomains = at(...Array.from({ length: 7 }, (_, index) => `d${index}.example`))
  const waiting = resolve({ rules: [{ when: MEMBERS, cap: 5 }] }, rowsOf({ ada: { role: 'x' } })).conditions

  test.each<readonly [string, NonNullable<PolicySketch['rules']>[number]['when'], More, string]>([
    ['a role that nobody has', { role: 'membr' }, rowsOf(KNOWN), `${NOBODY}nobody has the role membr; did you mean Member?`],
    [
      'a role that is like none',
      { role: 'contractor' },
      rowsOf({ ...KNOWN, eve: { role: 'admin' } }),
      `${NOBODY}nobody has the role contractor; the roles there are:  Admin , Member, admin, member`,
    ],
    [
      'a domain that nobody has',
      { email: '*@exmaple.com' },
      rowsOf(KNOWN),
      `${NOBODY}no e-mail matches *@exmaple.com; did you mean *@example.com?`,
    ],
    ['a name that nobody has', { email: 'zoe@*' }, rowsOf(KNOWN), `${NOBODY}no e-mail matches zoe@*`],
    [
      'a name that is like one',
      { email: 'bobb@example.com' },
      rowsOf(KNOWN),
      `${NOBODY}no e-mail matches bobb@example.com; the nearest is bob@example.com`,
    ],
    [
      'a name that is like one of the domain that was typed',
      { email: 'pp@b.example' },
      at('a.example', 'b.example'),
      `${NOBODY}no e-mail matches pp@b.example; the nearest is p1@b.example`,
    ],
    [
      'the domains there are, in order',
      { email: '*@zzzzzzzz.test' },
      at('b.example', 'a.example', 'b.example'),
      `${NOBODY}no e-mail matches *@zzzzzzzz.test; the domains there are: a.example, b.example`,
    ],
    [
      'five domains, and how many others',
      { email: '*@zzzzzzzz.test' },
      sevenDomains,
      `${NOBODY}no e-mail matches *@zzzzzzzz.test; the domains there are: d0.example, d1.example, d2.example, d3.example, d4.example and 2 more`,
    ],
    ['a group without members', { groups: ['a'] }, { ...rowsOf(KNOWN), groups: members({ a: [] }) }, `${NOBODY}nobody is in group a`],
    [
      'groups without members',
      { groups: ['a', 'b'] },
      { ...rowsOf(KNOWN), groups: members({ a: [], b: [] }) },
      `${NOBODY}nobody is in one of the groups a, b`,
    ],
    [
      'a value that nobody has',
      { attributes: { columns: { unit: 'R', team: 'cc-1' } } },
      rowsOf({ eve: { listing: { values: { unit: 'R', team: 'CC-1' } } }, fay: { listing: { values: { unit: 'S', team: '' } } } }),
      `${NOBODY}nobody has the team cc-1; did you mean CC-1?`,
    ],
    [
      'an empty value that nobody has',
      { attributes: { columns: { unit: '' } } },
      rowsOf({ eve: { listing: { values: { unit: 'production' } } } }),
      `${NOBODY}nobody has the unit empty`,
    ],
    [
      'values that nobody has at once',
      { attributes: { columns: { unit: 'R', team: 'A' } } },
      rowsOf({ eve: { listing: { values: { unit: 'R', team: 'B' } } }, fay: { listing: { values: { unit: 'S', team: 'A' } } } }),
      `${NOBODY}nobody in the people file meets all of it`,
    ],
    [
      'that nobody is missing in the people file',
      { attributes: { listed: false } },
      rowsOf({ eve: { listing: { values: {} } } }),
      `${NOBODY}everybody is in the people file`,
    ],
    [
      'more days than anybody was inactive',
      { inactiveDays: 90 },
      rowsOf(KNOWN),
      `${NOBODY}nobody was inactive for 90 days or more; the nearest is 30 days`,
    ],
    [
      'fewer days than anybody is here',
      { joinedWithinDays: 7 },
      rowsOf(KNOWN),
      `${NOBODY}nobody joined within 7 days; the nearest is 14 days`,
    ],
    [
      'that the nearest joined some hours too early',
      { joinedWithinDays: 14 },
      rowsOf({ ada: { joinedDaysAgo: 14.01 } }),
      `${NOBODY}nobody joined within 14 days; the nearest is more than 14 days`,
    ],
    [
      'fewer active days than anybody has',
      { activeDays: { below: 4, within: 30 } },
      rowsOf(KNOWN),
      `${NOBODY}nobody was active on fewer than 4 of the last 30 days; the least is 4`,
    ],
    ['what nobody is at once', { role: 'admin', inactiveDays: 20 }, rowsOf(KNOWN), `${NOBODY}nobody meets all of its conditions at once`],
    [
      'that a match waits for a second reading',
      MEMBERS,
      { ...rowsOf({ ada: { role: 'member' } }), conditions: waiting },
      `${NOBODY}it holds since the last reading only, and counts after two readings that agree`,
    ],
    ['nothing where nobody is approved', { role: 'x' }, rowsOf({ bob: { status: 'pending' } }), ''],
    [
      'that the answer is not known for somebody',
      MEMBERS,
      {},
      `${OPEN}1 person, who keeps what is in force (role: the roster has no role)`,
    ],
    [
      'that it is not known for several, and what is missing of the first',
      { role: 'x' },
      rowsOf({ ...KNOWN, dan: {}, eve: {} }),
      `${OPEN}2 people, who keep what is in force (role: the roster has no role)`,
    ],
    [
      'that a pattern matches everybody there is',
      { email: '*@example.com' },
      rowsOf(five),
      '201 RULE_EVERYBODY rule r1 matches everybody on the roster: e-mail matches *@example.com for all 5',
    ],
    ['nothing of a rule for everybody where they are few', { email: '*' }, rowsOf(KNOWN), ''],
    ['nothing of a rule for everybody that asks more than an e-mail', { email: '*', role: 'x' }, rowsOf(five), ''],
    ['nothing of a rule for everybody that asks something else', { role: 'x' }, rowsOf(five), ''],
    ['nothing of a rule for nearly everybody', { email: '?@*' }, rowsOf({ ...five, long: {} }), ''],
    ['nothing while there is no roster', MEMBERS, { roster: undefined as never }, ''],
  ])('is %s', (_name, when, more, expected) => expect(notes([{ when, cap: 5 }], more)).toBe(expected))

  test('is nothing where the answer is not known for somebody with a cap of their own', () =>
    expect(resolve({ rules: [{ when: MEMBERS, cap: 5 }], caps: { dan: 9 } }).ruleNotes).toEqual([]))

  const everybody = { when: { email: '*@*' }, cap: 6 }
  const open = { when: MEMBERS, cap: 5 }
  test.each<readonly [string, PolicySketch['rules'], Rows]>([
    ['r2 matches nobody: earlier rules match everybody that it would', [open, { when: { email: 'bob@*' }, cap: 6 }], KNOWN],
    ['r2 matches nobody: it is not known whether earlier rules match those that it would', [open, everybody], { ada: {}, bob: {} }],
    [
      'r3 matches nobody: earlier rules match everybody that it would, or it is not known whether they do',
      [{ when: { email: 'ada@*' }, cap: 4 }, open, everybody],
      { ada: {}, bob: {} },
    ],
  ])('is that %s', (expected, rules, rows) => expect(notes(rules, rowsOf(rows))).toMatch(new RegExp(`${expected}$`)))
})
