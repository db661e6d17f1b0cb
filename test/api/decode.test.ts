import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKeyBook } from '../../src/api/add-on.ts'
import {
  activeDayRows,
  decodeActiveDays,
  decodeBalance,
  decodeCap,
  decodeGroup,
  decodeRoster,
  numberOf,
  rosterRows,
} from '../../src/api/decode.ts'
import { parseJson } from '../../src/api/errors.ts'

import { createCutter } from '../../src/api/transport/cut.ts'
import { ApiError } from '../../src/core/model/observed.ts'

const READ_AT = Date.UTC(2026, 10, 20)

/** The result, or the kind of the failure. */
function outcome<Value>(decode: () => Value): Value | string {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ApiError) return error.kind
    throw error
  }
}

describe('a cap', () => {
  it.each([
    ['is read in the camel-case spelling', '{"addOnCreditCap":500}', 500],
    ['is read in the snake-case spelling', '{"add_on_credit_cap":500}', 500],
    ['is read when both spellings agree', '{"addOnCreditCap":5,"add_on_credit_cap":"5"}', 5],
    ['is not known when the spellings differ', '{"addOnCreditCap":5,"add_on_credit_cap":7}', 'malformed'],
    ['is not known when the spellings differ in a zero', '{"addOnCreditCap":0,"add_on_credit_cap":7}', 'malformed'],
    ['is read from a numeric string', '{"addOnCreditCap":"42"}', 42],
    ['is read from a numeric string with a zero fraction', '{"addOnCreditCap":"42.0"}', 42],
    ['of zero is a cap', '{"addOnCreditCap":0}', 0],
    ['of minus zero is zero', '{"addOnCreditCap":-0}', 0],
    ['is none when the field is absent', '{}', 'none'],
    ['is none when the field is null', '{"addOnCreditCap":null}', 'none'],
    ['is none when only other fields are there', '{"somethingNew":{"a":1}}', 'none'],
    ['takes the spelling that is not null', '{"addOnCreditCap":null,"add_on_credit_cap":7}', 7],
    ['is not known when it is negative', '{"addOnCreditCap":-1}', 'malformed'],
    ['is not known when it has a fraction', '{"addOnCreditCap":1.5}', 'malformed'],
    ['is not known when it is a word', '{"addOnCreditCap":"unlimited"}', 'malformed'],
    ['is not known when it is an empty string', '{"addOnCreditCap":""}', 'malformed'],
    ['is not known when it is hexadecimal', '{"addOnCreditCap":"0x10"}', 'malformed'],
    ['is not known when it is a boolean', '{"addOnCreditCap":true}', 'malformed'],
    ['is not known when it is beyond what numbers hold', '{"addOnCreditCap":9007199254740993}', 'malformed'],
    ['is not known from zero bytes', '', 'malformed'],
    ['is not known from null', 'null', 'malformed'],
    ['is not known from an array', '[]', 'malformed'],
    ['is not known from a bare number', '500', 'malformed'],
    ['is not known from half an answer', '{"addOnCreditCap":5', 'malformed'],
    ['is not known from a page', '<html><body>Sign in</body></html>', 'malformed'],
  ])('%s', (_name, body, expected) => {
    const cap = outcome(() => decodeCap(parseJson(body)))
    expect(Object.is(cap, expected), `${String(cap)} is not ${expected}`).toBe(true)
  })

  it('in two spellings that differ is reported with both values', () => {
    expect(() => decodeCap({ addOnCreditCap: 5, add_on_credit_cap: 7 })).toThrow(/5 as addOnCreditCap but 7 as add_on_credit_cap/)
  })
})

const row = (fields: object) => ({ email: 'ada@example.com', name: 'Ada', teamStatus: 'USER_TEAM_STATUS_APPROVED', ...fields })
const roster = (...rows: readonly unknown[]) => decodeRoster({ userTableStats: rows }, READ_AT)

