// What the client makes of single answers: caps, people, groups, active days and the balance, by the messages of what it cannot understand.
import { describe, expect, it, test } from 'vitest'
import { TEAM } from '../../src/core/model/scope.ts'
import { made, NOON } from './answers.ts'
import { rowByRow, scripted, testClient } from './world.ts'

/** The answer takes 20 ms. */
const READ_AT = NOON + 20
const CYCLE = { billingCycleStart: '2026-11-01T00:00:00.000001Z', billingCycleEnd: '2026-12-01' }
const cycle = { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) }
const GROUP = { id: 'grp_1', name: 'Platform' }

const capOf = (answer: unknown) =>
  made(async (client) => {
    const { observed, failure } = await client.readCap(TEAM)
    return failure?.message ?? observed
  }, answer)
const rosterOf = (answer: unknown) => made((client) => client.readRoster(), answer)
const groupOf = (answer: unknown) => made((client) => client.readGroup(GROUP), answer)
const daysOf = (answer: unknown) => made((client) => client.readActiveDays({ fromAt: 0, untilAt: NOON }), answer)
const balanceOf = (answer: unknown) => made((client) => client.readBalance(), answer)
const people = async (...userTableStats: readonly unknown[]) => {
  const roster = await rosterOf({ userTableStats })
  if (typeof roster === 'string') throw new Error(roster)
  return roster
}

describe('a cap', () => {
  it.each<readonly [string, unknown, unknown]>([
    ['is read in the camel-case spelling', { addOnCreditCap: 500 }, 500],
    ['is read in the snake-case spelling', { add_on_credit_cap: 500 }, 500],
    ['is read when both spellings agree', { addOnCreditCap: 5, add_on_credit_cap: '5' }, 5],
    ['is read from a numeric string with a zero fraction', { addOnCreditCap: '42.0' }, 42],
    ['of minus zero is zero', '{"addOnCreditCap":-0}', 0],
    ['is none when the field is absent', { somethingNew: { a: 1 } }, 'none'],
    ['takes the spelling that is not null', { addOnCreditCap: null, add_on_credit_cap: 7 }, 7],
    [
      'is not known when the spellings differ in a zero',
      { addOnCreditCap: 0, add_on_credit_cap: 7 },
      'the cap is 0 as addOnCreditCap but 7 as add_on_credit_cap',
    ],
    ['is not known when it is negative', { addOnCreditCap: -1 }, 'addOnCreditCap is -1, not a whole number from 0 up'],
    ['is not known when it has a fraction', { addOnCreditCap: '0.5' }, 'addOnCreditCap is 0.5, not a whole number from 0 up'],
    ['is not known when it is a word', { add_on_credit_cap: 'unlimited' }, 'add_on_credit_cap is not a number'],
    ['is not known when it is a boolean', { addOnCreditCap: true }, 'addOnCreditCap is not a number'],
    [
      'is not known when it is beyond what numbers hold',
      '{"addOnCreditCap":9007199254740993}',
      'addOnCreditCap is 9007199254740992, not a whole number from 0 up',
    ],
    ['is not known from zero bytes', '', 'the answer is not JSON'],
    ['is not known from half an answer', '{"addOnCreditCap":5', 'the answer is not JSON'],
    ['is not known from null', 'null', 'the answer is null, not an object'],
    ['is not known from an array', [], 'the answer is an array, not an object'],
    ['is not known from a bare number', '500', 'the answer is a number, not an object'],
    ['is not known from a bare text', '"x"', 'the answer is a string, not an object'],
  ])('%s', async (_name, answer, expected) => {
    const isCap = typeof expected === 'number' || expected === 'none'
    expect(await capOf(answer)).toBe(isCap ? expected : `GetUsageConfig: ${expected}`)
  })

  it.each<readonly [string, unknown, object | undefined]>([
    ['in one word', { addOnCreditCap: 0 }, { value: 'camel', evidence: 'an answer spells the cap addOnCreditCap' }],
    [
      'both ways',
      { addOnCreditCap: 5, add_on_credit_cap: 5 },
      { value: 'both', evidence: 'an answer spells the cap addOnCreditCap and add_on_credit_cap' },
    ],
    [
      'in the one that is not null',
      { addOnCreditCap: null, add_on_credit_cap: 5 },
      { value: 'snake', evidence: 'an answer spells the cap add_on_credit_cap' },
    ],
    ['not at all', { addOnCreditCap: null }, undefined],
    ['in no object', null, undefined],
  ])('tells how the service spells it: %s', async (_name, answer, expected) => {
    const seen: unknown[] = []
    const { client } = testClient(() => ({ body: JSON.stringify(answer) }), { onSeen: (one) => seen.push(one) })
    await client.readCap(TEAM)
    expect(seen[0]).toEqual(expected && { aspect: 'spelling', ...expected })
  })
})

