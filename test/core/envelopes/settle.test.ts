// What a team may say in an envelope, and how much it may give: each bound with the words that refuse what is beyond it.
import { describe, expect, test } from 'vitest'
import { settle } from '../../../src/core/envelopes/settle.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { DAY } from '../../support/declare.ts'

type Inputs = Parameters<typeof settle>[0]
type PolicySet = Inputs['declared']['set']
type Rule = PolicySet['rules'][number]
type Grant = PolicySet['grants'][number]
type Delegated = NonNullable<Inputs['declared']['delegated']>
type Envelope = Delegated['envelopes'][number]

const NOW = Date.UTC(2026, 10, 27)
const at = (file: string) => ({ file, line: 1, column: 1 })
const [ADA, BOB, EVE] = ['ada@x.com', 'bob@x.com', 'eve@x.com']
const [ada, bob, eve] = [ADA, BOB, EVE].map(userScope) as [Rule['scope'], Rule['scope'], Rule['scope']]
const [group, other] = [groupScope('a'), groupScope('b')]

const cap = (scope: Rule['scope'], amount: number | 'none', file = 'a.yaml'): Rule => ({
  ...{ scope, cap: amount === 'none' ? amount : credits(amount), at: at(file), document: 'a' },
})
const grant = (scope: Grant['scope'], amount: number, days: number | 'cycleEnd', more: { add?: true; from?: number } = {}): Grant => ({
  ...{ scope, amount: { kind: more.add ? 'add' : 'cap', credits: credits(amount) }, reason: 'x', document: 'a', at: at('a.yaml') },
  until: days === 'cycleEnd' ? { kind: 'cycleEnd' } : { kind: 'instant', at: NOW + days * DAY },
  ...(more.from !== undefined && { fromAt: NOW + more.from * DAY }),
})

interface More {
  readonly of?: Partial<Envelope>
  /** A second envelope, for group b. */
  readonly beside?: Partial<Envelope>
  readonly platform?: readonly (Rule | Grant)[]
  readonly delegated?: Partial<Delegated>
  readonly named?: readonly string[]
  readonly people?: Readonly<Record<string, readonly string[]>>
  readonly inputs?: Partial<Inputs>
}

const entriesOf = (all: readonly (Rule | Grant)[]) => ({
  rules: all.filter((one): one is Rule => 'cap' in one),
  grants: all.filter((one): one is Grant => !('cap' in one)),
})

/** One document of envelope `a`, whose group has ada and bob; platform caps the team at 5000 and protects eve. */
function settled(entries: readonly (Rule | Grant)[], { of, beside, platform = [cap(TEAM, 5000, 'p.yaml')], ...more }: More = {}) {
  const { named = ['a', 'b'], people = { a: [ADA, BOB], b: [BOB] }, delegated, inputs } = more
  const envelope = (id: string, own: Partial<Envelope> = {}): Envelope => ({
    ...{ name: id, workspace: 'acme', groups: [id], maxCap: 3000, grants: { maxDays: 31, maxAdd: 1000 }, at: at('config.yaml'), ...own },
  })
  const documents = [{ ...{ file: 'a.yaml', name: 'a' }, ...entriesOf(entries) }]
  const envelopes = [envelope('a', of), ...(beside ? [envelope('b', beside)] : [])]
  return settle({
    declared: {
      ...{
        digest: '',
        revision: '',
        delegated: { envelopes, files: [{ envelope: 'a', file: 'a.yaml', documents }], unlisted: [], refused: [], ...delegated },
      },
      set: {
        ...{ workspace: 'acme', ...entriesOf(platform), approvals: [], peopleRules: [], pools: [], documents: ['platform'] },
        groups: named.map((id) => ({ scope: groupScope(id), name: id, at: at('p.yaml') })),
        protectedPeople: [{ scope: { kind: 'user', email: EVE }, at: at('p.yaml') }],
      },
    },
    ...{ before: undefined, memory: undefined, pooled: new Set(), owned: new Set(), now: NOW },
    groups: Object.entries(people).map(([id, emails]) => ({ id, name: id, emails, readAt: NOW })),
    ...inputs,
  })
}