describe('a roster', () => {
  it('has people with normalised e-mails, credits and the cycle, in order of e-mail', () => {
    const body = {
      userTableStats: [
        row({ email: ' Bob@Example.com ', name: 'Bob', promptCreditsUsed: 1250, teamStatus: 'USER_TEAM_STATUS_PENDING' }),
        row({ promptCreditsUsed: '42.0', disableService: true, lastUpdateTime: '2026-11-19T10:00:00.123456Z', newField: [] }),
      ],
      billingCycleStart: '2026-11-01T00:00:00.000001Z',
      billingCycleEnd: '2026-12-01T00:00:00Z',
    }
    expect(decodeRoster(body, READ_AT)).toEqual({
      people: [
        { email: 'ada@example.com', name: 'Ada', status: 'approved', disabled: true, used: 0.42 },
        { email: 'bob@example.com', name: 'Bob', status: 'pending', disabled: false, used: 12.5 },
      ],
      cycle: { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) },
      readAt: READ_AT,
      statusesAbsent: false,
      duplicates: [],
    })
  })

  it('understands the live name of disabled access', () => {
    expect(roster(row({ disableCodeium: true })).people[0]?.disabled).toBe(true)
  })

  it('skips rows without an e-mail, and values that are no rows', () => {
    const read = roster(
      row({ email: '' }),
      row({ email: undefined }),
      row({ email: 7 }),
      row({ email: '<nil>' }),
      row({ email: 'group:a@x.y' }),
      null,
      'x',
      row({}),
    )
    expect(read.people.map((person) => person.email)).toEqual(['ada@example.com'])
  })

  it('reports duplicates and keeps the approved row', () => {
    const read = roster(
      row({ teamStatus: 'USER_TEAM_STATUS_REJECTED' }),
      row({ email: 'ADA@example.com', name: 'Ada L.' }),
      row({ name: 'third' }),
    )
    expect(read.people).toEqual([{ email: 'ada@example.com', name: 'Ada L.', status: 'approved', disabled: false }])
    expect(read.duplicates).toEqual(['ada@example.com'])
  })

  it('counts every person as approved when no row has a status, and reports that', () => {
    const read = roster({ email: 'a@x.y' }, { email: 'b@x.y', teamStatus: null })
    expect(read.statusesAbsent).toBe(true)
    expect(read.people.map((person) => person.status)).toEqual(['approved', 'approved'])
  })

  it('counts a missing status as unspecified when another row has one', () => {
    const read = roster(row({}), { email: 'b@x.y' }, { email: 'c@x.y', teamStatus: 'USER_TEAM_STATUS_FROZEN' })
    expect(read.statusesAbsent).toBe(false)
    expect(read.people.map((person) => person.status)).toEqual(['approved', 'unspecified', 'unspecified'])
  })

  it('does not report absent statuses when there are no rows', () => {
    expect(decodeRoster({}, READ_AT)).toEqual({ people: [], readAt: READ_AT, statusesAbsent: false, duplicates: [] })
  })

  it.each([
    ['an absent figure is 0 when another row carries one', [row({}), row({ email: 'b@x.y', promptCreditsUsed: 100 })], {}, 0],
    ['an absent figure is 0 when the cycle is told', [row({})], { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' }, 0],
    [
      'an absent figure is 0 when the agent was last used before the cycle',
      [row({ lastChatUsageTime: '2026-10-31T23:59:59Z' })],
      { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' },
      0,
    ],
    [
      'an absent figure is not known when the agent was used in the cycle and nobody has a figure',
      [row({}), row({ email: 'b@x.y', lastChatUsageTime: '2026-11-01T00:00:00Z' })],
      { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' },
      undefined,
    ],
    [
      'a null figure is 0 when the cycle is told',
      [row({ promptCreditsUsed: null })],
      { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' },
      0,
    ],
    ['an absent figure is not known in the older form of the answer', [row({})], {}, undefined],
    [
      'a figure that is no number is not known',
      [row({ promptCreditsUsed: 'many' })],
      { billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' },
      undefined,
    ],
    ['cents become credits once', [row({ promptCreditsUsed: 12345 })], {}, 123.45],
  ])('use: %s', (_name, rows, top, used) => {
    expect(decodeRoster({ userTableStats: rows, ...top }, READ_AT).people[0]?.used).toBe(used)
  })

  it.each([
    ['more cents than the greatest cap has', { promptCreditsUsed: '1e19' }],
    ['an address that is longer than any', { email: `${'b'.repeat(330)}@x.y` }],
  ])('sets a row aside that has %s, counts it, and reads the others', (_name, odd) => {
    const read = decodeRoster({ userTableStats: [row({ promptCreditsUsed: 100 }), row({ email: 'b@x.y', ...odd })] }, READ_AT)
    expect(read.people.map(({ email, used }) => [email, used])).toEqual([['ada@example.com', 1]])
    expect(read.malformedRows).toBe(1)
  })

  it('reads only fields that are kept while the answer arrives', () => {
    const read = new Set<string>()
    const seen = new Proxy(row({}), {
      get: (target, name) => {
        if (typeof name === 'string') read.add(name)
        return Reflect.get(target, name)
      },
    })
    decodeRoster({ userTableStats: [seen], billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' }, READ_AT)
    createKeyBook().learn({ userTableStats: [seen] })
    const kept = rosterRows().keeper()(row({}))
    expect([...read].sort()).toEqual(Object.keys(Object(kept)).sort())
  })

  it.each([
    ['only one end is there', { billingCycleStart: '2026-11-01T00:00:00Z' }],
    ['its ends are the wrong way round', { billingCycleStart: '2026-12-01T00:00:00Z', billingCycleEnd: '2026-11-01T00:00:00Z' }],
    ['it ends in a time that was never meant', { billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '9999-12-31T00:00:00Z' }],
    ['it begins in a time that was never set', { billingCycleStart: '0001-01-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' }],
    ['it is long over', { billingCycleStart: '0001-01-01T00:00:00Z', billingCycleEnd: '0001-02-01T00:00:00Z' }],
    ['an end is no time', { billingCycleStart: 'soon', billingCycleEnd: '2026-11-01T00:00:00Z' }],
  ])('tells no cycle when %s', (_name, fields) => {
    expect(decodeRoster({ userTableStats: [row({})], ...fields }, READ_AT).cycle).toBeUndefined()
  })

  it.each([
    ['null', null],
    ['an array', []],
    ['not JSON', undefined],
    ['rows that are no list', { userTableStats: {} }],
  ])('is malformed as %s', (_name, body) => {
    expect(outcome(() => decodeRoster(body, READ_AT))).toBe('malformed')
  })
})

describe('a listing that is cut into rows while it arrives', () => {
  const cut = (plan: ReturnType<typeof rosterRows>, value: unknown): unknown => {
    const cutter = createCutter(plan)
    cutter.push(Buffer.from(JSON.stringify(value)))
    const { text, value: found } = cutter.end()
    expect(text).toContain('"userTableStats":[],')
    return found
  }
  const full = row({
    ...{ teamStatus: 'USER_TEAM_STATUS_PENDING', disableService: true, promptCreditsUsed: '7', role: 'member', apiKey: 'key' },
    ...{ signupTime: '2026-01-02', lastChatUsageTime: '2026-01-03', more: [1] },
  })
  const others = [
    { email: 'b@x.y', disableCodeium: true, lastAutocompleteUsageTime: '2026-01-04' },
    { email: 'c@x.y', lastCommandUsageTime: '2026-01-05', activeDays: '3' },
    null,
    7,
  ]
  const listing = { userTableStats: [full, ...others], billingCycleStart: '2026-11-01', billingCycleEnd: '2026-12-01' }

  it('has the same result as when it is read as a whole', () => {
    expect(decodeRoster(cut(rosterRows(), listing), READ_AT)).toEqual(decodeRoster(listing, READ_AT))
    expect(decodeActiveDays(cut(activeDayRows(), listing))).toEqual(decodeActiveDays(listing))
  })

  it('keeps figures and texts of a row, and the key of a person only in the listing of the whole team', () => {
    const nested = { email: ['a'], name: null, role: { a: 1 }, apiKey: 'key', activeDays: [3] }
    expect(rosterRows().keeper()(nested)).toEqual({ email: {}, name: null, role: {}, apiKey: 'key' })
    expect(rosterRows('Platform').keeper()(nested)).not.toHaveProperty('apiKey')
    expect(activeDayRows().keeper()(nested)).toEqual({ email: {}, activeDays: {} })
    expect([rosterRows(), activeDayRows()].map((plan) => plan.keeper()('no row'))).toEqual([undefined, undefined])
  })

  it('replaces the last listing of the same people in memory, and no other', () => {
    expect(rosterRows('Platform').staysAs).toBe(rosterRows('Platform').staysAs)
    expect(new Set([rosterRows(), rosterRows('Platform'), rosterRows('Sales')].map((plan) => plan.staysAs)).size).toBe(3)
  })
})

describe('a group', () => {
  const group = { id: 'grp_1', name: 'Platform' }

  it('has its members, and the sum of their known use', () => {
    const body = { userTableStats: [row({ promptCreditsUsed: 100 }), row({ email: 'b@x.y', promptCreditsUsed: '250' })] }
    expect(decodeGroup(body, group, READ_AT)).toEqual({ ...group, emails: ['ada@example.com', 'b@x.y'], used: 3.5, readAt: READ_AT })
  })

  it('keeps a member with a malformed figure', () => {
    const body = { userTableStats: [row({ promptCreditsUsed: 100 }), row({ email: 'b@x.y', promptCreditsUsed: '1e19' })] }
    expect(decodeGroup(body, group, READ_AT)).toMatchObject({ emails: ['ada@example.com', 'b@x.y'], used: 1 })
  })

  it('has no use when no row has a figure', () => {
    expect(decodeGroup({ userTableStats: [row({})] }, group, READ_AT)).toEqual({ ...group, emails: ['ada@example.com'], readAt: READ_AT })
  })
})

describe('a balance', () => {
  const full = { promptCreditsPerSeat: 500, numSeats: '40', addOnCreditsAvailable: '12000', addOnCreditsUsed: 3.0 }

  it('is read from numbers and numeric strings', () => {
    const body = { ...full, billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' }
    expect(decodeBalance(body, READ_AT)).toEqual({
      creditsPerSeat: 500,
      seats: 40,
      addOnAvailable: 12_000,
      addOnUsed: 3,
      cycle: { startAt: Date.UTC(2026, 10, 1), endAt: Date.UTC(2026, 11, 1) },
      readAt: READ_AT,
    })
  })

  it('counts absent figures as 0', () => {
    expect(decodeBalance({ numSeats: 40, addOnCreditsUsed: null }, READ_AT)).toMatchObject({ seats: 40, addOnUsed: 0, addOnAvailable: 0 })
  })

  it.each([
    ['without any of its fields', {}],
    ['with a figure that is no number', { ...full, numSeats: 'many' }],
    ['that is null', null],
  ])('%s is malformed', (_name, body) => {
    expect(outcome(() => decodeBalance(body, READ_AT))).toBe('malformed')
  })
})

describe('laws', () => {
  const decoders: readonly [string, (body: unknown) => unknown][] = [
    ['a cap', decodeCap],
    ['a roster', (body) => decodeRoster(body, READ_AT)],
    ['a group', (body) => decodeGroup(body, { id: 'g', name: 'G' }, READ_AT)],
    ['a balance', (body) => decodeBalance(body, READ_AT)],
  ]
  const field = fc.constantFrom('addOnCreditCap', 'add_on_credit_cap', 'userTableStats', 'billingCycleStart', 'billingCycleEnd', 'numSeats')
  const rows = fc.array(
    fc.dictionary(fc.constantFrom('email', 'teamStatus', 'promptCreditsUsed', 'name', 'disableService'), fc.jsonValue()),
  )
  const near = fc.dictionary(field, fc.oneof(fc.jsonValue(), rows))

  it.each(decoders)('%s is read or malformed for any JSON', (_name, decode) => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near), (body) => {
        const read = outcome(() => decode(body))
        if (typeof read === 'string') expect(['malformed', 'none']).toContain(read)
      }),
    )
  })

  it('a number and its text are read the same', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(numberOf(String(value))).toBe(Object.is(value, -0) ? 0 : value)
      }),
    )
  })
})
