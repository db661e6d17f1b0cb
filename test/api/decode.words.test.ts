// The messages of decoding, and its small functions; whole answers are in decode.test.ts.
import { describe, expect, it } from 'vitest'
import {
  counterOf,
  decodeActiveDays,
  decodeBalance,
  decodeCap,
  decodeGroup,
  decodeRoster,
  instantOf,
  MAX_CENTS,
  MAX_FIGURE,
  numberOf,
  objectOf,
  rowsOf,
  spellingSighting,
} from '../../src/api/decode.ts'
import { MAX_CAP } from '../../src/core/model/units.ts'

const READ_AT = Date.UTC(2026, 10, 20)
const roster = (...userTableStats: readonly unknown[]) => decodeRoster({ userTableStats }, READ_AT)

describe('a malformed answer is reported with its fault', () => {
  it.each<readonly [string, () => unknown, string]>([
    ['no JSON', () => decodeCap(undefined), 'GetUsageConfig: the answer is not JSON'],
    ['null', () => decodeRoster(null, READ_AT), 'UserPageAnalytics: the answer is null, not an object'],
    ['an array', () => decodeBalance([], READ_AT), 'GetTeamCreditBalance: the answer is an array, not an object'],
    ['a text', () => objectOf('Analytics', 'x'), 'Analytics: the answer is a string, not an object'],
    ['a number', () => objectOf('Analytics', 5), 'Analytics: the answer is a number, not an object'],
    ['rows that are no list', () => decodeRoster({ userTableStats: {} }, READ_AT), 'UserPageAnalytics: userTableStats is not an array'],
    ['a list that is a text', () => rowsOf('Analytics', 'x', 'rows'), 'Analytics: rows is not an array'],
    ['a cap that is a word', () => decodeCap({ addOnCreditCap: 'x' }), 'GetUsageConfig: addOnCreditCap is not a number'],
    [
      'a cap that is a word in the other spelling',
      () => decodeCap({ add_on_credit_cap: 'x' }),
      'GetUsageConfig: add_on_credit_cap is not a number',
    ],
    ['a negative cap', () => decodeCap({ addOnCreditCap: -1 }), 'GetUsageConfig: addOnCreditCap is -1, not a whole number from 0 up'],
    ['half a credit', () => decodeCap({ addOnCreditCap: '0.5' }), 'GetUsageConfig: addOnCreditCap is 0.5, not a whole number from 0 up'],
    [
      'two caps',
      () => decodeCap({ addOnCreditCap: 5, add_on_credit_cap: 7 }),
      'GetUsageConfig: the cap is 5 as addOnCreditCap but 7 as add_on_credit_cap',
    ],
    ['no balance', () => decodeBalance({ more: 1 }, READ_AT), 'GetTeamCreditBalance: the answer has none of the fields of a balance'],
    ['seats that are a word', () => decodeBalance({ numSeats: 'x' }, READ_AT), 'GetTeamCreditBalance: numSeats is not a number'],
    [
      'half a seat',
      () => decodeBalance({ numSeats: '2.5' }, READ_AT),
      'GetTeamCreditBalance: numSeats is 2.5, not a whole number from 0 up',
    ],
    ['seats below 0', () => decodeBalance({ numSeats: -3 }, READ_AT), 'GetTeamCreditBalance: numSeats is -3, not a whole number from 0 up'],
    [
      'available credits that are a word',
      () => decodeBalance({ addOnCreditsAvailable: true }, READ_AT),
      'GetTeamCreditBalance: addOnCreditsAvailable is not a number',
    ],
    [
      'more seats than a record holds',
      () => decodeBalance({ numSeats: 2 ** 53 }, READ_AT),
      'GetTeamCreditBalance: numSeats is 9007199254740992, which is beyond 2^53',
    ],
    [
      'members of a group as null',
      () => decodeGroup(null, { id: 'g', name: 'G' }, READ_AT),
      'UserPageAnalytics: the answer is null, not an object',
    ],
    ['active days as null', () => decodeActiveDays(null), 'UserPageAnalytics: the answer is null, not an object'],
  ])('%s', (_name, decode, message) => expect(decode).toThrow(expect.objectContaining({ kind: 'malformed', message })))
})