/** Why the document, or an entry of it, is refused; empty where all of it counts. */
const refused = (...given: Parameters<typeof settled>): readonly string[] =>
  settled(...given).settled?.refusals.map(({ code, message, hint }) => `${code} ${message}; ${hint}`) ?? []

/** What is said, what is given beside it, and the words that refuse it; none where it counts. */
type Bound<Beside> = readonly [name: string, entries: readonly (Rule | Grant)[], beside: Beside, ...messages: string[]]
const bounds = <Beside>(rows: readonly Bound<Beside>[], moreOf: (beside: Beside) => More): void => {
  for (const [name, entries, beside, ...messages] of rows) test(name, () => expect(refused(entries, moreOf(beside))).toEqual(messages))
}

const UNNAMED =
  'platform does not declare group a of envelope a, so its name is not known; add {id: a, name: …} without a cap to groups in a policy of platform'
const OUTSIDE = '; remove the entry, or ask platform for it'

describe('whom a team may name', () => {
  test.each<readonly [string, Rule, More, string]>([
    ['not the team', cap(TEAM, 5), {}, `the team is not inside envelope a${OUTSIDE}`],
    ['nobody platform protects', cap(eve, 5), {}, `eve@x.com is declared or protected by platform, and so not inside envelope a${OUTSIDE}`],
    [
      ...(['not a scope that platform declares', cap(group, 5), { platform: [cap(group, 9, 'p.yaml')] }] as const),
      `group a is declared or protected by platform, and so not inside envelope a${OUTSIDE}`,
    ],
    [
      ...(['not the group of another', cap(other, 5), { of: { groups: ['a', 'c'] } }] as const),
      `group b is not a group of envelope a: it has a, c${OUTSIDE}`,
    ],
    [...(['not a group that platform does not name', cap(group, 5), { named: [] }] as const), UNNAMED],
    [...(['not the people of such a group', cap(ada, 5), { named: [], people: {} }] as const), UNNAMED],
    [
      ...(['not the member of a pool', cap(ada, 5), { inputs: { pooled: new Set([ADA]) } }] as const),
      `ada@x.com is a member of a pool of platform, and so not inside envelope a${OUTSIDE}`,
    ],
    [
      ...(['nobody who is in no group of the envelope', cap(userScope('zoe@x.com'), 5), { of: { groups: ['a', 'b'] } }] as const),
      `zoe@x.com is not in a or b by two readings in a row, and so not inside envelope a${OUTSIDE}`,
    ],
  ])('%s', (_name, entry, more, message) => expect(refused([entry], more)).toEqual([`ENVELOPE_OUTSIDE ${message}`]))

  test('nobody yet while the members were never read: nothing is judged, and nothing counts, which is told', () => {
    const given = [[cap(ada, 9000)], { people: {} }] as const
    expect(settled(...given).set.rules.map(({ scope }) => scopeKey(scope))).toEqual(['team'])
    expect(refused(...given)).toEqual([
      'ENVELOPE who is in a was never read, so nothing of envelope a is judged; wait for the service to answer',
    ])
  })

  test('nobody of a group that the service does not know, and the people of the others all the same', () => {
    const more = { of: { groups: ['a', 'b'] }, people: { a: [ADA] }, inputs: { unknownGroups: ['b'] } }
    expect(refused([cap(ada, 500), cap(bob, 500)], more)).toEqual([
      `ENVELOPE_OUTSIDE bob@x.com is not in a or b by two readings in a row, and so not inside envelope a${OUTSIDE}`,
    ])
    expect(settled([cap(ada, 500)], more).settled?.memory.members).toEqual({ a: [ADA], b: [] })
  })
})

const FALLS = 'none at ada@x.com falls back to'
const above = (what: string, most = 3000, id = 'a'): string =>
  `ENVELOPE_BOUND ${what}, and maxCap of envelope ${id} is ${most}; write ${most} or less`