test.each<readonly [string, string | number | object | boolean | null, number | undefined]>([
  ['as it is', 42, 42],
  ['in a text with spaces around', ' 42\n', 42],
  ['in a text with a fraction of several digits', '42.125', 42.125],
  ['in a text, negative', '-7', -7],
  ['in a text with a large exponent of either sign', '25E-2', 0.25],
  ['in a text with a plus in the exponent', '1e+2', 100],
  ['too large for numbers', '1e999', undefined],
  ['with a plus', '+5', undefined],
  ['with nothing after the point', '5.', undefined],
  ['with a word before it', 'x5', undefined],
  ['with a word after it', '5x', undefined],
  ['in parts', '1 000', undefined],
  ['in an empty text', '', undefined],
  ['that is a boolean', true, undefined],
  ['in a list', [5], undefined],
])('a figure of use is a number %s', async (_name, promptCreditsUsed, cents) => {
  const { people: all } = await people({ email: 'a@x.y', promptCreditsUsed })
  expect(all[0]?.used).toBe(cents === undefined ? undefined : cents / 100)
})

const noon = Date.UTC(2026, 1, 3, 12)
test.each<readonly [string, unknown, number | undefined]>([
  ['in RFC 3339', '2026-02-03T12:00:00Z', noon],
  ['with nanoseconds and an offset', '2026-02-03T14:00:00.123000001+02:00', noon + 123],
  ['as a bare date', '2026-02-03', Date.UTC(2026, 1, 3)],
  ['in the form of analytics cells', '2026-02-03 12:00:00 +0000 UTC', noon],
  ['of the year 1, which means not set', '0001-01-01T00:00:00Z', undefined],
  ['of 1970, which means not set', '1970-01-01T00:00:00Z', undefined],
  ['on a day that does not exist', '2026-13-45T00:00:00Z', undefined],
  ['without seconds', '2026-02-03T12:00Z', noon],
  ['in small letters', '2026-02-03t12:00:00z', noon],
  ['with spaces around', ' 2026-02-03T12:00:00Z ', noon],
  ['west of Greenwich', '2026-02-03T07:30:00-04:30', noon],
  ['in the form of analytics cells, with parts of a second', '2026-02-03 12:00:00.25 +0000 UTC', noon + 250],
  ['in another zone in that form', '2026-02-03 12:00:00 +0100 CET', undefined],
  ['in that form with more after it', '2026-02-03 12:00:00 +0000 UTCx', undefined],
  ['with a year of six digits', '+002026-02-03T12:00:00Z', undefined],
  ['without a zone', '2026-02-03T12:00:00', undefined],
  ['with more before it', 'at 2026-02-03T12:00:00Z', undefined],
  ['with a year alone', '2026', undefined],
])('the time of sign-up is an instant %s', async (_name, signupTime, expected) => {
  expect((await people({ email: 'a@x.y', signupTime })).people[0]?.signedUpAt).toBe(expected)
})

const row = (fields: object = {}) => ({ email: 'ada@example.com', name: 'Ada', teamStatus: 'USER_TEAM_STATUS_APPROVED', ...fields })
const at = (text: string) => Date.parse(text)