describe('the spelling of a cap', () => {
  it.each<readonly [string, unknown, object | undefined]>([
    ['in one word', { addOnCreditCap: 0 }, { value: 'camel', evidence: 'an answer spells the cap addOnCreditCap' }],
    ['in several', { add_on_credit_cap: 5 }, { value: 'snake', evidence: 'an answer spells the cap add_on_credit_cap' }],
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
  ])('%s', (_name, body, expected) => expect(spellingSighting(body)).toEqual(expected && { aspect: 'spelling', ...expected }))
})

describe('a number', () => {
  it.each<readonly [string, unknown, number | undefined]>([
    ['as it is', 42, 42],
    ['with a fraction', 0.5, 0.5],
    ['that is not finite', Number.POSITIVE_INFINITY, undefined],
    ['that is none', Number.NaN, undefined],
    ['in a text', '42', 42],
    ['in a text with spaces around', ' 42\n', 42],
    ['in a text with a fraction of several digits', '42.125', 42.125],
    ['in a text, negative', '-7', -7],
    ['in a text with an exponent', '1e3', 1000],
    ['in a text with a large exponent of either sign', '25E-2', 0.25],
    ['in a text with a plus in the exponent', '1e+12', 1e12],
    ['too large for numbers', '1e999', undefined],
    ['with a plus', '+5', undefined],
    ['with nothing after the point', '5.', undefined],
    ['with nothing before the point', '.5', undefined],
    ['with a word before it', 'x5', undefined],
    ['with a word after it', '5x', undefined],
    ['in parts', '1 000', undefined],
    ['with nothing in the exponent', '5e', undefined],
    ['in an empty text', '', undefined],
    ['that is a boolean', true, undefined],
    ['that is nothing', null, undefined],
    ['in a list', [5], undefined],
  ])('%s', (_name, value, expected) => expect(numberOf(value)).toBe(expected))
})