describe('how high a cap may be', () => {
  bounds<More>(
    [
      ['maxCap', [cap(ada, 3000), cap(group, 3000)], {}],
      ['no more for a person', [cap(ada, 3001)], {}, above('ada@x.com has a cap of 3001')],
      ['no more for a group', [cap(group, 3001)], {}, above('group a has a cap of 3001')],
      [
        'in two envelopes the lower maxCap',
        [cap(bob, 2000)],
        { beside: { maxCap: 1000 } },
        above('bob@x.com has a cap of 2000', 1000, 'b'),
      ],
      ['also a group', [cap(group, 2000)], { beside: { groups: ['b', 'a'], maxCap: 1000 } }, above('group a has a cap of 2000', 1000, 'b')],
      ['for another group the own maxCap alone', [cap(group, 2000)], { beside: { maxCap: 1000 } }],
      ['for others the own maxCap alone', [cap(ada, 2000)], { beside: { maxCap: 1000 } }],
      ['by none the cap of the team', [cap(ada, 'none')], { platform: [cap(TEAM, 3000, 'p.yaml')] }],
      ['by none no cap of the team above it', [cap(ada, 'none')], {}, above(`${FALLS} a cap of 5000`)],
      [
        'by none no cap of a group that the person is not in',
        [cap(ada, 'none')],
        { platform: [cap(TEAM, 4000, 'p.yaml'), cap(other, 100, 'p.yaml'), cap(bob, 200, 'p.yaml')] },
        above(`${FALLS} a cap of 4000`),
      ],
      ['by none the cap of a group, whatever the team has', [cap(ada, 'none'), cap(group, 2000)], {}],
      [
        'by none the highest of the groups',
        [cap(bob, 'none'), cap(group, 2000)],
        { platform: [cap(other, 4000, 'p.yaml')], of: { groups: ['a', 'b'] } },
        above('none at bob@x.com falls back to a cap of 4000'),
      ],
      ['never by none where nobody is capped', [cap(ada, 'none')], { platform: [] }, above(`${FALLS} no cap at all`)],
      [
        'never by none of a group where the team has none',
        [cap(group, 'none')],
        { platform: [cap(TEAM, 'none', 'p.yaml')] },
        above('none at group a falls back to no cap at all'),
      ],
    ],
    (more) => more,
  )
})

const GIVES = 'ENVELOPE_BOUND the grant for ada@x.com gives 4001, and maxCap and maxAdd of envelope a are 4000 together; give 4000 or less'
const LASTS = 'and maxDays of envelope a is 31; end it after 31 days; the next may begin 7 days later'
const IN_TEN_DAYS = { cycle: { startAt: NOW - 2 * DAY, endAt: NOW + 10 * DAY } }
const TEN = { grants: { maxDays: 10, maxAdd: 9 } }
const span = (from: number, until: number) => ({
  memory: {
    readAt: {},
    members: {},
    last: {},
    joined: {},
    scopes: {},
    spans: { [scopeKey(ada)]: { fromAt: NOW + from * DAY, untilAt: NOW + until * DAY } },
  },
})