describe('a roster', () => {
  it('has people with normalised e-mails, credits and the cycle, in order of e-mail', async () => {
    const more = { lastUpdateTime: '2026-11-19T10:00:00.123456Z', newField: [] }
    const bob = row({ email: ' Bob@Example.com ', name: 7, promptCreditsUsed: 1250, teamStatus: 'USER_TEAM_STATUS_PENDING' })
    const userTableStats = [bob, row({ promptCreditsUsed: '42.0', disableService: true, ...more })]
    expect(await rosterOf({ userTableStats, ...CYCLE })).toEqual({
      people: [
        { email: 'ada@example.com', name: 'Ada', status: 'approved', disabled: true, used: 0.42 },
        { email: 'bob@example.com', name: '', status: 'pending', disabled: false, used: 12.5 },
      ],
      cycle,
      readAt: READ_AT,
      statusesAbsent: false,
      duplicates: [],
    })
    expect(await rosterOf({})).toEqual({ people: [], readAt: READ_AT, statusesAbsent: false, duplicates: [] })
  })

  it.each<readonly [string, object, object]>([
    ['access that is disabled, by its live name', { disableCodeium: true }, { disabled: true }],
    ['access unless it is disabled', { disableService: false, disableCodeium: 'true' }, { disabled: false }],
    ['a status of every kind', { teamStatus: 'USER_TEAM_STATUS_REJECTED' }, { status: 'rejected' }],
    ['no status where it is of no known kind', { teamStatus: 'USER_TEAM_STATUS_FROZEN' }, { status: 'unspecified' }],
    ['a role, trimmed', { role: ' member ' }, { role: 'member' }],
    ['no role where it is empty', { role: ' ' }, { role: undefined }],
    ['no role where it is a number', { role: 5 }, { role: undefined }],
    [
      'the latest of three times of use',
      { lastAutocompleteUsageTime: '2026-01-03', lastChatUsageTime: '2026-01-05', lastCommandUsageTime: '2026-01-04' },
      { lastUsedAt: at('2026-01-05') },
    ],
    [
      'no time of use where it makes no sense',
      { lastChatUsageTime: 'yesterday', lastUpdateTime: '2026-01-05T00:00:00Z' },
      { lastUsedAt: undefined },
    ],
    [
      'texts that are cut where they are too long',
      { name: 'n'.repeat(201), role: 'r'.repeat(101) },
      { name: 'n'.repeat(200), role: 'r'.repeat(100) },
    ],
    [
      'the greatest use and the longest e-mail',
      { email: `${'e'.repeat(316)}@x.y`, promptCreditsUsed: '214748364700' },
      { used: 2_147_483_647 },
    ],
  ])('tells %s', async (_name, fields, expected) => {
    expect((await people(row(fields))).people).toMatchObject([expected])
  })

  it.each<readonly [string, object, object]>([
    ['a missing status is unspecified', { teamStatus: undefined }, { people: [{ status: 'unspecified' }, {}], statusesAbsent: false }],
    ['no e-mail names nobody', { email: undefined }, { people: [{ email: 'ada@example.com' }] }],
    ...['', 7, '<nil>', 'group:a@x.y', 'a b@x'].map(
      (email) => [`${email} as e-mail names nobody`, { email }, { people: [{ email: 'ada@example.com' }], duplicates: [] }] as const,
    ),
    ['more cents than the greatest cap has is set aside', { promptCreditsUsed: '1e19' }, { people: [{ used: 1 }], malformedRows: 1 }],
    ['an e-mail longer than any is set aside', { email: `${'e'.repeat(317)}@x.y` }, { people: [{ used: 1 }], malformedRows: 1 }],
    ['a control character in the e-mail is set aside', { email: 'b\u0001@x.y' }, { people: [{ used: 1 }] }],
  ])('beside a whole row, one with %s', async (_name, fields, expected) => {
    const { people: all, ...rest } = await people(row({ promptCreditsUsed: 100 }), row({ email: 'a@x.y', ...fields }), null, 'x')
    const wanted = (expected as { people: readonly unknown[] }).people
    expect(all).toHaveLength(wanted.length)
    expect({ people: all, ...rest }).toMatchObject(expected)
  })

  it('counts every person as approved when no row has a status, and reports that', async () => {
    const read = await people({ email: 'a@x.y' }, { email: 'b@x.y', teamStatus: null })
    expect(read.statusesAbsent).toBe(true)
    expect(read.people.map((person) => person.status)).toEqual(['approved', 'approved'])
  })

  it('with two rows of a person keeps the first approved one, else the first, and lists the people in order', async () => {
    const named = (email: string, name: string, status: string) => row({ email, name, teamStatus: `USER_TEAM_STATUS_${status}` })
    const read = await people(
      ...[named('b@x', 'b1', 'APPROVED'), named('b@x', 'b2', 'APPROVED'), named('b@x', 'b3', 'REJECTED'), named('c@x', 'c1', 'APPROVED')],
      ...[named('a@x', 'a1', 'PENDING'), named('A@x', 'a2', 'REJECTED'), named('d@x', 'd1', 'REJECTED'), named('d@x', 'd2', 'APPROVED')],
    )
    expect(read.people.map((one) => one.name)).toEqual(['a1', 'b1', 'c1', 'd2'])
    expect(read.duplicates).toEqual(['a@x', 'b@x', 'd@x'])
  })

  const other = (promptCreditsUsed: unknown) => row({ email: 'b@x.y', promptCreditsUsed })
  it.each<readonly [string, readonly object[], object, number | undefined]>([
    ['an absent figure is 0 when another row carries one', [row(), other('0')], {}, 0],
    ['an absent figure is not known beside a row with a word', [row(), other('x')], {}, undefined],
    ['an absent figure is 0 when the cycle is told', [row({ promptCreditsUsed: null })], CYCLE, 0],
    ['an absent figure is 0 when the agent was last used before the cycle', [row({ lastChatUsageTime: '2026-10-31T23:59:59Z' })], CYCLE, 0],
    [
      'an absent figure is not known when the agent was used in the cycle and nobody has a figure',
      [row(), row({ email: 'b@x.y', lastChatUsageTime: '2026-11-01T00:00:00Z' })],
      CYCLE,
      undefined,
    ],
    ['an absent figure is not known in the older form of the answer', [row()], {}, undefined],
    ['a figure that is no number is not known', [row({ promptCreditsUsed: 'many' })], CYCLE, undefined],
    ['cents become credits once', [row({ promptCreditsUsed: 12345 })], {}, 123.45],
  ])('use: %s', async (_name, userTableStats, top, used) => {
    expect(await rosterOf({ userTableStats, ...top })).toMatchObject({
      people: expect.arrayContaining([expect.objectContaining({ used })]),
    })
    const roster = await rosterOf({ userTableStats, ...top })
    expect(typeof roster !== 'string' && roster.people[0]?.used).toBe(used)
  })

  it.each([
    ['only one end is there', { billingCycleStart: '2026-11-01T00:00:00Z' }],
    ['its ends are the same', { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-11-01' }],
    ['its ends are the wrong way round', { billingCycleStart: '2026-12-01T00:00:00Z', billingCycleEnd: '2026-11-01T00:00:00Z' }],
    ['it ends in a time that was never meant', { ...CYCLE, billingCycleEnd: '9999-12-31T00:00:00Z' }],
    ['it begins in a time that was never set', { ...CYCLE, billingCycleStart: '0001-01-01T00:00:00Z' }],
    ['it began long ago', { ...CYCLE, billingCycleStart: '2020-01-01T00:00:00Z' }],
    ['an end is no time', { ...CYCLE, billingCycleStart: 'soon' }],
  ])('tells no cycle when %s', async (_name, ends) => {
    expect(await rosterOf({ userTableStats: [row()], ...ends })).not.toHaveProperty('cycle')
  })
})

describe('a listing that is cut into rows while it arrives', () => {
  const full = row({
    ...{ disableService: true, promptCreditsUsed: '7', role: 'member', apiKey: 'key', more: [1], activeDays: '2' },
    ...{ signupTime: '2026-01-02', lastChatUsageTime: '2026-01-03', lastCommandUsageTime: '2026-11-04' },
  })
  const others = [
    { email: 'b@x.y', name: null, disableCodeium: true, lastAutocompleteUsageTime: '2026-01-04', apiKey: 'other' },
    { email: 'c@x.y', lastCommandUsageTime: '2026-01-05', activeDays: '3', role: { a: 1 }, apiKey: ['x'] },
    { email: ['d@x.y'], lastChatUsageTime: '2026-01-06' },
    { email: 'f@x.y', lastChatUsageTime: '2026-01-06' },
    { email: 'e@x.y', activeDays: [3] },
    null,
    7,
  ]
  const listing = { userTableStats: [full, ...others], ...CYCLE }
  const use = ['key', 'other'].map((api_key) => ({ item: { api_key, date: '2026-11-02', prompts_used: 1 } }))
  const answers = ({ operation }: { readonly operation: string }) => ({
    body: JSON.stringify(operation === 'Analytics' ? { queryResults: [{ responseItems: use }] } : listing),
  })
  async function all(isCut: boolean) {
    const whole = testClient(answers)
    const transport = scripted(whole.clock, answers)
    const { client } = isCut ? testClient(answers, { transport: rowByRow(transport) }, whole.clock) : whole
    const days = { fromAt: at('2026-11-01'), untilAt: at('2026-11-10') }
    const roster = await client.readRoster()
    return [roster, await client.readGroup(GROUP), [...(await client.readActiveDays(days))], await client.readAddOnUse(days)]
  }

  it('has the same result as when it is read as a whole', async () => {
    const [roster, , days, addOn] = await all(true)
    expect(await all(false)).toEqual([roster, expect.anything(), days, addOn])
    expect(days).toEqual([
      ['ada@example.com', 2],
      ['b@x.y', 0],
      ['c@x.y', 3],
      ['f@x.y', 0],
    ])
    expect(addOn).toMatchObject({ rows: [{ email: 'ada@example.com' }, { email: 'b@x.y' }], unassignable: ['c@x.y', 'e@x.y', 'f@x.y'] })
  })

  it('keeps figures and texts of a row, the key of a person for the whole team only, and replaces the last listing of the same people, and no other', async () => {
    const nested = { email: ['a'], name: null, role: { a: 1 }, apiKey: 'key', activeDays: [3] }
    const plans: unknown[] = []
    const kept: unknown[] = []
    const { client } = testClient(answers, {
      transport: {
        async send(operation, _body, { rows }) {
          plans.push(rows?.staysAs)
          kept.push(rows?.keeper()(nested))
          expect([rows?.at, rows?.keeper()('no row')]).toEqual([[['userTableStats', '*']], undefined])
          return { status: 200, headers: {}, ...answers({ operation }) }
        },
      },
    })
    for (const name of ['Platform', 'Platform', 'Sales']) await client.readGroup({ ...GROUP, name })
    await client.readRoster()
    await client.readActiveDays({ fromAt: 0, untilAt: 1 })
    expect(plans).toEqual(['people of Platform', 'people of Platform', 'people of Sales', 'people of ', undefined])
    const inGroup = { email: {}, name: null, role: {} }
    expect(kept).toEqual([inGroup, inGroup, inGroup, { ...inGroup, apiKey: 'key' }, { email: {}, activeDays: {} }])
  })
})

describe('a group', () => {
  it.each<readonly [string, readonly object[], object]>([
    [
      'its members, and the sum of their known use',
      [row({ promptCreditsUsed: 100 }), row({ email: 'b@x.y', promptCreditsUsed: '250' })],
      { emails: ['ada@example.com', 'b@x.y'], used: 3.5 },
    ],
    [
      'a member with a figure that makes no sense',
      [row({ promptCreditsUsed: 100 }), row({ email: 'b@x.y', promptCreditsUsed: '1e19' })],
      { emails: ['ada@example.com', 'b@x.y'], used: 1 },
    ],
    ['no use when no row has a figure', [row()], { emails: ['ada@example.com'], used: undefined }],
  ])('has %s', async (_name, userTableStats, expected) => {
    expect(await groupOf({ userTableStats })).toEqual({ ...GROUP, readAt: READ_AT, ...expected })
  })
})

test.each<readonly [string, readonly object[], object]>([
  [
    'are numbers, or texts of numbers',
    [{ activeDays: 3 }, { activeDays: '4' }, { activeDays: 0 }],
    { 'p0@x.y': 3, 'p1@x.y': 4, 'p2@x.y': 0 },
  ],
  ['are 0 where they are left out and zeros are', [{ activeDays: 3 }, {}, { activeDays: null }], { 'p0@x.y': 3, 'p1@x.y': 0, 'p2@x.y': 0 }],
  ['are not known where they are left out and zeros are not', [{ activeDays: 3 }, { activeDays: 0 }, {}], { 'p0@x.y': 3, 'p1@x.y': 0 }],
  ['are not known where nobody has any', [{}, {}], {}],
  [
    'are not known where they make no sense',
    [{ activeDays: 2 ** 53 - 1 }, { activeDays: -1 }, { activeDays: 'many' }, { activeDays: 2 ** 53 }],
    { 'p0@x.y': 2 ** 53 - 1 },
  ],
])('active days %s', async (_name, rows, expected) => {
  const read = await daysOf({ userTableStats: rows.map((one, index) => ({ email: `P${index}@x.y`, ...one })) })
  expect(typeof read === 'string' ? read : Object.fromEntries(read)).toEqual(expected)
})

describe('a balance', () => {
  it('is read from numbers and numeric strings', async () => {
    const figures = { promptCreditsPerSeat: 500, numSeats: '40', addOnCreditsAvailable: '12000', addOnCreditsUsed: 3.0 }
    const balance = { creditsPerSeat: 500, seats: 40, addOnAvailable: 12_000, addOnUsed: 3, readAt: READ_AT }
    expect(await balanceOf({ ...figures, ...CYCLE })).toEqual({ ...balance, cycle })
    expect(await balanceOf(figures)).toEqual(balance)
  })

  it('counts absent figures as 0, and the greatest figure as it is', async () => {
    const seats = 2 ** 53 - 1
    expect(await balanceOf({ numSeats: seats, addOnCreditsUsed: null })).toMatchObject({ seats, addOnUsed: 0, addOnAvailable: 0 })
  })

  it.each<readonly [string, unknown, string]>([
    ['without any of its fields', { more: 1 }, 'the answer has none of the fields of a balance'],
    ['whose seats are a word', { numSeats: 'x' }, 'numSeats is not a number'],
    ['with half a seat', { numSeats: '2.5' }, 'numSeats is 2.5, not a whole number from 0 up'],
    ['with seats below 0', { numSeats: -3 }, 'numSeats is -3, not a whole number from 0 up'],
    ['whose available credits are a word', { addOnCreditsAvailable: true }, 'addOnCreditsAvailable is not a number'],
    ['with more seats than a record holds', { numSeats: 2 ** 53 }, 'numSeats is 9007199254740992, which is beyond 2^53'],
  ])('%s cannot be understood', async (_name, answer, message) => {
    expect(await balanceOf(answer)).toBe(`GetTeamCreditBalance: ${message}`)
  })
})

test.each<readonly [string, unknown, string]>([
  ['null', null, 'the answer is null, not an object'],
  ['an array', [], 'the answer is an array, not an object'],
  ['a page', '<html></html>', 'the answer is not JSON'],
  ['rows that are no list', { userTableStats: {} }, 'userTableStats is not an array'],
])('no listing of people is read from %s', async (_name, answer, message) => {
  for (const read of [rosterOf, groupOf, daysOf]) expect(await read(answer)).toBe(`UserPageAnalytics: ${message}`)
})