describe('an instant', () => {
  const noon = Date.UTC(2026, 1, 3, 12)
  it.each<readonly [string, unknown, number | undefined]>([
    ['in RFC 3339', '2026-02-03T12:00:00Z', noon],
    ['with microseconds', '2026-02-03T12:00:00.123456Z', noon + 123],
    ['with nanoseconds and an offset', '2026-02-03T14:00:00.000000001+02:00', noon],
    ['as a bare date', '2026-02-03', Date.UTC(2026, 1, 3)],
    ['in the form of analytics cells', '2026-02-03 12:00:00 +0000 UTC', noon],
    ['as a number', 1_770_000_000, undefined],
    ['as a word', 'UNKNOWN', undefined],
    ['of the year 1, which means not set', '0001-01-01T00:00:00Z', undefined],
    ['of 1970, which means not set', '1970-01-01T00:00:00Z', undefined],
    ['on a day that does not exist', '2026-13-45T00:00:00Z', undefined],
    ['without seconds', '2026-02-03T12:00Z', noon],
    ['in small letters', '2026-02-03t12:00:00z', noon],
    ['with spaces around', ' 2026-02-03T12:00:00Z ', noon],
    ['west of Greenwich', '2026-02-03T07:30:00-04:30', noon],
    ['in the form of analytics cells, with parts of a second', '2026-02-03 12:00:00.25 +0000 UTC', noon + 250],
    ['in another zone in that form', '2026-02-03 12:00:00 +0100 CET', undefined],
    ['in that form with more before it', 'x2026-02-03 12:00:00 +0000 UTC', undefined],
    ['in that form with more after it', '2026-02-03 12:00:00 +0000 UTCx', undefined],
    ['with a year of six digits', '+002026-02-03T12:00:00Z', undefined],
    ['without a zone', '2026-02-03T12:00:00', undefined],
    ['with more before it', 'at 2026-02-03T12:00:00Z', undefined],
    ['with more after it', '2026-02-03T12:00:00Z!', undefined],
    ['with a year alone', '2026', undefined],
    ['with an hour alone', '2026-02-03T12Z', undefined],
    ['as nothing', undefined, undefined],
  ])('%s', (_name, text, expected) => expect(instantOf(text)).toBe(expected))

  it('makes no cycle of two equal ends', () => {
    const ends = { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-11-01' }
    expect(decodeBalance({ numSeats: 1, ...ends }, READ_AT).cycle).toBeUndefined()
  })
})

describe('people', () => {
  it('have every known status, a name if it is a text, and access unless it is disabled', () => {
    const status = (name: string) => `USER_TEAM_STATUS_${name}`
    expect(
      roster(
        { email: 'a@x', teamStatus: status('APPROVED'), name: 'A', disableService: false, disableCodeium: 'true' },
        { email: 'b@x', teamStatus: status('PENDING'), name: 7 },
        { email: 'c@x', teamStatus: status('REJECTED'), disableService: true },
        { email: 'd@x', teamStatus: status('UNSPECIFIED') },
      ).people,
    ).toEqual([
      { email: 'a@x', name: 'A', status: 'approved', disabled: false },
      { email: 'b@x', name: '', status: 'pending', disabled: false },
      { email: 'c@x', name: '', status: 'rejected', disabled: true },
      { email: 'd@x', name: '', status: 'unspecified', disabled: false },
    ])
  })

  it.each(['a b@x', 'a@', '@x', 'a@b@c', 'a', 'a@x y', 'see a@x'])('are skipped with the e-mail %s', (email) =>
    expect(roster({ email }).people).toEqual([]),
  )

  it('with two rows: the approved row counts, else the first; duplicates are listed in order', () => {
    const row = (email: string, name: string, status: string) => ({ email, name, teamStatus: `USER_TEAM_STATUS_${status}` })
    const read = roster(
      ...[row('b@x', 'b1', 'APPROVED'), row('b@x', 'b2', 'APPROVED'), row('b@x', 'b3', 'REJECTED')],
      ...[row('a@x', 'a1', 'PENDING'), row('a@x', 'a2', 'REJECTED'), row('c@x', 'c1', 'APPROVED')],
    )
    expect(read.people.map((one) => one.name)).toEqual(['a1', 'b1', 'c1'])
    expect(read.duplicates).toEqual(['a@x', 'b@x'])
  })

  it('have a use of 0 beside a row with a figure, but not beside a row with a word', () => {
    expect(roster({ email: 'a@x' }, { email: 'b@x', promptCreditsUsed: '0' }).people.map((one) => one.used)).toEqual([0, 0])
    expect(roster({ email: 'a@x' }, { email: 'b@x', promptCreditsUsed: 'x' }).people.map((one) => one.used)).toEqual([undefined, undefined])
  })

  it('are read up to the inclusive bounds of a record, and longer names are cut', () => {
    const email = `${'e'.repeat(316)}@x.y`
    const [person] = roster({ email, name: 'n'.repeat(201), role: 'r'.repeat(101), promptCreditsUsed: MAX_CENTS }).people
    expect(person).toMatchObject({ email, name: 'n'.repeat(200), role: 'r'.repeat(100), used: MAX_CENTS / 100 })
    expect(roster({ email: `e${email}` })).toMatchObject({ people: [], malformedRows: 1 })
    const days = decodeActiveDays({
      userTableStats: [MAX_FIGURE, 2 ** 53].map((activeDays, index) => ({ email: `${index}@x.y`, activeDays })),
    })
    expect([...days]).toEqual([['0@x.y', MAX_FIGURE]])
    expect(counterOf('Analytics', { a: MAX_FIGURE }, 'a')).toBe(MAX_FIGURE)
    expect(MAX_CENTS).toBe(MAX_CAP * 100)
  })
})