describe('what a grant may give', () => {
  bounds<More>(
    [
      ['maxCap and maxAdd together', [grant(ada, 4000, 30)], {}],
      ['no more', [grant(ada, 4001, 30)], {}, GIVES],
      [
        'nothing where the envelope allows no grants',
        [grant(ada, 5, 1)],
        { of: { grants: undefined } as Partial<Envelope> },
        'ENVELOPE_BOUND envelope a allows no grants; remove the grant',
      ],
      ['on top of the own cap', [cap(ada, 3000), grant(ada, 1000, 30, { add: true })], {}],
      ['no more on top of it', [cap(ada, 3000), grant(ada, 1001, 30, { add: true })], {}, GIVES],
      ['on top of what a person falls back to', [cap(group, 2000), grant(ada, 2001, 30, { add: true })], {}, GIVES],
      ['on top of it also where the own cap is none', [cap(group, 2000), cap(ada, 'none'), grant(ada, 2001, 30, { add: true })], {}, GIVES],
      ['alone where there is nothing to add to', [grant(ada, 4001, 30, { add: true })], { platform: [] }, GIVES],
      ['for maxDays, and the rest of today', [grant(ada, 5, 31.9)], {}],
      ['not for a day more', [grant(ada, 5, 32)], {}, `ENVELOPE_BOUND the grant for ada@x.com lasts 32 days, ${LASTS}`],
      ['not longer', [grant(ada, 5, 32.5)], {}, `ENVELOPE_BOUND the grant for ada@x.com lasts 33 days, ${LASTS}`],
      ['from its beginning', [grant(ada, 5, 71, { from: 40 })], {}],
      [
        'from its beginning for no day more',
        [grant(ada, 5, 72, { from: 40 })],
        {},
        `ENVELOPE_BOUND the grant for ada@x.com lasts 32 days, ${LASTS}`,
      ],
      ['until the end of the cycle', [grant(ada, 5, 'cycleEnd')], { of: TEN, inputs: IN_TEN_DAYS }],
      ['until the end of the cycle, where it begins now', [grant(ada, 5, 'cycleEnd', { from: 0 })], { of: TEN, inputs: IN_TEN_DAYS }],
      [
        'until the end of the cycle that it began with, not longer',
        [grant(ada, 5, 'cycleEnd', { from: -2 })],
        { of: TEN, inputs: IN_TEN_DAYS },
        'ENVELOPE_BOUND the grant for ada@x.com lasts 12 days, and maxDays of envelope a is 10; end it after 10 days; the next may begin 7 days later',
      ],
      [
        'until the end of its cycle, where that is over',
        [grant(ada, 5, 'cycleEnd', { from: -9 }), grant(ada, 5, 1)],
        { of: TEN, inputs: IN_TEN_DAYS },
      ],
      [
        'until the end of the longest cycle, where it begins later',
        [grant(ada, 5, 'cycleEnd', { from: 1 })],
        { of: { grants: { maxDays: 29, maxAdd: 9 } }, inputs: IN_TEN_DAYS },
        'ENVELOPE_BOUND the grant for ada@x.com lasts 31 days, and maxDays of envelope a is 29; end it after 29 days; the next may begin 7 days later',
      ],
      [
        'with one that ended less than a week before',
        [grant(ada, 5, 20)],
        { inputs: span(-20, -6) },
        `ENVELOPE_BOUND the grant for ada@x.com lasts 40 days, together with the one before it, ${LASTS}`,
      ],
      ['without one that ended a week before', [grant(ada, 5, 20)], { inputs: span(-20, -7) }],
      ['with one that was to last longer, until it was replaced', [grant(ada, 5, 6)], { of: TEN, inputs: span(-4, 20) }],
      ['without one of a later time', [grant(ada, 5, 20)], { inputs: span(5, 60) }],
      [
        'with one that is declared less than a week after',
        [grant(ada, 5, 20), grant(ada, 5, 40, { from: 26 })],
        {},
        `ENVELOPE_BOUND the grant for ada@x.com lasts 40 days, together with the one after it, ${LASTS}`,
        `ENVELOPE_BOUND the grant for ada@x.com lasts 40 days, together with the one before it, ${LASTS}`,
      ],
      ['without one that is declared a week after', [grant(ada, 5, 20), grant(ada, 5, 40, { from: 27 }), grant(bob, 5, 30)], {}],
    ],
    (more) => more,
  )
})

const SUM = (all: number, most: number): string =>
  `ENVELOPE_BOUND the caps in envelope a are ${all} together, and its sum is ${most}; lower caps, or ask platform for more`

describe('what all of it may come to', () => {
  bounds<Partial<Envelope>>(
    [
      ['the sum', [cap(ada, 2000), cap(bob, 1000)], { sum: 3000 }],
      ['no more', [cap(ada, 2000), cap(bob, 1001)], { sum: 3000 }, SUM(3001, 3000)],
      ["a group's cap for each member", [cap(group, 1000)], { sum: 1999 }, SUM(2000, 1999)],
      ['the highest of a person, none as nothing', [cap(group, 1000), cap(ada, 1500), cap(bob, 'none')], { sum: 2499 }, SUM(2500, 2499)],
      ['a grant that has not ended', [cap(ada, 100), grant(ada, 900, 1)], { sum: 899 }, SUM(900, 899)],
      ['no grant that has ended', [cap(ada, 100), grant(ada, 900, 0)], { sum: 100 }],
      ['a grant that adds, with what it adds to', [cap(ada, 100), grant(ada, 900, 1, { add: true })], { sum: 999 }, SUM(1000, 999)],
      ['so many people', [cap(ada, 1), grant(bob, 1, 1)], { maxPeople: 2 }],
      [
        'no more people',
        [cap(group, 1)],
        { maxPeople: 1 },
        'ENVELOPE_BOUND envelope a reaches 2 people, and its maxPeople is 1; name fewer people',
      ],
    ],
    (of) => ({ of }),
  )
})

