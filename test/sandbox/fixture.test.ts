// Fixture files: the service has what they declare, problems are reported with their positions, and an export is a fixture.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exportFixture, readFixture } from '../../src/sandbox/fixture/file.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/temporary.ts'

const USE_SOURCES = ['agent', 'autocomplete', 'chat', 'command', 'typing'] as const
const NOW = Date.UTC(2026, 10, 20, 12)
const read = (value: unknown) => readFixture('company.json', typeof value === 'string' ? value : JSON.stringify(value, undefined, 2), NOW)

function sandboxOf(options: Partial<Parameters<typeof createSandbox>[0]> = {}) {
  const sandbox = createSandbox({ clock: fakeClock(), ...options })
  onTestFinished(() => sandbox.close())
  const ask = (operation: Parameters<typeof sandbox.handle>[0], body: object, key = 'sandbox-admin') => {
    const { status, body: text } = sandbox.handle(operation, { service_key: key, ...body })
    return { status, body: JSON.parse(text) }
  }
  return { ...sandbox, ask, exported: () => exportFixture(sandbox.store) }
}

const SMALL = {
  apiVersion: 'capkeeper/v1',
  kind: 'SandboxFixture',
  asOf: '2026-11-10T09:00:00Z',
  balance: { creditsPerSeat: 100, seats: 7, addOnAvailable: 4000 },
  people: [
    { email: 'Ada@example.com', name: 'Ada', role: 'admin', apiKey: 'hash-of-ada' },
    { email: 'bob@example.com', status: 'PENDING', signupAt: '2025-01-01T00:00:00+01:00' },
    { email: 'eve@example.com', disabled: true },
  ],
  groups: [
    { id: 'grp_a', name: 'Group A', members: ['ADA@example.com', 'eve@example.com'] },
    { id: 'grp_b', name: 'Group B' },
  ],
  caps: { team: 500, 'group:grp_a': 700, 'ada@example.com': 0 },
  keys: [{ secret: 'only-group-a', permissions: ['Teams Read-only', 'Billing Read', 'Billing Write'], group: 'grp_a' }],
  use: {
    agent: [
      { person: 'ada@example.com', at: '2026-11-09T10:00:00Z', ide: 'editor', model: 'M', mode: 'UNKNOWN', cents: 12_345, messages: 3 },
      { person: 'ada@example.com', at: '2026-10-09T10:00:00Z', ide: 'cli', model: 'M', mode: 'UNKNOWN', cents: 99 },
    ],
    autocomplete: [
      ...[{ person: 'eve@example.com', at: '2026-11-08T10:30:00Z', language: 'GO', ide: 'editor', version: '1', acceptances: 2 }],
      ...[{ person: 'ada@example.com', at: '2026-11-08T11:30:00Z', language: 'GO', ide: 'editor', version: '1', acceptances: 5 }],
    ],
  },
}