test('an entry that is refused is not in force, and the others of its document are, with the name of the envelope', () => {
  const { set, settled: found } = settled([cap(ada, 3001), cap(bob, 70), grant(ada, 9, 1)])
  expect(set.rules.map((one) => [scopeKey(one.scope), one.cap, one.envelope])).toEqual([
    ['team', 5000, undefined],
    [BOB, 70, 'a'],
  ])
  expect(set.grants.map(({ scope, envelope }) => [scopeKey(scope), envelope])).toEqual([[ADA, 'a']])
  expect(set.documents).toEqual(['a', 'platform'])
  expect(found?.envelopeOf).toEqual({ [BOB]: 'a', [ADA]: 'a' })
  expect(found?.refusals[0]).toMatchObject({ at: at('a.yaml'), other: at('config.yaml') })
  expect(found?.memory.spans).toEqual({ [ADA]: { fromAt: NOW, untilAt: NOW + DAY } })
})

test('what a grant adds to may not grow beyond the bounds under it: what it gave stays', () => {
  const add = grant(ada, 500, 9, { add: true })
  const before = settled([cap(group, 900, 'b.yaml'), add]).set
  const amounts = ({ set }: ReturnType<typeof settled>) => set.grants.map(({ amount: { kind, credits: n } }) => `${kind} ${n}`).join()
  const next = (entries: readonly (Rule | Grant)[], set = before, more: More = {}) => settled(entries, { ...more, inputs: { before: set } })
  const gone = next([add])
  expect([amounts(gone), amounts(next([add], gone.set))]).toEqual(['cap 1400', 'cap 1400'])
  expect(gone.settled?.refusals.map(({ message }) => message)).toEqual([
    'the grant for ada@x.com gives 5500, and maxCap and maxAdd of envelope a are 4000 together',
  ])
  expect(amounts(next([cap(group, 1000), add], gone.set))).toBe('add 500')
  expect(amounts(next([cap(group, 2000), add]))).toBe('add 500')
  expect(amounts(next([add], before, { of: { maxCap: 5000, sum: 5400 } }))).toBe('cap 1400')
  const raised = { envelope: 'a', file: 'b.yaml', documents: [{ file: 'b.yaml', name: 'b', ...entriesOf([cap(group, 3000)]) }] }
  expect(amounts(next([], before, { delegated: { files: [{ envelope: 'a', file: 'a.yaml' }, raised] } }))).toBe('cap 1400')
  // What is refused is nothing to add to, and what is narrowed grows no grant.
  const of = { maxCap: 800, grants: { maxDays: 31, maxAdd: 500 } }
  const narrowed = next([cap(group, 900), add], before, { of })
  expect([narrowed, next([cap(group, 900), add], narrowed.set, { of })].map(amounts)).toEqual(['add 500', 'add 500'])
  expect(amounts(settled([cap(other, 900), grant(bob, 500, 9, { add: true })], { beside: {} }))).toBe('')
})

test('where platform has begun to deal, an accepted none says nothing, and an accepted cap stays', () => {
  const entries = [cap(group, 900), cap(ada, 'none'), cap(bob, 700)]
  const { set } = settled(entries, { inputs: { before: settled(entries).set, pooled: new Set([ADA, BOB]) } })
  expect(set.rules.map((one) => [scopeKey(one.scope), one.cap])).toEqual([
    ['team', 5000],
    [scopeKey(group), 900],
    [BOB, 700],
  ])
})

test('what stands twice counts in neither place', () => {
  const twice = (why: string) => `DUPLICATE_SCOPE bob@x.com ${why}; leave one of them`
  const bothSay = [{ envelope: 'a', file: 'a.yaml', documents: [{ file: 'a.yaml', name: 'a', ...entriesOf([cap(bob, 5)]) }] }]
  const inB = {
    envelope: 'b',
    file: 'b.yaml',
    documents: [{ file: 'b.yaml', name: 'b', ...entriesOf([cap(bob, 6, 'b.yaml')]) }],
  }
  const shared: More = { beside: {}, delegated: { files: [...bothSay, inB] } }
  expect(refused([], shared)).toEqual([twice('is declared in two envelopes'), twice('is declared in two envelopes')])
  const within: More = { delegated: { refused: [`cap ${scopeKey(bob)} of a`] } }
  expect(refused([cap(bob, 5), grant(bob, 6, 1)], within)).toEqual([twice('contradicts another entry')])
  for (const one of [settled([], shared), settled([cap(bob, 5)], within)]) expect(one.set.rules.map(({ scope }) => scope)).toEqual([TEAM])
})

test('who went to another team is decided about there, once that team says something, and no grant of both overlaps', () => {
  const before = settled([cap(bob, 900), grant(bob, 950, 9)]).set
  const file = (envelope: string, entries: Parameters<typeof entriesOf>[0]) => {
    const [name, ...all] = [`${envelope}.yaml`, ...entries]
    return { envelope, file: name, documents: [{ file: name, name: envelope, ...entriesOf(all) }] }
  }
  const gone = file('a', [cap(bob, 900), grant(bob, 950, 9)])
  const here = file('b', [cap(bob, 500, 'b.yaml'), grant(bob, 550, 9)])
  const inForce = (files: Delegated['files']) => {
    const { set } = settled([], { beside: {}, people: { a: [ADA], b: [BOB] }, delegated: { files }, inputs: { before } })
    return [...set.rules, ...set.grants].flatMap((one) => (one.envelope ? ['cap' in one ? one.cap : one.amount.credits, one.envelope] : []))
  }
  expect([inForce([gone]), inForce([gone, here])]).toEqual([
    [900, 'a', 950, 'a'],
    [500, 'b', 550, 'b'],
  ])
})

test('the last grants that have begun are remembered for a week after their end, and none of platform', () => {
  const grants = [grant(ada, 5, 20, { from: 12 }), grant(ada, 5, 2, { from: -1 }), grant(ada, 5, -10, { from: -12 })]
  const spans = { [BOB]: { fromAt: NOW - 20 * DAY, untilAt: NOW - 6 * DAY }, [EVE]: { fromAt: NOW - 20 * DAY, untilAt: NOW - 7 * DAY } }
  const memory = { readAt: {}, members: {}, last: {}, joined: {}, scopes: {}, spans }
  const { settled: found } = settled(grants, { platform: [grant(group, 5, 3, { from: -1 })], inputs: { memory } })
  expect(found?.refusals).toEqual([])
  expect(found?.memory.spans).toEqual({ [ADA]: { fromAt: NOW - DAY, untilAt: NOW + 2 * DAY }, [BOB]: spans[BOB] })
})

test('documents of a folder that cannot be read stay as they were accepted, each with its own entries', () => {
  const one = (file: string, document: string, amount: number) => ({ ...grant(ada, amount, 1), envelope: 'a', at: at(file), document })
  const before = settled([]).set
  const grants = [one('x.yaml', 'a', 1), one('x.yaml', 'b', 2), one('y.yaml', 'a', 3), one('a.yaml', 'a', 4)]
  const { set } = settled([grant(bob, 5, 1)], { delegated: { unlisted: ['a'] }, inputs: { before: { ...before, grants } } })
  expect(set.grants.map(({ amount, at: { file }, document }) => [amount.credits, file, document])).toEqual([
    [1, 'x.yaml', 'a'],
    [2, 'x.yaml', 'b'],
    [3, 'y.yaml', 'a'],
    [4, 'a.yaml', 'a'],
    [5, 'a.yaml', 'a'],
  ])
})