describe('a fixture', () => {
  test('loads people with every field, and defaults for absent fields', () => {
    const { userTableStats } = sandboxOf({ fixture: read(SMALL) }).ask('UserPageAnalytics', {}).body
    expect(userTableStats).toMatchObject([
      { email: 'ada@example.com', name: 'Ada', role: 'admin', apiKey: 'hash-of-ada', teamStatus: 'USER_TEAM_STATUS_APPROVED' },
      { email: 'bob@example.com', name: 'bob@example.com', role: 'member', teamStatus: 'USER_TEAM_STATUS_PENDING' },
      { email: 'eve@example.com', disableService: true },
    ])
    expect(userTableStats[0]).not.toHaveProperty('disableService')
    expect(userTableStats[1].signupTime).toMatch(/^2024-12-31T23:00:00/)
    expect(userTableStats.map((user: { promptCreditsUsed: number }) => user.promptCreditsUsed)).toEqual([12_345, 0, 0])
    expect(userTableStats.map((user: { activeDays: number }) => user.activeDays)).toEqual([3, 0, 1])
  })

  test('loads groups, caps and the balance', () => {
    const { ask } = sandboxOf({ fixture: read(SMALL) })
    const inGroup = ask('UserPageAnalytics', { group_name: 'Group A' }).body.userTableStats
    expect(inGroup.map((user: { email: string }) => user.email)).toEqual(['ada@example.com', 'eve@example.com'])
    expect(ask('UserPageAnalytics', { group_name: 'Group B' }).body.userTableStats).toEqual([])
    expect(ask('GetUsageConfig', { team_level: true }).body).toEqual({ addOnCreditCap: 500 })
    expect(ask('GetUsageConfig', { group_id: 'grp_a' }).body).toEqual({ addOnCreditCap: 700 })
    expect(ask('GetUsageConfig', { user_email: 'ada@example.com' }).body).toEqual({ addOnCreditCap: 0 })
    expect(ask('GetTeamCreditBalance', {}).body).toEqual({
      ...{ promptCreditsPerSeat: 100, numSeats: 7, addOnCreditsAvailable: 4000, addOnCreditsUsed: 23 },
      ...{ billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' },
    })
  })

  test('without a seed has no growth of use', async () => {
    const clock = fakeClock()
    const { ask, exported } = sandboxOf({ clock, fixture: read(SMALL) })
    const useOf = () => JSON.parse(exported()).use
    const [before, use] = [ask('UserPageAnalytics', {}).body, useOf()]
    await clock.advance(5 * 86_400_000)
    expect(ask('UserPageAnalytics', {}).body).toEqual(before)
    expect(useOf()).toEqual(use)
  })

  test('is kept in a data file, which then accepts no other', () => {
    const data = join(temporaryFolder(), 'sandbox.db')
    const first = createSandbox({ clock: fakeClock(), data, fixture: read(SMALL) })
    first.close()
    expect(sandboxOf({ data }).ask('UserPageAnalytics', {}).body.userTableStats).toHaveLength(3)
    expect(() => createSandbox({ clock: fakeClock(), data, fixture: read(SMALL) })).toThrow(/company\.json: .* holds one already/)
  })

  test('in the manual is valid, and the manual names every column', () => {
    const manual = readFileSync(join(import.meta.dirname, '../../docs/fixture.md'), 'utf8')
    const [, example = ''] = /```json\n(.*?)```/s.exec(manual) ?? []
    expect(sandboxOf({ fixture: read(example) }).ask('UserPageAnalytics', {}).body.userTableStats[0].promptCreditsUsed).toBe(64_000)
    const { use } = JSON.parse(sandboxOf({ company: { people: 30, days: 15 } }).exported())
    for (const source of USE_SOURCES) {
      const row = manual.split('\n').find((line) => line.startsWith(`| \`${source}\``)) ?? ''
      const columns = [...new Set<string>(use[source].flatMap(Object.keys))].filter((name) => name !== 'person' && name !== 'at')
      expect(columns.filter((name) => !row.includes(`\`${name}\``))).toEqual([])
    }
  })

  test('may begin with a byte order mark; without asOf it is of the present', () => {
    const { asOf: _, use: __, ...rest } = SMALL
    expect(read(`\uFEFF${JSON.stringify(rest)}`).asOf).toBe(NOW)
  })
})

describe('an export', () => {
  test('is a fixture of the same state, byte for byte, for any company', () => {
    const company = fc.record({
      people: fc.integer({ min: 1, max: 15 }),
      groups: fc.integer({ min: 1, max: 5 }),
      days: fc.integer({ min: 0, max: 25 }),
      seed: fc.nat(100_000),
    })
    const caps = fc.array(fc.tuple(fc.constantFrom('team', 'grp_platform', 'ada.lovelace@example.com'), fc.nat(9000)))
    fc.assert(
      fc.property(company, caps, fc.boolean(), (size, writes, leaves) => {
        const first = createSandbox({ clock: fakeClock(), company: size })
        for (const [name, cap] of writes)
          first.handle('UsageConfig', { service_key: 'sandbox-admin', ...scopeOf(name), set_add_on_credit_cap: cap })
        first.recordUse('ada.lovelace@example.com', 700)
        if (leaves && size.people > 3) first.store.removePerson('alan.turing@example.com')
        const file = exportFixture(first.store)
        const second = createSandbox({ clock: fakeClock(0), fixture: read(file) })
        expect(exportFixture(second.store)).toBe(file)
        for (const one of [first, second]) one.close()
      }),
      { numRuns: 8 },
    )
  })

  test('continues exactly as the sandbox it came from', async () => {
    const clock = fakeClock()
    const first = sandboxOf({ clock, company: { people: 12, days: 10, seed: 5 } })
    const second = sandboxOf({ clock, fixture: read(first.exported()) })
    await clock.advance(3 * 86_400_000)
    for (const operation of ['UserPageAnalytics', 'GetTeamCreditBalance'] as const) {
      expect(second.ask(operation, {})).toEqual(first.ask(operation, {}))
    }
    expect(second.exported()).toBe(first.exported())
    expect(second.exported().length).toBeGreaterThan(20_000)
  })

  test('has every source of rows', () => {
    const { use } = JSON.parse(sandboxOf({ company: { people: 30, days: 15 } }).exported())
    expect(Object.keys(use)).toEqual(USE_SOURCES)
    for (const source of USE_SOURCES) expect(use[source].length).toBeGreaterThan(0)
  })
})

const scopeOf = (name: string) => (name === 'team' ? { team_level: true } : name.includes('@') ? { user_email: name } : { group_id: name })

describe('a broken fixture is refused with the position of each problem', () => {
  interface Told {
    readonly message: string
    readonly at?: { readonly line: number }
  }
  const problemsOf = (text: string) => {
    try {
      read(text)
    } catch (error) {
      if (!(error instanceof Error && 'problems' in error)) throw error
      const told = error.problems as readonly Told[]
      expect(error.message).toBe(told.map(({ message }) => message).join('; '))
      return told
    }
    throw new Error('nothing was wrong')
  }

  test.each([
    ['{"a": 1 "b"}', "Expected ',' or '}' after property value", 1, 9],
    ['[1,\n 2, "x",]', "Unexpected token ']'", 2, 9],
    ['["at position 1", \n//]', "Unexpected token '/'", 2, 1],
    ['[",", , "x"]', "Unexpected token ','", 1, 7],
    ['[1,\n [2]\n', "Expected ',' or ']' after array element", 2, 5],
    ['', 'Unexpected end of JSON input', 1, 1],
    ['[{"a": tr\n', "Unexpected token '\n'", 1, 10],
    [`[${'{"a": [1, "x"]},'.repeat(100_000)}]`, "Unexpected token ']'", 1, 1_600_002],
  ])('no JSON, with the place of the fault, %#', (text, why, line, column) => {
    expect(problemsOf(text)).toMatchObject([{ message: `not JSON: ${why}`, at: { line, column } }])
  })

  test('a name twice in one object', () => {
    const text = JSON.stringify({ ...SMALL, caps: { 'group:"a': 1, team: 2 } }).replace('"group:\\"a"', '"te\\u0061m"')
    expect(problemsOf(text)).toMatchObject([{ message: 'this name is given twice', at: { line: 1, column: text.indexOf('"team"') + 1 } }])
  })

  test('however deep it is nested', () => {
    const deep = (levels: number) => JSON.stringify(SMALL).replace('"Ada"', `${'['.repeat(levels)}${']'.repeat(levels)}`)
    for (const levels of [100_000, 1_000_000])
      expect(problemsOf(deep(levels))).toMatchObject([{ message: expect.stringMatching(/\/people\/0\/name: must be string, not a list$/) }])
  })

  test('a long text has no lines, but the pointer of each fault', () => {
    const keys = [{ secret: 'x'.repeat(4 * 1024 * 1024), permissions: [] }]
    expect(problemsOf(JSON.stringify({ ...SMALL, keys, caps: { team: -1, 'eve@example.com': '5' } }))).toMatchObject([
      { message: 'company.json: /caps/team: must be >= 0, not -1' },
      { message: 'company.json: /caps/eve@example.com: must be integer, not "5"' },
      { message: expect.stringMatching(/^company\.json: \/keys\/0\/secret: must NOT have more than 500 characters, not "xxx/) },
    ])
  })

  test('an unknown name, wherever it is and however the text is laid out', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.nat(4),
        fc.constantFrom('people', 'groups', 'keys'),
        fc.boolean(),
        (json, space, list, isFirst) => {
          const [one, ...rest] = SMALL[list as 'people'].toReversed()
          const odd = isFirst ? { '~/odd': JSON.parse(json), ...one } : { ...one, '~/odd': JSON.parse(json) }
          const lines = JSON.stringify({ ...SMALL, [list]: [...rest.toReversed(), odd] }, undefined, space).split('\n')
          const line = lines.findIndex((text) => text.includes('"~/odd"'))
          const at = { line: line + 1, column: (lines[line] ?? '').indexOf('"~/odd"') + 1 }
          expect(problemsOf(lines.join('\n'))).toMatchObject([{ message: expect.stringContaining('is not known here'), at, length: 7 }])
        },
      ),
    )
  })

  test('all problems at once, up to a bound', () => {
    const people = Array.from({ length: 500 }, (_, index) => ({ email: `p${index}@example.com`, age: 3 }))
    const problems = problemsOf(JSON.stringify({ ...SMALL, people, groups: [], caps: {}, keys: [], use: {} }, undefined, 1))
    expect(problems).toHaveLength(21)
    expect(problems[0]).toMatchObject({ message: expect.stringMatching(/480 more/) })
    expect(problems[20]?.at?.line).toBeGreaterThan(problems[1]?.at?.line ?? 0)
  })

  test('whatever the text', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"apiVersion":"capkeeper/v1","kind":"SandboxFixture","people":${json}}`),
    )
    fc.assert(
      fc.property(text, (any) => {
        try {
          read(any)
        } catch (error) {
          expect(error).toMatchObject({ name: 'InputError' })
        }
      }),
      { numRuns: 200 },
    )
  })
})
